from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import Any as _Any, ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor
ENVIRONMENT_LOCAL_TESTING: Environment
ENVIRONMENT_PRODUCTION: Environment
ENVIRONMENT_SANDBOX: Environment
ENVIRONMENT_UNSPECIFIED: Environment
ENVIRONMENT_XCODE: Environment

class Environment(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
