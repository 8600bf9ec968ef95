"""What both clients share: the credential, deadlines and retries."""

from __future__ import annotations

import ipaddress
import json
from typing import Any

import grpc

from entitled.services import FILES

# Of google.protobuf.MethodOptions.IdempotencyLevel.
_NO_SIDE_EFFECTS = 1


def options() -> list[tuple[str, Any]]:
    """Returns the options of the channel. A read waits for a connection and is retried while the service cannot be
    reached; a write is left to the caller, who knows whether it has an idempotency key."""
    reads = [
        {"service": service.full_name, "method": method.name}
        for file in FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
        if method.GetOptions().idempotency_level == _NO_SIDE_EFFECTS and not method.server_streaming
    ]
    retries = {
        "maxAttempts": 4, "initialBackoff": "0.05s", "maxBackoff": "1s", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    config = {"methodConfig": [{"name": reads, "waitForReady": True, "retryPolicy": retries}]}
    return [
        ("grpc.service_config", json.dumps(config)),
        # grpc would wait a minute for the answer to a ping, and limit the pings beside streams, which send nothing themselves.
        ("grpc.keepalive_time_ms", 30_000), ("grpc.http2.ping_timeout_ms", 20_000),
        ("grpc.http2.max_pings_without_data", 0),
        # A restart of the service takes less than the second that grpc would wait.
        ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 10_000),
    ]


def metadata(target: str, token: str | None, is_encrypted: bool, plaintext: bool) -> list[tuple[str, str]]:
    """Returns the fields of every call. Raises ValueError for a token that would leave the machine unencrypted."""
    if token is None:
        return []
    if not (is_encrypted or plaintext or _is_local(target)):
        raise ValueError(f"the token would be sent to {target} unencrypted; pass credentials, or plaintext=True")
    return [("authorization", f"Bearer {token}")]


def _is_local(target: str) -> bool:
    if target.startswith("unix:"):
        return True
    host = target.rsplit(":", 1)[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Details(grpc.ClientCallDetails):
    """The description of a call as grpc's interceptors exchange it."""

    def __init__(self, of: Any, timeout: float | None, metadata: list[tuple[str, str]]) -> None:
        self.method = of.method
        self.timeout = timeout
        self.metadata = tuple(metadata)
        self.credentials = of.credentials
        self.wait_for_ready = of.wait_for_ready
        self.compression = of.compression


def details(of: Any, timeout: float | None, fields: list[tuple[str, str]]) -> Any:
    """Returns `of` with another deadline and more metadata."""
    metadata = [*(of.metadata or ()), *fields]
    if isinstance(of, grpc.aio.ClientCallDetails):
        return grpc.aio.ClientCallDetails(
            of.method, timeout, grpc.aio.Metadata(*metadata), of.credentials, of.wait_for_ready
        )
    return _Details(of, timeout, metadata)
