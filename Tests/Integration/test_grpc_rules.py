"""gRPC over HTTP/2 (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), one broken or kept rule in each test."""

import gzip
import struct
import zlib

import pytest

from contract import entitlement_service
from raw import CHECK, Connection, framed

OK, INVALID, DEADLINE, EXHAUSTED, UNIMPLEMENTED, INTERNAL = 0, 3, 4, 8, 12, 13
MESSAGE = entitlement_service.CheckRequest(app="ocean-journal", customer_id="c", entitlement="pro").SerializeToString()
WATCH = "/entitled.v1.EntitlementService/Watch"
BATCH = "/entitled.v1.EntitlementService/BatchCheck"
ZIPPED = gzip.compress(MESSAGE)
LIMIT = 4 << 20


@pytest.fixture(scope="module")
def connection(service):
    with Connection(service.grpc) as connection:
        yield connection
        # No broken rule has ended the connection.
        assert connection.call(MESSAGE).status == OK


def zipped(data):
    return {"body": framed(data, compressed=True), "grpc_encoding": "gzip"}


CASES = {
    # Timeout: at most eight digits and a unit
    "eight digits": ({"grpc_timeout": "99999999H"}, OK),
    "leading zeros": ({"grpc_timeout": "00000010S"}, OK),
    "nine digits": ({"grpc_timeout": "100000000n"}, INVALID),
    "a timeout of zero": ({"grpc_timeout": "0S"}, DEADLINE),
    "a space in the timeout": ({"grpc_timeout": "1 S"}, INVALID),
    "an unknown unit": ({"grpc_timeout": "1s"}, INVALID),
    "a sign": ({"grpc_timeout": "+1S"}, INVALID),
    "decimals": ({"grpc_timeout": "1.5S"}, INVALID),
    "no digits": ({"grpc_timeout": "S"}, INVALID),
    "no unit": ({"grpc_timeout": "10"}, INVALID),
    "an empty timeout": ({"grpc_timeout": ""}, INVALID),
    "a negative timeout": ({"grpc_timeout": "-1S"}, INVALID),
    "digits of another script": ({"grpc_timeout": "٣S"}, INVALID),
    # Message encoding
    "gzip": (zipped(ZIPPED), OK),
    "an encoding that no message uses": ({"grpc_encoding": "gzip"}, OK),
    "an encoding in capitals": ({**zipped(ZIPPED), "grpc_encoding": "GZIP"}, UNIMPLEMENTED),
    "an empty encoding": ({"grpc_encoding": ""}, UNIMPLEMENTED),
    "deflate": ({**zipped(zlib.compress(MESSAGE)), "grpc_encoding": "deflate"}, UNIMPLEMENTED),
    "a compressed message without encoding": ({"body": framed(ZIPPED, compressed=True)}, INTERNAL),
    "a compressed message as identity": ({**zipped(ZIPPED), "grpc_encoding": "identity"}, INTERNAL),
    "truncated gzip": (zipped(ZIPPED[:-4]), INTERNAL),
    "a wrong checksum": (zipped(ZIPPED[:-8] + bytes(4) + ZIPPED[-4:]), INTERNAL),
    "a size above the real one": (zipped(ZIPPED[:-4] + (1 << 20).to_bytes(4, "little")), INTERNAL),
    "a size below the real one": (zipped(ZIPPED[:-4] + (1).to_bytes(4, "little")), INTERNAL),
    "gzip with a tail": (zipped(ZIPPED + b"tail"), INTERNAL),
    "two members of gzip": (zipped(gzip.compress(MESSAGE[:5]) + gzip.compress(MESSAGE[5:])), INTERNAL),
    "no gzip at all": (zipped(b""), INTERNAL),
    "a bomb": (zipped(gzip.compress(bytes(100_000_000))), EXHAUSTED),
    # Length-prefixed messages
    "a flag of two": ({"body": struct.pack(">BI", 2, len(MESSAGE)) + MESSAGE}, INTERNAL),
    "the flag of gRPC-Web's trailers": ({"body": struct.pack(">BI", 0x80, len(MESSAGE)) + MESSAGE}, INTERNAL),
    "a compressed message with a reserved flag": ({"body": struct.pack(">BI", 0x81, len(ZIPPED)) + ZIPPED, "grpc_encoding": "gzip"}, INTERNAL),
    "a flag of two in a stream": ({"path": WATCH, "body": struct.pack(">BI", 2, 5) + bytes(5)}, INTERNAL),
    "a compressed message without encoding in a stream": ({"path": WATCH, "body": framed(ZIPPED, compressed=True)}, INTERNAL),
    "two messages": ({"body": framed(MESSAGE) * 2}, UNIMPLEMENTED),
    "a byte too many": ({"body": framed(MESSAGE) + b"x"}, UNIMPLEMENTED),
    "a prefix that ends early": ({"body": bytes(4)}, INVALID),
    "a message that ends early": ({"body": b"\0\0\0\0\5abc"}, INVALID),
    "an empty message": ({"body": framed(b"")}, INVALID),
    "a message of the maximum size": ({"path": BATCH, "body": framed(b"\x7a\xfb\xff\xff\x01" + bytes(LIMIT - 5))}, OK),
    "a message over the maximum size": ({"body": framed(bytes(LIMIT + 1))}, EXHAUSTED),
    "an early end of a stream": ({"path": WATCH, "body": b"\0\0\0\0\5ab"}, INVALID),
    # Protocol buffers
    "bytes that are no text": ({"body": framed(b"\x0a\x02\xff\xfe")}, INVALID),
    "a group without end": ({"body": framed(b"\x0b" * 10_000)}, INVALID),
    "an unknown wire type": ({"body": framed(b"\x0e")}, INVALID),
    "field zero": ({"body": framed(b"\x02\0")}, INVALID),
    "a varint without end": ({"body": framed(b"\x80" * 20)}, INVALID),
    "a length beyond the message": ({"body": framed(b"\x0a\xff\xff\xff\xff\x0f")}, INVALID),
    "fields that are set twice": ({"body": framed(MESSAGE * 2)}, OK),
    # Paths
    "an unknown service": ({"path": "/a.b/C"}, UNIMPLEMENTED),
    "a query": ({"path": CHECK + "?a"}, UNIMPLEMENTED),
    "an escape": ({"path": CHECK.replace("Check", "%43heck")}, UNIMPLEMENTED),
    "a slash too many": ({"path": "/" + CHECK}, UNIMPLEMENTED),
    "other capitals": ({"path": CHECK.lower()}, UNIMPLEMENTED),
    # Metadata
    "binary metadata that is not Base64": ({"x-bin": "!!!!"}, OK),
    "two binary values": ({"x-bin": "AAA,BBB="}, OK),
    "text beyond ASCII": ({"x-a": "ü"}, OK),
    "a status in the request": ({"grpc_status": "0"}, OK),
    "no te": ({"te": None}, OK),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_rule_has_its_status(connection, case):
    request, status = CASES[case]
    answer = connection.call(**({"message": MESSAGE} | request))
    assert answer.headers[":status"] == "200" and answer.status == status
    assert answer.headers["content-type"] == "application/grpc"
    if status != OK:
        assert (answer.header_blocks, answer.data) == (1, b""), "an error is trailers only"


@pytest.mark.parametrize("trailer", ["grpc-status", "x-a"])
def test_trailers_of_a_request_are_ignored(connection, trailer):
    stream = connection.open()
    connection.send(stream, framed(MESSAGE))
    connection.h2.send_headers(stream, [(trailer, "13")], end_stream=True)
    connection.flush()
    assert connection.answer(stream).status == OK


@pytest.mark.parametrize(
    "content_type, status",
    [("application/grpc+proto", "200"), ("application/grpc; charset=utf-8", "200"), ("application/grpc+json", "415"),
     ("application/grpc-web", "415"), ("application/grpcx", "415"), ("application/json", "415"), (None, "415")],
)  # fmt: skip
def test_another_content_type_is_refused(connection, content_type, status):
    assert connection.call(MESSAGE, content_type=content_type).headers[":status"] == status


@pytest.mark.parametrize("path", [CHECK, WATCH])
def test_a_call_without_a_message_is_refused(connection, path):
    assert connection.answer(connection.open(path=path, end=True)).status == UNIMPLEMENTED


@pytest.mark.parametrize("method", ["GET", "PUT", "post"])
def test_another_method_than_post_is_refused(connection, method):
    assert connection.call(MESSAGE, method=method).headers[":status"] == "405"


@pytest.mark.parametrize("value", ["a\x01b", "a\0b", "a\nb"])
def test_a_field_with_a_control_character_resets_the_stream(connection, value):
    assert connection.call(MESSAGE, **{"x-a": value}).reset == 1
