"""The events of each subscription, from the sandbox's tables; the columns of the reports add them up.

It shares no code with the service. The definitions are those of docs/reports.md.
"""

import bisect
import collections
import dataclasses
import datetime
import fractions

from report_lives import CANCELLED_AFTER, DAY, LEVELS, ONE_TIME, date_of, dimensions, months_after, per_year, read, share

SETTLED_WITHIN = 30 * DAY
RECOVERED_AFTER = {"0_days": 0, "1_to_3_days": 1, "4_to_7_days": 4, "8_to_16_days": 8, "17_to_28_days": 17, "29_to_60_days": 29}
YEAR = 365 * DAY
PAUSE = 60 * DAY
# The ends of active subscriptions, with their columns in the report `mrr`.
ENDS = {
    "lapsed_voluntary": "churn_voluntary", "lapsed_billing": "churn_billing", "lapsed_other": "churn_other",
    "refunded_out": "churn_refund", "to_free_offer": "churn_other",
}  # fmt: skip
BEGINNINGS = {"started_paid": "new", "resubscribed": "reactivation", "recovered": "recovered", "reversed_in": "reversed"}
FOREVER = 1 << 62


@dataclasses.dataclass
class Event:
    """One event, with the dimensions of a period or a purchase."""

    name: str
    at: int
    row: dict
    count: int = 1
    amount: int = 0
    reason: str = ""
    stint: int = 0
    # The first period of the trial that it ends.
    trial: dict | None = None

    @property
    def day(self):
        return self.at // DAY


def band(bands, days):
    """The name of the band of a number of days."""
    return [name for name, first in bands.items() if days >= first][-1]


def annual(row):
    """The recurring revenue of a period."""
    return row["price"] * per_year(row["product_id"], row["offer_id"])


def fold(events, *wanted, value="count", by_currency=False, days=None):
    """Adds up events by name, day and the wanted of the four dimensions, without zeros."""
    counts = collections.Counter()
    for event in events:
        if days is None or event.day in days:
            place = dimensions(event.row)
            key = (event.name, event.day, *(place[one] for one in wanted), *([event.row["currency"]] if by_currency else []))
            counts[key] += getattr(event, value)
    return {key: count for key, count in counts.items() if count}


class Recount:
    """The events of all lives."""

    def __init__(self, lives):
        self.lives, self.events = lives, []
        self.lines = collections.defaultdict(list)
        for row in lives.periods():
            self.lines[row["original_transaction_id"]].append(row)
        self.notices = collections.defaultdict(list)
        # When auto-renew was turned off, and whether by a refund; the transactions whose period had a planned downgrade.
        self.off, self.planned = collections.defaultdict(list), set()
        self.without_renewal = {row["transaction_id"] for row in lives.without_renewal()}
        self.first = {}
        for row in lives.periods():
            if row["price"] > 0:
                self.first.setdefault((row["account"], row["product_id"] == "news"), row["purchase_date"])
        self.read_notices()
        self.read_changes()
        for stint in lives.stints():
            self.follow(stint)

    def read_notices(self):
        """The notifications by transaction."""
        sql = "SELECT type, subtype, date AS at_date, transaction_id FROM notification ORDER BY date, number"
        for notice in read(self.lives.service, sql):
            self.notices[notice["transaction_id"]].append((notice["at_date"], notice["type"], notice["subtype"]))

    def read_changes(self):
        """The customers' changes of the next renewal of a running period."""
        for at, before, after in self.lives.changes:
            if before["renews"] and not after["renews"]:
                self.off[after["original_transaction_id"]].append((at, after["state"] == "revoked"))
            started = [row for row in self.lines[after["original_transaction_id"]] if row["purchase_date"] <= at]
            if before["transaction_id"] != after["transaction_id"] or not started:
                continue
            row = started[-1]
            # A refund of the next period, which is charged already, leaves the running one.
            is_running = row["transaction_id"] != after["transaction_id"] and row["expires_date"] > at
            if not all(is_running or line["state"] in ("active", "grace") for line in (before, after)):
                continue
            if before["renews"] != after["renews"]:
                self.add("renewal_turned_on" if after["renews"] else "renewal_turned_off", at, row)
            # Of a next period that is charged already, nothing can be planned any more.
            kinds = [self.plan(line) for line in (before, after)]
            if kinds[1] == "downgrade":
                self.planned.add(after["transaction_id"])
            if kinds[0] != kinds[1] and row["price"] > 0:
                for kind, suffix in zip(kinds, ("withdrawn", "requested")):
                    if kind:
                        self.add(f"{kind}_{suffix}", at, row)

    @staticmethod
    def plan(line):
        """The change of product that the planned renewal makes; nothing with the same product."""
        step = LEVELS[line["renewal_product_id"]] - LEVELS[line["product_id"]]
        is_same = line["renewal_product_id"] == line["product_id"]
        return None if is_same or step < 0 else "downgrade" if step > 0 else "crossgrade"

    def add(self, name, at, row, **more):
        self.events.append(Event(name, at, row, **more))

    # Beginnings.

    def begin(self, name, at, row, stint, **more):
        """A beginning of an active subscription with its recurring revenue."""
        self.add(name, at, row, amount=annual(row), stint=stint, **more)

    def is_return(self, row):
        return self.first.get((row["account"], row["product_id"] == "news"), row["purchase_date"]) < row["purchase_date"]

    def follow(self, stint):
        """Adds the events of one subscription from its beginning to its end."""
        name, first, trial = stint[0]["transaction_id"], stint[0], None
        if first["price"] == 0:
            self.add("trial_started", first["purchase_date"], first, stint=name)
            trial = first
        else:
            self.begin("resubscribed" if self.is_return(first) else "started_paid", first["purchase_date"], first, name)
        for row, following in zip(stint, [*stint[1:], None]):
            self.reverse(row, name)
            if following is None:
                self.end(row, trial, name)
            elif following["purchase_date"] > row["expires_date"] and following["reason"] == "RENEWAL":
                trial = self.come_back(row, following, trial, name)
            else:
                trial = self.go_on(row, following, trial, name)

    def reverse(self, row, name):
        """The refunds that ended a running period, and their reversals."""
        end = min(row["expires_date"], self.after(row))
        for refunded, back, _ in self.lives.reversed[row["transaction_id"]]:
            if row["purchase_date"] <= refunded < end:
                self.leave("refunded_out", refunded, row, name)
                if back < end:
                    self.begin("reversed_in", back, row, name)

    def after(self, row):
        """The start of the period of the line that follows, of any subscription."""
        starts = [other["purchase_date"] for other in self.lines[row["original_transaction_id"]]]
        later = bisect.bisect_right(starts, row["purchase_date"])
        return starts[later] if later < len(starts) else FOREVER

    def come_back(self, before, row, trial, name):
        """A payment out of billing retry; returns the trial that still runs."""
        start, was_trial = row["purchase_date"], before["price"] == 0
        self.change_product(before, row)
        self.fail(before, start, trial, name)
        self.add("retry_recovered", start, row)
        self.recover(before, row, start)
        if was_trial and row["price"] > 0:
            self.convert(row, start, trial, name)
            self.add("converted_from_retry", start, row)
            return trial
        self.begin("recovered", start, row, name)
        if row["price"] > 0:
            return trial
        # A period that came back is free now.
        self.add("to_free_offer", start, row, stint=name)
        return trial if was_trial else None

    def go_on(self, before, row, trial, name):
        """A period that follows without a lapse; returns the trial that still runs."""
        start, is_trial, was_trial = row["purchase_date"], row["price"] == 0, before["price"] == 0
        # A payment in the grace period is dated back to its period; until it, the old one was in force.
        paid = [at for at, _, subtype in self.notices[row["transaction_id"]] if subtype == "BILLING_RECOVERY"]
        at = max([start, *paid[:1]])
        self.change_product(before, row)
        if at > before["expires_date"]:
            self.add("grace_entered", before["expires_date"], before)
            self.add("grace_recovered", at, before)
            self.add("grace_days", at, before, count=(at - before["expires_date"]) // DAY)
            self.recover(before, row, at)
        if was_trial or is_trial:
            self.move_trial(before, row, at)
        if was_trial and not is_trial:
            self.convert(row, at, trial, name)
        elif is_trial and not was_trial:
            self.leave("to_free_offer", at, before, name)
            return None
        elif not was_trial:
            if before["product_id"] == row["product_id"] or (start >= before["expires_date"] - DAY and row["reason"] == "RENEWAL"):
                self.add("renewed", start, row)
            if dimensions(before)[3] and not dimensions(row)[3]:
                self.add("intro_to_regular", start, row)
            self.revise(before, row, at)
            self.credit(before, row)
        return trial

    def change_product(self, before, row):
        if before["product_id"] != row["product_id"]:
            step = LEVELS[row["product_id"]] - LEVELS[before["product_id"]]
            self.add("upgraded" if step < 0 else "downgraded" if step > 0 else "crossgraded", row["purchase_date"], row)

    def convert(self, row, at, trial, name):
        self.begin("converted", at, row, name, reason="RETURN" if self.is_return(row) else "FIRST", trial=trial)

    def move_trial(self, before, row, at):
        """A trial that begins, goes on or converts under another product or storefront."""
        # Between trial and paid, an offer alone is no difference, because every trial is one.
        count = 4 if before["price"] == row["price"] == 0 else 3
        if dimensions(before)[:count] != dimensions(row)[:count]:
            self.add("trial_moved", at, before, count=-1)
            self.add("trial_moved", at, row)

    def revise(self, before, row, at):
        """A change of recurring revenue from one paid period to the next."""
        moved = annual(before) if before["currency"] == row["currency"] else 0
        if dimensions(before) != dimensions(row):
            self.add("moved", at, before, count=-1, amount=-moved)
            self.add("moved", at, row, amount=moved)
        if before["currency"] != row["currency"]:
            self.add("contraction", at, before, amount=-annual(before), reason="CURRENCY")
            self.add("expansion", at, row, amount=annual(row), reason="CURRENCY")
            return
        change = annual(row) - annual(before)
        step = LEVELS[row["product_id"]] - LEVELS[before["product_id"]]
        offers = [bool(dimensions(one)[3]) for one in (before, row)]
        if before["product_id"] != row["product_id"]:
            reason = "UPGRADE" if step < 0 else "DOWNGRADE" if step > 0 else "CROSSGRADE"
        elif offers[0] != offers[1]:
            reason = "OFFER_ENDED" if offers[0] else "OFFER_REDEEMED"
        else:
            reason = "PRICE_DECREASE" if change < 0 else "PRICE_INCREASE"
        if change:
            self.add("contraction" if change < 0 else "expansion", at, row, amount=change, reason=reason)

    def credit(self, before, row):
        """The part of a paid period that Apple refunds after an upgrade."""
        left, whole = before["expires_date"] - row["purchase_date"], before["expires_date"] - before["purchase_date"]
        if left > 0 and LEVELS[row["product_id"]] < LEVELS[before["product_id"]]:
            amount = round(fractions.Fraction(before["price"] * left, whole))
            self.add("upgrade_credit", row["purchase_date"], before, amount=-amount)

    # Ends.

    def leave(self, name, at, row, stint, **more):
        """The end of an active subscription with its recurring revenue."""
        self.add(name, at, row, amount=-annual(row), stint=stint, **more)

    def recover(self, before, row, at):
        """How long after the end of a period the next one was paid."""
        if row["price"] > 0:
            days = (at - before["expires_date"]) // DAY
            self.add(f"recovered_after_{band(RECOVERED_AFTER, days)}", at, before)

    def lapse(self, name, reason, at, row, trial, stint):
        if row["price"] == 0:
            trials = {"lapsed_billing": "trial_lapsed_billing", "refunded_out": "trial_refunded"}
            self.add(trials.get(name, "trial_expired"), at, row, reason=reason, trial=trial, stint=stint)
            return
        self.leave(name, at, row, stint, reason=reason)
        if name == "refunded_out":
            return
        asked = [when for when, *kind in self.notices[row["transaction_id"]] if kind == ["PRICE_INCREASE", "PENDING"]]
        if asked and asked[0] <= at:
            self.add("after_price_increase", at, row)
        if row["transaction_id"] in self.planned:
            self.add("after_planned_downgrade", at, row)
        if name == "lapsed_billing" or reason == "CANCELLED_IN_GRACE":
            self.add("after_failed_payment", at, row)

    def fail(self, row, until, trial, stint):
        """A failed payment, after which the subscription lost access."""
        over = [at for at, kind, _ in self.notices[row["transaction_id"]] if kind == "GRACE_PERIOD_EXPIRED" and at <= until]
        at = over[0] if over else row["expires_date"]
        if over:
            self.add("grace_entered", row["expires_date"], row)
            self.add("grace_ended", at, row)
        self.lapse("lapsed_billing", "BILLING", at, row, trial, stint)
        self.add("retry_entered", at, row)
        if until < FOREVER:
            self.add("retry_days", until, row, count=(until - at) // DAY)

    def end(self, row, trial, stint):
        """Adds how the last period of a subscription ended, if it did."""
        end, notices = row["expires_date"], self.notices[row["transaction_id"]]
        refunded, later = row["revocation_date"] or FOREVER, self.after(row)
        for start, back, _ in self.lives.reversed[row["transaction_id"]]:
            if row["purchase_date"] <= start < min(end, later) and back >= min(end, later):
                return
            # A refund in the grace period or billing retry ended it, whether it was reversed or not.
            refunded = start if end <= start < later else refunded
        if refunded < min(end, later):
            self.lapse("refunded_out", "REFUND", refunded, row, trial, stint)
            return
        if row["transaction_id"] in self.without_renewal:
            self.lapse("lapsed_other", "OTHER", end, row, trial, stint)
            return
        has_failed = any(kind == "DID_FAIL_TO_RENEW" and at >= end for at, kind, _ in notices)
        expired = next(((at, subtype) for at, kind, subtype in notices if kind == "EXPIRED"), (FOREVER, None))
        if not has_failed:
            self.expire(row, expired, trial, stint)
            return
        grace_ended = next((at for at, kind, _ in notices if kind == "GRACE_PERIOD_EXPIRED"), FOREVER)
        has_grace = any(subtype == "GRACE_PERIOD" for _, _, subtype in notices)
        if has_grace and grace_ended == FOREVER:
            self.add("grace_entered", end, row)
            if refunded < min(expired[0], later):
                self.lapse("refunded_out", "REFUND", refunded, row, trial, stint)
            elif expired[0] < FOREVER:
                self.lapse("lapsed_voluntary", "CANCELLED_IN_GRACE", expired[0], row, trial, stint)
            return
        self.fail(row, FOREVER, trial, stint)
        if expired[0] < FOREVER:
            self.add("retry_lost" if expired[1] == "BILLING_RETRY" else "retry_cancelled", expired[0], row)
        elif refunded < later:
            self.add("retry_cancelled", refunded, row)

    def expire(self, row, expired, trial, stint):
        """The end of a period whose payment did not fail."""
        at, subtype = expired
        if at == FOREVER:
            return
        if subtype != "VOLUNTARY":
            name = "lapsed_voluntary" if subtype == "PRICE_INCREASE" else "lapsed_other"
            self.lapse(name, "PRICE_NOT_ACCEPTED" if subtype == "PRICE_INCREASE" else "OTHER", at, row, trial, stint)
            return
        turned_off, is_by_refund = [one for one in self.off[row["original_transaction_id"]] if one[0] < at][-1]
        is_soon = turned_off - row["purchase_date"] <= DAY
        self.lapse("lapsed_voluntary", "CANCELLED_WITHIN_A_DAY" if is_soon else "CANCELLED", at, row, trial, stint)
        if row["price"] > 0 and not is_by_refund:
            start = next(one["purchase_date"] for one in self.lines[row["original_transaction_id"]] if one["transaction_id"] == stint)
            self.add(f"cancelled_after_{band(CANCELLED_AFTER, (turned_off - start) // DAY)}_days", at, row)

    # Money.

    def money(self, part=lambda row, amount: amount):
        """Charges, refunds and reversals; `part` gives the counted part of an amount."""
        for row in self.lives.purchases():
            if row["price"] == 0:
                continue
            events = [Event("charge", row["purchase_date"], row, amount=row["price"])]
            for refunded, back, percentage in self.lives.reversed[row["transaction_id"]]:
                events.append(self.refund(row, refunded, percentage))
                events.append(dataclasses.replace(events[-1], name="reversal", at=back, amount=-events[-1].amount))
            if row["revocation_date"] is not None:
                events.append(self.refund(row, row["revocation_date"], row["revocation_percentage"]))
            for event in events:
                yield dataclasses.replace(event, amount=part(row, event.amount))

    @staticmethod
    def refund(row, at, percentage):
        is_full = percentage in (None, 100_000)
        amount = row["price"] if is_full else share(row["price"], percentage)
        return Event("refund", at, row, amount=-amount, reason="FULL" if is_full else "PRORATED")

    def credits(self):
        """Apple's refunds of paid periods after upgrades, and of renewals that upgrades replaced before they began."""
        yield from (event for event in self.events if event.name == "upgrade_credit")
        begun = {row["transaction_id"] for rows in self.lines.values() for row in rows}
        for row in self.lives.purchases("SELECT * FROM purchase WHERE ownership = 'PURCHASED' AND is_upgraded = 1"):
            later = [one for one in self.lines[row["original_transaction_id"]] if int(one["transaction_id"]) > int(row["transaction_id"])]
            upgrade = min((one["purchase_date"] for one in later), default=FOREVER)
            if upgrade < row["purchase_date"] and row["transaction_id"] not in begun and row["revocation_date"] is None:
                yield Event("upgrade_credit", upgrade, row, amount=-row["price"])

    def lifetime(self):
        """By month of the first charge, currency and age: the payers with a first charge in the currency; and by column, too: what
        they paid."""
        first, charged, payers, amounts = {}, set(), collections.Counter(), collections.Counter()
        columns = {"charge": "gross", "refund": "refunds", "reversal": "refunds", "upgrade_credit": "upgrade_credit"}
        money = [*self.money(), *self.credits()]
        for event in money:
            if event.name == "charge":
                first.setdefault(event.row["account"], date_of(event.day).replace(day=1))
        for event in money:
            payer, month, currency = event.row["account"], first[event.row["account"]], event.row["currency"]
            place = (month.isoformat(), currency, months_after(month, event.day))
            amounts[columns[event.name], *place] += event.amount
            if event.name == "charge" and (payer, currency) not in charged:
                charged.add((payer, currency))
                payers[place] += 1
        return payers, amounts

    # Recurring revenue.

    def recurring(self):
        """The movements of recurring revenue."""
        for event in self.events:
            names = BEGINNINGS | ENDS | {name: name for name in ("expansion", "contraction", "moved")}
            if event.name == "converted":
                yield dataclasses.replace(event, name="reactivation" if event.reason == "RETURN" else "new")
            elif event.name in names:
                yield dataclasses.replace(event, name=names[event.name])

    def churn(self):
        """The columns of the report of ends by reason."""
        columns = {
            "CANCELLED_WITHIN_A_DAY": "cancelled_within_a_day", "CANCELLED": "cancelled", "CANCELLED_IN_GRACE": "cancelled_in_grace",
            "PRICE_NOT_ACCEPTED": "price_not_accepted", "BILLING": "billing", "REFUND": "refund",
            "PRODUCT_UNAVAILABLE": "product_unavailable", "OTHER": "other",
        }  # fmt: skip
        for event in self.events:
            if event.name in ENDS and event.name != "to_free_offer":
                yield dataclasses.replace(event, name="lapsed")
                yield dataclasses.replace(event, name=columns.get(event.reason, "refund"))
            elif event.name.startswith(("after_", "cancelled_after_")):
                yield event

    def trials(self):
        """The columns of the report of trials, by the day of the start."""
        reasons = {"CANCELLED_WITHIN_A_DAY": "cancelled_within_a_day", "CANCELLED": "cancelled_later"}
        for event in self.events:
            if event.name == "trial_started":
                yield from (dataclasses.replace(event, name=name) for name in ("started", "running"))
            elif event.trial is not None:
                cohort = dataclasses.replace(event, at=event.trial["purchase_date"], row=event.trial)
                if event.name == "trial_lapsed_billing":
                    yield dataclasses.replace(cohort, name="billing_failed")
                    continue
                name = {"converted": "converted", "trial_refunded": "revoked"}.get(event.name)
                yield dataclasses.replace(cohort, name=name or reasons.get(event.reason, "expired_otherwise"))
                yield dataclasses.replace(cohort, name="ended")
                yield dataclasses.replace(cohort, name="running", count=-1)

    def left(self, months, active):
        """By month: subscriptions that were active at its start and left in it."""
        left = collections.Counter()
        for before, day in zip(months, months[1:]):
            opening = active(before)
            ended = {event.stint for event in self.events if event.name in ENDS and before < event.day <= day}
            left["left", before + 1] += len(opening & ended)
        return left

    def consents(self):
        """The columns of the report of withdrawn consents, by the day of the withdrawal, as known at the end."""
        counts, end = collections.Counter(), self.lives.end * DAY
        for account, at in self.lives.withdrawals():
            settled = min((one for one in self.lives.settlements[account] if one >= at), default=FOREVER)
            names = ["withdrawn", "settled" if settled < end else "open"]
            names += ["overdue"] if at + SETTLED_WITHIN <= min(settled, end - 1) else []
            counts.update((name, at // DAY) for name in names)
        return counts

    # Paid service.

    def paid_years(self):
        """By column and day: payers past one year of paid service, and their charges."""
        counts, lives, times = collections.Counter(), self.lives, self.lives.paid_times()
        spans = {payer: list(years(periods)) for payer, periods in times.items()}
        starts = collections.defaultdict(list)
        for row in lives.periods():
            if row["price"] > 0:
                starts[row["account"], row["product_id"] == "news"].append(row["purchase_date"])
        for payer, reached_to_reset in spans.items():
            for reached, reset in reached_to_reset:
                counts["year_reached", reached // DAY] += 1
                counts["year_reset", (reset + 1) // DAY] += 1
                for day in range(max(lives.first, reached // DAY), min(lives.end, (reset + 1) // DAY)):
                    counts["past_one_year", day] += 1
                charged = [at for at in starts[payer] if reached <= at <= reset]
                if charged:
                    counts["first_charge_at_85", min(charged) // DAY] += 1
        for row in lives.purchases():
            if row["price"] > 0 and row["product_id"] not in ONE_TIME:
                day, payer = row["purchase_date"] // DAY, (row["account"], row["product_id"] == "news")
                counts["charges", day] += 1
                counts["charges_at_85", day] += any(start <= row["purchase_date"] <= end for start, end in spans.get(payer, []))
        return {key: count for key, count in counts.items() if count and key[1] < lives.end}


def years(periods):
    """The times from one year of paid service to 60 days after the end of what follows it."""
    total, covered, reached = 0, None, None
    for start, end, is_paid in periods:
        if covered is not None and start - covered > PAUSE:
            if reached is not None:
                yield reached, covered + PAUSE
            total, reached = 0, None
        begin = max(start, covered or start)
        added = max(0, end - begin) if is_paid else 0
        if reached is None and added and total + added >= YEAR:
            reached = begin + YEAR - total
        total += added
        covered = max(end, covered or end)
    if reached is not None:
        yield reached, covered + PAUSE
