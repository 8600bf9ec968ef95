"""The client side of gRPC's interoperability tests (grpc/doc/interop-test-descriptions.md), with grpcio.

Each function of `CASES` is the test case of its name, step by step as described there.
"""

import gzip
import pathlib
import re
import signal
import subprocess
import threading
import time

import grpc

import raw
from contract import interop_empty, interop_messages as messages, interop_services
from harness import IS_LONG, PROGRAM, START_LIMIT, STOP_LIMIT, environment

SERVER = pathlib.Path(PROGRAM).parent / "interop-server"
LIMIT = 20
LARGE_REQUEST, LARGE_RESPONSE = 271_828, 314_159
REQUEST_SIZES = [27_182, 8, 1_828, 45_904]
RESPONSE_SIZES = [31_415, 9, 2_653, 58_979]
CASES = {}


class InteropServer:
    """One running interop-server on a free port."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [str(SERVER), "--port", "0", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(),
        )  # fmt: skip
        start_timeout = threading.Timer(START_LIMIT, self.process.kill)
        start_timeout.start()
        line = self.process.stdout.readline()
        start_timeout.cancel()
        found = re.match(r"listening on (\S+)", line)
        assert found, f"interop-server did not start: {line}"
        self.address = found[1]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(STOP_LIMIT) == 0
        self.process.stdout.close()


def case(function):
    CASES[function.__name__] = function
    return function


def payload(size):
    return messages.Payload(body=bytes(size))


def simple(**more):
    return messages.SimpleRequest(response_size=LARGE_RESPONSE, payload=payload(LARGE_REQUEST), **more)


def output(*sizes, request=0, **more):
    parameters = [messages.ResponseParameters(size=size) for size in sizes]
    return messages.StreamingOutputCallRequest(response_parameters=parameters, payload=payload(request), **more)


def fails(code, call):
    """Makes a call that must fail with this code; returns the error."""
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() == code, error
        return error
    raise AssertionError(f"the call should have failed with {code}")


def sizes(responses):
    return [len(response.payload.body) for response in responses]


@case
def empty_unary(stub, address):
    assert stub.EmptyCall(interop_empty.Empty(), timeout=LIMIT) == interop_empty.Empty()


@case
def cacheable_unary(stub, address):
    # Without a caching proxy, both responses come from the server, which marks them as cacheable.
    request = messages.SimpleRequest(payload=messages.Payload(body=str(time.time_ns()).encode()))
    response, call = stub.CacheableUnaryCall.with_call(
        request, timeout=LIMIT, metadata=[("x-user-ip", "1.2.3.4")])
    assert int(response.payload.body) > 0
    assert dict(call.initial_metadata())["cache-control"] == "max-age=60, public"


@case
def large_unary(stub, address):
    response = stub.UnaryCall(simple(), timeout=LIMIT)
    assert response.payload.body == bytes(LARGE_RESPONSE)


@case
def client_compressed_unary(stub, address):
    probe = simple(expect_compressed=messages.BoolValue(value=True))
    fails(grpc.StatusCode.INVALID_ARGUMENT, lambda: stub.UnaryCall(probe, timeout=LIMIT))
    compressed = stub.UnaryCall(probe, timeout=LIMIT, compression=grpc.Compression.Gzip)
    plain = stub.UnaryCall(simple(expect_compressed=messages.BoolValue(value=False)), timeout=LIMIT)
    assert sizes([compressed, plain]) == [LARGE_RESPONSE] * 2


@case
def server_compressed_unary(stub, address):
    # grpcio does not expose the compression flag of a message, so this case sends frames.
    with raw.Connection(address) as connection:
        for flag in (True, False):
            request = simple(response_compressed=messages.BoolValue(value=flag)).SerializeToString()
            answer = connection.call(
                request, path="/grpc.testing.TestService/UnaryCall", grpc_accept_encoding="identity,gzip")
            assert (answer.status, answer.data[0]) == (0, flag)
    for flag in (True, False):
        request = simple(response_compressed=messages.BoolValue(value=flag))
        assert sizes([stub.UnaryCall(request, timeout=LIMIT)]) == [LARGE_RESPONSE]


@case
def client_streaming(stub, address):
    requests = (messages.StreamingInputCallRequest(payload=payload(size)) for size in REQUEST_SIZES)
    assert stub.StreamingInputCall(requests, timeout=LIMIT).aggregated_payload_size == 74_922


@case
def client_compressed_streaming(stub, address):
    path = "/grpc.testing.TestService/StreamingInputCall"

    def request(size, compressed):
        expected = messages.BoolValue(value=compressed)
        return messages.StreamingInputCallRequest(payload=payload(size), expect_compressed=expected)

    probe = iter([request(27_182, True)])
    fails(grpc.StatusCode.INVALID_ARGUMENT, lambda: stub.StreamingInputCall(probe, timeout=LIMIT))
    # One compressed and one plain message on the same call, sent as frames because grpcio compresses all or none.
    compressed = raw.framed(gzip.compress(request(27_182, True).SerializeToString()), compressed=True)
    plain = raw.framed(request(45_904, False).SerializeToString())
    with raw.Connection(address) as connection:
        answer = connection.call(body=compressed + plain, path=path, grpc_encoding="gzip")
    assert answer.status == 0
    total = messages.StreamingInputCallResponse.FromString(answer.message).aggregated_payload_size
    assert total == 73_086


@case
def server_streaming(stub, address):
    assert sizes(stub.StreamingOutputCall(output(*RESPONSE_SIZES), timeout=LIMIT)) == RESPONSE_SIZES


@case
def server_compressed_streaming(stub, address):
    expected = [(31_415, True), (92_653, False)]
    parameters = [
        messages.ResponseParameters(size=size, compressed=messages.BoolValue(value=flag)) for size, flag in expected
    ]
    request = messages.StreamingOutputCallRequest(response_parameters=parameters)
    assert sizes(stub.StreamingOutputCall(request, timeout=LIMIT)) == [size for size, _ in expected]
    with raw.Connection(address) as connection:
        answer = connection.call(
            request.SerializeToString(), path="/grpc.testing.TestService/StreamingOutputCall",
            grpc_accept_encoding="identity,gzip")  # fmt: skip
    assert answer.headers["grpc-encoding"] == "gzip"
    assert [flag for flag, _ in raw.unframed(answer.data)] == [True, False]


@case
def ping_pong(stub, address):
    with BidirectionalCall(stub.FullDuplexCall) as call:
        for request, response in zip(REQUEST_SIZES, RESPONSE_SIZES):
            call.send(output(response, request=request))
            assert sizes([next(call.responses)]) == [response]
        call.finish()
        assert list(call.responses) == []


@case
def empty_stream(stub, address):
    assert list(stub.FullDuplexCall(iter([]), timeout=LIMIT)) == []


@case
def custom_metadata(stub, address):
    initial, trailing = "x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin"
    metadata = [(initial, "test_initial_metadata_value"), (trailing, b"\xab\xab\xab")]
    _, unary = stub.UnaryCall.with_call(simple(), timeout=LIMIT, metadata=metadata)
    duplex = stub.FullDuplexCall(
        iter([output(LARGE_RESPONSE, request=LARGE_REQUEST)]), timeout=LIMIT, metadata=metadata)
    assert sizes(duplex) == [LARGE_RESPONSE]
    for call in (unary, duplex):
        assert dict(call.initial_metadata())[initial] == "test_initial_metadata_value"
        assert dict(call.trailing_metadata())[trailing] == b"\xab\xab\xab"
    # An error carries the metadata of its handler, too.
    try:
        stub.UnaryCall(simple(response_status=messages.EchoStatus(code=2, message="m")), timeout=LIMIT, metadata=metadata)
        raise AssertionError("the call should have failed")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.UNKNOWN
        assert dict(error.initial_metadata())[initial] == "test_initial_metadata_value"
        assert dict(error.trailing_metadata())[trailing] == b"\xab\xab\xab"


@case
def status_code_and_message(stub, address):
    ends_with_status(stub, "test status message")


@case
def special_status_message(stub, address):
    ends_with_status(stub, "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n")


def ends_with_status(stub, text):
    status = messages.EchoStatus(code=2, message=text)
    unary = messages.SimpleRequest(response_status=status)
    error = fails(grpc.StatusCode.UNKNOWN, lambda: stub.UnaryCall(unary, timeout=LIMIT))
    assert error.details() == text
    duplex = messages.StreamingOutputCallRequest(response_status=status)
    error = fails(grpc.StatusCode.UNKNOWN, lambda: list(stub.FullDuplexCall(iter([duplex]), timeout=LIMIT)))
    assert error.details() == text


@case
def unimplemented_method(stub, address):
    fails(grpc.StatusCode.UNIMPLEMENTED, lambda: stub.UnimplementedCall(interop_empty.Empty(), timeout=LIMIT))


@case
def unimplemented_service(stub, address):
    with grpc.insecure_channel(address) as channel:
        other = interop_services.UnimplementedServiceStub(channel)
        fails(
            grpc.StatusCode.UNIMPLEMENTED, lambda: other.UnimplementedCall(interop_empty.Empty(), timeout=LIMIT))


@case
def cancel_after_begin(stub, address):
    cancelled = threading.Event()

    def requests():
        cancelled.wait(LIMIT)
        return
        yield

    call = stub.StreamingInputCall.future(requests(), timeout=LIMIT)
    call.cancel()
    cancelled.set()
    assert call.code() == grpc.StatusCode.CANCELLED


@case
def cancel_after_first_response(stub, address):
    with BidirectionalCall(stub.FullDuplexCall) as call:
        call.send(output(31_415, request=27_182))
        next(call.responses)
        call.responses.cancel()
        fails(grpc.StatusCode.CANCELLED, lambda: next(call.responses))


@case
def timeout_on_sleeping_server(stub, address):
    with BidirectionalCall(stub.FullDuplexCall, timeout=0.001) as call:
        call.send(output(request=27_182))
        fails(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: next(call.responses))


@case
def rpc_soak(stub, address):
    for _ in range(100 if IS_LONG else 20):
        large_unary(stub, address)


@case
def channel_soak(stub, address):
    for _ in range(10):
        with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            large_unary(interop_services.TestServiceStub(channel), address)


class BidirectionalCall:
    """A bidirectional streaming call whose requests a test sends one by one."""

    def __init__(self, method, timeout=LIMIT):
        self._condition = threading.Condition()
        self._requests = []
        self._finished = False
        self.responses = method(self._iterate(), timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.finish()

    def _iterate(self):
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._requests or self._finished)
                if not self._requests:
                    return
                request = self._requests.pop(0)
            yield request

    def send(self, request):
        with self._condition:
            self._requests.append(request)
            self._condition.notify()

    def finish(self):
        with self._condition:
            self._finished = True
            self._condition.notify()
