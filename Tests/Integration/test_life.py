"""The life of one subscription, checked through gRPC after each step.

The documents are signed as Apple signs them, with dates in seconds from now: a period lasts as long as a few
calls, and the test awaits the events of changes caused by time.
"""

import time

import pytest

import contract
import forge
from contract import entitlement, entitlement_service, receipt_service
from harness import CALL_LIMIT, Service, wait_for

APP = "ocean-journal"
DAY = 86_400_000


class Subscriber:
    """A subscriber, and an App Store that signs the transactions."""

    def __init__(self, service, customer):
        self.forger = forge.Forger(service)
        self.channel = service.channel()
        self.receipts = contract.receipt_stub(self.channel)
        self.entitlements = contract.entitlement_stub(self.channel)
        self.customer = customer
        self.line = "2000000900000001"
        self.signed = self.start = int(time.time() * 1000)
        self.watch_stream = self.entitlements.Watch(
            entitlement_service.WatchRequest(app=APP, customer_ids=[customer], from_beginning=True), timeout=60)

    def at(self, seconds):
        """The instant `seconds` after the start, in Apple's format."""
        return self.start + int(seconds * 1000)

    def _next_signature(self):
        self.signed += 1
        return self.signed

    def transaction(self, number, begin, end, product="pro.monthly", **changed):
        """A signed transaction of one period."""
        members = {
            "transactionId": f"{self.line}{number}", "originalTransactionId": self.line, "productId": product,
            "purchaseDate": begin, "originalPurchaseDate": self.start, "expiresDate": end,
            "signedDate": self._next_signature(), "quantity": 1, "type": "Auto-Renewable Subscription",
            "inAppOwnershipType": "PURCHASED",
        } | changed  # fmt: skip
        return self.forger.transaction(**members)

    def renewal_info(self, product="pro.monthly", **changed):
        """A signed renewal info."""
        members = {
            "originalTransactionId": self.line, "productId": product, "autoRenewProductId": product,
            "autoRenewStatus": 1, "environment": self.forger.payload["environment"],
            "signedDate": self._next_signature(),
        } | changed  # fmt: skip
        return forge.sign(members, self.forger.chain, self.forger.leaf_key)

    def submit(self, transaction="", renewal_info=""):
        """Submits documents as the app does."""
        return self.receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=self.customer, signed_transaction=transaction,
                signed_renewal_info=renewal_info), timeout=CALL_LIMIT)  # fmt: skip

    def check(self):
        return self.entitlements.Check(
            entitlement_service.CheckRequest(app=APP, customer_id=self.customer, entitlement="pro"),
            timeout=CALL_LIMIT).entitlement

    def expect(self, kind):
        """Waits for the next event, which must have this type."""
        for message in self.watch_stream:
            if message.WhichOneof("content") == "event":
                assert message.event.type == kind, message.event
                return message.event
        raise AssertionError(f"no event {kind}")


@pytest.fixture
def subscriber(tmp_path):
    service = Service(tmp_path / "data")
    subscriber = Subscriber(service, "ana")
    yield subscriber
    subscriber.channel.close()
    service.kill()


def test_a_subscription_is_correct_at_each_step_of_its_life(subscriber):
    life = subscriber
    state = entitlement.EntitlementState.Value
    # The customer does not exist yet.
    answer = life.check()
    assert (answer.entitled, answer.reason) == (False, "NEVER_PURCHASED")

    # A free trial of three seconds.
    trial = life.transaction(
        1, life.at(0), life.at(3), offerType=1, offerDiscountType="FREE_TRIAL", price=0)
    life.submit(trial, life.renewal_info())
    answer = life.check()
    assert (answer.entitled, answer.app_store_codes.state_code, answer.will_renew) == (True, "5.1", True)
    life.expect("STARTED")

    # The subscription renews before the trial ends: a conversion with the first payment.
    life.submit(life.transaction(2, life.at(3), life.at(5)))
    answer = life.check()
    assert answer.paid_until.ToMilliseconds() == life.at(5)
    # Auto-renew is on: `until` includes the renewal slack of one hour.
    assert answer.until.ToMilliseconds() == life.at(5 + 3600)
    life.expect("RENEWED")

    # The next renewal fails, but nothing is reported yet: access continues, and nothing ended.
    wait_for(lambda: life.check().reason == "AWAITING_RENEWAL")
    answer = life.check()
    assert (answer.entitled, answer.app_store_codes.state_code) == (True, "5.0")
    # Apple's renewal info follows a little later, with a grace period of three seconds.
    life.submit(renewal_info=life.renewal_info(
        isInBillingRetryPeriod=True, expirationIntent=2, gracePeriodExpiresDate=life.at(9),
        signedDate=life.at(5) + 1))  # fmt: skip
    answer = life.check()
    assert (answer.entitled, answer.state) == (True, state("ENTITLEMENT_STATE_GRACE_PERIOD"))
    assert answer.advice and answer.advice[0].kind == entitlement.ADVICE_KIND_UPDATE_BILLING
    life.expect("ENTERED_GRACE_PERIOD")

    # The grace period passes, too.
    life.expect("ENDED")
    life.expect("ENTERED_BILLING_RETRY")
    answer = life.check()
    assert (answer.entitled, answer.state) == (False, state("ENTITLEMENT_STATE_BILLING_RETRY"))

    # The payment method is updated: recovered, with a period of a month from now.
    recovered = int(time.time() * 1000)
    life.signed = max(life.signed, recovered)
    life.submit(
        life.transaction(3, recovered, recovered + 30 * DAY, transactionReason="RENEWAL"), life.renewal_info())
    answer = life.check()
    assert (answer.entitled, answer.app_store_codes.state_code) == (True, "5.0")
    life.expect("RECOVERED")

    # The customer selects the yearly product for the next period, then turns auto-renew off.
    life.submit(renewal_info=life.renewal_info(autoRenewProductId="pro.yearly"))
    assert life.check().auto_renew_product_id == "pro.yearly"
    life.expect("RENEWAL_PRODUCT_CHANGED")
    life.submit(renewal_info=life.renewal_info(autoRenewStatus=0))
    answer = life.check()
    assert (answer.entitled, answer.state, answer.will_renew) == (
        True, state("ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_OFF"), False)  # fmt: skip
    life.expect("RENEWAL_TURNED_OFF")

    # Apple refunds the month.
    life.submit(
        life.transaction(
            3, recovered, recovered + 30 * DAY, revocationDate=recovered + 1, revocationReason=0))
    answer = life.check()
    assert (answer.entitled, answer.state) == (False, state("ENTITLEMENT_STATE_REFUNDED_OTHER"))
    life.expect("REFUNDED")

    # A win-back offer on the yearly product is redeemed.
    back = int(time.time() * 1000)
    life.signed = max(life.signed, back)
    life.submit(
        life.transaction(4, back, back + 365 * DAY, product="pro.yearly", offerType=4, offerIdentifier="back"),
        life.renewal_info("pro.yearly"))
    answer = life.check()
    assert (answer.entitled, answer.app_store_codes.state_code, answer.product_id) == (True, "5.3", "pro.yearly")
    life.expect("STARTED")

    # Submitting the same documents again changes nothing, and the timeline contains every event.
    life.submit(trial)
    timeline = life.entitlements.ListTimeline(
        entitlement_service.ListTimelineRequest(app=APP, customer_id="ana"), timeout=CALL_LIMIT).events
    assert [event.type for event in timeline if event.entitlement == "pro"] == [
        "STARTED", "RENEWED", "ENTERED_GRACE_PERIOD", "ENDED", "ENTERED_BILLING_RETRY", "RECOVERED",
        "RENEWAL_PRODUCT_CHANGED", "RENEWAL_TURNED_OFF", "REFUNDED", "STARTED",
    ]  # fmt: skip
    assert [event.sequence for event in timeline] == list(range(1, len(timeline) + 1))
