"""The client for threads."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import grpc

from entitled import channel
from entitled.errors import EntitledError, error_of
from entitled.services import EntitlementService, Services
from entitled.v1.entitlement_pb2 import Entitlement
from entitled.v1.entitlement_service_pb2 import CheckRequest, EntitlementEvent
from entitled.v1.environment_pb2 import ENVIRONMENT_UNSPECIFIED, Environment
from entitled.v1.receipt_service_pb2 import SubmitTransactionRequest, SubmitTransactionResponse
from entitled.watching import Watching


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
        return Watch(
            self.entitlement,
            Watching(
                self.app, self.environment, after_sequence, after_position, from_beginning, customer_ids, entitlements
            ),
        )


class Watch(Iterator[EntitlementEvent]):
    """The events of a Watch. After an interruption the stream continues after the last event.

    To continue in another process, store `event.sequence` and pass it as `after_sequence`, or store `position` and pass
    it as `after_position`. The stream ends with `close()`, or when the object is no longer used.
    """

    def __init__(self, service: EntitlementService, watching: Watching) -> None:
        self._watching = watching
        self._events = _events(service, watching)

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
        """The position of the service's store at the last message, an opaque token; empty before the first message.
        Unlike a sequence it names the store, too: a service that was restored from an older backup refuses it."""
        return self._watching.position

    def close(self) -> None:
        """Ends the stream."""
        self._events.close()


def _events(service: EntitlementService, watching: Watching) -> Generator[EntitlementEvent, None, None]:
    while True:
        call = service.Watch(watching.request, timeout=None)
        error: EntitledError | None = None
        try:
            for response in call:
                if (event := watching.received(response)) is not None:
                    yield event
        except grpc.RpcError as failure:
            error = error_of(failure)
        finally:
            call.cancel()
        time.sleep(watching.delay_after(error))


class _Calls(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Adds the credential and the deadline to calls, and raises `EntitledError` for failed ones."""

    def __init__(self, metadata: list[tuple[str, str]], timeout: float) -> None:
        self._metadata = metadata
        self._timeout = timeout

    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        timeout = self._timeout if details.timeout is None else details.timeout
        call = continuation(channel.details(details, timeout, self._metadata), request)
        if isinstance(failure := call.exception(), grpc.RpcError):
            raise error_of(failure) from None
        return call

    def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return continuation(channel.details(details, details.timeout, self._metadata), request)
