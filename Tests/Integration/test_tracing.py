"""Traces: spans reach a collector that decodes them with OpenTelemetry's own messages; sampling, context, bounds."""

import hashlib
import json
import re
import secrets
import time
import urllib.request

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

import contract
from certificates import write_key
from collector import Collector, attributes
from contract import entitlement_service as wire
from harness import CALL_LIMIT, post, run
from receiver import Receiver
from stub import StubServer, unknown_transaction
from test_metrics import value
from test_webhooks import APP, configured

SUBMIT = "entitled.v1.ReceiptService/SubmitTransaction"
CHECK = "entitled.v1.EntitlementService/Check"
GRANT = "entitled.v1.EntitlementService/Grant"


@pytest.fixture
def collector():
    collector = Collector()
    yield collector
    collector.close()


@pytest.fixture
def webhook():
    receiver = Receiver()
    yield receiver
    receiver.close()


def traced(tmp_path, collector, webhooks=None, **traces):
    """Arguments of a service that exports to this collector."""
    arguments = configured(tmp_path, webhooks)
    file = tmp_path / "entitled.yaml"
    configuration = json.loads(file.read_text())
    configuration["traces"] = {"endpoint": collector.endpoint, "sample_ratio": 1, **traces}
    file.write_text(json.dumps(configuration))
    return arguments


def parent(is_sampled=True):
    """A new trace id, and the header of a caller."""
    trace = secrets.token_hex(16)
    return trace, {"traceparent": f"00-{trace}-00f067aa0ba902b7-{'01' if is_sampled else '00'}"}


def check(service, customer="ana", metadata=()):
    with service.channel() as channel:
        return contract.entitlement_stub(channel).Check(
            wire.CheckRequest(app=APP, customer_id=customer, entitlement="pro"), metadata=metadata, timeout=CALL_LIMIT)


def submit(service, headers):
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    status, answer = service.json(
        SUBMIT, {"app": APP, "customerId": "ana", "signedTransaction": document}, **headers)
    assert status == 200, answer


def test_a_submission_is_one_trace_with_verification_and_write(start, tmp_path, collector):
    service = start(arguments=traced(tmp_path, collector)).wait_until_leading()
    trace, headers = parent()
    submit(service, headers)
    spans = collector.wait_for(trace, SUBMIT, "verify", "store.write")
    [call], [verify], [write] = spans[SUBMIT], spans["verify"], spans["store.write"]
    assert call.parent_span_id.hex() == "00f067aa0ba902b7" and call.kind == Span.SPAN_KIND_SERVER
    assert {verify.parent_span_id, write.parent_span_id} == {call.span_id}
    assert call.start_time_unix_nano <= verify.start_time_unix_nano <= verify.end_time_unix_nano
    assert verify.end_time_unix_nano <= write.start_time_unix_nano <= write.end_time_unix_nano <= call.end_time_unix_nano
    assert [event.name for event in write.events] == ["transaction"]
    assert attributes(verify)["entitled.document"]
    assert attributes(call).items() >= {
        "rpc.system": "grpc", "rpc.service": "entitled.v1.ReceiptService", "rpc.method": "SubmitTransaction",
        "rpc.grpc.status_code": 0}.items()  # fmt: skip
    [resource] = {json.dumps(attributes(r.resource)) for m in collector.messages for r in m.resource_spans}
    assert json.loads(resource)["service.name"] == "entitled"
    assert json.loads(resource)["service.version"] in run("--version").stdout
    assert "ana" not in str(collector.messages), "a span names a customer"


def test_a_rejected_document_marks_its_verification(start, tmp_path, collector):
    service = start(arguments=traced(tmp_path, collector))
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    trace, headers = parent()
    status, _ = service.json(
        SUBMIT, {"app": APP, "customerId": "ana", "signedTransaction": document[:-8] + "AAAAAAAA"}, **headers)
    assert status == 403
    spans = collector.wait_for(trace, SUBMIT, "verify")
    assert spans["verify"][0].status.code == Status.STATUS_CODE_ERROR
    # The caller's error is none of the service.
    assert spans[SUBMIT][0].status.code == Status.STATUS_CODE_UNSET
    assert attributes(spans[SUBMIT][0])["error.type"]


def test_a_check_is_traced_if_its_caller_samples(start, tmp_path, collector):
    service = start(arguments=traced(tmp_path, collector, sample_ratio=0))
    (sampled, yes), (unsampled, no) = parent(), parent(False)
    for headers in (no, {}, yes):
        check(service, metadata=list(headers.items()))
    [call] = collector.wait_for(sampled, CHECK)[CHECK]
    assert attributes(call)["rpc.grpc.status_code"] == 0
    assert {span.trace_id.hex() for span in collector.spans} == {sampled}
    assert unsampled not in service.log


def test_the_ratio_decides_alone_if_the_configuration_says_so(start, tmp_path, collector):
    service = start(arguments=traced(tmp_path, collector, sample_ratio=1, follow_parent=False, service_name="shop"))
    trace, headers = parent(False)
    check(service, metadata=list(headers.items()))
    collector.wait_for(trace, CHECK)
    assert {attributes(r.resource)["service.name"] for m in collector.messages for r in m.resource_spans} == {"shop"}


def test_strangers_cannot_have_their_requests_recorded(start, tmp_path, collector):
    arguments = traced(tmp_path, collector, sample_ratio=0)
    configuration = json.loads((tmp_path / "entitled.yaml").read_text())
    token = "ent_" + secrets.token_hex(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    configuration["callers"] = {"billing": {"roles": ["read"], "tokens": [f"sha256:{digest}"]}}
    (tmp_path / "entitled.yaml").write_text(json.dumps(configuration))
    service = start(arguments=arguments)
    for path in (f"notifications/{APP}", "verifyReceipt", f"app/v1/{APP}/sync", CHECK):
        post(f"http://{service.http}/{path}", {"signedPayload": "a.b.c"}, parent()[1])
    with service.channel() as channel:
        metadata = list(parent()[1].items())
        health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), metadata=metadata, timeout=CALL_LIMIT)
    with pytest.raises(grpc.RpcError) as error:
        check(service, metadata=list(parent()[1].items()))
    assert error.value.code() == grpc.StatusCode.UNAUTHENTICATED
    # The flag of a caller counts, and spans are exported in their order.
    trace, headers = parent()
    check(service, metadata=[*headers.items(), ("authorization", f"Bearer {token}")])
    collector.wait_for(trace, CHECK)
    assert {span.trace_id.hex() for span in collector.spans} == {trace}


def test_notifications_and_webhooks_are_traced(start, tmp_path, collector, webhook):
    service = start(arguments=traced(tmp_path, collector, {"crm": {"url": webhook.url}}))
    submit(service, {})
    webhook.wait(lambda r: r.accepted)
    collector.wait(lambda c: {"webhook", "store.read"} <= {span.name for span in c.spans})
    [span] = [span for span in collector.spans if span.name == "webhook"][:1]
    assert span.kind == Span.SPAN_KIND_CLIENT and attributes(span)["entitled.outcome"] == "delivered"
    header = re.fullmatch("00-([0-9a-f]{32})-([0-9a-f]{16})-01", webhook.accepted[0].headers["traceparent"])
    assert (header[1], header[2]) == (span.trace_id.hex(), span.span_id.hex())
    trace, headers = parent()
    post(f"http://{service.http}/notifications/{APP}", {"signedPayload": "a.b.c"}, headers)
    spans = collector.wait_for(trace, "POST /notifications/{app}", "verify", "store.write")
    [request] = spans["POST /notifications/{app}"]
    assert attributes(request)["http.route"] == "/notifications/{app}"
    assert spans["verify"][0].parent_span_id == request.span_id


def test_calls_to_apple_are_spans_and_carry_their_context(start, tmp_path, collector):
    seen = []
    apple = StubServer(unknown_transaction(seen))
    write_key(tmp_path / "key.p8")
    arguments = traced(tmp_path, collector)
    configuration = json.loads((tmp_path / "entitled.yaml").read_text())
    configuration["apps"][APP] |= {
        "in_app_purchase_key": {"file": "key.p8", "key_id": "ABCDE12345", "issuer_id": "x"},
        "app_store_servers": {"Sandbox": apple.url},
    }
    (tmp_path / "entitled.yaml").write_text(json.dumps(configuration))
    service = start(arguments=arguments)
    trace, headers = parent()
    status, _ = service.json(
        "entitled.v1.AppStoreService/RefreshPurchase", {"app": APP, "transactionId": "2000000000000000"}, **headers)
    assert status == 404
    spans = collector.wait_for(trace, "entitled.v1.AppStoreService/RefreshPurchase")
    calls = [span for name, found in spans.items() if name.startswith("app_store ") for span in found]
    assert calls and all(span.kind == Span.SPAN_KIND_CLIENT for span in calls)
    assert {attributes(span)["server.address"] for span in calls} == {apple.url.removeprefix("http://")}
    sent = {fields["traceparent"] for fields in seen if trace in fields.get("traceparent", "")}
    assert sent == {f"00-{trace}-{span.span_id.hex()}-01" for span in calls}
    apple.close()


def test_a_collector_that_is_away_costs_no_call_and_its_loss_is_counted(start, tmp_path, collector):
    collector.answer = lambda request: (503, {"retry-after": "2"})
    service = start(arguments=traced(tmp_path, collector, max_queued_spans=512))
    deadline = time.monotonic() + 60
    with service.channel() as channel:
        stub = contract.entitlement_stub(channel)
        # The queue fills up while a batch is tried again. It may be full before the first attempt has failed.
        while not (value(service, "entitled_trace_spans_dropped_total") and "trace export failed" in service.log):
            assert time.monotonic() < deadline, "no failed export was logged, or no span was counted as dropped"
            for number in range(100):
                request = wire.CheckRequest(app=APP, customer_id=f"customer-{number}", entitlement="pro")
                stub.Check(request, timeout=CALL_LIMIT)
    collector.answer = lambda request: 200
    collector.wait(lambda c: c.accepted)
    deadline = time.monotonic() + 60
    while not value(service, "entitled_trace_spans_exported_total") or "works again" not in service.log:
        assert time.monotonic() < deadline, service.log
    assert service.log.count("trace export failed") == 1


def test_the_last_spans_of_a_service_are_exported(start, tmp_path, collector):
    token = tmp_path / "headers"
    token.write_text("# for the collector\nAuthorization: Bearer collector-token\n")
    token.chmod(0o600)
    service = start(arguments=traced(tmp_path, collector, headers_file="headers"))
    check(service)
    service.stop()
    assert [span.name for span in collector.spans].count(CHECK) == 1
    assert {request.headers["authorization"] for request in collector.accepted} == {"Bearer collector-token"}
    assert "collector-token" not in service.log


@pytest.mark.parametrize("members, problem", [
    ({"endpoint": "collector:4318"}, "is not a URL"),
    ({"endpoint": "http://collector.example.com/v1/traces", "headers_file": "headers"}, "is not https"),
    ({"endpoint": "https://collector.example.com/v1/traces?key=1"}, "has a query"),
    ({"sample_ratio": 1.5}, "not a number from 0 to 1"),
    ({"max_queued_spans": 1}, "not between 512 and 1000000"),
    ({"headers_file": "missing"}, "missing"),
])  # fmt: skip
def test_the_check_names_faults_of_the_section(tmp_path, collector, members, problem):
    arguments = traced(tmp_path, collector, **members)
    done = run("config", "check", arguments[1])
    assert done.returncode != 0 and problem in done.stdout + done.stderr


def test_logs_and_request_ids_name_the_trace(start, tmp_path, collector):
    service = start(arguments=traced(tmp_path, collector))
    trace, headers = parent()
    body = json.dumps({"app": APP, "customerId": "ana", "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL"})
    request = urllib.request.Request(
        f"http://{service.http}/{GRANT}", body.encode(), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=CALL_LIMIT) as answer:
        request_id = answer.headers["x-request-id"]
    [call] = collector.wait_for(trace, GRANT)[GRANT]
    assert call.span_id.hex() == request_id
    assert f"request_id={request_id} trace_id={trace}" in service.log
