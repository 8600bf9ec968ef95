"""A world of payers in the sandbox, from day to day, and a recount of reports from the sandbox's tables.

It shares no code with the service. The tables show the present, so they are copied at the end of each day.
"""

import collections
import contextlib
import datetime
import fractions
import json
import os
import random
import sqlite3
import time
import urllib.request

import contract
from contract import app_store_service, report_service
from harness import CALL_LIMIT, LARGE_CALL_LIMIT, post, wait_for

APP = "ocean-journal"
PAYERS = int(os.environ.get("ENTITLED_REPORT_PAYERS", 10))
DAYS = int(os.environ.get("ENTITLED_REPORT_DAYS", 75))
SEED = int(os.environ.get("ENTITLED_REPORT_SEED", 1))
DAY = 86_400_000
CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    status_polling: false
    gap_repair: false
    products:
      weekly: {type: Auto-Renewable Subscription, group: pro, level: 3, entitlements: [pro], period: P1W, price: 1.99, currency: USD}
      monthly: {type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1M, price: 4.99, currency: USD}
      premium: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M, price: 14.99, currency: USD}
      yearly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1Y, price: 39.99, currency: USD}
      news: {type: Auto-Renewable Subscription, group: news, level: 1, entitlements: [news], period: P3M, price: 9.99, currency: USD}
      coins: {type: Consumable, price: 0.99, currency: USD}
      archive: {type: Non-Consumable, entitlements: [pro], price: 19.99, currency: USD}
      season: {type: Non-Renewing Subscription, duration: P10D, entitlements: [pro], price: 5.99, currency: USD}
"""
ONE_TIME = ["coins", "archive", "season"]
SHAREABLE = ["monthly", "yearly", "archive"]
SEASON = 10
LEVELS = {"weekly": 3, "monthly": 2, "premium": 1, "yearly": 1, "news": 1}
PAID_DAYS = {"days_0_to_90": 0, "days_91_to_180": 91, "days_181_to_364": 181, "days_365_or_more": 365}
CANCELLED_AFTER = {"0": 0, "1_to_6": 1, "7_to_29": 7, "30_to_89": 30, "90_to_364": 90, "365_or_more": 365}
PER_YEAR = {"weekly": 52, "monthly": 12, "premium": 12, "yearly": 1, "news": 4}
STOCKS = ["active", "in_trial", "in_grace", "in_retry", "at_risk", "awaiting_renewal", "committed", "consent_pending",
          "pending_downgrade", "unclaimed_active", "non_consumable_owned", "season_running", "active_end", "in_trial_end", "closing",
          "expected"]  # fmt: skip
STOREFRONTS = ["USA", "DEU", "GBR", "JPN", "BRA"]
OFFERS = [
    ("monthly", "trial", "INTRODUCTORY", "FREE_TRIAL", "P1W", {}),
    ("weekly", "cheap", "INTRODUCTORY", "PAY_AS_YOU_GO", "P1W", {"periods": 3, "price": 490}),
    ("yearly", "half", "CODE", "PAY_UP_FRONT", "P6M", {"price": 9_990}),
    ("monthly", "loyal", "PROMOTIONAL", "PAY_AS_YOU_GO", "P1M", {"periods": 2, "price": 1_990}),
    ("news", "again", "WIN_BACK", "FREE_TRIAL", "P1M", {}),
    ("premium", "taste", "CODE", "FREE_TRIAL", "P2W", {}),
]


OFFER_TYPES = {"INTRODUCTORY": "INTRODUCTORY", "CODE": "OFFER_CODE", "PROMOTIONAL": "PROMOTIONAL", "WIN_BACK": "WIN_BACK"}
OFFER_KINDS = {name: f"{OFFER_TYPES[kind]}_{mode}" for _, name, kind, mode, _, _ in OFFERS}

# A renewal is charged up to a day before its period.
BEGUN = "SELECT * FROM purchase WHERE ownership = 'PURCHASED' AND purchase_date <= (SELECT now FROM clock)"
# The last period of each line that has begun. A charged renewal never begins if it is refunded before, or replaced by an
# upgrade.
LATEST = """
WITH begun AS (
  SELECT * FROM purchase
  WHERE ownership = 'PURCHASED' AND purchase_date <= (SELECT now FROM clock) AND expires_date IS NOT NULL
    AND is_upgraded = 0 AND (revocation_date IS NULL OR revocation_date >= purchase_date)
)
SELECT p.* FROM begun AS p JOIN (
  SELECT original_transaction_id, max(purchase_date) AS last FROM begun GROUP BY original_transaction_id
) AS l ON p.original_transaction_id = l.original_transaction_id AND p.purchase_date = l.last
"""


def dimensions(row):
    """The product, group, storefront and offer of a purchase."""
    product = row["product_id"]
    group = "news" if product == "news" else "" if product in ONE_TIME else "pro"
    return (product, group, row["storefront"], OFFER_KINDS.get(row["offer_id"], ""))


def per_year(product, offer):
    """How many periods of this length make a year: those of an offer that is paid up front have the offer's length."""
    up_front = next((one for one in OFFERS if one[1] == offer and one[3] == "PAY_UP_FRONT"), None)
    return 2 if up_front else PER_YEAR[product]


def share(price, percentage):
    """A part of a price, in thousandths of a percent, rounded half to even."""
    return round(fractions.Fraction(price * percentage, 100_000))


def paid_service(periods, now):
    """The time of paid service before an instant; 0 after a pause of more than 60 days."""
    total, covered = 0, None
    for start, end, is_paid in periods:
        if start >= now:
            break
        if covered is not None and start - covered > 60 * DAY:
            total = 0
        total += max(0, min(end, now) - max(start, covered or start)) if is_paid else 0
        covered = max(end, covered or end)
    return total if covered is not None and now - covered <= 60 * DAY else 0


def date_of(day):
    """The date of a day since 1970."""
    return datetime.date.fromordinal(719_163 + day)


def milliseconds(text):
    """The milliseconds since 1970 of a date in RFC 3339."""
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def read(service, sql):
    """Rows of the sandbox's database, by column name; dates in milliseconds since 1970."""
    path = f"file:{service.data / 'sandbox' / 'sandbox.sqlite'}?mode=ro"
    with contextlib.closing(sqlite3.connect(path, uri=True)) as database:
        database.row_factory = sqlite3.Row
        return [
            {key: milliseconds(row[key]) if key.endswith("_date") and row[key] else row[key] for key in row.keys()}
            for row in database.execute(sql)
        ]


def rows_of(answer):
    """The rows of an answer as bytes."""
    return [row.SerializeToString(deterministic=True) for row in answer.rows]


class Lives:
    """Payers in the sandbox, from day to day, and the recount of each day."""

    def __init__(self, service, recovered=0.0, households=False, program=()):
        """`recovered` is the share of steps with working payments that concern an account whose payments fail. `households`: families
        share purchases, parents withdraw consents, and accounts move to other storefronts. `program`: the first day and the day after the last one of each time in the
        Small Business Program."""
        self.service, self.random, self.recovered = service, random.Random(SEED), recovered
        # With a separate random generator, so that the accounts do the same without it.
        self.households, self.program = random.Random(SEED) if households else None, program
        self.movers = random.Random(SEED) if households else None
        # By account: when its withdrawn consents were settled.
        self.settlements = collections.defaultdict(list)
        self.accounts = [f"payer-{number}" for number in range(PAYERS)]
        self.stocks, self.annual, self.active, self.answers = {}, {}, {}, []
        # By day: what renewals bring, by product and currency; none on days on which a price is not announced.
        self.expected = {}
        # The changes that steps made to subscriptions: the time, and the rows before and after.
        self.changes = []
        # When transactions were refunded; those for an issue with the app; the refunds that were reversed, with both times and the refunded part.
        self.refunds, self.app_issues, self.reversed = {}, set(), collections.defaultdict(list)
        # The ends of transactions before their first extension.
        self.extended = {}
        self.act("clock", speed=0)
        self.act("delivery", app=APP, rules="PRODUCTION")
        self.act("grace-period", app=APP, days=16)
        for product, name, kind, mode, period, more in OFFERS:
            self.act("offers", app=APP, productId=product, id=name, type=kind, mode=mode, period=period, **more)
        for product in SHAREABLE if households else []:
            self.act("shareable", app=APP, productId=product)
        url = f"http://{service.http}/notifications/{APP}"
        self.act("notification-url", app=APP, url=url, version=2)
        for number, account in enumerate(self.accounts):
            self.act("storefront", account=account, storefront=STOREFRONTS[number % len(STOREFRONTS)])
        self.first, self.arrived = self.now() // DAY + 1, 0
        self.sleep_until(self.first * DAY)

    def act(self, action, **members):
        """Performs an action; the App Store may reject it."""
        status, answer = post(
            f"http://{self.service.sandbox}/sandbox/v1/{action}", members, timeout=LARGE_CALL_LIMIT)
        assert status in (200, 400), answer
        return answer

    def now(self):
        with urllib.request.urlopen(f"http://{self.service.sandbox}/sandbox/v1/clock", timeout=CALL_LIMIT) as answer:
            return json.load(answer)["milliseconds"]

    def sleep_until(self, milliseconds):
        instant = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc)
        self.act("clock/advance", to=instant.isoformat(timespec="milliseconds").replace("+00:00", "Z"))

    def live(self, days):
        for day in range(self.first, self.first + days):
            steps = self.random.randint(0, max(4, PAYERS // 20))
            times = sorted(self.random.randrange(1000, DAY - 2000) for _ in range(steps))
            for offset in times:
                self.sleep_until(day * DAY + offset)
                if self.households and self.households.random() < 0.4:
                    self.change_household()
                if self.movers and self.movers.random() < 0.08:
                    self.act("storefront", account=self.movers.choice(self.accounts), storefront=self.movers.choice(STOREFRONTS))
                self.step()
            self.sleep_until((day + 1) * DAY - 1)
            self.wait_for_notifications()
            self.count(day)
            if (day - self.first) % 30 == 29:
                self.ask(day)
        self.end = self.first + days

    def step(self):
        account = self.random.choice(self.accounts)
        before = self.subscriptions(account)
        self.change(account)
        for line, after in self.subscriptions(account).items():
            if before.get(line, after) != after:
                self.changes.append((self.now(), before[line], after))

    def change_household(self):
        """Families change, and consents for accounts are withdrawn and settled. Neither changes the account's own subscriptions."""
        account = self.households.choice(self.accounts)
        withdrawn = self.withdrawals()
        if not withdrawn:
            # The first payer's consent, which is not settled, so that its deadline passes.
            first = read(self.service, "SELECT account FROM purchase ORDER BY transaction_id LIMIT 1")
            for row in first:
                self.act("rescind-consent", app=APP, account=row["account"])
            return
        match self.households.randrange(6):
            case 0 | 1 | 2:
                self.act("join-family", account=account, family=f"family-{self.households.randrange(max(2, PAYERS // 5))}")
            case 3:
                self.act("leave-family", account=account)
            case 4:
                self.act("rescind-consent", app=APP, account=account)
            case _ if others := sorted({other for other, _ in withdrawn[1:]} - {withdrawn[0][0]}):
                self.settle(self.households.choice(others))

    def settle(self, account):
        """The operator settles the withdrawn consents of an account."""
        self.wait_for_notifications()
        [install] = read(self.service, f"SELECT app_transaction_id AS id FROM app_install WHERE account = '{account}'")
        request = app_store_service.SettleConsentWithdrawalRequest(app=APP, app_transaction_id=str(install["id"]))
        contract.app_store_stub(self.service.channel()).SettleConsentWithdrawal(request, timeout=CALL_LIMIT)
        self.settlements[account].append(self.now())

    def withdrawals(self):
        """The account and the time of each withdrawn consent."""
        rows = read(self.service, "SELECT account, date AS at_date FROM notification WHERE type = 'RESCIND_CONSENT' ORDER BY number")
        return [(row["account"], row["at_date"]) for row in rows]

    def subscriptions(self, account):
        """The account's own subscriptions, by their first transaction."""
        rows = read(self.service, f"SELECT * FROM subscription WHERE ownership = 'PURCHASED' AND account = '{account}'")
        return {row["original_transaction_id"]: row for row in rows}

    def change(self, account):
        own = read(self.service, f"SELECT transaction_id, purchase_date, revocation_percentage FROM purchase WHERE ownership = 'PURCHASED' AND account = '{account}' ORDER BY purchase_date DESC LIMIT 6")
        chosen = str(self.random.choice(own)["transaction_id"]) if own else "0"
        is_on = self.random.random() < 0.5
        match self.random.randrange(12):
            case 0 | 1 | 2 | 3:
                product = self.random.choice([*PER_YEAR, *ONE_TIME])
                offers = [one[1] for one in OFFERS if one[0] == product]
                offer = {"offer": self.random.choice(offers)} if offers and is_on else {}
                self.act("purchases", app=APP, productId=product, account=account, **offer)
            case 4 | 5:
                self.act("auto-renew", transactionId=chosen, enabled=is_on)
            case 6 | 7:
                failing = read(self.service, "SELECT account FROM account WHERE billing_fails = 1 ORDER BY account")
                if self.recovered and failing and not is_on and self.random.random() < self.recovered:
                    account = self.random.choice(failing)["account"]
                self.act("billing", account=account, fails=is_on)
            case 8:
                share = {"percent": self.random.choice([25, 40])} if is_on else {}
                is_app_issue = int(chosen) % 3 == 0
                share |= {"reason": "APP_ISSUE"} if is_app_issue else {}
                if "error" not in self.act("refund", transactionId=chosen, **share):
                    self.refunds[int(chosen)] = self.now()
                    self.app_issues |= {int(chosen)} if is_app_issue else set()
            case 9:
                # A renewal that was charged early and refunded before it began never begins.
                refunded = [row for row in own if row["purchase_date"] <= self.refunds.get(row["transaction_id"], 0)]
                last = refunded[0]["transaction_id"] if refunded else 0
                part = next((row["revocation_percentage"] for row in own if row["transaction_id"] == last), None)
                again = {"reason": "APP_ISSUE"} if last in self.app_issues else {}
                while "error" not in self.act("reverse-refund", transactionId=str(last)):
                    self.reversed[last].append((self.refunds.pop(last), self.now(), part))
                    # Some are refunded and reversed again, which would be rare otherwise.
                    self.sleep_until(self.now() + 500)
                    if not is_on or len(self.reversed[last]) > 1 or "error" in self.act("refund", transactionId=str(last), **again):
                        break
                    self.refunds[last], part = self.now(), None
                    self.sleep_until(self.now() + 500)
            case 10 if self.random.random() < 10 / PAYERS:
                price = self.random.choice([2_490, 2_990, 3_990])
                self.act("price", app=APP, productId="weekly", price=price, needsConsent=is_on)
            case 10:
                self.act("price-consent", transactionId=chosen, agreed=True)
            case _:
                before = self.ends(account)
                if "error" not in self.act("extend", transactionId=chosen, days=5):
                    after = self.ends(account)
                    for transaction in [one for one, end in before.items() if after[one] != end]:
                        self.extended.setdefault(transaction, before[transaction])

    def ends(self, account):
        """The ends of the account's periods, by transaction."""
        rows = read(self.service, f"SELECT transaction_id, expires_date FROM purchase WHERE account = '{account}'")
        return {row["transaction_id"]: row["expires_date"] for row in rows}

    def wait_for_notifications(self):
        # By their numbers: those before the last look have arrived.
        later = f"SELECT number FROM notification WHERE number > {self.arrived}"
        wait_for(lambda: not read(self.service, f"{later} AND coalesce(last_result, '') <> 'SUCCESS' LIMIT 1"))
        self.arrived = read(self.service, "SELECT coalesce(max(number), 0) AS last FROM notification")[0]["last"]

    def ask(self, day):
        """Stores the answers that were known at the end of a day, as bytes."""
        reports = Reports(self.service, self)
        deadline = time.monotonic() + CALL_LIMIT
        for name in ("movements", "mrr", "revenue", "churn"):
            more = {
                "group_by": [report_service.REPORT_DIMENSION_PRODUCT],
                "granularity": report_service.REPORT_GRANULARITY_WEEK,
            }
            known = self.now()
            while True:
                answer = reports.ask(name, end=day, known_at=known, **more)
                if answer.closed_until.ToMilliseconds() == day * DAY or time.monotonic() > deadline:
                    break
                time.sleep(0.05)
            first = reports.ask(name, end=day, as_first_closed=True, **more)
            self.answers.append(((name, day, known), more, answer.SerializeToString(deterministic=True), rows_of(first)))

    # The recount.

    def purchases(self, selection=BEGUN):
        """The purchasers' transactions that have begun, in order."""
        currencies = {row["storefront"]: row["currency"] for row in read(self.service, "SELECT * FROM storefront")}
        rows = read(self.service, f"{selection} ORDER BY purchase_date, transaction_id")
        return [row | {"currency": currencies[row["storefront"]]} for row in rows]

    def count(self, day):
        """Copies what is in force at the end of a day."""
        now = self.now()
        latest = {row["original_transaction_id"]: row for row in self.purchases(LATEST)}
        stocks, annual, active = collections.Counter(), collections.Counter(), {}
        expected, is_announced = collections.Counter(), True
        asked, storefronts = self.asked(), self.storefronts()
        for line in read(self.service, "SELECT * FROM subscription WHERE ownership = 'PURCHASED' AND state <> 'ended'"):
            period = latest.get(line["original_transaction_id"])
            # A refund of the next period, which is charged already, leaves the running one.
            if period is None or period["revocation_date"] or (line["state"] == "revoked" and period["expires_date"] <= now):
                continue
            place = dimensions(period)
            if line["state"] == "retry":
                stocks["in_retry", *place] += 1
                continue
            if period["price"] > 0:
                stocks["active", *place] += 1
                stocks["unclaimed_active", *place] += 1
                charge = (period["account"], period["product_id"], period["purchase_date"])
                yearly = period["price"] * per_year(period["product_id"], period["offer_id"])
                active[line["original_transaction_id"]] = (period["currency"], yearly, charge)
                annual[*place, period["currency"]] += yearly
                if line["increase_state"] == "pending" or line["original_transaction_id"] in asked:
                    stocks["consent_pending", *place] += 1
                if LEVELS[line["renewal_product_id"]] > LEVELS[period["product_id"]]:
                    stocks["pending_downgrade", *place] += 1
            else:
                stocks["in_trial", *place] += 1
            if line["renews"] and period["product_id"] != "weekly":
                # The prices of the weekly product change, some without an announcement.
                is_announced = is_announced and line["renewal_product_id"] != "weekly"
                # No document has the price in the storefront to which the account moved.
                is_announced = is_announced and storefronts[period["account"]] == period["storefront"]
                # The tables have no price of an offer that begins with the next period.
                is_announced = is_announced and line["renewal_offer_id"] in (None, period["offer_id"])
                price = period["price"] if line["renewal_offer_id"] else line["renewal_price"]
                expected[period["product_id"], period["currency"]] += price * per_year(line["renewal_product_id"], line["renewal_offer_id"])
            if line["state"] == "grace":
                stocks["in_grace", *place] += 1
            if not line["renews"]:
                stocks["at_risk", *place] += 1
        self.stocks[day], self.annual[day], self.active[day] = stocks, annual, active
        if is_announced:
            self.expected[day] = expected
        for row in self.purchases():
            if row["product_id"] == "archive" and row["revocation_date"] is None:
                stocks["non_consumable_owned", *dimensions(row)] += 1
        for row, start, end in self.seasons():
            if start <= now < end:
                stocks["season_running", *dimensions(row)] += 1

    def asked(self):
        """The subscriptions whose last notification asked for consent to a price increase. A price that falls takes the increase back
        without a notification."""
        last = "SELECT original_transaction_id AS line, max(number) AS number FROM notification WHERE type <> 'RESCIND_CONSENT' GROUP BY original_transaction_id"
        rows = read(self.service, f"SELECT l.line FROM ({last}) AS l JOIN notification AS n ON n.number = l.number WHERE n.type = 'PRICE_INCREASE' AND n.subtype = 'PENDING'")
        return {row["line"] for row in rows}

    def storefronts(self):
        """The storefront of each account."""
        return {row["account"]: row["storefront"] for row in read(self.service, "SELECT account, storefront FROM account")}

    def seasons(self):
        """The non-renewing subscriptions with their times: one begins at the end of the one before."""
        ends = {}
        for row in self.purchases():
            if row["product_id"] == "season":
                start = max(row["purchase_date"], ends.get(row["account"], 0))
                end = max(start, min(start + SEASON * DAY, row["revocation_date"] or start + SEASON * DAY))
                ends[row["account"]] = end
                yield row, start, end

    def without_renewal(self):
        """The periods whose renewal was charged early and refunded before it began. A refund that does not cut the running period
        leaves it until its end, of which the App Store sends no event."""
        lines = collections.defaultdict(list)
        for row in self.periods():
            lines[row["original_transaction_id"]].append(row)
        for row in self.purchases():
            start = row["purchase_date"]
            if row["expires_date"] is None or (row["revocation_date"] or start) >= start:
                continue
            before = [one for one in lines[row["original_transaction_id"]] if one["purchase_date"] < start]
            # A purchase of the hours before replaced the running period.
            if before and before[-1]["expires_date"] == start:
                is_refunded = any(refunded < start <= back for refunded, back, _ in self.reversed[before[-1]["transaction_id"]])
                if before[-1]["revocation_date"] is None and not is_refunded:
                    yield before[-1]

    def paid_times(self):
        """By payer and group: the start, the end, and whether it was paid, of each period in order."""
        lives, following = collections.defaultdict(list), {}
        for row in reversed(self.periods()):
            line = row["original_transaction_id"]
            end = min(row["expires_date"], row["revocation_date"] or row["expires_date"], following.get(line, row["expires_date"]))
            following[line] = row["purchase_date"]
            life = lives[row["account"], row["product_id"] == "news"]
            first_end = min(end, self.extended.get(row["transaction_id"], end))
            life.append((row["purchase_date"], first_end, row["price"] > 0))
            if first_end < end:
                # The days of an extension are no paid service.
                life.append((first_end, end, False))
        return collections.defaultdict(list, {payer: sorted(periods) for payer, periods in lives.items()})

    def paid_bands(self):
        """By day and band: payers of a group by their days of paid service up to its end."""
        counts = collections.Counter()
        for periods in self.paid_times().values():
            for day in range(self.first, self.end):
                total = paid_service(periods, (day + 1) * DAY)
                if total > 0:
                    counts[[name for name, first in PAID_DAYS.items() if total >= first * DAY][-1], day] += 1
        return counts

    def shares(self):
        """Returns a function that gives the operator's part of an amount, by payer, product and time of the charge."""
        times = self.paid_times()

        def part(account, product, charged, amount):
            is_past = product not in ONE_TIME and paid_service(times[account, product == "news"], charged) >= 365 * DAY
            is_small = any(start * DAY <= charged < end * DAY for start, end in self.program)
            return share(amount, 85_000 if is_past or is_small else 70_000)

        return part

    def is_refunded(self, row, at):
        """Whether a purchase is refunded just before an instant, and the refund not reversed by then."""
        return any(start < at <= back for start, back, _ in self.reversed[row["transaction_id"]]) or (row["revocation_date"] or at) < at

    def periods(self):
        """The periods that began, in order."""
        lines = collections.defaultdict(list)
        for row in self.purchases():
            if row["expires_date"] is not None:
                lines[row["original_transaction_id"]].append(row)

        def began(row):
            others = lines[row["original_transaction_id"]]
            replaced = row["is_upgraded"] and any(
                int(other["transaction_id"]) > int(row["transaction_id"]) and other["purchase_date"] < row["purchase_date"] for other in others)  # fmt: skip
            return not replaced and (row["revocation_date"] is None or row["revocation_date"] >= row["purchase_date"])

        kept = [row for rows in lines.values() for row in rows if began(row)]
        return sorted(kept, key=lambda row: (row["purchase_date"], int(row["transaction_id"])))

    def stints(self):
        """The unbroken chains of periods of each line."""
        upgrades = {row["transaction_id"] for row in read(self.service, "SELECT transaction_id FROM notification WHERE subtype = 'UPGRADE'")}
        stints, last = [], {}
        for row in self.periods():
            before = last.get(row["original_transaction_id"])
            if before is not None:
                end = before[-1]
                until = min(row["purchase_date"], end["expires_date"])
                refunded = end["revocation_date"] is not None and end["revocation_date"] < until
                refunded = refunded or any(start < until <= back for start, back, _ in self.reversed[end["transaction_id"]])
                gap = row["purchase_date"] > end["expires_date"]
                # In the grace period, another product continues without a gap.
                if refunded or (gap and row["reason"] != "RENEWAL" and row["transaction_id"] not in upgrades):
                    before = None
            if before is None:
                last[row["original_transaction_id"]] = before = []
                stints.append(before)
            before.append(row)
        return stints

    def stint_at(self):
        """Returns a function that finds the stint of a line at the end of a day."""
        starts = collections.defaultdict(list)
        for stint in self.stints():
            starts[stint[0]["original_transaction_id"]].append((stint[0]["purchase_date"], stint))

        def find(line, day):
            return [stint for start, stint in starts[line] if start < (day + 1) * DAY][-1]

        return find

    def months(self):
        """The last day of each month that ended."""
        return [day for day in range(self.first, self.end) if (date_of(day) + datetime.timedelta(1)).day == 1]

    def cohorts(self, end):
        """By product and month of the first paid period, and by month after it: active subscriptions at its end; and the
        subscriptions of each cohort that began before `end`."""
        counts, members, stint_at = collections.Counter(), collections.Counter(), self.stint_at()
        for paid in self.first_paid():
            if paid["purchase_date"] < end * DAY:
                members[paid["product_id"], date_of(paid["purchase_date"] // DAY).replace(day=1).isoformat()] += 1
        for day in self.months():
            for line in self.active[day]:
                first = next(row for row in stint_at(line, day) if row["price"] > 0)
                month = date_of(first["purchase_date"] // DAY).replace(day=1)
                counts[first["product_id"], month.isoformat(), months_after(month, day)] += 1
        return counts, members

    def first_paid(self):
        """The first paid period of each subscription that has one."""
        paid = (next((row for row in stint if row["price"] > 0), None) for stint in self.stints())
        return [row for row in paid if row is not None]

    def payer_cohorts(self, end):
        """As `cohorts`, of payers of a group by their first paid subscription of it."""
        first, counts, members = {}, collections.Counter(), collections.Counter()
        for row in self.periods():
            if row["price"] > 0 and row["purchase_date"] < end * DAY:
                group = dimensions(row)[1]
                if (row["account"], group) not in first:
                    first[row["account"], group] = date_of(row["purchase_date"] // DAY).replace(day=1)
                    members[group, first[row["account"], group].isoformat()] += 1
        for day in self.months():
            groups = {(charge[0], "news" if charge[1] == "news" else "pro") for _, _, charge in self.active[day].values()}
            for account, group in groups:
                month = first[account, group]
                counts[group, month.isoformat(), months_after(month, day)] += 1
        return counts, members

    def stints_active(self, day):
        """The subscriptions that are active at the end of a day, by their first transaction."""
        stint_at = self.stint_at()
        return {stint_at(line, day)[0]["transaction_id"] for line in self.active[day]}

    def openings(self):
        """By month: active at its start, of these not active at its end, active at its end but not at its start, and active at its
        end; and by currency the recurring revenue of those that were not active at its start."""
        counts, annual, stint_at, months = collections.Counter(), collections.Counter(), self.stint_at(), self.months()
        for before, day in zip(months, months[1:]):
            opening = {id(stint_at(line, before)) for line in self.active[before]}
            closing = {id(stint_at(line, day)): money for line, money in self.active[day].items()}
            counts["active_start", before + 1] += len(opening)
            counts["lost", before + 1] += len(opening - closing.keys())
            counts["others", before + 1] += len(closing.keys() - opening)
            counts["active_end", before + 1] += len(closing)
            for stint in closing.keys() - opening:
                annual[before + 1, closing[stint][0]] += closing[stint][1]
        return counts, annual

    def early_lost(self, first):
        """The subscriptions whose first paid period began in a month, and that were not active at its end."""
        last = next(day for day in self.months() if day >= first)
        stint_at, began = self.stint_at(), 0
        for stint in self.stints():
            paid = next((row for row in stint if row["price"] > 0), None)
            began += paid is not None and first <= paid["purchase_date"] // DAY <= last
        stayed = 0
        for line in self.active[last]:
            paid = next(row for row in stint_at(line, last) if row["price"] > 0)
            stayed += first <= paid["purchase_date"] // DAY <= last
        return began - stayed

    def retention(self, end):
        """By product, month of the first paid period and its number, before a day: stints that reached a paid period, and stints whose
        earlier periods are over."""
        reached, had_time = collections.Counter(), collections.Counter()
        for stint in self.stints():
            paid = [row for row in stint if row["price"] > 0 and row["purchase_date"] < end * DAY]
            if not paid:
                continue
            cohort = paid[0]["product_id"], date_of(paid[0]["purchase_date"] // DAY).replace(day=1).isoformat()
            for number in range(1, 37):
                reached[*cohort, number] += number <= len(paid)
                had_time[*cohort, number] += period_starts(paid[0], number) < end
        return reached, {key: count for key, count in had_time.items() if count}


def months_after(month, day):
    """The months from one to that of a day."""
    return (date_of(day).year - month.year) * 12 + date_of(day).month - month.month


def period_starts(row, number):
    """The day on which the period of a number begins, by the length of the product's periods."""
    day = row["purchase_date"] // DAY
    if row["product_id"] == "weekly":
        return day + 7 * (number - 1)
    length, months = 12 // PER_YEAR[row["product_id"]], 0
    if number > 1:
        # The first one has the length of an offer that is paid up front.
        months = 12 // per_year(row["product_id"], row["offer_id"]) + length * (number - 2)
    start = date_of(day)
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    days = [31, 29 if year % 4 == 0 else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    return start.replace(year=year, month=month + 1, day=min(start.day, days)).toordinal() - 719_163


class Reports:
    """The service's reports."""

    def __init__(self, service, lives):
        self.stub, self.lives = contract.report_stub(service.channel()), lives

    def query(self, report, first=None, end=None, known_at=None, as_of=None, **more):
        query = report_service.ReportQuery(report=report, **more)
        query.start_time.FromMilliseconds((first or self.lives.first) * DAY)
        query.end_time.FromMilliseconds((end or self.lives.end) * DAY)
        if known_at is not None:
            query.known_at.FromMilliseconds(known_at)
        if as_of is not None:
            query.as_of.FromMilliseconds(as_of)
        return query

    def ask(self, report, **more):
        request = report_service.QueryReportRequest(app=APP, query=self.query(report, **more))
        return self.stub.QueryReport(request, timeout=CALL_LIMIT)

    def values(self, report, *names, length=200, first=None, end=None, **more):
        """The columns `names` by bucket day, groups and currency, without zeros. A response has at most 10,000 rows, so each is about
        some days. What is by cohort counts up to the end of its response."""
        found = {}
        end = end or self.lives.end
        for start in range(first or self.lives.first, end, length):
            answer = self.ask(report, first=start, end=min(start + length, end), **more)
            columns = [column.name for column in answer.columns]
            for name in names:
                for row in answer.rows:
                    key = (row.bucket.ToMilliseconds() // DAY, *row.groups, *([row.currency] if row.currency else []))
                    if value := row.values[columns.index(name)]:
                        found[name, *key] = value
        return found


def eventually(check):
    """Repeats a check until it passes: a worker beside the calls keeps the reports up to date."""
    deadline = time.monotonic() + CALL_LIMIT
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
