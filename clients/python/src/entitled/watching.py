"""The rules of a stream of events that continues after an interruption; both clients follow them."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable
from typing import Generic, TypeVar

import grpc

from entitled.errors import EntitledError
from entitled.v1.entitlement_service_pb2 import EntitlementEvent, WatchRequest, WatchResponse
from entitled.v1.segment_service_pb2 import WatchSegmentRequest, WatchSegmentResponse

Request = TypeVar("Request", WatchRequest, WatchSegmentRequest)
Response = TypeVar("Response", WatchResponse, WatchSegmentResponse)

_LOGGER = logging.getLogger("entitled")

# ABORTED: the events came faster than the caller took them.
_INTERRUPTIONS = (
    grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNKNOWN, grpc.StatusCode.ABORTED,
)


class Watching(Generic[Request]):
    """One stream: the request that continues it, its position, and the wait after an interruption."""

    def __init__(
        self, request: Request, after_sequence: int | None, after_position: str | None, from_beginning: bool
    ) -> None:
        if (after_sequence is not None) + (after_position is not None) + from_beginning > 1:
            raise ValueError("a stream has one start: after_sequence, after_position or from_beginning")
        self.request: Request = request
        if after_sequence is not None:
            self.request.after_sequence = after_sequence
        elif after_position is not None:
            self.request.after_position = after_position
        elif from_beginning:
            self.request.from_beginning = True
        self.position = after_position or ""
        self._attempts = 0

    def opened(self, fields: Iterable[tuple[str, str | bytes]]) -> None:
        """Records where a stream without a start begins, from the header fields of the response."""
        position = dict(fields).get("entitled-position")
        if self.request.WhichOneof("start") is None and isinstance(position, str):
            self.request.after_position = self.position = position

    def received(self, response: WatchResponse | WatchSegmentResponse) -> EntitlementEvent | None:
        """Records the position; returns the event, or None for a heartbeat."""
        self._attempts = 0
        self.position = response.position
        # A position, because a restored store may give other events the same sequences; a sequence if the caller chose one.
        if self.request.WhichOneof("start") == "after_sequence":
            self.request.after_sequence = response.sequence
        else:
            self.request.after_position = response.position
        return response.event if response.HasField("event") else None

    def delay_after(self, error: EntitledError | None) -> float:
        """Returns the seconds to wait before the stream continues. Raises `error` if it cannot continue: the service
        refuses it, or did not accept a stream without a start, so that it is not known which event is the next one."""
        if error is not None and (error.code not in _INTERRUPTIONS or self.request.WhichOneof("start") is None):
            raise error
        self._attempts = min(self._attempts + 1, 9)
        longest = min(30.0, 0.1 * 2**self._attempts)
        retry_after = (error.retry_after if error else None) or 0.0
        delay = max(retry_after, random.uniform(longest / 2, longest))
        # A wrong address has no other sign, because the stream waits for the service. Streams end now and then.
        level = logging.WARNING if self._attempts > 1 else logging.INFO
        _LOGGER.log(level, "stream of events ended, continuing in %.1f s: %s", delay, error or "no error")
        return delay
