from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import entitlement_pb2 as _entitlement_pb2
from entitled.v1 import entitlement_service_pb2 as _entitlement_service_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from entitled.v1 import notification_service_pb2 as _notification_service_pb2
from entitled.v1 import product_pb2 as _product_pb2
from entitled.v1 import receipt_service_pb2 as _receipt_service_pb2
from entitled.v1 import transaction_pb2 as _transaction_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

CUSTOMER_HIT_KIND_APP_ACCOUNT_TOKEN: CustomerHitKind
CUSTOMER_HIT_KIND_APP_TRANSACTION: CustomerHitKind
CUSTOMER_HIT_KIND_ATTRIBUTE: CustomerHitKind
CUSTOMER_HIT_KIND_CUSTOMER: CustomerHitKind
CUSTOMER_HIT_KIND_CUSTOMER_PREFIX: CustomerHitKind
CUSTOMER_HIT_KIND_ERASED_CUSTOMER: CustomerHitKind
CUSTOMER_HIT_KIND_EVENT: CustomerHitKind
CUSTOMER_HIT_KIND_EVIDENCE: CustomerHitKind
CUSTOMER_HIT_KIND_GRANT: CustomerHitKind
CUSTOMER_HIT_KIND_MERGED_CUSTOMER: CustomerHitKind
CUSTOMER_HIT_KIND_NOTIFICATION: CustomerHitKind
CUSTOMER_HIT_KIND_PURCHASE: CustomerHitKind
CUSTOMER_HIT_KIND_SEAT: CustomerHitKind
CUSTOMER_HIT_KIND_TRANSACTION: CustomerHitKind
CUSTOMER_HIT_KIND_TRANSFER: CustomerHitKind
CUSTOMER_HIT_KIND_UNSPECIFIED: CustomerHitKind
CUSTOMER_HIT_KIND_WEB_ORDER_LINE_ITEM: CustomerHitKind
DESCRIPTOR: _descriptor.FileDescriptor
HISTORY_LANE_KIND_ACCESS: HistoryLaneKind
HISTORY_LANE_KIND_APPLE: HistoryLaneKind
HISTORY_LANE_KIND_GRANT: HistoryLaneKind
HISTORY_LANE_KIND_OPERATOR: HistoryLaneKind
HISTORY_LANE_KIND_PURCHASE: HistoryLaneKind
HISTORY_LANE_KIND_SHARED: HistoryLaneKind
HISTORY_LANE_KIND_UNSPECIFIED: HistoryLaneKind

class AddNoteRequest(_message.Message):
    __slots__ = ["actor", "app", "customer_id", "environment", "idempotency_key", "text"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    text: str
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., text: _Optional[str] = ..., actor: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class AddNoteResponse(_message.Message):
    __slots__ = ["note", "position", "repeated"]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    note: Note
    position: str
    repeated: bool
    def __init__(self, note: _Optional[_Union[Note, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class CustomerAttribute(_message.Message):
    __slots__ = ["name", "value"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class CustomerContradiction(_message.Message):
    __slots__ = ["customer_id", "explanation", "kind", "transaction_id"]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    customer_id: str
    explanation: str
    kind: str
    transaction_id: str
    def __init__(self, customer_id: _Optional[str] = ..., kind: _Optional[str] = ..., transaction_id: _Optional[str] = ..., explanation: _Optional[str] = ...) -> None: ...

class CustomerHit(_message.Message):
    __slots__ = ["app", "customer_ids", "environment", "evidence_id", "explanation", "kind", "merged_into_customer_id", "original_transaction_id", "product_id", "sequence", "transaction_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MERGED_INTO_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_ids: _containers.RepeatedScalarFieldContainer[str]
    environment: _environment_pb2.Environment
    evidence_id: int
    explanation: str
    kind: CustomerHitKind
    merged_into_customer_id: str
    original_transaction_id: str
    product_id: str
    sequence: int
    transaction_id: str
    def __init__(self, kind: _Optional[_Union[CustomerHitKind, str]] = ..., app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_ids: _Optional[_Iterable[str]] = ..., merged_into_customer_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., transaction_id: _Optional[str] = ..., product_id: _Optional[str] = ..., evidence_id: _Optional[int] = ..., sequence: _Optional[int] = ..., explanation: _Optional[str] = ...) -> None: ...

class DeleteNoteRequest(_message.Message):
    __slots__ = ["actor", "app", "idempotency_key", "note", "note_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    idempotency_key: str
    note: str
    note_id: str
    def __init__(self, app: _Optional[str] = ..., note_id: _Optional[str] = ..., actor: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class DeleteNoteResponse(_message.Message):
    __slots__ = ["position", "repeated"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    def __init__(self, repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class DescribeCustomerRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ...) -> None: ...

class DescribeCustomerResponse(_message.Message):
    __slots__ = ["active_in_environments", "customer_id", "entitlements", "environment", "evaluated_at", "merged_customer_ids", "open_refund_requests", "paid", "purchases_without_price", "summary"]
    ACTIVE_IN_ENVIRONMENTS_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVALUATED_AT_FIELD_NUMBER: _ClassVar[int]
    MERGED_CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    OPEN_REFUND_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    PAID_FIELD_NUMBER: _ClassVar[int]
    PURCHASES_WITHOUT_PRICE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    active_in_environments: _containers.RepeatedScalarFieldContainer[_environment_pb2.Environment]
    customer_id: str
    entitlements: _containers.RepeatedCompositeFieldContainer[EntitlementDescription]
    environment: _environment_pb2.Environment
    evaluated_at: _timestamp_pb2.Timestamp
    merged_customer_ids: _containers.RepeatedScalarFieldContainer[str]
    open_refund_requests: _containers.RepeatedCompositeFieldContainer[OpenRefundRequest]
    paid: _containers.RepeatedCompositeFieldContainer[PaidTotal]
    purchases_without_price: int
    summary: str
    def __init__(self, customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., summary: _Optional[str] = ..., entitlements: _Optional[_Iterable[_Union[EntitlementDescription, _Mapping[str, _Any]]]] = ..., active_in_environments: _Optional[_Iterable[_Union[_environment_pb2.Environment, str]]] = ..., open_refund_requests: _Optional[_Iterable[_Union[OpenRefundRequest, _Mapping[str, _Any]]]] = ..., evaluated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., merged_customer_ids: _Optional[_Iterable[str]] = ..., paid: _Optional[_Iterable[_Union[PaidTotal, _Mapping[str, _Any]]]] = ..., purchases_without_price: _Optional[int] = ...) -> None: ...

class EntitlementDescription(_message.Message):
    __slots__ = ["actions", "customer_sentence", "deadline", "entitled", "entitlement", "product_id", "reason", "support_sentence", "until", "url"]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_SENTENCE_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    ENTITLED_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_SENTENCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    actions: _containers.RepeatedScalarFieldContainer[str]
    customer_sentence: str
    deadline: _timestamp_pb2.Timestamp
    entitled: bool
    entitlement: str
    product_id: str
    reason: str
    support_sentence: str
    until: _timestamp_pb2.Timestamp
    url: str
    def __init__(self, entitlement: _Optional[str] = ..., entitled: bool = ..., reason: _Optional[str] = ..., support_sentence: _Optional[str] = ..., customer_sentence: _Optional[str] = ..., actions: _Optional[_Iterable[str]] = ..., url: _Optional[str] = ..., deadline: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., product_id: _Optional[str] = ...) -> None: ...

class FindCustomersRequest(_message.Message):
    __slots__ = ["app", "environment", "page_size", "page_token", "query"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    query: str
    def __init__(self, query: _Optional[str] = ..., app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class FindCustomersResponse(_message.Message):
    __slots__ = ["hits", "next_page_token"]
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[CustomerHit]
    next_page_token: str
    def __init__(self, hits: _Optional[_Iterable[_Union[CustomerHit, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetCustomerAttributesRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ...) -> None: ...

class GetCustomerAttributesResponse(_message.Message):
    __slots__ = ["attributes"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[CustomerAttribute]
    def __init__(self, attributes: _Optional[_Iterable[_Union[CustomerAttribute, _Mapping[str, _Any]]]] = ...) -> None: ...

class GetCustomerHistoryRequest(_message.Message):
    __slots__ = ["app", "as_of", "customer_id", "environment", "known_at", "start_time"]
    APP_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    app: str
    as_of: _timestamp_pb2.Timestamp
    customer_id: str
    environment: _environment_pb2.Environment
    known_at: _timestamp_pb2.Timestamp
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., known_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class GetCustomerHistoryResponse(_message.Message):
    __slots__ = ["as_of", "customer_id", "environment", "lanes", "paid", "purchases_without_price", "start_time"]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    PAID_FIELD_NUMBER: _ClassVar[int]
    PURCHASES_WITHOUT_PRICE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    as_of: _timestamp_pb2.Timestamp
    customer_id: str
    environment: _environment_pb2.Environment
    lanes: _containers.RepeatedCompositeFieldContainer[HistoryLane]
    paid: _containers.RepeatedCompositeFieldContainer[PaidTotal]
    purchases_without_price: int
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., lanes: _Optional[_Iterable[_Union[HistoryLane, _Mapping[str, _Any]]]] = ..., paid: _Optional[_Iterable[_Union[PaidTotal, _Mapping[str, _Any]]]] = ..., purchases_without_price: _Optional[int] = ...) -> None: ...

class GetEventRequest(_message.Message):
    __slots__ = ["app", "sequence"]
    APP_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    app: str
    sequence: int
    def __init__(self, app: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class GetEventResponse(_message.Message):
    __slots__ = ["event"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _entitlement_service_pb2.EntitlementEvent
    def __init__(self, event: _Optional[_Union[_entitlement_service_pb2.EntitlementEvent, _Mapping[str, _Any]]] = ...) -> None: ...

class GetEvidenceRequest(_message.Message):
    __slots__ = ["app", "evidence_id", "include_body"]
    APP_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_BODY_FIELD_NUMBER: _ClassVar[int]
    app: str
    evidence_id: int
    include_body: bool
    def __init__(self, app: _Optional[str] = ..., evidence_id: _Optional[int] = ..., include_body: bool = ...) -> None: ...

class GetEvidenceResponse(_message.Message):
    __slots__ = ["actor", "body", "command_json", "customer_ids", "document", "environment", "events", "evidence_id", "has_body", "kind", "known_at", "note", "original_transaction_ids", "received_at", "rejection_reason", "renewal_infos", "sha256", "size", "source", "transactions"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    COMMAND_JSON_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    HAS_BODY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_FIELD_NUMBER: _ClassVar[int]
    REJECTION_REASON_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_INFOS_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    actor: str
    body: bytes
    command_json: str
    customer_ids: _containers.RepeatedScalarFieldContainer[str]
    document: _receipt_service_pb2.InspectResponse
    environment: _environment_pb2.Environment
    events: _containers.RepeatedCompositeFieldContainer[_entitlement_service_pb2.EntitlementEvent]
    evidence_id: int
    has_body: bool
    kind: str
    known_at: _timestamp_pb2.Timestamp
    note: str
    original_transaction_ids: _containers.RepeatedScalarFieldContainer[str]
    received_at: _timestamp_pb2.Timestamp
    rejection_reason: str
    renewal_infos: _containers.RepeatedCompositeFieldContainer[_transaction_pb2.RenewalInfo]
    sha256: str
    size: int
    source: str
    transactions: _containers.RepeatedCompositeFieldContainer[_transaction_pb2.Transaction]
    def __init__(self, evidence_id: _Optional[int] = ..., kind: _Optional[str] = ..., source: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., received_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., known_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., rejection_reason: _Optional[str] = ..., size: _Optional[int] = ..., sha256: _Optional[str] = ..., has_body: bool = ..., body: _Optional[bytes] = ..., document: _Optional[_Union[_receipt_service_pb2.InspectResponse, _Mapping[str, _Any]]] = ..., command_json: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., customer_ids: _Optional[_Iterable[str]] = ..., original_transaction_ids: _Optional[_Iterable[str]] = ..., transactions: _Optional[_Iterable[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]]] = ..., renewal_infos: _Optional[_Iterable[_Union[_transaction_pb2.RenewalInfo, _Mapping[str, _Any]]]] = ..., events: _Optional[_Iterable[_Union[_entitlement_service_pb2.EntitlementEvent, _Mapping[str, _Any]]]] = ...) -> None: ...

class GetPurchaseRequest(_message.Message):
    __slots__ = ["app", "environment", "original_transaction_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    original_transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ...) -> None: ...

class GetPurchaseResponse(_message.Message):
    __slots__ = ["customer_ids", "environment", "events", "next_poll_at", "notifications", "original_transaction_id", "ownership_changes", "pending_lookup", "renewal_info", "seats", "transactions"]
    CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_POLL_AT_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    OWNERSHIP_CHANGES_FIELD_NUMBER: _ClassVar[int]
    PENDING_LOOKUP_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_INFO_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    customer_ids: _containers.RepeatedScalarFieldContainer[str]
    environment: _environment_pb2.Environment
    events: _containers.RepeatedCompositeFieldContainer[_entitlement_service_pb2.EntitlementEvent]
    next_poll_at: _timestamp_pb2.Timestamp
    notifications: _containers.RepeatedCompositeFieldContainer[_notification_service_pb2.Notification]
    original_transaction_id: str
    ownership_changes: _containers.RepeatedCompositeFieldContainer[OwnershipChange]
    pending_lookup: PendingLookup
    renewal_info: _transaction_pb2.RenewalInfo
    seats: _containers.RepeatedCompositeFieldContainer[PurchaseSeat]
    transactions: _containers.RepeatedCompositeFieldContainer[PurchaseTransaction]
    def __init__(self, original_transaction_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_ids: _Optional[_Iterable[str]] = ..., transactions: _Optional[_Iterable[_Union[PurchaseTransaction, _Mapping[str, _Any]]]] = ..., renewal_info: _Optional[_Union[_transaction_pb2.RenewalInfo, _Mapping[str, _Any]]] = ..., ownership_changes: _Optional[_Iterable[_Union[OwnershipChange, _Mapping[str, _Any]]]] = ..., events: _Optional[_Iterable[_Union[_entitlement_service_pb2.EntitlementEvent, _Mapping[str, _Any]]]] = ..., notifications: _Optional[_Iterable[_Union[_notification_service_pb2.Notification, _Mapping[str, _Any]]]] = ..., seats: _Optional[_Iterable[_Union[PurchaseSeat, _Mapping[str, _Any]]]] = ..., next_poll_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., pending_lookup: _Optional[_Union[PendingLookup, _Mapping[str, _Any]]] = ...) -> None: ...

class HistoryLane(_message.Message):
    __slots__ = ["kind", "marks", "name", "product_id", "segments"]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    kind: HistoryLaneKind
    marks: _containers.RepeatedCompositeFieldContainer[HistoryMark]
    name: str
    product_id: str
    segments: _containers.RepeatedCompositeFieldContainer[HistorySegment]
    def __init__(self, kind: _Optional[_Union[HistoryLaneKind, str]] = ..., name: _Optional[str] = ..., segments: _Optional[_Iterable[_Union[HistorySegment, _Mapping[str, _Any]]]] = ..., marks: _Optional[_Iterable[_Union[HistoryMark, _Mapping[str, _Any]]]] = ..., product_id: _Optional[str] = ...) -> None: ...

class HistoryMark(_message.Message):
    __slots__ = ["evidence_id", "explanation", "sequence", "time", "transaction_id", "type"]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    evidence_id: int
    explanation: str
    sequence: int
    time: _timestamp_pb2.Timestamp
    transaction_id: str
    type: str
    def __init__(self, time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., type: _Optional[str] = ..., explanation: _Optional[str] = ..., transaction_id: _Optional[str] = ..., evidence_id: _Optional[int] = ..., sequence: _Optional[int] = ...) -> None: ...

class HistorySegment(_message.Message):
    __slots__ = ["access_level", "evidence_id", "grant_id", "offer_type", "price", "product_id", "reason", "since", "transaction_id", "until"]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    OFFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    access_level: _entitlement_pb2.AccessLevel
    evidence_id: int
    grant_id: str
    offer_type: _product_pb2.OfferType
    price: _product_pb2.Money
    product_id: str
    reason: str
    since: _timestamp_pb2.Timestamp
    transaction_id: str
    until: _timestamp_pb2.Timestamp
    def __init__(self, since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., reason: _Optional[str] = ..., access_level: _Optional[_Union[_entitlement_pb2.AccessLevel, str]] = ..., product_id: _Optional[str] = ..., transaction_id: _Optional[str] = ..., price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., offer_type: _Optional[_Union[_product_pb2.OfferType, str]] = ..., grant_id: _Optional[str] = ..., evidence_id: _Optional[int] = ...) -> None: ...

class ListContradictionsRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListContradictionsResponse(_message.Message):
    __slots__ = ["contradictions", "next_page_token"]
    CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    contradictions: _containers.RepeatedCompositeFieldContainer[CustomerContradiction]
    next_page_token: str
    def __init__(self, contradictions: _Optional[_Iterable[_Union[CustomerContradiction, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListNotesRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListNotesResponse(_message.Message):
    __slots__ = ["next_page_token", "notes"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    notes: _containers.RepeatedCompositeFieldContainer[Note]
    def __init__(self, notes: _Optional[_Iterable[_Union[Note, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Note(_message.Message):
    __slots__ = ["actor", "created_at", "customer_id", "evidence_id", "note_id", "text"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    actor: str
    created_at: _timestamp_pb2.Timestamp
    customer_id: str
    evidence_id: int
    note_id: str
    text: str
    def __init__(self, note_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., text: _Optional[str] = ..., actor: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., evidence_id: _Optional[int] = ...) -> None: ...

class OpenRefundRequest(_message.Message):
    __slots__ = ["answer_by", "product_id", "requested_at", "transaction_id"]
    ANSWER_BY_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    answer_by: _timestamp_pb2.Timestamp
    product_id: str
    requested_at: _timestamp_pb2.Timestamp
    transaction_id: str
    def __init__(self, transaction_id: _Optional[str] = ..., product_id: _Optional[str] = ..., requested_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., answer_by: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class OwnershipChange(_message.Message):
    __slots__ = ["actor", "customer_id", "evidence_id", "kind", "linked", "time"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LINKED_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    actor: str
    customer_id: str
    evidence_id: int
    kind: str
    linked: bool
    time: _timestamp_pb2.Timestamp
    def __init__(self, customer_id: _Optional[str] = ..., linked: bool = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., evidence_id: _Optional[int] = ..., kind: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class PaidTotal(_message.Message):
    __slots__ = ["charged", "refunded", "total"]
    CHARGED_FIELD_NUMBER: _ClassVar[int]
    REFUNDED_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    charged: _product_pb2.Money
    refunded: _product_pb2.Money
    total: _product_pb2.Money
    def __init__(self, total: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., charged: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., refunded: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ...) -> None: ...

class PendingLookup(_message.Message):
    __slots__ = ["attempts", "next_attempt_at", "reason"]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    attempts: int
    next_attempt_at: _timestamp_pb2.Timestamp
    reason: str
    def __init__(self, attempts: _Optional[int] = ..., next_attempt_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., reason: _Optional[str] = ...) -> None: ...

class PurchaseSeat(_message.Message):
    __slots__ = ["claimed_at", "customer_id", "released_at", "seat_id"]
    CLAIMED_AT_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    RELEASED_AT_FIELD_NUMBER: _ClassVar[int]
    SEAT_ID_FIELD_NUMBER: _ClassVar[int]
    claimed_at: _timestamp_pb2.Timestamp
    customer_id: str
    released_at: _timestamp_pb2.Timestamp
    seat_id: str
    def __init__(self, seat_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., claimed_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., released_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class PurchaseTransaction(_message.Message):
    __slots__ = ["evidence_id", "transaction"]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    evidence_id: int
    transaction: _transaction_pb2.Transaction
    def __init__(self, transaction: _Optional[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]] = ..., evidence_id: _Optional[int] = ...) -> None: ...

class SetCustomerAttributesRequest(_message.Message):
    __slots__ = ["actor", "app", "attributes", "customer_id", "environment", "idempotency_key", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    attributes: _containers.RepeatedCompositeFieldContainer[CustomerAttribute]
    customer_id: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., attributes: _Optional[_Iterable[_Union[CustomerAttribute, _Mapping[str, _Any]]]] = ..., actor: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class SetCustomerAttributesResponse(_message.Message):
    __slots__ = ["attributes", "position", "repeated"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[CustomerAttribute]
    position: str
    repeated: bool
    def __init__(self, attributes: _Optional[_Iterable[_Union[CustomerAttribute, _Mapping[str, _Any]]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class CustomerHitKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class HistoryLaneKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
