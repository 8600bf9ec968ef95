"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

import grpc
import grpc.aio

from entitled import channel
from entitled.errors import EntitledError, error_of
from entitled.services import AsyncServices
from entitled.v1.entitlement_pb2 import Entitlement
from entitled.v1.entitlement_service_pb2 import CheckRequest, EntitlementEvent, WatchRequest
from entitled.v1.environment_pb2 import ENVIRONMENT_UNSPECIFIED, Environment
from entitled.v1.receipt_service_pb2 import SubmitTransactionRequest, SubmitTransactionResponse
from entitled.v1.segment_service_pb2 import WatchSegmentRequest
from entitled.watching import Request, Response, Watching


class AsyncClient(AsyncServices):
    """A connection to `entitled` for one event loop; the arguments and methods are those of `Client`."""

    def __init__(
        self, target: str, *, app: str, environment: Environment = ENVIRONMENT_UNSPECIFIED,
        token: str | None = None, credentials: grpc.ChannelCredentials | None = None, plaintext: bool = False,
        timeout: float = 5.0,
    ) -> None:
        metadata = channel.metadata(target, token, credentials is not None, plaintext)
        options = channel.options()
        interceptors = [_Calls(metadata, timeout), _Streams(metadata)]
        self._channel = (
            grpc.aio.secure_channel(target, credentials, options, interceptors=interceptors)
            if credentials
            else grpc.aio.insecure_channel(target, options, interceptors=interceptors)
        )
        super().__init__(self._channel)
        self.app = app
        self.environment = environment

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection; calls that still run fail."""
        await self._channel.close()

    async def check(
        self, customer_id: str, entitlement: str, *, at_least: str | None = None, timeout: float | None = None
    ) -> Entitlement:
        """Returns whether the customer has the entitlement, and why.

        `at_least` is the `position` of a response to a write: the answer, of whatever replica, includes that write.
        """
        request = CheckRequest(
            app=self.app, customer_id=customer_id, entitlement=entitlement, environment=self.environment
        )
        metadata = [("entitled-at-least", at_least)] if at_least else []
        return (await self.entitlement.Check(request, timeout=timeout, metadata=metadata)).entitlement

    async def submit(
        self, customer_id: str, signed_transaction: str, *, timeout: float | None = None
    ) -> SubmitTransactionResponse:
        """Submits a StoreKit 2 transaction (`jwsRepresentation`) for the customer. It is stored when this returns."""
        request = SubmitTransactionRequest(
            app=self.app, customer_id=customer_id, signed_transaction=signed_transaction
        )
        return await self.receipt.SubmitTransaction(request, timeout=timeout)

    def watch(
        self, *, after_sequence: int | None = None, after_position: str | None = None, from_beginning: bool = False,
        customer_ids: Sequence[str] = (), entitlements: Sequence[str] = (),
    ) -> AsyncWatch:
        """Returns the events in commit order, without an end. They start with the next one that is committed, unless
        one of the first three arguments is given."""
        request = WatchRequest(
            app=self.app, environment=self.environment, customer_ids=customer_ids, entitlements=entitlements
        )
        return AsyncWatch(self.entitlement.Watch, Watching(request, after_sequence, after_position, from_beginning))

    def watch_segment(
        self, segment: str, *, after_sequence: int | None = None, after_position: str | None = None,
        from_beginning: bool = False,
    ) -> AsyncWatch:
        """Returns the events of a saved segment as `watch` does: `SEGMENT_ENTERED` and `SEGMENT_LEFT` of its customers,
        `SEGMENT_REDEFINED` when it has to be listed again, and `CUSTOMER_ERASED` of every customer of the app. Raises
        `EntitledError` with the reason `UNKNOWN_SEGMENT` after the last event of a deleted segment."""
        request = WatchSegmentRequest(app=self.app, environment=self.environment, segment=segment)
        return AsyncWatch(self.segment.WatchSegment, Watching(request, after_sequence, after_position, from_beginning))


class AsyncWatch(AsyncIterator[EntitlementEvent]):
    """The events of an app or of a segment, with the members of `Watch`; `aclose()` ends the stream."""

    def __init__(
        self, method: grpc.aio.UnaryStreamMultiCallable[Request, Response], watching: Watching[Request]
    ) -> None:
        self._watching: Watching[WatchRequest] | Watching[WatchSegmentRequest] = watching
        self._open: Callable[[], AsyncGenerator[EntitlementEvent, None]] = partial(_events, method, watching)
        self._events = self._open()
        self._is_closed = False
        # The wait for the next event, a task, because `aclose()` of another task has to end it. It has an event if the
        # caller was cancelled when it arrived.
        self._next: asyncio.Future[EntitlementEvent] | None = None

    def __aiter__(self) -> AsyncWatch:
        return self

    async def __anext__(self) -> EntitlementEvent:
        if self._is_closed:
            raise StopAsyncIteration
        if self._next is None or not self._next.done():
            self._next = asyncio.ensure_future(anext(self._events))
        waiting = self._next
        try:
            event = await waiting
        except asyncio.CancelledError:
            if self._is_closed:
                raise StopAsyncIteration from None
            # Such as by `asyncio.wait_for`. It ends the generator; the next one continues after the last event.
            if waiting.cancelled():
                self._next, self._events = None, self._open()
            raise
        except BaseException:
            self._next = None
            raise
        self._next = None
        return event

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def position(self) -> str:
        """The position of the service's store at the last message, an opaque token. Before the first message it is the
        start, and empty if that is a sequence or the beginning."""
        return self._watching.position

    async def aclose(self) -> None:
        """Ends the stream. If another task waits for the next event, its iteration ends."""
        self._is_closed = True
        if self._next is not None and not self._next.done():
            self._next.cancel()
            await asyncio.wait([self._next])
        await self._events.aclose()


async def _events(
    method: grpc.aio.UnaryStreamMultiCallable[Request, Response], watching: Watching[Request]
) -> AsyncGenerator[EntitlementEvent, None]:
    while True:
        call = method(watching.request)
        error: EntitledError | None = None
        try:
            watching.opened(await call.initial_metadata() or ())
            async for response in call:
                if (event := watching.received(response)) is not None:
                    yield event
        except EntitledError as failure:
            error = failure
        finally:
            call.cancel()
        await asyncio.sleep(watching.delay_after(error))


class _Calls(grpc.aio.UnaryUnaryClientInterceptor):
    """Adds the credential and the deadline to calls, repeats reads, and raises `EntitledError` for failed calls."""

    def __init__(self, metadata: list[tuple[str, str]], timeout: float) -> None:
        self._metadata = metadata
        self._timeout = timeout

    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        attempts = channel.Attempts(details.method, self._timeout if details.timeout is None else details.timeout)
        while True:
            call = await continuation(channel.details(details, attempts.timeout, self._metadata), request)
            try:
                return await call
            except grpc.aio.AioRpcError as failure:
                error = error_of(failure)
            await asyncio.sleep(attempts.delay_after(error))


class _Streams(grpc.aio.UnaryStreamClientInterceptor):
    """Adds the credential to streams, and raises `EntitledError` for failed ones."""

    def __init__(self, metadata: list[tuple[str, str]]) -> None:
        self._metadata = metadata

    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return _responses(await continuation(channel.details(details, details.timeout, self._metadata), request))


async def _responses(call: Any) -> AsyncGenerator[Any, None]:
    try:
        async for response in call:
            yield response
    except grpc.aio.AioRpcError as failure:
        raise error_of(failure) from None
