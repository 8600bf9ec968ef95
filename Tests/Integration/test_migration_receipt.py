"""SubmitReceipt: from the legacy receipt on a device to the customer's entitlements."""

import base64
import json
import urllib.request

import grpc
import pytest

import contract
import stores
from contract import StatusCode, entitlement_service, product, receipt_service
from harness import CALL_LIMIT, post, wait_for

APP = "ocean-journal"


class Store:
    """A service and its App Store, with a customer who has a legacy receipt."""

    def __init__(self, service):
        self.service = service
        self.channel = service.channel()
        self.receipts = contract.receipt_stub(self.channel)
        self.entitlements = contract.entitlement_stub(self.channel)

    def act(self, action, **members):
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def buy(self, account, item="pro.monthly", **more):
        return self.act("purchases", app=APP, productId=item, account=account, **more)

    def receipt(self, account):
        url = f"http://{self.service.sandbox}/sandbox/v1/accounts/{account}/receipt?app={APP}"
        with urllib.request.urlopen(url, timeout=CALL_LIMIT) as answer:
            return json.load(answer)["receipt"]

    def submit(self, customer, receipt=None, timeout=CALL_LIMIT, **more):
        if receipt is not None:
            more["receipt_base64"] = receipt
        return self.receipts.SubmitReceipt(
            receipt_service.SubmitReceiptRequest(app=APP, customer_id=customer, **more), timeout=timeout)

    def rejection(self, customer, receipt, **more):
        with pytest.raises(grpc.RpcError) as error:
            self.submit(customer, receipt, **more)
        return error.value.code(), contract.reason(error.value)

    def check(self, customer):
        return self.entitlements.Check(
            entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro"),
            timeout=CALL_LIMIT).entitlement

    def run_refreshes(self):
        """Advances the clock to the next refresh, and waits until Apple was called."""
        self.act("clock/advance", by="2m")
        self.submit("customer", self.receipt("newcomer"))  # a commit, at which the service reads the clock
        wait_for(lambda: not self.query("SELECT 1 FROM refresh WHERE due_at IS NOT NULL"))

    def query(self, sql):
        return stores.query(self.service.data, sql)


@pytest.fixture
def store(start):
    store = Store(start())
    yield store
    store.channel.close()


def states(response):
    return {s.product_id: product.ProductState.Name(s.state) for s in response.product_states}


def test_a_receipt_restores_every_purchase(store):
    bought = store.buy("ann")
    store.buy("ann", "lifetime")
    old = store.receipt("ann")
    store.act("clock/advance", by="95d")
    answer = store.submit("alice", old)
    assert answer.customer_id == "alice" and not answer.refresh_pending and not answer.problems
    assert bought["originalTransactionId"] in answer.original_transaction_ids
    assert len(answer.original_transaction_ids) == 2
    # Apple's response contains the renewals missing in the receipt.
    assert len([t for t in answer.transactions if t.product_id == "pro.monthly"]) == 4
    assert not any(t.from_receipt for t in answer.transactions)
    assert states(answer)["pro.monthly"] == "PRODUCT_STATE_ACTIVE"
    assert states(answer)["lifetime"] == "PRODUCT_STATE_ACTIVE"
    assert states(answer)["pro.yearly"] == "PRODUCT_STATE_NEW"
    assert next(e for e in answer.entitlements if e.name == "pro").entitled
    assert store.check("alice").entitled
    again = store.submit("alice", old)
    assert again.already_known and again.evidence_id == answer.evidence_id
    # The receipt itself is not stored.
    kinds = {kind for kind, *_ in store.service.evidence("alice")}
    assert "RECEIPT_STATEMENT" in kinds and "APP_RECEIPT" not in kinds


def test_advice_for_former_and_new_customers(store):
    bought = store.buy("bob")
    store.act("auto-renew", transactionId=bought["transactionId"], enabled=False)
    store.act("clock/advance", by="60d")
    left = store.submit("bob-at-ours", store.receipt("bob"))
    assert states(left)["pro.monthly"] == "PRODUCT_STATE_INACTIVE"
    pro = next(e for e in left.entitlements if e.name == "pro")
    assert not pro.entitled and pro.advice
    empty = store.submit("carl", store.receipt("newcomer"))
    nothing = store.submit("dora")
    for answer in (empty, nothing):
        assert not answer.transactions and set(states(answer).values()) == {"PRODUCT_STATE_NEW"}
    assert empty.evidence_id and not nothing.evidence_id


def test_without_apple_the_receipts_contents_count_until_the_refresh(store):
    store.buy("eve")
    receipt = store.receipt("eve")
    store.act("clock/advance", by="20d")
    store.act("faults", kind="server-error", count=100)
    # The deadline of the submission, including its calls to Apple.
    answer = store.submit("eve", receipt, timeout=5)
    assert answer.refresh_pending and answer.refresh_reason == "APP_STORE_UNAVAILABLE"
    assert [t.from_receipt for t in answer.transactions] == [True]
    assert store.check("eve").entitled, "the receipt is verified"
    store.act("faults", kind="server-error", count=0)
    store.run_refreshes()
    assert store.query("SELECT count(*) FROM refresh WHERE queried_at IS NOT NULL") == [(1,)]
    customer = store.entitlements.GetCustomer(
        entitlement_service.GetCustomerRequest(app=APP, customer_id="eve"), timeout=CALL_LIMIT)
    latest = next(p.latest_transaction for p in customer.products if p.product_id == "pro.monthly")
    assert not latest.from_receipt and latest.price.milliunits


def test_a_sample_for_the_comparison_with_apple_is_counted_across_pages(store):
    for number in range(5):
        store.buy(f"c{number}")
        store.submit(f"c{number}", store.receipt(f"c{number}"))

    def compared(page_size, sample_every):
        """The number of compared customers of each page."""
        found, token = [], ""
        while not found or token:
            page = store.receipts.CompareWithApple(
                receipt_service.CompareWithAppleRequest(
                    app=APP, sample_every=sample_every, page_size=page_size, page_token=token), timeout=CALL_LIMIT)
            assert not page.not_compared and not page.drifts
            found.append(page.compared)
            token = page.next_page_token
        return found

    assert compared(100, 0) == compared(100, 1) == [5]
    assert compared(2, 3) == [1, 1, 0]
    assert compared(1, 4) == [1, 0, 0, 0, 1]
    with pytest.raises(grpc.RpcError) as error:
        compared(100, -1)
    assert contract.violations(error.value) == ["sample_every"]


def test_pending_refreshes_survive_a_restart(start):
    store = Store(start())
    store.buy("fay")
    receipt = store.receipt("fay")
    store.act("faults", kind="rate-limit", count=1, by="30s")
    assert store.receipts.SubmitReceipt(
        receipt_service.SubmitReceiptRequest(app=APP, customer_id="fay", receipt_base64=receipt), timeout=5
    ).refresh_pending
    store.service.kill()
    store.channel.close()
    store = Store(start())
    assert store.check("fay").entitled
    assert store.query("SELECT count(*) FROM refresh WHERE due_at IS NOT NULL") == [(1,)]
    store.run_refreshes()
    store.channel.close()


def test_a_receipt_belongs_to_one_customer(store):
    store.buy("gus")
    receipt = store.receipt("gus")
    store.submit("gus", receipt)
    assert store.rejection("hal", receipt) == (StatusCode.FAILED_PRECONDITION, "OWNED_BY_ANOTHER_CUSTOMER")
    assert store.check("gus").entitled and not store.check("hal").entitled


def test_each_invalid_receipt_has_its_reason(store):
    valid = store.receipt("ida")
    raw = bytearray(base64.b64decode(valid))
    forged = bytes(raw[:200]) + bytes([raw[200] ^ 1]) + bytes(raw[201:])
    jws = store.buy("ida")["signedTransactionInfo"]
    old = store.act("documents/transaction-receipt", app=APP, productId="lifetime", account="ida")["document"]
    reasons = {
        "not base64": store.rejection("ida", "MIIé!!")[1],
        "truncated": store.rejection("ida", base64.b64encode(raw[: len(raw) // 2]).decode())[1],
        "a transaction": store.rejection("ida", jws)[1],
        "before iOS 7": store.rejection("ida", old)[1],
        "other device": store.rejection("ida", valid, device_identifier=b"0123456789abcdef")[1],
    }
    assert reasons == {
        "not base64": "NOT_BASE64", "truncated": "NOT_A_RECEIPT", "a transaction": "NOT_A_RECEIPT",
        "before iOS 7": "NOT_VERIFIABLE", "other device": "WRONG_DEVICE",
    }  # fmt: skip
    assert store.rejection("ida", base64.b64encode(forged).decode())[1] in ("BAD_SIGNATURE", "NOT_A_RECEIPT")
    assert not store.check("ida").entitled
    stored = [(kind, rejection) for kind, rejection, *_ in store.service.evidence("ida")]
    assert ("APP_RECEIPT", "WRONG_DEVICE") in stored
    # Only the hash of a rejected receipt is stored.
    assert not any(whole for _, rejection, _, whole in store.service.evidence("ida") if rejection)


REAL_CONFIGURATION = """apps:
  weeka:
    bundle_id: dev.bonzer.weeka.app
    environments: [Sandbox]
    app_store_servers: {Sandbox: "http://127.0.0.1:9"}
    products:
      dev.bonzer.weeka.app.subscription.pro.annual:
        {type: Auto-Renewable Subscription, group: pro, entitlements: [pro]}
"""


def test_a_real_receipt_is_verified_up_to_the_lookup(start, tmp_path, testdata):
    """A real receipt of Apple's is verified here, and its purchases count until Apple can be called."""
    (tmp_path / "entitled.yaml").write_text(REAL_CONFIGURATION)
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    receipt = (testdata / "genuine" / "receipt-sandbox-g5").read_text()
    with service.channel() as channel:
        receipts = contract.receipt_stub(channel)
        receipts.SubmitReceipt(
            receipt_service.SubmitReceiptRequest(app="weeka", receipt_base64=receipt), timeout=CALL_LIMIT)
        unclaimed = contract.entitlement_stub(channel).ListUnclaimedPurchases(
            entitlement_service.ListUnclaimedPurchasesRequest(app="weeka"), timeout=CALL_LIMIT).transactions
        answer = receipts.SubmitReceipt(
            receipt_service.SubmitReceiptRequest(app="weeka", customer_id="w", receipt_base64=receipt),
            timeout=CALL_LIMIT)
    # Purchases that only the receipt states wait for an owner like others.
    assert [t.original_transaction_id for t in unclaimed] == sorted(answer.original_transaction_ids)
    assert all(t.from_receipt for t in unclaimed)
    assert answer.kind == receipt_service.DOCUMENT_KIND_APP_RECEIPT and answer.refresh_pending
    assert answer.refresh_reason == "NO_IN_APP_PURCHASE_KEY"
    assert answer.original_transaction_ids[0] == "2000001092134138"
    assert len(answer.transactions) == 2 and all(t.from_receipt for t in answer.transactions)
    assert states(answer)["dev.bonzer.weeka.app.subscription.pro.annual"] == "PRODUCT_STATE_INACTIVE"
