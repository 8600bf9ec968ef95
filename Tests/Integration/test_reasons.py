"""Reasons of errors that no other test names: each is produced, with the code that the contract lists for it."""

import json
import re
import urllib.request

import grpc
import pytest

import contract
import reasons
import stores
from contract import app_store_service, entitlement_service, report_service
from harness import CALL_LIMIT, ROOT, Service, post, wait_for
from test_app_store import APP, World

DAY = 86_400_000
FILTER = {"unclaimed": True}
REPORT = {"report": "mrr", "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-02T00:00:00Z"}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("reasons"))
    yield service
    service.stop()


def test_every_reason_of_the_contract_is_in_the_code_and_in_a_test():
    """test_openapi.py has the reverse: the contract lists every reason of the code."""
    listed = set().union(*(reasons.of(s.full_name, m.name) for s in contract.services.values() for m in s.methods))
    listed = {reason for reason in listed if not reason.endswith("*")}
    code = [file for file in ROOT.glob("Sources/**/*.swift") if "Generated" not in file.parts]
    tests = [file for kind in ("py", "swift") for file in ROOT.glob(f"Tests/**/*.{kind}")]
    for files, word in ((code, r'"([A-Z0-9_]+)"'), (tests, r"\b([A-Z0-9_]+)\b")):
        found = set().union(*(re.findall(word, file.read_text(encoding="utf-8")) for file in files))
        assert listed <= found, listed - found


def refusal(service, method, members, **headers):
    """The code and the reason of a refused call as JSON."""
    status, answer = service.json(f"entitled.v1.{method}", members, **headers)
    assert status >= 400, answer
    return answer["code"], next(d["debug"]["reason"] for d in answer["details"] if d["type"] == "google.rpc.ErrorInfo")


@pytest.mark.parametrize(
    ("method", "members", "refused"),
    [
        ("EntitlementService/BatchCheck", {"checks": [{}] * 1_001}, ("invalid_argument", "TOO_MANY_CHECKS")),
        ("EntitlementService/IssueToken", {"app": APP, "customerId": "ana"}, ("failed_precondition", "NO_TOKEN_KEYS")),
        ("ReceiptService/SignOffer",
         {"app": APP, "customerId": "ana", "form": "OFFER_SIGNATURE_FORM_PROMOTIONAL_JWS", "productId": "pro.monthly",
          "offerIdentifier": "back"}, ("failed_precondition", "NO_SIGNING_KEY")),
        ("ReportService/ListReportPurchases",
         {"app": APP, "query": REPORT, "column": "none", "bucket": REPORT["startTime"]}, ("invalid_argument", "UNKNOWN_COLUMN")),
        ("AppStoreService/SetConsumptionConsent", {"app": APP, "customerId": "ana"}, ("invalid_argument", "MISSING_FIELD")),
        ("SegmentService/DeleteSegment", {"app": APP, "name": "none"}, ("not_found", "UNKNOWN_SEGMENT")),
        ("SegmentService/ListCustomers", {"app": APP, "segment": "none"}, ("not_found", "UNKNOWN_SEGMENT")),
    ],
)  # fmt: skip
def test_a_request_is_refused_with_its_reason(service, method, members, refused):
    assert refusal(service, method, members) == refused


def test_segments_are_limited_by_name_and_number(service):
    def create(name, filter):
        return {"app": APP, "environment": "ENVIRONMENT_SANDBOX", "name": name, "filter": filter}

    for number in range(100):
        assert service.json("entitled.v1.SegmentService/CreateSegment", create(f"s{number}", FILTER))[0] == 200
    assert refusal(service, "SegmentService/CreateSegment", create("s0", {})) == ("already_exists", "SEGMENT_EXISTS")
    assert refusal(service, "SegmentService/CreateSegment", create("another", FILTER)) == (
        "resource_exhausted", "TOO_MANY_SEGMENTS")  # fmt: skip


def configured(folder, environments, products):
    """Arguments for a service of one app with these products, as YAML."""
    lines = "".join(f"      {name}: {product}\n" for name, product in products.items())
    (folder / "entitled.yaml").write_text(
        f"apps:\n  {APP}:\n    bundle_id: com.example.oceanjournal\n    apple_id: 1234567890\n"
        f"    environments: [{environments}]\n    products:\n{lines}", encoding="utf-8")
    return ["--config", folder / "entitled.yaml"]


def test_without_a_device_check_key_no_method_calls_apple(start, tmp_path):
    products = {"lifetime": "{type: Non-Consumable, entitlements: [pro], price: 4.99, currency: USD}"}
    service = start(arguments=configured(tmp_path, "Production", products))
    for method, members in (("ValidateDeviceToken", {}), ("QueryDeviceBits", {}), ("UpdateDeviceBits", {"bit0": True, "bit1": True})):
        request = {"app": APP, "deviceToken": "cGhvbmU=", **members}
        assert refusal(service, f"DeviceCheckService/{method}", request) == ("failed_precondition", "NO_DEVICE_CHECK_KEY")


def test_a_stored_response_that_cannot_be_decoded_is_reported(start):
    service = start()
    request = {"app": APP, "customerId": "ana", "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL", "idempotencyKey": "k"}
    status, granted = service.json("entitled.v1.EntitlementService/Grant", request)
    assert status == 200, granted
    stores.execute(service.data, "UPDATE idempotency SET response = " + ("X'FF'" if stores.IS_SQLITE else r"'\xff'"))
    assert refusal(service, "EntitlementService/Grant", request) == ("data_loss", "STORED_RESPONSE_MALFORMED")
    status, customer = service.json("entitled.v1.EntitlementService/GetCustomer", {"app": APP, "customerId": "ana"})
    assert status == 200 and len(customer["grants"]) == 1, "the call did not grant again"


def test_a_report_with_too_many_rows_is_exported(start, tmp_path):
    # Each of 14 products has a row for each of 800 days, because its buyer owns it on all of them.
    names = [f"volume.{number}" for number in range(14)]
    product = "{type: Non-Consumable, entitlements: [pro], price: 4.99, currency: USD}"
    service = start(arguments=configured(tmp_path, "Sandbox", dict.fromkeys(names, product)))
    with urllib.request.urlopen(f"http://{service.sandbox}/sandbox/v1/clock", timeout=CALL_LIMIT) as answer:
        today = json.load(answer)["milliseconds"] // DAY * DAY
    for name in names:
        bought = service.buy(name)["signedTransactionInfo"]
        request = {"app": APP, "customerId": "ana", "signedTransaction": bought}
        status, answer = service.json("entitled.v1.ReceiptService/SubmitTransaction", request)
        assert status == 200, answer
    query = report_service.ReportQuery(report="subscriptions", group_by=[report_service.REPORT_DIMENSION_PRODUCT])
    query.start_time.FromMilliseconds(today)
    query.end_time.FromMilliseconds(today + 800 * DAY)
    with service.channel() as channel:
        reports = contract.report_stub(channel)

        def lines():
            request = report_service.ExportReportRequest(app=APP, query=query, format=report_service.REPORT_FORMAT_CSV)
            exported = reports.ExportReport(request, timeout=CALL_LIMIT)
            return b"".join(part.chunk for part in exported).count(b"\n")

        # The worker derives the postings after the calls.
        wait_for(lambda: lines() == 1 + len(names) * 800)
        with pytest.raises(grpc.RpcError) as error:
            reports.QueryReport(report_service.QueryReportRequest(app=APP, query=query), timeout=CALL_LIMIT)
    assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and contract.reason(error.value) == "TOO_MANY_ROWS"


def test_requests_of_connect_that_are_none_are_refused(service):
    wrong = refusal(service, "EntitlementService/Check", {"app": APP}, **{"connect-timeout-ms": "soon"})
    assert wrong == ("invalid_argument", "INVALID_REQUEST")
    # Connect's clients expect 415 without a codec that both know. Types that browsers send across origins get no details.
    url = f"http://{service.http}/entitled.v1.EntitlementService/Check"
    assert post(url, b"{}", {"content-type": "text/plain"})[0] == 415
    status, answer = post(url, b"{}", {"content-type": "application/xml"})
    assert (status, answer["details"][0]["debug"]["reason"]) == (415, "UNSUPPORTED_CONTENT_TYPE")


def test_a_stream_after_an_event_that_there_is_not_is_refused(service):
    with service.channel() as channel, pytest.raises(grpc.RpcError) as error:
        request = entitlement_service.WatchRequest(app=APP, after_sequence=1_000)
        next(contract.entitlement_stub(channel).Watch(request, timeout=CALL_LIMIT))
    assert error.value.code() is grpc.StatusCode.OUT_OF_RANGE and contract.reason(error.value) == "UNKNOWN_SEQUENCE"


def test_a_purchaser_gets_no_seat_and_an_unknown_seat_is_not_released(start):
    world = World(start())
    world.act("invitations", app=APP, productId="pro.monthly", management="DEVELOPER")
    bought = world.act(
        "purchases", app=APP, productId="pro.monthly", account="owner", seats=3)
    contract.receipt_stub(world.channel).SubmitTransaction(
        contract.receipt_service.SubmitTransactionRequest(
            app=APP, customer_id="owner", signed_transaction=bought["signedTransactionInfo"]), timeout=CALL_LIMIT)
    purchase = {"app": APP, "original_transaction_id": bought["transactionId"]}
    for call, request, reason in (
        (world.apple.ClaimSeat, app_store_service.ClaimSeatRequest(customer_id="owner", request_identifier="1", **purchase),
         "ALREADY_PURCHASER"),
        (world.apple.UnclaimSeat, app_store_service.UnclaimSeatRequest(seat_id="none", **purchase), "UNKNOWN_SEAT"),
    ):  # fmt: skip
        with pytest.raises(grpc.RpcError) as error:
            call(request, timeout=CALL_LIMIT)
        assert contract.reason(error.value) == reason
    world.channel.close()
