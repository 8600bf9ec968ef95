"""Two years of many customers: at each check the service's answers equal the state of the sandbox App Store.

The default is small: few customers, long enough for a yearly subscription to renew if all notifications arrive, and
half a year otherwise. ENTITLED_LONG, which `make test-long` sets, has two years;
`ENTITLED_LIFE_CUSTOMERS=1000 ENTITLED_LIFE_MOMENTS=50` is the full size.
"""

import json
import os
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

import contract
from contract import entitlement_service, notification_service, receipt_service
from harness import IS_LONG, post, wait_for

APP = "ocean-journal"
CUSTOMERS = int(os.environ.get("ENTITLED_LIFE_CUSTOMERS", 8))
SEED = int(os.environ.get("ENTITLED_LIFE_SEED", 1))
CHECKS = int(os.environ.get("ENTITLED_LIFE_MOMENTS", 6))
# Days between two checks.
STEP = (730 if IS_LONG else 400) // CHECKS
SHORT_STEP = STEP if IS_LONG else STEP // 2
# The part of the time in which customers act. In the rest of the short form, what they have renews and ends: even one
# action a day is 50 for each of so few customers, ten times as many as in the full size.
ACTIVE = 1 if IS_LONG else 0.5
TIMEOUT = 300
CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    {reconciliation}
    products:
      weekly: {{type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1W, price: 1.99, currency: USD}}
      monthly: {{type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
      gold: {{type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1Y, price: 49.99, monthly_price: 4.99, currency: USD}}
      yearly: {{type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1Y, price: 39.99, monthly_price: 3.99, currency: USD}}
      news: {{type: Auto-Renewable Subscription, group: news, level: 1, entitlements: [news], period: P3M, price: 9.99, currency: USD}}
      unlock: {{type: Non-Consumable, entitlements: [pro], price: 99.99, currency: USD}}
      season: {{type: Non-Renewing Subscription, duration: P90D, entitlements: [season], price: 12.99, currency: USD}}
      coins: {{type: Consumable, price: 0.99, currency: USD}}
"""
ENTITLEMENTS = {"weekly": "pro", "monthly": "pro", "gold": "pro", "yearly": "pro", "unlock": "pro", "news": "news", "season": "season"}


class Simulation:
    """A service, its sandbox, and many customers in it, whose apps submit each purchase once."""

    def __init__(self, service):
        self.service = service
        self.step = SHORT_STEP
        self.channel = service.channel()
        self.entitlements = contract.entitlement_stub(self.channel)
        self.receipts = contract.receipt_stub(self.channel)
        self.notifications = contract.notification_stub(self.channel)
        self.submitted = {}
        self.compared = self.entitled = self.committed = self.stories = 0
        # The entitlements that the App Store's state grants at each check.
        self.owned = {}
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
        for product, kind in [("yearly", "INTRODUCTORY"), ("gold", "CODE")]:
            self.act("offers", app=APP, productId=product, id="year", type=kind, billingPlanType="MONTHLY", **trial)
        self.pool = ThreadPoolExecutor(16)

    def act(self, action, **members):
        url = f"http://{self.service.sandbox}/sandbox/v1/{action}"
        request = urllib.request.Request(
            url, json.dumps(members).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return json.loads(answer.read())

    def pass_time(self, index, submits=False):
        """Advances the customers to the next check; now and then the developer changes something.

        With `submits`, the apps submit new purchases a minute before it, so that they are known when the polls are due.
        """
        if index % 4 == 2:
            self.act("price", app=APP, productId="weekly", price=1990 + 100 * index, needsConsent=True)
        if index == CHECKS * 3 // 4:
            self.act("withdraw", app=APP, productId="news")
        minutes = self.step * 24 * 60 - 1
        active = int(minutes * ACTIVE)
        self.act(
            "live", app=APP, customers=CUSTOMERS, by=f"{active}m", seed=SEED * 1000 + index,
            actionsPerDay=max(1, CUSTOMERS // 150))  # fmt: skip
        if active < minutes:
            self.act("live", app=APP, customers=CUSTOMERS, by=f"{minutes - active}m", actionsPerDay=0)
        if submits:
            self.submit_new(self.owners())
        # Periods end at the same times of day, and Apple announces failed renewals seconds later. The whole step has
        # the length of the poll interval, and the clock jumps to its end, so that the polls are due there and not before.
        self.act("live", app=APP, customers=CUSTOMERS, by="1m", actionsPerDay=0)

    def owners(self):
        """The App Store's state: the products of each account, with their purchases."""
        url = f"http://{self.service.sandbox}/sandbox/v1/owners?app={APP}"
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            owners = json.loads(answer.read())["owners"]
        return {owner["account"]: owner["owned"] for owner in owners}

    def submit_new(self, owners):
        """Submits new purchases, as apps do at launch."""
        def new(account):
            return {p["originalTransactionId"] for p in owners[account]} - self.submitted.get(account, set())

        list(self.pool.map(self._submit_new, [account for account in owners if new(account)]))

    def _submit_new(self, account):
        status, restored = post(
            f"http://{self.service.sandbox}/sandbox/v1/restore", {"app": APP, "account": account})
        assert status == 200, restored
        for signed in restored["signedTransactions"]:
            answer = self.receipts.SubmitTransaction(
                receipt_service.SubmitTransactionRequest(
                    app=APP, customer_id=customer(account), signed_transaction=signed), timeout=TIMEOUT)
            self.submitted.setdefault(account, set()).add(answer.transaction.original_transaction_id)

    def backfill(self):
        """Backfills notifications that failed since the last call from Apple's history, and waits for the end.

        An error, such as a call that timed out, delays a repair, and the response then says so.
        """
        until = self.now()
        request = notification_service.BackfillNotificationsRequest(app=APP, only_failures=True)
        request.start_time.FromMilliseconds(self.repaired)
        request.end_time.FromMilliseconds(until + 1)
        repair = self.notifications.BackfillNotifications(request, timeout=TIMEOUT).repair
        page = notification_service.ListRepairsRequest(app=APP)

        def finished():
            known = self.notifications.ListRepairs(page, timeout=TIMEOUT).repairs
            return [one for one in known if one.repair_id == repair.repair_id and one.HasField("finished_at")]

        [done] = wait_for(finished, TIMEOUT)
        assert not done.error, done
        self.repaired = until

    def wait_for_polls(self):
        """Waits until every purchase was polled at the current instant, as configured."""
        request = notification_service.ListRepairsRequest(app=APP, page_size=4)

        def polled():
            known = self.notifications.ListRepairs(request, timeout=TIMEOUT).repairs
            # A daily sweep may start at this instant, and end before the others are polled.
            latest = next((repair for repair in known if repair.reason == notification_service.REPAIR_REASON_FULL_POLL), None)
            return latest and latest.HasField("finished_at") and latest.started_at.ToMilliseconds() == self.now()

        wait_for(polled, TIMEOUT)

    def now(self):
        """The sandbox's time, in milliseconds."""
        with urllib.request.urlopen(f"http://{self.service.sandbox}/sandbox/v1/clock", timeout=TIMEOUT) as answer:
            return json.loads(answer.read())["milliseconds"]

    def compare(self, owners, index):
        """Asserts that the service's answers equal the App Store's state."""
        truth, now = self.truth(), self.now()
        checks = [(account, name) for account in owners for name in ["pro", "news", "season"]]
        for first in range(0, len(checks), 999):
            batch = checks[first:first + 999]
            answers = self.entitlements.BatchCheck(
                entitlement_service.BatchCheckRequest(
                    checks=[
                        entitlement_service.CheckRequest(
                            app=APP, customer_id=customer(account), entitlement=name)
                        for account, name in batch
                    ]), timeout=TIMEOUT).results  # fmt: skip
            for (account, name), answer in zip(batch, answers):
                products = {p["productId"] for p in owners[account] if ENTITLEMENTS[p["productId"]] == name}
                response = answer.response.entitlement
                context = f"{account} {name} at check {index}: {sorted(products)}\n{response}"
                assert response.entitled == bool(products), context
                assert not products or response.product_id in products, context
                if products:
                    self.compare_renewal(response, *truth[account])
                    if response.manage_url:
                        assert response.product_type == contract.product.PRODUCT_TYPE_AUTO_RENEWABLE_SUBSCRIPTION
                state = self.owned.setdefault(account, {}).setdefault(now, {})
                state[name] = bool(products)
                self.entitled += response.entitled
        self.compared += len(checks)

    def truth(self):
        """The App Store's documents of each account: transactions in order of purchase, and renewal infos by purchase."""
        url = f"http://{self.service.sandbox}/sandbox/v1/accounts?app={APP}"
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            accounts = json.loads(answer.read())["accounts"]
        truth = {}
        for account in accounts:
            [app] = account["apps"]
            sold = sorted(app["transactions"], key=lambda one: (one["purchaseDate"], int(one["transactionId"])))
            truth[account["account"]] = sold, {one["originalTransactionId"]: one for one in app["subscriptions"]}
        return truth

    def compare_renewal(self, response, sold, renewals):
        """Asserts that an answer names the plan, the commitment and the renewal that the App Store has."""
        [transaction] = [one for one in sold if one["transactionId"] == response.transaction_id] or [None]
        if transaction is None or "expiresDate" not in transaction:
            return
        renewal = renewals[transaction["originalTransactionId"]]
        plan = contract.product.BillingPlanType.Name(response.billing_plan_type)
        assert plan == f"BILLING_PLAN_TYPE_{transaction['billingPlanType']}", response
        commitment = transaction.get("commitmentInfo")
        assert response.HasField("commitment_info") == bool(commitment), response
        if commitment:
            found = response.commitment_info
            assert found.billing_period_number == commitment["billingPeriodNumber"], response
            assert found.commitment_expires_date.ToMilliseconds() == commitment["commitmentExpiresDate"], response
            self.committed += 1
        next_commitment = renewal.get("commitmentInfo", {})
        status = next_commitment.get("commitmentAutoRenewStatus", renewal["autoRenewStatus"])
        assert response.will_renew == (status == 1), (response, renewal)

    def timeline(self, account):
        """All events of an account's customer."""
        events, token = [], None
        while token != "":
            page = self.entitlements.ListTimeline(
                entitlement_service.ListTimelineRequest(
                    app=APP, customer_id=customer(account), page_size=1000, page_token=token or ""),
                timeout=TIMEOUT)  # fmt: skip
            events += page.events
            token = page.next_page_token
        return events

    def check_events(self, owners, hears_all=True):
        """Asserts that the events are what happened in the App Store; `hears_all` if every notification arrived."""
        self.wait_for_events(owners)
        truth = self.truth()
        for account in owners:
            events = self.timeline(account)
            self.check_subjects(events)
            sold, _ = truth[account]
            self.check_purchases(account, events, sold)
            self.check_refunds(events, sold, hears_all)
            if hears_all:
                for name in ("pro", "news"):
                    self.check_periods(account, name, events, sold)

    def wait_for_events(self, owners):
        """Waits until the events say what the App Store said: a worker beside the calls records what time changed."""
        deadline = time.monotonic() + TIMEOUT
        for account in owners:
            while True:
                try:
                    self.check_access(account, self.timeline(account))
                    break
                except AssertionError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)

    def check_subjects(self, events):
        """Events name their transactions, and none is about the same news twice in a row."""
        latest = {}
        for event in events:
            assert event.transaction_id and event.product_id, event
            assert event.effective_at.ToMilliseconds() <= event.recorded_at.ToMilliseconds(), event
            if event.type in ("PURCHASED", "REFUNDED", "REFUND_REVERSED", "REVOKED"):
                key = (event.transaction_id, event.entitlement)
                assert latest.get(key) != event.type, event
                latest[key] = event.type

    def check_access(self, account, events):
        """The last event before each check says what the App Store said then."""
        for now, owned in self.owned[account].items():
            for name, is_owned in owned.items():
                # An end that time caused was true before it was recorded.
                known = [
                    event for event in events if event.entitlement == name
                    and (event.effective_at if is_of_time(event) else event.recorded_at).ToMilliseconds() <= now
                ]  # fmt: skip
                is_entitled = bool(known) and known[-1].after.entitled
                assert is_entitled == is_owned, (account, name, now, known[-1:])

    def check_purchases(self, account, events, sold):
        """Each purchase that does not renew is one event with its quantity and price."""
        bought = {one["originalTransactionId"]: one for one in sold if "expiresDate" not in one}
        purchased = [event for event in events if event.type == "PURCHASED"]
        # Of a customer who is not known yet, notifications are not events.
        found = [event.original_transaction_id for event in purchased]
        assert len(set(found)) == len(found), purchased
        submitted = self.submitted.get(account, set()) & set(bought)
        assert submitted <= set(found) <= set(bought), (bought, purchased)
        for event in purchased:
            one = bought[event.original_transaction_id]
            assert (event.product_id, event.quantity) == (one["productId"], one["quantity"]), event
            assert event.effective_at.ToMilliseconds() == one["purchaseDate"], event
            if one["inAppOwnershipType"] == "PURCHASED":
                assert (event.price.milliunits, event.price.currency) == (one["price"], one["currency"]), event

    def check_refunds(self, events, sold, hears_all):
        """The last event about a refund of a transaction is its present state."""
        ids = {one["transactionId"] for one in sold}
        # Restored purchases have further ids, which events may name.
        copied = {event.original_transaction_id for event in events if event.transaction_id not in ids}
        known = {event.original_transaction_id if hears_all else event.transaction_id for event in events}
        for one in sold:
            is_known = one["originalTransactionId" if hears_all else "transactionId"] in known
            if not is_known or one["originalTransactionId"] in copied or one["productId"] not in ENTITLEMENTS:
                continue
            about = [
                event.type for event in events if event.transaction_id == one["transactionId"]
                and event.type in ("REFUNDED", "REVOKED", "REFUND_REVERSED")
            ]  # fmt: skip
            lost_seats = one.get("multiSeatInfo", {}).get("revokedSeatQuantity", 0)
            is_refunded = "revocationDate" in one or lost_seats > 0
            assert (about[-1:] in (["REFUNDED"], ["REVOKED"])) == is_refunded, (one, about)

    def check_periods(self, account, name, events, sold):
        """Where one subscription alone grants an entitlement, its events are its periods in their order."""
        granting = [one for one in sold if ENTITLEMENTS.get(one["productId"]) == name]
        own = [event for event in events if event.entitlement == name]
        lines = {one["originalTransactionId"] for one in granting}
        is_simple = all(
            one["inAppOwnershipType"] == "PURCHASED" and "expiresDate" in one and "multiSeatInfo" not in one
            for one in granting)
        if len(lines) != 1 or not is_simple or {event.transaction_id for event in own} - {
                one["transactionId"] for one in granting}:
            return
        begun = []
        for event in own:
            if event.type in ("CLAIMED", "STARTED", "RENEWED", "RECOVERED", "PRODUCT_CHANGED"):
                if begun[-1:] != [event.transaction_id]:
                    begun.append(event.transaction_id)
        # The purchase may have become known some periods after its start, and a day after the charge of the next one.
        known = own[0].recorded_at.ToMilliseconds() + 86_400_000 if own else 0
        periods = [
            one["transactionId"] for one in granting if one["transactionId"] in begun or one["purchaseDate"] > known]
        assert not own or begun == periods, (account, [(event.type, event.transaction_id) for event in own])
        self.stories += bool(begun)


def is_of_time(event):
    """Whether an event says what time changed; a missed request changes no answer."""
    return not event.evidence_id and event.type != "REFUND_REQUEST_MISSED"


def customer(account):
    """The customer of an account: the id is the app account token, a UUID."""
    return f"00000000-0000-4000-8000-{int(account.rsplit('-', 1)[1]):012d}"


@pytest.fixture
def reconciliation():
    """The app's `reconciliation` settings."""
    return ""


@pytest.fixture
def simulation(start, tmp_path, reconciliation):
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION.format(reconciliation=reconciliation))
    simulation = Simulation(start(arguments=["--config", tmp_path / "entitled.yaml"]))
    began = time.monotonic()
    yield simulation
    simulation.pool.shutdown()
    simulation.channel.close()
    print(
        f"\n{CUSTOMERS} customers, {simulation.compared} answers compared, {simulation.entitled} of them yes, "
        f"{simulation.committed} of commitments, the events of {simulation.stories} subscriptions: "
        f"{time.monotonic() - began:.1f} s")
    assert simulation.entitled > CUSTOMERS


def test_answers_are_correct_if_all_notifications_arrive(simulation):
    simulation.step = STEP
    for index in range(CHECKS):
        simulation.pass_time(index)
        owners = simulation.owners()
        simulation.submit_new(owners)
        # The App Store gives up a delivery whose response takes longer than 10 seconds, which a busy machine may need.
        simulation.backfill()
        simulation.compare(owners, index)
    simulation.check_events(owners)
    assert simulation.stories > 0


def test_answers_are_correct_if_a_third_is_lost_and_backfilled(simulation):
    simulation.act("faults", kind="drop", count=1_000_000, every=3)
    for index in range(CHECKS):
        simulation.pass_time(index)
        owners = simulation.owners()
        simulation.submit_new(owners)
        simulation.backfill()
        simulation.compare(owners, index)
    simulation.check_events(owners, hears_all=False)


@pytest.mark.parametrize("reconciliation", [f"full_poll_interval: P{SHORT_STEP}D"])
def test_answers_are_correct_if_all_are_lost_and_purchases_are_polled(simulation):
    simulation.act("notification-url", app=APP)
    for index in range(CHECKS):
        simulation.pass_time(index, submits=True)
        owners = simulation.owners()
        simulation.wait_for_polls()
        simulation.compare(owners, index)
    simulation.check_events(owners, hears_all=False)
