"""A person who may see one app: no address, form, id or search shows anything of another one."""

import re
import urllib.parse

import pytest

from console_client import CALLERS, ProxiedConsole
from console_story import APP, CONFIGURATION

OTHER = "river"
# In the other app.
CUSTOMER, NOTE, TOKEN = "rita-of-the-river", "wants-her-money-back", "0f7a1c2e-7d3b-4a55-8a10-6b1f4c9d2e33"
PRODUCTS = """  river:
    bundle_id: com.example.river
    apple_id: 2
    environments: [Sandbox, Production]
    products:
      lake.monthly: {type: Auto-Renewable Subscription, group: lake, level: 1, entitlements: [lake], period: P1M, price: 4.99, currency: USD}
"""
LISA = "lisa@example.com"
LIMITED = CALLERS.replace(
    "  admins:", f"  limited: {{roles: [read, submit, operate, audit], apps: [{APP}], subjects: [{LISA}]}}\n  admins:")
BEHIND = "report=revenue&column=gross&by=month&currency=USD&bucket="


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    console = ProxiedConsole(tmp_path_factory.mktemp("apps"), CONFIGURATION + PRODUCTS, callers=LIMITED)
    for app in (APP, OTHER):
        console.act("notification-url", app=app, url=f"http://{console.service.http}/notifications/{app}")
    console.submit("ada", console.buy("ada", "pro.monthly"))
    bought = console.act("purchases", app=OTHER, productId="lake.monthly", account="rita", appAccountToken=TOKEN)
    console.bought = bought
    console.call("ReceiptService/SubmitTransaction", app=OTHER, customerId=CUSTOMER,
                 signedTransaction=bought["signedTransactionInfo"])
    console.note = console.call("CustomerService/AddNote", app=OTHER, customerId=CUSTOMER, text=NOTE)["note"]["noteId"]
    console.grant = console.call("EntitlementService/Grant", app=OTHER, customerId=CUSTOMER, entitlement="lake",
                                 accessLevel="ACCESS_LEVEL_FULL", note=NOTE)["grant"]["grantId"]
    console.act("request-consumption", transactionId=bought["transactionId"])
    console.advance("1h")
    console.act("deliver")
    console.unchanged = state(console)
    yield console
    console.service.stop()


@pytest.fixture(scope="module")
def lisa(console):
    return console.browser(LISA)


def state(console):
    """The purchases, grants and notes of the other app's customer, with the sequence of the last event."""
    found = console.call("EntitlementService/GetCustomer", app=OTHER, customerId=CUSTOMER)
    del found["evaluatedAt"]
    notes = console.call("CustomerService/ListNotes", app=OTHER, customerId=CUSTOMER)["notes"]
    return found, notes


def last_evidence(console):
    status, answer = console.service.json("entitled.v1.StatusService/GetStatus", {}, **console.headers)
    assert status == 200, answer
    return int(answer["store"]["lastEvidenceId"])


def leaks(console, response, asked):
    """The parts of a response about the customer of the other app that were not in the request."""
    asked = urllib.parse.unquote(asked)
    said = response.text + urllib.parse.unquote(response.getheader("location") or "")
    secrets = (CUSTOMER, NOTE, TOKEN, console.bought["transactionId"], "lake.monthly")
    return [secret for secret in secrets if secret in said and secret not in asked]


def test_the_other_app_has_what_is_looked_for(console):
    admin = console.browser("alma@example.com")
    page = admin.get(f"/a/{OTHER}/sandbox/customers/{CUSTOMER}").text
    assert all(secret in page for secret in (CUSTOMER, NOTE, TOKEN, console.bought["transactionId"], "lake.monthly"))
    assert OTHER in admin.get("/apps").text and OTHER in admin.get("/status").text


def test_no_page_of_the_other_app_opens(console, lisa):
    transaction = console.bought["transactionId"]
    refused = [
        f"customers/{CUSTOMER}", f"customers/{CUSTOMER}?at=1&known=then", f"customers/{CUSTOMER}/changes?after=0",
        f"customers/{CUSTOMER}/live?after=0", f"purchases/{transaction}", "segments", "segments/built-in/granted",
        "segments/built-in/renewal-off", "catalog", "reports/revenue", "reports/revenue.csv",
        f"reports/revenue/customers?{BEHIND}2027-01-01", f"do/grant?customer={CUSTOMER}",
        *(f"{kind}/{number}" for kind in ("evidence", "events") for number in range(1, 12)),
        *(f"work/{queue}" for queue in (
            "refunds", "unclaimed", "dead-letters", "withdrawn-consents", "rejected", "drift", "contradictions", "disagreements",
            "migrations", "migrations/migration-1", "dead-letters/billing/1/1")),
    ]  # fmt: skip
    wrong = []
    for path in refused:
        page = lisa.get(f"/a/{OTHER}/sandbox/{path}")
        if page.status not in (403, 404) or (found := leaks(console, page, path)):
            wrong.append((path, page.status, found if page.status in (403, 404) else page.text[-600:]))
    # These have parts, each of which is refused.
    for path in ("work", "reports", f"do/transfer?purchase={transaction}&customer={CUSTOMER}"):
        if found := leaks(console, lisa.get(f"/a/{OTHER}/sandbox/{path}"), path):
            wrong.append((path, found))
    assert not wrong, wrong


def test_pages_of_all_apps_leave_the_other_one_out(console, lisa):
    for path in ("/", "/apps", "/status", "/reports", "/audit", f"/audit?app={OTHER}", f"/audit?customer={CUSTOMER}"):
        page = lisa.get(path)
        rows = page.text.partition("<main")[2]
        if path.startswith("/audit"):
            # The form has what was typed.
            rows = page.text.partition("<tbody")[2]
        assert OTHER not in rows.replace(CUSTOMER, "") and not leaks(console, page, path), path
    assert leaks(console, lisa.csv("/audit.csv"), "") == []


def test_ids_of_the_other_app_mean_nothing_in_the_own_one(console, lisa):
    transaction = console.bought["transactionId"]
    paths = [f"evidence/{number}" for number in range(1, last_evidence(console) + 1)]
    paths += [f"events/{number}" for number in range(1, 20)]
    paths += [f"customers/{CUSTOMER}", f"purchases/{transaction}", "work/refunds", "work/unclaimed", "segments/built-in/granted"]
    wrong = [
        (path, found) for path in paths if (found := leaks(console, lisa.get(f"/a/{APP}/sandbox/{path}"), path))
    ]
    assert not wrong, wrong


def test_a_search_offers_a_new_customer_only_in_an_own_app(lisa):
    own = lisa.get(f"/find?q=brand-new&app={APP}&environment=sandbox")
    assert own.status == 200 and f"/a/{APP}/sandbox/customers/brand-new" in own.text
    for app in (OTHER, "lagoon"):
        page = lisa.get(f"/find?q=brand-new&app={app}&environment=sandbox")
        assert page.status == 200 and "as a new customer" not in page.text and f"/a/{app}/" not in page.text, app


def test_no_search_finds_a_customer_of_the_other_app(console, lisa):
    signed = console.bought["signedTransactionInfo"]
    searches = [CUSTOMER, CUSTOMER[:6], TOKEN, console.bought["transactionId"], console.grant, "lake.monthly", NOTE]
    searches += [f"evidence {number}" for number in range(1, last_evidence(console) + 1)] + [f"#{number}" for number in range(1, 20)]
    for text in searches:
        page = lisa.get(f"/find?q={urllib.parse.quote(text)}")
        assert page.status in (200, 303), (text, page.status)
        assert not leaks(console, page, text), text
        assert f"/a/{OTHER}/" not in page.text + (page.getheader("location") or ""), text
    page = lisa.post("/find", {"q": signed})
    # The document itself has the transaction, the product and the token.
    assert page.status == 200 and CUSTOMER not in page.text and f"/a/{OTHER}/" not in page.text


def test_no_form_changes_or_shows_the_other_app(console, lisa):
    transaction = console.bought["transactionId"]
    forms = {
        "grant": {"customer": CUSTOMER, "entitlement": "lake", "level": "full", "preset": "7"},
        "revoke": {"grant": console.grant, "customer": CUSTOMER},
        "link": {"purchase": transaction, "customer": "ada", "policy": "transfer"},
        "transfer": {"purchase": transaction, "customer": CUSTOMER, "to": "ada"},
        "merge": {"customer": CUSTOMER, "into": "ada"},
        "answer-refund": {"transaction": transaction, "customer": CUSTOMER, "consent": "1", "delivery": "0"},
        "delete-note": {"customer": CUSTOMER, "id": console.note},
        "set-attribute": {"customer": CUSTOMER, "name": "crm", "value": "x"},
        "set-token": {"purchase": transaction, "token": TOKEN},
        "make-good": {"customers": CUSTOMER, "entitlement": "lake", "days": "3"},
        "undo-batch": {"batch": "x"},
    }
    for app in (OTHER, APP):
        for action, form in forms.items():
            form = form | {"note": "ticket 1"}
            preview = lisa.post(f"/a/{app}/sandbox/do/{action}", form)
            assert not leaks(console, preview, urllib.parse.urlencode(form)), (app, action)
            token = re.search(r'name="token" value="([^"]+)"', preview.text)
            if token and app == OTHER:
                done = lisa.post(f"/a/{app}/sandbox/do/{action}", form | {"token": token[1], "state": CUSTOMER})
                assert done.status in (400, 403, 404), (action, done.status)
    lists = ["work/unclaimed.csv", "work/refunds.csv", "segments/built-in/granted.csv", f"customers/{CUSTOMER}/history.csv",
             f"reports/revenue/customers.csv?{BEHIND}2027-01-01"]  # fmt: skip
    for path in lists:
        page = lisa.csv(f"/a/{OTHER}/sandbox/{path}")
        assert page.status in (403, 404) and not leaks(console, page, path), (path, page.status)
    refunds = lisa.post(f"/a/{OTHER}/sandbox/customers/{CUSTOMER}/refunds", {})
    assert refunds.status in (403, 404)
    assert state(console) == console.unchanged
