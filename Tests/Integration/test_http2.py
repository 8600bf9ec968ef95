"""HTTP/2 below any gRPC library: frames cut anywhere, wrong types, broken streams, broken connections."""

import gzip
import random
import socket
import subprocess

import pytest

from contract import entitlement_service, receipt_service
from harness import CALL_LIMIT, LARGE_CALL_LIMIT
from raw import Connection, framed

OK, INVALID_ARGUMENT, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = 0, 3, 4, 8, 12, 13, 14
INSPECT = "/entitled.v1.ReceiptService/Inspect"

CHECK_REQUEST = entitlement_service.CheckRequest(
    app="ocean-journal", customer_id="customer", entitlement="pro").SerializeToString()


@pytest.fixture
def connection(service):
    with Connection(service.grpc) as connection:
        yield connection
        # After any stream error, the connection still serves calls.
        assert connection.call(CHECK_REQUEST).status == OK


def test_a_call_is_headers_data_trailers(connection):
    answer = connection.call(CHECK_REQUEST)
    assert answer.headers[":status"] == "200"
    assert answer.headers["content-type"].startswith("application/grpc")
    assert answer.trailers["grpc-status"] == "0"
    assert answer.data[:1] == b"\0"


def test_an_error_is_a_trailers_only_response(connection):
    answer = connection.call(CHECK_REQUEST, path="/no.such.Service/Check")
    assert (answer.header_blocks, answer.data) == (1, b"")
    assert answer.headers["grpc-status"] == str(UNIMPLEMENTED)


def test_a_message_cut_into_single_bytes_is_accepted(connection):
    assert connection.call(CHECK_REQUEST, piece=1).status == OK


def test_three_megabytes_in_small_and_uneven_frames_are_accepted(connection):
    message = receipt_service.InspectRequest(app="ocean-journal", document="x" * 3_000_000).SerializeToString()
    connection.socket.settimeout(LARGE_CALL_LIMIT)
    assert connection.call(message, path=INSPECT, piece=random.Random(1).randrange(700, 16_000)).status == OK


def test_a_prefix_with_an_excessive_length_is_rejected_at_once(connection):
    stream = connection.open()
    connection.send(stream, b"\0\xff\xff\xff\xff")
    assert connection.answer(stream).status == RESOURCE_EXHAUSTED


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(framed(b"x" * 100)[:40], id="a message that ends early"),
        pytest.param(b"\0\0\0", id="half a prefix"),
        pytest.param(framed(CHECK_REQUEST) * 2, id="two messages in a unary call"),
        pytest.param(framed(CHECK_REQUEST, compressed=True), id="compressed without grpc-encoding"),
        pytest.param(b"\x07" + framed(CHECK_REQUEST)[1:], id="unknown flags"),
    ],
)
def test_a_body_that_is_not_one_message_is_an_error(connection, body):
    assert connection.call(body=body).status not in (-1, OK)


def test_a_request_without_a_message_is_an_error(connection):
    assert connection.answer(connection.open(end=True)).status not in (-1, OK)


def test_gzip_requests_get_gzip_responses_if_accepted(connection):
    compressed = framed(gzip.compress(CHECK_REQUEST), compressed=True)
    answer = connection.call(body=compressed, grpc_encoding="gzip", grpc_accept_encoding="identity,gzip")
    assert answer.status == OK
    assert answer.headers["grpc-encoding"] == "gzip"
    assert answer.data[:1] == b"\1"
    assert b"NEVER_PURCHASED" in gzip.decompress(answer.message)

    answer = connection.call(body=compressed, grpc_encoding="gzip")
    assert b"NEVER_PURCHASED" in answer.message


def test_corrupt_gzip_is_an_error(connection):
    compressed = bytearray(gzip.compress(CHECK_REQUEST))
    compressed[12] ^= 0x55
    answer = connection.call(body=framed(bytes(compressed), compressed=True), grpc_encoding="gzip")
    assert answer.status == INTERNAL


def test_an_unknown_encoding_is_answered_with_the_supported_ones(connection):
    answer = connection.call(CHECK_REQUEST, grpc_encoding="snappy")
    assert answer.status == UNIMPLEMENTED
    assert "gzip" in answer.headers["grpc-accept-encoding"]


@pytest.mark.parametrize("timeout", ["0n", "1n"])
def test_a_call_past_its_deadline_fails(connection, timeout):
    stream = connection.open(grpc_timeout=timeout)
    assert connection.answer(stream).status == DEADLINE_EXCEEDED


def test_a_call_fails_when_its_deadline_passes_during_the_request(connection):
    stream = connection.open(grpc_timeout="50m")
    connection.send(stream, framed(CHECK_REQUEST)[:8])
    assert connection.answer(stream).status == DEADLINE_EXCEEDED


@pytest.mark.parametrize("timeout", ["", "5", "S", "5x", "-5S", "123456789S"])
def test_a_malformed_timeout_is_rejected(connection, timeout):
    assert connection.call(CHECK_REQUEST, grpc_timeout=timeout).status == INVALID_ARGUMENT


def test_a_call_can_be_cancelled(connection):
    for _ in range(50):
        stream = connection.open()
        connection.send(stream, framed(CHECK_REQUEST)[:8])
        connection.h2.reset_stream(stream, error_code=8)
        connection.flush()


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/grpcx", None])
def test_another_content_type_is_415(connection, content_type):
    answer = connection.call(CHECK_REQUEST, content_type=content_type)
    assert answer.headers[":status"] == "415"


@pytest.mark.parametrize("content_type", ["application/grpc+proto", "application/grpc;charset=utf-8"])
def test_other_grpc_content_types_are_accepted(connection, content_type):
    assert connection.call(CHECK_REQUEST, content_type=content_type).status == OK


def test_a_plain_get_gets_headers_and_data(connection):
    stream = connection.open(path="/", method="GET", end=True, te=None, content_type=None)
    answer = connection.answer(stream)
    assert answer.headers[":status"] in ("404", "405", "415")
    assert answer.data and "grpc-status" not in answer.headers


def test_curl_gets_a_plain_response(service):
    command = ["curl", "--silent", "--http2-prior-knowledge", "--include", f"http://{service.grpc}/"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=CALL_LIMIT).stdout
    assert output.startswith("HTTP/2 4")
    assert output.strip().splitlines()[-1], "the body names the protocol"


def test_an_http1_client_learns_the_expected_protocol(service):
    status, output = subprocess.getstatusoutput(f"curl --silent --http1.1 --include http://{service.grpc}/")
    assert status == 0
    assert output.startswith("HTTP/1.1 404") and "gRPC" in output


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x00" * 100, id="zeros"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x55" * 500, id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100, id="garbage after the preface"),
        pytest.param(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0" + b"\x7f\xff\xff\x00\0\0\0\0\1",
            id="a frame of 8 MB"),
        pytest.param(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0" + b"\0\0\4\1\4\0\0\0\1\xff\xff\xff\xff",
            id="broken HPACK"),
    ],
)
def test_a_broken_connection_is_closed_and_the_server_survives(service, data):
    host, _, port = service.grpc.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=CALL_LIMIT) as broken:
        broken.sendall(data)
        try:
            while broken.recv(65_536):
                pass
        except ConnectionResetError:
            pass
    with Connection(service.grpc) as connection:
        assert connection.call(CHECK_REQUEST).status == OK


def test_a_silent_connection_does_not_block_others(service):
    host, _, port = service.grpc.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=CALL_LIMIT):
        with Connection(service.grpc) as connection:
            assert connection.call(CHECK_REQUEST).status == OK


def test_a_client_that_disconnects_during_a_call_does_no_harm(service):
    for _ in range(20):
        with Connection(service.grpc) as connection:
            connection.send(connection.open(), framed(CHECK_REQUEST)[:8])
    with Connection(service.grpc) as connection:
        assert connection.call(CHECK_REQUEST).status == OK


def test_a_hundred_calls_open_on_one_connection_are_served(service):
    with Connection(service.grpc) as connection:
        connection.receive()
        allowed = connection.h2.remote_settings.max_concurrent_streams
        assert 100 <= allowed <= 10_000
        streams = [connection.open() for _ in range(100)]
        for stream in reversed(streams):
            connection.send(stream, framed(CHECK_REQUEST), end=True)
        assert all(connection.answer(stream).status == OK for stream in streams)


def test_status_messages_are_percent_encoded(connection):
    request = entitlement_service.CheckRequest(app="Ünbekannt 100%", customer_id="c", entitlement="pro")
    answer = connection.call(request.SerializeToString())
    assert answer.status not in (-1, OK)
    assert answer.headers["grpc-message"].isascii()
    assert "%C3%9Cnbekannt 100%25" in answer.headers["grpc-message"]
