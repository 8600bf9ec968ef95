"""The console's lists of saved segments."""

import csv
import io

import pytest

from console_client import Browser
from console_story import APP, CONFIGURATION, CUSTOMER, Console

HERE = f"/a/{APP}/sandbox/segments"
SEGMENTS = """    segments:
      renewing: {states: [ACTIVE_AUTO_RENEW_ON], subscription_groups: [pro]}
      long-retry: {states: [BILLING_RETRY], min_days_in_state: 5}
"""


@pytest.fixture(scope="module")
def lena(tmp_path_factory):
    console = Console(tmp_path_factory.mktemp("segments"), CONFIGURATION + SEGMENTS)
    console.submit(CUSTOMER, console.buy("ada", "pro.monthly"))
    console.submit("", console.buy("eve", "studio.monthly"))
    browser = Browser(console.address)
    assert browser.sign_in(console.new_link()).status == 303
    yield browser
    console.service.stop()


def test_the_saved_segments_are_listed_with_their_conditions_and_rows(lena):
    page = lena.get(HERE)
    assert page.status == 200
    assert f'href="{HERE}/renewing"' in page.text and f'href="{HERE}/long-retry"' in page.text
    assert "for 5 days or more" in page.text and 'aria-current="page" data-key="l"' in page.text


def test_a_segment_shows_its_customers_and_purchases_without_an_owner(lena):
    page = lena.get(f"{HERE}/renewing")
    assert page.status == 200 and CUSTOMER in page.text and "no customer" in page.text
    assert "No customer is in this segment." in lena.get(f"{HERE}/long-retry").text
    assert lena.get(f"{HERE}/unknown").status == 404


def test_the_file_of_a_segment_has_a_line_for_each_row(lena):
    lines = list(csv.DictReader(io.StringIO(lena.get(f"{HERE}/renewing.csv").text)))
    assert sorted(line["customer_id"] for line in lines) == ["", CUSTOMER]
    assert {line["state"] for line in lines} == {"ACTIVE_AUTO_RENEW_ON"}
