from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DELIVERY_STATE_DEAD_LETTER: DeliveryState
DELIVERY_STATE_PENDING: DeliveryState
DELIVERY_STATE_UNSPECIFIED: DeliveryState
DESCRIPTOR: _descriptor.FileDescriptor
WEBHOOK_KIND_EVENTS: WebhookKind
WEBHOOK_KIND_NOTIFICATIONS: WebhookKind
WEBHOOK_KIND_UNSPECIFIED: WebhookKind
WEBHOOK_STATE_FAILING: WebhookState
WEBHOOK_STATE_GONE: WebhookState
WEBHOOK_STATE_HEALTHY: WebhookState
WEBHOOK_STATE_UNSPECIFIED: WebhookState

class Delivery(_message.Message):
    __slots__ = ["attempts", "environment", "first_attempt_at", "next_attempt_at", "number", "occurred_at", "outcome", "state", "subject", "type", "webhook_id"]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FIRST_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_ID_FIELD_NUMBER: _ClassVar[int]
    attempts: int
    environment: _environment_pb2.Environment
    first_attempt_at: _timestamp_pb2.Timestamp
    next_attempt_at: _timestamp_pb2.Timestamp
    number: int
    occurred_at: _timestamp_pb2.Timestamp
    outcome: str
    state: DeliveryState
    subject: str
    type: str
    webhook_id: str
    def __init__(self, number: _Optional[int] = ..., webhook_id: _Optional[str] = ..., type: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., subject: _Optional[str] = ..., state: _Optional[_Union[DeliveryState, str]] = ..., attempts: _Optional[int] = ..., outcome: _Optional[str] = ..., occurred_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., first_attempt_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., next_attempt_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class DeliveryNumbers(_message.Message):
    __slots__ = ["numbers"]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    numbers: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, numbers: _Optional[_Iterable[int]] = ...) -> None: ...

class DeliveryRange(_message.Message):
    __slots__ = ["first", "last"]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    first: int
    last: int
    def __init__(self, first: _Optional[int] = ..., last: _Optional[int] = ...) -> None: ...

class DiscardDeliveriesRequest(_message.Message):
    __slots__ = ["actor", "app", "dead_letters", "kind", "note", "numbers", "webhook"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    dead_letters: bool
    kind: WebhookKind
    note: str
    numbers: DeliveryNumbers
    webhook: str
    def __init__(self, app: _Optional[str] = ..., webhook: _Optional[str] = ..., kind: _Optional[_Union[WebhookKind, str]] = ..., dead_letters: bool = ..., numbers: _Optional[_Union[DeliveryNumbers, _Mapping[str, _Any]]] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class DiscardDeliveriesResponse(_message.Message):
    __slots__ = ["discarded", "position"]
    DISCARDED_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    discarded: int
    position: str
    def __init__(self, discarded: _Optional[int] = ..., position: _Optional[str] = ...) -> None: ...

class GetDeliveryRequest(_message.Message):
    __slots__ = ["app", "kind", "number", "webhook"]
    APP_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    app: str
    kind: WebhookKind
    number: int
    webhook: str
    def __init__(self, app: _Optional[str] = ..., webhook: _Optional[str] = ..., kind: _Optional[_Union[WebhookKind, str]] = ..., number: _Optional[int] = ...) -> None: ...

class GetDeliveryResponse(_message.Message):
    __slots__ = ["body", "delivery", "subject", "type", "webhook_id"]
    BODY_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_ID_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    delivery: Delivery
    subject: str
    type: str
    webhook_id: str
    def __init__(self, webhook_id: _Optional[str] = ..., type: _Optional[str] = ..., subject: _Optional[str] = ..., body: _Optional[bytes] = ..., delivery: _Optional[_Union[Delivery, _Mapping[str, _Any]]] = ...) -> None: ...

class ListDeliveriesRequest(_message.Message):
    __slots__ = ["app", "kind", "page_size", "page_token", "state", "webhook"]
    APP_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    app: str
    kind: WebhookKind
    page_size: int
    page_token: str
    state: DeliveryState
    webhook: str
    def __init__(self, app: _Optional[str] = ..., webhook: _Optional[str] = ..., kind: _Optional[_Union[WebhookKind, str]] = ..., state: _Optional[_Union[DeliveryState, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDeliveriesResponse(_message.Message):
    __slots__ = ["deliveries", "next_page_token"]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    deliveries: _containers.RepeatedCompositeFieldContainer[Delivery]
    next_page_token: str
    def __init__(self, deliveries: _Optional[_Iterable[_Union[Delivery, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListWebhooksRequest(_message.Message):
    __slots__ = ["app", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWebhooksResponse(_message.Message):
    __slots__ = ["next_page_token", "webhooks"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WEBHOOKS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    webhooks: _containers.RepeatedCompositeFieldContainer[Webhook]
    def __init__(self, webhooks: _Optional[_Iterable[_Union[Webhook, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ResendDeliveriesRequest(_message.Message):
    __slots__ = ["actor", "app", "dead_letters", "idempotency_key", "kind", "note", "numbers", "range", "webhook"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    dead_letters: bool
    idempotency_key: str
    kind: WebhookKind
    note: str
    numbers: DeliveryNumbers
    range: DeliveryRange
    webhook: str
    def __init__(self, app: _Optional[str] = ..., webhook: _Optional[str] = ..., kind: _Optional[_Union[WebhookKind, str]] = ..., dead_letters: bool = ..., numbers: _Optional[_Union[DeliveryNumbers, _Mapping[str, _Any]]] = ..., range: _Optional[_Union[DeliveryRange, _Mapping[str, _Any]]] = ..., idempotency_key: _Optional[str] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class ResendDeliveriesResponse(_message.Message):
    __slots__ = ["continue_from", "position", "repeated", "resent"]
    CONTINUE_FROM_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    RESENT_FIELD_NUMBER: _ClassVar[int]
    continue_from: int
    position: str
    repeated: bool
    resent: int
    def __init__(self, resent: _Optional[int] = ..., continue_from: _Optional[int] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class ResumeWebhookRequest(_message.Message):
    __slots__ = ["actor", "app", "kind", "note", "webhook"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    kind: WebhookKind
    note: str
    webhook: str
    def __init__(self, app: _Optional[str] = ..., webhook: _Optional[str] = ..., kind: _Optional[_Union[WebhookKind, str]] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class ResumeWebhookResponse(_message.Message):
    __slots__ = ["position", "webhook"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    position: str
    webhook: Webhook
    def __init__(self, webhook: _Optional[_Union[Webhook, _Mapping[str, _Any]]] = ..., position: _Optional[str] = ...) -> None: ...

class Webhook(_message.Message):
    __slots__ = ["cursor", "dead_letters", "kind", "latest_number", "name", "oldest_pending_at", "pending", "state", "url"]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LATEST_NUMBER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OLDEST_PENDING_AT_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    cursor: int
    dead_letters: int
    kind: WebhookKind
    latest_number: int
    name: str
    oldest_pending_at: _timestamp_pb2.Timestamp
    pending: int
    state: WebhookState
    url: str
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[WebhookKind, str]] = ..., url: _Optional[str] = ..., state: _Optional[_Union[WebhookState, str]] = ..., cursor: _Optional[int] = ..., latest_number: _Optional[int] = ..., pending: _Optional[int] = ..., dead_letters: _Optional[int] = ..., oldest_pending_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class WebhookKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class WebhookState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class DeliveryState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
