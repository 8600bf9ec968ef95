"""gRPC with Python's grpcio: health, sizes, compression, metadata, errors, cancellation."""

import concurrent.futures
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import contract
from contract import StatusCode, entitlement_service, receipt_service
from harness import CALL_LIMIT, LARGE_CALL_LIMIT

CHECK = "/entitled.v1.EntitlementService/Check"
MEGABYTE = 1_000_000


@pytest.fixture
def health(channel):
    return health_pb2_grpc.HealthStub(channel)


def request(**changed):
    members = {"app": "ocean-journal", "customer_id": "customer", "entitlement": "pro"} | changed
    return entitlement_service.CheckRequest(**members)


def raw_call(channel, method, data, **options):
    """A unary call with raw bytes; returns the error, or the bytes of the response."""
    call = channel.unary_unary(method)
    try:
        return call(data, timeout=CALL_LIMIT, **options)
    except grpc.RpcError as error:
        return error


@pytest.mark.parametrize("name", ["", "entitled.v1.EntitlementService", "entitled.v1.ReceiptService"])
def test_health_is_serving(health, name):
    answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=CALL_LIMIT)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_health_of_an_unknown_service_is_not_found(health):
    with pytest.raises(grpc.RpcError) as error:
        health.Check(health_pb2.HealthCheckRequest(service="no.such.Service"), timeout=CALL_LIMIT)
    assert error.value.code() == StatusCode.NOT_FOUND


def test_watching_health_starts_with_the_current_status(health):
    watching = health.Watch(health_pb2.HealthCheckRequest(), timeout=CALL_LIMIT)
    assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
    watching.cancel()


def test_watching_an_unknown_service_reports_it_and_continues(health):
    watching = health.Watch(health_pb2.HealthCheckRequest(service="no.such.Service"), timeout=CALL_LIMIT)
    assert next(watching).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
    watching.cancel()


def test_a_deadline_ends_a_stream(health):
    watching = health.Watch(health_pb2.HealthCheckRequest(), timeout=0.3)
    next(watching)
    with pytest.raises(grpc.RpcError) as end:
        next(watching)
    assert end.value.code() == StatusCode.DEADLINE_EXCEEDED


def test_a_connection_survives_hundreds_of_cancelled_calls(service):
    with service.channel() as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for _ in range(300):
            watching = health.Watch(health_pb2.HealthCheckRequest(), timeout=CALL_LIMIT)
            next(watching)
            watching.cancel()
        answer = health.Check(health_pb2.HealthCheckRequest(), timeout=CALL_LIMIT)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_a_message_of_three_megabytes_arrives_complete(receipts):
    document = "x" * (3 * MEGABYTE)
    answer = receipts.Inspect(
        receipt_service.InspectRequest(app="ocean-journal", document=document), timeout=LARGE_CALL_LIMIT)
    assert not answer.verified
    assert answer.reason in ("NOT_A_RECEIPT", "NOT_A_JWS", "DOCUMENT_TOO_LARGE")


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_a_message_over_the_limit_is_rejected_and_the_channel_survives(service, compression):
    # Small when compressed: the limit applies to the decompressed size.
    with service.channel() as channel:
        document = receipt_service.InspectRequest(app="ocean-journal", document="x" * (9 * MEGABYTE))
        with pytest.raises(grpc.RpcError) as error:
            contract.receipt_stub(channel).Inspect(document, timeout=LARGE_CALL_LIMIT, compression=compression)
        assert error.value.code() == StatusCode.RESOURCE_EXHAUSTED
        contract.entitlement_stub(channel).Check(request(), timeout=CALL_LIMIT)


def test_gzip_works_in_both_directions(service, receipts):
    document = service.buy("lifetime")["signedTransactionInfo"]
    answer = receipts.Inspect(
        receipt_service.InspectRequest(app="ocean-journal", document=document),
        timeout=CALL_LIMIT, compression=grpc.Compression.Gzip,
    )  # fmt: skip
    assert answer.verified


def test_text_and_binary_metadata_are_accepted(entitlements):
    metadata = [("trace-bin", bytes(range(256))), ("note", "plain text"), ("note", "twice")]
    assert entitlements.Check(request(), timeout=CALL_LIMIT, metadata=metadata).entitlement.reason


def test_oversized_headers_are_rejected_and_the_server_survives(service):
    with service.channel() as channel, pytest.raises(grpc.RpcError):
        stub = contract.entitlement_stub(channel)
        stub.Check(request(), timeout=CALL_LIMIT, metadata=[("note", "x" * 300_000)])
    with service.channel() as channel:
        contract.entitlement_stub(channel).Check(request(), timeout=CALL_LIMIT)


@pytest.mark.parametrize("path", ["/entitled.v1.EntitlementService/Nothing", "/no.such.Service/Check", "/"])
def test_an_unknown_method_is_unimplemented(channel, path):
    assert raw_call(channel, path, b"").code() == StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    "method",
    [method for service in contract.services.values() for method in service.methods],
    ids=lambda method: method.name,
)
def test_every_method_answers_an_empty_request(channel, method):
    path = f"/{method.containing_service.full_name}/{method.name}"
    try:
        # One message in, any number out: valid for every kind of method.
        list(channel.stream_stream(path)(iter([b""]), timeout=CALL_LIMIT))
        code = StatusCode.OK
    except grpc.RpcError as error:
        code = error.code()
    assert code in (StatusCode.OK, StatusCode.INVALID_ARGUMENT, StatusCode.NOT_FOUND)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xff" * 40, id="garbage"),
        pytest.param(b"\x0a\x7fshort", id="a length beyond the end"),
        pytest.param(b"\x0a\xff\xff\xff\xff\x0f", id="a length of 4 GiB"),
        pytest.param(b"\x0b" * 5_000, id="groups without end"),
        pytest.param(b"\x0a\x02\xc3\x28", id="invalid UTF-8"),
        pytest.param(b"\x12\x03\xed\xa0\x80", id="a surrogate in UTF-8"),
        pytest.param(b"\x12\x03a\x00b", id="NUL inside a string"),
    ],
)
def test_malformed_request_bytes_are_an_invalid_argument(channel, entitlements, data):
    assert raw_call(channel, CHECK, data).code() == StatusCode.INVALID_ARGUMENT
    assert entitlements.Check(request(), timeout=CALL_LIMIT).entitlement.reason


def test_unknown_fields_are_ignored(channel):
    known = request().SerializeToString()
    unknown = b"\xfa\x7f\x03abc" + b"\xf0\x7f\x01"
    answer = entitlement_service.CheckResponse.FromString(
        raw_call(channel, CHECK, known + unknown))
    assert answer.entitlement.reason == "NEVER_PURCHASED"


@pytest.mark.parametrize(
    "changed, code, field",
    [
        ({"app": ""}, StatusCode.INVALID_ARGUMENT, "app"),
        ({"customer_id": ""}, StatusCode.INVALID_ARGUMENT, "customer_id"),
        ({"customer_id": "c" * 257}, StatusCode.INVALID_ARGUMENT, "customer_id"),
        ({"entitlement": ""}, StatusCode.INVALID_ARGUMENT, "entitlement"),
        ({"environment": 99}, StatusCode.INVALID_ARGUMENT, "environment"),
    ],
)
def test_an_invalid_field_is_named(entitlements, changed, code, field):
    with pytest.raises(grpc.RpcError) as error:
        entitlements.Check(request(**changed), timeout=CALL_LIMIT)
    assert error.value.code() == code
    assert contract.violations(error.value) == [field]


@pytest.mark.parametrize(
    "changed, reason, named",
    [
        ({"app": "no-such-app"}, "UNKNOWN_APP", "ocean-journal"),
        ({"entitlement": "gold"}, "UNKNOWN_ENTITLEMENT", "pro"),
    ],
)
def test_an_unknown_name_is_answered_with_the_configured_ones(entitlements, changed, reason, named):
    with pytest.raises(grpc.RpcError) as error:
        entitlements.Check(request(**changed), timeout=CALL_LIMIT)
    assert error.value.code() == StatusCode.NOT_FOUND
    assert contract.reason(error.value) == reason
    assert named in error.value.details()


def test_an_invalid_check_of_a_batch_does_not_affect_the_others(entitlements):
    batch = entitlement_service.BatchCheckRequest(
        checks=[request(), request(app="no-such-app"), request(customer_id="customer two")])
    results = entitlements.BatchCheck(batch, timeout=CALL_LIMIT).results
    assert [result.WhichOneof("outcome") for result in results] == ["response", "error", "response"]
    assert results[1].error.code == StatusCode.NOT_FOUND.value[0]


def test_two_hundred_concurrent_clients_are_served(service):
    def client(number):
        with service.channel() as channel:
            stub = contract.entitlement_stub(channel)
            for call in range(5):
                answer = stub.Check(request(customer_id=f"client-{number}-{call}"), timeout=30).entitlement
                assert answer.reason == "NEVER_PURCHASED"
        return number

    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        begin = time.monotonic()
        assert len(set(pool.map(client, range(200)))) == 200
        assert time.monotonic() - begin < 60
