"""Every field of every request with the extreme values of its type: each call has an answer, and the store stays intact."""

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message_factory import GetMessageClass

import contract
from contract import StatusCode
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service, run

# Fields that make a request valid apart from the extreme one.
USUAL = {
    "app": "ocean-journal", "customer_id": "ana", "entitlement": "pro", "environment": 2, "actor": "sam",
    "original_transaction_id": "2000000000000001", "transaction_id": "2000000000000001", "from_customer_id": "ana",
    "to_customer_id": "ben", "into_customer_id": "ben", "product_id": "pro.monthly",
}  # fmt: skip
TEXTS = ["\u202e", "\n\x1b[31m", "x" * 256, "x" * 5_000, "-1", "9223372036854775808", "2026-02-30T00:00:00Z", "../../etc/passwd"]
VALUES = {
    Field.CPPTYPE_INT64: [-(2**63), 2**63 - 1, -1], Field.CPPTYPE_INT32: [-(2**31), 2**31 - 1, -1],
    Field.CPPTYPE_UINT64: [2**64 - 1], Field.CPPTYPE_UINT32: [2**32 - 1], Field.CPPTYPE_BOOL: [True],
    Field.CPPTYPE_ENUM: [-1, 1, 2, 3, 4, 2**31 - 1], Field.CPPTYPE_STRING: TEXTS,
    Field.CPPTYPE_DOUBLE: [float("nan"), float("inf"), -1e308], Field.CPPTYPE_FLOAT: [float("nan"), float("inf")],
}  # fmt: skip
SECONDS = [
    2**63 - 1, -(2**63), 253_402_300_799, 253_402_300_800, -62_135_596_801, 315_576_000_001, 9_223_372_036_854_775,
    -9_223_372_036_854_775, 9_223_372_036, -1,
]  # fmt: skip
NANOS = [0, 999_999_999, -1, 2**31 - 1]
METHODS = [(f"/{service.full_name}/{method.name}", method)
           for service in contract.services.values() for method in service.methods]  # fmt: skip


def values(field):
    if field.type == Field.TYPE_BYTES:
        return [b"\0", b"\xff" * 5_000]
    return VALUES.get(field.cpp_type, [])


def usual(message):
    for name, value in USUAL.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field and not field.is_repeated and not field.message_type:
            setattr(message, name, value)
    return message


def extremes(kind, depth=0):
    """Functions that set one field of a message, or of a message inside, to an extreme value."""
    for field in kind.fields:
        inner = field.message_type
        if not inner:
            for value in values(field):
                yield lambda message, field=field, value=value: (
                    getattr(message, field.name).append(value) if field.is_repeated else setattr(message, field.name, value))
        elif inner.full_name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
            for seconds in SECONDS:
                for nanos in NANOS:
                    yield lambda message, field=field, value=(seconds, nanos): set_time(child(message, field), *value)
        elif depth < 3 and not inner.GetOptions().map_entry:
            for change in extremes(inner, depth + 1):
                yield lambda message, field=field, change=change: change(usual(child(message, field)))


def child(message, field):
    part = getattr(message, field.name)
    if field.is_repeated:
        return part.add()
    part.SetInParent()
    return part


def set_time(message, seconds, nanos):
    message.seconds, message.nanos = seconds, nanos


def requests(kind):
    for change in extremes(kind):
        message = usual(GetMessageClass(kind)())
        change(message)
        yield message.SerializeToString()


def code(call, is_stream):
    try:
        if is_stream:
            list(call)
        else:
            call.result()
        return StatusCode.OK
    except grpc.RpcError as error:
        return error.code()


BROKEN = {StatusCode.INTERNAL, StatusCode.UNKNOWN, StatusCode.DATA_LOSS}


@pytest.mark.parametrize("path, method", METHODS, ids=[path for path, _ in METHODS])
def test_extreme_values_are_answered(own, path, method):
    service, channel = own
    is_stream = method.client_streaming or method.server_streaming
    pending = list(requests(method.input_type))
    while pending:
        batch, pending = pending[:40], pending[40:]
        if is_stream:
            # The timeout ends streams that wait for events.
            calls = [channel.stream_stream(path)(iter([request]), timeout=1) for request in batch]
        else:
            calls = [channel.unary_unary(path).future(request, timeout=CALL_LIMIT) for request in batch]
        assert not {code(call, is_stream) for call in calls} & BROKEN
    assert service.process.poll() is None, service.log
    check = wire.CheckRequest(app="ocean-journal", customer_id="ana", entitlement="pro")
    contract.entitlement_stub(channel).Check(check, timeout=CALL_LIMIT)


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("extremes"))
    with service.channel() as channel:
        yield service, channel
    service.stop()
    verified = run("store", "verify", "--data", service.data)
    assert verified.returncode == 0, verified.stdout + verified.stderr
