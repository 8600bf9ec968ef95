"""The client for threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import grpc

from entitled import channel
from entitled.errors import EntitledError, error_of
from entitled.services import Services
from entitled.v1.entitlement_pb2 import Entitlement
from entitled.v1.entitlement_service_pb2 import CheckRequest, EntitlementEvent, WatchRequest
from entitled.v1.environment_pb2 import ENVIRONMENT_UNSPECIFIED, Environment
from entitled.v1.receipt_service_pb2 import SubmitTransactionRequest, SubmitTransactionResponse
from entitled.v1.segment_service_pb2 import WatchSegmentRequest
from entitled.watching import Request, Response, Watching


class Client(Services):
    """A connection to `entitled`. All threads can share it; it reconnects by itself.

    `credentials` are those of the channel (`grpc.ssl_channel_credentials()`); without them the connection is not
    encrypted, and a token is only sent within the machine unless `plaintext` allows more. `timeout` is the deadline
    in seconds of calls that name none. Failed calls raise `EntitledError`. The attributes of `Services` have every
    method of the contract.
    """

    def __init__(
        self, target: str, *, app: str, environment: Environment = ENVIRONMENT_UNSPECIFIED,
        token: str | None = None, credentials: grpc.ChannelCredentials | None = None, plaintext: bool = False,
        timeout: float = 5.0,
    ) -> None:
        metadata = channel.metadata(target, token, credentials is not None, plaintext)
        options = channel.options()
        self._channel = (
            grpc.secure_channel(target, credentials, options) if credentials else grpc.insecure_channel(target, options)
        )
        super().__init__(grpc.intercept_channel(self._channel, _Calls(metadata, timeout)))
        self.app = app
        self.environment = environment

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; calls that still run fail."""
        self._channel.close()

    def check(
        self, customer_id: str, entitlement: str, *, at_least: str | None = None, timeout: float | None = None
    ) -> Entitlement:
        """Returns whether the customer has the entitlement, and why.

        `at_least` is the `position` of a response to a write: the answer, of whatever replica, includes that write.
        """
        request = CheckRequest(
            app=self.app, customer_id=customer_id, entitlement=entitlement, environment=self.environment
        )
        metadata = (("entitled-at-least", at_least),) if at_least else None
        return self.entitlement.Check(request, timeout=timeout, metadata=metadata).entitlement

    def submit(
        self, customer_id: str, signed_transaction: str, *, timeout: float | None = None
    ) -> SubmitTransactionResponse:
        """Submits a StoreKit 2 transaction (`jwsRepresentation`) for the customer. It is stored when this returns."""
        request = SubmitTransactionRequest(
            app=self.app, customer_id=customer_id, signed_transaction=signed_transaction
        )
        return self.receipt.SubmitTransaction(request, timeout=timeout)

    def watch(
        self, *, after_sequence: int | None = None, after_position: str | None = None, from_beginning: bool = False,
        customer_ids: Sequence[str] = (), entitlements: Sequence[str] = (),
    ) -> Watch:
        """Returns the events in commit order, without an end. They start with the next one that is committed, unless
        one of the first three arguments is given."""
        request = WatchRequest(
            app=self.app, environment=self.environment, customer_ids=customer_ids, entitlements=entitlements
        )
        return Watch(self.entitlement.Watch, Watching(request, after_sequence, after_position, from_beginning))

    def watch_segment(
        self, segment: str, *, after_sequence: int | None = None, after_position: str | None = None,
        from_beginning: bool = False,
    ) -> Watch:
        """Returns the events of a saved segment as `watch` does: `SEGMENT_ENTERED` and `SEGMENT_LEFT` of its customers,
        `SEGMENT_REDEFINED` when it has to be listed again, and `CUSTOMER_ERASED` of every customer of the app. Raises
        `EntitledError` with the reason `UNKNOWN_SEGMENT` after the last event of a deleted segment."""
        request = WatchSegmentRequest(app=self.app, environment=self.environment, segment=segment)
        return Watch(self.segment.WatchSegment, Watching(request, after_sequence, after_position, from_beginning))


class Watch(Iterator[EntitlementEvent]):
    """The events of an app or of a segment. After an interruption the stream continues after the last event.

    To continue in another process, store `event.sequence` and pass it as `after_sequence`, or store `position` and pass
    it as `after_position`. The stream ends with `close()`, or when the object is no longer used.
    """

    def __init__(
        self, method: grpc.UnaryStreamMultiCallable[Request, Response], watching: Watching[Request]
    ) -> None:
        self._watching: Watching[WatchRequest] | Watching[WatchSegmentRequest] = watching
        self._end = _End()
        self._events = _events(method, watching, self._end)

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> EntitlementEvent:
        return next(self._events)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def position(self) -> str:
        """The position of the service's store at the last message, an opaque token. Before the first message it is the
        start, and empty if that is a sequence or the beginning. Unlike a sequence it names the store, too: a service
        that was restored from an older backup refuses it."""
        return self._watching.position

    def close(self) -> None:
        """Ends the stream. If another thread waits for the next event, its iteration ends."""
        self._end.request()


class _End:
    """The end of a stream, which any thread can request."""

    def __init__(self) -> None:
        self.requested = threading.Event()
        self.call: grpc.Call | None = None

    def request(self) -> None:
        self.requested.set()
        if self.call is not None:
            self.call.cancel()


def _events(
    method: grpc.UnaryStreamMultiCallable[Request, Response], watching: Watching[Request], end: _End
) -> Generator[EntitlementEvent, None, None]:
    while True:
        end.call = call = method(watching.request, timeout=None)
        error: EntitledError | None = None
        try:
            # From now on, a request cancels this call.
            if end.requested.is_set():
                return
            watching.opened(call.initial_metadata() or ())
            for response in call:
                if (event := watching.received(response)) is not None:
                    yield event
        except EntitledError as failure:
            error = failure
        finally:
            call.cancel()
        if end.requested.is_set() or end.requested.wait(watching.delay_after(error)):
            return


class _Calls(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Adds the credential and the deadline to calls, repeats reads, and raises `EntitledError` for failed calls."""

    def __init__(self, metadata: list[tuple[str, str]], timeout: float) -> None:
        self._metadata = metadata
        self._timeout = timeout

    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        attempts = channel.Attempts(details.method, self._timeout if details.timeout is None else details.timeout)
        while True:
            call = continuation(channel.details(details, attempts.timeout, self._metadata), request)
            if not isinstance(failure := call.exception(), grpc.RpcError):
                return call
            time.sleep(attempts.delay_after(error_of(failure)))

    def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return _Responses(continuation(channel.details(details, details.timeout, self._metadata), request))


class _Responses:
    """A streaming call of grpc, whose iteration raises `EntitledError`."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def __iter__(self) -> _Responses:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._call)
        except grpc.RpcError as failure:
            raise error_of(failure) from None
