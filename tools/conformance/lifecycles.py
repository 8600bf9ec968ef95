"""Vectors of lifecycles: what is delivered, step by step, and the state that follows from it."""

import itertools

from documents import at, body, identifier, notification, renewal_info, transaction
from verification import REQUIRED, RECOMMENDED, TRUST

ACTIVE, GRACE, RETRY, EXPIRED, REVOKED, NONE = (
    "ACTIVE", "GRACE_PERIOD", "BILLING_RETRY", "EXPIRED", "REVOKED", "NONE")  # fmt: skip


class Life:
    """One customer's purchases, from the first to the last document."""

    _numbers = itertools.count(1000, 100)

    def __init__(self, name, note, level=REQUIRED):
        self.name, self.note, self.level, self.steps = name, note, level, []
        self.customer = identifier("customer", name)
        self.first = next(self._numbers)

    def transaction(self, index=0, product="pro.monthly", *, original=0, **members):
        """The signed transaction number `index` of this life."""
        original = None if original is None else self.first + original
        return TRUST.sign(transaction(
            product, number=self.first + index, original=original,
            **({"appAccountToken": self.customer} | members)))  # fmt: skip

    def renewal(self, product="pro.monthly", **members):
        return TRUST.sign(renewal_info(product, original=self.first, **({"appAccountToken": self.customer} | members)))

    def submit(self, document, *expected, note):
        """The app submits a transaction."""
        self._step("transaction", document, expected, note)

    def notify(self, kind, subtype=None, *expected, signed, transaction=None, renewal=None, note=None):
        """The App Store sends a notification."""
        payload = notification(kind, subtype, signed=signed, transaction=transaction, renewal=renewal)
        self._step("notification", body(TRUST.sign(payload)), expected, note or " ".join(filter(None, [kind, subtype])))

    def again(self, index, *expected, note):
        """The document of an earlier step arrives again."""
        self._step(self.steps[index]["kind"], self.steps[index]["document"], expected, note)

    def _step(self, kind, document, expected, note):
        self.steps.append({"note": note, "kind": kind, "document": document, "expected": list(expected)})

    @property
    def content(self):
        return {"format": 1, "lifecycle": self.name, "level": self.level, "note": self.note, "customer": self.customer,
                "steps": self.steps}  # fmt: skip


def state(when, status, until=None, entitlement="pro"):
    """The expected answer at an instant. `until` is the end of access, or of the last access; `None`: there is none."""
    return {"at": when, "entitlement": entitlement, "entitled": status in (ACTIVE, GRACE), "status": status, "until": until}


def first_month(life, product="pro.monthly", **members):
    """The first purchase, of 30 days."""
    life.notify("SUBSCRIBED", "INITIAL_BUY", state(at(1), ACTIVE, at(30)), signed=at(seconds=1),
                transaction=life.transaction(product=product, signed=at(seconds=1), **members),
                renewal=life.renewal(product, signed=at(seconds=1)))  # fmt: skip


def renewed(life, index, begin, *expected, kind="DID_RENEW", subtype=None, signed=None, product="pro.monthly", **members):
    """The next period, of 30 days."""
    signed = begin if signed is None else signed
    end = begin + 30 * 86_400_000
    life.notify(kind, subtype, *expected, signed=signed,
                transaction=life.transaction(index, product, bought=begin, signed=signed, **({"transactionReason": "RENEWAL"} | members)),
                renewal=life.renewal(product, signed=signed, expires=end))  # fmt: skip


def failed(life, signed, *expected, index=0, bought=None, grace=None, subtype=None, kind="DID_FAIL_TO_RENEW", retries=True):
    """A failed renewal of the period `index`."""
    life.notify(kind, subtype, *expected, signed=signed,
                transaction=life.transaction(index, bought=bought, signed=signed),
                renewal=life.renewal(signed=signed, isInBillingRetryPeriod=retries, expirationIntent=2,
                                     gracePeriodExpiresDate=grace))  # fmt: skip


def lifecycles():
    return [make() for make in (
        renewals_and_expiry, cancelled_and_silent, cancelled_and_renewed, submitted_by_the_app, grace_recovered,
        grace_over, retry_recovered, retry_over, refunded, refund_reversed, earlier_period_refunded, resubscribed,
        upgraded, downgraded, extended, free_trial, price_increase, lifetime, lifetime_refunded, consumable, family,
        late_failure, old_news, repeated, one_period_two_ids, cancelled_in_grace, nothing,
        upgrade_refunded, upgrade_refunded_unseen, gap_before_resubscription,
    )]  # fmt: skip


def renewals_and_expiry():
    life = Life("renewals-and-expiry", "A subscription renews twice; the customer cancels; it expires.")
    first_month(life)
    renewed(life, 1, at(30), state(at(31), ACTIVE, at(60)))
    renewed(life, 2, at(60), state(at(61), ACTIVE, at(90)))
    life.notify("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", state(at(71), ACTIVE, at(90)), signed=at(70),
                transaction=life.transaction(2, bought=at(60), signed=at(70)),
                renewal=life.renewal(renews=False, signed=at(70), expires=at(90)))  # fmt: skip
    life.notify("EXPIRED", "VOLUNTARY", state(at(91), EXPIRED, at(90)), signed=at(90, minutes=5),
                transaction=life.transaction(2, bought=at(60), signed=at(90, minutes=5)),
                renewal=life.renewal(renews=False, signed=at(90, minutes=5), expires=at(90), expirationIntent=1))  # fmt: skip
    return life


def cancelled_and_silent():
    life = Life("cancelled-and-silent", "After a cancellation no notification of the end arrives: time alone ends access.")
    first_month(life)
    life.notify("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED",
                state(at(29, 23), ACTIVE, at(30)), state(at(30), EXPIRED, at(30)), state(at(200), EXPIRED, at(30)),
                signed=at(3), transaction=life.transaction(signed=at(3)),
                renewal=life.renewal(renews=False, signed=at(3)))  # fmt: skip
    return life


def cancelled_and_renewed():
    life = Life("cancelled-and-renewed", "The customer cancels, changes their mind, and the subscription renews.")
    first_month(life)
    for day, renews in ((3, False), (5, True)):
        life.notify("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED" if renews else "AUTO_RENEW_DISABLED",
                    state(at(day + 1), ACTIVE, at(30)), signed=at(day), transaction=life.transaction(signed=at(day)),
                    renewal=life.renewal(renews=renews, signed=at(day)))  # fmt: skip
    renewed(life, 1, at(30), state(at(31), ACTIVE, at(60)))
    return life


def submitted_by_the_app():
    life = Life("submitted-by-the-app", "The app submits transactions; no notification arrives.")
    life.submit(life.transaction(signed=at(seconds=2)), state(at(1), ACTIVE, at(30)), note="The first purchase.")
    life.submit(life.transaction(1, bought=at(30), signed=at(30)), state(at(31), ACTIVE, at(60)), note="The renewal.")
    return life


def grace_recovered():
    life = Life("grace-period-recovered", "A payment fails, access continues in Apple's grace period, the payment succeeds.")
    first_month(life)
    failed(life, at(30, seconds=20), state(at(31), GRACE, at(46)), state(at(45), GRACE, at(46)), state(at(46), RETRY, at(46)),
           subtype="GRACE_PERIOD", grace=at(46))  # fmt: skip
    renewed(life, 1, at(35), state(at(36), ACTIVE, at(65)), subtype="BILLING_RECOVERY")
    return life


def grace_over():
    life = Life("grace-period-over", "The grace period ends without a payment, and Apple gives up after 60 days.")
    first_month(life)
    failed(life, at(30, seconds=20), state(at(31), GRACE, at(46)), subtype="GRACE_PERIOD", grace=at(46))
    failed(life, at(46, seconds=20), state(at(47), RETRY, at(46)), kind="GRACE_PERIOD_EXPIRED")
    failed(life, at(90), state(at(91), EXPIRED, at(46)), kind="EXPIRED", subtype="BILLING_RETRY", retries=False)
    return life


def retry_recovered():
    life = Life("billing-retry-recovered", "A payment fails without a grace period: no access until it succeeds.")
    first_month(life)
    failed(life, at(30, seconds=20), state(at(31), RETRY, at(30)))
    renewed(life, 1, at(40), state(at(41), ACTIVE, at(70)), subtype="BILLING_RECOVERY")
    return life


def retry_over():
    life = Life("billing-retry-over", "A payment fails without a grace period, and Apple gives up after 60 days.")
    first_month(life)
    failed(life, at(30, seconds=20), state(at(31), RETRY, at(30)))
    failed(life, at(90), state(at(91), EXPIRED, at(30)), kind="EXPIRED", subtype="BILLING_RETRY", retries=False)
    return life


def refund(life, when, *expected, index=0, bought=None, product="pro.monthly", kind="REFUND", renewal=True, original=0, **members):
    life.notify(kind, None, *expected, signed=when,
                transaction=life.transaction(index, product, bought=bought, signed=when, original=original, **members),
                renewal=life.renewal(signed=when, renews=False) if renewal else None)  # fmt: skip


def refunded():
    life = Life("refunded", "Apple refunds the current period: access ends at once.")
    first_month(life)
    refund(life, at(10), state(at(11), REVOKED, at(10)), revocationDate=at(10), revocationReason=0)
    return life


def refund_reversed():
    life = Life("refund-reversed", "Apple refunds the current period and reverses the refund: access is restored.")
    first_month(life)
    refund(life, at(10), state(at(11), REVOKED, at(10)), revocationDate=at(10), revocationReason=0)
    life.notify("REFUND_REVERSED", None, state(at(13), ACTIVE, at(30)), signed=at(12),
                transaction=life.transaction(signed=at(12)), renewal=life.renewal(signed=at(12)))  # fmt: skip
    return life


def earlier_period_refunded():
    life = Life("earlier-period-refunded", "Apple refunds a period that is over: the current one stays.")
    first_month(life)
    renewed(life, 1, at(30), state(at(31), ACTIVE, at(60)))
    life.notify("REFUND", None, state(at(36), ACTIVE, at(60)), signed=at(35),
                transaction=life.transaction(signed=at(35), revocationDate=at(35), revocationReason=1),
                renewal=life.renewal(signed=at(35), expires=at(60)))  # fmt: skip
    return life


def resubscribed():
    life = Life("resubscribed", "An expired subscription is bought again half a year later.")
    first_month(life)
    life.notify("EXPIRED", "VOLUNTARY", state(at(31), EXPIRED, at(30)), signed=at(30, minutes=5),
                transaction=life.transaction(signed=at(30, minutes=5)),
                renewal=life.renewal(renews=False, signed=at(30, minutes=5), expirationIntent=1))  # fmt: skip
    renewed(life, 1, at(200), state(at(201), ACTIVE, at(230)), kind="SUBSCRIBED", subtype="RESUBSCRIBE",
            transactionReason="PURCHASE")  # fmt: skip
    return life


def gap_before_resubscription():
    life = Life("gap-before-resubscription",
                "A backend answers about an instant between two purchases: the later one does not reach back.",
                RECOMMENDED)  # fmt: skip
    first_month(life)
    renewed(life, 1, at(200), state(at(201), ACTIVE, at(230)), state(at(100), EXPIRED, at(30)), state(at(-1), NONE),
            kind="SUBSCRIBED", subtype="RESUBSCRIBE", transactionReason="PURCHASE")  # fmt: skip
    return life


def upgraded():
    life = Life("upgraded", "An upgrade applies at once: the old period ends, the new product adds an entitlement.")
    first_month(life)
    old = life.transaction(signed=at(10), isUpgraded=True, revocationDate=None)
    life.notify("DID_CHANGE_RENEWAL_PREF", "UPGRADE",
                state(at(11), ACTIVE, at(40)), state(at(11), ACTIVE, at(40), "plus"), signed=at(10),
                transaction=life.transaction(1, "plus.monthly", bought=at(10), signed=at(10)),
                renewal=life.renewal("plus.monthly", signed=at(10), expires=at(40)))  # fmt: skip
    life.submit(old, state(at(11), ACTIVE, at(40)), note="The upgraded transaction, from the transaction history.")
    return life


def upgrade_then_refund(life, *between):
    """An upgrade on day 5, the submitted documents `between`, and a refund on day 10."""
    first_month(life)
    upgrade = {"product": "plus.monthly", "bought": at(5)}
    life.notify("DID_CHANGE_RENEWAL_PREF", "UPGRADE",
                state(at(6), ACTIVE, at(35)), state(at(6), ACTIVE, at(35), "plus"), signed=at(5),
                transaction=life.transaction(1, **upgrade, signed=at(5)),
                renewal=life.renewal("plus.monthly", signed=at(5), expires=at(35)))  # fmt: skip
    for document, note in between:
        life.submit(document, state(at(6), ACTIVE, at(35)), note=note)
    life.notify("REFUND", None, state(at(11), REVOKED, at(10)), state(at(11), REVOKED, at(10), "plus"), signed=at(10),
                transaction=life.transaction(1, **upgrade, signed=at(10), revocationDate=at(10), revocationReason=0),
                renewal=life.renewal("plus.monthly", signed=at(10), renews=False, expires=at(35)))  # fmt: skip
    return life


def upgrade_refunded():
    life = Life("upgrade-refunded",
                "Apple refunds the period after an upgrade: the upgraded one does not entitle again, although its end is later.")
    old = life.transaction(signed=at(5), isUpgraded=True)
    return upgrade_then_refund(life, (old, "The upgraded transaction, from the transaction history."))


def upgrade_refunded_unseen():
    life = Life("upgrade-refunded-without-the-upgraded-transaction",
                "As upgrade-refunded by notifications alone: none of them has the transaction that was upgraded, so only the "
                "purchase of the new period shows that the old one is over.")  # fmt: skip
    return upgrade_then_refund(life)


def downgraded():
    life = Life("downgraded", "A downgrade applies at the renewal: until then the entitlements of the higher product stay.")
    life.notify("SUBSCRIBED", "INITIAL_BUY", state(at(1), ACTIVE, at(30), "plus"), signed=at(seconds=1),
                transaction=life.transaction(product="plus.monthly", signed=at(seconds=1)),
                renewal=life.renewal("plus.monthly", signed=at(seconds=1)))  # fmt: skip
    life.notify("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", state(at(11), ACTIVE, at(30), "plus"), signed=at(10),
                transaction=life.transaction(product="plus.monthly", signed=at(10)),
                renewal=life.renewal("plus.monthly", signed=at(10), autoRenewProductId="pro.monthly"))  # fmt: skip
    renewed(life, 1, at(30), state(at(31), ACTIVE, at(60)), state(at(31), EXPIRED, at(30), "plus"))
    return life


def extended():
    life = Life("renewal-extended", "The developer extends the renewal date.")
    first_month(life)
    life.notify("RENEWAL_EXTENDED", None, state(at(31), ACTIVE, at(40)), signed=at(10),
                transaction=life.transaction(signed=at(10), expiresDate=at(40)),
                renewal=life.renewal(signed=at(10), expires=at(40)))  # fmt: skip
    return life


def free_trial():
    life = Life("free-trial", "A free trial of a week becomes a paid month.")
    trial = {"offerType": 1, "offerDiscountType": "FREE_TRIAL", "offerPeriod": "P1W", "price": 0, "expiresDate": at(7)}
    life.notify("SUBSCRIBED", "INITIAL_BUY", state(at(1), ACTIVE, at(7)), signed=at(seconds=1),
                transaction=life.transaction(signed=at(seconds=1), **trial),
                renewal=life.renewal(signed=at(seconds=1), expires=at(7)))  # fmt: skip
    renewed(life, 1, at(7), state(at(8), ACTIVE, at(37)))
    return life


def price_increase():
    life = Life("price-increase-not-accepted", "The customer does not consent to a higher price: the subscription ends.")
    first_month(life)
    life.notify("PRICE_INCREASE", "PENDING", state(at(6), ACTIVE, at(30)), signed=at(5),
                transaction=life.transaction(signed=at(5)),
                renewal=life.renewal(signed=at(5), priceIncreaseStatus=0, renewalPrice=9990))  # fmt: skip
    life.notify("EXPIRED", "PRICE_INCREASE", state(at(31), EXPIRED, at(30)), signed=at(30, minutes=5),
                transaction=life.transaction(signed=at(30, minutes=5)),
                renewal=life.renewal(renews=False, signed=at(30, minutes=5), expirationIntent=3, priceIncreaseStatus=0))  # fmt: skip
    return life


def lifetime():
    life = Life("non-consumable", "A non-consumable entitles without end.")
    life.notify("ONE_TIME_CHARGE", None, state(at(1), ACTIVE), state(at(3650), ACTIVE), signed=at(seconds=1),
                transaction=life.transaction(product="lifetime", signed=at(seconds=1)))  # fmt: skip
    return life


def lifetime_refunded():
    life = Life("non-consumable-refunded", "A refund takes a non-consumable back.")
    life.notify("ONE_TIME_CHARGE", None, state(at(1), ACTIVE), signed=at(seconds=1),
                transaction=life.transaction(product="lifetime", signed=at(seconds=1)))  # fmt: skip
    refund(life, at(10), state(at(11), REVOKED, at(10)), product="lifetime", renewal=False, revocationDate=at(10),
           revocationReason=1)  # fmt: skip
    return life


def consumable():
    life = Life("consumable", "A consumable grants no entitlement.")
    life.notify("ONE_TIME_CHARGE", None, state(at(1), NONE), signed=at(seconds=1),
                transaction=life.transaction(product="coins.100", signed=at(seconds=1)))  # fmt: skip
    return life


def family():
    life = Life("family-sharing-ended", "A family member has access until the purchaser stops sharing.")
    first_month(life, inAppOwnershipType="FAMILY_SHARED")
    life.notify("REVOKE", None, state(at(6), REVOKED, at(5)), signed=at(5),
                transaction=life.transaction(signed=at(5), inAppOwnershipType="FAMILY_SHARED", revocationDate=at(5),
                                             revocationReason=0),
                renewal=life.renewal(signed=at(5)))  # fmt: skip
    return life


def late_failure():
    life = Life("failure-after-recovery",
                "The notification of a failed payment arrives after that of the recovery. The documents say what is newer, "
                "not their arrival.")  # fmt: skip
    first_month(life)
    renewed(life, 1, at(31), state(at(32), ACTIVE, at(61)), subtype="BILLING_RECOVERY")
    failed(life, at(30, seconds=20), state(at(33), ACTIVE, at(61)))
    return life


def old_news():
    life = Life("old-notification-after-a-refund", "A notification from before a refund arrives after it: the refund stays.")
    life.notify("SUBSCRIBED", "INITIAL_BUY", state(at(1), ACTIVE, at(30)), signed=at(seconds=1),
                transaction=life.transaction(signed=at(seconds=1)), renewal=life.renewal(signed=at(seconds=1)))  # fmt: skip
    refund(life, at(10), state(at(11), REVOKED, at(10)), revocationDate=at(10), revocationReason=0)
    life.notify("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", state(at(12), REVOKED, at(10)), signed=at(4),
                transaction=life.transaction(signed=at(4)), renewal=life.renewal(renews=False, signed=at(4)),
                note="Signed on day 4, delivered after the refund of day 10.")  # fmt: skip
    return life


def repeated():
    life = Life("repeated-notifications", "Apple sends a notification again when it has doubts; the app submits old transactions.")
    first_month(life)
    renewed(life, 1, at(30), state(at(31), ACTIVE, at(60)))
    life.again(0, state(at(31), ACTIVE, at(60)), note="The first notification, again.")
    life.again(1, state(at(31), ACTIVE, at(60)), note="The second notification, again.")
    life.submit(life.transaction(signed=at(31)), state(at(32), ACTIVE, at(60)),
                note="The app submits the first transaction, signed later than the renewal.")  # fmt: skip
    return life


def one_period_two_ids():
    life = Life("one-period-two-transaction-ids",
                "After a restore, one period has two transaction ids and one webOrderLineItemId; a refund names one of them.",
                RECOMMENDED)  # fmt: skip
    first_month(life)
    same = {"webOrderLineItemId": str(2_000_000_070_000_000 + life.first)}
    life.submit(life.transaction(1, signed=at(2), **same), state(at(3), ACTIVE, at(30)), note="The copy of a restore.")
    refund(life, at(10), state(at(11), REVOKED, at(10)), revocationDate=at(10), revocationReason=0)
    return life


def cancelled_in_grace():
    life = Life("cancelled-in-grace-period", "The customer cancels in the grace period: the App Store ends the subscription at once.",
                RECOMMENDED)  # fmt: skip
    first_month(life)
    failed(life, at(30, seconds=20), state(at(31), GRACE, at(46)), subtype="GRACE_PERIOD", grace=at(46))
    life.notify("EXPIRED", "VOLUNTARY", state(at(34), EXPIRED, at(33)), signed=at(33),
                transaction=life.transaction(signed=at(33)),
                renewal=life.renewal(renews=False, signed=at(33), expirationIntent=1))  # fmt: skip
    return life


def nothing():
    life = Life("test-notification", "A test notification changes nothing.")
    life.notify("TEST", None, state(at(1), NONE), signed=at())
    return life
