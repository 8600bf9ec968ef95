"""Logs: JSON format, trace ids of calls, no secrets."""
import json
import os
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request

import grpc
import pytest
import yaml

import contract
import stores
from certificates import write_key
from contract import app_store_service, receipt_service
from contract import entitlement_service as wire
from harness import CALL_LIMIT, PROGRAM, Service, post, wait_for
from raw import Connection
from stub import StubServer, unknown_transaction
from test_callers import APPS, CALLERS, GRANT, call, grant, rejected, token

APP = "ocean-journal"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def service(tmp_path):
    (tmp_path / "entitled.yaml").write_text(APPS + CALLERS + "log: {format: json, level: debug}\n")
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    yield service
    service.kill()


def entries(service):
    return parsed(service.log.splitlines())


def parsed(lines):
    return [json.loads(line) for line in lines if line.startswith("{")]


def logged(service, **members):
    """The first line with these members; it may be printed after the response."""
    deadline = time.monotonic() + CALL_LIMIT
    while True:
        found = [entry for entry in entries(service) if members.items() <= entry.items()]
        if found:
            return found[0]
        assert time.monotonic() < deadline, service.log
        time.sleep(0.02)


def audited(service, **members):
    return logged(service, logger="entitled.audit", **members)


def test_the_log_has_the_version_after_the_start(service):
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    assert logged(service, message="started", logger="entitled", level="info")["version"] == version


def test_a_process_with_one_core_has_one_event_loop(tmp_path):
    # The affinity of the process passes to its children.
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        service = Service(tmp_path / "data")
    finally:
        os.sched_setaffinity(0, cores)
    try:
        assert " cores=1 event_loops=1 " in service.log + " ", service.log
    finally:
        service.kill()


def test_every_line_is_json_and_a_call_logs_its_trace(service):
    metadata = [("traceparent", f"00-{TRACE}-00f067aa0ba902b7-01"),
                ("authorization", f"Bearer {token('operate')}")]  # fmt: skip
    with service.channel() as channel:
        answer, made = contract.entitlement_stub(channel).Grant.with_call(
            wire.GrantRequest(app=APP, customer_id="ana", entitlement="pro", access_level="ACCESS_LEVEL_FULL",
                              actor="sam"),
            metadata=metadata, timeout=CALL_LIMIT)
    [request_id] = [value for key, value in made.trailing_metadata() if key == "x-request-id"]
    assert re.fullmatch("[0-9a-f]{16}", request_id) and request_id != "00f067aa0ba902b7"
    entry = audited(service, trace_id=TRACE)
    assert (entry["request_id"], entry["caller"], entry["customer"]) == (request_id, "operate", ["ana"])
    assert (entry["method"], entry["outcome"], entry["level"]) == (GRANT, "OK", "info")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry["time"])
    call(service, GRANT, grant(actor="untraced"), token("operate"))
    assert audited(service, actor="untraced")["trace_id"] not in (TRACE, "0" * 32)
    service.stop()
    lines = [line for line in service.log.splitlines() if line]
    assert len(entries(service)) >= len(lines) - 12, "only the announcement is plain text"


def test_the_log_does_not_contain_the_configuration(service):
    service.stop()
    assert entries(service)
    assert not re.search("ServiceConfiguration|sha256", service.log)


def test_a_failed_call_returns_the_request_id_of_its_log_line(service):
    bearer = ("authorization", f"Bearer {token('operate')}")
    with service.channel() as channel, pytest.raises(grpc.RpcError) as error:
        contract.entitlement_stub(channel).Grant(
            wire.GrantRequest(app=APP, customer_id="ana", entitlement="no such", access_level="ACCESS_LEVEL_FULL",
                              actor="lee"),
            metadata=[bearer], timeout=CALL_LIMIT)
    [request_id] = [value for key, value in error.value.trailing_metadata() if key == "x-request-id"]
    entry = audited(service, actor="lee")
    assert (entry["request_id"], entry["outcome"]) == (request_id, error.value.code().name)
    # A call rejected before its body is read; and over HTTP, where fields have the same name.
    for actor, members, bearer in (("kim", {}, token("read")), ("max", {"entitlement": "no such"}, token("operate"))):
        body = json.dumps({"app": APP, "customerId": "ana", "actor": actor, **members}).encode()
        request = urllib.request.Request(
            f"http://{service.http}{GRANT}", body,
            {"content-type": "application/json", "authorization": f"Bearer {bearer}"})  # fmt: skip
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request, timeout=CALL_LIMIT)
        assert audited(service, request_id=error.value.headers["x-request-id"])["method"] == GRANT
        error.value.close()


def test_the_trace_context_is_sent_to_apple(tmp_path):
    seen = []
    apple = StubServer(unknown_transaction(seen))
    write_key(tmp_path / "key.p8")
    configuration = yaml.safe_load(APPS)
    configuration["apps"][APP] |= {
        "in_app_purchase_key": {"file": "key.p8", "key_id": "ABCDE12345", "issuer_id": "x"},
        "app_store_servers": {"Sandbox": apple.url},
    }
    (tmp_path / "entitled.yaml").write_text(yaml.safe_dump(configuration))
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    message = app_store_service.RefreshPurchaseRequest(
        app=APP, transaction_id="2000000000000000").SerializeToString()
    error = rejected(service, "/entitled.v1.AppStoreService/RefreshPurchase", message,
                    metadata=[("traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")])  # fmt: skip
    assert error.code() == grpc.StatusCode.NOT_FOUND
    assert seen
    for fields in seen:
        assert re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", fields["traceparent"])
    service.stop()
    apple.close()


def test_a_store_error_is_logged_and_hidden_from_callers(service):
    stores.execute(service.data, "ALTER TABLE evidence RENAME TO lost")
    problem = "no such table" if stores.IS_SQLITE else 'relation "evidence" does not exist'
    error = rejected(service, GRANT, grant(), token("operate"))
    assert (error.code(), contract.reason(error)) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
    assert error.details() == "the store cannot be used; see the server's log"
    assert problem in audited(service, method=GRANT, outcome="UNAVAILABLE")["error"]
    status, answer = post(f"http://{service.http}/notifications/{APP}", {"signedPayload": "x"})
    assert (status, answer["reason"]) == (503, "TRY_AGAIN"), "Apple sends the notification again"
    entry = logged(service, method="POST /notifications/{app}")
    assert problem in entry["error"] and (entry["level"], entry["app"]) == ("warning", APP)


def test_no_endpoint_logs_a_secret(service, tmp_path):
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    secrets = [document, document[:-8] + "AAAAAAAA", "MII" + "A" * 200, token("read"), token("wrong")]
    for secret in secrets:
        for bearer in (token("submit"), token("admin"), token("wrong"), secret):
            message = receipt_service.SubmitTransactionRequest(
                app=APP, customer_id="ana", signed_transaction=secret).SerializeToString()
            try:
                call(service, "/entitled.v1.ReceiptService/SubmitTransaction", message, bearer)
            except grpc.RpcError:
                pass
        message = receipt_service.InspectRequest(app=APP, document=secret).SerializeToString()
        call(service, "/entitled.v1.ReceiptService/Inspect", message, token("read"))
        rejected(service, GRANT, grant(), metadata=[("authorization", f"Basic {secret}")])
    service.stop()
    for secret in secrets:
        for start in range(0, len(secret) - 40, 40):
            assert secret[start:start + 40] not in service.log
    assert "eyJ" not in service.log


def test_a_reader_of_the_log_that_stops_reading_stops_no_call(tmp_path):
    (tmp_path / "entitled.yaml").write_text(APPS + "log: {format: json}\n")
    reading, writing = os.pipe()
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"], errors=writing)
    os.close(writing)
    lines = []

    def read_lines():
        with open(reading, encoding="utf-8") as log:
            for line in log:
                lines.append(line)

    def refused_grant(actor):
        # Each has a line of the audit log.
        request = wire.GrantRequest(app=APP, customer_id="c" * 256, entitlement="no such", actor=actor)
        assert connection.call(request.SerializeToString(), path=GRANT).status == grpc.StatusCode.NOT_FOUND.value[0]

    lost = "entitled_log_lines_lost_total"
    check = wire.CheckRequest(app=APP, customer_id="ana", entitlement="pro").SerializeToString()
    try:
        with Connection(service.grpc) as connection:
            calls = 0
            # The pipe holds 64 KiB, and 1 MiB of lines wait.
            while service.metrics()[lost] == 0:
                for _ in range(100):
                    refused_grant("a" * 256)
                assert connection.call(check).status == 0
                calls += 100
                assert calls < 20_000, "no line was lost"
            before = service.metrics()[lost]
            for _ in range(100):
                refused_grant("a" * 256)
            assert service.metrics()[lost] > before
            assert connection.call(check).status == 0 and service.readiness()[0] == 200

            threading.Thread(target=read_lines, daemon=True).start()
            reports = wait_for(lambda: [e for e in parsed(list(lines)) if e["message"] == "log lines dropped"])
            assert sum(int(entry["lines"]) for entry in reports) == service.metrics()[lost]
            refused_grant("afterwards")
            wait_for(lambda: [e for e in parsed(list(lines)) if e.get("actor") == "afterwards"])
        service.stop()
    finally:
        service.kill()
