"""Two years of many customers: from moment to moment the service answers what the sandbox App Store holds true.

`ENTITLED_LIFE_CUSTOMERS=1000 ENTITLED_LIFE_MOMENTS=50` makes it the full size; by default it is a small one.
"""

import json
import os
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

import contract
from contract import entitlement_service, notification_service, receipt_service
from harness import post

APP = "ocean-journal"
CUSTOMERS = int(os.environ.get("ENTITLED_LIFE_CUSTOMERS", 25))
SEED = int(os.environ.get("ENTITLED_LIFE_SEED", 1))
MOMENTS = int(os.environ.get("ENTITLED_LIFE_MOMENTS", 10))
STEP = 730 // MOMENTS  # days
PATIENCE = 120
CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    {follow_up}
    products:
      weekly: {{type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1W, price: 1.99, currency: USD}}
      monthly: {{type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
      gold: {{type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1Y, price: 49.99, currency: USD}}
      news: {{type: Auto-Renewable Subscription, group: news, level: 1, entitlements: [news], period: P3M, price: 9.99, currency: USD}}
      unlock: {{type: Non-Consumable, entitlements: [pro], price: 99.99, currency: USD}}
      season: {{type: Non-Renewing Subscription, duration: P90D, entitlements: [season], price: 12.99, currency: USD}}
      coins: {{type: Consumable, price: 0.99, currency: USD}}
"""
GIVES = {"weekly": "pro", "monthly": "pro", "gold": "pro", "unlock": "pro", "news": "news", "season": "season"}


class Life:
    """A service, its sandbox, and many customers in it, whose apps hand their purchases in once."""

    def __init__(self, service):
        self.service = service
        self.channel = service.channel()
        self.entitlements = contract.entitlement_stub(self.channel)
        self.receipts = contract.receipt_stub(self.channel)
        self.notifications = contract.notification_stub(self.channel)
        self.handed_in = {}
        self.compared = self.entitled = 0
        url = f"http://{service.http}/notifications/{APP}"
        self.act("clock", speed=0)
        self.repaired = self.now()
        self.act("notification-url", app=APP, url=url, version=2)
        self.act("grace-period", app=APP, days=16)
        for product in ["monthly", "news", "unlock"]:
            self.act("shareable", app=APP, productId=product)
        trial = {"mode": "FREE_TRIAL", "period": "P1W"}
        self.act("offers", app=APP, productId="monthly", id="trial", type="INTRODUCTORY", **trial)
        self.act("offers", app=APP, productId="gold", id="back", type="WIN_BACK", **trial)
        self.act(
            "offers", app=APP, productId="weekly", id="loyal", type="PROMOTIONAL", mode="PAY_AS_YOU_GO",
            period="P1W", periods=3, price=490)  # fmt: skip
        self.pool = ThreadPoolExecutor(16)

    def act(self, action, **members):
        url = f"http://{self.service.sandbox}/sandbox/v1/{action}"
        request = urllib.request.Request(
            url, json.dumps(members).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read())

    def pass_time(self, moment):
        """Lets the customers live until the next moment; now and then the developer does something."""
        if moment % 4 == 2:
            self.act("price", app=APP, productId="weekly", price=1990 + 100 * moment, needsConsent=True)
        if moment == MOMENTS * 3 // 4:
            self.act("withdraw", app=APP, productId="news")
        return self.act(
            "live", app=APP, customers=CUSTOMERS, by=f"{STEP}d", seed=SEED * 1000 + moment,
            actionsPerDay=max(1, CUSTOMERS // 150))  # fmt: skip

    def owners(self):
        """What the App Store holds true: the products of each account, with their purchases."""
        url = f"http://{self.service.sandbox}/sandbox/v1/owners?app={APP}"
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            owners = json.loads(answer.read())["owners"]
        return {owner["account"]: owner["owned"] for owner in owners}

    def hand_in(self, owners):
        """What an app does that was opened: it hands in what is new to it."""
        def new(account):
            return {p["originalTransactionId"] for p in owners[account]} - self.handed_in.get(account, set())

        list(self.pool.map(self._hand_in, [account for account in owners if new(account)]))

    def _hand_in(self, account):
        status, restored = post(
            f"http://{self.service.sandbox}/sandbox/v1/restore", {"app": APP, "account": account})
        assert status == 200, restored
        for signed in restored["signedTransactions"]:
            answer = self.receipts.SubmitTransaction(
                receipt_service.SubmitTransactionRequest(
                    app=APP, customer_id=customer(account), signed_transaction=signed), timeout=PATIENCE)
            self.handed_in.setdefault(account, set()).add(answer.transaction.original_transaction_id)

    def fill_the_gap(self):
        """Takes in from Apple's history what failed since this was last done."""
        until = self.now()
        request = notification_service.BackfillNotificationsRequest(app=APP, only_failures=True)
        getattr(request, "from").FromMilliseconds(self.repaired)
        request.to.FromMilliseconds(until + 1)
        self.notifications.BackfillNotifications(request, timeout=PATIENCE)
        self.repaired = until

    def wait_for_polls(self):
        """Until Apple was asked about every purchase at this very moment, as the configuration wants it."""
        deadline, request = time.monotonic() + PATIENCE, notification_service.ListRepairsRequest(app=APP, page_size=4)
        while True:
            known = self.notifications.ListRepairs(request, timeout=PATIENCE).repairs
            # A daily sweep may have begun at this moment, and be over before the others are asked about.
            latest = next((repair for repair in known if repair.reason == notification_service.REPAIR_REASON_FULL_POLL), None)
            if latest and latest.HasField("finished_at") and latest.started_at.ToMilliseconds() == self.now():
                return
            assert time.monotonic() < deadline, known
            time.sleep(0.01)

    def now(self):
        """The sandbox's time, in milliseconds."""
        with urllib.request.urlopen(f"http://{self.service.sandbox}/sandbox/v1/clock", timeout=PATIENCE) as answer:
            return json.loads(answer.read())["milliseconds"]

    def compare(self, owners, moment):
        """Asserts that the service answers what the App Store holds true."""
        questions = [(account, name) for account in owners for name in ["pro", "news", "season"]]
        for first in range(0, len(questions), 999):
            asked = questions[first:first + 999]
            answers = self.entitlements.BatchCheck(
                entitlement_service.BatchCheckRequest(
                    checks=[
                        entitlement_service.CheckRequest(
                            app=APP, customer_id=customer(account), entitlement=name)
                        for account, name in asked
                    ]), timeout=PATIENCE).results  # fmt: skip
            for (account, name), answer in zip(asked, answers):
                products = {p["productId"] for p in owners[account] if GIVES[p["productId"]] == name}
                said = answer.response
                where = f"{account} {name} at moment {moment}: {sorted(products)}\n{said}"
                assert said.entitled == bool(products), where
                assert not products or said.product_id in products, where
                self.entitled += said.entitled
        self.compared += len(questions)


def customer(account):
    """The customer behind an account: the id is the UUID with which the app buys."""
    return f"00000000-0000-4000-8000-{int(account.rsplit('-', 1)[1]):012d}"


@pytest.fixture
def follow_up():
    """What the app says of asking Apple."""
    return ""


@pytest.fixture
def life(start, tmp_path, follow_up):
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION.format(follow_up=follow_up))
    life = Life(start(arguments=["--config", tmp_path / "entitled.yaml"]))
    began = time.monotonic()
    yield life
    life.pool.shutdown()
    life.channel.close()
    print(
        f"\n{CUSTOMERS} customers, {life.compared} answers compared, {life.entitled} of them yes: "
        f"{time.monotonic() - began:.1f} s")
    assert life.entitled > CUSTOMERS


def test_when_all_notifications_arrive(life):
    for moment in range(MOMENTS):
        life.pass_time(moment)
        owners = life.owners()
        life.hand_in(owners)
        life.compare(owners, moment)


def test_when_a_third_is_lost_and_the_gap_is_filled(life):
    life.act("faults", kind="drop", count=1_000_000, every=3)
    for moment in range(MOMENTS):
        life.pass_time(moment)
        owners = life.owners()
        life.hand_in(owners)
        life.fill_the_gap()
        life.compare(owners, moment)


@pytest.mark.parametrize("follow_up", [f"full_poll_interval: P{STEP}D"])
def test_when_all_are_lost_and_the_app_store_is_polled(life):
    life.act("notification-url", app=APP)
    for moment in range(MOMENTS):
        life.pass_time(moment)
        owners = life.owners()
        life.hand_in(owners)
        life.wait_for_polls()
        life.compare(owners, moment)
