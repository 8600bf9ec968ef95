"""Every notification that Apple documents, signed as the sandbox App Store signs: its explanation and its effect."""

import contextlib
import time
import uuid

import pytest

import contract
import forge
from contract import app_store_service, entitlement_service, notification_service
from harness import CALL_LIMIT, Service, post
from test_app_store import APP, World, timeline

DAY = 86_400_000
NOW = int(time.time()) * 1000
CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    shared_secret: {file: SECRET}
    status_polling: false
    gap_repair: false
    products:
      pro.yearly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1Y, price: 39.99, currency: USD}
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1M, price: 4.99, currency: USD}
      pro.basic: {type: Auto-Renewable Subscription, group: pro, level: 3, entitlements: [pro], period: P1M, price: 2.99, currency: USD}
      lifetime: {type: Non-Consumable, entitlements: [pro], price: 99.99, currency: USD}
      coins: {type: Consumable, price: 0.99, currency: USD}
"""


@contextlib.contextmanager
def running(folder):
    secret = folder / "secret"
    secret.write_text("a secret of ours")
    secret.chmod(0o600)
    (folder / "entitled.yaml").write_text(CONFIGURATION.replace("SECRET", str(secret)))
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    yield service
    service.stop()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("every")) as service:
        yield service


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Another service, because tests with the sandbox's purchases move its clock, and the order of tests is not fixed."""
    with running(tmp_path_factory.mktemp("simulated")) as service:
        yield service


@pytest.fixture(scope="module")
def forger(service):
    return forge.Forger(service)


class Line:
    """One purchase of a customer whose id is the app account token, and Apple's signed documents about it."""

    def __init__(self, service, forger):
        self.service, self.forger = service, forger
        self.customer = str(uuid.uuid4())
        self.number = str(uuid.uuid4().int % 10**15)
        self.signed = 0

    def transaction(self, begin, end, product="pro.monthly", name="", **members):
        """A period from one day to another, relative to now; an end of `None` means no expiry."""
        self.signed += 1
        return self.forger.transaction(
            transactionId=self.number + name, originalTransactionId=self.number, productId=product,
            purchaseDate=NOW + begin * DAY, originalPurchaseDate=NOW - 90 * DAY, appAccountToken=self.customer,
            expiresDate=None if end is None else NOW + end * DAY, signedDate=NOW + self.signed, **members)

    def renewal(self, product="pro.monthly", **members):
        self.signed += 1
        payload = {
            "originalTransactionId": self.number, "productId": product, "autoRenewProductId": product,
            "autoRenewStatus": 1, "environment": "Sandbox", "signedDate": NOW + self.signed,
        }  # fmt: skip
        return forge.sign(payload | members, self.forger.chain, self.forger.leaf_key)

    def notify(self, notification_type, subtype=None, transaction=None, renewal=None, **parts):
        data = {"bundleId": "com.example.oceanjournal", "environment": "Sandbox"}
        if transaction:
            data["signedTransactionInfo"] = transaction
        if renewal:
            data["signedRenewalInfo"] = renewal
        if "consumptionRequestReason" in parts:
            data["consumptionRequestReason"] = parts.pop("consumptionRequestReason")
        payload = {
            "notificationType": notification_type, "notificationUUID": str(uuid.uuid4()), "version": "2.0",
            "signedDate": NOW + self.signed, **(parts or {"data": data}),
        }  # fmt: skip
        if subtype:
            payload["subtype"] = subtype
        body = {"signedPayload": forge.sign(payload, self.forger.chain, self.forger.leaf_key)}
        return post(f"http://{self.service.http}/notifications/{APP}", body)


ACTIVE, OFF = "SUBSCRIPTION_ACTIVE", "SUBSCRIPTION_NOT_RENEWING"
RUNNING = lambda line: (line.transaction(-10, 20), line.renewal())  # noqa: E731
EXPIRED = lambda line: (line.transaction(-60, -30), line.renewal(autoRenewStatus=0, expirationIntent=1))  # noqa: E731
LAPSED = lambda line: (line.transaction(-40, -10), None)  # noqa: E731
RETRYING = lambda line: (line.transaction(-40, -10), line.renewal(isInBillingRetryPeriod=True, expirationIntent=2))  # noqa: E731
GRACE = {"isInBillingRetryPeriod": True, "expirationIntent": 2}


def data(**parts):
    """Notification data that concerns no purchase."""
    return lambda line: {name: {"bundleId": "com.example.oceanjournal", **part} for name, part in parts.items()}


def signed(transaction=None, renewal=None, **parts):
    """Documents about the purchase, each made when the test needs it."""
    def make(line):
        documents = dict(parts)
        if transaction:
            documents["transaction"] = transaction(line)
        if renewal:
            documents["renewal"] = renewal(line)
        return documents
    return make


# type, subtype, previous state, Apple's documents, words of the explanation, events, the answer's reason afterwards.
NEW = None
CASES = [
    ("SUBSCRIBED", "INITIAL_BUY", NEW, signed(lambda x: x.transaction(-1, 29), lambda x: x.renewal()),
     "subscribed for the first time", ["STARTED"], ACTIVE),
    ("SUBSCRIBED", "RESUBSCRIBE", EXPIRED, signed(lambda x: x.transaction(-1, 364, "pro.yearly", "2"), lambda x: x.renewal("pro.yearly")),
     "resubscribed", ["STARTED"], ACTIVE),
    ("DID_RENEW", None, LAPSED, signed(lambda x: x.transaction(-10, 20, name="2"), lambda x: x.renewal()),
     "renewed", ["RENEWED"], ACTIVE),
    ("DID_RENEW", "BILLING_RECOVERY", RETRYING, signed(lambda x: x.transaction(-1, 29, name="2", transactionReason="RENEWAL"), lambda x: x.renewal()),
     "recovered", ["RECOVERED"], ACTIVE),
    ("DID_CHANGE_RENEWAL_PREF", "UPGRADE", RUNNING, signed(lambda x: x.transaction(-1, 364, "pro.yearly", "2"), lambda x: x.renewal("pro.yearly")),
     "upgraded; it is effective immediately", ["PRODUCT_CHANGED"], ACTIVE),
    ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", RUNNING, signed(lambda x: x.transaction(-10, 20), lambda x: x.renewal(autoRenewProductId="pro.basic")),
     "will change to another product", ["RENEWAL_PRODUCT_CHANGED"], ACTIVE),
    ("DID_CHANGE_RENEWAL_PREF", None, lambda x: (x.transaction(-10, 20), x.renewal(autoRenewProductId="pro.basic")),
     signed(renewal=lambda x: x.renewal()), "cancelled a pending change", ["RENEWAL_PRODUCT_CHANGED"], ACTIVE),
    ("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", RUNNING, signed(lambda x: x.transaction(-10, 20, quantity=3)),
     "added seats", [], ACTIVE),
    ("DID_CHANGE_RENEWAL_PREF", "DECREASE_QUANTITY", RUNNING, signed(renewal=lambda x: x.renewal()),
     "number of seats will decrease", [], ACTIVE),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", RUNNING, signed(renewal=lambda x: x.renewal(autoRenewStatus=0)),
     "turned off", ["RENEWAL_TURNED_OFF"], OFF),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", lambda x: (x.transaction(-10, 20), x.renewal(autoRenewStatus=0)),
     signed(renewal=lambda x: x.renewal()), "turned auto-renew on", ["RENEWAL_TURNED_ON"], ACTIVE),
    ("OFFER_REDEEMED", None, RUNNING, signed(lambda x: x.transaction(20, 50, name="2", offerType=2, offerIdentifier="o")),
     "redeemed an offer for the active", ["RENEWED"], ACTIVE),
    ("OFFER_REDEEMED", "UPGRADE", RUNNING, signed(lambda x: x.transaction(-1, 364, "pro.yearly", "2", offerType=2), lambda x: x.renewal("pro.yearly")),
     "redeemed an offer to upgrade", ["PRODUCT_CHANGED"], ACTIVE),
    ("OFFER_REDEEMED", "DOWNGRADE", RUNNING, signed(renewal=lambda x: x.renewal(autoRenewProductId="pro.basic", offerType=2, offerIdentifier="o")),
     "redeemed an offer to downgrade", ["RENEWAL_PRODUCT_CHANGED"], ACTIVE),
    ("OFFER_REDEEMED", "INITIAL_BUY", NEW, signed(lambda x: x.transaction(-1, 29, offerType=3), lambda x: x.renewal()),
     "first time with an offer", ["STARTED"], ACTIVE),
    ("OFFER_REDEEMED", "RESUBSCRIBE", EXPIRED, signed(lambda x: x.transaction(-1, 29, name="2", offerType=4), lambda x: x.renewal()),
     "resubscribed with an offer", ["STARTED"], ACTIVE),
    ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", LAPSED, signed(lambda x: x.transaction(-40, -10), lambda x: x.renewal(**GRACE, gracePeriodExpiresDate=NOW + 6 * DAY)),
     "the grace period is active", ["ENTERED_GRACE_PERIOD"], "IN_GRACE_PERIOD"),
    ("DID_FAIL_TO_RENEW", None, LAPSED, signed(lambda x: x.transaction(-40, -10), lambda x: x.renewal(**GRACE)),
     "there is no grace period", ["ENTERED_BILLING_RETRY"], "BILLING_RETRY"),
    ("GRACE_PERIOD_EXPIRED", None, lambda x: (x.transaction(-40, -10), x.renewal(**GRACE, gracePeriodExpiresDate=NOW + DAY)),
     signed(renewal=lambda x: x.renewal(**GRACE)), "grace period ended", ["ENDED", "ENTERED_BILLING_RETRY"], "BILLING_RETRY"),
    ("EXPIRED", "VOLUNTARY", LAPSED, signed(renewal=lambda x: x.renewal(autoRenewStatus=0, expirationIntent=1)),
     "had turned auto-renew off", ["REASON_CHANGED"], "CANCELLED"),
    ("EXPIRED", "BILLING_RETRY", RETRYING, signed(renewal=lambda x: x.renewal(autoRenewStatus=0, isInBillingRetryPeriod=False, expirationIntent=2)),
     "was not recovered", ["REASON_CHANGED"], "BILLING_LAPSED"),
    ("EXPIRED", "PRICE_INCREASE", LAPSED, signed(renewal=lambda x: x.renewal(autoRenewStatus=0, expirationIntent=3)),
     "did not accept a price increase", ["REASON_CHANGED"], "PRICE_INCREASE_NOT_ACCEPTED"),
    ("EXPIRED", "PRODUCT_NOT_FOR_SALE", LAPSED, signed(renewal=lambda x: x.renewal(autoRenewStatus=0, expirationIntent=4)),
     "no longer for sale", ["REASON_CHANGED"], "PRODUCT_UNAVAILABLE"),
    ("EXPIRED", None, LAPSED, signed(renewal=lambda x: x.renewal(autoRenewStatus=0, expirationIntent=5)),
     "Apple sent no reason", [], "EXPIRED"),
    ("PRICE_INCREASE", "PENDING", RUNNING, signed(renewal=lambda x: x.renewal(priceIncreaseStatus=0, renewalPrice=5990)),
     "was asked to accept", [], ACTIVE),
    ("PRICE_INCREASE", "ACCEPTED", RUNNING, signed(renewal=lambda x: x.renewal(priceIncreaseStatus=1, renewalPrice=5990)),
     "accepted a price increase", [], ACTIVE),
    ("REFUND", None, RUNNING, signed(lambda x: x.transaction(-10, 20, revocationDate=NOW - 1, revocationReason=1)),
     "was refunded", ["REFUNDED"], "REFUNDED_FOR_APP_ISSUE"),
    ("REFUND", "SEATS", lambda x: (x.transaction(-10, 20, quantity=3), x.renewal()),
     signed(lambda x: x.transaction(-10, 20, quantity=3, multiSeatInfo={"revokedSeatQuantity": 1})),
     "Some seats of a purchase were refunded", ["REFUNDED"], ACTIVE),
    ("REFUND_REVERSED", None, lambda x: (x.transaction(-10, 20, revocationDate=NOW - DAY, revocationReason=0), x.renewal()),
     signed(lambda x: x.transaction(-10, 20)), "refund was reversed", ["REFUND_REVERSED"], ACTIVE),
    ("REFUND_DECLINED", None, RUNNING, signed(lambda x: x.transaction(-10, 20)), "declined a refund", [], ACTIVE),
    ("REVOKE", None, lambda x: (x.transaction(-10, 20, inAppOwnershipType="FAMILY_SHARED"), x.renewal()),
     signed(lambda x: x.transaction(-10, 20, inAppOwnershipType="FAMILY_SHARED", revocationDate=NOW - 1, revocationReason=0)),
     "no longer shared", ["REVOKED"], "FAMILY_SHARING_ENDED"),
    ("CONSUMPTION_REQUEST", None, RUNNING, signed(lambda x: x.transaction(-10, 20), consumptionRequestReason="OTHER"),
     "within 12 hours", ["REFUND_REQUESTED"], ACTIVE),
    ("RENEWAL_EXTENDED", None, RUNNING, signed(lambda x: x.transaction(-10, 27), lambda x: x.renewal(renewalDate=NOW + 27 * DAY)),
     "renewal date was extended", ["EXTENDED"], ACTIVE),
    ("RENEWAL_EXTENSION", "SUMMARY", RUNNING, data(summary={
        "environment": "Sandbox", "requestIdentifier": "r", "productId": "pro.monthly", "succeededCount": 5, "failedCount": 1}),
     "mass extension of renewal dates is complete", [], ACTIVE),
    ("RENEWAL_EXTENSION", "FAILURE", RUNNING, signed(lambda x: x.transaction(-10, 20)), "failed for one", [], ACTIVE),
    ("ONE_TIME_CHARGE", None, NEW, signed(lambda x: x.transaction(-1, None, "lifetime", type="Non-Consumable")),
     "one-time purchase", ["PURCHASED", "STARTED"], "NON_CONSUMABLE_OWNED"),
    ("PRICE_CHANGE", None, RUNNING, signed(renewal=lambda x: x.renewal(renewalPrice=1990)), "price of an Advanced", [], ACTIVE),
    ("METADATA_UPDATE", None, RUNNING, signed(renewal=lambda x: x.renewal()), "metadata of an Advanced", [], ACTIVE),
    ("MIGRATION", None, RUNNING, signed(renewal=lambda x: x.renewal()), "migrated to Advanced Commerce", [], ACTIVE),
    ("MIGRATE", None, RUNNING, signed(renewal=lambda x: x.renewal()), "migrated to Advanced Commerce", [], ACTIVE),
    ("RESCIND_CONSENT", None, RUNNING, data(appData={"environment": "Sandbox", "appAppleId": 1234567890}),
     "withdrew consent", [], ACTIVE),
    *[("EXTERNAL_PURCHASE_TOKEN", subtype, RUNNING,
       data(externalPurchaseToken={"externalPurchaseId": "SANDBOX_1", "tokenCreationDate": NOW, "appAppleId": 1234567890}),
       words, [], ACTIVE)
      for subtype, words in [("CREATED", "was created"), ("ACTIVE_TOKEN_REMINDER", "needs a report"),
                             ("UNREPORTED", "was not reported")]],
    ("UNCLAIM_SEATS", None, RUNNING, data(unclaimInfo={"environment": "Sandbox", "unclaimSeatIds": ["unclaimed"]}),
     "Seats of a group subscription were released", [], ACTIVE),
    ("TEST", None, RUNNING, signed(), "test notification", [], ACTIVE),
]  # fmt: skip


def answer(service, channel, customer):
    request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
    return contract.entitlement_stub(channel).Check(request, timeout=CALL_LIMIT).entitlement


def events_and_explanations(channel, customer):
    """The customer's events, and the explanations of the notifications."""
    request = entitlement_service.ListTimelineRequest(app=APP, customer_id=customer, include_notifications=True)
    page = contract.entitlement_stub(channel).ListTimeline(request, timeout=CALL_LIMIT)
    return [event.type for event in page.events], [entry.explanation for entry in page.notifications]


@pytest.mark.parametrize(
    "kind, subtype, before, sent, words, events, reason", CASES,
    ids=[f"{case[0]}-{case[1]}" if case[1] else case[0] for case in CASES])  # fmt: skip
def test_version_2_is_explained_and_applied(service, forger, kind, subtype, before, sent, words, events, reason):
    line = Line(service, forger)
    with service.channel() as channel:
        receipts = contract.receipt_stub(channel)
        transaction, renewal = before(line) if before else (line.transaction(-80, None, "coins", type="Consumable"), None)
        if not before:
            line.number = str(uuid.uuid4().int % 10**15)
        receipts.SubmitTransaction(
            contract.receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=line.customer, signed_transaction=transaction, signed_renewal_info=renewal or ""),
            timeout=CALL_LIMIT)
        earlier, _ = events_and_explanations(channel, line.customer)
        documents = sent(line)
        status, response = line.notify(kind, subtype, **documents)
        assert status == 200 and response["reason"] in ("APPLIED", "SUPERSEDED"), response
        assert words in response["explanation"]
        now, explanations = events_and_explanations(channel, line.customer)
        assert now[len(earlier):] == events
        is_about_a_purchase = {"transaction", "renewal"} & documents.keys()
        assert explanations == ([response["explanation"]] if is_about_a_purchase else [])
        assert answer(service, channel, line.customer).reason == reason
        stored = contract.notification_stub(channel).ListNotifications(
            notification_service.ListNotificationsRequest(app=APP, page_size=1), timeout=CALL_LIMIT).notifications[0]
        assert (stored.notification_type, stored.subtype, stored.explanation) == (kind, subtype or "", response["explanation"])


def test_the_cases_cover_every_notification_type_and_subtype():
    """As many as Apple documents and NotificationMeaningTests explains; MIGRATE is MIGRATION."""
    assert len({case[:2] for case in CASES}) == len(CASES) == 46


class Shop(World):
    """A world whose App Store sends nothing; the test posts version 1 notifications itself."""

    def __init__(self, service):
        super().__init__(service)
        self.act("notification-url", app=APP)
        self.customer = str(uuid.uuid4())
        self.account = f"account-{self.customer}"
        # An existing customer with a linked app account token.
        self.buy(self.customer, "coins")

    def purchase(self, product="pro.monthly"):
        return self.act("purchases", app=APP, productId=product, account=self.account,
                        appAccountToken=self.customer)["transactionId"]  # fmt: skip

    def notify(self, kind, transaction):
        body = {
            "notification_type": kind, "password": "a secret of ours", "environment": "Sandbox",
            "bid": "com.example.oceanjournal", "original_transaction_id": transaction,
        }  # fmt: skip
        return post(f"http://{self.service.http}/notifications/{APP}", body)


def subscription(*actions):
    """A subscription stored by the service, changed by these actions."""
    def make(shop):
        bought = shop.buy(shop.customer)
        for action, members in actions:
            named = {name: value.format(bought=bought, account=shop.account) if isinstance(value, str) else value
                     for name, value in members.items()}  # fmt: skip
            shop.act(action, **named)
        return bought
    return make


def shared(shop):
    """A family member whose sharing has ended."""
    shop.act("shareable", app=APP, productId="pro.yearly", enabled=True)
    family = f"family-{shop.customer}"
    for account in ("payer-" + shop.customer, shop.account):
        shop.act("join-family", account=account, family=family)
    bought = shop.act("purchases", app=APP, productId="pro.yearly", account="payer-" + shop.customer)["transactionId"]
    shop.act("share", transactionId=bought)
    restored = shop.act("restore", app=APP, account=shop.account)
    contract.receipt_stub(shop.channel).SubmitTransaction(
        contract.receipt_service.SubmitTransactionRequest(
            app=APP, customer_id=shop.customer, signed_transaction=restored["signedTransactions"][0]), timeout=CALL_LIMIT)
    assert shop.check(shop.customer).entitled
    shop.act("stop-sharing", transactionId=bought)
    return restored["originalTransactionId"]


def refunded_lifetime(shop):
    bought = shop.buy(shop.customer, "lifetime")
    shop.act("refund", transactionId=bought, reason="OTHER")
    return bought


def resubscribed(shop):
    bought = subscription(("auto-renew", {"transactionId": "{bought}", "enabled": False}), ("clock/advance", {"by": "40d"}))(shop)
    shop.purchase("pro.yearly")
    return bought


LAPSE = [("billing", {"account": "{account}", "fails": True}), ("clock/advance", {"by": "32d"})]
PURCHASE = {"app": APP, "account": "{account}"}
# type, actions at Apple, words of the explanation, events, the answer's reason afterwards.
FIRST = [
    ("INITIAL_BUY", Shop.purchase, "subscribed for the first time", ["STARTED"], ACTIVE),
    ("INTERACTIVE_RENEWAL", resubscribed, "resubscribed or upgraded", ["ENDED", "STARTED"], ACTIVE),
    ("CANCEL", subscription(("refund", {"transactionId": "{bought}", "reason": "OTHER"})), "refunded or replaced",
     ["REFUNDED"], "REFUNDED"),
    ("DID_CHANGE_RENEWAL_PREF", subscription(("purchases", PURCHASE | {"productId": "pro.basic"})), "another product",
     ["RENEWAL_PRODUCT_CHANGED"], ACTIVE),
    ("DID_CHANGE_RENEWAL_STATUS", subscription(("auto-renew", {"transactionId": "{bought}", "enabled": False})),
     "turned on or off", ["RENEWAL_TURNED_OFF"], OFF),
    ("DID_FAIL_TO_RENEW", subscription(*LAPSE), "renewal payment failed", ["ENDED", "ENTERED_BILLING_RETRY"], "BILLING_RETRY"),
    ("DID_RECOVER", subscription(*LAPSE, ("billing", {"account": "{account}", "fails": False})), "recovered",
     ["ENDED", "RECOVERED"], ACTIVE),
    ("DID_RENEW", subscription(("clock/advance", {"by": "32d"})), "renewed", ["ENDED", "RENEWED"], ACTIVE),
    ("PRICE_INCREASE_CONSENT",
     subscription(("price", {"app": APP, "productId": "pro.monthly", "price": 5990, "needsConsent": True, "notice": "0s"})),
     "asked to accept", [], ACTIVE),
    ("REFUND", refunded_lifetime, "was refunded", ["REFUNDED"], "REFUNDED"),
    ("REVOKE", shared, "no longer shared", ["REVOKED"], "FAMILY_SHARING_ENDED"),
    ("CONSUMPTION_REQUEST", subscription(), "requested a refund", ["REFUND_REQUESTED"], ACTIVE),
]  # fmt: skip


@pytest.mark.parametrize("kind, make, words, events, reason", FIRST, ids=[case[0] for case in FIRST])
def test_version_1_is_explained_and_applied(simulated, kind, make, words, events, reason):
    shop = Shop(simulated)
    bought = make(shop)
    known = ["PURCHASED"]  # The coins that made the customer known.
    if make is refunded_lifetime:
        known.append("PURCHASED")
    if kind != "INITIAL_BUY":
        known.append("STARTED")
    status, response = shop.notify(kind, bought)
    assert status == 200 and words in response["explanation"], response
    kinds, explanations = events_and_explanations(shop.channel, shop.customer)
    assert kinds == known + events and explanations == [response["explanation"]]
    assert shop.check(shop.customer).reason == reason
    if kind == "CONSUMPTION_REQUEST":
        listed = shop.apple.ListConsumptionRequests(
            app_store_service.ListConsumptionRequestsRequest(app=APP, customer_id=shop.customer), timeout=CALL_LIMIT)
        assert [one.transaction_id for one in listed.requests] == [bought]
    shop.channel.close()


def test_a_repeated_version_1_notification_is_a_duplicate(simulated):
    shop = Shop(simulated)
    bought = subscription(("refund", {"transactionId": "{bought}", "reason": "OTHER"}))(shop)
    first = shop.notify("CANCEL", bought)
    events = [event.type for event in timeline(shop, shop.customer)]
    assert first == shop.notify("CANCEL", bought) and first[1]["reason"] == "APPLIED"
    assert [event.type for event in timeline(shop, shop.customer)] == events
    listed = contract.notification_stub(shop.channel).ListNotifications(
        notification_service.ListNotificationsRequest(app=APP, customer_id=shop.customer), timeout=CALL_LIMIT)
    assert [one.notification_type for one in listed.notifications] == ["CANCEL"]
    shop.channel.close()


def test_a_version_2_duplicate_of_version_1_makes_no_second_event(simulated):
    shop = Shop(simulated)
    bought = subscription(("refund", {"transactionId": "{bought}", "reason": "OTHER"}))(shop)
    assert shop.notify("CANCEL", bought)[1]["reason"] == "APPLIED"
    events = [event.type for event in timeline(shop, shop.customer)]
    shop.act("notification-url", app=APP, url=f"http://{simulated.http}/notifications/{APP}", version=2)
    shop.act("decline-refund", transactionId=bought)
    shop.deliver()
    shop.act("notification-url", app=APP)
    assert [event.type for event in timeline(shop, shop.customer)] == events == ["PURCHASED", "STARTED", "REFUNDED"]
    listed = contract.notification_stub(shop.channel).ListNotifications(
        notification_service.ListNotificationsRequest(app=APP, customer_id=shop.customer), timeout=CALL_LIMIT)
    assert [(one.version, one.notification_type) for one in listed.notifications] == [
        (2, "REFUND_DECLINED"), (1, "CANCEL")]
    shop.channel.close()
