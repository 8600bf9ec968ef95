"""Load by h2load, which knows no gRPC and sends at full speed."""

import ctypes
import os
import pathlib
import platform
import re
import struct
import subprocess
import urllib.request

import pytest

from contract import entitlement_service
from harness import CALL_LIMIT
from raw import CHECK, framed


@pytest.mark.parametrize("connections, streams", [(8, 32), (64, 1)])
def test_every_one_of_thousands_of_calls_is_answered(service, tmp_path, connections, streams):
    request = entitlement_service.CheckRequest(app="ocean-journal", customer_id="h2load", entitlement="pro")
    body = tmp_path / "request"
    body.write_bytes(framed(request.SerializeToString()))
    calls = 4_000
    command = [
        "h2load", "--requests", calls, "--clients", connections, "--max-concurrent-streams", streams,
        "--data", body, "--header", "content-type: application/grpc", "--header", "te: trailers",
        f"http://{service.grpc}{CHECK}",
    ]  # fmt: skip
    output = subprocess.run(map(str, command), capture_output=True, text=True, timeout=120).stdout
    assert re.search(rf"{calls} succeeded, 0 failed, 0 errored, 0 timeout", output), output
    assert re.search(rf"status codes: {calls} 2xx", output), output


# sched_getattr(2), which Python's library does not wrap.
SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}.get(platform.machine())


def scheduling(thread):
    """A thread's niceness and requested time slice, in nanoseconds."""
    found = ctypes.create_string_buffer(48)
    assert ctypes.CDLL(None).syscall(SCHED_GETATTR, thread, found, len(found), 0) == 0
    _, _, _, niceness, _, runtime = struct.unpack("IIQiIQ", found.raw[:32])
    return niceness, runtime


def threads(service):
    return [int(thread) for thread in os.listdir(f"/proc/{service.process.pid}/task")]


@pytest.mark.skipif(SCHED_GETATTR is None, reason="sched_getattr has no known number on this architecture")
def test_event_loops_have_priority_over_writers(service, customer):
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    request = {"app": "ocean-journal", "customerId": customer, "signedTransaction": document}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0] == 200
    found = [scheduling(thread) for thread in threads(service)]
    asking = [niceness for niceness, runtime in found if runtime == 100_000]
    yielding = [niceness for niceness, runtime in found if runtime == 100_000_000 and niceness < 19]
    working = [niceness for niceness, runtime in found if niceness == 19]
    if not asking and not yielding:
        pytest.skip("kernels before 6.12 have no time slices")
    # At least one event loop of the gRPC port and one of the edge; the writer and a verifying thread.
    usual = max(os.getpriority(os.PRIO_PROCESS, 0), 0)
    assert asking and max(asking) <= usual
    assert yielding and max(yielding) <= usual
    assert len(working) >= 2


def processor_time(service, threads):
    """The time for which threads ran, in seconds."""
    task = f"/proc/{service.process.pid}/task"
    return sum(int(pathlib.Path(f"{task}/{thread}/schedstat").read_text().split()[0]) for thread in threads) / 1e9


@pytest.mark.skipif(SCHED_GETATTR is None, reason="sched_getattr has no known number on this architecture")
def test_background_threads_run_no_health_probe(service, customer):
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    request = {"app": "ocean-journal", "customerId": customer, "signedTransaction": document}

    def submit():
        return service.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0]

    def probe(path):
        return lambda: urllib.request.urlopen(f"http://{service.http}/{path}", timeout=CALL_LIMIT).status

    probes = [probe("healthz"), probe("readyz"), lambda: service.json("grpc.health.v1.Health/Check", {})[0]]
    # More work than threads, so that every thread that works has its priority.
    for _ in range(20):
        assert submit() == 200
    background = [thread for thread in threads(service) if scheduling(thread)[0] == 19]
    assert background
    shares = []
    for calls in (probes, [submit]):
        before = processor_time(service, background), processor_time(service, threads(service))
        for number in range(300):
            assert calls[number % len(calls)]() == 200
        after = processor_time(service, background), processor_time(service, threads(service))
        shares.append((after[0] - before[0]) / (after[1] - before[1]))
    # Once a second the health monitor measures the delay of the writer with an empty write.
    assert shares[0] < 0.1 < 0.3 < shares[1], shares
