"""The unary methods over plain HTTP by the Connect protocol with JSON, for curl, and the probes."""

import json
import re
import socket
import subprocess

import grpc
import pytest

import contract
from contract import entitlement_service as wire
from harness import CALL_LIMIT, post
from raw import Connection

CHECK = "entitled.v1.EntitlementService/Check"
SUBMIT = "entitled.v1.ReceiptService/SubmitTransaction"
INSPECT = "entitled.v1.ReceiptService/Inspect"


def check_request(customer, **changed):
    return {"app": "ocean-journal", "customerId": customer, "entitlement": "pro"} | changed


def test_submit_and_check_in_json(service, customer):
    purchase = service.buy("pro.monthly")
    document = purchase["signedTransactionInfo"]
    request = {"app": "ocean-journal", "customerId": customer, "signedTransaction": document}
    status, submitted = service.json(SUBMIT, request)
    assert status == 200
    assert submitted["transaction"]["transactionId"] == purchase["transactionId"]
    assert submitted["entitlements"][0]["entitled"] is True

    status, answer = service.json(CHECK, check_request(customer))
    assert status == 200
    assert answer["environment"] == "ENVIRONMENT_SANDBOX"
    assert answer["entitlement"]["entitled"] is True
    assert answer["entitlement"]["productId"] == "pro.monthly"
    assert answer["entitlement"]["until"].endswith("Z")
    assert isinstance(submitted["evidenceId"], str), "64-bit numbers are strings in protobuf's JSON"


def test_false_values_are_included(service, customer):
    status, answer = service.json(CHECK, check_request(customer))
    assert status == 200
    assert answer["entitlement"]["entitled"] is False


def test_original_field_names_are_accepted(service, customer):
    request = {"app": "ocean-journal", "customer_id": customer, "entitlement": "pro"}
    assert service.json(CHECK, request)[0] == 200


def test_inspect_in_json(service):
    document = service.buy("lifetime")["signedTransactionInfo"]
    status, answer = service.json(INSPECT, {"app": "ocean-journal", "document": document})
    assert (status, answer["verified"], answer["kind"]) == (200, True, "DOCUMENT_KIND_SIGNED_TRANSACTION")
    assert json.loads(answer["payloadJson"])["productId"] == "lifetime"


def test_health_in_json(service):
    assert service.json("grpc.health.v1.Health/Check", {}) == (200, {"status": "SERVING"})


@pytest.mark.parametrize(
    "body, named",
    [
        (b"{", ""),
        (b"", ""),
        (b"[]", ""),
        (b"\xff\xfe", ""),
        (b'{"app":"ocean-journal","app":"twice"}', "duplicate member"),
        (b'{"app":7}', "app"),
        (b'{"customer":"c"}', "customer"),
        (b'{"environment":"ENVIRONMENT_MOON"}', "environment"),
        (b"[" * 100_000, ""),
    ],
)
def test_an_invalid_body_is_400_and_names_its_error(service, body, named):
    status, error = post(f"http://{service.http}/{CHECK}", body)
    assert status == 400
    assert error["code"] == "invalid_argument"
    assert named in error["message"] and error["message"]


def test_an_error_carries_its_details(service, customer):
    status, error = service.json(CHECK, check_request(customer, app="no-such-app"))
    assert (status, error["code"]) == (404, "not_found")
    [info] = [d["debug"] for d in error["details"] if d["type"] == "google.rpc.ErrorInfo"]
    assert (info["reason"], info["domain"]) == ("UNKNOWN_APP", "entitled")


@pytest.mark.parametrize(
    "document, status, reason", [("hello", 400, "NOT_A_JWS")], ids=["no JWS"])
def test_a_rejected_document_in_json(service, customer, document, status, reason):
    request = {"app": "ocean-journal", "customerId": customer, "signedTransaction": document}
    answered, error = service.json(SUBMIT, request)
    assert answered == status
    assert reason in json.dumps(error)


@pytest.mark.parametrize("path", ["entitled.v1.EntitlementService/Nothing", "no/such/path", ""])
def test_an_unknown_path_is_404(service, path):
    assert service.json(path, {})[0] == 404


def test_a_path_that_is_not_ascii_is_400(service):
    with Connection(service.http) as connection:
        stream = connection.open("/v1/subscribers/Jürgen", "GET", end=True, content_type=None, te=None)
        while not connection.answers[stream].ended:
            assert connection.receive()
        assert connection.answers[stream].headers[":status"] == "400"
    host, _, port = service.http.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=CALL_LIMIT) as plain:
        plain.sendall("GET /v1/subscribers/Jürgen HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert plain.recv(4_096).startswith(b"HTTP/1.1 400 ")


def test_a_stream_and_grpc_on_the_edge_port_are_told_where_they_belong(service):
    status, output = curl("--json", "{}", f"http://{service.http}/entitled.v1.EntitlementService/Watch")
    assert status == 404 and "a stream, which needs gRPC" in output
    with grpc.insecure_channel(service.http) as channel:
        with pytest.raises(grpc.RpcError) as error:
            contract.entitlement_stub(channel).Check(wire.CheckRequest(), timeout=CALL_LIMIT)
    assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert "this port has no gRPC methods" in error.value.details()


def curl(*arguments):
    """Runs curl; returns the HTTP status and its whole output with the headers."""
    command = ["curl", "--silent", "--include", "--max-time", str(CALL_LIMIT), *arguments]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(output.split()[1]), output


def test_a_get_of_a_method_with_side_effects_is_405_and_names_post(service):
    status, output = curl(f"http://{service.http}/{SUBMIT}")
    assert status == 405
    assert "allow: post" in output.lower()


def test_a_body_over_the_limit_is_413(service):
    status, _ = post(f"http://{service.http}/{CHECK}", b'{"app":"' + b"x" * 9_000_000 + b'"}')
    assert status == 413


def test_many_requests_on_one_connection(service, customer):
    body = json.dumps(check_request(customer))
    url = f"http://{service.http}/{CHECK}"
    command = ["curl", "--silent", "--write-out", "connects=%{num_connects}\n", "--json", body]
    output = subprocess.run([*command, url, url, url], capture_output=True, text=True, check=True).stdout
    assert output.count('"evaluatedAt"') == 3
    assert re.findall(r"connects=(\d)", output) == ["1", "0", "0"]


def test_health_endpoints_serve_container_probes(service):
    status, output = curl(f"http://{service.http}/healthz")
    assert (status, output.split()[-1]) == (200, "alive")
    status, output = curl(f"http://{service.http}/readyz")
    body = json.loads(output[output.index("{"):])
    assert (status, body["status"]) == (200, "ready")
    assert {check["name"] for check in body["checks"]} == {
        "store_readable", "store_writable", "disk", "writer_lag", "configuration"}  # fmt: skip
    assert all(check["ok"] for check in body["checks"])


def test_another_content_type_is_415(service):
    status, _ = curl("--data", "app=ocean-journal", f"http://{service.http}/{CHECK}")
    assert status == 415
