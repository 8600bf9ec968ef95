"""Apple answers what it should not: each time the caller is told what it was, and nothing is stored as true."""

import contextlib
import json
import sqlite3
import urllib.request
import uuid

import grpc
import pytest

import contract
from contract import StatusCode, app_store_service
from harness import CALL_LIMIT, Service
from test_apple_side import APP, World
from test_repair import until


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("bad"))
    world = World(service)
    yield world
    world.channel.close()
    service.stop()


@pytest.fixture
def stale(world):
    """A customer of whose refund the service does not know yet, and the purchase."""
    customer = str(uuid.uuid4())
    bought = world.buy(customer)
    world.deliver()
    world.act("faults", kind="drop", count=100)
    world.act("refund", transactionId=bought, reason="OTHER")
    world.deliver()
    assert world.check(customer).entitled
    yield customer, bought
    # A success at the end, so that failures do not add up to a host that is left alone.
    for kind in ["drop", "html", "empty", "truncated", "page-loop", "clock-off", "wrong-signature", "foreign-chain", "server-error",
                 "cut"]:
        world.act("faults", kind=kind, count=0)
    refresh(world, bought)


def refresh(world, bought, patience=CALL_LIMIT):
    return world.apple.RefreshPurchase(
        app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought), timeout=patience)


@pytest.mark.parametrize("fault, reason, words, calls", [
    ("html", "APP_STORE_RESPONSE_NOT_JSON", "HTML", 4),
    ("empty", "APP_STORE_RESPONSE_NOT_JSON", "empty", 4),
    ("truncated", "APP_STORE_RESPONSE_NOT_JSON", "", 4),
    ("server-error", "APP_STORE_5000000", "", 4),
    # The second page says the same place again.
    ("page-loop", "APP_STORE_PAGE_LOOP", "r_0", 2),
    ("clock-off", "CLOCK_SKEW", "clock is off by -35", 1),
])  # fmt: skip
def test_what_cannot_be_used_is_named_and_asked_again_where_that_can_help(
        world, stale, fault, reason, words, calls):
    customer, bought = stale
    world.act("faults", kind=fault, count=1000, by="1h")
    before = counted(world, "transactionHistory")
    with pytest.raises(contract.RpcError) as refusal:
        refresh(world, bought)
    assert counted(world, "transactionHistory") == before + calls
    assert contract.reason(refusal.value) == reason
    assert words in refusal.value.details()
    if fault == "page-loop":
        return  # the first page was whole and signed, and counts
    assert world.check(customer).entitled, "nothing of it is believed"
    world.act("faults", kind=fault, count=0)
    refresh(world, bought)
    assert not world.check(customer).entitled, "once Apple answers as it should, it counts"


@pytest.mark.parametrize("fault", ["html", "empty", "truncated"])
def test_what_may_be_better_the_next_time_is_asked_again(world, stale, fault):
    customer, bought = stale
    world.act("faults", kind=fault, count=2)
    refresh(world, bought)
    assert not world.check(customer).entitled


@pytest.mark.parametrize("fault, rejection", [
    ("wrong-signature", "BAD_SIGNATURE"),
    ("foreign-chain", "UNTRUSTED_ROOT"),
])  # fmt: skip
def test_a_foreign_signature_is_named_kept_as_refused_and_changes_nothing(world, stale, fault, rejection):
    customer, bought = stale
    world.act("faults", kind=fault, count=1000)
    calls = counted(world, "transactionHistory")
    with pytest.raises(contract.RpcError) as refusal:
        refresh(world, bought)
    assert contract.reason(refusal.value) == "APP_STORE_RESPONSE_NOT_GENUINE"
    assert contract.details(refusal.value)["ErrorInfo"].metadata["rejection"] == rejection
    assert "RetryInfo" not in contract.details(refusal.value)
    assert counted(world, "transactionHistory") == calls + 1, "asking again cannot help"
    assert world.check(customer).entitled, "nothing of it is believed"
    assert {row[1] for row in rejected(world)} == {rejection}
    world.act("faults", kind=fault, count=0)
    refresh(world, bought)
    assert not world.check(customer).entitled, "once Apple answers as it should, it counts"


def counted(world, endpoint, more=""):
    """How many calls of Apple's there were, whatever came of them."""
    with urllib.request.urlopen(f"http://{world.service.http}/metrics", timeout=CALL_LIMIT) as page:
        lines = page.read().decode().splitlines()
    return sum(
        float(line.rpartition(" ")[2]) for line in lines
        if line.startswith("entitled_app_store_calls_total{") and f'endpoint="{endpoint}"' in line and more in line)


def rejected(world):
    """The evidence that was refused last: its number, and why."""
    path = f"file:{world.service.data / 'entitled.sqlite'}?mode=ro"
    with contextlib.closing(sqlite3.connect(path, uri=True)) as store:
        query = "SELECT evidence_id, rejection FROM evidence WHERE rejection <> '' ORDER BY evidence_id DESC LIMIT 2"
        return store.execute(query).fetchall()


def in_flight(world):
    """How often the sandbox was asked for a history."""
    with urllib.request.urlopen(f"http://{world.service.sandbox}/sandbox/v1/calls", timeout=CALL_LIMIT) as answer:
        return json.load(answer).get("v2/history", {}).get("asked", 0)


def ended(world, outcome):
    """How many calls for a history ended like that."""
    return counted(world, "transactionHistory", f'outcome="{outcome}"')


@pytest.mark.parametrize("gives_up", ["cancel", "deadline"])
def test_a_caller_who_goes_takes_the_call_to_apple_along(world, stale, gives_up):
    customer, bought = stale
    asked, before = in_flight(world), {outcome: ended(world, outcome) for outcome in ("cancelled", "timed_out")}
    world.act("faults", kind="slow", count=1, by="30s")
    call = world.apple.RefreshPurchase.future(
        app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought),
        timeout=CALL_LIMIT if gives_up == "cancel" else 2)
    until(lambda: in_flight(world) == asked + 1)
    assert {outcome: ended(world, outcome) for outcome in before} == before, "Apple has not answered yet"
    if gives_up == "cancel":
        call.cancel()
    # Long before Apple would answer; and nobody asks again for somebody who has gone.
    outcomes = until(lambda: [name for name in before if ended(world, name) == before[name] + 1])
    assert len(outcomes) == 1 and (gives_up == "deadline" or outcomes == ["cancelled"])
    assert in_flight(world) == asked + 1
    assert world.check(customer).entitled
    with pytest.raises((contract.RpcError, grpc.FutureCancelledError)):
        call.result()


def test_no_answer_in_time_is_told_in_time(world, stale):
    customer, bought = stale
    world.act("faults", kind="cut", count=100)
    with pytest.raises(contract.RpcError) as refusal:
        refresh(world, bought, patience=2)
    assert refusal.value.code() in (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED)
    assert world.check(customer).entitled
