from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
RETENTION_ANSWER_ALTERNATE_PRODUCT: RetentionAnswer
RETENTION_ANSWER_MESSAGE: RetentionAnswer
RETENTION_ANSWER_NOTHING: RetentionAnswer
RETENTION_ANSWER_PROMOTIONAL_OFFER: RetentionAnswer
RETENTION_ANSWER_UNSPECIFIED: RetentionAnswer
RETENTION_IMAGE_SIZE_BULLET_POINT: RetentionImageSize
RETENTION_IMAGE_SIZE_FULL_SIZE: RetentionImageSize
RETENTION_IMAGE_SIZE_UNSPECIFIED: RetentionImageSize
RETENTION_OUTCOME_LEFT: RetentionOutcome
RETENTION_OUTCOME_OFFER_TAKEN: RetentionOutcome
RETENTION_OUTCOME_PENDING: RetentionOutcome
RETENTION_OUTCOME_SAVED: RetentionOutcome
RETENTION_OUTCOME_SWITCHED: RetentionOutcome
RETENTION_OUTCOME_UNKNOWN: RetentionOutcome
RETENTION_OUTCOME_UNSPECIFIED: RetentionOutcome

class DeleteDefaultRetentionMessageRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "locale", "note", "product_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    locale: str
    note: str
    product_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., product_id: _Optional[str] = ..., locale: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class DeleteDefaultRetentionMessageResponse(_message.Message):
    __slots__ = ["accepted_at", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class DeleteRetentionImageRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "image_identifier", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    IMAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    image_identifier: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., image_identifier: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class DeleteRetentionImageResponse(_message.Message):
    __slots__ = ["accepted_at", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class DeleteRetentionMessageRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "message_identifier", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    message_identifier: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., message_identifier: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class DeleteRetentionMessageResponse(_message.Message):
    __slots__ = ["accepted_at", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class DeleteRetentionUrlRequest(_message.Message):
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
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class DeleteRetentionUrlResponse(_message.Message):
    __slots__ = ["accepted_at", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class GetDefaultRetentionMessageRequest(_message.Message):
    __slots__ = ["app", "environment", "locale", "product_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    locale: str
    product_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., product_id: _Optional[str] = ..., locale: _Optional[str] = ...) -> None: ...

class GetDefaultRetentionMessageResponse(_message.Message):
    __slots__ = ["message_identifier"]
    MESSAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    message_identifier: str
    def __init__(self, message_identifier: _Optional[str] = ...) -> None: ...

class GetRetentionImagesRequest(_message.Message):
    __slots__ = ["app", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ...) -> None: ...

class GetRetentionImagesResponse(_message.Message):
    __slots__ = ["images"]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    images: _containers.RepeatedCompositeFieldContainer[RetentionImage]
    def __init__(self, images: _Optional[_Iterable[_Union[RetentionImage, _Mapping[str, _Any]]]] = ...) -> None: ...

class GetRetentionMessagesRequest(_message.Message):
    __slots__ = ["app", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ...) -> None: ...

class GetRetentionMessagesResponse(_message.Message):
    __slots__ = ["messages"]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[RetentionMessage]
    def __init__(self, messages: _Optional[_Iterable[_Union[RetentionMessage, _Mapping[str, _Any]]]] = ...) -> None: ...

class GetRetentionPerformanceTestRequest(_message.Message):
    __slots__ = ["app", "environment", "request_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    request_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., request_id: _Optional[str] = ...) -> None: ...

class GetRetentionPerformanceTestResponse(_message.Message):
    __slots__ = ["config", "failures", "pending", "response_times", "result", "success_rate", "target"]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TIMES_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_RATE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    config: RetentionPerformanceTestConfig
    failures: _containers.RepeatedCompositeFieldContainer[RetentionTestFailure]
    pending: int
    response_times: RetentionResponseTimes
    result: str
    success_rate: int
    target: str
    def __init__(self, result: _Optional[str] = ..., target: _Optional[str] = ..., success_rate: _Optional[int] = ..., pending: _Optional[int] = ..., config: _Optional[_Union[RetentionPerformanceTestConfig, _Mapping[str, _Any]]] = ..., response_times: _Optional[_Union[RetentionResponseTimes, _Mapping[str, _Any]]] = ..., failures: _Optional[_Iterable[_Union[RetentionTestFailure, _Mapping[str, _Any]]]] = ...) -> None: ...

class GetRetentionReportRequest(_message.Message):
    __slots__ = ["app", "end_time", "environment", "start_time"]
    APP_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    app: str
    end_time: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class GetRetentionReportResponse(_message.Message):
    __slots__ = ["rows", "total"]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[RetentionReportRow]
    total: RetentionReportRow
    def __init__(self, rows: _Optional[_Iterable[_Union[RetentionReportRow, _Mapping[str, _Any]]]] = ..., total: _Optional[_Union[RetentionReportRow, _Mapping[str, _Any]]] = ...) -> None: ...

class GetRetentionUrlRequest(_message.Message):
    __slots__ = ["app", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ...) -> None: ...

class GetRetentionUrlResponse(_message.Message):
    __slots__ = ["url"]
    URL_FIELD_NUMBER: _ClassVar[int]
    url: str
    def __init__(self, url: _Optional[str] = ...) -> None: ...

class ListRetentionRequestsRequest(_message.Message):
    __slots__ = ["app", "end_time", "environment", "original_transaction_id", "outcome", "page_size", "page_token", "start_time"]
    APP_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    app: str
    end_time: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    original_transaction_id: str
    outcome: RetentionOutcome
    page_size: int
    page_token: str
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., outcome: _Optional[_Union[RetentionOutcome, str]] = ..., original_transaction_id: _Optional[str] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRetentionRequestsResponse(_message.Message):
    __slots__ = ["next_page_token", "requests"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    requests: _containers.RepeatedCompositeFieldContainer[RetentionRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[RetentionRequest, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RetentionBulletPoint(_message.Message):
    __slots__ = ["alt_text", "image_identifier", "text"]
    ALT_TEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    alt_text: str
    image_identifier: str
    text: str
    def __init__(self, text: _Optional[str] = ..., image_identifier: _Optional[str] = ..., alt_text: _Optional[str] = ...) -> None: ...

class RetentionImage(_message.Message):
    __slots__ = ["image_identifier", "image_size", "state"]
    IMAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    IMAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    image_identifier: str
    image_size: str
    state: str
    def __init__(self, image_identifier: _Optional[str] = ..., state: _Optional[str] = ..., image_size: _Optional[str] = ...) -> None: ...

class RetentionMessage(_message.Message):
    __slots__ = ["message_identifier", "state"]
    MESSAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    message_identifier: str
    state: str
    def __init__(self, message_identifier: _Optional[str] = ..., state: _Optional[str] = ...) -> None: ...

class RetentionPerformanceTestConfig(_message.Message):
    __slots__ = ["max_concurrent_requests", "response_time_threshold_ms", "success_rate_threshold", "total_duration_ms", "total_requests"]
    MAX_CONCURRENT_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TIME_THRESHOLD_MS_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_RATE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    TOTAL_DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    max_concurrent_requests: int
    response_time_threshold_ms: int
    success_rate_threshold: int
    total_duration_ms: int
    total_requests: int
    def __init__(self, max_concurrent_requests: _Optional[int] = ..., total_requests: _Optional[int] = ..., total_duration_ms: _Optional[int] = ..., response_time_threshold_ms: _Optional[int] = ..., success_rate_threshold: _Optional[int] = ...) -> None: ...

class RetentionReportRow(_message.Message):
    __slots__ = ["answer", "left", "message_identifier", "offer_identifier", "offer_taken", "offered_product_id", "pending", "reason", "requests", "rule", "save_rate", "saved", "switched", "unknown"]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    OFFERED_PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    OFFER_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    OFFER_TAKEN_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SAVED_FIELD_NUMBER: _ClassVar[int]
    SAVE_RATE_FIELD_NUMBER: _ClassVar[int]
    SWITCHED_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    answer: RetentionAnswer
    left: int
    message_identifier: str
    offer_identifier: str
    offer_taken: int
    offered_product_id: str
    pending: int
    reason: str
    requests: int
    rule: str
    save_rate: float
    saved: int
    switched: int
    unknown: int
    def __init__(self, rule: _Optional[str] = ..., reason: _Optional[str] = ..., answer: _Optional[_Union[RetentionAnswer, str]] = ..., message_identifier: _Optional[str] = ..., offered_product_id: _Optional[str] = ..., offer_identifier: _Optional[str] = ..., requests: _Optional[int] = ..., pending: _Optional[int] = ..., saved: _Optional[int] = ..., offer_taken: _Optional[int] = ..., switched: _Optional[int] = ..., left: _Optional[int] = ..., unknown: _Optional[int] = ..., save_rate: _Optional[float] = ...) -> None: ...

class RetentionRequest(_message.Message):
    __slots__ = ["answer", "answer_microseconds", "asked_at", "environment", "evaluated_at", "locale", "message_identifier", "offer_identifier", "offered_product_id", "original_transaction_id", "outcome", "outcome_is_final", "product_id", "reason", "received_at", "request_identifier", "rule"]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    ANSWER_MICROSECONDS_FIELD_NUMBER: _ClassVar[int]
    ASKED_AT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVALUATED_AT_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    OFFERED_PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    OFFER_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_IS_FINAL_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    answer: RetentionAnswer
    answer_microseconds: int
    asked_at: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    evaluated_at: _timestamp_pb2.Timestamp
    locale: str
    message_identifier: str
    offer_identifier: str
    offered_product_id: str
    original_transaction_id: str
    outcome: RetentionOutcome
    outcome_is_final: bool
    product_id: str
    reason: str
    received_at: _timestamp_pb2.Timestamp
    request_identifier: str
    rule: str
    def __init__(self, request_identifier: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., product_id: _Optional[str] = ..., locale: _Optional[str] = ..., asked_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., received_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., answer: _Optional[_Union[RetentionAnswer, str]] = ..., reason: _Optional[str] = ..., rule: _Optional[str] = ..., message_identifier: _Optional[str] = ..., offered_product_id: _Optional[str] = ..., offer_identifier: _Optional[str] = ..., answer_microseconds: _Optional[int] = ..., outcome: _Optional[_Union[RetentionOutcome, str]] = ..., evaluated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., outcome_is_final: bool = ...) -> None: ...

class RetentionResponseTimes(_message.Message):
    __slots__ = ["average_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms"]
    AVERAGE_MS_FIELD_NUMBER: _ClassVar[int]
    P50_MS_FIELD_NUMBER: _ClassVar[int]
    P90_MS_FIELD_NUMBER: _ClassVar[int]
    P95_MS_FIELD_NUMBER: _ClassVar[int]
    P99_MS_FIELD_NUMBER: _ClassVar[int]
    average_ms: int
    p50_ms: int
    p90_ms: int
    p95_ms: int
    p99_ms: int
    def __init__(self, average_ms: _Optional[int] = ..., p50_ms: _Optional[int] = ..., p90_ms: _Optional[int] = ..., p95_ms: _Optional[int] = ..., p99_ms: _Optional[int] = ...) -> None: ...

class RetentionTestFailure(_message.Message):
    __slots__ = ["cause", "count"]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    cause: str
    count: int
    def __init__(self, cause: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class SetDefaultRetentionMessageRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "locale", "message_identifier", "note", "product_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    locale: str
    message_identifier: str
    note: str
    product_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., product_id: _Optional[str] = ..., locale: _Optional[str] = ..., message_identifier: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SetDefaultRetentionMessageResponse(_message.Message):
    __slots__ = ["accepted_at", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SetRetentionUrlRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "note", "url"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    url: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., url: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SetRetentionUrlResponse(_message.Message):
    __slots__ = ["accepted_at", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class StartRetentionPerformanceTestRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "note", "original_transaction_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    original_transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class StartRetentionPerformanceTestResponse(_message.Message):
    __slots__ = ["config", "position", "repeated", "request_id"]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    config: RetentionPerformanceTestConfig
    position: str
    repeated: bool
    request_id: str
    def __init__(self, request_id: _Optional[str] = ..., config: _Optional[_Union[RetentionPerformanceTestConfig, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class UploadRetentionImageRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "image_identifier", "image_size", "note", "png"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    IMAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    IMAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PNG_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    image_identifier: str
    image_size: RetentionImageSize
    note: str
    png: bytes
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., image_identifier: _Optional[str] = ..., png: _Optional[bytes] = ..., image_size: _Optional[_Union[RetentionImageSize, str]] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class UploadRetentionImageResponse(_message.Message):
    __slots__ = ["accepted_at", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class UploadRetentionMessageRequest(_message.Message):
    __slots__ = ["actor", "app", "body", "bullet_points", "environment", "header", "header_above_image", "idempotency_key", "image_alt_text", "image_identifier", "message_identifier", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    BULLET_POINTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    HEADER_ABOVE_IMAGE_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    IMAGE_ALT_TEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    body: str
    bullet_points: _containers.RepeatedCompositeFieldContainer[RetentionBulletPoint]
    environment: _environment_pb2.Environment
    header: str
    header_above_image: bool
    idempotency_key: str
    image_alt_text: str
    image_identifier: str
    message_identifier: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., message_identifier: _Optional[str] = ..., header: _Optional[str] = ..., body: _Optional[str] = ..., image_identifier: _Optional[str] = ..., image_alt_text: _Optional[str] = ..., header_above_image: bool = ..., bullet_points: _Optional[_Iterable[_Union[RetentionBulletPoint, _Mapping[str, _Any]]]] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class UploadRetentionMessageResponse(_message.Message):
    __slots__ = ["accepted_at", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class RetentionImageSize(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class RetentionAnswer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class RetentionOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
