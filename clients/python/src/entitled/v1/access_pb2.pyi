from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ACCESS_FIELD_NUMBER: int
DESCRIPTOR: _descriptor.FileDescriptor
ERRORS_FIELD_NUMBER: int
ERROR_GROUP_FIELD_NUMBER: int
access: _descriptor.FieldDescriptor
error_group: _descriptor.FieldDescriptor
errors: _descriptor.FieldDescriptor

class Access(_message.Message):
    __slots__ = ["any_role", "limits_apps", "may_defer", "mutates", "on_event_loop", "role", "shows_customers"]
    class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__: list[str] = []
    ANY_ROLE_FIELD_NUMBER: _ClassVar[int]
    LIMITS_APPS_FIELD_NUMBER: _ClassVar[int]
    MAY_DEFER_FIELD_NUMBER: _ClassVar[int]
    MUTATES_FIELD_NUMBER: _ClassVar[int]
    ON_EVENT_LOOP_FIELD_NUMBER: _ClassVar[int]
    ROLE_ADMIN: Access.Role
    ROLE_AUDIT: Access.Role
    ROLE_FIELD_NUMBER: _ClassVar[int]
    ROLE_OPERATE: Access.Role
    ROLE_READ: Access.Role
    ROLE_REPORTS: Access.Role
    ROLE_SUBMIT: Access.Role
    ROLE_UNSPECIFIED: Access.Role
    SHOWS_CUSTOMERS_FIELD_NUMBER: _ClassVar[int]
    any_role: bool
    limits_apps: bool
    may_defer: bool
    mutates: bool
    on_event_loop: bool
    role: Access.Role
    shows_customers: bool
    def __init__(self, role: _Optional[_Union[Access.Role, str]] = ..., mutates: bool = ..., on_event_loop: bool = ..., may_defer: bool = ..., any_role: bool = ..., limits_apps: bool = ..., shows_customers: bool = ...) -> None: ...

class ErrorGroup(_message.Message):
    __slots__ = ["errors", "name"]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    errors: Errors
    name: str
    def __init__(self, name: _Optional[str] = ..., errors: _Optional[_Union[Errors, _Mapping[str, _Any]]] = ...) -> None: ...

class Errors(_message.Message):
    __slots__ = ["aborted", "already_exists", "cancelled", "data_loss", "deadline_exceeded", "failed_precondition", "include", "internal", "invalid_argument", "not_found", "out_of_range", "permission_denied", "resource_exhausted", "unauthenticated", "unavailable", "unimplemented"]
    ABORTED_FIELD_NUMBER: _ClassVar[int]
    ALREADY_EXISTS_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    DATA_LOSS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_EXCEEDED_FIELD_NUMBER: _ClassVar[int]
    FAILED_PRECONDITION_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FIELD_NUMBER: _ClassVar[int]
    INTERNAL_FIELD_NUMBER: _ClassVar[int]
    INVALID_ARGUMENT_FIELD_NUMBER: _ClassVar[int]
    NOT_FOUND_FIELD_NUMBER: _ClassVar[int]
    OUT_OF_RANGE_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_DENIED_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_EXHAUSTED_FIELD_NUMBER: _ClassVar[int]
    UNAUTHENTICATED_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    UNIMPLEMENTED_FIELD_NUMBER: _ClassVar[int]
    aborted: _containers.RepeatedScalarFieldContainer[str]
    already_exists: _containers.RepeatedScalarFieldContainer[str]
    cancelled: _containers.RepeatedScalarFieldContainer[str]
    data_loss: _containers.RepeatedScalarFieldContainer[str]
    deadline_exceeded: _containers.RepeatedScalarFieldContainer[str]
    failed_precondition: _containers.RepeatedScalarFieldContainer[str]
    include: _containers.RepeatedScalarFieldContainer[str]
    internal: _containers.RepeatedScalarFieldContainer[str]
    invalid_argument: _containers.RepeatedScalarFieldContainer[str]
    not_found: _containers.RepeatedScalarFieldContainer[str]
    out_of_range: _containers.RepeatedScalarFieldContainer[str]
    permission_denied: _containers.RepeatedScalarFieldContainer[str]
    resource_exhausted: _containers.RepeatedScalarFieldContainer[str]
    unauthenticated: _containers.RepeatedScalarFieldContainer[str]
    unavailable: _containers.RepeatedScalarFieldContainer[str]
    unimplemented: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, include: _Optional[_Iterable[str]] = ..., cancelled: _Optional[_Iterable[str]] = ..., invalid_argument: _Optional[_Iterable[str]] = ..., deadline_exceeded: _Optional[_Iterable[str]] = ..., not_found: _Optional[_Iterable[str]] = ..., already_exists: _Optional[_Iterable[str]] = ..., permission_denied: _Optional[_Iterable[str]] = ..., resource_exhausted: _Optional[_Iterable[str]] = ..., failed_precondition: _Optional[_Iterable[str]] = ..., aborted: _Optional[_Iterable[str]] = ..., out_of_range: _Optional[_Iterable[str]] = ..., unimplemented: _Optional[_Iterable[str]] = ..., internal: _Optional[_Iterable[str]] = ..., unavailable: _Optional[_Iterable[str]] = ..., data_loss: _Optional[_Iterable[str]] = ..., unauthenticated: _Optional[_Iterable[str]] = ...) -> None: ...
