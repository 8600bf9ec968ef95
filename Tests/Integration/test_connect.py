"""The unary methods by the Connect protocol: with the client of connectrpc (PyPI), and byte by byte as connectrpc.com
specifies it."""

import base64
import gzip
import http.client
import json
import urllib.parse

import pytest
from connectrpc.client import ConnectClientSync
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2

from contract import services
from harness import CALL_LIMIT

SERVICE = "entitled.v1.EntitlementService"
CHECK = f"/{SERVICE}/Check"
JSON = {"content-type": "application/json"}
CODECS = {"json": google_protobuf_json_codec, "proto": google_protobuf_binary_codec}


def method(service, name):
    """The method as a generated Connect client describes it."""
    rpc = services[service].methods_by_name[name]
    safe = rpc.GetOptions().idempotency_level == rpc.GetOptions().NO_SIDE_EFFECTS
    return MethodInfo(
        name=name, service_name=rpc.containing_service.full_name, input=GetMessageClass(rpc.input_type),
        output=GetMessageClass(rpc.output_type), stream_type=StreamType.UNARY,
        idempotency_level=IdempotencyLevel.NO_SIDE_EFFECTS if safe else IdempotencyLevel.UNKNOWN)  # fmt: skip


CHECK_METHOD = method("EntitlementService", "Check")
CUSTOMER_METHOD = method("EntitlementService", "GetCustomer")
SUBMIT_METHOD = method("ReceiptService", "SubmitTransaction")


def check_request(customer, app="ocean-journal"):
    return CHECK_METHOD.input(app=app, customer_id=customer, entitlement="pro")


@pytest.fixture(params=CODECS)
def codec(request):
    return request.param


@pytest.fixture(params=["plain", "gzip"])
def client(service, codec, request):
    compression = GzipCompression() if request.param == "gzip" else None
    accepted = [GzipCompression()] if compression else []
    return ConnectClientSync(f"http://{service.http}", codec=CODECS[codec](), send_compression=compression,
                             accept_compression=accepted)  # fmt: skip


def test_a_connect_client_submits_and_checks(service, client, customer):
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    request = SUBMIT_METHOD.input(
        app="ocean-journal", customer_id=customer, signed_transaction=document)
    submitted = client.execute_unary(request=request, method=SUBMIT_METHOD)
    assert submitted.evidence_id > 0
    answer = client.execute_unary(request=check_request(customer), method=CHECK_METHOD, timeout_ms=60_000)
    assert answer.SerializeToString()
    request = CUSTOMER_METHOD.input(app="ocean-journal", customer_id=customer)
    assert len(client.execute_unary(request=request, method=CUSTOMER_METHOD).SerializeToString()) > 100


@pytest.mark.parametrize("name", ["Check", "GetCustomer"])
def test_a_connect_client_calls_by_get(client, customer, name):
    info, request = {
        "Check": (CHECK_METHOD, check_request(customer)),
        "GetCustomer": (
            CUSTOMER_METHOD,
            CUSTOMER_METHOD.input(app="ocean-journal", customer_id=customer)),
    }[name]  # fmt: skip
    posted = client.execute_unary(request=request, method=info)
    got = client.execute_unary(request=request, method=info, use_get=True)
    assert type(got) is type(posted)


def test_a_connect_client_gets_code_message_and_details_of_an_error(client, customer):
    with pytest.raises(ConnectError) as raised:
        client.execute_unary(request=check_request(customer, app="no-such-app"), method=CHECK_METHOD)
    assert raised.value.code == Code.NOT_FOUND
    assert raised.value.message.startswith("unknown app 'no-such-app'")
    info = error_details_pb2.ErrorInfo.FromString(raised.value.details[0].message_bytes)
    assert (info.reason, info.domain) == ("UNKNOWN_APP", "entitled")


def send(service, verb, path, body=b"", headers=None):
    """One request; returns the status, the header fields (lowercase) and the body."""
    host, port = service.http.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)
    connection.request(verb, path, body if verb == "POST" else None, headers or {})
    answer = connection.getresponse()
    result = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return result


def body(customer):
    return json.dumps({"app": "ocean-journal", "customerId": customer, "entitlement": "pro"}).encode()


def test_the_response_has_the_content_type_of_the_request(service, customer):
    status, headers, _ = send(service, "POST", CHECK, body(customer), JSON)
    assert (status, headers["content-type"]) == (200, "application/json")
    message = check_request(customer).SerializeToString()
    status, headers, answer = send(service, "POST", CHECK, message, {"content-type": "application/proto"})
    assert (status, headers["content-type"]) == (200, "application/proto")
    CHECK_METHOD.output.FromString(answer)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_content_types_are_compared_as_media_types(service, customer, content_type):
    assert send(service, "POST", CHECK, body(customer), {"content-type": content_type})[0] == 200


@pytest.mark.parametrize("content_type", ["application/xml", "application/connect+json", "application/grpc-web", ""])
def test_other_content_types_are_415_and_the_response_names_the_supported_ones(service, customer, content_type):
    status, headers, _ = send(service, "POST", CHECK, body(customer), {"content-type": content_type})
    assert status == 415
    assert headers.get("accept-post", "application/json") in ("application/json", "application/json, application/proto")


def test_protocol_version_1_is_accepted_and_others_are_refused(service, customer):
    assert send(service, "POST", CHECK, body(customer), JSON | {"connect-protocol-version": "1"})[0] == 200
    status, _, answer = send(service, "POST", CHECK, body(customer), JSON | {"connect-protocol-version": "2"})
    assert (status, json.loads(answer)["code"]) == (400, "invalid_argument")


@pytest.mark.parametrize("timeout", ["", "-1", "1s", "12345678901", "1.5", "\u0661"])
def test_a_malformed_timeout_is_an_invalid_argument(service, customer, timeout):
    headers = JSON | {"connect-timeout-ms": timeout.encode()}
    status, _, answer = send(service, "POST", CHECK, body(customer), headers)
    assert (status, json.loads(answer)["code"]) == (400, "invalid_argument")


def test_a_call_past_its_timeout_is_504_with_a_reason(service, customer):
    status, _, answer = send(service, "POST", CHECK, body(customer), JSON | {"connect-timeout-ms": "0"})
    answer = json.loads(answer)
    assert (status, answer["code"]) == (504, "deadline_exceeded")
    assert answer["details"][0]["debug"]["reason"] == "DEADLINE_EXCEEDED"


def test_ten_digits_of_timeout_are_accepted(service, customer):
    assert send(service, "POST", CHECK, body(customer), JSON | {"connect-timeout-ms": "9999999999"})[0] == 200


def test_a_compressed_request_without_accept_encoding_may_be_answered_compressed(service, customer):
    headers = JSON | {"content-encoding": "gzip"}
    path = f"/{SERVICE}/GetCustomer"
    request = gzip.compress(json.dumps({"app": "ocean-journal", "customerId": customer}).encode())
    status, answered, answer = send(service, "POST", path, request, headers)
    assert status == 200
    if answered.get("content-encoding") == "gzip":
        answer = gzip.decompress(answer)
    assert json.loads(answer)


@pytest.mark.parametrize("accepted, encoding", [
    ("gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("gzip;q=0", None), ("identity", None), ("br", None), (None, None),
])  # fmt: skip
def test_large_responses_are_compressed_for_clients_that_accept_it(service, customer, accepted, encoding):
    path = "/grpc.health.v1.Health/List" if not accepted else f"/{SERVICE}/BatchCheck"
    checks = [json.loads(body(customer))] * 40
    request = {"checks": checks} if accepted else {}
    headers = JSON | ({"accept-encoding": accepted} if accepted else {"accept-encoding": ""})
    status, answered, answer = send(service, "POST", path, json.dumps(request).encode(), headers)
    assert status == 200
    assert answered.get("content-encoding") == encoding
    json.loads(gzip.decompress(answer) if encoding else answer)
    assert answered["vary"] == "accept-encoding"


def test_an_unknown_compression_is_501_with_a_reason(service, customer):
    status, _, answer = send(service, "POST", CHECK, body(customer), JSON | {"content-encoding": "br"})
    answer = json.loads(answer)
    assert (status, answer["code"]) == (501, "unimplemented")
    assert "gzip" in answer["message"]
    assert answer["details"][0]["debug"]["reason"] == "UNSUPPORTED_COMPRESSION"


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(b"{}", mtime=0)[:-9], b""], ids=["other", "cut", "empty"])
def test_damaged_gzip_is_an_invalid_argument(service, content):
    status, _, answer = send(service, "POST", CHECK, content, JSON | {"content-encoding": "gzip"})
    assert (status, json.loads(answer)["code"]) == (400, "invalid_argument")


def test_a_small_message_that_decompresses_beyond_the_limit_is_refused(service):
    bomb = gzip.compress(b'{"app":"' + b"x" * 64_000_000 + b'"}')
    status, _, answer = send(service, "POST", CHECK, bomb, JSON | {"content-encoding": "gzip"})
    assert (status, json.loads(answer)["code"]) == (429, "resource_exhausted")


def test_an_empty_proto_body_is_the_default_message(service):
    status, _, answer = send(service, "POST", CHECK, b"", {"content-type": "application/proto"})
    assert (status, json.loads(answer)["code"]) == (400, "invalid_argument"), "the app is missing"
    headers = {"content-type": "application/proto"}
    assert send(service, "POST", "/grpc.health.v1.Health/Check", b"", headers)[0] == 200


def test_malformed_proto_is_an_invalid_argument(service):
    status, headers, answer = send(service, "POST", CHECK, b"\xff\xff", {"content-type": "application/proto"})
    assert (status, headers["content-type"]) == (400, "application/json")
    assert json.loads(answer)["details"][0]["debug"]["reason"] == "MALFORMED_MESSAGE"


def test_the_value_of_a_detail_is_the_message_in_unpadded_base64(service, customer):
    request = json.dumps({"app": "none", "customerId": customer, "entitlement": "pro"}).encode()
    _, _, answer = send(service, "POST", CHECK, request, JSON)
    detail = json.loads(answer)["details"][0]
    assert detail["type"] == "google.rpc.ErrorInfo" and "=" not in detail["value"]
    value = base64.b64decode(detail["value"] + "=" * (-len(detail["value"]) % 4))
    info = error_details_pb2.ErrorInfo.FromString(value)
    assert info.reason == detail["debug"]["reason"] == "UNKNOWN_APP"


def query(**members):
    return f"{CHECK}?{urllib.parse.urlencode(members)}"


def test_get_takes_the_message_from_the_query(service, customer):
    plain = query(connect="v1", encoding="json", message=body(customer).decode())
    status, headers, answer = send(service, "GET", plain)
    assert (status, headers["content-type"], headers["cache-control"]) == (200, "application/json", "no-store")
    message = base64.urlsafe_b64encode(check_request(customer).SerializeToString()).decode()
    for text in (message, message.rstrip("=")):
        assert send(service, "GET", query(encoding="proto", base64=1, message=text))[0] == 200
    packed = base64.urlsafe_b64encode(gzip.compress(body(customer))).decode()
    assert send(service, "GET", query(encoding="json", base64=1, compression="gzip", message=packed))[0] == 200


def test_a_text_that_is_not_utf_8_is_refused_in_a_query_as_in_a_body(service):
    message = b'{"app": "ocean-journal", "customerId": "J\xfcrgen", "entitlement": "pro"}'
    answers = [
        send(service, "GET", query(encoding="json", message=message)), send(service, "POST", CHECK, message, JSON)]
    assert [(status, json.loads(answer)["details"][0]["debug"]["reason"]) for status, _, answer in answers] == [
        (400, "MALFORMED_MESSAGE")] * 2


@pytest.mark.parametrize("members, status", [
    ({}, 400), ({"encoding": "json"}, 400), ({"message": "{}"}, 400), ({"encoding": "xml", "message": "{}"}, 415),
    ({"encoding": "json", "message": "{}", "connect": "v2"}, 400),
    ({"encoding": "json", "message": "{}", "base64": "1"}, 400),
    ({"encoding": "json", "message": "{}", "base64": "yes"}, 400),
    ({"encoding": "json", "message": "{}", "compression": "br"}, 501),
])  # fmt: skip
def test_a_get_that_is_not_of_the_protocol_is_refused(service, members, status):
    assert send(service, "GET", query(**members))[0] == status


def test_get_is_for_methods_without_side_effects_only(service):
    for verb in ("GET", "PUT", "DELETE", "HEAD"):
        path = "/entitled.v1.ReceiptService/SubmitTransaction?encoding=json&message=%7B%7D"
        status, headers, _ = send(service, verb, path)
        assert (status, headers["allow"]) == (405, "POST")
    status, headers, _ = send(service, "PUT", CHECK)
    assert (status, headers["allow"]) == (405, "GET, POST")


def test_streaming_methods_are_404_so_that_connect_clients_report_unimplemented(service):
    assert send(service, "POST", f"/{SERVICE}/Watch", b"{}", JSON)[0] == 404
