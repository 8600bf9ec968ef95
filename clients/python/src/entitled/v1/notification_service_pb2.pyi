from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import entitlement_pb2 as _entitlement_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
NOTIFICATION_STATE_APPLIED: NotificationState
NOTIFICATION_STATE_REJECTED: NotificationState
NOTIFICATION_STATE_SUPERSEDED: NotificationState
NOTIFICATION_STATE_UNCONFIRMED: NotificationState
NOTIFICATION_STATE_UNSPECIFIED: NotificationState
NOTIFICATION_STATE_UNSUPPORTED: NotificationState
REPAIR_PHASE_COMPARISON: RepairPhase
REPAIR_PHASE_CUSTOMERS: RepairPhase
REPAIR_PHASE_DONE: RepairPhase
REPAIR_PHASE_HISTORY: RepairPhase
REPAIR_PHASE_UNSPECIFIED: RepairPhase
REPAIR_REASON_DELIVERY_GAP: RepairReason
REPAIR_REASON_DOWNTIME: RepairReason
REPAIR_REASON_FULL_POLL: RepairReason
REPAIR_REASON_MANUAL: RepairReason
REPAIR_REASON_SCHEDULED: RepairReason
REPAIR_REASON_UNSPECIFIED: RepairReason

class BackfillNotificationsRequest(_message.Message):
    __slots__ = ["actor", "app", "end_time", "environment", "note", "only_failures", "start_time"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ONLY_FAILURES_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    end_time: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    note: str
    only_failures: bool
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., only_failures: bool = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class BackfillNotificationsResponse(_message.Message):
    __slots__ = ["position", "repair"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPAIR_FIELD_NUMBER: _ClassVar[int]
    position: str
    repair: Repair
    def __init__(self, repair: _Optional[_Union[Repair, _Mapping[str, _Any]]] = ..., position: _Optional[str] = ...) -> None: ...

class CompareNotificationVersionsRequest(_message.Message):
    __slots__ = ["app", "end_time", "environment", "include_equal", "page_size", "page_token", "start_time"]
    APP_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_EQUAL_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    app: str
    end_time: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    include_equal: bool
    page_size: int
    page_token: str
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., include_equal: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class CompareNotificationVersionsResponse(_message.Message):
    __slots__ = ["comparisons", "next_page_token"]
    COMPARISONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    comparisons: _containers.RepeatedCompositeFieldContainer[VersionComparison]
    next_page_token: str
    def __init__(self, comparisons: _Optional[_Iterable[_Union[VersionComparison, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Drift(_message.Message):
    __slots__ = ["after", "before", "customer_id", "detected_at", "entitlement"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DETECTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    after: _entitlement_pb2.Entitlement
    before: _entitlement_pb2.Entitlement
    customer_id: str
    detected_at: _timestamp_pb2.Timestamp
    entitlement: str
    def __init__(self, customer_id: _Optional[str] = ..., entitlement: _Optional[str] = ..., detected_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., before: _Optional[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]] = ..., after: _Optional[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]] = ...) -> None: ...

class GetDriftReportRequest(_message.Message):
    __slots__ = ["app", "page_size", "page_token", "repair_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REPAIR_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    page_size: int
    page_token: str
    repair_id: str
    def __init__(self, app: _Optional[str] = ..., repair_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetDriftReportResponse(_message.Message):
    __slots__ = ["drifts", "next_page_token", "repair"]
    DRIFTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REPAIR_FIELD_NUMBER: _ClassVar[int]
    drifts: _containers.RepeatedCompositeFieldContainer[Drift]
    next_page_token: str
    repair: Repair
    def __init__(self, repair: _Optional[_Union[Repair, _Mapping[str, _Any]]] = ..., drifts: _Optional[_Iterable[_Union[Drift, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetTestNotificationStatusRequest(_message.Message):
    __slots__ = ["app", "environment", "test_notification_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    TEST_NOTIFICATION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    test_notification_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., test_notification_token: _Optional[str] = ...) -> None: ...

class GetTestNotificationStatusResponse(_message.Message):
    __slots__ = ["payload_json", "send_attempts"]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    SEND_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    payload_json: str
    send_attempts: _containers.RepeatedCompositeFieldContainer[SendAttempt]
    def __init__(self, payload_json: _Optional[str] = ..., send_attempts: _Optional[_Iterable[_Union[SendAttempt, _Mapping[str, _Any]]]] = ...) -> None: ...

class IngestNotificationRequest(_message.Message):
    __slots__ = ["app", "body", "received_at"]
    APP_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_FIELD_NUMBER: _ClassVar[int]
    app: str
    body: bytes
    received_at: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., body: _Optional[bytes] = ..., received_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class IngestNotificationResponse(_message.Message):
    __slots__ = ["already_known", "notification", "position"]
    ALREADY_KNOWN_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    already_known: bool
    notification: Notification
    position: str
    def __init__(self, notification: _Optional[_Union[Notification, _Mapping[str, _Any]]] = ..., already_known: bool = ..., position: _Optional[str] = ...) -> None: ...

class ListNotificationsRequest(_message.Message):
    __slots__ = ["app", "customer_id", "end_time", "environment", "notification_type", "page_size", "page_token", "start_time", "state"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_TYPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    end_time: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    notification_type: str
    page_size: int
    page_token: str
    start_time: _timestamp_pb2.Timestamp
    state: NotificationState
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_id: _Optional[str] = ..., notification_type: _Optional[str] = ..., state: _Optional[_Union[NotificationState, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListNotificationsResponse(_message.Message):
    __slots__ = ["next_page_token", "notifications"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    notifications: _containers.RepeatedCompositeFieldContainer[Notification]
    def __init__(self, notifications: _Optional[_Iterable[_Union[Notification, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListRepairsRequest(_message.Message):
    __slots__ = ["app", "environment", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRepairsResponse(_message.Message):
    __slots__ = ["next_page_token", "repairs"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REPAIRS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    repairs: _containers.RepeatedCompositeFieldContainer[Repair]
    def __init__(self, repairs: _Optional[_Iterable[_Union[Repair, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Notification(_message.Message):
    __slots__ = ["customer_id", "environment", "evidence_id", "explanation", "notification_type", "notification_uuid", "original_transaction_id", "product_id", "reason", "received_at", "signed_date", "state", "subtype", "transaction_id", "version"]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_TYPE_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_UUID_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_FIELD_NUMBER: _ClassVar[int]
    SIGNED_DATE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUBTYPE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    customer_id: str
    environment: _environment_pb2.Environment
    evidence_id: int
    explanation: str
    notification_type: str
    notification_uuid: str
    original_transaction_id: str
    product_id: str
    reason: str
    received_at: _timestamp_pb2.Timestamp
    signed_date: _timestamp_pb2.Timestamp
    state: NotificationState
    subtype: str
    transaction_id: str
    version: int
    def __init__(self, evidence_id: _Optional[int] = ..., notification_uuid: _Optional[str] = ..., version: _Optional[int] = ..., notification_type: _Optional[str] = ..., subtype: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., state: _Optional[_Union[NotificationState, str]] = ..., reason: _Optional[str] = ..., explanation: _Optional[str] = ..., customer_id: _Optional[str] = ..., product_id: _Optional[str] = ..., transaction_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., signed_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., received_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class Repair(_message.Message):
    __slots__ = ["already_known", "app", "drifted_customers", "end_time", "environment", "error", "finished_at", "only_failures", "phase", "queried_purchases", "reason", "received", "repair_id", "start_time", "started_at"]
    ALREADY_KNOWN_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    DRIFTED_CUSTOMERS_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    ONLY_FAILURES_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    QUERIED_PURCHASES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    REPAIR_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    already_known: int
    app: str
    drifted_customers: int
    end_time: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    error: str
    finished_at: _timestamp_pb2.Timestamp
    only_failures: bool
    phase: RepairPhase
    queried_purchases: int
    reason: RepairReason
    received: int
    repair_id: str
    start_time: _timestamp_pb2.Timestamp
    started_at: _timestamp_pb2.Timestamp
    def __init__(self, repair_id: _Optional[str] = ..., app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., reason: _Optional[_Union[RepairReason, str]] = ..., phase: _Optional[_Union[RepairPhase, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., only_failures: bool = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., finished_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., received: _Optional[int] = ..., already_known: _Optional[int] = ..., queried_purchases: _Optional[int] = ..., drifted_customers: _Optional[int] = ..., error: _Optional[str] = ...) -> None: ...

class ReprocessNotificationsRequest(_message.Message):
    __slots__ = ["actor", "app", "dry_run", "end_time", "evidence_ids", "note", "start_time", "state"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_IDS_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    dry_run: bool
    end_time: _timestamp_pb2.Timestamp
    evidence_ids: _containers.RepeatedScalarFieldContainer[int]
    note: str
    start_time: _timestamp_pb2.Timestamp
    state: NotificationState
    def __init__(self, app: _Optional[str] = ..., evidence_ids: _Optional[_Iterable[int]] = ..., state: _Optional[_Union[NotificationState, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., dry_run: bool = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class ReprocessNotificationsResponse(_message.Message):
    __slots__ = ["changed", "changes", "position", "reprocessed", "unsupported"]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPROCESSED_FIELD_NUMBER: _ClassVar[int]
    UNSUPPORTED_FIELD_NUMBER: _ClassVar[int]
    changed: int
    changes: _containers.RepeatedCompositeFieldContainer[Notification]
    position: str
    reprocessed: int
    unsupported: int
    def __init__(self, reprocessed: _Optional[int] = ..., changed: _Optional[int] = ..., unsupported: _Optional[int] = ..., changes: _Optional[_Iterable[_Union[Notification, _Mapping[str, _Any]]]] = ..., position: _Optional[str] = ...) -> None: ...

class RequestTestNotificationRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., actor: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class RequestTestNotificationResponse(_message.Message):
    __slots__ = ["position", "repeated", "test_notification_token"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    TEST_NOTIFICATION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    test_notification_token: str
    def __init__(self, test_notification_token: _Optional[str] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SendAttempt(_message.Message):
    __slots__ = ["attempt_date", "result"]
    ATTEMPT_DATE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    attempt_date: _timestamp_pb2.Timestamp
    result: str
    def __init__(self, attempt_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., result: _Optional[str] = ...) -> None: ...

class VersionComparison(_message.Message):
    __slots__ = ["customer_id", "differences", "differs", "new_in_version_2", "only_in_version_1", "only_in_version_2", "original_transaction_id", "version_1_notifications", "version_2_notifications"]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    DIFFERS_FIELD_NUMBER: _ClassVar[int]
    NEW_IN_VERSION_2_FIELD_NUMBER: _ClassVar[int]
    ONLY_IN_VERSION_1_FIELD_NUMBER: _ClassVar[int]
    ONLY_IN_VERSION_2_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_1_NOTIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    VERSION_2_NOTIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    customer_id: str
    differences: _containers.RepeatedCompositeFieldContainer[VersionDifference]
    differs: bool
    new_in_version_2: _containers.RepeatedScalarFieldContainer[str]
    only_in_version_1: _containers.RepeatedScalarFieldContainer[str]
    only_in_version_2: _containers.RepeatedScalarFieldContainer[str]
    original_transaction_id: str
    version_1_notifications: int
    version_2_notifications: int
    def __init__(self, original_transaction_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., differs: bool = ..., version_1_notifications: _Optional[int] = ..., version_2_notifications: _Optional[int] = ..., only_in_version_1: _Optional[_Iterable[str]] = ..., only_in_version_2: _Optional[_Iterable[str]] = ..., new_in_version_2: _Optional[_Iterable[str]] = ..., differences: _Optional[_Iterable[_Union[VersionDifference, _Mapping[str, _Any]]]] = ...) -> None: ...

class VersionDifference(_message.Message):
    __slots__ = ["field", "transaction_id", "version_1", "version_2"]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_1_FIELD_NUMBER: _ClassVar[int]
    VERSION_2_FIELD_NUMBER: _ClassVar[int]
    field: str
    transaction_id: str
    version_1: str
    version_2: str
    def __init__(self, field: _Optional[str] = ..., transaction_id: _Optional[str] = ..., version_1: _Optional[str] = ..., version_2: _Optional[str] = ...) -> None: ...

class NotificationState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class RepairReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class RepairPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
