from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AppStatus(_message.Message):
    __slots__ = ["app", "apple_rate_limits", "catalog_fingerprint", "complete_until", "environment", "has_in_app_purchase_key", "last_notification_at", "last_sequence", "next_poll_at", "notification_delay", "open_consumption_requests", "overdue_polls", "typical_notification_interval"]
    APPLE_RATE_LIMITS_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CATALOG_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_UNTIL_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    HAS_IN_APP_PURCHASE_KEY_FIELD_NUMBER: _ClassVar[int]
    LAST_NOTIFICATION_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    NEXT_POLL_AT_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_DELAY_FIELD_NUMBER: _ClassVar[int]
    OPEN_CONSUMPTION_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    OVERDUE_POLLS_FIELD_NUMBER: _ClassVar[int]
    TYPICAL_NOTIFICATION_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    app: str
    apple_rate_limits: _containers.RepeatedCompositeFieldContainer[AppleRateLimit]
    catalog_fingerprint: str
    complete_until: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    has_in_app_purchase_key: bool
    last_notification_at: _timestamp_pb2.Timestamp
    last_sequence: int
    next_poll_at: _timestamp_pb2.Timestamp
    notification_delay: NotificationDelay
    open_consumption_requests: int
    overdue_polls: int
    typical_notification_interval: _duration_pb2.Duration
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., last_notification_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., typical_notification_interval: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ..., complete_until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., overdue_polls: _Optional[int] = ..., next_poll_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., open_consumption_requests: _Optional[int] = ..., has_in_app_purchase_key: bool = ..., catalog_fingerprint: _Optional[str] = ..., last_sequence: _Optional[int] = ..., notification_delay: _Optional[_Union[NotificationDelay, _Mapping[str, _Any]]] = ..., apple_rate_limits: _Optional[_Iterable[_Union[AppleRateLimit, _Mapping[str, _Any]]]] = ...) -> None: ...

class AppleRateLimit(_message.Message):
    __slots__ = ["available_calls", "calls_per_second", "endpoint", "waiting_calls"]
    AVAILABLE_CALLS_FIELD_NUMBER: _ClassVar[int]
    CALLS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    WAITING_CALLS_FIELD_NUMBER: _ClassVar[int]
    available_calls: int
    calls_per_second: float
    endpoint: str
    waiting_calls: int
    def __init__(self, endpoint: _Optional[str] = ..., available_calls: _Optional[int] = ..., calls_per_second: _Optional[float] = ..., waiting_calls: _Optional[int] = ...) -> None: ...

class CertificateStatus(_message.Message):
    __slots__ = ["ends_at", "use"]
    ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    USE_FIELD_NUMBER: _ClassVar[int]
    ends_at: _timestamp_pb2.Timestamp
    use: str
    def __init__(self, use: _Optional[str] = ..., ends_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class GetConfigurationRequest(_message.Message):
    __slots__: list[str] = []
    def __init__(self) -> None: ...

class GetConfigurationResponse(_message.Message):
    __slots__ = ["configuration_json", "loaded_at", "path", "pending_restart"]
    CONFIGURATION_JSON_FIELD_NUMBER: _ClassVar[int]
    LOADED_AT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    PENDING_RESTART_FIELD_NUMBER: _ClassVar[int]
    configuration_json: str
    loaded_at: _timestamp_pb2.Timestamp
    path: str
    pending_restart: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, configuration_json: _Optional[str] = ..., path: _Optional[str] = ..., loaded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., pending_restart: _Optional[_Iterable[str]] = ...) -> None: ...

class GetStatusRequest(_message.Message):
    __slots__: list[str] = []
    def __init__(self) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ["apps", "certificates", "checks", "ready", "replica", "started_at", "store", "time", "version"]
    APPS_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATES_FIELD_NUMBER: _ClassVar[int]
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    REPLICA_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    apps: _containers.RepeatedCompositeFieldContainer[AppStatus]
    certificates: _containers.RepeatedCompositeFieldContainer[CertificateStatus]
    checks: _containers.RepeatedCompositeFieldContainer[HealthCheck]
    ready: bool
    replica: ReplicaStatus
    started_at: _timestamp_pb2.Timestamp
    store: StoreStatus
    time: _timestamp_pb2.Timestamp
    version: str
    def __init__(self, version: _Optional[str] = ..., ready: bool = ..., checks: _Optional[_Iterable[_Union[HealthCheck, _Mapping[str, _Any]]]] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., apps: _Optional[_Iterable[_Union[AppStatus, _Mapping[str, _Any]]]] = ..., store: _Optional[_Union[StoreStatus, _Mapping[str, _Any]]] = ..., replica: _Optional[_Union[ReplicaStatus, _Mapping[str, _Any]]] = ..., certificates: _Optional[_Iterable[_Union[CertificateStatus, _Mapping[str, _Any]]]] = ...) -> None: ...

class HealthCheck(_message.Message):
    __slots__ = ["error", "name"]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    error: str
    name: str
    def __init__(self, name: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class NotificationDelay(_message.Message):
    __slots__ = ["count", "longest", "median"]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LONGEST_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_FIELD_NUMBER: _ClassVar[int]
    count: int
    longest: _duration_pb2.Duration
    median: _duration_pb2.Duration
    def __init__(self, count: _Optional[int] = ..., median: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ..., longest: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class ReplicaLag(_message.Message):
    __slots__ = ["commits_behind", "lag", "name", "version"]
    COMMITS_BEHIND_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    commits_behind: int
    lag: _duration_pb2.Duration
    name: str
    version: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., commits_behind: _Optional[int] = ..., lag: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class ReplicaStatus(_message.Message):
    __slots__ = ["epoch", "leader", "leader_address", "leader_name", "name", "replicas"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    LEADER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    LEADER_NAME_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    leader: bool
    leader_address: str
    leader_name: str
    name: str
    replicas: _containers.RepeatedCompositeFieldContainer[ReplicaLag]
    def __init__(self, name: _Optional[str] = ..., leader: bool = ..., leader_name: _Optional[str] = ..., leader_address: _Optional[str] = ..., epoch: _Optional[int] = ..., replicas: _Optional[_Iterable[_Union[ReplicaLag, _Mapping[str, _Any]]]] = ...) -> None: ...

class StoreStatus(_message.Message):
    __slots__ = ["free_bytes", "last_evidence_id", "size_bytes"]
    FREE_BYTES_FIELD_NUMBER: _ClassVar[int]
    LAST_EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    free_bytes: int
    last_evidence_id: int
    size_bytes: int
    def __init__(self, size_bytes: _Optional[int] = ..., free_bytes: _Optional[int] = ..., last_evidence_id: _Optional[int] = ...) -> None: ...

class WhoAmIRequest(_message.Message):
    __slots__: list[str] = []
    def __init__(self) -> None: ...

class WhoAmIResponse(_message.Message):
    __slots__ = ["all_apps", "apps", "caller", "roles"]
    ALL_APPS_FIELD_NUMBER: _ClassVar[int]
    APPS_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    all_apps: bool
    apps: _containers.RepeatedScalarFieldContainer[str]
    caller: str
    roles: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, caller: _Optional[str] = ..., roles: _Optional[_Iterable[str]] = ..., apps: _Optional[_Iterable[str]] = ..., all_apps: bool = ...) -> None: ...
