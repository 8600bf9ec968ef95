"""The console over HTTP: signing in, pages, roles, and what an attacker can try."""

import base64
import csv
import datetime
import html
import http.client
import io
import json
import re
import urllib.parse

import pytest

from certificates import Authority
from console_client import Browser, ProxiedConsole, SigningKey, hidden
from console_story import APP, CONFIGURATION, CUSTOMER, Console, after
from harness import CALL_LIMIT, FREE_PORTS, PROGRAM, environment, run, wait_for

HERE = f"/a/{APP}/sandbox"


def test_a_one_time_link_signs_in_once(console):
    link = console.new_link()
    browser = Browser(console.address)
    assert browser.get("/").status == 401
    parts = urllib.parse.urlsplit(link)
    preview = browser.get(f"{parts.path}?{parts.query}")
    assert preview.status == 200 and "<form" in preview.text, "a preview of the link does not use it up"
    assert browser.sign_in(link).status == 303
    assert browser.get("/apps").status == 200
    assert Browser(console.address).sign_in(link).status == 403


def test_a_one_time_link_ends_with_the_process(tmp_path):
    first = Console(tmp_path)
    links = [first.link, first.new_link()]
    assert Browser(first.address).sign_in(links[0]).status == 303
    first.service.kill()
    second = Console(tmp_path, address=first.address)
    for link in links:
        assert Browser(second.address).sign_in(link).status == 403, "it may be used"
    assert Browser(second.address).sign_in(second.new_link()).status == 303
    second.service.stop()


def test_the_cookie_is_strict_and_signing_out_removes_it(console):
    browser = Browser(console.address)
    field = browser.sign_in(console.new_link()).getheader("set-cookie")
    assert "HttpOnly" in field and "SameSite=Strict" in field and "Path=/" in field
    out = browser.post("/session/end", {})
    assert out.status == 303 and "Max-Age=0" in out.getheader("set-cookie")


def test_every_response_has_the_security_headers(console, lena):
    for response in (lena.get("/"), Browser(console.address).get("/"), lena.get("/nothing"), lena.get("/assets/none")):
        policy = response.getheader("content-security-policy")
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert response.getheader("x-frame-options") == "DENY"
        assert response.getheader("referrer-policy") == "no-referrer"
        assert response.getheader("x-content-type-options") == "nosniff"
        assert response.getheader("cache-control") == "no-store"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", ""])
def test_a_rebound_name_is_refused(console, host):
    assert Browser(console.address).get("/", Host=host).status == 421


@pytest.mark.parametrize("headers, status", [
    ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Sec_Fetch_Site": "cross-site"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Origin": None}, 403), ({"Content_Type": "text/plain"}, 415), ({"Content_Type": "multipart/form-data"}, 415),
])  # fmt: skip
def test_a_form_of_another_page_is_refused(console, lena, headers, status):
    assert lena.post(f"{HERE}/do/grant", {"customer": "eve"}, **headers).status == status


def test_a_click_from_another_site_loads_the_page_once_more(console):
    page = Browser(console.address).get(f"{HERE}/customers/ada", Sec_Fetch_Site="cross-site")
    assert page.status == 200 and 'http-equiv="refresh"' in page.text
    assert 'http-equiv="refresh"' not in Browser(console.address).get("/", Sec_Fetch_Site="same-origin").text


@pytest.mark.parametrize("headers, status", [
    ({"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "image"}, 403),
    ({"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty"}, 403),
    ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}, 403),
    ({"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}, 200),
    ({"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty"}, 200),
    ({"Sec_Fetch_Site": "none", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}, 200),
])  # fmt: skip
def test_a_page_of_another_port_makes_the_person_look_at_no_one(console, lena, headers, status):
    """Browsers send the cookie to all ports of a host, also for pictures, and looking is in the audit log."""
    name = f"embedded-{'-'.join(headers.values())}"
    assert lena.get(f"{HERE}/customers/{name}", **headers).status == status
    looked = console.call("AuditService/ListAuditEntries", customerId=name).get("entries", [])
    assert bool(looked) == (status == 200)


def test_with_one_app_the_first_page_is_its_customers(console, lena):
    start = lena.get("/")
    assert start.status == 303 and start.getheader("location") == f"{HERE}/segments", "the first configured environment"
    text = lena.get(f"{HERE}/segments").text
    assert text.index(">Always there<") < text.index(">Saved<"), "no segment is saved"
    assert '<a href="/apps">All apps and environments</a>' in text and 'href="/apps" data-key="c"' in text
    apps = lena.get("/apps").text
    assert f"{HERE}/segments" in apps and f"/a/{APP}/production/segments" in apps and 'id="home-find"' in apps


@pytest.mark.parametrize("query", [CUSTOMER, "{pro}", "ada@", "CRM-8812", "{pro} "])
def test_the_only_hit_leads_to_its_page(console, lena, query):
    found = lena.post("/find", {"q": query.format(pro=console.ids["pro"]["transactionId"])})
    assert found.status == 303
    page = lena.get(found.getheader("location"))
    assert page.status == 303, "an id has one hit"
    assert page.getheader("location") == f"{HERE}/customers/{urllib.parse.quote(CUSTOMER, safe='')}"


def test_a_hit_in_another_environment_is_named_before_its_page(console, lena):
    text = console.ids["pro"]["transactionId"]
    found = lena.post("/find", {"q": text, "app": APP, "environment": "production"})
    page = lena.get(found.getheader("location"))
    assert page.status == 200 and f"Not in {APP}, production, but elsewhere:" in page.text
    assert f"{HERE}/purchases/{text}" in page.text
    found = lena.post("/find", {"q": text, "app": APP, "environment": "sandbox"})
    assert lena.get(found.getheader("location")).status == 303
    assert 'name="environment" value="sandbox"' in lena.get(f"{HERE}/work").text.split("<main")[0]
    found = lena.post("/find", {"q": "MZZZ99", "app": APP, "environment": "production"})
    assert "elsewhere" not in lena.get(found.getheader("location")).text


def test_several_hits_are_a_list(console, lena):
    console.call("CustomerService/AddNote", customerId="twin-1", text="x")
    console.call("CustomerService/AddNote", customerId="twin-2", text="x")
    page = lena.get("/find?q=twin-")
    assert page.status == 200 and "/customers/twin-1" in page.text and "/customers/twin-2" in page.text


def test_a_pasted_document_is_decoded_verified_and_leads_to_its_purchase(console, lena):
    document = console.ids["pro"]["signedTransactionInfo"]
    page = lena.post("/find", {"q": f" {document}\n"})
    assert page.status == 200 and "✓ verified" in page.text and "It was not stored" in page.text
    assert f"{HERE}/purchases/{console.ids['pro']['transactionId']}" in page.text
    assert f"/customers/{urllib.parse.quote(CUSTOMER, safe='')}" in page.text
    assert document[:40] not in page.text, "the document is not repeated"
    forged = lena.post("/find", {"q": document[:-8] + "AAAAAAAA"})
    assert forged.status == 200 and "BAD_SIGNATURE" in forged.text
    receipt = console.act("documents/app-receipt", app=APP, productId="pro.monthly", account="holder")["document"]
    page = lena.post("/find", {"q": receipt})
    assert page.status == 200 and "app receipt" in page.text and "✓ verified" in page.text
    console.act("faults", kind="drop", count=100)  # otherwise Apple's notification may store the purchase before
    stranger = console.buy("stranger", "pro.monthly")
    console.act("faults", kind="drop", count=0)
    page = lena.post("/find", {"q": stranger["signedTransactionInfo"]}).text
    assert "is not stored" in page and f"/do/refresh?transaction={stranger['transactionId']}" in page


@pytest.mark.parametrize("text", ["eyJ.eyJ.x", "{", "A" * 5_000, '{"signedPayload": "x"}', "\u202e" * 400])
def test_a_pasted_text_that_is_no_document_is_explained(lena, text):
    page = lena.post("/find", {"q": text})
    assert page.status == 200 and "✕" in page.text, page.text


def test_find_offers_to_ask_apple_about_what_is_not_here(lena):
    found = lena.post("/find", {"q": "MZZZ99"})
    page = lena.get(found.getheader("location")).text
    assert "Not here" in page and "/do/look-up-order?order=MZZZ99" in page


def test_find_opens_an_unknown_id_as_a_new_customer_of_the_page_with_the_box(lena):
    found = lena.post("/find", {"q": "brand-new", "app": APP, "environment": "sandbox"})
    page = lena.get(found.getheader("location")).text
    assert f'href="{HERE}/customers/brand-new">Open it as a new customer' in page
    assert "as a new customer" not in lena.get("/find?q=brand-new").text, "no app is meant"


def test_the_customer_page_shows_verdicts_history_and_timeline(console, lena):
    page = lena.get(f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}").text
    assert page.count('<article class="card') == 3
    assert "update the payment details" in page and "<svg" in page and "lanes-grace" in page
    for event in ("claimed by another", "refunded", "granted", "entered grace period", "recovered"):
        assert event in page.lower(), event
    assert '<span class="quiet">paid</span> 41.94 USD<span class="quiet"> (9.99 USD refunded)' in page
    assert '<span class="quiet">merged</span> <bdi>anon-81</bdi>' in page
    assert 'Only Apple decides about refunds: <a class="address" href="https://reportaproblem.apple.com"' in page
    for text in ("Wrote twice about maps.", "CRM-8812", "lena@example.com", "shells.100", "maps.pack"):
        assert text in page, text


def test_the_prices_of_the_story_are_no_problem_of_its_catalog(console, lena):
    page = lena.get(f"{HERE}/catalog").text
    assert "<h2>Problems</h2>" in page and "The configured price of" not in page and "grants no entitlement" not in page


def test_the_first_line_of_a_purchase_has_its_owner_and_since_when(console, lena):
    facts = lena.get(f"{HERE}/purchases/{console.ids['pro']['transactionId']}").text.split('class="facts">')[1].split("</ul>")[0]
    owner = re.search(r'>owner</span> <a href="([^"]*)"><bdi>(.*?)</bdi></a> <span class="quiet">since</span> <time', facts)
    assert owner and owner[2] == CUSTOMER and ">before</span>" not in facts


def test_the_first_line_of_a_purchase_has_its_products_and_their_group(console, lena):
    line = lambda purchase: lena.get(  # noqa: E731
        f"{HERE}/purchases/{purchase['transactionId']}").text.split('class="facts"><li>')[1].split("</li>")[0]
    assert re.search(r'pro\.monthly.*</bdi> <span class="quiet">group</span> <bdi>pro</bdi>$', line(console.ids["pro"]))
    alone = console.buy("lone", "maps.pack")
    console.submit("lone", alone)
    assert "group" not in line(alone), "no subscription"


def test_a_row_of_the_timeline_opens_to_what_changed_and_its_evidence(console, lena):
    page = lena.get(f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}?type=REFUNDED").text
    opened = page.split('<div class="timeline')[1].split("<details>")[1].split("</details>")[0]
    assert re.search(r"<li><bdi>maps</bdi>, Reason: <bdi>[\w ]+</bdi> → <strong><bdi>refunded</bdi></strong></li>", opened), opened
    assert re.search(rf'<a href="{HERE}/evidence/(\d+)">evidence \1</a>', opened)


def test_evidence_is_decoded_and_does_not_repeat_signed_documents(console, lena):
    pages = [lena.get(f"{HERE}/evidence/{number}").text for number in range(1, 6)]
    assert any(re.search(r"signedTransactionInfo.{1,30}eyJ[\w-]{37}… \(\d+ characters\)", page) for page in pages)
    assert not any(re.search(r"eyJ[\w-]{100}", page) for page in pages)


def test_a_long_id_may_break_and_a_short_one_does_not(console, lena):
    long = "0123456789abcdef" * 4
    console.call("CustomerService/AddNote", customerId=long, text="x")
    page = lena.get(f"{HERE}/customers/{long}").text
    assert f'<bdi class="id long" data-copy="{long}">' in page
    assert f'<bdi class="long">{long}</bdi>' in lena.get(f"/audit?customer={long}").text
    assert 'class="id long" data-copy="ada' not in lena.get(f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}").text


def test_as_of_moves_every_figure(console, lena):
    path = f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}"
    now = lena.get(path).text
    first = int(re.search(r'name="at" min="(\d+)"', now)[1])
    then = lena.get(f"{path}?at={first + 10 * 86400}").text
    assert 'class="as-of"' in then and "Back to now" in then
    bar = lambda page: page.split('class="moment"')[1].split("</p>")[0]  # noqa: E731
    assert "with all that is known now" in bar(then)
    assert then.count("<article") == 3 and "update the payment details" not in then
    assert "granted" not in then.lower().split('<div class="timeline')[1].split("</table>")[0]
    assert "maps.pack" not in then.split('id="purchases"')[1].split("</table>")[0]
    assert "Wrote twice" not in then
    assert '<span class="quiet">paid</span> 4.99 USD</li>' in then.replace("\n", "")
    assert "Grant…" not in then, "a past moment has no buttons"
    link = html.unescape(re.search(r'action="([^"]*history\.csv[^"]*)"', then)[1])
    lines = lena.csv(link).text
    assert f"?at={first + 10 * 86400}" in link and "PURCHASED" in lines and "REFUNDED" not in lines
    known = lena.get(f"{path}?at={first + 10 * 86400}&known=then").text
    assert re.search(r"history\.csv\?at=\d+&amp;known=then", known) and "with what was known then" in bar(known)
    assert "REFUNDED" in lena.csv(f"{path}/history.csv").text


def test_the_timeline_of_a_past_page_reads_on_until_its_moment(console, lena):
    """More events followed than a page of the timeline has."""
    grant = {"customerId": "busy", "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL"}
    console.call("EntitlementService/Grant", **grant)
    answer = console.call("EntitlementService/GetCustomer", customerId="busy")
    then = int(datetime.datetime.fromisoformat(answer["evaluatedAt"].replace("Z", "+00:00")).timestamp()) + 1
    console.advance("3m")
    for _ in range(51):
        granted = console.call("EntitlementService/Grant", **grant | {"entitlement": "maps"})["grant"]
        console.call("EntitlementService/RevokeGrant", grantId=granted["grantId"])
    newest = console.call("EntitlementService/ListTimeline", customerId="busy", newestFirst=True, pageSize=100)["events"]
    assert len(newest) == 100 and answer["sequence"] not in {event["sequence"] for event in newest}
    timeline = lena.get(f"{HERE}/customers/busy?at={then}").text.split('<div class="timeline')[1].split("</div>")[0]
    assert re.findall(r"/events/(\d+)", timeline) == [answer["sequence"]]
    filtered = lena.get(f"{HERE}/customers/busy?type=REFUNDED").text
    assert "No event of this kind." in filtered and 'name="type" value="REFUNDED"' in filtered, "the slider keeps the filter"


def test_the_timeline_shows_what_we_did_or_the_rest(console, lena):
    path = f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}"
    rows = lambda query: lena.get(path + query).text.split('<div class="timeline')[1].split("</table>")[0]  # noqa: E731
    actors = lambda text: {re.sub("<.*?>", "", cell) for cell in re.findall(r'data-head="Who">(.*?)</td>', text)}  # noqa: E731
    ours, others = rows("?source=us&apple=1"), rows("?source=apple")
    assert "lena@example.com" in actors(ours) and "" not in actors(ours) and "App Store" not in actors(ours)
    assert actors(others) == {""}
    assert ">granted</span>" in ours and ">refunded</span>" in others
    assert 'name="source" value="us"' in lena.get(path + "?source=us").text, "the slider keeps the filter"


def test_a_past_page_has_the_refund_request_of_then(console, lena):
    def refunds(customer, query=""):
        page = lena.get(f"{HERE}/customers/{urllib.parse.quote(customer)}{query}").text
        return page, page.split('id="refunds"')[1].split("<h2")[0]

    def asked(section):
        moment = datetime.datetime.fromisoformat(re.search(r'"Asked"><time datetime="([^"]+)"', section)[1])
        return int(moment.timestamp())

    # A worker notes that the deadline passed, unless Apple's refund, which decides the request, arrives before it runs.
    section = wait_for(lambda: re.search(">(missed|decided)<", section := refunds(CUSTOMER)[1]) and section)
    _, then = refunds(CUSTOMER, f"?at={asked(section) + 3600}")
    assert ">open<" in then and "DEADLINE_PASSED" not in then and re.search(r'"Time left">\d+ hours<', then)
    assert "<tr" not in refunds(CUSTOMER, f"?at={asked(section) - 3600}")[1]
    now, section = refunds("bob")
    then, before = refunds("bob", f"?at={asked(section) + 600}")
    assert "left to answer Apple" in now and "left to answer Apple" not in then and ">open<" in before


def test_tables_have_texts_for_codes(console, lena):
    """The CSV has the codes themselves."""
    customer = lena.get(f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}").text
    refunds = customer.split('id="refunds"')[1].split("<h2")[0]
    assert "did not mean to buy it" in refunds and "UNINTENDED_PURCHASE" not in refunds
    purchase = lena.get(f"{HERE}/purchases/{console.ids['maps']['transactionId']}").text
    assert re.search(r'data-head="Refund">.*? in full</td>', purchase) and 'data-head="Reason">purchase</td>' in purchase


def test_a_withdrawn_consent_is_no_notice_before_it(console, lena):
    console.submit("kid", console.buy("kid", "maps.pack"))
    console.act("rescind-consent", app=APP, account="kid")
    page = wait_for(lambda: "withdrew the consent" in (page := lena.get(f"{HERE}/customers/kid").text) and page)
    now = int(re.search(r'name="at"[^>]* value="(\d+)"', page)[1])
    then = lena.get(f"{HERE}/customers/kid?at={now - 600}").text
    assert 'class="as-of"' in then and "withdrew the consent" not in then


@pytest.mark.parametrize("path", ["/nothing", "/a", f"{HERE}/evidence/999999", f"{HERE}/events/0", "/a/other/sandbox/work/refunds",
                                  f"/a/{APP}/nowhere/work", f"{HERE}/work/other", f"{HERE}/do/other"])  # fmt: skip
def test_a_missing_object_is_an_error_page(lena, path):
    page = lena.get(path)
    assert page.status == 404 and "That did not work" in page.text
    assert "Check the address or the id, or find it with the box above." in page.text


def test_an_address_or_a_form_that_is_not_utf_8_names_no_other_customer(lena):
    assert lena.get(f"{HERE}/customers/J%C3%BCrgen").status == 200
    for page in (lena.get(f"{HERE}/customers/J%FCrgen"), lena.get(f"{HERE}/find?q=J%FCrgen")):
        assert (page.status, page.text) == (400, "the address is not UTF-8\n")
    page = lena.post(f"{HERE}/do/grant", "customer=J%FCrgen")
    assert (page.status, page.text) == (400, "the form is not UTF-8\n")


def test_a_form_is_not_decoded_before_the_sign_in(console):
    page = Browser(console.address).post(f"{HERE}/do/grant", "customer=J%FCrgen")
    assert page.status == 401 and "UTF-8" not in page.text


def test_a_response_to_head_has_the_length_of_that_to_get(console, lena):
    file = re.search(r'src="(/assets/[^"]+)"', lena.get(f"{HERE}/catalog").text)[1]
    for path in (f"{HERE}/catalog", file, "/nothing"):
        page, head = lena.get(path), lena.request("HEAD", path)
        assert (head.status, head.text) == (page.status, "")
        assert head.getheader("content-length") == page.getheader("content-length") != "0"


EXTREMES = [str(-(2**63)), str(2**63 - 1), "9999-12-31", "0000-01-01", "\0", "x" * 2_000]
BEHIND = "report=retention&column=reached&from=2026-01-01&to=2026-02-01"


@pytest.mark.parametrize("path", [
    "customers/{customer}?at", "customers/{customer}?known=then&at", "customers/{customer}?page", "customers/{customer}?explain",
    "customers/{customer}/changes?after", "catalog?page", "reports/mrr?to", "reports/mrr?from", "reports/ltv?by=month&to",
    "reports/retention?known-at", "reports/churn?note=x&note-day", f"reports/retention/customers?{BEHIND}&bucket=2026-01-01&age",
    f"reports/retention/customers?{BEHIND}&age=1&bucket", "work/rejected?page", "work/dead-letters?page", "segments/built-in/granted?page",
])  # fmt: skip
def test_extreme_values_in_an_address_are_answered(console, lena, path):
    path = path.format(customer=urllib.parse.quote(CUSTOMER))
    for value in EXTREMES:
        assert lena.get(f"{HERE}/{path}={urllib.parse.quote(value)}").status < 500, value
    assert console.service.process.poll() is None, console.service.log


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("queue, column", [
    ("refunds", "answer_by"), ("unclaimed", "original_transaction_id"), ("dead-letters", "webhook"), ("rejected", "reason"),
    ("drift", "entitlement"), ("contradictions", "kind"), ("disagreements", "stated_until"), ("migrations", "migration_id"),
])  # fmt: skip
def test_each_work_list_is_a_csv_too(lena, queue, column):
    response = lena.csv(f"{HERE}/work/{queue}.csv")
    assert response.status == 200 and response.getheader("content-type") == "text/csv; charset=utf-8"
    assert response.getheader("content-disposition") == "attachment"
    assert column in response.text.splitlines()[0].split(",")


def test_a_csv_has_the_rows_of_the_list_on_all_its_pages(console, lena):
    crowd = {console.buy(f"crowd-{number}", "maps.pack")["originalTransactionId"] for number in range(120)}
    # Apple's notifications store them.
    listed = lambda: rows(lena.csv(f"{HERE}/work/unclaimed.csv").text)  # noqa: E731
    numbers = lambda found: {row["original_transaction_id"] for row in found}  # noqa: E731
    found = wait_for(lambda: crowd <= numbers(found := listed()) and found)
    assert len(found) >= 121 and len(numbers(found)) == len(found)
    assert found[0]["purchased_at"].endswith("Z") and {row["product_id"] for row in found} <= {"maps.pack", "pro.monthly"}
    assert "Next page" in lena.get(f"{HERE}/work/unclaimed").text
    card = lena.get(f"{HERE}/work").text.split('unclaimed">')[1].split("</article>")[0]
    assert "more than 10<" in card, "the overview reads few rows"


def test_the_audit_log_is_a_csv_with_the_same_filter(console, lena):
    lena.get(f"{HERE}/customers/exported")
    today = datetime.datetime.now(datetime.UTC).date()
    tomorrow = today + datetime.timedelta(days=1)
    assert "exported" in lena.get(f"/audit?customer=exported&app={APP}&to={tomorrow}").text.split("<table>")[1]
    for others in (f"app={APP}&to={today - datetime.timedelta(days=2)}", f"app={APP}&from={tomorrow}"):
        assert "<table>" not in lena.get(f"/audit?customer=exported&{others}").text, others
    found = rows(lena.csv("/audit.csv?customer=exported").text)
    assert {row["address"] for row in found} == {"127.0.0.1"}
    assert 'data-head="Address">127.0.0.1<' in lena.get("/audit?customer=exported").text
    assert found and {row["customer_ids"] for row in found} == {"exported"} and {row["actor"] for row in found} == {"lena@example.com"}


def test_a_person_who_reads_the_audit_log_is_recorded_whoever_is_looked_for(console, lena):
    lena.get(f"/audit?app={APP}&actor=ben-innocent")
    assert lena.csv(f"/audit.csv?app={APP}&actor=eve", "curious about eve").status == 200
    assert console.call("AuditService/ListAuditEntries", actor="ben-innocent").get("entries", []) == []
    found = console.call("AuditService/ListAuditEntries", actor="lena@example.com")["entries"]
    assert ("console", "lena@example.com", "curious about eve") in {
        (entry["caller"], entry["actor"], entry.get("note", "")) for entry in found}


def test_a_formula_in_a_csv_is_a_text(console, lena):
    console.call("EntitlementService/Grant", customerId="=1+1", entitlement="pro", accessLevel="ACCESS_LEVEL_FULL")
    lena.get(f"{HERE}/customers/%3D1%2B1")
    found = rows(lena.csv("/audit.csv?" + urllib.parse.urlencode({"customer": "=1+1"})).text)
    assert {row["customer_ids"] for row in found} == {"'=1+1"}


@pytest.mark.parametrize("text", ["a\n=1+1", "=\u0301" + "1+1", 'a"\u0301,=1+1'])
def test_a_text_with_a_line_end_or_a_combining_mark_stays_in_its_cell(console, lena, text):
    """As one character, a quote with a combining mark is no quote; a spreadsheet reads bytes."""
    console.call("EntitlementService/Grant", customerId=text, entitlement="pro", accessLevel="ACCESS_LEVEL_FULL")
    lena.get(f"{HERE}/customers/{urllib.parse.quote(text, safe='')}")
    found = rows(lena.csv("/audit.csv?" + urllib.parse.urlencode({"customer": text})).text)
    assert found and {row["customer_ids"].removeprefix("'") for row in found} == {text}
    assert not any(row["customer_ids"].startswith("=") for row in found)


def test_a_list_is_read_as_csv_for_a_reason_that_the_audit_log_has(console, lena):
    console.call("EntitlementService/Grant", customerId="listed", entitlement="pro", accessLevel="ACCESS_LEVEL_FULL")
    path = f"{HERE}/customers/listed/history.csv"
    assert f'action="{path}"' in lena.get(f"{HERE}/customers/listed").text
    looked = lambda: [(e["method"].split("/")[-1], e.get("note", ""), e["actor"]) for e in console.call(  # noqa: E731
        "AuditService/ListAuditEntries", customerId="listed")["entries"] if e.get("caller") == "console"]
    before = looked()
    assert lena.get(path).status == 404, "an address alone reads nothing"
    missing = lena.csv(path, " ")
    assert missing.status == 400 and "&#39;Reason&#39; is missing" in missing.text
    assert lena.csv(path, "é" * 2_049).status == 400
    assert lena.post(path, {"note": "x"}, Origin="http://evil.example").status == 403
    assert looked() == before
    assert lena.csv(path, "the auditor asked").status == 200
    assert looked() == [("GetCustomerHistory", "the auditor asked", "lena@example.com"), *before]


def test_the_page_of_a_number_is_that_of_its_environment(console, lena):
    event = html.unescape(lena.get(f"{HERE}/events/1").text.split("The event as JSON")[1])
    assert json.loads(event.split("<pre tabindex=\"0\">")[1].split("</pre>")[0])["sequence"] == "1"
    for path in ("evidence/2", "events/1"):
        page = lena.get(f"/a/{APP}/production/{path}")
        assert page.status == 200 and "SANDBOX" in page.text and f"/a/{APP}/production" not in page.text, path


def test_an_unclaimed_purchase_has_a_picture_of_its_periods(console, lena):
    console.act("faults", kind="drop", count=100)  # otherwise Apple's notifications may store later transactions
    bought = console.buy("no-one", "pro.monthly")
    console.submit("", bought)
    units = console.buy("no-one", "shells.100", quantity=2)
    console.submit("", units)
    console.act("faults", kind="drop", count=0)
    picture = lambda purchase: lena.get(f"{HERE}/purchases/{purchase['transactionId']}").text.split("<svg")[1].split("</svg>")[0]  # noqa: E731
    assert picture(bought).count('class="bar full"') == 1 and "pro.monthly, 4.99 USD: " in picture(bought)
    assert picture(units).count('class="dot"') == 1 and 'class="bar' not in picture(units), "a consumable has no period"


def test_contradictions_are_a_queue_and_a_red_card(console, lena):
    console.submit("twice", console.buy("first-account", "pro.monthly"))
    second = console.buy("second-account", "pro.monthly")
    assert "twice" not in lena.get(f"{HERE}/work/contradictions").text
    console.submit("twice", second)
    page = lena.get(f"{HERE}/work/contradictions").text
    assert f"{HERE}/customers/twice" in page and "two active in group" in page
    assert rows(lena.csv(f"{HERE}/work/contradictions.csv").text)[0]["kind"] == "TWO_ACTIVE_IN_GROUP"
    page = lena.get(f"{HERE}/customers/twice").text
    assert "Facts contradict each other." in page and page.index("TWO_ACTIVE_IN_GROUP") < page.index('class="cards"')
    console.act("refund", transactionId=second["transactionId"])
    console.call("AppStoreService/RefreshPurchase", transactionId=second["transactionId"])
    assert "/customers/twice" not in lena.get(f"{HERE}/work/contradictions").text
    assert "Facts contradict" not in lena.get(f"{HERE}/customers/twice").text


def test_consumables_have_their_product_and_one_lane(console, lena):
    for _ in range(3):
        console.submit("collector", console.buy("collector", "shells.100"))
    page = lena.get(f"{HERE}/customers/collector").text
    purchases = page.split('id="purchases"')[1].split("</table>")[0]
    assert purchases.count("<bdi>shells.100</bdi>") == 3 and "bought" in purchases
    balance = page.split("<h3>Consumables</h3>")[1].split("</table>")[0]
    assert re.findall(r"<td[^>]*>(\d+)</td>", balance) == ["3", "0", "3"]
    assert "3 bought" in page.split("</svg>")[0] and page.split("</svg>")[0].count('class="dot"') >= 3


def test_many_lanes_are_folded(console, lena):
    for number in range(15):
        console.call("EntitlementService/Grant", customerId="many", entitlement="maps", accessLevel="ACCESS_LEVEL_FULL",
                     until=after(console, 1 + number))
    page = lena.get(f"{HERE}/customers/many").text
    assert page.count("<svg") == 2 and "older lanes</summary>" in page
    shown = page.split("<svg")[1].split("</svg>")[0]
    assert shown.count("<title>") > 10 and shown.count('class="kind"') == 12
    assert len(set(re.findall(r'id="([^"]+)"', page))) == len(re.findall(r'id="([^"]+)"', page)), "ids are unique"


def test_the_history_before_the_last_13_months_is_shown_on_demand(console, lena):
    console.submit("veteran", console.buy("veteran", "maps.pack"))
    page = lena.get(f"{HERE}/customers/veteran").text
    assert "Show the whole history" not in page
    later = console.call("CustomerService/GetCustomerHistory", customerId="veteran", startTime=after(console, -1))
    assert later["lanes"]
    whole = lena.get(f"{HERE}/customers/veteran?range=all").text
    assert "Show the last 13 months" in whole and 'name="range" value="all"' in whole
    path = f"{HERE}/customers/veteran/history.csv"
    assert f'action="{path}?range=all"' in whole and f'action="{path}"' in page
    recent, all_of_it = lena.csv(path).text, lena.csv(f"{path}?range=all").text
    assert "2008-07-01" in all_of_it and "2008-07-01" not in recent, "the App Store opened in July 2008"
    begin = re.compile(r",[^,]+(?=,[^,]*,NEVER_PURCHASED)")
    assert begin.sub("", all_of_it) == begin.sub("", recent), "nothing was bought before the last 13 months"


def test_the_status_page_has_apples_rates_and_the_delays(console, lena):
    console.call("AppStoreService/RefreshPurchase", transactionId=console.ids["pro"]["transactionId"])
    page = lena.get("/status").text
    limits = page.split("Apple&#39;s rate limits</h2>")[1].split("</table>")[0]
    assert "subscriptionStatuses" in limits or "transactionHistory" in limits
    status = console.service.json("entitled.v1.StatusService/GetStatus", {})[1]
    app = next(a for a in status["apps"] if a["environment"] == "ENVIRONMENT_SANDBOX")
    assert app["notificationDelay"]["count"] >= 10 and app["notificationDelay"]["median"].endswith("s")
    limit = next(limit for limit in app["appleRateLimits"] if limit["callsPerSecond"] > 0)
    assert 0 <= limit.get("availableCalls", 0) <= 10 * limit["callsPerSecond"] and limit["endpoint"]
    assert 'The store can be read <code class="quiet">store_readable</code>' in page
    assert "longest" in page and "Store" in page and "Webhooks" in page and "deploy/grafana" in page
    assert "No listener has TLS, and no root is trusted besides Apple&#39;s." in page


def test_the_status_page_has_the_ends_of_certificates(tmp_path):
    authority = Authority(tmp_path)
    authority.issue("short", "localhost", days=5)
    console = Console(tmp_path, CONFIGURATION + """
trusted_roots: [{environment: Production, certificate: authority.pem}]
listeners:
  grpc: {tls: {certificate: short.crt, key: short.key}}
""")
    try:
        lena = Browser(console.address)
        lena.sign_in(console.link)
        table = lena.get("/status").text.split("Certificates</h2>")[1].split("</table>")[0]
        assert table.index("listener grpc") < table.index("trusted root production"), "the first to end is first"
        assert 'class="chip grace">4 days left.' in table and 'class="chip full">' in table
    finally:
        console.service.stop()


def test_looking_is_in_the_audit_log_under_the_persons_name(console, lena):
    lena.get(f"{HERE}/customers/audited")
    entries = console.call("AuditService/ListAuditEntries", customerId="audited")["entries"]
    assert {entry["method"].split("/")[-1] for entry in entries} >= {"DescribeCustomer", "GetCustomer", "ListTimeline"}
    assert {entry["actor"] for entry in entries} == {"lena@example.com"}
    assert {entry["caller"] for entry in entries} == {"console"}


def test_the_calls_of_one_look_are_one_row_of_the_audit_page(console, lena):
    """The row opens without a script. The CSV has each call, and a filter of the method leaves one call of the look."""
    console.call("EntitlementService/Grant", customerId="glanced", entitlement="pro", accessLevel="ACCESS_LEVEL_FULL")
    assert lena.get(f"{HERE}/customers/glanced").status == 200
    entries = console.call("AuditService/ListAuditEntries", customerId="glanced")["entries"]
    calls = [entry for entry in entries if entry.get("caller") == "console"]
    assert len(calls) > 8 and len({entry["requestId"] for entry in calls}) == 1
    assert not any(entry["requestId"] == calls[0]["requestId"] for entry in entries if entry not in calls)
    table = lambda query: lena.get(f"/audit?customer=glanced{query}").text.split("<tbody>")[1].split("</tbody>")[0]  # noqa: E731
    found = table("")
    assert found.count("<details>") == 1 and "<code>Grant</code>" in found and calls[0]["requestId"] in found
    assert '<a href="/find?q=glanced"><bdi>glanced</bdi></a>' in found
    row = found.split("<details>")[1].split("</details>")[0]
    assert f'Looked at <bdi>glanced</bdi> <span class="quiet">{len(calls)} calls</span></summary>' in row
    assert row.count("<li>") == len(calls) and "<code>ListTimeline</code>" in row and "<code>Grant</code>" not in row
    assert lena.get(f"{HERE}/customers/glanced").status == 200
    assert table("").count("<details>") == 2, "another look is another row"
    file = rows(lena.csv("/audit.csv?customer=glanced").text)
    assert sum(row["request_id"] == calls[0]["requestId"] for row in file) == len(calls)
    one = table("&method=ListTimeline")
    assert one.count("<code>ListTimeline</code>") == 2 and "<details>" not in one


def test_a_part_of_a_page_that_fails_is_named_and_the_rest_is_shown(console, lena):
    path = f"{HERE}/customers/{urllib.parse.quote(CUSTOMER, safe='')}"
    page = lena.get(f"{path}?explain=nothing")
    assert page.status == 200 and "The steps of the answer cannot be shown now:" in page.text
    assert "<svg" in page.text and 'id="purchases"' in page.text
    page = lena.get(f"{path}?page=forged")
    assert page.status == 200 and 'role="alert"' in page.text.split('id="timeline"')[1] and "<svg" in page.text


def test_empty_lists_say_how_they_get_filled(console, lena):
    for path, hint in [
        ("work/migrations", "entitled migrate --input receipts.ndjson"),
        ("customers/new-one", "Apple reports one when the customer asks"), ("segments", "entitled segment create"),
    ]:  # fmt: skip
        assert hint in html.unescape(lena.get(f"{HERE}/{path}").text), path


def test_failures_of_a_migration_are_named_with_what_to_do(console, lena):
    lines = [{"customer_id": "m-1", "receipt": "MIIé"}, {"customer_id": "m-2", "original_transaction_id": "123456"}]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    console.call("ReceiptService/UploadMigrationInput", uploadId="failing", data=base64.b64encode(data).decode())
    job = console.call("ReceiptService/StartMigration", uploadId="failing")["migration"]["migrationId"]
    wait_for(
        lambda: console.call("ReceiptService/GetMigration", migrationId=job)["migration"]["state"] != "MIGRATION_STATE_RUNNING")
    page = lena.get(f"{HERE}/work/migrations").text
    assert "<code>NOT_BASE64</code> 1" in page and "<code>UNKNOWN_TO_APPLE</code> 1" in page
    failures = lena.get(re.search(r'href="([^"]*work/migrations/[^"]+)"', page)[1]).text
    found = {reason: failures.split(f"<code>{reason}</code>")[1].split("</tr>")[0] for reason in ("NOT_BASE64", "UNKNOWN_TO_APPLE")}
    assert "Export the receipt again" in found["NOT_BASE64"] and "Check the id" in found["UNKNOWN_TO_APPLE"]
    assert rows(lena.csv(f"{HERE}/work/migrations.csv").text)[0]["error"] == ""


def test_the_answers_behind_a_customers_page_are_shown_as_json(console, lena):
    path = f"{HERE}/customers/{urllib.parse.quote(CUSTOMER, safe='')}"
    plain = lena.get(path).text
    assert "raw=1#raw" in html.unescape(plain) and "<summary>GetCustomerHistory" not in plain
    page = lena.get(f"{path}?raw=1").text
    answers = {name: json.loads(html.unescape(text)) for name, text in re.findall(
        r"<summary>(\w+)</summary><pre tabindex=\"0\">(.*?)</pre>", page, re.S)}  # fmt: skip
    assert {"DescribeCustomer", "GetCustomer", "GetCustomerHistory", "ListTimeline"} <= answers.keys()
    assert answers["GetCustomer"]["customerId"] == answers["GetCustomerHistory"]["customerId"] == CUSTOMER


def test_the_audit_log_has_the_moment_about_which_a_person_asked(console, lena):
    grant = console.call("EntitlementService/Grant", customerId="looked-back", entitlement="pro", accessLevel="ACCESS_LEVEL_FULL")
    assert grant["grant"]
    now = console.call("CustomerService/DescribeCustomer", customerId=CUSTOMER)["evaluatedAt"]
    moment = int(datetime.datetime.fromisoformat(now.replace("Z", "+00:00")).timestamp()) - 86_400 * 3
    at = datetime.datetime.fromtimestamp(moment, datetime.UTC).isoformat().replace("+00:00", "Z")
    lena.get(f"{HERE}/customers/looked-back?at={moment}")
    lena.get(f"{HERE}/customers/looked-back?at={moment}&known=then&explain=pro")
    entries = console.call("AuditService/ListAuditEntries", customerId="looked-back")["entries"]
    asked = {(entry["method"].split("/")[-1], entry.get("asOf"), entry.get("knownAt")) for entry in entries}
    assert {("GetCustomerHistory", at, None), ("GetCustomerHistory", at, at), ("DescribeCustomer", None, None)} <= asked
    minute = at[:16].replace("T", " ")
    text = lena.get("/audit?customer=looked-back&method=GetCustomerHistory").text
    assert f'As of <time datetime="{at[:19]}' in text and f">{minute}</time>" in text and "As known at <time" in text
    found = rows(lena.csv("/audit.csv?customer=looked-back&method=GetCustomerHistory").text)
    assert at[:19] in {row["as_of"][:19] for row in found} and "" in {row["as_of"] for row in found}


def test_a_grant_is_previewed_confirmed_once_and_undone(console, lena):
    customer = "granted-1"
    form = {"customer": customer, "entitlement": "pro", "level": "full", "preset": "7", "until": "", "note": "ticket 7"}
    preview = lena.post(f"{HERE}/do/grant", form)
    assert preview.status == 200 and "granted-1 gets pro" in preview.text
    assert not console.call("EntitlementService/GetCustomer", customerId=customer).get("grants")
    confirmed = hidden(preview.text)
    done = lena.post(f"{HERE}/do/grant", confirmed)
    assert done.status == 303, done.text
    again = lena.post(f"{HERE}/do/grant", confirmed)
    assert again.status == 303 and again.getheader("location") == done.getheader("location")
    grants = console.call("EntitlementService/GetCustomer", customerId=customer)["grants"]
    assert len(grants) == 1 and grants[0]["note"] == "ticket 7" and grants[0]["actor"] == "console/lena@example.com"
    page = lena.get(done.getheader("location")).text
    assert "Done: Grant." in page
    undo = html.unescape(re.search(r'href="([^"]*do/revoke[^"]*)">Undo', page)[1])
    revoke = hidden(lena.get(undo).text) | {"note": "not needed"}
    preview = lena.post(f"{HERE}/do/revoke", revoke)
    assert lena.post(f"{HERE}/do/revoke", hidden(preview.text)).status == 303
    assert console.call("EntitlementService/GetCustomer", customerId=customer)["grants"][0]["revokedAt"]


def test_a_confirmation_is_about_what_was_shown(console, lena):
    form = {"customer": "granted-2", "entitlement": "pro", "level": "full", "preset": "7", "note": "x"}
    confirmed = hidden(lena.post(f"{HERE}/do/grant", form).text)
    for change in ({"entitlement": "maps"}, {"customer": "other"}, {"token": "1." + "0" * 64}, {"note": "y"}):
        page = lena.post(f"{HERE}/do/grant", confirmed | change)
        assert page.status == 200 and "changed since" in page.text
    ben = Browser(console.address)
    ben.sign_in(console.new_link(), "ben")
    assert "changed since" in ben.post(f"{HERE}/do/grant", confirmed).text, "another person has seen nothing"
    console.call("EntitlementService/Grant", customerId="granted-2", entitlement="maps", accessLevel="ACCESS_LEVEL_FULL")
    assert "changed since" in lena.post(f"{HERE}/do/grant", confirmed).text, "an event has come between"
    assert len(console.call("EntitlementService/GetCustomer", customerId="granted-2")["grants"]) == 1


def test_a_missing_reason_keeps_what_was_typed(lena):
    page = lena.post(f"{HERE}/do/grant", {"customer": "c", "entitlement": "pro", "level": "full", "preset": "7", "note": ""})
    assert page.status == 400 and "&#39;Reason&#39; is missing" in page.text and 'value="c"' in page.text
    field = re.search(r'<textarea id="note"[^>]*>', page.text)[0]
    assert 'aria-invalid="true"' in field and 'aria-describedby="note-error note-hint"' in field
    assert '<p class="problem" id="note-error">' in page.text, "the problem is at its field, too"
    assert page.text.count('aria-invalid="true"') == 1


def test_markup_in_names_and_notes_stays_text(console, lena):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    console.call("CustomerService/AddNote", customerId=evil, text=evil, actor=evil)
    console.call("CustomerService/SetCustomerAttributes", customerId=evil, attributes=[{"name": "a", "value": evil}])
    console.call("EntitlementService/Grant", customerId=evil, entitlement="pro", accessLevel="ACCESS_LEVEL_FULL", note=evil, actor=evil)
    quoted = urllib.parse.quote(evil, safe="")
    for path in (f"{HERE}/customers/{quoted}", f"/find?q={quoted}", "/audit", f"{HERE}/do/grant?customer={quoted}"):
        page = lena.get(path)
        assert page.status in (200, 303) and "<script>alert" not in page.text and "<img" not in page.text, path


def test_no_link_makes_a_page_say_what_was_not_done(lena):
    page = lena.get(f"{HERE}/customers/x?done=erase&text=Call+us&undo=revoke&field=grant&id=1&proof=1.2").text
    assert "Done:" not in page and "Call us" not in page


def test_a_page_is_compressed_and_files_are_kept(console, lena):
    page = lena.get(f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}").text
    files = re.findall(r'(?:href|src)="(/assets/[^"]+)"', page)
    assert len(files) == 3
    for file in files:
        response = Browser(console.address).get(file)
        assert response.status == 200 and "immutable" in response.getheader("cache-control")
    host, _, port = console.address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)
    connection.request("GET", files[0], headers={"Accept-Encoding": "gzip"})
    assert connection.getresponse().getheader("content-encoding") == "gzip"


def test_a_console_for_other_machines_needs_a_proxy(tmp_path):
    import subprocess

    done = subprocess.run(
        [str(PROGRAM), "serve", *FREE_PORTS, "--data", str(tmp_path / "data"), "--console", "0.0.0.0:0"],
        capture_output=True, text=True, timeout=60, env=environment())
    assert done.returncode != 0 and "listeners.console.identity" in done.stderr + done.stdout


def test_the_console_is_off_by_default(service):
    assert "console=" not in service.log


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    """A console behind a proxy that signs people in, and the proxy's signature."""
    console = ProxiedConsole(tmp_path_factory.mktemp("proxied"))
    yield console
    console.service.stop()


def test_a_signed_header_signs_in_with_the_roles_of_the_subject(proxied):
    read = Browser(proxied.address, {"X-Proxy-JWT": proxied.token("lena@example.com")})
    page = read.get(f"{HERE}/customers/ada")
    assert page.status == 200 and "lena@example.com" in page.text
    assert "/do/" not in page.text, "the role read sees no buttons"
    assert "You may look" in page.text
    assert read.get(f"{HERE}/do/grant?customer=ada").status == 403
    assert read.post(f"{HERE}/do/grant", {"customer": "ada"}).status == 403
    operate = Browser(proxied.address, {"X-Proxy-JWT": proxied.token("otto@example.com")})
    page = operate.get(f"{HERE}/customers/ada").text
    assert "/do/grant" in page and "/do/erase" not in page, "erasing needs the role admin"


@pytest.mark.parametrize("forge", [
    lambda p: None, lambda p: "lena@example.com", lambda p: p.token("lena@example.com", key=SigningKey()),
    lambda p: p.token("lena@example.com", aud="other"), lambda p: p.token("lena@example.com", iss="https://evil.example"),
    lambda p: p.token("lena@example.com", exp=1), lambda p: p.token("lena@example.com", algorithm="none"),
    lambda p: p.token("stranger@example.com"), lambda p: p.secret,
])  # fmt: skip
def test_a_forged_header_signs_no_one_in(proxied, forge):
    value = forge(proxied)
    browser = Browser(proxied.address, {"X-Proxy-JWT": value} if value else {})
    assert browser.get("/").status == 401


def test_other_credentials_do_not_open_a_console_behind_a_proxy(proxied):
    token = proxied.token("lena@example.com")
    assert Browser(proxied.address, {"Authorization": f"Bearer {token}"}).get("/").status == 401
    assert Browser(proxied.address, {"Authorization": f"Bearer {proxied.secret}"}).get("/").status == 401
    assert Browser(proxied.address, {"X-Forwarded-Email": "lena@example.com"}).get("/").status == 401
    assert Browser(proxied.address).get("/session/once?code=1").status == 401


def test_roles_of_the_token_count_for_subjects_that_are_not_configured(proxied):
    browser = Browser(proxied.address, {"X-Proxy-JWT": proxied.token("new@example.com", groups=["read"])})
    assert browser.get("/apps").status == 200


LINKS = """listeners:
  console:
    links:
      grafana: https://grafana.example.com/d/entitled
      customer: "https://crm.example.com/customers/{customer_id}"
      ticket: "https://tickets.example.com/{ticket}"
"""


def test_configured_tools_are_linked(tmp_path):
    console = Console(tmp_path, CONFIGURATION + LINKS)
    lena = Browser(console.address)
    lena.sign_in(console.new_link())
    assert 'href="https://grafana.example.com/d/entitled"' in lena.get("/status").text
    console.call("CustomerService/AddNote", customerId="a/b", text="see CRM-8812, <b>")
    page = lena.get(f"{HERE}/customers/a%2Fb").text
    assert 'href="https://crm.example.com/customers/a%2Fb"' in page
    ticket = 'href="https://tickets.example.com/CRM-8812" rel="noreferrer">CRM-8812</a>, &lt;b&gt;'
    assert ticket in page
    console.call("EntitlementService/Grant", customerId="a/b", entitlement="pro", accessLevel="ACCESS_LEVEL_FULL",
                 note="see CRM-8812, <b>")
    assert ticket in lena.get(f"{HERE}/segments/built-in/granted").text
    console.service.stop()


@pytest.mark.parametrize("links, problem", [
    ("{grafana: \"javascript:alert(1)\"}", "is not an http or https URL"),
    ("{customer: \"https://crm.example.com/\"}", "does not contain {customer_id}"), ("{ticket: \"ftp://x/{ticket}\"}", "is not an http"),
])  # fmt: skip
def test_a_wrong_link_is_refused_at_the_start(tmp_path, links, problem):
    file = tmp_path / "entitled.yaml"
    file.write_text(CONFIGURATION.split("    webhooks:")[0] + f"listeners: {{console: {{links: {links}}}}}\n", encoding="utf-8")
    done = run("config", "check", file, env=environment())
    assert done.returncode != 0 and problem in done.stderr + done.stdout


def test_the_page_of_a_purchase_has_the_payments_of_its_commitment(tmp_path):
    yearly = "{type: Auto-Renewable Subscription, group: pro, level: 3, entitlements: [pro], period: P1Y, price: 48, "
    configuration = CONFIGURATION.replace(
        "      pro.monthly:", f"      pro.yearly: {yearly}monthly_price: 4, currency: EUR}}\n      pro.monthly:")
    console = Console(tmp_path, configuration)
    console.act("storefront", account="hal", storefront="DEU")
    bought = console.buy("hal", "pro.yearly", billingPlanType="MONTHLY")
    console.call(
        "ReceiptService/SubmitTransaction", customerId="hal", signedTransaction=bought["signedTransactionInfo"],
        signedRenewalInfo=bought["signedRenewalInfo"])
    browser = Browser(console.address)
    browser.sign_in(console.link)
    page = browser.get(f"{HERE}/purchases/{bought['transactionId']}")
    properties = dict(re.findall(r"<dt>([^<]*)</dt>\s*<dd>(.*?)</dd>", page.text, re.S))
    assert (properties["Payment"], properties["Still to pay, forecast"]) == ("1 of 12, 11 left", "44.00 EUR")
    assert "<time" in properties["Committed until"] and properties["Price"] == "4.00 EUR"
    console.act("faults", kind="drop", count=100)  # otherwise Apple's notification stores the renewal info
    console.act("storefront", account="ida", storefront="DEU")
    alone = console.buy("ida", "pro.yearly", billingPlanType="MONTHLY")
    console.submit("ida", alone)
    page = browser.get(f"{HERE}/purchases/{alone['transactionId']}").text
    assert "<dd>1 of 12, 11 left</dd>" in page and "<dt>Renews to</dt>" not in page, "from the transaction alone"
    console.service.stop()
