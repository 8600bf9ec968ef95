"""Rules of gRPC and HTTP that clients of other languages rely on, by raw frames."""

import socket

import pytest

import contract
from contract import entitlement_service
from harness import CALL_LIMIT, post
from raw import Connection, framed
from test_http2 import CHECK_REQUEST, INVALID_ARGUMENT, OK, UNIMPLEMENTED

WATCH = "/entitled.v1.EntitlementService/Watch"


@pytest.mark.parametrize("length", [257, 15_000])
@pytest.mark.parametrize("field", ["app", "customer_id", "entitlement"])
def test_an_overlong_id_is_rejected_with_a_short_error(service, length, field):
    members = {"app": "ocean-journal", "customer_id": "a", "entitlement": "pro"} | {field: "x" * length}
    request = entitlement_service.CheckRequest(**members).SerializeToString()
    with Connection(service.grpc) as connection:
        answer = connection.call(request)
        assert answer.status == INVALID_ARGUMENT
        assert len(str(answer.headers)) < 2_000
    status, body = post(f"http://{service.http}/entitled.v1.EntitlementService/Check", members)
    assert (status, body["details"][0]["debug"]["reason"]) == (400, "FIELD_TOO_LONG")
    assert body["message"] == f"{field} has {length} bytes, more than 256"


def test_a_thousand_overlong_ids_are_answered_on_one_connection(service):
    request = entitlement_service.CheckRequest(app="x" * 15_000).SerializeToString()
    with Connection(service.grpc) as connection:
        for _ in range(1_000):
            assert connection.call(request).status == INVALID_ARGUMENT
        assert connection.call(CHECK_REQUEST).status == OK


@pytest.mark.parametrize("field, limit", [("note", 4096), ("idempotency_key", 128), ("actor", 256)])
def test_notes_and_keys_have_limits(service, customer, field, limit):
    members = {
        "app": "ocean-journal", "customer_id": customer, "entitlement": "pro", "access_level": "ACCESS_LEVEL_FULL"}
    for length, expected in ((limit, 200), (limit + 1, 400)):
        request = members | {field: "x" * length}
        status, body = post(f"http://{service.http}/entitled.v1.EntitlementService/Grant", request)
        assert status == expected, body


def test_an_unknown_method_is_repeated_in_part_only(service):
    with Connection(service.grpc) as connection:
        answer = connection.call(CHECK_REQUEST, path="/no.such.Service/" + "x" * 10_000)
        assert answer.status == UNIMPLEMENTED
        assert len(answer.headers["grpc-message"]) < 300


def test_every_answer_names_the_accepted_encodings(service):
    with Connection(service.grpc) as connection:
        assert connection.call(CHECK_REQUEST).headers["grpc-accept-encoding"] == "identity,gzip"
        assert connection.call(CHECK_REQUEST, path="/no.Such/Method").headers["grpc-accept-encoding"] == "identity,gzip"


def test_the_content_type_has_no_case(service):
    with Connection(service.grpc) as connection:
        assert connection.call(CHECK_REQUEST, content_type="APPLICATION/GRPC").status == OK


def test_a_second_message_to_a_server_streaming_method_is_refused(service):
    request = framed(entitlement_service.WatchRequest(app="ocean-journal").SerializeToString())
    with Connection(service.grpc) as connection:
        stream = connection.open(path=WATCH)
        connection.send(stream, request + request, end=True)
        assert connection.answer(stream).status == UNIMPLEMENTED


def test_the_header_fields_of_a_stream_are_sent_at_once(service):
    request = framed(entitlement_service.WatchRequest(app="ocean-journal").SerializeToString())
    with Connection(service.grpc) as connection:
        stream = connection.open(path=WATCH)
        connection.send(stream, request, end=True)
        while not connection.answers[stream].headers:
            assert connection.receive()
        assert connection.answers[stream].headers["content-type"] == "application/grpc"
        assert connection.answers[stream].data == b""


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/no/such/path"])
def test_a_response_to_head_has_no_body(service, path):
    with Connection(service.http) as connection:
        stream = connection.open(path=path, method="HEAD", content_type=None, end=True)
        answer = connection.answer(stream)
        assert answer.data == b"" and int(answer.headers["content-length"]) > 0
    request = f"HEAD {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    head, _, body = exchange(service.http, request.encode()).partition(b"\r\n\r\n")
    assert b"content-length: " in head.lower() and body == b""


@pytest.mark.parametrize(
    "request_, expected",
    [
        (b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", b" 400 "),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n", b" 400 "),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", b" 200 "),
        (b"GET /healthz HTTP/1.0\r\n\r\n", b" 200 "),
    ],
)
def test_http_1_1_requires_one_host(service, request_, expected):
    assert expected in exchange(service.http, request_).splitlines()[0]


def exchange(address, request):
    """Sends bytes; returns everything up to the end of the connection."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=CALL_LIMIT) as peer:
        peer.sendall(request)
        received = b""
        while piece := peer.recv(65_536):
            received += piece
        return received


def test_grpcio_reads_the_error_of_an_overlong_id(entitlements):
    with pytest.raises(contract.RpcError) as error:
        entitlements.Check(entitlement_service.CheckRequest(app="x" * 15_000), timeout=CALL_LIMIT)
    assert error.value.code() == contract.StatusCode.INVALID_ARGUMENT
    assert contract.violations(error.value) == ["app"]
