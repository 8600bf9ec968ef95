"""Reports equal a recount from the sandbox's tables, which shares no code with the service.

The tables show the present, so the recount copies them at the end of each day.
`ENTITLED_REPORT_PAYERS=400 ENTITLED_REPORT_DAYS=730` runs the full size; the default is small.
"""

import collections
import csv
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
    APP, BEGUN, CANCELLED_AFTER, CONFIGURATION, DAY, DAYS, LATEST, PAID_DAYS, PAYERS, SEED, STOCKS, STOREFRONTS, Lives, Reports,
    date_of, eventually, read, rows_of,
)  # fmt: skip


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
