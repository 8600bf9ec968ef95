"""The console's lists of saved segments."""

import csv
import io
import re

import pytest

from console_story import APP, CONFIGURATION, CUSTOMER, Console
from harness import wait_for

HERE = f"/a/{APP}/sandbox/segments"
SEGMENTS = """    segments:
      renewing: {states: [ACTIVE_AUTO_RENEW_ON], subscription_groups: [pro]}
      long-retry: {states: [BILLING_RETRY], min_days_in_state: 5}
"""


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    console = Console(tmp_path_factory.mktemp("segments"), CONFIGURATION + SEGMENTS)
    console.act("notification-url", app=APP, url=f"http://{console.service.http}/notifications/{APP}")
    purchase = console.buy("ada", "pro.monthly")
    console.submit(CUSTOMER, purchase)
    console.bought = purchase["transactionId"]
    console.submit("", console.buy("eve", "studio.monthly"))
    # A worker saves the segments of the configuration after the start.
    wait_for(lambda: len(console.call("SegmentService/ListSegments").get("segments", [])) == 2)
    yield console
    console.service.stop()


def test_the_saved_segments_are_listed_with_their_conditions_and_rows(lena):
    page = lena.get(HERE)
    assert page.status == 200
    assert f'href="{HERE}/renewing"' in page.text and f'href="{HERE}/long-retry"' in page.text
    assert page.text.index(">Saved<") < page.text.index(">Always there<")
    assert "for 5 days or more" in page.text and 'aria-current="page" data-key="l"' in page.text


def test_a_segment_shows_its_customers_and_purchases_without_an_owner(lena):
    page = lena.get(f"{HERE}/renewing")
    assert page.status == 200 and CUSTOMER in page.text and "no customer" in page.text
    assert "No customer is in this segment now." in lena.get(f"{HERE}/long-retry").text
    assert lena.get(f"{HERE}/unknown").status == 404


def test_each_app_has_segments_that_no_one_saved(lena):
    page = lena.get(HERE).text
    names = re.findall(rf'href="{HERE}/built-in/([a-z-]+)"', page)
    assert len(names) == 12 and "Their free trial ends within 7 days." in page
    assert f'<a href="/a/{APP}/sandbox/work/refunds">' in page, "those who asked for a refund are a work list"
    for name in names:
        assert lena.get(f"{HERE}/built-in/{name}").status == 200, name
    assert lena.get(f"{HERE}/built-in/renewing").status == 404 and lena.csv(f"{HERE}/built-in/x.csv").status == 404


def test_a_built_in_segment_follows_the_purchase(lena, console):
    has = lambda name: CUSTOMER in lena.get(f"{HERE}/built-in/{name}").text  # noqa: E731
    assert has("changed") and not has("renewal-off") and not has("in-trial")
    assert '<span class="chip ended">0</span>' in lena.get(f"{HERE}/built-in/renewal-off").text
    console.act("auto-renew", transactionId=console.bought, enabled=False)
    wait_for(lambda: has("renewal-off"))
    page = lena.get(f"{HERE}/built-in/renewal-off").text
    assert "active (renewal is off)" in page and f'action="{HERE}/built-in/renewal-off.csv"' in page
    lines = list(csv.DictReader(io.StringIO(lena.csv(f"{HERE}/built-in/renewal-off.csv").text)))
    assert [(line["customer_id"], line["state"]) for line in lines] == [(CUSTOMER, "ACTIVE_AUTO_RENEW_OFF")]
    console.act("auto-renew", transactionId=console.bought, enabled=True)
    wait_for(lambda: not has("renewal-off"))


def test_a_family_member_and_a_customer_with_a_grant_are_in_lists_of_their_own(lena, console):
    console.act("shareable", app=APP, productId="pro.monthly", enabled=True)
    for account in ("ada", "ben"):
        console.act("join-family", account=account, family="f")
    console.advance("1s")
    for jws in console.act("restore", app=APP, account="ben")["signedTransactions"]:
        console.call("ReceiptService/SubmitTransaction", customerId="ben", signedTransaction=jws)
    rows = lambda name: list(csv.DictReader(io.StringIO(lena.csv(f"{HERE}/built-in/{name}.csv").text)))  # noqa: E731
    wait_for(lambda: [row["customer_id"] for row in rows("shared")] == ["ben"])
    page = lena.get(f"{HERE}/built-in/shared").text
    assert "shared by the family or assigned seat" in page and 'customers/ben"' in page and '<span class="chip grace">1</span>' in page

    assert rows("granted") == [] and "No grant is in force." in lena.get(f"{HERE}/built-in/granted").text
    more = {"entitlement": "maps", "accessLevel": "ACCESS_LEVEL_FULL"}
    console.call("EntitlementService/Grant", customerId="cleo", note="<b>sorry</b>", actor="otto", **more)
    ended = console.call("EntitlementService/Grant", customerId="dora", **more)["grant"]["grantId"]
    console.call("EntitlementService/RevokeGrant", grantId=ended)
    [row] = rows("granted")
    assert (row["customer_id"], row["access_level"], row["until"], row["actor"]) == ("cleo", "FULL", "", "otto")
    page = lena.get(f"{HERE}/built-in/granted").text
    assert 'customers/cleo"' in page and "&lt;b&gt;sorry" in page and f"grant={row['grant_id']}" in page
    assert "dora" not in page, "its grant has ended"


def test_the_file_of_a_segment_has_a_line_for_each_row(lena):
    lines = list(csv.DictReader(io.StringIO(lena.csv(f"{HERE}/renewing.csv").text)))
    assert {"", CUSTOMER} <= {line["customer_id"] for line in lines}
    assert {line["state"] for line in lines} == {"ACTIVE_AUTO_RENEW_ON"}
