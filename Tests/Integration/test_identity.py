"""Whose purchases are, over gRPC: claims, links, transfers, merges, grants, and the end of a customer."""

import contextlib
import sqlite3
import uuid

import grpc
import pytest

import contract
from contract import StatusCode, receipt_service
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service

APP = "ocean-journal"


class Desk:
    """One service and short words for what is asked of it."""

    def __init__(self, service):
        self.service = service
        self.channel = service.channel()
        self.entitlements = contract.entitlement_stub(self.channel)
        self.receipts = contract.receipt_stub(self.channel)

    def ask(self, method, **members):
        message = getattr(wire, f"{method}Request")(app=APP, **members)
        return getattr(self.entitlements, method)(message, timeout=CALL_LIMIT)

    def buy(self, customer, product="pro.monthly", **order):
        """Buys and submits; returns the number of the purchase line."""
        document = self.service.buy(product, **order)["signedTransactionInfo"]
        answer = self.receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=customer, signed_transaction=document), timeout=CALL_LIMIT)
        assert answer.customer_id == customer or not customer
        return answer.transaction.original_transaction_id

    def is_entitled(self, customer):
        return self.ask("Check", customer_id=customer, entitlement="pro").entitled

    def unclaimed(self):
        return [t.original_transaction_id for t in self.ask("ListUnclaimedPurchases").transactions]


@pytest.fixture
def desk(tmp_path):
    service = Service(tmp_path / "data")
    desk = Desk(service)
    yield desk
    desk.channel.close()
    service.kill()


def refusal(call):
    with pytest.raises(grpc.RpcError) as error:
        call()
    return error.value.code(), contract.reason(error.value)


def test_a_purchase_of_nobody_waits_and_is_linked(desk):
    line = desk.buy("")
    assert desk.unclaimed() == [line]
    linked = desk.ask("LinkPurchase", customer_id="ana", original_transaction_id=line, actor="support")
    assert linked.transfer_id and not linked.previous_customer_id
    assert [event.customer_id for event in linked.events] == ["ana"]
    assert desk.is_entitled("ana") and not desk.unclaimed()


def test_the_token_tells_whose_it_is(desk):
    token = str(uuid.uuid4())
    first = desk.buy("", appAccountToken=token)
    assert desk.unclaimed() == [first]
    desk.buy("ana", "lifetime", appAccountToken=token)
    assert not desk.unclaimed()
    customer = desk.ask("GetCustomer", customer_id="ana")
    assert {p.product_id for p in customer.products if p.latest_transaction.transaction_id} == {
        "pro.monthly", "lifetime"}  # fmt: skip


def test_both_sides_of_a_transfer_change_at_once_and_back(desk):
    line = desk.buy("ana")
    request = {"original_transaction_id": line, "from_customer_id": "ana", "to_customer_id": "ben"}
    rehearsed = desk.ask("TransferPurchase", dry_run=True, **request)
    assert not rehearsed.transfer_id and len(rehearsed.events) == 2 and desk.is_entitled("ana")
    moved = desk.ask("TransferPurchase", actor="support", note="wrong account", **request)
    assert [event.customer_id for event in moved.events] == ["ana", "ben"]
    assert moved.events[1].sequence == moved.events[0].sequence + 1
    assert {event.type for event in moved.events} == {"TRANSFERRED"}
    assert (desk.is_entitled("ana"), desk.is_entitled("ben")) == (False, True)
    desk.ask("UndoTransfer", transfer_id=moved.transfer_id, actor="support")
    assert (desk.is_entitled("ana"), desk.is_entitled("ben")) == (True, False)
    undo = lambda: desk.ask("UndoTransfer", transfer_id=moved.transfer_id)  # noqa: E731
    assert refusal(undo) == (StatusCode.FAILED_PRECONDITION, "TRANSFER_CONFLICT")


def test_a_policy_decides_about_what_belongs_to_somebody(desk):
    line = desk.buy("ana")
    link = {"customer_id": "ben", "original_transaction_id": line}
    assert refusal(lambda: desk.ask("LinkPurchase", **link)) == (
        StatusCode.FAILED_PRECONDITION, "OWNED_BY_ANOTHER_CUSTOMER")  # fmt: skip
    desk.ask("LinkPurchase", policy=wire.OWNERSHIP_POLICY_SHARE, **link)
    assert desk.is_entitled("ana") and desk.is_entitled("ben")


@pytest.mark.parametrize(
    "method, members, expected",
    [
        ("LinkPurchase", {"customer_id": "ana", "original_transaction_id": "9"},
         (StatusCode.NOT_FOUND, "UNKNOWN_PURCHASE")),
        ("LinkPurchase", {"customer_id": "ana"}, (StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")),
        ("UndoTransfer", {"transfer_id": "transfer-77"}, (StatusCode.NOT_FOUND, "UNKNOWN_TRANSFER")),
        ("RevokeGrant", {"grant_id": "grant-77"}, (StatusCode.NOT_FOUND, "UNKNOWN_GRANT")),
        ("EraseCustomer", {"customer_id": "stranger"}, (StatusCode.NOT_FOUND, "UNKNOWN_CUSTOMER")),
        ("MergeCustomers", {"from_customer_id": "ana", "into_customer_id": "ana"},
         (StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")),
        ("Grant", {"customer_id": "ana", "entitlement": "gold"},
         (StatusCode.NOT_FOUND, "UNKNOWN_ENTITLEMENT")),
        ("ListTimeline", {"customer_id": "ana", "page_token": "x"},
         (StatusCode.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_by_name(desk, method, members, expected):
    assert refusal(lambda: desk.ask(method, **members)) == expected


def test_an_anonymous_customer_becomes_an_account_and_can_be_parted_again(desk):
    line = desk.buy("anonymous-1")
    merged = desk.ask("MergeCustomers", from_customer_id="anonymous-1", into_customer_id="ana")
    assert list(merged.original_transaction_ids) == [line]
    assert (desk.is_entitled("anonymous-1"), desk.is_entitled("ana")) == (False, True)
    desk.ask("UndoTransfer", transfer_id=merged.transfer_id)
    assert (desk.is_entitled("anonymous-1"), desk.is_entitled("ana")) == (True, False)


def test_a_grant_is_given_once_and_taken_back(desk):
    request = {"customer_id": "ana", "entitlement": "pro", "idempotency_key": "ticket 7", "note": "sorry"}
    given = desk.ask("Grant", actor="support", **request)
    assert given.entitlement.entitled and given.entitlement.state_code == "2.0"
    assert desk.ask("Grant", **request).grant == given.grant
    taken = desk.ask("RevokeGrant", grant_id=given.grant.grant_id, actor="support")
    assert not taken.entitlement.entitled and taken.grant.revoked_at.seconds


def test_what_was_known_then_is_told_now(desk):
    desk.buy("ana")
    event = desk.ask("ListTimeline", customer_id="ana").events[0]
    learned = event.recorded_at.ToMilliseconds()
    for offset, entitled in ((-1, False), (0, True)):
        request = wire.ExplainRequest(app=APP, customer_id="ana", entitlement="pro")
        request.known_at.FromMilliseconds(learned + offset)
        assert desk.entitlements.Explain(request, timeout=CALL_LIMIT).answer.entitled is entitled


def test_of_an_erased_customer_nothing_is_left_but_the_purchase(desk):
    line = desk.buy("ana@example.com")
    desk.ask("Grant", customer_id="ana@example.com", entitlement="pro", note="ana@example.com called")
    counted = desk.ask("EraseCustomer", customer_id="ana@example.com", dry_run=True)
    erased = desk.ask("EraseCustomer", customer_id="ana@example.com", actor="privacy")
    assert counted.erased_rows == erased.erased_rows > 0 and erased.erased_at.seconds
    assert desk.unclaimed() == [line]
    assert not desk.ask("ListTimeline", customer_id="ana@example.com").events
    desk.service.stop()
    with contextlib.closing(sqlite3.connect(desk.service.data / "entitled.sqlite")) as store:
        for row in store.iterdump():
            assert "ana@example.com" not in row and b"ana@example.com".hex() not in row.lower()


def test_replay_gives_what_is_stored(desk):
    line = desk.buy("ana")
    desk.buy("", "lifetime")
    desk.ask("LinkPurchase", customer_id="ben", original_transaction_id=line,
             policy=wire.OWNERSHIP_POLICY_TRANSFER)  # fmt: skip
    desk.ask("Grant", customer_id="cleo", entitlement="pro")
    desk.ask("EraseCustomer", customer_id="ben")
    desk.service.stop()
    replay = desk.service.command("store", "replay", "--data", desk.service.data)
    assert replay.returncode == 0, replay.stdout + replay.stderr
    assert "no differences" in replay.stdout
