"""The system calls of the service, seen by strace: no write is acknowledged before it is on disk."""

import contextlib
import re
import shutil

import pytest

import frames
import harness
from contract import entitlement_service
from forge import Forger
from harness import PROGRAM, Service, post
from raw import Connection
from test_http2 import OK
from test_notifications import APP, DAY, NOW, deliver, period, signed

CALLS = "pwrite64,fsync,fdatasync,write,writev,sendto,sendmsg"
COUNT = 30


@pytest.fixture
def traced(tmp_path):
    """A service under strace, which runs beside it, and the file with its system calls."""
    assert shutil.which("strace"), "tools/bootstrap --test installs strace"
    trace = tmp_path / "trace"
    script = tmp_path / "traced"
    # -D: the service keeps its process id; -y: paths of descriptors; -s: whole pages of the log.
    script.write_text(f'#!/bin/sh\nexec strace -D -f -y -s 9000 -e trace={CALLS} -o "{trace}" "{PROGRAM}" "$@"\n')
    script.chmod(0o755)
    try:
        harness.PROGRAM = script
        service = Service(tmp_path / "data")
    finally:
        harness.PROGRAM = PROGRAM
    yield service, trace
    if service.process.poll() is None:
        service.stop()


def commands(trace):
    """The system calls in the order of their begin and end: (name, file, text, whether it ends here, thread)."""
    call = re.compile(r"^(\d+) +(\w+)\(\d+<([^>]*)>(.*)$", re.DOTALL)
    resumed = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$", re.DOTALL)
    open_files = {}
    for line in trace.read_text(encoding="latin-1").splitlines():
        if found := call.match(line):
            thread, name, path, rest = found.groups()
            is_unfinished = rest.endswith("<unfinished ...>")
            if is_unfinished:
                open_files[thread] = path
            yield name, path, rest, True, not is_unfinished
        elif found := resumed.match(line):
            thread, name, rest = found.groups()
            yield name, open_files.pop(thread, ""), rest, False, True


def frames_of(text):
    """The kinds of the HTTP/2 frames that a system call sends; none if it sends something else."""
    escaped = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))
    data, kinds = escaped.encode("latin-1").decode("unicode_escape").encode("latin-1"), []
    while data:
        end = 9 + int.from_bytes(data[:3], "big")
        if len(data) < end or data[3] > frames.CONTINUATION:
            return []
        kinds.append(data[3])
        data = data[end:]
    return kinds


def commit_as_json(service, names):
    """Grants and submitted transactions on the edge."""
    for number, name in enumerate(names):
        request, method = {"app": APP, "customerId": name}, "entitled.v1.EntitlementService/Grant"
        if number % 2:
            request |= {"entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL"}
        else:
            request["signedTransaction"] = service.buy("lifetime")["signedTransactionInfo"]
            method = "entitled.v1.ReceiptService/SubmitTransaction"
        with named(service, name):
            status, answer = service.json(method, request)
            assert status == 200, answer


def commit_as_grpc(service, names):
    """Grants on the gRPC port."""
    with Connection(service.grpc) as connection:
        for name in names:
            request = entitlement_service.GrantRequest(
                app=APP, customer_id=name, entitlement="pro", access_level="ACCESS_LEVEL_FULL")
            with named(service, name):
                answer = connection.call(request.SerializeToString(), path="/entitled.v1.EntitlementService/Grant")
                assert answer.status == OK, answer.trailers


def commit_as_notifications(service, names):
    """Notifications of purchases, as Apple posts them."""
    forger = Forger(service)
    for name in names:
        body = signed(forger, "SUBSCRIBED", signedTransactionInfo=period(forger, name, NOW - DAY, NOW + DAY))
        with named(service, name):
            status, answer = deliver(service, body)
            assert status == 200, answer


@contextlib.contextmanager
def named(service, name):
    """Names what is acknowledged in the block in the trace, before and after it, because acknowledgements need not."""
    assert post(f"http://{service.http}/seen/{name}", {})[0] == 404
    yield
    assert post(f"http://{service.http}/seen/{name}", {})[0] == 404


@pytest.mark.parametrize("commit", [commit_as_json, commit_as_grpc, commit_as_notifications])
def test_no_acknowledgement_leaves_before_the_sync_of_its_commit(traced, commit):
    service, trace = traced
    # Of customers, or of purchases.
    names = [f"77007700{number:04}" for number in range(COUNT)]
    commit(service, names)
    service.stop()

    written, synced, acknowledged = set(), set(), []
    covered = set()
    current, answers = None, []
    for name, path, text, begins, ends in commands(trace):
        found = set(re.findall(r"77007700\d{4}", text))
        if path.endswith("-wal"):
            if name == "pwrite64":
                written |= found
            elif begins:
                covered = set(written)
            if name in ("fsync", "fdatasync") and ends and re.search(r"= 0$", text):
                synced |= covered
        elif begins and "HTTP/1.1 404" in text and found:
            (marked,) = found
            if current is None:
                current, answers = marked, []
                continue
            assert marked == current and answers, f"the trace lacks the acknowledgement of {current}"
            assert all(current in answer for answer in answers), f"{current} was acknowledged before the sync of its commit"
            acknowledged.append(current)
            current = None
        elif begins and ("HTTP/1.1 200" in text or frames.HEADERS in frames_of(text)):
            answers.append(set(synced))
    assert acknowledged == names
    assert written >= set(names), "the trace lacks writes to the log"
