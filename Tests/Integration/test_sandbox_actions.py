"""Every action of the sandbox, by HTTP and by command: both have the same effects, and the notifications are Apple's."""

import json
import urllib.request
import uuid

import pytest

from harness import environment, post, run

APP = "ocean"
CONFIGURATION = """apps:
  ocean:
    bundle_id: com.example.ocean
    apple_id: 1
    environments: [Sandbox]
    products:
      silver: {type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1M, price: 4.99, currency: USD}
      silver.year: {type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1Y, price: 39.99, monthly_price: 3.99, currency: USD}
      gold: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M, price: 9.99, currency: USD}
      unlock: {type: Non-Consumable, entitlements: [pro], price: 99.99, currency: USD}
      coins: {type: Consumable, price: 0.99, currency: USD}
"""


class ByHTTP:
    def __init__(self, service):
        self.service = service
        self.done = []

    def do(self, action, **members):
        """Performs an action and returns its response; stores the notifications."""
        answer = self.ask(action, members)
        self.done.append((action, answer.get("status"), answer["notifications"]))
        return answer

    def ask(self, action, members):
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, (action, members, answer)
        return answer

    def advance(self, by):
        self.done.append(("advance", None, self.ask("clock/advance", {"by": by})["notifications"]))

    def notifications(self):
        """The notifications of the last action."""
        return self.done[-1][2]


class ByCommand(ByHTTP):
    def ask(self, action, members):
        words = [f"{name}={json.dumps(value) if isinstance(value, bool) else value}" for name, value in members.items()]
        command = ["advance", members["by"]] if action == "clock/advance" else ["do", action, *words]
        done = run("sandbox", *command, env=environment() | {"ENTITLED_SANDBOX": self.service.sandbox})
        assert done.returncode == 0, (action, members, done.stderr)
        return json.loads(done.stdout)


def buy(tester, account, product, **more):
    return tester.do("purchases", app=APP, productId=product, account=account, **more)["transactionId"]


def live(tester):
    """Performs every action at least once."""
    ann, ben = buy_with_offers(tester)
    paid = change_products(tester, ann)
    fail_payments(tester)
    pay_a_commitment(tester)
    change_price_and_dates(tester, ann)
    unlock = refund(tester, ann, paid)
    share(tester, unlock)
    assign_seats(tester)
    claim_seats(tester)
    change_settings(tester, ben)


def buy_with_offers(tester):
    """Buys with an offer of each kind; returns the transactions of ann and ben."""
    do, notifications = tester.do, tester.notifications
    trial = {"mode": "FREE_TRIAL", "period": "P1W"}
    do("grace-period", app=APP, days=16)
    # By default the times of charges depend on the seed, which two sandboxes do not share.
    do("renewal-timing", chargeLead="0s", failureDelay="0s", staleFailures=0)
    do("offers", app=APP, productId="silver", id="trial", type="INTRODUCTORY", **trial)
    do("offers", app=APP, productId="silver", id="back", type="WIN_BACK", **trial)
    do("offers", app=APP, productId="silver", id="loyal", type="PROMOTIONAL", mode="PAY_AS_YOU_GO",
       period="P1M", periods=3, price=990)  # fmt: skip
    do("offers", app=APP, productId="silver", id="code", type="CODE", mode="PAY_UP_FRONT", period="P3M", price=1990)
    ann = buy(tester, "ann", "silver", offer="trial")
    assert notifications() == ["SUBSCRIBED/INITIAL_BUY"]
    ben = buy(tester, "ben", "silver", offer="code")
    buy(tester, "ann", "silver", offer="loyal")
    assert notifications()[0].startswith("OFFER_REDEEMED")
    return ann, ben


def change_products(tester, ann):
    """Changes to other products of the group, up, down and across; returns the first upgrade."""
    do, notifications = tester.do, tester.notifications
    paid = buy(tester, "ann", "gold")
    assert notifications() == ["DID_CHANGE_RENEWAL_PREF/UPGRADE"]
    buy(tester, "ann", "silver")
    assert notifications() == ["DID_CHANGE_RENEWAL_PREF/DOWNGRADE"]
    buy(tester, "ann", "gold")
    assert notifications() == ["DID_CHANGE_RENEWAL_PREF"]
    buy(tester, "ben", "silver.year")
    do("auto-renew", transactionId=ann, enabled=False)
    assert notifications() == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"]
    do("auto-renew", transactionId=ann, enabled=True)
    do("restore", app=APP, account="ann")
    return paid


def fail_payments(tester):
    """Payments that fail and succeed later: in the grace period, and after it."""
    do, notifications = tester.do, tester.notifications
    for days, state in [("32d", "GRACE_PERIOD"), ("49d", None)]:
        do("billing", account="ann", fails=True)
        tester.advance(days)
        assert any(name.startswith("DID_FAIL_TO_RENEW") for name in notifications())
        assert ("GRACE_PERIOD_EXPIRED" in notifications()) == (state is None)
        do("billing", account="ann", fails=False)
        assert notifications() == ["DID_RENEW/BILLING_RECOVERY"]


def pay_a_commitment(tester):
    """A commitment to twelve payments, which a cancellation does not end."""
    do, notifications = tester.do, tester.notifications
    do("commitment-rules", app=APP, expiredSubtype="VOLUNTARY", lastPeriodAutoRenewStatus=1)
    do("storefront", account="cleo", storefront="DEU")
    cleo = buy(tester, "cleo", "silver.year", billingPlanType="MONTHLY")
    do("auto-renew", transactionId=cleo, enabled=False)
    tester.advance("31d")
    assert notifications().count("DID_RENEW") >= 1


def change_price_and_dates(tester, ann):
    do, notifications = tester.do, tester.notifications
    do("price", app=APP, productId="gold", price=10990, needsConsent=True, notice="0s")
    assert "PRICE_INCREASE/PENDING" in notifications()
    do("price-consent", transactionId=ann, agreed=True)
    do("price", app=APP, productId="gold", price=11990, storefront="DEU")
    do("extend", transactionId=ann, days=7)
    assert notifications() == ["RENEWAL_EXTENDED"]
    do("extension-time", app=APP, by="0s")
    do("mass-extend", app=APP, productId="gold", days=3, requestIdentifier=str(uuid.UUID(int=1)))


def refund(tester, ann, paid):
    """Requests, declines, grants and reverses refunds; returns the transaction of a non-consumable."""
    do, notifications = tester.do, tester.notifications
    do("request-consumption", transactionId=ann, reason="UNINTENDED_PURCHASE")
    assert notifications() == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "CONSUMPTION_REQUEST"]
    do("decline-refund", transactionId=ann)
    assert notifications() == ["REFUND_DECLINED"]
    unlock = buy(tester, "ann", "unlock")
    do("refund", transactionId=unlock, percent=50, reason="OTHER")
    do("reverse-refund", transactionId=unlock)
    assert notifications() == ["REFUND_REVERSED"]
    do("refund", transactionId=paid, reason="APP_ISSUE")
    assert "REFUND" in notifications()
    return unlock


def share(tester, unlock):
    """Requests of children, and a family."""
    do, notifications = tester.do, tester.notifications
    request = do("purchases", app=APP, productId="unlock", account="kid", askToBuy=True)["request"]
    do("ask-to-buy", request=request, approved=True)
    request = do("purchases", app=APP, productId="coins", account="kid", askToBuy=True)["request"]
    do("ask-to-buy", request=request, approved=False)
    do("shareable", app=APP, productId="unlock")
    do("join-family", account="ann", family="a")
    do("join-family", account="eve", family="a")
    do("share", transactionId=unlock)
    do("stop-sharing", transactionId=unlock)
    do("share", transactionId=unlock)
    do("leave-family", account="eve")
    assert "REVOKE" in notifications()


def assign_seats(tester):
    """Seats whose invitations Apple manages."""
    do, notifications = tester.do, tester.notifications
    # The defaults of what Apple's documentation leaves open.
    do("sharing-rules", app=APP, addedSeats="FULL_PRICE", purchaserNeedsSeat=False,
       seatRevocation="ASSIGNMENT_REVOKE", revokedByUpgrade="UNCOVERED")  # fmt: skip
    do("volume-pricing", app=APP, productId="silver", bands="3:3990,10:2990")
    team = buy(tester, "team", "silver", seats=3)
    do("assign-seat", transactionId=team, account="mia")
    do("unclaim-seat", transactionId=team, account="mia")
    assert notifications() == ["REVOKE"]
    do("seats", transactionId=team, seats=5)
    assert notifications() == ["DID_CHANGE_RENEWAL_PREF/INCREASE_QUANTITY"]
    do("refund-seats", transactionId=team, seats=1)
    assert notifications() == ["REFUND/SEATS"]
    buy(tester, "school", "silver", seats=30, organization=True)


def claim_seats(tester):
    """Seats whose invitations the developer manages."""
    do, notifications = tester.do, tester.notifications
    do("invitations", app=APP, productId="gold", management="DEVELOPER")
    crew = buy(tester, "crew", "gold", seats=2)
    claim = do("claim-seat", transactionId=crew, requestIdentifier=str(uuid.UUID(int=2)))["seatClaimId"]
    do("download", app=APP, account="leo", version="2.0", originalVersion="1.0", preorderDate="2026-01-01T00:00:00Z")
    do("associate-seat", transactionId=crew, seatClaimId=claim, appTransactionId=number_of(tester, "leo"))
    do("release-seat", transactionId=crew, seatClaimId=claim)
    claim = do("claim-seat", transactionId=crew, requestIdentifier=str(uuid.UUID(int=4)))["seatClaimId"]
    do("unclaim-seat", transactionId=crew, seatClaimId=claim)
    assert notifications() == ["UNCLAIM_SEATS"]


def change_settings(tester, ben):
    do = tester.do
    do("storefront", account="ann", storefront="DEU")
    do("app-account-token", transactionId=ben, appAccountToken=str(uuid.UUID(int=3)))
    do("finish", transactionId=buy(tester, "ben", "coins"))
    do("shared-secret", app=APP, password="x")
    do("notification-url", app=APP, url="http://127.0.0.1:9/", version=2)
    do("test-notification", app=APP)
    do("rescind-consent", app=APP, account="kid")
    do("notification-url", app=APP)
    do("withdraw", app=APP, productId="silver")
    do("clear-history", app=APP, account="ben")
    do("external-purchase-token", app=APP, tokenType="SERVICES")
    do("delivery", app=APP, rules="PRODUCTION")
    do("server-tokens", asDocumented=True)
    do("revoke-key", keyId="OLDKEY0001")
    do("future-documents", app=APP, fields=True, types=True)
    do("periods", month="5m", account="ann")
    do("periods", month="5m")


def number_of(tester, account):
    """The account's `appTransactionId`."""
    with urllib.request.urlopen(
            f"http://{tester.service.sandbox}/sandbox/v1/accounts/{account}?app={APP}", timeout=10) as answer:
        return json.loads(answer.read())["apps"][0]["appTransactionId"]


# Actions of the Server API, and `keys`, whose value spans several lines; test_sandbox_api.py covers them.
ELSEWHERE = {"keys", "device-bits", "retention-image", "retention-message", "retention-default", "review-retention", "realtime-url",
             "advanced-commerce", "external-purchase-report", "report-consumption", "resend-notification"}  # fmt: skip


@pytest.fixture
def store(start, tmp_path):
    """Starts a sandbox with a stopped clock."""
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION)

    def begin(name):
        service = start(tmp_path / name, ["--config", tmp_path / "entitled.yaml"])
        post(f"http://{service.sandbox}/sandbox/v1/clock", {"speed": 0})
        return service

    return begin


def test_http_and_commands_have_the_same_effects(store):
    by_http, by_command = ByHTTP(store("http")), ByCommand(store("command"))
    live(by_http)
    live(by_command)
    assert by_http.done == by_command.done
    status, answer = post(f"http://{by_http.service.sandbox}/sandbox/v1/nothing", {})
    known = answer["error"]["message"].rpartition("the actions are ")[2].split(", ")
    assert status == 404 and {action for action, *_ in by_http.done} - {"advance"} == set(known) - ELSEWHERE


@pytest.mark.parametrize("missing, product", [
    ("price", "{type: Auto-Renewable Subscription, group: pro, period: P1M}"),
    ("price", "{type: Consumable}"),
    ("period", "{type: Auto-Renewable Subscription, group: pro, price: 4.99, currency: USD}"),
])  # fmt: skip
def test_a_product_without_price_or_period_is_refused_by_name(start, tmp_path, missing, product):
    """Before, such a product was sold for 30 days at price 0."""
    (tmp_path / "entitled.yaml").write_text(
        f"apps:\n  ocean:\n    bundle_id: com.example.ocean\n    environments: [Sandbox]\n    products:\n      odd: {product}\n")
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    status, answer = post(
        f"http://{service.sandbox}/sandbox/v1/purchases", {"app": APP, "productId": "odd", "account": "ann"})
    assert (status, answer["error"]["code"]) == (400, "INCOMPLETE_PRODUCT"), answer
    assert f"'odd' has no {missing}" in answer["error"]["message"], answer
