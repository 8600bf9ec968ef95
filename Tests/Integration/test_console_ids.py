"""Ids of customers in the console, which are compared byte by byte: white space at their ends, line ends, formulas."""

import html
import re
import urllib.parse

import pytest

from console_client import Browser, hidden
from console_story import APP, Console

HERE = f"/a/{APP}/sandbox"


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    console = Console(tmp_path_factory.mktemp("ids"))
    yield console
    console.service.stop()


@pytest.fixture(scope="module")
def lena(console):
    return signed_in(console)


def signed_in(console):
    browser = Browser(console.address)
    assert browser.sign_in(console.new_link()).status == 303
    return browser


def quoted(customer):
    return urllib.parse.quote(customer, safe="")


def grant(console, *customers, entitlement="pro"):
    for customer in customers:
        console.call("EntitlementService/Grant", customerId=customer, entitlement=entitlement,
                     accessLevel="ACCESS_LEVEL_FULL", note="x")


def has(console, customer, entitlement="pro"):
    answer = console.call("EntitlementService/Check", customerId=customer, entitlement=entitlement)
    return answer["entitlement"].get("entitled", False)


def submitted(form):
    """The fields as a browser sends them: each line end is CR LF."""
    lines = lambda value: re.sub("\r\n?|\n", "\r\n", value)  # noqa: E731
    return {name: [lines(v) for v in value] if isinstance(value, list) else lines(value) for name, value in form.items()}


def do(lena, action, customer, values):
    """Follows the link of a page to an action, and does it. Returns its preview and the page that follows."""
    form = lena.get(f"{HERE}/do/{action}?customer={quoted(customer)}").text
    fields = re.findall(r'<input type="(?:hidden|text)"[^>]* name="(customer[.\w]*)" value="([^"]*)"', form)
    values = {name: html.unescape(value) for name, value in fields} | {"note": "x"} | values
    preview = lena.post(f"{HERE}/do/{action}", submitted(values))
    assert preview.status == 200, preview.text
    done = lena.post(f"{HERE}/do/{action}", submitted(hidden(preview.text)))
    assert done.status == 303, done.text
    return preview.text, lena.get(done.getheader("location")).text


@pytest.mark.parametrize("customer, other", [
    (" kim", "kim"), ("tom ", "tom"), ("\teve", "eve"), ("a\nb", "ab"), ("c\r\nd", "c\nd"), ("e\rf", "e\nf"), ("g\x01h", "gh"),
])  # fmt: skip
def test_an_action_is_about_the_id_byte_by_byte(console, lena, customer, other):
    grant(console, customer, other)
    do(lena, "grant", customer, {"entitlement": "maps", "level": "full", "preset": "7"})
    assert has(console, customer, "maps") and not has(console, other, "maps")
    do(lena, "add-note", customer, {"text": "private"})
    do(lena, "consent", customer, {"consent": "1"})
    notes = lambda id: console.call("CustomerService/ListNotes", customerId=id).get("notes", [])  # noqa: E731
    assert len(notes(customer)) == 1 and not notes(other)
    if customer.isprintable():
        wrong = lena.post(f"{HERE}/do/erase", {"customer": customer, "confirm": other, "note": "x"})
        assert wrong.status == 400 and "is not that of the customer" in wrong.text
        do(lena, "erase", customer, {"confirm": customer})
    else:
        do(lena, "merge", customer, {"to": f"{customer}2"})
    assert not has(console, customer) and has(console, other)


def test_white_space_at_the_ends_of_an_id_can_be_seen(console, lena):
    grant(console, " zoe ")
    shown = '<span class="space"> </span>zoe<span class="space"> </span></bdi>'
    assert shown in lena.get(f"{HERE}/customers/%20zoe%20").text.split("</h1>")[0]
    preview, _ = do(lena, "grant", " zoe ", {"entitlement": "maps", "level": "full", "preset": "7"})
    assert "&#39;Customer&#39; begins or ends with white space" in preview and shown in preview
    preview, _ = do(lena, "grant", "zoe", {"entitlement": "maps", "level": "full", "preset": "7"})
    assert "white space" not in preview


def test_the_box_finds_the_exact_id_first(console, lena):
    grant(console, " ida", "ida", "joe")

    def found(text):
        response = lena.get(lena.post("/find", {"q": text}).getheader("location"))
        return response.getheader("location") or response.text

    assert found(" ida") == f"{HERE}/customers/%20ida" and found("ida") == f"{HERE}/customers/ida"
    assert found(" joe\t") == f"{HERE}/customers/joe", "nothing has this id with white space"
    lena.post(f"{HERE}/do/add-note", hidden(lena.post(f"{HERE}/do/add-note", {"customer": " ida", "text": "x"}).text))
    entries = lambda id: lena.get(f"/audit?method=AddNote&customer={quoted(id)}").text.count("Added a note")  # noqa: E731
    rows = lambda id: lena.get(f"/audit?customer={quoted(id)}").text  # noqa: E731
    assert rows(" ida") != rows("ida") and entries("ida") == 0
    has_grants = lambda id: "No call about" not in lena.get(f"/audit?method=Grant&customer={quoted(id)}").text  # noqa: E731
    assert has_grants("joe") and not has_grants("without-a-grant")
    looks = lambda: lena.get("/audit?method=ListAuditEntries").text.count("ListAuditEntries")  # noqa: E731
    before = looks()
    assert has_grants(" joe")
    # The second one of `looks()` itself too.
    assert looks() == before + 2, "one entry for each look"
    assert has_grants(" joe"), "the look at ' joe' is no reason for that id to count"


@pytest.mark.parametrize("value", ["  x  ", "one\ntwo", "\none\n", "one\r\ntwo", "tab\tend\t"])
def test_the_undo_of_an_attribute_restores_the_value(console, lena, value):
    def attributes():
        answer = console.call("CustomerService/GetCustomerAttributes", customerId="plain")
        return [attribute["value"] for attribute in answer.get("attributes", [])]

    console.call("CustomerService/SetCustomerAttributes", customerId="plain", attributes=[{"name": "a", "value": value}])
    _, page = do(lena, "set-attribute", "plain", {"name": "a", "value": "new"})
    assert attributes() == ["new"]
    form = lena.get(html.unescape(re.search(r'href="([^"]*)">Undo…', page)[1])).text
    values = hidden(form) | {"name": "a", "note": "x"}
    # A text area leaves out the first line end of its markup.
    if shown := re.search(r'<textarea id="value"[^>]*>\n?(.*?)</textarea>', form, re.S):
        values["value"] = html.unescape(shown[1])
    preview = lena.post(f"{HERE}/do/set-attribute", submitted(values))
    assert lena.post(f"{HERE}/do/set-attribute", submitted(hidden(preview.text))).status == 303
    assert attributes() == [value]


def test_the_ids_of_a_csv_come_back_as_they_are(tmp_path):
    console = Console(tmp_path)
    lena = signed_in(console)
    ids = ["-NvJ3kX8q", "@ben", "=1+1", "+49 170 1", "'-x", "''=y", "'z", " lead", "trail ", "Jürgen Müß", "a,b", "c;d",
           'say "hi"', "two\nlines", "\u202eevil", "-5"]
    grant(console, *ids, entitlement="maps")
    console.call("EntitlementService/Grant", customerId="noted", entitlement="maps", accessLevel="ACCESS_LEVEL_FULL",
                 note='first line\nsecond line, "quoted"')
    file = lena.csv(f"{HERE}/segments/built-in/granted.csv").text
    form = {"customers": file, "entitlement": "studio", "days": "1", "note": "outage"}
    preview = lena.post(f"{HERE}/do/make-good", submitted(form))
    assert "2 ids begin or end with white space" in preview.text
    assert lena.post(f"{HERE}/do/make-good", submitted(hidden(preview.text))).status == 303
    grants = console.call("EntitlementService/ListGrants", pageSize=1000)["grants"]
    assert {g["customerId"] for g in grants if g["entitlement"] == "studio"} == {*ids, "noted"}
    console.service.stop()


def test_a_quote_that_is_not_closed_is_refused(lena):
    form = {"customers": 'ada\n"ben\ncara', "entitlement": "maps", "days": "1", "note": "x"}
    page = lena.post(f"{HERE}/do/make-good", form)
    assert page.status == 400 and "a quote that opens in line 2 is not closed" in page.text and "cara</textarea>" in page.text
