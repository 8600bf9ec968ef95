"""Connect's conformance service against interop-server, by the rules of github.com/connectrpc/conformance."""

import contextlib
import os
import signal
import struct
import subprocess
import sys
import time

import grpc
import pytest
from grpc_status import rpc_status

import interop_client
from certificates import Authority
from contract import conformance_messages as messages, conformance_services
from harness import ROOT
from raw import Connection, framed

LIMIT = 20
HEADERS = [messages.Header(name="x-custom-header", value=["foo", "bar"]),
           messages.Header(name="x-custom-header-bin", value=["AP8"])]  # fmt: skip
TRAILERS = [messages.Header(name="x-custom-trailer", value=["bing"]),
            messages.Header(name="x-custom-trailer-bin", value=["AAEC"])]  # fmt: skip
METADATA = (("x-conformance-test", "Value1"), ("x-conformance-test", "Value2"), ("x-bytes-bin", b"\x00\xff"))
DETAIL = messages.Packed(type_url="type.googleapis.com/connectrpc.conformance.v1.Header",
                         value=HEADERS[0].SerializeToString())  # fmt: skip
ERROR = messages.Error(code=13, message="failed \u2603 100%", details=[DETAIL])


@pytest.fixture(scope="module")
def server():
    server = interop_client.InteropServer("--max_message_bytes", 204_800)
    yield server
    server.stop()


@pytest.fixture(scope="module", params=[grpc.Compression.NoCompression, grpc.Compression.Gzip], ids=["plain", "gzip"])
def stub(server, request):
    with grpc.insecure_channel(server.address, compression=request.param) as channel:
        yield conformance_services.ConformanceServiceStub(channel)


def unary(**more):
    return messages.UnaryResponseDefinition(response_headers=HEADERS, response_trailers=TRAILERS, **more)


def stream(*data, **more):
    return messages.StreamResponseDefinition(
        response_headers=HEADERS, response_trailers=TRAILERS, response_data=data, **more)


def has_metadata(call):
    initial, trailing = list(call.initial_metadata()), list(call.trailing_metadata())
    assert [value for name, value in initial if name == "x-custom-header"] == ["foo", "bar"]
    assert [value for name, value in initial if name == "x-custom-header-bin"] == [b"\x00\xff"]
    assert [value for name, value in trailing if name == "x-custom-trailer"] == ["bing"]
    assert [value for name, value in trailing if name == "x-custom-trailer-bin"] == [b"\x00\x01\x02"]
    return True


def repeats(info, requests, headers=True):
    """The information about the request repeats its messages and, if `headers`, its metadata and timeout."""
    assert [packed.type_url for packed in info.requests] == [
        f"type.googleapis.com/{request.DESCRIPTOR.full_name}" for request in requests]
    assert [packed.value for packed in info.requests] == [request.SerializeToString() for request in requests]
    found = {header.name: list(header.value) for header in info.request_headers}
    if headers:
        assert found["x-conformance-test"] == ["Value1", "Value2"]
        assert found["x-bytes-bin"] in (["AP8"], ["AP8="])
        # grpcio rounds the timeout up, to about three digits.
        assert LIMIT * 950 < info.timeout_ms <= LIMIT * 1_010
    else:
        assert not found and info.timeout_ms == 0
    return True


def fails_with_request(error, requests):
    """The error is the requested one, with a further detail that repeats the call."""
    assert (error.code(), error.details()) == (grpc.StatusCode.INTERNAL, ERROR.message)
    details = rpc_status.from_call(error).details
    assert (details[0].type_url, details[0].value) == (DETAIL.type_url, DETAIL.value)
    assert details[1].type_url.endswith("/connectrpc.conformance.v1.ConformancePayload.RequestInfo")
    return len(details) == 2 and repeats(messages.ConformancePayload.RequestInfo.FromString(details[1].value), requests)


def test_unary_repeats_the_request(stub):
    request = messages.UnaryRequest(response_definition=unary(response_data=b"answer"), request_data=b"\x00" * 100)
    response, call = stub.Unary.with_call(request, timeout=LIMIT, metadata=METADATA)
    assert response.payload.data == b"answer" and has_metadata(call)
    assert repeats(response.payload.request_info, [request])


def test_unary_without_a_definition_repeats_the_request(stub):
    response = stub.Unary(messages.UnaryRequest(), timeout=LIMIT, metadata=METADATA)
    assert response.payload.data == b"" and repeats(response.payload.request_info, [messages.UnaryRequest()])


def test_unary_errors_have_metadata_and_details(stub):
    request = messages.UnaryRequest(response_definition=unary(error=ERROR))
    with pytest.raises(grpc.RpcError) as error:
        stub.Unary(request, timeout=LIMIT, metadata=METADATA)
    assert fails_with_request(error.value, [request]) and has_metadata(error.value)


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code.value[0]])
def test_every_code_is_returned(stub, code):
    error = messages.Error(code=code.value[0], message=code.value[1])
    with pytest.raises(grpc.RpcError) as raised:
        stub.Unary(messages.UnaryRequest(response_definition={"error": error}), timeout=LIMIT)
    assert (raised.value.code(), raised.value.details()) == (code, code.value[1])
    with pytest.raises(grpc.RpcError) as raised:
        list(stub.ServerStream(messages.ServerStreamRequest(response_definition={"error": error}), timeout=LIMIT))
    assert (raised.value.code(), raised.value.details()) == (code, code.value[1])


def test_a_timeout_ends_a_delayed_response(stub):
    begin = time.monotonic()
    with pytest.raises(grpc.RpcError) as error:
        stub.Unary(messages.UnaryRequest(response_definition={"response_delay_ms": 10_000}), timeout=0.2)
    assert error.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    with pytest.raises(grpc.RpcError) as error:
        delayed = messages.StreamResponseDefinition(response_data=[b"a"], response_delay_ms=10_000)
        list(stub.ServerStream(messages.ServerStreamRequest(response_definition=delayed), timeout=0.2))
    assert error.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - begin < 9


def test_client_stream_repeats_all_messages(stub):
    requests = [messages.ClientStreamRequest(response_definition=unary(response_data=b"answer"), request_data=b"1"),
                messages.ClientStreamRequest(response_definition=unary(response_data=b"ignored")),
                messages.ClientStreamRequest(request_data=b"3")]  # fmt: skip
    response, call = stub.ClientStream.with_call(iter(requests), timeout=LIMIT, metadata=METADATA)
    assert response.payload.data == b"answer" and has_metadata(call)
    assert repeats(response.payload.request_info, requests)


def test_an_empty_client_stream_is_answered(stub):
    response = stub.ClientStream(iter([]), timeout=LIMIT, metadata=METADATA)
    assert response.payload.data == b"" and repeats(response.payload.request_info, [])


def test_client_stream_errors_have_metadata_and_details(stub):
    requests = [messages.ClientStreamRequest(response_definition=unary(error=ERROR)), messages.ClientStreamRequest()]
    with pytest.raises(grpc.RpcError) as error:
        stub.ClientStream(iter(requests), timeout=LIMIT, metadata=METADATA)
    assert fails_with_request(error.value, requests) and has_metadata(error.value)


def test_server_stream_repeats_the_request_once(stub):
    request = messages.ServerStreamRequest(response_definition=stream(b"1", b"", b"3"))
    call = stub.ServerStream(request, timeout=LIMIT, metadata=METADATA)
    responses = list(call)
    assert [response.payload.data for response in responses] == [b"1", b"", b"3"] and has_metadata(call)
    assert repeats(responses[0].payload.request_info, [request])
    assert not any(response.payload.HasField("request_info") for response in responses[1:])


def test_an_empty_server_stream_has_metadata(stub):
    call = stub.ServerStream(messages.ServerStreamRequest(response_definition=stream()), timeout=LIMIT)
    assert list(call) == [] and has_metadata(call)
    assert list(stub.ServerStream(messages.ServerStreamRequest(), timeout=LIMIT)) == []


def test_server_stream_fails_after_its_messages(stub):
    request = messages.ServerStreamRequest(response_definition=stream(b"1", error=ERROR))
    call = stub.ServerStream(request, timeout=LIMIT, metadata=METADATA)
    assert next(call).payload.data == b"1"
    with pytest.raises(grpc.RpcError):
        next(call)
    assert call.code() == grpc.StatusCode.INTERNAL and has_metadata(call)
    assert len(rpc_status.from_call(call).details) == 1
    request = messages.ServerStreamRequest(response_definition=stream(error=ERROR))
    with pytest.raises(grpc.RpcError) as error:
        list(stub.ServerStream(request, timeout=LIMIT, metadata=METADATA))
    assert fails_with_request(error.value, [request]) and has_metadata(error.value)


def test_half_duplex_answers_after_the_last_request(stub):
    requests = [messages.BidiStreamRequest(response_definition=stream(b"1", b"2"), request_data=b"a"),
                messages.BidiStreamRequest(request_data=b"b")]  # fmt: skip
    call = stub.BidiStream(iter(requests), timeout=LIMIT, metadata=METADATA)
    responses = list(call)
    assert [response.payload.data for response in responses] == [b"1", b"2"] and has_metadata(call)
    assert repeats(responses[0].payload.request_info, requests)
    assert not responses[1].payload.HasField("request_info")


def test_full_duplex_alternates(stub):
    first = messages.BidiStreamRequest(response_definition=stream(b"1", b"2", b"3"), full_duplex=True)
    second = messages.BidiStreamRequest(request_data=b"b")
    with interop_client.BidirectionalCall(
            lambda requests, timeout: stub.BidiStream(requests, timeout=timeout, metadata=METADATA)) as call:
        call.send(first)
        response = next(call.responses)
        assert response.payload.data == b"1" and repeats(response.payload.request_info, [first])
        call.send(second)
        response = next(call.responses)
        assert response.payload.data == b"2" and repeats(response.payload.request_info, [second], headers=False)
        call.finish()
        # The remaining responses follow the last request.
        assert [response.payload.data for response in call.responses] == [b"3"]
        assert has_metadata(call.responses)


@pytest.mark.parametrize("full_duplex", [False, True])
def test_bidirectional_errors(stub, full_duplex):
    requests = [messages.BidiStreamRequest(response_definition=stream(error=ERROR), full_duplex=full_duplex)]
    with pytest.raises(grpc.RpcError) as error:
        list(stub.BidiStream(iter(requests), timeout=LIMIT, metadata=METADATA))
    assert fails_with_request(error.value, requests) and has_metadata(error.value)
    answered = messages.BidiStreamRequest(response_definition=stream(b"1", error=ERROR), full_duplex=full_duplex)
    call = stub.BidiStream(iter([answered]), timeout=LIMIT)
    assert next(call).payload.data == b"1"
    with pytest.raises(grpc.RpcError):
        next(call)
    assert call.code() == grpc.StatusCode.INTERNAL and has_metadata(call)


def test_an_empty_bidirectional_stream_is_empty(stub):
    assert list(stub.BidiStream(iter([]), timeout=LIMIT)) == []


def test_a_method_that_is_missing_is_unimplemented(stub):
    with pytest.raises(grpc.RpcError) as error:
        stub.Unimplemented(messages.UnimplementedRequest(), timeout=LIMIT)
    assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_the_messages_of_a_stream_are_sent_as_they_are_due(stub):
    # All of them together would be late.
    definition = stream(*[b"1"] * 10 * LIMIT, response_delay_ms=200)
    for start in (lambda: stub.ServerStream(messages.ServerStreamRequest(response_definition=definition), timeout=LIMIT),
                  lambda: stub.BidiStream(iter([messages.BidiStreamRequest(response_definition=definition)]), timeout=LIMIT)):  # fmt: skip
        call = start()
        assert next(call).payload.data == b"1"
        call.cancel()


def test_full_duplex_ends_with_a_request_beyond_the_responses(stub):
    first = messages.BidiStreamRequest(response_definition=stream(b"1", error=ERROR), full_duplex=True)
    with interop_client.BidirectionalCall(
            lambda requests, timeout: stub.BidiStream(requests, timeout=timeout, metadata=METADATA)) as call:
        call.send(first)
        assert next(call.responses).payload.data == b"1"
        call.send(messages.BidiStreamRequest())
        with pytest.raises(grpc.RpcError):
            next(call.responses)
        assert call.responses.code() == grpc.StatusCode.INTERNAL and has_metadata(call.responses)
        assert len(rpc_status.from_call(call.responses).details) == 1


def test_full_duplex_without_a_definition_is_empty(stub):
    requests = [messages.BidiStreamRequest(full_duplex=True), messages.BidiStreamRequest()]
    assert list(stub.BidiStream(iter(requests), timeout=LIMIT)) == []


def test_a_message_may_have_white_space_and_any_character(stub):
    text = "\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\n"
    with pytest.raises(grpc.RpcError) as error:
        stub.Unary(messages.UnaryRequest(response_definition={"error": messages.Error(code=13, message=text)}), timeout=LIMIT)
    assert error.value.details() == text


# Requests that no client library sends, and the codes that the conformance tests allow.
UNIMPLEMENTED, INVALID_ARGUMENT, INTERNAL = 12, 3, 13
UNEXPECTED = {
    "no message": ("Unary", {"body": b""}, UNIMPLEMENTED),
    "two messages": ("Unary", {"body": framed(b"") * 2}, UNIMPLEMENTED),
    "no message to a stream": ("ServerStream", {"body": b""}, UNIMPLEMENTED),
    "two messages to a stream": ("ServerStream", {"body": framed(b"") * 2}, UNIMPLEMENTED),
    "an unknown encoding": ("Unary", {"body": framed(b"", compressed=True), "grpc_encoding": "foo"}, UNIMPLEMENTED),
    "a compressed message as identity": ("Unary", {"body": framed(b"", compressed=True), "grpc_encoding": "identity"}, INTERNAL),
    "a message that ends early": ("ClientStream", {"body": b"\0\0\0\0\x0aabc"}, INVALID_ARGUMENT),
    "a prefix that ends early": ("ClientStream", {"body": b"\0\0\0"}, INVALID_ARGUMENT),
}  # fmt: skip


@pytest.mark.parametrize("case", UNEXPECTED)
def test_an_unexpected_request_has_its_code(server, case):
    method, request, code = UNEXPECTED[case]
    with Connection(server.address) as connection:
        path = f"/connectrpc.conformance.v1.ConformanceService/{method}"
        if not request["body"]:
            assert connection.answer(connection.open(path=path, end=True)).status == code
        else:
            assert connection.call(path=path, **request).status == code


@pytest.mark.parametrize(
    "fields, status",
    [({"content_type": "application/grpc+proto"}, "200"), ({"content_type": "application/grpc+foo"}, "415"),
     ({"content_type": "image/jpeg"}, "415"), ({"method": "DELETE"}, "405"),
     ({"content_type": None, "method": "GET"}, "404")],
)  # fmt: skip
def test_the_kind_of_a_request_has_its_status(server, fields, status):
    with Connection(server.address) as connection:
        path = "/connectrpc.conformance.v1.ConformanceService/Unary"
        assert connection.call(path=path, **fields).headers[":status"] == status


def test_a_request_over_the_message_limit_is_refused(stub):
    request = messages.UnaryRequest(request_data=bytes(204_801))
    with pytest.raises(grpc.RpcError) as error:
        stub.Unary(request, timeout=LIMIT)
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


@contextlib.contextmanager
def started_by_runner(request):
    """Starts the server as the runner of the conformance tests does; gives its address and its certificate."""
    command = [sys.executable, ROOT / "tools" / "interop-server" / "conformance"]
    env = os.environ | {"INTEROP_SERVER": str(interop_client.SERVER)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as started:
        started.stdin.write(struct.pack(">I", len(request)) + request)
        started.stdin.flush()
        (size,) = struct.unpack(">I", started.stdout.read(4))
        response = started.stdout.read(size)
        # host, port and pem_cert of connectrpc.conformance.v1.ServerCompatResponse.
        assert response.startswith(b"\x0a\x09127.0.0.1\x10")
        port = response[12] & 127 | (response[13] & 127) << 7 | response[14] << 14
        try:
            yield f"127.0.0.1:{port}", response[response.index(b"-----BEGIN") :]
        finally:
            started.send_signal(signal.SIGTERM)
        assert started.wait(LIMIT) == 0


# protocol, http_version, use_tls of connectrpc.conformance.v1.ServerCompatRequest.
SECURE = b"\x08\x02\x10\x02\x20\x01"


def test_the_runner_of_the_conformance_tests_can_start_the_server():
    # message_receive_limit: 1,000.
    with started_by_runner(SECURE + b"\x30\xe8\x07") as (address, certificate):
        with grpc.secure_channel(address, grpc.ssl_channel_credentials(certificate)) as channel:
            stub = conformance_services.ConformanceServiceStub(channel)
            assert stub.Unary(messages.UnaryRequest(), timeout=LIMIT).HasField("payload")
            with pytest.raises(grpc.RpcError) as error:
                stub.Unary(messages.UnaryRequest(request_data=bytes(1_001)), timeout=LIMIT)
            assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_clients_need_a_certificate_if_the_runner_names_one(tmp_path):
    authority = Authority(tmp_path)
    files = authority.issue("client", "client.example.com")
    trusted = authority.file.read_bytes()
    # client_tls_cert.
    request = SECURE + b"\x2a" + bytes([len(trusted) & 127 | 128, len(trusted) >> 7]) + trusted
    with started_by_runner(request) as (address, certificate):
        identified = grpc.ssl_channel_credentials(certificate, files.key.read_bytes(), files.certificate.read_bytes())
        # Channels with the same certificate of the server share connections otherwise.
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.secure_channel(address, identified, options) as channel:
            stub = conformance_services.ConformanceServiceStub(channel)
            assert stub.Unary(messages.UnaryRequest(), timeout=LIMIT).HasField("payload")
            assert stub.ClientStream(iter([]), timeout=LIMIT).HasField("payload")
        with grpc.secure_channel(address, grpc.ssl_channel_credentials(certificate), options) as channel:
            stub = conformance_services.ConformanceServiceStub(channel)
            for call in (lambda: stub.Unary(messages.UnaryRequest(), timeout=LIMIT),
                         lambda: stub.ClientStream(iter([]), timeout=LIMIT)):  # fmt: skip
                with pytest.raises(grpc.RpcError) as error:
                    call()
                assert error.value.code() == grpc.StatusCode.UNAUTHENTICATED
