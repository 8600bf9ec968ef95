"""h2load, a client that knows nothing of gRPC and sends as fast as it can."""

import re
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
    shown = subprocess.run(map(str, command), capture_output=True, text=True, timeout=120).stdout
    assert re.search(rf"{calls} succeeded, 0 failed, 0 errored, 0 timeout", shown), shown
    assert re.search(rf"status codes: {calls} 2xx", shown), shown
