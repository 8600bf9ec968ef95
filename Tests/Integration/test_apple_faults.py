"""Faulty App Store responses: the caller gets the cause, and nothing is stored as accepted."""
import json
import urllib.request
import uuid

import grpc
import pytest

import contract
import stores
from contract import StatusCode, app_store_service
from harness import CALL_LIMIT, Service, wait_for
from test_app_store import APP, World


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("bad"))
    world = World(service)
    yield world
    world.channel.close()
    service.stop()


@pytest.fixture
def stale(world):
    """A customer whose refund the service has not received yet, and the purchase."""
    customer = str(uuid.uuid4())
    bought = world.lose_refund(customer)
    assert world.check(customer).entitled
    yield customer, bought
    # A success at the end, so that failures do not add up to an open circuit breaker.
    for kind in ["drop", "html", "empty", "truncated", "page-loop", "clock-off", "wrong-signature", "foreign-chain", "server-error",
                 "cut"]:
        world.act("faults", kind=kind, count=0)
    refresh(world, bought)


def refresh(world, bought, timeout=CALL_LIMIT):
    return world.apple.RefreshPurchase(
        app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought), timeout=timeout)


@pytest.mark.parametrize("fault, reason, words, calls", [
    ("html", "APP_STORE_RESPONSE_NOT_JSON", "HTML", 4),
    ("empty", "APP_STORE_RESPONSE_NOT_JSON", "empty", 4),
    ("truncated", "APP_STORE_RESPONSE_NOT_JSON", "", 4),
    ("server-error", "APP_STORE_5000000", "", 4),
    # The second page repeats the revision token of the first.
    ("page-loop", "APP_STORE_PAGE_LOOP", "r_0", 2),
    ("clock-off", "CLOCK_SKEW", "clock is off by -35", 1),
])  # fmt: skip
def test_unusable_responses_are_reported_and_retried_where_useful(
        world, stale, fault, reason, words, calls):
    customer, bought = stale
    world.act("faults", kind=fault, count=1000, by="1h")
    before = counted(world, "transactionHistory")
    with pytest.raises(contract.RpcError) as error:
        refresh(world, bought)
    assert counted(world, "transactionHistory") == before + calls
    assert contract.reason(error.value) == reason
    assert words in error.value.details()
    if fault == "page-loop":
        return  # the first page was complete and signed, so it is ingested
    assert world.check(customer).entitled, "nothing of the faulty response is stored"
    world.act("faults", kind=fault, count=0)
    refresh(world, bought)
    assert not world.check(customer).entitled, "Apple's correct response is ingested"


@pytest.mark.parametrize("fault", ["html", "empty", "truncated"])
def test_transient_faults_are_retried(world, stale, fault):
    customer, bought = stale
    world.act("faults", kind=fault, count=2)
    refresh(world, bought)
    assert not world.check(customer).entitled


@pytest.mark.parametrize("fault, rejection", [
    ("wrong-signature", "BAD_SIGNATURE"),
    ("foreign-chain", "UNTRUSTED_ROOT"),
])  # fmt: skip
def test_a_foreign_signature_is_reported_and_stored_as_rejected(world, stale, fault, rejection):
    customer, bought = stale
    world.act("faults", kind=fault, count=1000)
    calls = counted(world, "transactionHistory")
    with pytest.raises(contract.RpcError) as error:
        refresh(world, bought)
    assert contract.reason(error.value) == "APP_STORE_RESPONSE_NOT_GENUINE"
    assert contract.details(error.value)["ErrorInfo"].metadata["rejection"] == rejection
    assert "RetryInfo" not in contract.details(error.value)
    assert counted(world, "transactionHistory") == calls + 1, "a retry is pointless"
    assert world.check(customer).entitled, "nothing of the rejected response is applied"
    assert {row[1] for row in rejected(world)} == {rejection}
    world.act("faults", kind=fault, count=0)
    refresh(world, bought)
    assert not world.check(customer).entitled, "Apple's correct response is ingested"


def counted(world, endpoint, more=""):
    """The number of calls to Apple, whatever their outcome."""
    with urllib.request.urlopen(f"http://{world.service.http}/metrics", timeout=CALL_LIMIT) as page:
        lines = page.read().decode().splitlines()
    return sum(
        float(line.rpartition(" ")[2]) for line in lines
        if line.startswith("entitled_app_store_calls_total{") and f'endpoint="{endpoint}"' in line and more in line)


def rejected(world):
    """The latest rejected evidence: its id and reason."""
    query = "SELECT evidence_id, rejection FROM evidence WHERE rejection <> '' ORDER BY evidence_id DESC LIMIT 2"
    return stores.query(world.service.data, query)


def in_flight(world):
    """The number of history requests that the sandbox received."""
    with urllib.request.urlopen(f"http://{world.service.sandbox}/sandbox/v1/calls", timeout=CALL_LIMIT) as answer:
        return json.load(answer).get("v2/history", {}).get("asked", 0)


def ended(world, outcome):
    """The number of history calls with this outcome."""
    return counted(world, "transactionHistory", f'outcome="{outcome}"')


@pytest.mark.parametrize("ended_by", ["cancel", "deadline"])
def test_a_cancelled_call_cancels_the_call_to_apple(world, stale, ended_by):
    customer, bought = stale
    requested, before = in_flight(world), {outcome: ended(world, outcome) for outcome in ("cancelled", "timed_out")}
    world.act("faults", kind="slow", count=1, by="30s")
    call = world.apple.RefreshPurchase.future(
        app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought),
        timeout=CALL_LIMIT if ended_by == "cancel" else 2)
    wait_for(lambda: in_flight(world) == requested + 1)
    assert {outcome: ended(world, outcome) for outcome in before} == before, "Apple has not responded yet"
    if ended_by == "cancel":
        call.cancel()
    # Long before Apple would respond; a cancelled call is not retried.
    outcomes = wait_for(lambda: [name for name in before if ended(world, name) == before[name] + 1])
    assert len(outcomes) == 1 and (ended_by == "deadline" or outcomes == ["cancelled"])
    assert in_flight(world) == requested + 1
    assert world.check(customer).entitled
    with pytest.raises((contract.RpcError, grpc.FutureCancelledError)):
        call.result()


def test_a_call_fails_at_its_deadline_if_apple_does_not_respond(world, stale):
    customer, bought = stale
    world.act("faults", kind="cut", count=100)
    with pytest.raises(contract.RpcError) as error:
        refresh(world, bought, timeout=2)
    assert error.value.code() in (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED)
    assert world.check(customer).entitled
