"""The one exception of the client, with everything that the service says about an error."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]


_TRANSIENT = (
    grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED,
)


class EntitledError(Exception):
    """A call that failed.

    `code` is the gRPC status code and `reason` the service's stable UPPER_SNAKE reason (empty if a proxy or the
    network failed). `fields` maps names of bad request fields to descriptions, `metadata` has details of the reason,
    and `retry_after` is the number of seconds to wait before the next attempt, if the service names one.
    """

    def __init__(
        self, code: grpc.StatusCode, message: str, reason: str = "", fields: dict[str, str] | None = None,
        metadata: dict[str, str] | None = None, retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code.name} {reason}: {message}" if reason else f"{code.name}: {message}")
        self.code = code
        self.message = message
        self.reason = reason
        self.fields = fields or {}
        self.metadata = metadata or {}
        self.retry_after = retry_after

    @property
    def is_transient(self) -> bool:
        """Whether the same call can succeed later without a change."""
        return self.code in _TRANSIENT


def error_of(call: Any) -> EntitledError:
    """Returns the error of a failed call, of grpc or of grpc.aio."""
    code, message, trailers = call.code(), call.details() or "", call.trailing_metadata() or ()
    details = next((value for key, value in trailers if key == "grpc-status-details-bin"), b"")
    reason, metadata, fields, retry_after = "", {}, {}, None
    try:
        status = status_pb2.Status.FromString(details)
    except DecodeError:
        # A proxy's field, not the service's.
        status = status_pb2.Status()
    for detail in status.details:
        info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            reason, metadata = info.reason, dict(info.metadata)
        elif detail.Unpack(bad):
            fields = {violation.field: violation.description for violation in bad.field_violations}
        elif detail.Unpack(retry):
            retry_after = retry.retry_delay.ToTimedelta().total_seconds()
    return EntitledError(code, message, reason, fields, metadata, retry_after)
