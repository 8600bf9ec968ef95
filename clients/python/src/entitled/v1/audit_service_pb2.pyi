from entitled.v1 import access_pb2 as _access_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AuditEntry(_message.Message):
    __slots__ = ["actor", "address", "app", "as_of", "caller", "customer_ids", "known_at", "method", "note", "number", "outcome", "request_id", "subject", "time"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    actor: str
    address: str
    app: str
    as_of: _timestamp_pb2.Timestamp
    caller: str
    customer_ids: _containers.RepeatedScalarFieldContainer[str]
    known_at: _timestamp_pb2.Timestamp
    method: str
    note: str
    number: int
    outcome: str
    request_id: str
    subject: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, number: _Optional[int] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., caller: _Optional[str] = ..., actor: _Optional[str] = ..., method: _Optional[str] = ..., app: _Optional[str] = ..., customer_ids: _Optional[_Iterable[str]] = ..., subject: _Optional[str] = ..., note: _Optional[str] = ..., outcome: _Optional[str] = ..., request_id: _Optional[str] = ..., address: _Optional[str] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., known_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class ListAuditEntriesRequest(_message.Message):
    __slots__ = ["actor", "app", "customer_id", "end_time", "method", "page_size", "page_token", "start_time"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    customer_id: str
    end_time: _timestamp_pb2.Timestamp
    method: str
    page_size: int
    page_token: str
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., actor: _Optional[str] = ..., method: _Optional[str] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAuditEntriesResponse(_message.Message):
    __slots__ = ["entries", "next_page_token"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[AuditEntry]
    next_page_token: str
    def __init__(self, entries: _Optional[_Iterable[_Union[AuditEntry, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
