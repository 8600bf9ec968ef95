"""The charts of the console: what they show, what is behind each point, and which roles see it."""

import csv
import datetime
import io
import json
import re
import urllib.parse
import urllib.request
import xml.etree.ElementTree

import pytest

from console_browser import Watched, go, violations
from console_client import ADMIN, READER, ProxiedConsole
from console_story import APP, CHARTS, CONFIGURATION, CUSTOMER, report, tell, wait_for_reports
from harness import CALL_LIMIT, wait_for
from test_console_matrix import FINANCE, PEOPLE

HERE = f"/a/{APP}/sandbox"
REPORTS = ["subscriptions", "movements", "trials", "mrr", "mrr-changes", "revenue", "refunds", "billing", "churn",
           "one-time", "paid-years", "ltv", "retention", "retention-months", "retention-payers", "churn-rate"]  # fmt: skip


def rates():
    """Half a euro for a dollar, on every fifth day of the story, which begins today."""
    days = [datetime.date.today() + datetime.timedelta(days=5 * number - 10) for number in range(100)]
    lines = [f"        - {{currency: USD, to: EUR, from: {day}, rate: 0.5}}\n" for day in days]
    return "    reports:\n      rates:\n" + "".join(lines)


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    console = ProxiedConsole(tmp_path_factory.mktemp("reports"), CONFIGURATION + rates(), callers=PEOPLE)
    tell(console)
    console.month = wait_for_reports(console)
    year = int(console.month[:4])
    console.days = (f"{year}-01-01", f"{year + 1}-12-01")
    yield console
    console.service.stop()


def purchases(console, name, row, column, **more):
    """All purchases behind a value, two a page."""
    query = {"report": name, "startTime": f"{console.days[0]}T00:00:00Z", "endTime": f"{console.days[1]}T00:00:00Z",
             "granularity": "REPORT_GRANULARITY_MONTH"} | more  # fmt: skip
    request = {
        "environment": "ENVIRONMENT_SANDBOX", "query": query, "column": column, "bucket": row["bucket"],
        "groups": row.get("groups", []), "currency": row.get("currency", ""), "age": row.get("age", 0), "pageSize": 2}  # fmt: skip
    found, token = [], None
    while token != "":
        answer = console.call("ReportService/ListReportPurchases", **request, **({"pageToken": token} if token else {}))
        found += answer.get("purchases", [])
        token = answer.get("nextPageToken", "")
    assert len({each["originalTransactionId"] for each in found}) == len(found)
    return found


@pytest.mark.parametrize("more", [
    {}, {"groupBy": ["REPORT_DIMENSION_PRODUCT"]}, {"proceeds": True}, {"asFirstClosed": True},
    {"granularity": "REPORT_GRANULARITY_WEEK"},
], ids=["now", "by-product", "proceeds", "first-closed", "weeks"])  # fmt: skip
@pytest.mark.parametrize("name", REPORTS)
def test_the_purchases_behind_each_value_add_up_to_it(console, name, more):
    if name == "retention" and "groupBy" not in more:
        more = more | {"groupBy": ["REPORT_DIMENSION_PRODUCT"]}
    if more.get("asFirstClosed") and name in ("trials", "ltv", "retention", "retention-months", "retention-payers", "refunds"):
        pytest.skip("a report by cohort has no first closing")
    answer = report(console, name, *console.days, **more)
    checked = 0
    for row in answer.get("rows", []):
        for column, value in zip(answer["columns"], row["values"], strict=True):
            if int(value) == 0:
                continue
            found = purchases(console, name, row, column["name"], **more)
            assert sum(int(each["value"]) for each in found) == int(value), (row, column["name"], found)
            checked += 1
    assert checked or name in ("trials", "paid-years", "one-time", "mrr-changes")


def test_the_purchases_have_their_customers(console):
    answer = report(console, "revenue", *console.days)
    first = purchases(console, "revenue", answer["rows"][0], "gross")
    assert [each["customerId"] for each in first] == [CUSTOMER]
    last = purchases(console, "revenue", answer["rows"][-1], "gross")
    assert {each.get("customerId", "") for each in last} >= {"", "bob"}, "eve's purchase is unclaimed"


@pytest.mark.parametrize("name", CHARTS)
def test_each_chart_is_well_formed_and_has_its_numbers_as_a_table_and_as_csv(console, name):
    text = console.browser(READER).get(f"{HERE}/reports/{name}").text
    pictures = re.findall(r"<svg.*?</svg>", text, re.S)
    if name == "trials":
        assert "Nothing happened in these days." in text, "the story has no trial"
        return
    assert len(pictures) == (2 if name == "billing" else 1)
    for picture in pictures:
        xml.etree.ElementTree.fromstring(picture)
    assert "style=" not in text and "<table>" in text
    link = re.search(r'href="([^"]*\.csv[^"]*)"', text)[1].replace("&amp;", "&")
    rows = list(csv.reader(io.StringIO(console.browser(READER).get(link).text)))
    assert len(rows) > 1 and rows[0][0] == "bucket" and rows[0][-1] == "incomplete"


def test_the_chart_of_revenue_shows_the_numbers_of_the_report(console):
    answer = report(console, "revenue", *console.days)
    text = console.browser(READER).get(f"{HERE}/reports/revenue?from={console.days[0]}").text
    gross = next(index for index, column in enumerate(answer["columns"]) if column["name"] == "gross")
    for row in answer["rows"]:
        amount = f"{int(row['values'][gross]) / 1000:.2f} USD"
        assert f"{row['bucket'][:7]}: gross {amount}" in text, amount


def test_the_chart_of_revenue_is_converted_into_one_currency(console):
    """With the configured rates. The parts of customers stay in their currencies, so converted numbers open no list."""
    answer = report(console, "revenue", *console.days)
    gross = next(index for index, column in enumerate(answer["columns"]) if column["name"] == "gross")
    path = f"{HERE}/reports/revenue?from={console.days[0]}"
    text = console.browser(READER).get(f"{path}&convert-to=eur").text
    for row in answer["rows"]:
        shown = re.search(rf"{row['bucket'][:7]}: gross ([0-9.]+) EUR", text)
        assert abs(float(shown[1]) - int(row["values"][gross]) / 2000) < 0.02, shown
    main = text.partition("<main")[2]
    assert "EUR" in main and "/reports/revenue/customers" not in main and "opens its customers" in main
    assert "/reports/revenue/customers" in console.browser(READER).get(path).text
    assert "convert-to" not in console.browser(READER).get(f"{HERE}/reports/active").text
    wrong = console.browser(READER).get(f"{path}&convert-to=%3Cb%3E").text
    assert "USD" in wrong.partition("<main")[2]


def test_storefronts_of_all_currencies_have_their_numbers(tmp_path):
    console = ProxiedConsole(tmp_path, CONFIGURATION, callers=PEOPLE)
    try:
        console.act("notification-url", app=APP, url=f"http://{console.service.http}/notifications/{APP}")
        for account, storefront in [("ann", "USA"), ("ben", "USA"), ("hanna", "DEU")]:
            console.act("storefront", account=account, storefront=storefront)
            bought = console.buy(account, "pro.monthly")
        console.submit(CUSTOMER, bought)
        now = console.call("CustomerService/DescribeCustomer", customerId=CUSTOMER)["evaluatedAt"][:10]
        days = [datetime.date.fromisoformat(now) + datetime.timedelta(days=number) for number in (-1, 2)]

        def rows():
            """Of each storefront and currency, active subscriptions and recurring revenue in the last month."""
            answer = report(console, "mrr", *days, groupBy=["REPORT_DIMENSION_STOREFRONT"])
            names = [column["name"] for column in answer["columns"]]
            found = {}
            for row in answer.get("rows", []):
                values = dict(zip(names, map(int, row["values"])))
                found[row["groups"][0], row["currency"]] = (values["active"], values["closing"])
            return found if sum(active for active, _ in found.values()) == 3 else None

        found = wait_for(rows)
        assert {place: active for place, (active, _) in found.items()} == {("USA", "USD"): 2, ("DEU", "EUR"): 1}
        text = console.browser(READER).get(f"{HERE}/reports/storefronts").text
        for (storefront, currency), (active, closing) in found.items():
            assert f"{storefront}: active {active}<" in text
            assert f"{storefront}: MRR in its currency {closing / 12_000:.2f} {currency}<" in text
    finally:
        console.service.stop()


def test_the_chart_of_failed_payments_has_the_days_to_recovery(console):
    answer = report(console, "billing", *console.days)
    names = [column["name"] for column in answer["columns"]]
    total = lambda name: sum(int(row["values"][names.index(name)]) for row in answer["rows"])  # noqa: E731
    bands = [name for name in names if name.startswith("recovered_after_")]
    assert len(bands) == 7 and sum(map(total, bands)) == total("grace_recovered") + total("retry_recovered") > 0
    text = console.browser(READER).get(f"{HERE}/reports/billing?from={console.days[0]}").text
    assert "Days from the failure to the payment" in text
    assert sum(int(number) for number in re.findall(r"Days from the failure to the payment, of all recovered payments (\d+)</title>", text)) == 1


@pytest.mark.parametrize("view", ["light", "script-free"])
def test_a_point_of_a_chart_opens_the_customers_behind_it(console, chromium, view):
    watched = Watched(chromium, console.url)
    page = watched.page(view, extra_http_headers={"X-Proxy-JWT": console.token(READER)})
    page.goto(f"{console.url}{HERE}/reports/mrr")
    go(page, lambda: page.locator("svg a:has(.bar.full)").first.click())
    assert "Behind new" in page.text_content("h1") and CUSTOMER in page.text_content("table")
    go(page, lambda: page.click(f"table a:has-text('{CUSTOMER}')"))
    assert page.url.endswith(f"/customers/{urllib.parse.quote(CUSTOMER, safe='')}")
    page.goto(f"{console.url}{HERE}/reports/mrr")
    go(page, lambda: page.locator("td a").first.click())
    assert "Behind" in page.text_content("h1")
    watched.close()


def test_looking_at_the_customers_behind_a_value_is_audited(console):
    path = f"{HERE}/reports/revenue/customers?report=revenue&column=gross&bucket={console.month}-01&by=month&currency=USD"
    assert console.browser(READER).get(path).status == 200
    known = datetime.date.fromisoformat(f"{console.month}-28")
    assert console.browser(READER).get(f"{path}&known-at={known}").status == 200
    file = console.browser(READER).csv(path.replace("/customers?", "/customers.csv?"), "the board asked")
    assert file.status == 200 and CUSTOMER in [row["customer_id"] for row in csv.DictReader(io.StringIO(file.text))]
    status, answer = console.service.json(
        "entitled.v1.AuditService/ListAuditEntries", {"method": "ListReportPurchases"}, **console.headers)
    assert status == 200, answer
    entries = answer["entries"]
    assert "the board asked" in [entry.get("note") for entry in entries]
    assert any(READER in (entry.get("actor"), entry.get("caller")) and CUSTOMER in entry.get("customerIds", [])
               for entry in entries), entries  # fmt: skip
    moments = [entry.get("knownAt") for entry in entries]
    assert f"{known + datetime.timedelta(days=1)}T00:00:00Z" in moments and None in moments, "the moment of the knowledge"


def test_the_role_reports_sees_charts_and_no_customer(console):
    browser = console.browser(FINANCE)
    home = browser.get("/")
    assert home.status == 303 and home.getheader("location") == "/reports"
    assert f"{HERE}/reports" in browser.get("/reports").text
    text = browser.get(f"{HERE}/reports/mrr").text
    assert "<svg" in text and "/customers" not in text.split("<main")[1]
    path = f"{HERE}/reports/revenue/customers?report=revenue&column=gross&bucket={console.month}-01&by=month&currency=USD"
    refused = browser.get(path)
    assert refused.status == 403 and CUSTOMER not in refused.text
    refused = browser.csv(path.replace("/customers?", "/customers.csv?"))
    assert refused.status == 403 and CUSTOMER not in refused.text
    assert browser.get(f"{HERE}/customers/ada").status == 403


def notifications(console):
    """All notifications of the sandbox, oldest first."""
    with urllib.request.urlopen(f"http://{console.service.sandbox}/sandbox/v1/notifications", timeout=CALL_LIMIT) as answer:
        return json.load(answer)["notifications"]


def test_late_evidence_marks_the_closed_day_that_it_revises(console):
    """A refund of an old period arrives days later: its day is marked, and as first closed it is as before."""
    bought = console.buy("lara", "maps.pack")
    console.submit("lara", bought)
    console.advance("3d")
    # The fault is for the refund, not for a renewal that is still on its way.
    wait_for(lambda: all(each["attempts"] for each in notifications(console)))
    console.act("faults", kind="drop", count=1)
    console.act("refund", transactionId=bought["transactionId"])
    day = console.call("CustomerService/DescribeCustomer", customerId="lara")["evaluatedAt"][:10]
    console.advance("3d")
    lost = [each for each in notifications(console) if each["name"] == "REFUND"][-1]
    console.act("resend-notification", notificationUUID=lost["notificationUUID"])
    console.advance("1s")
    path = f"{HERE}/reports/revenue?by=day&from={day}"
    page = wait_for(lambda: "refund learned late" in (page := console.browser(ADMIN).get(path).text) and page)
    assert "1 revision" in page and "◆" in page
    first = console.browser(ADMIN).get(f"{path}&known=first").text
    assert f"{day}: refunds -9.99 USD" in page and f"{day}: refunds -9.99 USD" not in first


def test_the_overview_shows_the_results_of_reconciliations(console):
    """The days are relative to the sandbox's clock, which the story advances."""
    now = console.call("CustomerService/DescribeCustomer", customerId=CUSTOMER)["evaluatedAt"]
    days = [datetime.date.fromisoformat(now[:10]) - datetime.timedelta(days=number) for number in (4, 3, 2)]
    path = f"{HERE}/reports"
    assert "No report of the last 60 days was compared." in console.browser(FINANCE).get(path).text
    results = [{"matched": 5}, {"matched": 5, "explained": 2}, {"matched": 1, "unexplained": 1, "files": ["sales <b>.txt"]}]
    results = [{"day": f"{day}T00:00:00Z", "report": "SALES"} | result for day, result in zip(days, results, strict=True)]
    console.call("ReportService/RecordReconciliation", environment="ENVIRONMENT_SANDBOX", days=results)
    assert f'href="{path}#reconciliation"' in console.browser(FINANCE).get(f"{path}/mrr").text
    text = console.browser(FINANCE).get(path).text
    assert '<h2 id="reconciliation">' in text
    strip = text.partition('<ol class="days">')[2].partition("</ol>")[0]
    assert strip.count("<li") == 60 and strip.count(": not compared") == 2 * 57
    for day, name in zip(days, ["all matched", "2 explained", "1 unexplained difference"], strict=True):
        assert f'aria-label="{day}: {name}"' in strip
    assert "sales &lt;b&gt;.txt" in text and "11 matched" in text and "<details open>" in text
    assert "earlier run" not in text
    again = {"day": results[-1]["day"], "report": "SALES", "matched": 2}
    console.call("ReportService/RecordReconciliation", environment="ENVIRONMENT_SANDBOX", days=[again])
    text = console.browser(FINANCE).get(path).text
    assert "12 matched" in text and f'aria-label="{days[-1]}: all matched"' in text, "the latest run counts"
    assert f'href="{path}/reconciliation/{days[-1]}">1 earlier run</a>' in text
    runs = console.browser(FINANCE).get(f"{path}/reconciliation/{days[-1]}").text
    assert runs.index("run 2") < runs.index("run 1") < runs.index("sales &lt;b&gt;.txt")
    assert "1 unexplained difference" in runs and "all matched" in runs
    none = console.browser(FINANCE).get(f"{path}/reconciliation/{days[0] - datetime.timedelta(days=1)}").text
    assert "No report of this day was compared." in none
    assert console.browser(FINANCE).get(f"{path}/reconciliation/x").status == 404


@pytest.mark.parametrize("view", ["light", "script-free"])
def test_the_earlier_runs_of_a_day_are_opened_from_the_overview(console, chromium, view):
    now = console.call("CustomerService/DescribeCustomer", customerId=CUSTOMER)["evaluatedAt"]
    day = datetime.date.fromisoformat(now[:10]) - datetime.timedelta(days={"light": 10, "script-free": 11}[view])
    for matched in (1, 2, 3):
        result = {"day": f"{day}T00:00:00Z", "report": "SUBSCRIPTION", "matched": matched, "unexplained": 3 - matched}
        console.call("ReportService/RecordReconciliation", environment="ENVIRONMENT_SANDBOX", days=[result])
    watched = Watched(chromium, console.url)
    page = watched.page(view, bypass_csp=True, extra_http_headers={"X-Proxy-JWT": console.token(FINANCE)})
    page.goto(f"{console.url}{HERE}/reports")
    table = page.locator("details:has(a:text-is('2 earlier runs'))")
    if table.get_attribute("open") is None:
        table.locator("summary").click()
    go(page, lambda: page.click(f"tr:has-text('{day}') >> text=2 earlier runs"))
    rows = page.locator("main tbody tr").all_text_contents()
    assert [re.search(r"run (\d)", row)[1] for row in rows] == ["3", "2", "1"]
    assert "all matched" in rows[0] and "2 unexplained differences" in rows[2]
    if view == "light":
        assert not violations(page)
    watched.close()


def test_dates_that_are_none_change_nothing(console):
    for query in ["from=x&to=y", "from=2027-02-30", "from=2030-01-01&to=2020-01-01", "by=nothing", "known-at=x", "note-day=x"]:
        assert console.browser(READER).get(f"{HERE}/reports/active?{query}").status == 200, query
    far = (datetime.date.today() - datetime.timedelta(days=36_500)).isoformat()
    assert console.browser(READER).get(f"{HERE}/reports/active?from={far}").status == 200
    assert console.browser(READER).get(f"{HERE}/reports/none").status == 404
