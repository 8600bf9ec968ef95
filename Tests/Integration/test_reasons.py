"""Reasons of errors that no other test names: each is produced, with the code that the contract lists for it."""

import grpc
import pytest

import contract
from contract import app_store_service, entitlement_service
from harness import CALL_LIMIT, Service, post
from test_app_store import APP, World

FILTER = {"unclaimed": True}
REPORT = {"report": "mrr", "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("reasons"))
    yield service
    service.stop()


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
        ("ReportService/ListReportPurchases",
         {"app": APP, "query": REPORT, "column": "none", "bucket": REPORT["from"]}, ("invalid_argument", "UNKNOWN_COLUMN")),
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


def test_requests_of_connect_that_are_none_are_refused(service):
    wrong = refusal(service, "EntitlementService/Check", {"app": APP}, **{"connect-timeout-ms": "soon"})
    assert wrong == ("invalid_argument", "INVALID_REQUEST")
    # Without a codec that both know, there is no error in JSON: Connect's clients expect 415.
    status, _ = post(f"http://{service.http}/entitled.v1.EntitlementService/Check", b"{}", {"content-type": "text/plain"})
    assert status == 415


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
