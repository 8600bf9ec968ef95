from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DeviceBits(_message.Message):
    __slots__ = ["bit0", "bit1", "last_update"]
    BIT0_FIELD_NUMBER: _ClassVar[int]
    BIT1_FIELD_NUMBER: _ClassVar[int]
    LAST_UPDATE_FIELD_NUMBER: _ClassVar[int]
    bit0: bool
    bit1: bool
    last_update: str
    def __init__(self, bit0: bool = ..., bit1: bool = ..., last_update: _Optional[str] = ...) -> None: ...

class GetDeviceTrialRequest(_message.Message):
    __slots__ = ["app", "device_token", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    DEVICE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    device_token: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., device_token: _Optional[str] = ...) -> None: ...

class GetDeviceTrialResponse(_message.Message):
    __slots__ = ["last_update", "may_offer"]
    LAST_UPDATE_FIELD_NUMBER: _ClassVar[int]
    MAY_OFFER_FIELD_NUMBER: _ClassVar[int]
    last_update: str
    may_offer: bool
    def __init__(self, may_offer: bool = ..., last_update: _Optional[str] = ...) -> None: ...

class QueryDeviceBitsRequest(_message.Message):
    __slots__ = ["app", "device_token", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    DEVICE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    device_token: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., device_token: _Optional[str] = ...) -> None: ...

class QueryDeviceBitsResponse(_message.Message):
    __slots__ = ["bits"]
    BITS_FIELD_NUMBER: _ClassVar[int]
    bits: DeviceBits
    def __init__(self, bits: _Optional[_Union[DeviceBits, _Mapping[str, _Any]]] = ...) -> None: ...

class UpdateDeviceBitsRequest(_message.Message):
    __slots__ = ["actor", "app", "bit0", "bit1", "device_token", "environment", "idempotency_key", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    BIT0_FIELD_NUMBER: _ClassVar[int]
    BIT1_FIELD_NUMBER: _ClassVar[int]
    DEVICE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    bit0: bool
    bit1: bool
    device_token: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., device_token: _Optional[str] = ..., bit0: bool = ..., bit1: bool = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class UpdateDeviceBitsResponse(_message.Message):
    __slots__ = ["accepted_at", "bits", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    BITS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    bits: DeviceBits
    position: str
    repeated: bool
    def __init__(self, bits: _Optional[_Union[DeviceBits, _Mapping[str, _Any]]] = ..., accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class UseDeviceTrialRequest(_message.Message):
    __slots__ = ["actor", "app", "customer_id", "device_token", "environment", "idempotency_key", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    customer_id: str
    device_token: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., device_token: _Optional[str] = ..., customer_id: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class UseDeviceTrialResponse(_message.Message):
    __slots__ = ["accepted_at", "already_used", "position", "repeated"]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    ALREADY_USED_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    accepted_at: _timestamp_pb2.Timestamp
    already_used: bool
    position: str
    repeated: bool
    def __init__(self, already_used: bool = ..., accepted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class ValidateDeviceTokenRequest(_message.Message):
    __slots__ = ["app", "device_token", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    DEVICE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    device_token: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., device_token: _Optional[str] = ...) -> None: ...

class ValidateDeviceTokenResponse(_message.Message):
    __slots__ = ["error", "valid"]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    VALID_FIELD_NUMBER: _ClassVar[int]
    error: str
    valid: bool
    def __init__(self, valid: bool = ..., error: _Optional[str] = ...) -> None: ...
