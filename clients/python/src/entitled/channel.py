"""What both clients share: the credential, deadlines and retries."""

from __future__ import annotations

import ipaddress
import json
import random
import time
from typing import Any

import grpc

from entitled.errors import EntitledError
from entitled.services import FILES

# Of google.protobuf.MethodOptions.IdempotencyLevel.
_NO_SIDE_EFFECTS = 1

# The services and names of the methods without side effects.
_READS = {
    (service.full_name, method.name)
    for file in FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if method.GetOptions().idempotency_level == _NO_SIDE_EFFECTS and not method.server_streaming
}

_ATTEMPTS = 4


def options() -> list[tuple[str, Any]]:
    """Returns the options of the channel. A read waits for a connection. grpc repeats none, because it would ignore the
    delay that the service asks for; see `Attempts`."""
    names = [{"service": service, "method": method} for service, method in sorted(_READS)]
    config = {"methodConfig": [{"name": names, "waitForReady": True}]}
    return [
        ("grpc.service_config", json.dumps(config)),
        # grpc would wait a minute for the answer to a ping, and limit the pings beside streams, which send nothing themselves.
        ("grpc.keepalive_time_ms", 30_000), ("grpc.http2.ping_timeout_ms", 20_000),
        ("grpc.http2.max_pings_without_data", 0),
        # A restart of the service takes less than the second that grpc would wait.
        ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 10_000),
    ]


class Attempts:
    """The attempts of one call, all before its deadline. A read is repeated while the service cannot be reached; a write
    is left to the caller, who knows whether it has an idempotency key."""

    def __init__(self, method: str | bytes, timeout: float) -> None:
        path = method.decode() if isinstance(method, bytes) else method
        self._is_read = tuple(path.removeprefix("/").split("/")) in _READS
        self._deadline = time.monotonic() + timeout
        self._failures = 0

    @property
    def timeout(self) -> float:
        """The seconds until the deadline."""
        return max(self._deadline - time.monotonic(), 0.0)

    def delay_after(self, error: EntitledError) -> float:
        """Returns the seconds to wait before the next attempt, at least those that the service asks for. Raises `error`
        if there is no next one before the deadline."""
        longest = 0.05 * 2**self._failures
        delay = max(random.uniform(longest / 2, longest), error.retry_after or 0.0)
        self._failures += 1
        is_last = self._failures == _ATTEMPTS or delay >= self.timeout
        if not self._is_read or error.code is not grpc.StatusCode.UNAVAILABLE or is_last:
            raise error
        return delay


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
