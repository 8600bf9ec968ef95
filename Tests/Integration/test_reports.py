"""Reports equal a recount from the sandbox's tables, which shares no code with the service.

The tables show the present, so the recount copies them at the end of each day.
`ENTITLED_REPORT_PAYERS=400 ENTITLED_REPORT_DAYS=730` runs the full size; the default is small.
"""

import collections
import contextlib
import csv
import datetime
import fractions
import hashlib
import io
import json
import os
import random
import sqlite3
import time
import urllib.request

import grpc
import pytest

import contract
from contract import report_service
from harness import CALL_LIMIT, post, wait_for

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

    def __init__(self, service):
        self.service, self.random = service, random.Random(SEED)
        self.accounts = [f"payer-{number}" for number in range(PAYERS)]
        self.stocks, self.annual, self.active, self.answers = {}, {}, {}, []
        # By day: what renewals bring, by product and currency; none on days on which a price is not announced.
        self.expected = {}
        # When transactions were refunded; those whose refund was reversed, with both times and the refunded part.
        self.refunds, self.reversed = {}, {}
        # The ends of transactions before their first extension.
        self.extended = {}
        self.act("clock", speed=0)
        self.act("delivery", app=APP, rules="PRODUCTION")
        self.act("grace-period", app=APP, days=16)
        for product, name, kind, mode, period, more in OFFERS:
            self.act("offers", app=APP, productId=product, id=name, type=kind, mode=mode, period=period, **more)
        url = f"http://{service.http}/notifications/{APP}"
        self.act("notification-url", app=APP, url=url, version=2)
        for number, account in enumerate(self.accounts):
            self.act("storefront", account=account, storefront=STOREFRONTS[number % len(STOREFRONTS)])
        self.first, self.arrived = self.now() // DAY + 1, 0
        self.sleep_until(self.first * DAY)

    def act(self, action, **members):
        """Performs an action; the App Store may reject it."""
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
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
                self.step()
            self.sleep_until((day + 1) * DAY - 1)
            self.wait_for_notifications()
            self.count(day)
            if (day - self.first) % 30 == 29:
                self.ask(day)
        self.end = self.first + days

    def step(self):
        account = self.random.choice(self.accounts)
        own = read(self.service, f"SELECT transaction_id, purchase_date, revocation_percentage FROM purchase WHERE account = '{account}' ORDER BY purchase_date DESC LIMIT 6")
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
                self.act("billing", account=account, fails=is_on)
            case 8:
                share = {"percent": self.random.choice([25, 40])} if is_on else {}
                if int(chosen) not in self.reversed and "error" not in self.act("refund", transactionId=chosen, **share):
                    self.refunds[int(chosen)] = self.now()
            case 9:
                # A renewal that was charged early and refunded before it began never begins.
                refunded = [row for row in own if row["purchase_date"] <= self.refunds.get(row["transaction_id"], 0)]
                last = refunded[0]["transaction_id"] if refunded else 0
                part = next((row["revocation_percentage"] for row in own if row["transaction_id"] == last), None)
                if "error" not in self.act("reverse-refund", transactionId=str(last)):
                    self.reversed[last] = (self.refunds.pop(last), self.now(), part)
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
        for line in read(self.service, "SELECT * FROM subscription WHERE ownership = 'PURCHASED' AND state <> 'ended'"):
            period = latest.get(line["original_transaction_id"])
            # A refund of the next period, which is charged already, leaves the running one.
            if period is None or period["revocation_date"] or (line["state"] == "revoked" and period["expires_date"] <= now):
                continue
            place = (period["product_id"], period["storefront"])
            if line["state"] == "retry":
                stocks["in_retry", *place] += 1
                continue
            if period["price"] > 0:
                stocks["active", *place] += 1
                stocks["unclaimed_active", *place] += 1
                charge = (period["account"], period["product_id"], period["purchase_date"])
                yearly = period["price"] * per_year(period["product_id"], period["offer_id"])
                active[line["original_transaction_id"]] = (period["currency"], yearly, charge)
                annual[period["currency"]] += yearly
                if LEVELS[line["renewal_product_id"]] > LEVELS[period["product_id"]]:
                    stocks["pending_downgrade", *place] += 1
            else:
                stocks["in_trial", *place] += 1
            if line["renews"] and period["product_id"] != "weekly":
                # The prices of the weekly product change, some without an announcement.
                is_announced = is_announced and line["renewal_product_id"] != "weekly"
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
                stocks["non_consumable_owned", row["product_id"], row["storefront"]] += 1
        for row, start, end in self.seasons():
            if start <= now < end:
                stocks["season_running", row["product_id"], row["storefront"]] += 1

    def seasons(self):
        """The non-renewing subscriptions with their times: one begins at the end of the one before."""
        ends = {}
        for row in self.purchases():
            if row["product_id"] == "season":
                start = max(row["purchase_date"], ends.get(row["account"], 0))
                end = max(start, min(start + SEASON * DAY, row["revocation_date"] or start + SEASON * DAY))
                ends[row["account"]] = end
                yield row, start, end

    def churn(self):
        """By day: paid periods that ended, by reason, from the events of the App Store."""
        events = read(self.service, "SELECT type, subtype, date AS at_date, transaction_id, original_transaction_id FROM notification ORDER BY date, number")
        periods = {row["transaction_id"]: row for row in self.periods()}
        stints = {row["transaction_id"]: stint for stint in self.stints() for row in stint}
        counts, failed, grace, off = collections.Counter(), set(), set(), {}
        for event in events:
            period, line, day = periods.get(event["transaction_id"]), event["original_transaction_id"], event["at_date"] // DAY
            if period is None:
                continue
            kind, names = (event["type"], event["subtype"]), []
            if kind == ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"):
                off[line] = event["at_date"]
            elif kind == ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"):
                off.pop(line, None)
            elif kind == ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"):
                grace.add(line)
            elif kind[0] in ("DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED"):
                failed.add(line)
                names = ["billing", "after_failed_payment"]
            elif kind[0] == "EXPIRED" and line not in failed:
                names = ["cancelled" if kind[1] == "VOLUNTARY" else "price_not_accepted" if kind[1] == "PRICE_INCREASE" else kind[1]]
                if line in grace:
                    names = ["cancelled_in_grace", "after_failed_payment"]
                elif names == ["cancelled"] and line in off:
                    days = (off[line] - stints[event["transaction_id"]][0]["purchase_date"]) // DAY
                    band = [name for name, first in CANCELLED_AFTER.items() if days >= first][-1]
                    names.append(f"cancelled_after_{band}_days")
            if kind[0] in ("EXPIRED", "DID_RENEW", "SUBSCRIBED"):
                failed.discard(line)
            if kind[0] in ("EXPIRED", "DID_RENEW", "SUBSCRIBED", "GRACE_PERIOD_EXPIRED"):
                grace.discard(line)
            for name in names if period["price"] > 0 else []:
                counts[name, day] += 1
        for period in self.without_renewal():
            if period["price"] > 0:
                counts["other", period["expires_date"] // DAY] += 1
        return counts

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
            # What was bought in the hours before took the place of the running period.
            if before and before[-1]["expires_date"] == start:
                refunded, back, _ = self.reversed.get(before[-1]["transaction_id"], (start, start, None))
                if before[-1]["revocation_date"] is None and not refunded < start <= back:
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
            return share(amount, 85_000 if is_past else 70_000)

        return part

    def money(self, part=lambda account, product, charged, amount: amount):
        """By day and currency: gross, refunds, charges, refunded transactions and payers. `part` gives the counted part of an
        amount, by default the whole."""
        gross, refunds, reversals, charges, refunded = (collections.Counter() for _ in range(5))
        payers, seen = collections.Counter(), set()
        for row in self.purchases():
            if row["price"] > 0:
                day, currency = row["purchase_date"] // DAY, row["currency"]
                charge = (row["account"], row["product_id"], row["purchase_date"])
                gross[day, currency] += part(*charge, row["price"])
                charges[day, currency] += 1
                if (day, row["account"]) not in seen:
                    seen.add((day, row["account"]))
                    payers[day, currency] += 1
                if row["revocation_date"] is not None:
                    percentage = row["revocation_percentage"]
                    amount = row["price"] if percentage is None else share(row["price"], percentage)
                    refunds[row["revocation_date"] // DAY, currency] -= part(*charge, amount)
                    refunded[row["revocation_date"] // DAY, currency] += 1
                if row["transaction_id"] in self.reversed:
                    start, end, percentage = self.reversed[row["transaction_id"]]
                    amount = part(*charge, row["price"] if percentage is None else share(row["price"], percentage))
                    refunds[start // DAY, currency] -= amount
                    reversals[end // DAY, currency] += amount
                    refunded[start // DAY, currency] += 1
        return {"gross": gross, "refunds": refunds, "reversals": reversals, "charges": charges, "payers": payers}, refunded

    def one_time(self):
        counts = collections.Counter()
        for row in self.purchases():
            if row["product_id"] in ONE_TIME:
                counts[row["purchase_date"] // DAY, row["currency"]] += row["price"]
        return counts

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
                if end["transaction_id"] in self.reversed:
                    start, back, _ = self.reversed[end["transaction_id"]]
                    refunded = refunded or start < until <= back
                gap = row["purchase_date"] > end["expires_date"]
                # In the grace period, another product goes on without a gap.
                if refunded or (gap and row["reason"] != "RENEWAL" and row["transaction_id"] not in upgrades):
                    before = None
            if before is None:
                last[row["original_transaction_id"]] = before = []
                stints.append(before)
            before.append(row)
        return stints

    def trials(self):
        """By day of the start: trials that started, and those of them that converted."""
        started, converted = collections.Counter(), collections.Counter()
        for stint in self.stints():
            if stint[0]["price"] == 0:
                started[stint[0]["purchase_date"] // DAY] += 1
                if any(row["price"] > 0 for row in stint):
                    converted[stint[0]["purchase_date"] // DAY] += 1
        return started, converted

    def movements(self):
        """By day and product: how paid periods began."""
        first, counts = {}, collections.Counter()
        for row in self.periods():
            if row["price"] > 0:
                first.setdefault((row["account"], row["product_id"] == "news"), row["purchase_date"])
        late = "SELECT transaction_id, date AS paid_date FROM notification WHERE subtype = 'BILLING_RECOVERY'"
        paid = {row["transaction_id"]: row["paid_date"] for row in read(self.service, late)}
        lines = collections.defaultdict(list)
        for row in self.periods():
            lines[row["original_transaction_id"]].append(row)
        for stint in self.stints():
            for before, row in zip([None, *stint], stint):
                start, product = row["purchase_date"], row["product_id"]
                if row["transaction_id"] in self.reversed:
                    _, back, _ = self.reversed[row["transaction_id"]]
                    # What was bought after the refund, too, took the place of the period.
                    later = (one["purchase_date"] for one in lines[row["original_transaction_id"]])
                    following = min((one for one in later if one > start), default=row["expires_date"])
                    if self.reversed[row["transaction_id"]][0] >= start and back < min(following, row["expires_date"]):
                        counts["reversed_in", back // DAY, product] += 1
                # A payment in the grace period is dated back to its period; until it, the old one was in force.
                at = max(start, paid.get(row["transaction_id"], start))
                is_return = first.get((row["account"], product == "news"), start) < start
                if before is None:
                    kind = "trial_started" if row["price"] == 0 else "resubscribed" if is_return else "started_paid"
                    counts[kind, start // DAY, product] += 1
                    continue
                is_gap = start > before["expires_date"] and row["reason"] == "RENEWAL"
                if before["product_id"] != product:
                    step = LEVELS[product] - LEVELS[before["product_id"]]
                    counts["upgraded" if step < 0 else "downgraded" if step > 0 else "crossgraded", start // DAY, product] += 1
                if row["price"] == 0:
                    if is_gap:
                        counts["recovered", start // DAY, product] += 1
                    if is_gap or before["price"] > 0:
                        counts["to_free_offer", at // DAY, product if is_gap else before["product_id"]] += 1
                elif before["price"] == 0:
                    counts["converted", at // DAY, product] += 1
                elif is_gap:
                    counts["recovered", start // DAY, product] += 1
                elif before["product_id"] == product or (start >= before["expires_date"] and row["reason"] == "RENEWAL"):
                    counts["renewed", start // DAY, product] += 1
        return counts

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

    def cohorts(self):
        """By product and month of the first paid period, and by month after it: active subscriptions at its end."""
        counts, stint_at = collections.Counter(), self.stint_at()
        for day in self.months():
            for line in self.active[day]:
                first = next(row for row in stint_at(line, day) if row["price"] > 0)
                start, end = date_of(first["purchase_date"] // DAY).replace(day=1), date_of(day)
                age = (end.year - start.year) * 12 + end.month - start.month
                counts[first["product_id"], start.isoformat(), age] += 1
        return counts

    def openings(self):
        """By month: active at its start, of these not active at its end, and active at its end but not at its start; and by
        currency the recurring revenue of the latter."""
        counts, annual, stint_at, months = collections.Counter(), collections.Counter(), self.stint_at(), self.months()
        for before, day in zip(months, months[1:]):
            opening = {id(stint_at(line, before)) for line in self.active[before]}
            closing = {id(stint_at(line, day)): money for line, money in self.active[day].items()}
            counts["active_start", before + 1] += len(opening)
            counts["lost", before + 1] += len(opening - closing.keys())
            counts["others", before + 1] += len(closing.keys() - opening)
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
        """By product, month of the first paid period and its number: stints that reached a paid period before a day."""
        reached = collections.Counter()
        for stint in self.stints():
            paid = [row for row in stint if row["price"] > 0 and row["purchase_date"] < end * DAY]
            for age, _ in enumerate(paid[:36], 1):
                month = date_of(paid[0]["purchase_date"] // DAY).replace(day=1)
                reached[paid[0]["product_id"], month.isoformat(), age] += 1
        return reached

    def lifetime(self):
        """By month and currency of the first charge: payers, and what they paid in all."""
        first, payers, net = {}, collections.Counter(), collections.Counter()
        for row in self.purchases():
            if row["price"] > 0:
                day = date_of(row["purchase_date"] // DAY)
                if row["account"] not in first:
                    first[row["account"]] = (day.replace(day=1).isoformat(), row["currency"])
                    payers[first[row["account"]]] += 1
                key = first[row["account"]][0], row["currency"]
                part = 0 if row["revocation_date"] is None else row["revocation_percentage"] or 100_000
                net[key] += row["price"] - share(row["price"], part)
        return payers, net


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

    def values(self, report, *names, length=200, **more):
        """The columns `names` by bucket day, groups and currency, without zeros. A response has at most 10,000 rows, so each is about
        some days. What is by cohort counts up to the end of its response."""
        found = {}
        for first in range(self.lives.first, self.lives.end, length):
            answer = self.ask(report, first=first, end=min(first + length, self.lives.end), **more)
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


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    from harness import Service

    folder = tmp_path_factory.mktemp("reports")
    (folder / "entitled.yaml").write_text(CONFIGURATION, encoding="utf-8")
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    lives = Lives(service)
    lives.live(DAYS)
    yield service, lives, Reports(service, lives)
    service.stop()


def test_stocks_equal_the_recount_on_every_day(lived):
    _, lives, reports = lived
    names = ["active", "in_trial", "in_grace", "in_retry", "at_risk", "pending_downgrade", "unclaimed_active", "season_running",
             "non_consumable_owned"]  # fmt: skip
    expected = {
        (name, day, *place): count
        for day, stocks in lives.stocks.items() for (name, *place), count in stocks.items()
    }  # fmt: skip
    dimensions = [report_service.REPORT_DIMENSION_PRODUCT, report_service.REPORT_DIMENSION_STOREFRONT]

    def check():
        found = reports.values("subscriptions", *names, group_by=dimensions)
        differences = sorted(set(found.items()) ^ set(expected.items()), key=lambda one: (one[0][1], one[0]))
        assert not differences, (len(differences), len(expected), differences[:8])

    eventually(check)
    assert expected


def test_money_equals_the_recount_on_every_day(lived):
    _, lives, reports = lived
    money, refunded = lives.money()
    expected = {(name, *key): value for name, counts in money.items() for key, value in counts.items() if value}
    eventually(lambda: _equal(reports.values("revenue", *money), expected))
    expected = {("refunds", *key): value for key, value in refunded.items()}
    eventually(lambda: _equal(reports.values("refunds", "refunds"), expected))
    expected = {("gross", *key): value for key, value in lives.one_time().items()}
    eventually(lambda: _equal(reports.values("one-time", "gross"), expected))


def _equal(found, expected):
    differences = sorted(set(found.items()) ^ set(expected.items()), key=str)
    assert not differences, (len(differences), len(expected), differences[:8])


def test_recurring_revenue_equals_the_recount_and_its_movements(lived):
    _, lives, reports = lived
    expected = {
        ("closing", day, currency): value
        for day, annual in lives.annual.items() for currency, value in annual.items() if value
    }  # fmt: skip
    eventually(lambda: _equal(reports.values("mrr", "closing"), expected))
    announced = {
        (day, *key): value
        for day, counts in lives.expected.items() for key, value in counts.items() if value
    }  # fmt: skip

    def check():
        found = reports.values("mrr", "expected", group_by=[report_service.REPORT_DIMENSION_PRODUCT], length=100)
        found = {(day, *key): value for (_, day, *key), value in found.items() if day in lives.expected and key[0] != "weekly"}
        _equal(found, announced)

    eventually(check)
    answer = reports.ask("mrr", granularity=report_service.REPORT_GRANULARITY_WEEK)
    names = [column.name for column in answer.columns]
    for row in answer.rows:
        values = dict(zip(names, row.values))
        others = ("opening", "closing", "active", "exchange", "closing_of_others", "retained", "expected")
        moves = sum(values[name] for name in names if name not in others)
        assert values["opening"] + moves == values["closing"], row


def test_proceeds_equal_the_recount_on_every_day(lived):
    """Each charge, refund and running period has the operator's part, rounded by itself."""
    _, lives, reports = lived
    part = lives.shares()
    money, _ = lives.money(part)
    names = ("gross", "refunds", "reversals")
    expected = {(name, *key): value for name in names for key, value in money[name].items() if value}
    assert expected
    eventually(lambda: _equal(reports.values("revenue", *names, proceeds=True), expected))
    closing = collections.Counter()
    for day, lines in lives.active.items():
        for currency, annual, charge in lines.values():
            closing["closing", day, currency] += part(*charge, annual)
    eventually(lambda: _equal(reports.values("mrr", "closing", proceeds=True), {key: value for key, value in closing.items() if value}))
    if PAYERS >= 100 and DAYS >= 700:
        charged = [row for row in lives.periods() if row["price"] > 0]
        ratios = {part(row["account"], row["product_id"], row["purchase_date"], 100_000) for row in charged}
        assert ratios == {70_000, 85_000}, "the long form has charges after one year"


def test_movements_explain_the_difference_of_each_day(lived):
    *_, reports = lived
    group = [report_service.REPORT_DIMENSION_PRODUCT]
    answer = reports.ask("movements", group_by=group)
    names = [column.name for column in answer.columns]
    signs = {"started_paid": 1, "converted": 1, "resubscribed": 1, "recovered": 1, "reversed_in": 1, "moved": 1}
    signs |= {name: -1 for name in ("lapsed_voluntary", "lapsed_billing", "lapsed_other", "refunded_out", "to_free_offer")}
    assert answer.rows
    for row in answer.rows:
        values = dict(zip(names, row.values))
        assert values["active_start"] + sum(sign * values[name] for name, sign in signs.items()) == values["active_end"], row
        trials = {"trial_started": 1, "to_free_offer": 1, "trial_moved": 1, "trial_expired": -1, "trial_lapsed_billing": -1, "trial_refunded": -1}
        change = sum(sign * values[name] for name, sign in trials.items()) - values["converted"] + values["converted_from_retry"]
        assert values["in_trial_start"] + change == values["in_trial_end"], row


def test_movements_and_retention_equal_the_recount(lived):
    _, lives, reports = lived
    group = [report_service.REPORT_DIMENSION_PRODUCT]
    counts = lives.movements()
    expected = {key: value for key, value in counts.items() if key[1] < lives.end}
    names = sorted({key[0] for key in counts})
    eventually(lambda: _equal(reports.values("movements", *names, group_by=group), expected))
    start = datetime.date.fromordinal(719_163 + lives.first).replace(day=1).toordinal() - 719_163
    answer = reports.ask("retention", first=start, group_by=group)
    found = {(row.groups[0], row.bucket.ToDatetime().date().isoformat(), row.age): row.values[0] for row in answer.rows}
    # On days that are not closed, no subscription had time.
    reached = lives.retention(answer.closed_until.ToMilliseconds() // DAY)
    # A change to a shorter product reaches a period before a subscription of the cohort has had the time to.
    assert found == {key: reached[key] for key in found}
    assert sum(found.values()) > 0.9 * sum(reached.values())
    later = reports.ask("retention", first=start, end=min(start + 800, lives.end + 60), group_by=group)
    assert [row.values for row in later.rows] == [row.values for row in answer.rows], "no subscription had time in the future"


def test_ends_by_reason_and_bands_of_paid_days_equal_the_recount(lived):
    _, lives, reports = lived
    expected = {key: value for key, value in lives.churn().items() if key[1] < lives.end}
    bands = [f"cancelled_after_{band}_days" for band in CANCELLED_AFTER]
    names = ["billing", "cancelled", "cancelled_within_a_day", "cancelled_in_grace", "price_not_accepted", "product_unavailable", "other",
             "unknown", "after_failed_payment", *bands]  # fmt: skip

    def check():
        found = collections.Counter()
        for (name, *key), value in reports.values("churn", *names).items():
            found["cancelled" if name == "cancelled_within_a_day" else name, *key] += value
        _equal(found, expected)

    eventually(check)
    expected = dict(lives.paid_bands())
    eventually(lambda: _equal(reports.values("paid-years", *PAID_DAYS), expected))


def test_cohorts_by_month_and_openings_equal_the_recount(lived):
    _, lives, reports = lived
    if len(lives.months()) < 2:
        pytest.skip("too short for a whole month")
    group, month = [report_service.REPORT_DIMENSION_PRODUCT], report_service.REPORT_GRANULARITY_MONTH
    first = (date_of(lives.first).replace(day=1)).toordinal() - 719_163
    end = lives.months()[-1] + 1
    expected = lives.cohorts()

    def by_months():
        answer = reports.ask("retention-months", first=first, end=end, group_by=group)
        found = {(row.groups[0], row.bucket.ToDatetime().date().isoformat(), row.age): row.values[0] for row in answer.rows if row.values[0]}
        _equal(found, {key: count for key, count in expected.items() if count})

    eventually(by_months)
    counts, annual = lives.openings()
    start = lives.months()[0] + 1
    answer = reports.ask("churn-rate", first=start, end=end, granularity=month)
    names = [column.name for column in answer.columns]
    found = {(name, row.bucket.ToMilliseconds() // DAY): row.values[names.index(name)] for row in answer.rows for name in ("active_start", "lost", "others")}
    _equal({key: value for key, value in found.items() if value}, {key: value for key, value in counts.items() if value})
    for row in answer.rows:
        values = dict(zip(names, row.values))
        assert 0 <= values["lost"] <= values["left"] <= values["active_start"], row
        early = lives.early_lost(row.bucket.ToMilliseconds() // DAY)
        assert values["early_lost"] == early, (row, early)
    answer = reports.ask("mrr", first=start, end=end, granularity=month)
    names = [column.name for column in answer.columns]
    found = {(row.bucket.ToMilliseconds() // DAY, row.currency): row.values[names.index("closing_of_others")] for row in answer.rows}
    _equal({key: value for key, value in found.items() if value}, {key: value for key, value in annual.items() if value})
    for row in answer.rows:
        values = dict(zip(names, row.values))
        assert values["retained"] == values["closing"] - values["closing_of_others"] >= 0


def test_trials_and_lifetime_value_equal_the_recount(lived):
    _, lives, reports = lived
    started, converted = lives.trials()
    expected = {("started", day): count for day, count in started.items()}
    expected |= {("converted", day): count for day, count in converted.items()}
    eventually(lambda: _equal(reports.values("trials", "started", "converted", length=800), expected))
    trials = reports.ask("trials", first=lives.first)
    names = [column.name for column in trials.columns]
    for values in (dict(zip(names, row.values)) for row in trials.rows):
        outcomes = ("converted", "running", "cancelled_within_a_day", "cancelled_later", "expired_otherwise", "revoked")
        assert sum(values[name] for name in outcomes) == values["started"], values
    payers, net = lives.lifetime()
    answer = reports.ask("ltv", first=lives.first - 31)
    last = {}
    for row in answer.rows:
        last[row.bucket.ToDatetime().date().isoformat(), row.currency] = (row.values[2] + row.values[3], row.values[1])
    assert last == {key: (net[key], count) for key, count in payers.items()}


def test_the_revisions_are_the_difference_between_first_closed_and_now(lived):
    *_, reports = lived
    for name in ("subscriptions", "movements", "mrr", "revenue", "churn", "billing"):
        now = reports.ask(name)
        first = reports.ask(name, as_first_closed=True)
        stocks = [column.name in STOCKS for column in now.columns]
        changed = collections.Counter()
        for row, sign in [*((row, 1) for row in now.rows), *((row, -1) for row in first.rows)]:
            for index, value in enumerate(row.values):
                changed[row.bucket.ToMilliseconds() // DAY, row.currency, index] += sign * value
        for revision in now.revisions:
            assert revision.causes and revision.number > 0
            day, known = (one.ToMilliseconds() // DAY for one in (revision.day, revision.known_day))
            for difference in revision.differences:
                for index, value in enumerate(difference.values):
                    for later in range(day, known if stocks[index] else day + 1):
                        changed[later, difference.currency, index] -= value
        # Openings, and columns that are made up of others, have no differences.
        left_out = ("active_start", "in_trial_start", "opening", "exchange", "retained")
        openings = [index for index, column in enumerate(now.columns) if column.name in left_out]
        days = range(reports.lives.first, reports.lives.end)
        wrong = {key: value for key, value in changed.items() if value and key[0] in days and key[2] not in openings}
        assert not wrong, (name, len(wrong), sorted(wrong.items())[:5])


def test_an_answer_as_of_an_earlier_day_stays_the_same(lived):
    _, lives, reports = lived
    assert lives.answers
    for (name, day, known), more, answer, _ in lives.answers:
        again = reports.ask(name, end=day, known_at=known, **more)
        assert again.SerializeToString(deterministic=True) == answer, (name, day)


def test_days_asked_again_at_the_end_are_as_first_closed_and_their_differences_are_explained(lived):
    """With ENTITLED_REPORT_DAYS=730, the first days are asked again two years later."""
    _, lives, reports = lived
    assert lives.answers
    for (name, day, _), more, _, first in lives.answers:
        again = reports.ask(name, end=day, as_first_closed=True, **more)
        assert rows_of(again) == first, (name, day)
        now = reports.ask(name, end=day, **more)
        assert rows_of(now) == first or (now.revisions and any(one.differences for one in now.revisions)), (name, day)


def test_an_export_has_the_rows_of_the_answer(lived):
    *_, reports = lived
    query = reports.query("movements", group_by=[report_service.REPORT_DIMENSION_PRODUCT])
    rows = reports.ask("movements", group_by=[report_service.REPORT_DIMENSION_PRODUCT]).rows
    for file_format in (report_service.REPORT_FORMAT_CSV, report_service.REPORT_FORMAT_NDJSON):
        request = report_service.ExportReportRequest(app=APP, query=query, format=file_format)
        text = b"".join(part.chunk for part in reports.stub.ExportReport(request, timeout=CALL_LIMIT)).decode()
        if file_format == report_service.REPORT_FORMAT_CSV:
            found = list(csv.DictReader(io.StringIO(text)))
        else:
            found = [json.loads(line) for line in text.splitlines()]
        assert [int(row["active_end"]) for row in found] == [row.values[13] for row in rows]
        assert [row["product"] for row in found] == [row.groups[0] for row in rows]


def test_the_hash_of_an_answer_is_that_of_its_export(lived):
    *_, reports = lived

    def check():
        for name, more in [("movements", {}), ("mrr", {"proceeds": True}), ("ltv", {})]:
            answer = reports.ask(name, **more)
            request = report_service.ExportReportRequest(app=APP, query=reports.query(name, **more))
            exported = b"".join(part.chunk for part in reports.stub.ExportReport(request, timeout=CALL_LIMIT))
            assert answer.result_hash == hashlib.sha256(exported).hexdigest(), name
            assert answer.edition == 1 and not answer.notes
            estimated = {column.name for column in answer.columns if column.provenance == report_service.REPORT_PROVENANCE_ESTIMATED}
            money = {column.name for column in answer.columns if column.unit != report_service.REPORT_UNIT_COUNT}
            assert estimated == (money if more else {"net", "upgrade_credit", "net_of_month"} & money), name

    eventually(check)


def test_as_of_an_instant_counts_what_was_so_by_then(lived):
    _, lives, reports = lived
    charges = [row for row in lives.purchases() if row["price"] > 0]
    for row in (charges[len(charges) // 2], charges[-1]):
        day, instant = row["purchase_date"] // DAY, row["purchase_date"]
        expected = collections.Counter()
        for other in charges:
            if other["purchase_date"] // DAY == day and other["purchase_date"] <= instant:
                expected[other["currency"]] += other["price"]

        def check(expected=expected, day=day, instant=instant):
            answer = reports.ask("revenue", first=day, end=day + 1, as_of=instant)
            assert {row.currency: row.values[0] for row in answer.rows if row.values[0]} == expected
            assert all(row.incomplete for row in answer.rows)
            whole = reports.ask("revenue", first=day, end=day + 1, as_of=(day + 1) * DAY - 1)
            assert [list(row.values) for row in whole.rows] == [list(row.values) for row in reports.ask("revenue", first=day, end=day + 1).rows]

        eventually(check)


def test_groups_by_reason_and_duration_add_up_to_the_report(lived):
    *_, reports = lived
    for name, dimension in [
        ("churn", report_service.REPORT_DIMENSION_REASON), ("refunds", report_service.REPORT_DIMENSION_REASON),
        ("mrr-changes", report_service.REPORT_DIMENSION_REASON),
        ("subscriptions", report_service.REPORT_DIMENSION_DURATION),
    ]:  # fmt: skip
        month = report_service.REPORT_GRANULARITY_MONTH
        sums = []
        for more in ({}, {"group_by": [dimension]}, {"group_by": [dimension], "max_groups": 1}):
            counts = collections.Counter()
            answer = reports.ask(name, granularity=month, **more)
            for row in answer.rows:
                for index, value in enumerate(row.values):
                    counts[row.bucket.ToMilliseconds(), row.currency, index] += value
            sums.append({key: value for key, value in counts.items() if value})
            assert len({tuple(row.groups) for row in answer.rows}) <= (2 if "max_groups" in more else 100)
        assert sums[0] == sums[1] == sums[2], name
    listed = reports.stub.ListReports(report_service.ListReportsRequest(app=APP), timeout=CALL_LIMIT).reports
    dimensions = {report.name: set(report.dimensions) for report in listed}
    assert report_service.REPORT_DIMENSION_REASON in dimensions["churn"] - dimensions["subscriptions"]


def test_wrong_queries_name_their_field(lived):
    *_, reports = lived
    for reason, more in [
        ("UNKNOWN_REPORT", {"report": "none"}), ("MISSING_FIELD", {"report": ""}),
        ("INVALID_RANGE", {"report": "mrr", "first": reports.lives.end + 1}),
        ("INVALID_FIELD", {"report": "mrr", "convert_to": "USD"}),
        ("INVALID_FIELD", {"report": "retention", "as_first_closed": True}),
        ("INVALID_FIELD", {"report": "subscriptions", "group_by": [report_service.REPORT_DIMENSION_REASON]}),
        ("INVALID_FIELD", {"report": "revenue", "max_groups": -1}),
        ("INVALID_FIELD", {"report": "revenue", "as_of": reports.lives.first * DAY}),
        ("MIXED_DURATIONS", {"report": "retention"}),
    ]:  # fmt: skip
        with pytest.raises(grpc.RpcError) as caught:
            reports.ask(**more)
        assert contract.details(caught.value)["ErrorInfo"].reason == reason, more


def test_the_command_prints_a_table_and_a_chart(lived):
    service, lives, _ = lived
    days = [str(datetime.date.fromordinal(719_163 + day)) for day in (lives.first, lives.end - 1)]
    done = service.command("report", "mrr", "--from", days[0], "--to", days[1], "--by", "month", "--group-by", "storefront")
    assert done.returncode == 0, done.stderr
    assert "closing" in done.stdout and "####" in done.stdout and "USD" in done.stdout
    listed = service.command("report")
    assert "lapsed_voluntary" in listed.stdout
    done = service.command("report", "movements", "--from", days[0], "--to", days[1], "--csv")
    assert done.stdout.startswith("bucket,active_start,")


def test_refund_requests_are_counted_by_their_day_and_first_outcome(tmp_path):
    from harness import Service

    (tmp_path / "entitled.yaml").write_text(CONFIGURATION, encoding="utf-8")
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    lives = Lives(service)
    for account in lives.accounts[:4]:
        lives.act("purchases", app=APP, productId="coins", account=account)
    declined, granted, reversed_later, left_open = [
        str(row["transaction_id"]) for row in read(service, f"{BEGUN} ORDER BY transaction_id")
    ]

    def request(transaction, reason):
        assert "error" not in lives.act("request-consumption", transactionId=transaction, reason=reason)

    request(declined, "LEGAL")
    for transaction in (granted, reversed_later, left_open):
        request(transaction, "OTHER")
    lives.sleep_until(lives.first * DAY + DAY // 4)
    # Within 12 hours: the same request.
    request(granted, "OTHER")
    lives.sleep_until((lives.first + 1) * DAY + 1000)
    lives.act("decline-refund", transactionId=declined)
    lives.act("refund", transactionId=granted)
    lives.act("refund", transactionId=reversed_later)
    lives.sleep_until((lives.first + 2) * DAY + 1000)
    request(declined, "OTHER")
    lives.act("reverse-refund", transactionId=reversed_later)
    lives.wait_for_notifications()
    lives.end = lives.first + 4
    first, third = lives.first, lives.first + 2
    expected = {
        ("asked", first, "LEGAL"): 1, ("declined", first, "LEGAL"): 1, ("decided", first, "LEGAL"): 1,
        ("asked", first, "OTHER"): 3, ("granted", first, "OTHER"): 2, ("decided", first, "OTHER"): 2,
        ("reversed", first, "OTHER"): 1, ("open", first, "OTHER"): 1,
        ("asked", third, "OTHER"): 1, ("open", third, "OTHER"): 1,
    }  # fmt: skip
    names = ["asked", "answered", "granted", "declined", "decided", "reversed", "open"]

    def check():
        reports = Reports(service, lives)
        found = reports.values("refund-requests", *names, group_by=[report_service.REPORT_DIMENSION_REASON])
        assert found == expected, sorted(set(found.items()) ^ set(expected.items()))

    try:
        eventually(check)
    finally:
        service.stop()


def test_commitments_equal_the_recount(tmp_path):
    """Yearly subscriptions that are paid monthly. The tables are copied every third day."""
    from harness import Service

    configuration = CONFIGURATION.replace("price: 39.99,", "price: 39.99, monthly_price: 3.99,")
    (tmp_path / "entitled.yaml").write_text(configuration, encoding="utf-8")
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    lives, dice = Lives(service), random.Random(SEED)
    # Apple sells no such plan in the USA.
    payers = [account for number, account in enumerate(lives.accounts[:60]) if number % len(STOREFRONTS)]
    counts, days = collections.Counter(), range(lives.first, lives.first + max(90, DAYS), 3)
    try:
        for day in days:
            lives.sleep_until(day * DAY + dice.randrange(1000, DAY - 2000))
            account = dice.choice(payers)
            own = read(service, f"SELECT transaction_id FROM purchase WHERE account = '{account}' ORDER BY purchase_date DESC LIMIT 2")
            chosen = str(dice.choice(own)["transaction_id"]) if own else "0"
            match dice.randrange(8) if day >= lives.first + 18 else 0:
                case 0 | 1:
                    lives.act("purchases", app=APP, productId="yearly", account=account, billingPlanType="MONTHLY")
                case 2 | 3:
                    lives.act("billing", account=dice.choice(payers), fails=True)
                case 4 | 5:
                    for failing in payers:
                        lives.act("billing", account=failing, fails=False)
                case 6:
                    lives.act("auto-renew", transactionId=chosen, enabled=dice.random() < 0.5)
                case _:
                    lives.act("refund", transactionId=chosen)
            lives.sleep_until((day + 1) * DAY - 1)
            lives.wait_for_notifications()
            latest = {row["original_transaction_id"]: row for row in lives.purchases(LATEST)}
            for line in read(service, "SELECT * FROM subscription WHERE ownership = 'PURCHASED' AND state NOT IN ('ended', 'retry')"):
                period = latest.get(line["original_transaction_id"])
                if period is None or period["revocation_date"] or (line["state"] == "revoked" and period["expires_date"] <= lives.now()):
                    continue
                if period["billing_period_number"]:
                    counts["committed", day, period["currency"]] += 1
                    counts["remainder", day, period["currency"]] += period["price"] * (12 - period["billing_period_number"])
        lives.end = days[-1] + 1
        for row in lives.periods():
            if (row["billing_period_number"] or 0) > 1:
                counts["instalments", row["purchase_date"] // DAY, row["currency"]] += 1
        assert {name for name, *_ in counts} == {"committed", "remainder", "instalments"}

        def check():
            found = Reports(service, lives).values("commitments", "committed", "remainder", "instalments")
            compared = {key: value for key, value in found.items() if key[0] == "instalments" or key[1] in days}
            _equal(compared, {key: value for key, value in counts.items() if value})

        eventually(check)
    finally:
        service.stop()
