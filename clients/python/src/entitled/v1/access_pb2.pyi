from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

ACCESS_FIELD_NUMBER: _ClassVar[int]
DESCRIPTOR: _descriptor.FileDescriptor
access: _descriptor.FieldDescriptor

class Access(_message.Message):
    __slots__ = ["any_role", "limits_apps", "may_defer", "mutates", "on_event_loop", "role", "shows_customers"]
    class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
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
