"""Apple answers what it should not: each time the caller is told what it was, and nothing is stored as true."""

import uuid

import pytest

import contract
from contract import StatusCode, app_store_service
from harness import CALL_LIMIT, Service
from test_apple_side import APP, World


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
    for kind in ["drop", "html", "empty", "truncated", "page-loop", "clock-off", "wrong-signature", "cut"]:
        world.act("faults", kind=kind, count=0)


def refresh(world, bought, patience=CALL_LIMIT):
    return world.apple.RefreshPurchase(
        app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought), timeout=patience)


@pytest.mark.parametrize("fault, reason, words", [
    ("html", "APP_STORE_ANSWER_NOT_JSON", "HTML"),
    ("empty", "APP_STORE_ANSWER_NOT_JSON", "empty"),
    ("truncated", "APP_STORE_ANSWER_NOT_JSON", ""),
    ("page-loop", "APP_STORE_PAGE_LOOP", "r_0"),
    ("clock-off", "CLOCK_IS_OFF", "clock is off by -35"),
])  # fmt: skip
def test_what_cannot_be_used_is_named(world, stale, fault, reason, words):
    customer, bought = stale
    world.act("faults", kind=fault, count=1000, by="1h")
    with pytest.raises(contract.RpcError) as refusal:
        refresh(world, bought)
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


def test_a_foreign_signature_is_kept_as_refused_and_changes_nothing(world, stale):
    customer, bought = stale
    world.act("faults", kind="wrong-signature", count=100)
    assert refresh(world, bought).changed == 0
    assert world.check(customer).entitled


def test_no_answer_in_time_is_told_in_time(world, stale):
    customer, bought = stale
    world.act("faults", kind="cut", count=100)
    with pytest.raises(contract.RpcError) as refusal:
        refresh(world, bought, patience=2)
    assert refusal.value.code() in (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED)
    assert world.check(customer).entitled
