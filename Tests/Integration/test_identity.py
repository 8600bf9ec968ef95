"""Identity over gRPC: claims, links, transfers, merges, grants and erasure."""
import uuid

import grpc
import pytest

import contract
import forge
import stores
from contract import StatusCode, receipt_service
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service, post

APP = "ocean-journal"


class Client:
    """One service and a short form for calls to it."""

    def __init__(self, service):
        self.service = service
        self.channel = service.channel()
        self.entitlements = contract.entitlement_stub(self.channel)
        self.receipts = contract.receipt_stub(self.channel)
        self.documents = {}

    def call(self, method, **members):
        message = getattr(wire, f"{method}Request")(app=APP, **members)
        return getattr(self.entitlements, method)(message, timeout=CALL_LIMIT)

    def buy(self, customer, product="pro.monthly", **order):
        """Buys and submits; returns the original transaction id."""
        document = self.service.buy(product, **order)["signedTransactionInfo"]
        answer = self.receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=customer, signed_transaction=document), timeout=CALL_LIMIT)
        assert answer.customer_id == customer or not customer
        self.documents[answer.transaction.original_transaction_id] = document
        return answer.transaction.original_transaction_id

    def is_entitled(self, customer):
        return self.call("Check", customer_id=customer, entitlement="pro").entitlement.entitled

    def unclaimed(self):
        return [t.original_transaction_id for t in self.call("ListUnclaimedPurchases").transactions]


@pytest.fixture
def client(tmp_path):
    service = Service(tmp_path / "data")
    client = Client(service)
    yield client
    client.channel.close()
    service.kill()


def rejection(call):
    with pytest.raises(grpc.RpcError) as error:
        call()
    return error.value.code(), contract.reason(error.value)


def test_an_unclaimed_purchase_waits_and_is_linked(client):
    line = client.buy("")
    assert client.unclaimed() == [line]
    linked = client.call("LinkPurchase", customer_id="ana", original_transaction_id=line, actor="support")
    assert linked.transfer_id and not linked.previous_customer_id
    assert [event.customer_id for event in linked.events] == ["ana"]
    assert client.is_entitled("ana") and not client.unclaimed()


def test_the_app_account_token_links_purchases(client):
    token = str(uuid.uuid4())
    first = client.buy("", appAccountToken=token)
    assert client.unclaimed() == [first]
    client.buy("ana", "lifetime", appAccountToken=token)
    assert not client.unclaimed()
    customer = client.call("GetCustomer", customer_id="ana")
    assert {p.product_id for p in customer.products if p.latest_transaction.transaction_id} == {
        "pro.monthly", "lifetime"}  # fmt: skip


CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    customer_from_app_account_token: true
    products:
      pro.monthly:
        type: Auto-Renewable Subscription
        group: pro
        level: 1
        entitlements: [pro]
        period: P1M
        price: 4.99
        currency: USD
"""


def test_a_first_purchase_entitles_the_customer_of_its_token_by_the_notification_alone(start, tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CONFIGURATION)
    client = Client(start(arguments=["--config", file]))
    token = str(uuid.uuid4())
    url = f"http://{client.service.http}/notifications/{APP}"
    order = {"app": APP, "url": url, "version": 2}
    assert post(f"http://{client.service.sandbox}/sandbox/v1/notification-url", order)[0] == 200
    bought = client.service.buy("pro.monthly", appAccountToken=token)
    status, _ = post(f"http://{client.service.sandbox}/sandbox/v1/clock/advance", {"by": "1s"})
    assert status == 200 and client.is_entitled(token) and not client.unclaimed()
    events = client.call("ListTimeline", customer_id=token).events
    assert [(event.type, event.transaction_id) for event in events] == [("STARTED", bought["transactionId"])]
    other = lambda: client.call("RegisterAppAccountToken", customer_id="ben", app_account_token=token)  # noqa: E731
    assert rejection(other) == (StatusCode.ALREADY_EXISTS, "TOKEN_OF_ANOTHER_CUSTOMER")
    client.channel.close()


def test_a_registered_token_claims_a_purchase_and_a_foreign_claim_is_flagged(client):
    token = str(uuid.uuid4())
    line = client.buy("", appAccountToken=token)
    request = {"customer_id": "ana", "app_account_token": token}
    assert client.call("RegisterAppAccountToken", dry_run=True, **request).original_transaction_ids == [line]
    assert client.unclaimed() == [line]
    claimed = client.call("RegisterAppAccountToken", actor="signup", **request)
    assert claimed.original_transaction_ids == [line] and [event.type for event in claimed.events] == ["CLAIMED"]
    assert client.is_entitled("ana") and not client.unclaimed()
    assert not client.call("RegisterAppAccountToken", **request).events
    other = lambda: client.call("RegisterAppAccountToken", customer_id="ben", app_account_token=token)  # noqa: E731
    assert rejection(other) == (StatusCode.ALREADY_EXISTS, "TOKEN_OF_ANOTHER_CUSTOMER")
    stolen = client.buy("ben", "lifetime", appAccountToken=token)
    conflicts = client.call("GetCustomer", customer_id="ben").token_conflicts
    assert [(one.original_transaction_id, one.token_customer_id) for one in conflicts] == [(stolen, "ana")]
    events = client.call("ListTimeline", customer_id="ben").events
    assert {(event.other_customer_role, event.other_customer_id) for event in events} == {
        (contract.entitlement_service.OTHER_CUSTOMER_ROLE_TOKEN_OWNER, "ana")}
    assert not client.call("GetCustomer", customer_id="ana").token_conflicts


def test_a_refused_claim_names_the_transaction_and_the_owner(client):
    line = client.buy("ana")
    refused = lambda: client.receipts.SubmitTransaction(  # noqa: E731
        receipt_service.SubmitTransactionRequest(
            app=APP, customer_id="ben", signed_transaction=client.documents[line]), timeout=CALL_LIMIT)
    assert rejection(refused) == (StatusCode.FAILED_PRECONDITION, "OWNED_BY_ANOTHER_CUSTOMER")
    event = client.call("ListTimeline", customer_id="ben").events[0]
    assert (event.type, event.original_transaction_id, event.product_id) == ("CLAIM_REFUSED", line, "pro.monthly")
    assert event.transaction_id and (event.other_customer_role, event.other_customer_id) == (
        contract.entitlement_service.OTHER_CUSTOMER_ROLE_OWNER, "ana")


def test_a_transfer_changes_both_customers_at_once_and_can_be_undone(client):
    line = client.buy("ana")
    request = {"original_transaction_id": line, "from_customer_id": "ana", "to_customer_id": "ben"}
    preview = client.call("TransferPurchase", dry_run=True, **request)
    assert not preview.transfer_id and len(preview.events) == 2 and client.is_entitled("ana")
    transfer = client.call("TransferPurchase", actor="support", note="wrong account", **request)
    assert [event.customer_id for event in transfer.events] == ["ana", "ben"]
    assert transfer.events[1].sequence == transfer.events[0].sequence + 1
    assert {event.type for event in transfer.events} == {"TRANSFERRED"}
    assert (client.is_entitled("ana"), client.is_entitled("ben")) == (False, True)
    client.call("UndoTransfer", transfer_id=transfer.transfer_id, actor="support")
    assert (client.is_entitled("ana"), client.is_entitled("ben")) == (True, False)
    undo = lambda: client.call("UndoTransfer", transfer_id=transfer.transfer_id)  # noqa: E731
    assert rejection(undo) == (StatusCode.FAILED_PRECONDITION, "TRANSFER_CONFLICT")


def test_the_ownership_policy_decides_about_owned_purchases(client):
    line = client.buy("ana")
    link = {"customer_id": "ben", "original_transaction_id": line}
    assert rejection(lambda: client.call("LinkPurchase", **link)) == (
        StatusCode.FAILED_PRECONDITION, "OWNED_BY_ANOTHER_CUSTOMER")  # fmt: skip
    client.call("LinkPurchase", policy=wire.OWNERSHIP_POLICY_SHARE, **link)
    assert client.is_entitled("ana") and client.is_entitled("ben")
    # A transfer moves the purchase unless it says otherwise, whatever the app's policy.
    move = {"original_transaction_id": line, "from_customer_id": "ben", "to_customer_id": "cleo"}
    assert rejection(lambda: client.call("TransferPurchase", policy=wire.OWNERSHIP_POLICY_KEEP, **move)) == (
        StatusCode.FAILED_PRECONDITION, "OWNED_BY_ANOTHER_CUSTOMER")
    client.call("TransferPurchase", **move)
    assert not client.is_entitled("ben") and client.is_entitled("cleo")


def test_a_transfer_between_two_owners_ends_the_share_of_the_first(client):
    line = client.buy("ana")
    client.call(
        "LinkPurchase", customer_id="ben", original_transaction_id=line, policy=wire.OWNERSHIP_POLICY_SHARE)
    before = client.call("ListTimeline", customer_id="ben").events[-1].recorded_at
    request = {"original_transaction_id": line, "from_customer_id": "ana", "to_customer_id": "ben",
               "idempotency_key": "transfer-1"}  # fmt: skip
    transfer = client.call("TransferPurchase", **request)
    assert [(event.customer_id, event.type) for event in transfer.events] == [("ana", "TRANSFERRED")]
    assert (client.is_entitled("ana"), client.is_entitled("ben")) == (False, True)
    again = client.call("TransferPurchase", **request)
    assert again.repeated and again.transfer_id == transfer.transfer_id != ""
    known = {"app": APP, "customer_id": "ana", "entitlement": "pro", "known_at": before}
    assert client.entitlements.Explain(wire.ExplainRequest(**known), timeout=CALL_LIMIT).entitlement.entitled
    client.call("UndoTransfer", transfer_id=transfer.transfer_id)
    assert client.is_entitled("ana") and client.is_entitled("ben")
    move = {"customer_id": "ben", "original_transaction_id": line, "policy": wire.OWNERSHIP_POLICY_TRANSFER}
    assert client.call("LinkPurchase", **move).transfer_id and not client.is_entitled("ana")
    assert not client.call("LinkPurchase", **move).transfer_id
    client.service.stop()
    replay = client.service.command("store", "replay", "--data", client.service.data)
    assert replay.returncode == 0 and "no differences" in replay.stdout, replay.stdout + replay.stderr


def test_an_app_install_of_another_customer_is_refused_by_its_name(client):
    forger = forge.Forger(client.service)
    signed = forge.sign(
        {"receiptType": "Sandbox", "bundleId": "com.example.oceanjournal", "appTransactionId": "704000000000001",
         "originalApplicationVersion": "1.0", "receiptCreationDate": forger.payload["signedDate"]},
        forger.chain, forger.leaf_key, "ES256")  # fmt: skip
    submit = lambda customer: client.receipts.SubmitTransaction(  # noqa: E731
        receipt_service.SubmitTransactionRequest(app=APP, customer_id=customer, signed_app_transaction=signed),
        timeout=CALL_LIMIT)
    submit("ana")
    with pytest.raises(grpc.RpcError) as error:
        submit("ben")
    assert contract.reason(error.value) == "OWNED_BY_ANOTHER_CUSTOMER"
    assert error.value.details() == "the app install of this app transaction belongs to another customer"


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
        ("Grant", {"customer_id": "ana", "entitlement": "pro"}, (StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")),
        ("Grant", {"customer_id": "ana", "entitlement": "gold", "access_level": "ACCESS_LEVEL_FULL"},
         (StatusCode.NOT_FOUND, "UNKNOWN_ENTITLEMENT")),
        ("ListTimeline", {"customer_id": "ana", "page_token": "x"},
         (StatusCode.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")),
    ],
)  # fmt: skip
def test_invalid_changes_are_rejected_with_a_reason(client, method, members, expected):
    assert rejection(lambda: client.call(method, **members)) == expected


def test_an_anonymous_customer_is_merged_into_an_account_and_parted_again(client):
    line = client.buy("anonymous-1")
    merged = client.call("MergeCustomers", from_customer_id="anonymous-1", into_customer_id="ana")
    assert list(merged.original_transaction_ids) == [line]
    assert (client.is_entitled("anonymous-1"), client.is_entitled("ana")) == (False, True)
    client.call("UndoTransfer", transfer_id=merged.transfer_id)
    assert (client.is_entitled("anonymous-1"), client.is_entitled("ana")) == (True, False)


def test_lists_find_what_a_merged_customer_had_under_the_old_id(client):
    bought = client.buy("anonymous-1", "shells.100")
    granted = client.call(
        "Grant", customer_id="anonymous-1", entitlement="pro", access_level="ACCESS_LEVEL_FULL").grant.grant_id
    client.call("MergeCustomers", from_customer_id="anonymous-1", into_customer_id="ana")
    for customer in ("anonymous-1", "ana"):
        grants = client.call("ListGrants", customer_id=customer).grants
        assert [(one.grant_id, one.customer_id) for one in grants] == [(granted, "ana")]
        due = client.call("ListUnfulfilledPurchases", customer_id=customer).purchases
        assert [(one.transaction.original_transaction_id, one.customer_id) for one in due] == [(bought, "ana")]
    assert not client.call("ListGrants", customer_id="ben").grants


def test_a_grant_is_created_and_revoked(client):
    created = client.call(
        "Grant", customer_id="ana", entitlement="pro", access_level="ACCESS_LEVEL_FULL", note="sorry", actor="support")
    assert created.entitlement.entitled and created.entitlement.app_store_codes.state_code == "2.0"
    assert (created.grant.app, created.grant.customer_id, created.grant.environment) == (
        APP, "ana", contract.environment.ENVIRONMENT_SANDBOX)  # fmt: skip
    revoked = client.call("RevokeGrant", grant_id=created.grant.grant_id, actor="support")
    assert not revoked.entitlement.entitled and revoked.grant.revoked_at.seconds


def test_a_past_state_is_explained_as_known_then(client):
    client.buy("ana")
    event = client.call("ListTimeline", customer_id="ana").events[0]
    recorded_at_ms = event.recorded_at.ToMilliseconds()
    for offset, entitled in ((-1, False), (0, True)):
        request = wire.ExplainRequest(app=APP, customer_id="ana", entitlement="pro")
        request.known_at.FromMilliseconds(recorded_at_ms + offset)
        assert client.entitlements.Explain(request, timeout=CALL_LIMIT).entitlement.entitled is entitled


def test_an_erased_customer_leaves_only_the_purchase(client):
    line = client.buy("ana@example.com")
    client.call("Grant", customer_id="ana@example.com", entitlement="pro", access_level="ACCESS_LEVEL_FULL", note="ana@example.com called")
    counted = client.call("EraseCustomer", customer_id="ana@example.com", dry_run=True)
    erased = client.call("EraseCustomer", customer_id="ana@example.com", actor="privacy")
    # Workers may add rows about the purchase meanwhile.
    assert 0 < counted.erased_rows <= erased.erased_rows and erased.erased_at.seconds
    assert client.unclaimed() == [line]
    assert not client.call("ListTimeline", customer_id="ana@example.com").events
    client.service.stop()
    for table, row in stores.rows(client.service.data):
        for value in row:
            assert b"ana@example.com" not in (value if isinstance(value, bytes) else str(value).encode()), table


def test_replay_reproduces_the_stored_state(client):
    line = client.buy("ana")
    client.buy("", "lifetime")
    client.call("LinkPurchase", customer_id="ben", original_transaction_id=line,
             policy=wire.OWNERSHIP_POLICY_TRANSFER)  # fmt: skip
    client.call("Grant", customer_id="cleo", entitlement="pro", access_level="ACCESS_LEVEL_FULL")
    client.call("EraseCustomer", customer_id="ben")
    client.service.stop()
    replay = client.service.command("store", "replay", "--data", client.service.data)
    assert replay.returncode == 0, replay.stdout + replay.stderr
    assert "no differences" in replay.stdout
