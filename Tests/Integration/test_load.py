"""Load by h2load, which knows no gRPC and sends at full speed."""

import ctypes
import os
import platform
import re
import struct
import subprocess

import pytest

from contract import entitlement_service
from raw import CHECK, framed


@pytest.mark.parametrize("connections, streams", [(8, 32), (64, 1)])
def test_every_one_of_thousands_of_calls_is_answered(service, tmp_path, connections, streams):
    request = entitlement_service.CheckRequest(app="ocean-journal", customer_id="h2load", entitlement="pro")
    body = tmp_path / "request"
    body.write_bytes(framed(request.SerializeToString()))
    calls = 8_000
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


@pytest.mark.skipif(SCHED_GETATTR is None, reason="sched_getattr has no known number on this architecture")
def test_event_loops_have_priority_over_writers(service, customer):
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    request = {"app": "ocean-journal", "customerId": customer, "signedTransaction": document}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0] == 200
    found = [scheduling(int(thread)) for thread in os.listdir(f"/proc/{service.process.pid}/task")]
    asking = [niceness for niceness, runtime in found if runtime == 100_000]
    working = [niceness for niceness, runtime in found if runtime == 100_000_000]
    if not asking and not working:
        pytest.skip("kernels before 6.12 have no time slices")
    # At least one event loop of the gRPC port; an event loop of the edge, the writer and a verifying thread.
    assert asking and max(asking) <= max(os.getpriority(os.PRIO_PROCESS, 0), 0)
    assert len(working) >= 3 and set(working) == {19}
