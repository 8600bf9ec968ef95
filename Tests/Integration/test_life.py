"""One subscriber's life, told step by step and checked at each through gRPC.

The documents are signed as Apple signs them, with dates of this moment's seconds: a period lasts as long as
a few calls, and what time does alone is awaited as the event that tells of it.
"""

import time

import pytest

import contract
import forge
from contract import entitlement, entitlement_service, receipt_service
from harness import CALL_LIMIT, Service

APP = "ocean-journal"
GROUP = "pro"
DAY = 86_400_000


class Subscriber:
    """Somebody who subscribes, and the App Store that signs what happens."""

    def __init__(self, service, customer):
        self.forger = forge.Forger(service)
        self.channel = service.channel()
        self.receipts = contract.receipt_stub(self.channel)
        self.entitlements = contract.entitlement_stub(self.channel)
        self.customer = customer
        self.line = "2000000900000001"
        self.signed = self.start = int(time.time() * 1000)
        self.told = self.entitlements.Watch(
            entitlement_service.WatchRequest(app=APP, customer_ids=[customer], from_beginning=True), timeout=60)

    def at(self, seconds):
        """So many seconds after the life began, as Apple counts."""
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
        """What the app, or a notification, brings."""
        return self.receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=self.customer, signed_transaction=transaction,
                signed_renewal_info=renewal_info), timeout=CALL_LIMIT)  # fmt: skip

    def check(self):
        return self.entitlements.Check(
            entitlement_service.CheckRequest(app=APP, customer_id=self.customer, entitlement="pro"),
            timeout=CALL_LIMIT)

    def hears(self, kind):
        """Waits for the next event; it is of that kind."""
        for message in self.told:
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


def test_a_subscribers_life(subscriber):
    life = subscriber
    state = entitlement.EntitlementState.Value
    # Nobody has heard of her.
    answer = life.check()
    assert (answer.entitled, answer.reason) == (False, "NEVER_PURCHASED")

    # She buys on a free trial of three seconds.
    trial = life.transaction(
        1, life.at(0), life.at(3), offerType=1, offerDiscountType="FREE_TRIAL", price=0)
    life.submit(trial, life.renewal_info())
    answer = life.check()
    assert (answer.entitled, answer.state_code, answer.will_renew) == (True, "5.1", True)
    life.hears("STARTED")

    # Apple renews before the trial ends: she converts, and pays for the first time.
    life.submit(life.transaction(2, life.at(3), life.at(5)))
    assert life.check().until.ToMilliseconds() == life.at(5)
    life.hears("RENEWED")

    # The next renewal fails; there is no grace period. Time alone ends the access.
    life.hears("ENDED")
    answer = life.check()
    assert (answer.entitled, answer.reason) == (False, "EXPIRED")
    # ... of which Apple tells a moment later, with a grace period of three seconds.
    life.submit(renewal_info=life.renewal_info(
        isInBillingRetryPeriod=True, expirationIntent=2, gracePeriodExpiresDate=life.at(9),
        signedDate=life.at(5) + 1))  # fmt: skip
    answer = life.check()
    assert (answer.entitled, answer.state) == (True, state("ENTITLEMENT_STATE_GRACE_PERIOD"))
    assert answer.advice and answer.advice[0].kind == entitlement.ADVICE_KIND_UPDATE_BILLING
    life.hears("ENTERED_GRACE_PERIOD")

    # The grace period passes too.
    life.hears("ENTERED_BILLING_RETRY")
    answer = life.check()
    assert (answer.entitled, answer.state) == (False, state("ENTITLEMENT_STATE_BILLING_RETRY"))

    # She updates her card: recovered, with a period of a month from now.
    recovered = int(time.time() * 1000)
    life.signed = max(life.signed, recovered)
    life.submit(life.transaction(3, recovered, recovered + 30 * DAY), life.renewal_info())
    answer = life.check()
    assert (answer.entitled, answer.state_code) == (True, "5.0")
    life.hears("RECOVERED")

    # She chooses the yearly product for the next time, and then turns renewal off.
    life.submit(renewal_info=life.renewal_info(autoRenewProductId="pro.yearly"))
    assert life.check().auto_renew_product_id == "pro.yearly"
    life.hears("RENEWAL_PRODUCT_CHANGED")
    life.submit(renewal_info=life.renewal_info(autoRenewStatus=0))
    answer = life.check()
    assert (answer.entitled, answer.state, answer.will_renew) == (
        True, state("ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_OFF"), False)  # fmt: skip
    life.hears("RENEWAL_TURNED_OFF")

    # Apple refunds the month.
    life.submit(
        life.transaction(
            3, recovered, recovered + 30 * DAY, revocationDate=recovered + 1, revocationReason=0))
    answer = life.check()
    assert (answer.entitled, answer.state) == (False, state("ENTITLEMENT_STATE_REFUNDED_OTHER"))
    life.hears("REFUNDED")

    # A win-back offer brings her back, on the yearly product.
    back = int(time.time() * 1000)
    life.signed = max(life.signed, back)
    life.submit(
        life.transaction(4, back, back + 365 * DAY, product="pro.yearly", offerType=4, offerIdentifier="back"),
        life.renewal_info("pro.yearly"))
    answer = life.check()
    assert (answer.entitled, answer.state_code, answer.product_id) == (True, "5.3", "pro.yearly")
    life.hears("STARTED")

    # The same documents again change nothing, and the timeline tells it all.
    life.submit(trial)
    timeline = life.entitlements.ListTimeline(
        entitlement_service.ListTimelineRequest(app=APP, customer_id="ana"), timeout=CALL_LIMIT).events
    assert [event.type for event in timeline if event.entitlement == "pro"] == [
        "STARTED", "RENEWED", "ENDED", "ENTERED_GRACE_PERIOD", "ENTERED_BILLING_RETRY", "RECOVERED",
        "RENEWAL_PRODUCT_CHANGED", "RENEWAL_TURNED_OFF", "REFUNDED", "STARTED",
    ]  # fmt: skip
    assert [event.sequence for event in timeline] == list(range(1, len(timeline) + 1))
