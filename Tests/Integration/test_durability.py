"""The system calls of the service, seen by strace: no write is acknowledged before it is on disk."""

import re
import shutil

import pytest

import harness
from harness import PROGRAM, Service, post

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


def test_no_acknowledgement_leaves_before_the_sync_of_its_commit(traced):
    service, trace = traced
    customers = [f"traced-{number:04}" for number in range(COUNT)]
    for number, customer in enumerate(customers):
        if number % 2:
            request = {"app": "ocean-journal", "customerId": customer, "entitlement": "pro",
                       "accessLevel": "ACCESS_LEVEL_FULL"}
            status, answer = service.json("entitled.v1.EntitlementService/Grant", request)
        else:
            jws = service.buy("lifetime")["signedTransactionInfo"]
            request = {"app": "ocean-journal", "customerId": customer, "signedTransaction": jws}
            status, answer = service.json("entitled.v1.ReceiptService/SubmitTransaction", request)
        assert status == 200, answer
        # Names the customer of the next acknowledgement in the trace, because answers need not.
        assert post(f"http://{service.http}/seen/{customer}", {})[0] == 404
    service.stop()

    written, synced, acknowledged = set(), set(), []
    covered = set()
    answers = []
    for name, path, text, begins, ends in commands(trace):
        named = set(re.findall(r"traced-\d{4}", text))
        if path.endswith("-wal"):
            if name == "pwrite64":
                written |= named
            elif begins:
                covered = set(written)
            if name in ("fsync", "fdatasync") and ends and re.search(r"= 0$", text):
                synced |= covered
        elif begins and "HTTP/1.1 200" in text:
            answers.append(set(synced))
        elif begins and "HTTP/1.1 404" in text and named:
            # The answer before this one belongs to the customer that the path names.
            customer = named.pop()
            acknowledged.append(customer)
            assert customer in answers[-1], f"the answer about {customer} left before the sync of its commit"
    assert acknowledged == customers
    assert written >= set(customers), "the trace lacks writes to the log"
