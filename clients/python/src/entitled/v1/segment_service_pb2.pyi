from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import entitlement_pb2 as _entitlement_pb2
from entitled.v1 import entitlement_service_pb2 as _entitlement_service_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from entitled.v1 import product_pb2 as _product_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
PAYMENT_MODE_FREE_TRIAL: PaymentMode
PAYMENT_MODE_INTRODUCTORY_OFFER: PaymentMode
PAYMENT_MODE_STANDARD: PaymentMode
PAYMENT_MODE_SUBSCRIPTION_OFFER: PaymentMode
PAYMENT_MODE_UNSPECIFIED: PaymentMode

class CreateSegmentRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "filter", "idempotency_key", "name", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    filter: SegmentFilter
    idempotency_key: str
    name: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., name: _Optional[str] = ..., filter: _Optional[_Union[SegmentFilter, _Mapping[str, _Any]]] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class CreateSegmentResponse(_message.Message):
    __slots__ = ["position", "repeated", "segment"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    segment: Segment
    def __init__(self, segment: _Optional[_Union[Segment, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class DeleteSegmentRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "name", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    name: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., name: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class DeleteSegmentResponse(_message.Message):
    __slots__ = ["position", "repeated"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    def __init__(self, repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class ListCustomersRequest(_message.Message):
    __slots__ = ["app", "count", "count_limit", "environment", "filter", "page_size", "page_token", "segment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    COUNT_LIMIT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    count: bool
    count_limit: int
    environment: _environment_pb2.Environment
    filter: SegmentFilter
    page_size: int
    page_token: str
    segment: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., segment: _Optional[str] = ..., filter: _Optional[_Union[SegmentFilter, _Mapping[str, _Any]]] = ..., count: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., count_limit: _Optional[int] = ...) -> None: ...

class ListCustomersResponse(_message.Message):
    __slots__ = ["as_of", "environment", "next_page_token", "rows", "sequence", "total"]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    as_of: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    next_page_token: str
    rows: _containers.RepeatedCompositeFieldContainer[SegmentRow]
    sequence: int
    total: int
    def __init__(self, rows: _Optional[_Iterable[_Union[SegmentRow, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ..., total: _Optional[int] = ..., sequence: _Optional[int] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ...) -> None: ...

class ListSegmentsRequest(_message.Message):
    __slots__ = ["app", "count", "count_limit", "environment", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    COUNT_LIMIT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    count: bool
    count_limit: int
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., count: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., count_limit: _Optional[int] = ...) -> None: ...

class ListSegmentsResponse(_message.Message):
    __slots__ = ["next_page_token", "segments"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    segments: _containers.RepeatedCompositeFieldContainer[Segment]
    def __init__(self, segments: _Optional[_Iterable[_Union[Segment, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Segment(_message.Message):
    __slots__ = ["configured", "created_at", "filter", "name", "total"]
    CONFIGURED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    configured: bool
    created_at: _timestamp_pb2.Timestamp
    filter: SegmentFilter
    name: str
    total: int
    def __init__(self, name: _Optional[str] = ..., filter: _Optional[_Union[SegmentFilter, _Mapping[str, _Any]]] = ..., configured: bool = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., total: _Optional[int] = ...) -> None: ...

class SegmentFilter(_message.Message):
    __slots__ = ["commitment_ends_within_days", "ends_within_days", "entitlements", "has_win_back_offer", "in_app_ownership_types", "max_days_in_state", "min_days_in_state", "min_paid_days", "needs_price_consent", "payment_modes", "product_ids", "since_before", "since_from", "states", "storefronts", "subscription_groups", "unclaimed"]
    COMMITMENT_ENDS_WITHIN_DAYS_FIELD_NUMBER: _ClassVar[int]
    ENDS_WITHIN_DAYS_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    HAS_WIN_BACK_OFFER_FIELD_NUMBER: _ClassVar[int]
    IN_APP_OWNERSHIP_TYPES_FIELD_NUMBER: _ClassVar[int]
    MAX_DAYS_IN_STATE_FIELD_NUMBER: _ClassVar[int]
    MIN_DAYS_IN_STATE_FIELD_NUMBER: _ClassVar[int]
    MIN_PAID_DAYS_FIELD_NUMBER: _ClassVar[int]
    NEEDS_PRICE_CONSENT_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_MODES_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_IDS_FIELD_NUMBER: _ClassVar[int]
    SINCE_BEFORE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FROM_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    STOREFRONTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUPS_FIELD_NUMBER: _ClassVar[int]
    UNCLAIMED_FIELD_NUMBER: _ClassVar[int]
    commitment_ends_within_days: int
    ends_within_days: int
    entitlements: _containers.RepeatedScalarFieldContainer[str]
    has_win_back_offer: bool
    in_app_ownership_types: _containers.RepeatedScalarFieldContainer[_product_pb2.InAppOwnershipType]
    max_days_in_state: int
    min_days_in_state: int
    min_paid_days: int
    needs_price_consent: bool
    payment_modes: _containers.RepeatedScalarFieldContainer[PaymentMode]
    product_ids: _containers.RepeatedScalarFieldContainer[str]
    since_before: _timestamp_pb2.Timestamp
    since_from: _timestamp_pb2.Timestamp
    states: _containers.RepeatedScalarFieldContainer[_entitlement_pb2.EntitlementState]
    storefronts: _containers.RepeatedScalarFieldContainer[str]
    subscription_groups: _containers.RepeatedScalarFieldContainer[str]
    unclaimed: bool
    def __init__(self, states: _Optional[_Iterable[_Union[_entitlement_pb2.EntitlementState, str]]] = ..., product_ids: _Optional[_Iterable[str]] = ..., subscription_groups: _Optional[_Iterable[str]] = ..., entitlements: _Optional[_Iterable[str]] = ..., storefronts: _Optional[_Iterable[str]] = ..., payment_modes: _Optional[_Iterable[_Union[PaymentMode, str]]] = ..., since_from: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., since_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., min_days_in_state: _Optional[int] = ..., max_days_in_state: _Optional[int] = ..., ends_within_days: _Optional[int] = ..., commitment_ends_within_days: _Optional[int] = ..., min_paid_days: _Optional[int] = ..., needs_price_consent: bool = ..., has_win_back_offer: bool = ..., unclaimed: bool = ..., in_app_ownership_types: _Optional[_Iterable[_Union[_product_pb2.InAppOwnershipType, str]]] = ...) -> None: ...

class SegmentRow(_message.Message):
    __slots__ = ["advice", "annual_price", "commitment_ends_at", "customer_id", "eligible_win_back_offer_ids", "ends_at", "in_app_ownership_type", "needs_price_consent", "original_transaction_id", "paid_days", "payment_mode", "price", "product_id", "reason", "since", "state", "storefront", "transaction_id"]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    ANNUAL_PRICE_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ELIGIBLE_WIN_BACK_OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
    ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    IN_APP_OWNERSHIP_TYPE_FIELD_NUMBER: _ClassVar[int]
    NEEDS_PRICE_CONSENT_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PAID_DAYS_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_MODE_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STOREFRONT_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    advice: _containers.RepeatedCompositeFieldContainer[_entitlement_pb2.Advice]
    annual_price: _product_pb2.Money
    commitment_ends_at: _timestamp_pb2.Timestamp
    customer_id: str
    eligible_win_back_offer_ids: _containers.RepeatedScalarFieldContainer[str]
    ends_at: _timestamp_pb2.Timestamp
    in_app_ownership_type: _product_pb2.InAppOwnershipType
    needs_price_consent: bool
    original_transaction_id: str
    paid_days: int
    payment_mode: PaymentMode
    price: _product_pb2.Money
    product_id: str
    reason: str
    since: _timestamp_pb2.Timestamp
    state: _entitlement_pb2.EntitlementState
    storefront: str
    transaction_id: str
    def __init__(self, customer_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., transaction_id: _Optional[str] = ..., product_id: _Optional[str] = ..., state: _Optional[_Union[_entitlement_pb2.EntitlementState, str]] = ..., reason: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., ends_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., commitment_ends_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., storefront: _Optional[str] = ..., payment_mode: _Optional[_Union[PaymentMode, str]] = ..., price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., annual_price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., in_app_ownership_type: _Optional[_Union[_product_pb2.InAppOwnershipType, str]] = ..., paid_days: _Optional[int] = ..., needs_price_consent: bool = ..., eligible_win_back_offer_ids: _Optional[_Iterable[str]] = ..., advice: _Optional[_Iterable[_Union[_entitlement_pb2.Advice, _Mapping[str, _Any]]]] = ...) -> None: ...

class WatchSegmentRequest(_message.Message):
    __slots__ = ["after_position", "after_sequence", "app", "environment", "from_beginning", "heartbeat_interval", "segment"]
    AFTER_POSITION_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FROM_BEGINNING_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_FIELD_NUMBER: _ClassVar[int]
    after_position: str
    after_sequence: int
    app: str
    environment: _environment_pb2.Environment
    from_beginning: bool
    heartbeat_interval: _duration_pb2.Duration
    segment: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., segment: _Optional[str] = ..., after_sequence: _Optional[int] = ..., from_beginning: bool = ..., after_position: _Optional[str] = ..., heartbeat_interval: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class WatchSegmentResponse(_message.Message):
    __slots__ = ["event", "heartbeat", "position", "sequence"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    event: _entitlement_service_pb2.EntitlementEvent
    heartbeat: _entitlement_service_pb2.Heartbeat
    position: str
    sequence: int
    def __init__(self, sequence: _Optional[int] = ..., event: _Optional[_Union[_entitlement_service_pb2.EntitlementEvent, _Mapping[str, _Any]]] = ..., heartbeat: _Optional[_Union[_entitlement_service_pb2.Heartbeat, _Mapping[str, _Any]]] = ..., position: _Optional[str] = ...) -> None: ...

class PaymentMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
