"""Reports equal a recount from the sandbox's tables, which shares no code with the service.

The tables show the present, so the recount copies them at the end of each day.
`ENTITLED_REPORT_PAYERS=400 ENTITLED_REPORT_DAYS=730` runs the full size; the default is small.
"""

import collections
import csv
import dataclasses
import datetime
import hashlib
import io
import json
import random

import grpc
import pytest

import contract
from contract import report_service
from harness import CALL_LIMIT
from report_lives import (
    APP, BEGUN, CANCELLED_AFTER, CONFIGURATION, DAY, DAYS, LATEST, ONE_TIME, PAID_DAYS, PAYERS, SEED, STOCKS, STOREFRONTS, Lives,
    Reports, date_of, eventually, read, rows_of,
)  # fmt: skip
from report_recount import RECOVERED_AFTER, Recount, fold

DIMENSIONS = [
    report_service.REPORT_DIMENSION_PRODUCT, report_service.REPORT_DIMENSION_GROUP, report_service.REPORT_DIMENSION_STOREFRONT,
    report_service.REPORT_DIMENSION_OFFER_KIND,
]  # fmt: skip
# The dimensions by which columns are compared, by their index: none, product and storefront, group and offer.
GROUPINGS = [(), (0, 2), (1, 3)]
# The times in the Small Business Program, in days from now: in the second one, of the long form, some have paid for a year.
PROGRAM = [(15, 30), (DAYS - 20, DAYS)]
# The days of one response about refunds.
SLICE = 200


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    from harness import Service

    folder = tmp_path_factory.mktemp("reports")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    spans = [[(today + datetime.timedelta(days)).isoformat() for days in span] for span in PROGRAM]
    program = ", ".join("{" + f"from: {start}, until: {end}" + "}" for start, end in spans)
    configuration = f"{CONFIGURATION}    reports:\n      small_business_program: [{program}]\n"
    (folder / "entitled.yaml").write_text(configuration, encoding="utf-8")
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    days = [[datetime.date.fromisoformat(date).toordinal() - 719_163 for date in span] for span in spans]
    # Otherwise few payments would be recovered.
    lives = Lives(service, recovered=0.4, households=True, program=days)
    lives.live(DAYS)
    yield service, lives, Reports(service, lives)
    service.stop()


@pytest.fixture(scope="module")
def recount(lived):
    _, lives, _ = lived
    return Recount(lives)


def _equal(found, expected):
    differences = sorted(set(found.items()) ^ set(expected.items()), key=str)
    assert not differences, (len(differences), len(expected), differences[:8])


def _compare(reports, report, names, expected, wanted=(), **more):
    """Asserts that columns of a report, grouped by the wanted dimensions, are the recounted ones on all days."""
    expected = {key: value for key, value in expected.items() if key[0] in names and key[1] < reports.lives.end}
    dimensions = [DIMENSIONS[one] for one in wanted]
    eventually(lambda: _equal(reports.values(report, *names, group_by=dimensions, **more), expected))


def _fold_stocks(counts, wanted, by_currency=False):
    """Adds up copies of each day by name and the wanted dimensions."""
    folded = collections.Counter()
    for day, stocks in counts.items():
        for (name, *place), value in stocks.items():
            folded[name, day, *(place[one] for one in wanted), *(place[4:] if by_currency else [])] += value
    return {key: value for key, value in folded.items() if value}


@pytest.mark.parametrize("wanted", GROUPINGS)
def test_stocks_equal_the_recount_on_every_day(lived, wanted):
    _, lives, reports = lived
    names = ["active", "in_trial", "in_grace", "in_retry", "at_risk", "awaiting_renewal", "committed", "consent_pending",
             "pending_downgrade", "unclaimed_active", "season_running", "non_consumable_owned"]  # fmt: skip
    expected = _fold_stocks(lives.stocks, wanted)
    assert expected
    _compare(reports, "subscriptions", names, expected, wanted)
    _compare(reports, "billing", ["in_grace", "in_retry"], expected, wanted)
    ends = {"active": "active_end", "in_trial": "in_trial_end"}
    closing = {(ends[name], *key): value for (name, *key), value in expected.items() if name in ends}
    starts = {"active_end": "active_start", "in_trial_end": "in_trial_start"}
    opening = {(starts[name], day + 1, *place): value for (name, day, *place), value in closing.items()}
    _compare(reports, "movements", [*ends.values(), *starts.values()], closing | opening, wanted)


@pytest.mark.parametrize("wanted", GROUPINGS)
def test_movements_equal_the_recount(lived, recount, wanted):
    *_, reports = lived
    names = ["started_paid", "converted", "converted_from_retry", "resubscribed", "recovered", "lapsed_voluntary", "lapsed_billing",
             "lapsed_other", "refunded_out", "to_free_offer", "reversed_in", "moved", "trial_started", "renewed", "intro_to_regular",
             "upgraded", "downgraded", "crossgraded", "changed_product", "downgrade_requested", "downgrade_withdrawn",
             "crossgrade_requested", "crossgrade_withdrawn", "renewal_turned_off", "renewal_turned_off_by_apple", "renewal_turned_on",
             "trial_expired", "trial_lapsed_billing", "trial_refunded", "trial_moved"]  # fmt: skip
    _compare(reports, "movements", names, fold(recount.events, *wanted), wanted)


@pytest.mark.parametrize("wanted", GROUPINGS)
def test_failed_payments_and_ends_by_reason_equal_the_recount(lived, recount, wanted):
    *_, reports = lived
    names = ["grace_entered", "grace_recovered", "grace_ended", "retry_entered", "retry_recovered", "retry_lost", "retry_cancelled",
             "grace_days", "retry_days", *(f"recovered_after_{band}" for band in [*RECOVERED_AFTER, "61_or_more_days"])]  # fmt: skip
    _compare(reports, "billing", names, fold(recount.events, *wanted), wanted)
    names = ["lapsed", "cancelled_within_a_day", "cancelled", "cancelled_in_grace", "price_not_accepted", "billing", "refund",
             "product_unavailable", "other", "unknown", "after_price_increase", "after_failed_payment", "after_planned_downgrade",
             *(f"cancelled_after_{band}_days" for band in CANCELLED_AFTER)]  # fmt: skip
    _compare(reports, "churn", names, fold(recount.churn(), *wanted), wanted)


@pytest.mark.parametrize("wanted", GROUPINGS)
def test_trials_equal_the_recount(lived, recount, wanted):
    *_, reports = lived
    names = ["started", "converted", "ended", "cancelled_within_a_day", "cancelled_later", "expired_otherwise", "revoked", "billing_failed",
             "running"]  # fmt: skip
    _compare(reports, "trials", names, fold(recount.trials(), *wanted), wanted, length=800)


@pytest.mark.parametrize("wanted", GROUPINGS)
def test_money_equals_the_recount_on_every_day(lived, recount, wanted):
    _, lives, reports = lived
    money = [*recount.money()]
    columns = {"charge": "gross", "refund": "refunds", "reversal": "reversals"}
    amounts = [dataclasses.replace(event, name=columns[event.name]) for event in money]
    net = [dataclasses.replace(event, name="net") for event in money]
    charges = [dataclasses.replace(event, name="charges") for event in money if event.name == "charge"]
    expected = fold([*amounts, *net, *recount.credits()], *wanted, value="amount", by_currency=True)
    expected |= fold(charges, *wanted, by_currency=True)
    names = ["gross", "refunds", "reversals", "net", "charges", "upgrade_credit", "unpriced"]
    _compare(reports, "revenue", names, expected, wanted)
    if not wanted:
        payers = {}
        for event in charges:
            payers.setdefault((event.day, event.row["account"]), event.row["currency"])
        counted = collections.Counter(("payers", day, currency) for (day, _), currency in payers.items())
        _compare(reports, "revenue", ["payers"], counted)
    one_time = [event for event in amounts if event.row["product_id"] in ONE_TIME]
    types = {"coins": "consumables", "archive": "non_consumables", "season": "non_renewing"}
    by_type = [dataclasses.replace(event, name=types[event.row["product_id"]]) for event in one_time if event.name == "gross"]
    expected = fold([*one_time, *by_type], *wanted, value="amount", by_currency=True)
    purchases = [dataclasses.replace(event, name="purchases") for event in by_type]
    expected |= fold(purchases, *wanted, by_currency=True)
    _compare(reports, "one-time", ["purchases", "gross", *types.values(), "refunds", "reversals"], expected, wanted)


@pytest.mark.parametrize("wanted", GROUPINGS)
def test_refunds_equal_the_recount(lived, recount, wanted):
    _, lives, reports = lived
    counts, amounts = [], []
    for event in recount.money():
        name = {"charge": "purchases", "refund": "refunds", "reversal": "reversals"}[event.name]
        counts.append(dataclasses.replace(event, name=name))
        # A response has the refunds up to its end.
        end = min(lives.end, event.day + SLICE - (event.day - lives.first) % SLICE) * DAY
        if event.name == "charge" and lives.is_refunded(event.row, end):
            counts.append(dataclasses.replace(event, name="refunded_purchases"))
        more = {"charge": [], "refund": ["amount", event.reason.lower()], "reversal": ["reversed_amount"]}[event.name]
        if event.name == "refund" and event.row["transaction_id"] in lives.app_issues:
            counts.append(dataclasses.replace(event, name="app_issue_refunds"))
            more.append("app_issue_amount")
        amounts += [dataclasses.replace(event, name=name) for name in more]
    expected = fold(counts, *wanted, by_currency=True) | fold(amounts, *wanted, value="amount", by_currency=True)
    names = ["refunds", "amount", "full", "prorated", "seats", "app_issue_refunds", "app_issue_amount", "reversals", "reversed_amount",
             "refunded_purchases", "purchases"]  # fmt: skip
    _compare(reports, "refunds", names, expected, wanted, length=SLICE)


@pytest.mark.parametrize("wanted", GROUPINGS)
def test_recurring_revenue_equals_the_recount(lived, recount, wanted):
    _, lives, reports = lived
    annual = {day: {("closing", *place): value for place, value in counts.items()} for day, counts in lives.annual.items()}
    closing = _fold_stocks(annual, wanted, by_currency=True)
    opening = {("opening", day + 1, *place): value for (_, day, *place), value in closing.items()}
    moves = ["new", "reactivation", "recovered", "expansion", "contraction", "moved", "churn_voluntary", "churn_billing", "churn_other",
             "churn_refund", "reversed"]  # fmt: skip
    expected = fold(recount.recurring(), *wanted, value="amount", by_currency=True)
    _compare(reports, "mrr", ["closing", "opening", "exchange", *moves], closing | opening | expected, wanted, length=100)
    changes = [event for event in recount.events if event.name in ("expansion", "contraction")]
    net = [dataclasses.replace(event, name="net") for event in changes]
    counted = [dataclasses.replace(event, name={"expansion": "expanded", "contraction": "contracted"}[event.name]) for event in changes]
    expected = fold([*changes, *net], *wanted, value="amount", by_currency=True) | fold(counted, *wanted, by_currency=True)
    _compare(reports, "mrr-changes", ["expansion", "contraction", "net", "expanded", "contracted"], expected, wanted)


def test_causes_of_changes_equal_the_recount(lived, recount):
    *_, reports = lived
    expected = collections.Counter()
    for event in recount.events:
        if event.name in ("expansion", "contraction"):
            expected[event.name, event.day, event.reason, event.row["currency"]] += event.amount
    reason = [report_service.REPORT_DIMENSION_REASON]
    expected = {key: value for key, value in expected.items() if value and key[1] < reports.lives.end}
    eventually(lambda: _equal(reports.values("mrr-changes", "expansion", "contraction", group_by=reason), expected))


def test_announced_revenue_equals_the_recount(lived):
    _, lives, reports = lived
    announced = {
        (day, *key): value
        for day, counts in lives.expected.items() for key, value in counts.items() if value
    }  # fmt: skip

    def check():
        found = reports.values("mrr", "expected", group_by=[report_service.REPORT_DIMENSION_PRODUCT], length=100)
        found = {(day, *key): value for (_, day, *key), value in found.items() if day in lives.expected and key[0] != "weekly"}
        _equal(found, announced)

    eventually(check)


def test_proceeds_equal_the_recount_on_every_day(lived, recount):
    """Each charge, refund and running period has the operator's part, rounded by itself."""
    _, lives, reports = lived
    part = lives.shares()
    assert any(start * DAY <= row["purchase_date"] < end * DAY for start, end in lives.program for row in lives.purchases())
    columns = {"charge": "gross", "refund": "refunds", "reversal": "reversals"}

    def part_of(row, amount):
        return part(row["account"], row["product_id"], row["purchase_date"], amount)

    money = [dataclasses.replace(event, name=columns[event.name]) for event in recount.money(part_of)]
    expected = fold(money, value="amount", by_currency=True)
    assert expected
    _compare(reports, "revenue", [*columns.values()], expected, proceeds=True)
    closing = collections.Counter()
    for day, lines in lives.active.items():
        for currency, annual, charge in lines.values():
            closing["closing", day, currency] += part(*charge, annual)
    _compare(reports, "mrr", ["closing"], {key: value for key, value in closing.items() if value}, proceeds=True)
    if PAYERS >= 100 and DAYS >= 700:
        charged = [row for row in lives.periods() if row["price"] > 0]
        ratios = {part_of(row, 100_000) for row in charged}
        assert ratios == {70_000, 85_000}, "the long form has charges after one year"


def test_withdrawn_consents_equal_the_recount(lived, recount):
    """The deadline is 30 days after the withdrawal."""
    *_, reports = lived
    expected = recount.consents()
    assert {name for name, _ in expected} == {"withdrawn", "settled", "overdue", "open"}
    _compare(reports, "consents", ["withdrawn", "settled", "overdue", "open"], expected, length=800)


def test_family_members_are_in_no_report(lived):
    """All other tests count the purchasers' rows of the sandbox alone."""
    service, lives, _ = lived
    shared = read(service, "SELECT DISTINCT product_id, revocation_reason IS NULL AS stands FROM purchase WHERE ownership = 'FAMILY_SHARED'")
    assert {row["product_id"] for row in shared} >= {"monthly"} and len({row["stands"] for row in shared}) == 2, shared


def test_movements_explain_the_difference_of_each_week(lived):
    """Of days, the movements and the stocks themselves equal the recount."""
    *_, reports = lived
    week = report_service.REPORT_GRANULARITY_WEEK
    answer = reports.ask("movements", group_by=[report_service.REPORT_DIMENSION_PRODUCT], granularity=week)
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
    answer = reports.ask("mrr", granularity=week)
    names = [column.name for column in answer.columns]
    for row in answer.rows:
        values = dict(zip(names, row.values))
        others = ("opening", "closing", "active", "exchange", "closing_of_others", "retained", "expected")
        moves = sum(values[name] for name in names if name not in others)
        assert values["opening"] + moves == values["closing"], row


def test_retention_by_periods_equals_the_recount(lived):
    _, lives, reports = lived
    group = [report_service.REPORT_DIMENSION_PRODUCT]
    start = date_of(lives.first).replace(day=1).toordinal() - 719_163

    def check():
        answer = reports.ask("retention", first=start, group_by=group)
        closed = answer.closed_until.ToMilliseconds() // DAY
        # On days that are not closed, no subscription had time, so the others are not in the answer.
        reached, had_time = lives.retention(closed)
        found = {(row.groups[0], row.bucket.ToDatetime().date().isoformat(), row.age): tuple(row.values) for row in answer.rows}
        # A change to a shorter product reaches a period before a subscription of the cohort has had the time to.
        _equal(found, {key: (reached[key], count) for key, count in had_time.items()})
        return answer

    answer = eventually(check)
    later = reports.ask("retention", first=start, end=min(start + 800, lives.end + 60), group_by=group)
    assert [row.values for row in later.rows] == [row.values for row in answer.rows], "no subscription had time in the future"


def test_paid_years_equal_the_recount(lived, recount):
    _, lives, reports = lived
    _compare(reports, "paid-years", [*PAID_DAYS], lives.paid_bands())
    names = ["past_one_year", "year_reached", "first_charge_at_85", "year_reset", "charges_at_85", "charges"]
    expected = recount.paid_years()
    _compare(reports, "paid-years", names, expected)
    if PAYERS >= 100 and DAYS >= 700:
        assert {name for name, _ in expected} == set(names), "the long form has payers past one year"


def test_cohorts_by_month_and_openings_equal_the_recount(lived, recount):
    _, lives, reports = lived
    if len(lives.months()) < 2:
        pytest.skip("too short for a whole month")
    group, month = [report_service.REPORT_DIMENSION_PRODUCT], report_service.REPORT_GRANULARITY_MONTH
    first = (date_of(lives.first).replace(day=1)).toordinal() - 719_163
    end = lives.months()[-1] + 1

    def by_months(name, group, cohorts):
        counts, members = cohorts

        def check():
            answer = reports.ask(name, first=first, end=end, group_by=group)
            found = {(*row.groups, row.bucket.ToDatetime().date().isoformat(), row.age): tuple(row.values) for row in answer.rows if row.values[0]}
            _equal(found, {key: (count, members[key[:-1]]) for key, count in counts.items() if count})

        eventually(check)

    by_months("retention-months", group, lives.cohorts(end))
    by_months("retention-payers", [report_service.REPORT_DIMENSION_GROUP], lives.payer_cohorts(end))
    counts, annual = lives.openings()
    counts += recount.left(lives.months(), lives.stints_active)
    start = lives.months()[0] + 1
    names = ["active_start", "left", "lost", "others", "active_end"]
    found = reports.values("churn-rate", *names, length=800, first=start, end=end, granularity=month)
    _equal(found, {key: value for key, value in counts.items() if value})
    early = {("early_lost", day + 1): lives.early_lost(day + 1) for day in lives.months()[:-1]}
    found = reports.values("churn-rate", "early_lost", length=800, first=start, end=end, granularity=month)
    _equal(found, {key: value for key, value in early.items() if value})
    answer = reports.ask("mrr", first=start, end=end, granularity=month)
    names = [column.name for column in answer.columns]
    found = {(row.bucket.ToMilliseconds() // DAY, row.currency): row.values[names.index("closing_of_others")] for row in answer.rows}
    _equal({key: value for key, value in found.items() if value}, {key: value for key, value in annual.items() if value})
    for row in answer.rows:
        values = dict(zip(names, row.values))
        assert values["retained"] == values["closing"] - values["closing_of_others"] >= 0


def test_lifetime_value_equals_the_recount(lived, recount):
    _, _, reports = lived
    payers, amounts = recount.lifetime()

    def check():
        answer = reports.ask("ltv", first=reports.lives.first - 31)
        names = [column.name for column in answer.columns]
        ages = collections.Counter()
        for row in answer.rows:
            cohort, values = (row.bucket.ToDatetime().date().isoformat(), row.currency), dict(zip(names, row.values))
            ages[cohort] = max(ages[cohort], row.age)
            columns = ("gross", "refunds", "upgrade_credit")
            expected = {name: sum(amounts[name, *cohort, age] for age in range(row.age + 1)) for name in columns}
            expected |= {"net": sum(expected.values()), "payers": sum(payers[*cohort, age] for age in range(row.age + 1))}
            expected["net_of_month"] = sum(amounts[name, *cohort, row.age] for name in columns)
            assert values == expected, (cohort, row.age)
        assert ages.keys() == {tuple(place) for *place, _ in payers}
        assert any(age > 0 for *_, age in payers), "some payers moved"
        assert all(age <= ages[month, currency] for _, month, currency, age in amounts), "each amount is in a row"

    eventually(check)


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


def test_a_bucket_that_the_range_cuts_is_incomplete(lived):
    *_, reports = lived
    last = datetime.date.fromordinal(719_163 + reports.lives.end).replace(day=1)
    end = last.toordinal() - 719_163
    month = (last - datetime.timedelta(days=1)).replace(day=1).toordinal() - 719_163

    def check():
        for first, incomplete in [(month, {False}), (month + 1, {True})]:
            answer = reports.ask("revenue", first=first, end=end, granularity=report_service.REPORT_GRANULARITY_MONTH)
            assert {row.incomplete for row in answer.rows} == incomplete, first

    eventually(check)


def test_a_malformed_rate_in_a_file_is_refused(lived, tmp_path):
    service, lives, _ = lived
    day = str(datetime.date.fromordinal(719_163 + lives.first))
    file = tmp_path / "rates.csv"
    command = ["report", "revenue", "--from", day, "--to", day, "--convert-to", "USD", "--rates", str(file)]
    for rate in ("1.0.85", "1/2", "1 085", "1.085x", "9999999999999999", "0.0000399", "NaN", "0", "-1", "1,"):
        file.write_text(f"{day},EUR,{rate}\n", encoding="utf-8")
        done = service.command(*command)
        assert done.returncode == 64 and "a line is no day, currency and rate" in done.stderr, (rate, done)
    file.write_text(f"# one rate\n{day}, EUR, 1.085\n", encoding="utf-8")
    assert service.command(*command).returncode == 0


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
                if number := period["billing_period_number"]:
                    counts["committed", day, period["currency"]] += 1
                    counts["remainder", day, period["currency"]] += period["price"] * (12 - number)
                    counts["closing", day, period["currency"]] += period["price"] * 12
                    # A cancelled commitment is expected to go on until its last two payments.
                    if line["renews"] or number < 11:
                        following = line["renewal_price"] if number == 12 else line["payment_price"]
                        counts["expected", day, period["currency"]] += following * 12
        lives.end = days[-1] + 1
        for row in lives.periods():
            if (row["billing_period_number"] or 0) > 1:
                counts["instalments", row["purchase_date"] // DAY, row["currency"]] += 1
        assert {name for name, *_ in counts} == {"committed", "remainder", "instalments", "closing", "expected"}

        def check():
            reports = Reports(service, lives)
            found = reports.values("commitments", "committed", "remainder", "instalments") | reports.values("mrr", "closing", "expected")
            compared = {key: value for key, value in found.items() if key[0] == "instalments" or key[1] in days}
            _equal(compared, {key: value for key, value in counts.items() if value})

        eventually(check)
    finally:
        service.stop()


def test_recurring_revenue_of_seats_equals_the_recount(tmp_path):
    """Seats are added at once, and leave at the next renewal. Each purchase of the period has its seats and their average price."""
    from harness import Service

    (tmp_path / "entitled.yaml").write_text(CONFIGURATION, encoding="utf-8")
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    lives, dice = Lives(service), random.Random(SEED)
    counts, days = collections.Counter(), range(lives.first, lives.first + max(45, DAYS))
    payers = lives.accounts[:6]
    try:
        for day in days:
            lives.sleep_until(day * DAY + dice.randrange(1000, DAY - 2000))
            account = dice.choice(payers)
            own = lives.subscriptions(account)
            if not own:
                lives.act("purchases", app=APP, productId="monthly", account=account, seats=dice.randint(2, 5))
            elif dice.random() < 0.5:
                [line] = own.values()
                seats = max(1, line["renewal_quantity"] + dice.randint(-2, 3))
                lives.act("seats", transactionId=str(line["original_transaction_id"]), seats=seats)
            lives.sleep_until((day + 1) * DAY - 1)
            lives.wait_for_notifications()
            for row in lives.purchases():
                if lives.now() < row["expires_date"]:
                    counts["closing", day, row["currency"]] += row["price"] * row["quantity"] * 12
        lives.end = days[-1] + 1
        lines = collections.defaultdict(dict)
        for row in lives.purchases():
            parts, annual = lines[row["original_transaction_id"]], row["price"] * row["quantity"] * 12
            before = parts.get("end") == row["expires_date"]
            # The first purchase of a period replaces what the one before it had.
            change = annual if before else annual - parts.get("annual", 0)
            name = "new" if not parts else "contraction" if change < 0 else "expansion"
            counts[name, row["purchase_date"] // DAY, row["currency"]] += change
            parts |= {"end": row["expires_date"], "annual": annual + (parts["annual"] if before else 0)}
        expected = {key: value for key, value in counts.items() if value}
        assert {name for name, *_ in expected} == {"closing", "new", "expansion", "contraction"}
        eventually(lambda: _equal(Reports(service, lives).values("mrr", "closing", "new", "expansion", "contraction"), expected))
        reason = [report_service.REPORT_DIMENSION_REASON]
        causes = Reports(service, lives).values("mrr-changes", "expansion", "contraction", group_by=reason)
        assert {cause for _, _, cause, _ in causes} == {"SEATS"}
    finally:
        service.stop()
