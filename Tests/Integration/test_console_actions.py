"""Each action of the console: form, reason, preview, confirmation, undo, roles and audit."""

import html
import re
import time
import urllib.parse

import pytest

from console_client import ADMIN, OPERATOR, READER, ProxiedConsole, hidden
from console_story import APP, CONFIGURATION
from harness import IS_LONG, post, wait_for
from receiver import Receiver

HERE = f"/a/{APP}/sandbox"
HOOKS = """      broken: {url: "BROKEN", secret: {file: billing.whsec}, retry_seconds: [1]}
      gone: {url: "GONE", secret: {file: billing.whsec}, retry_seconds: [1]}
"""
SEASON = "      season: {type: Non-Renewing Subscription, duration: P90D, entitlements: [pro], price: 12.99, currency: USD}\n"


@pytest.fixture(scope="module")
def gone():
    receiver = Receiver(lambda request: 410)
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def broken():
    receiver = Receiver(lambda request: 400)
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def console(tmp_path_factory, gone, broken):
    configuration = CONFIGURATION.replace("      shells.100:", SEASON + "      shells.100:")
    configuration = configuration.split("      billing:")[0] + HOOKS.replace("GONE", gone.url).replace("BROKEN", broken.url)
    console = ProxiedConsole(tmp_path_factory.mktemp("actions"), configuration)
    console.act("notification-url", app=APP, url=f"http://{console.service.http}/notifications/{APP}")
    yield console
    console.service.stop()


@pytest.fixture(scope="module")
def operator(console):
    return console.browser(OPERATOR)


@pytest.fixture(scope="module")
def admin(console):
    return console.browser(ADMIN)


def has(console, customer, entitlement="pro"):
    answer = console.call("EntitlementService/GetCustomer", customerId=customer)
    return next(e for e in answer["entitlements"] if e["name"] == entitlement).get("entitled", False)


def customer_page(browser, customer):
    return browser.get(f"{HERE}/customers/{urllib.parse.quote(customer, safe='')}").text


def bought(console, customer, product="pro.monthly"):
    purchase = console.buy(f"account-of-{customer}", product)
    console.submit(customer, purchase)
    return purchase["transactionId"]


def undo_link(page):
    found = re.search(r'href="([^"]*)">Undo…', page)
    return html.unescape(found[1]) if found else None


def audited(console, name, note):
    """The entries of a method with this note; they are written before they are read."""
    status, answer = console.service.json(
        "entitled.v1.AuditService/ListAuditEntries", {"method": name.split("/")[1]}, **console.headers)
    assert status == 200, answer
    return [entry for entry in answer.get("entries", []) if note in entry.get("note", "")]


def act(console, browser, action, values, expected, method, person=OPERATOR, changes=lambda: None, keeps_note=True):
    """Does an action with its three steps, and returns the page that follows. `changes()` is what it changes: neither the
    form nor the preview may."""
    query = urllib.parse.urlencode(values)
    form = browser.get(f"{HERE}/do/{action}?{query}")
    assert form.status == 200, form.text
    note = f"ticket {action} {time.monotonic_ns()}"
    values = hidden(form.text) | values
    before = changes()
    missing = browser.post(f"{HERE}/do/{action}", values | {"note": " "})
    assert missing.status == 400 and "&#39;Reason&#39; is missing" in missing.text
    preview = browser.post(f"{HERE}/do/{action}", values | {"note": note})
    assert preview.status == 200, preview.text
    for text in expected:
        assert text in html.unescape(preview.text), (text, preview.text)
    assert changes() == before, "a preview changes nothing"
    assert "Nothing has happened yet." in preview.text and f"Reason: <bdi>{note}</bdi>" in preview.text
    assert all(">Cancel</a>" in page.text for page in (form, preview))
    done = browser.post(f"{HERE}/do/{action}", hidden(preview.text))
    assert done.status == 303, done.text
    location = done.getheader("location")
    again = browser.post(f"{HERE}/do/{action}", hidden(preview.text))
    assert again.status == 303 and again.getheader("location") == location, "a second click acts once"
    page = browser.get(location)
    assert page.status == 200 and "Done: " in page.text, page.text
    entries = audited(console, method, note if keeps_note else "")
    assert entries and {entry["actor"] for entry in entries} == {person}, (method, note, entries)
    return page.text


def act_again(console, browser, link, expected, method, changes=lambda: None, person=OPERATOR):
    """Follows the link of an undo."""
    parts = urllib.parse.urlsplit(link)
    values = dict(urllib.parse.parse_qsl(parts.query))
    return act(console, browser, parts.path.rsplit("/", 1)[1], values, expected, method, person, changes)


def test_a_link_is_done_and_undone(console, operator):
    purchase = console.buy("linker", "pro.monthly")
    console.submit("", purchase)
    values = {"purchase": purchase["transactionId"], "customer": "linked@1"}
    owns = lambda: has(console, "linked@1")  # noqa: E731
    page = act(console, operator, "link", values, ["belongs to linked@1", "subscription active"], "EntitlementService/LinkPurchase", changes=owns)
    assert owns() and "✓ yes" in page
    act_again(console, operator, undo_link(page), ["is reverted"], "EntitlementService/UndoTransfer", owns)
    assert not owns()


def test_a_transfer_is_done_and_undone(console, operator):
    purchase = bought(console, "carl")
    owners = lambda: (has(console, "carl"), has(console, "dora"))  # noqa: E731
    page = act(console, operator, "transfer", {"purchase": purchase, "customer": "carl", "to": "dora"},
               ["moves from carl to dora", "carl", "dora"], "EntitlementService/TransferPurchase", changes=owners)
    assert owners() == (False, True)
    act_again(console, operator, undo_link(page), ["is reverted"], "EntitlementService/UndoTransfer", owners)
    assert owners() == (True, False)


def test_a_merge_is_done_and_undone(console, operator):
    bought(console, "anon-1")
    target = lambda: has(console, "erin")  # noqa: E731
    page = act(console, operator, "merge", {"customer": "anon-1", "to": "erin"}, ["anon-1 is merged into erin, with 1 purchase"],
               "EntitlementService/MergeCustomers", changes=target)
    assert target()
    act_again(console, operator, undo_link(page), ["is reverted"], "EntitlementService/UndoTransfer", target)
    assert not target() and has(console, "anon-1")


def test_an_undo_is_refused_after_something_moved(console, operator):
    purchase = bought(console, "moved-1")
    page = act(console, operator, "transfer", {"purchase": purchase, "customer": "moved-1", "to": "moved-2"}, [],
               "EntitlementService/TransferPurchase")
    console.call("EntitlementService/TransferPurchase", originalTransactionId=purchase, fromCustomerId="moved-2",
                 toCustomerId="moved-3", policy="OWNERSHIP_POLICY_TRANSFER")
    link = urllib.parse.urlsplit(undo_link(page))
    preview = operator.post(link.path, dict(urllib.parse.parse_qsl(link.query)) | {"note": "x"})
    assert preview.status >= 400 and 'role="alert"' in preview.text
    assert has(console, "moved-3")


def test_a_grant_is_revoked_and_granted_again(console, operator):
    owns = lambda: has(console, "gil", "maps")  # noqa: E731
    values = {"customer": "gil", "entitlement": "maps", "level": "full", "preset": "30", "until": ""}
    page = act(console, operator, "grant", values, ["gil gets maps"], "EntitlementService/Grant", changes=owns)
    assert owns()
    page = act_again(console, operator, undo_link(page), ["ends now"], "EntitlementService/RevokeGrant", owns)
    assert not owns()
    act_again(console, operator, undo_link(page), ["gil gets maps"], "EntitlementService/Grant", owns)
    assert owns()
    first, second = console.call("EntitlementService/GetCustomer", customerId="gil")["grants"]
    assert first["until"] == second["until"], "the end is the same"


def test_a_grant_is_revoked_from_the_page_of_its_command(console, operator):
    grant = console.call("EntitlementService/Grant", customerId="evi", entitlement="maps", accessLevel="ACCESS_LEVEL_FULL")["grant"]
    path = f"{HERE}/evidence/{grant['grantId'].removeprefix('grant-')}"
    link = lambda browser: re.search(r'href="([^"]*/do/revoke[^"]*)"', browser.get(path).text)  # noqa: E731
    assert "Command" in console.browser(READER).get(path).text and link(console.browser(READER)) is None
    owns = lambda: has(console, "evi", "maps")  # noqa: E731
    act_again(console, operator, html.unescape(link(operator)[1]), ["evi ends now"], "EntitlementService/RevokeGrant", owns)
    assert not owns() and link(operator) is None, "it has ended"


FIRST_TOKEN, SECOND_TOKEN = "0f0e0d0c-0b0a-4908-8706-050403020100", "10f0e0d0-c0b0-4a09-8807-605040302010"


def test_the_token_of_a_purchase_is_set_and_set_back(console, operator):
    purchase = console.buy("tokens", "pro.monthly", appAccountToken=FIRST_TOKEN)
    console.submit("tokens", purchase)
    path = f"{HERE}/purchases/{purchase['transactionId']}"
    token = lambda: console.call("CustomerService/GetPurchase", originalTransactionId=purchase["transactionId"])[  # noqa: E731
        "transactions"][-1]["transaction"]["appAccountToken"]
    page = operator.get(path).text
    assert FIRST_TOKEN in page and "/do/set-token?purchase=" in page
    values = {"purchase": purchase["transactionId"], "customer": "tokens"}
    wrong = operator.post(f"{HERE}/do/set-token", values | {"account_token": "tokens", "note": "x"})
    assert wrong.status == 400 and "the token is not a UUID" in wrong.text
    page = act(console, operator, "set-token", values | {"account_token": SECOND_TOKEN},
               [f"Apple stores the token {SECOND_TOKEN}", f"Its token until now is {FIRST_TOKEN}."],
               "AppStoreService/SetAppAccountToken", changes=token)
    assert token() == SECOND_TOKEN and SECOND_TOKEN in operator.get(path).text
    act_again(console, operator, undo_link(page), [f"Its token until now is {SECOND_TOKEN}."],
              "AppStoreService/SetAppAccountToken", token)
    assert token() == FIRST_TOKEN


@pytest.mark.parametrize("preset, days", [("3", 3), ("7", 7), ("30", 30), ("none", None)])
def test_a_grant_has_presets(console, operator, preset, days):
    customer = f"preset-{preset}"
    form = operator.get(f"{HERE}/do/grant?customer={customer}").text
    assert f'value="{preset}"' in form
    values = {"customer": customer, "entitlement": "maps", "level": "full", "preset": preset, "until": ""}
    act(console, operator, "grant", values, ["gets maps"], "EntitlementService/Grant")
    grant = console.call("EntitlementService/GetCustomer", customerId=customer)["grants"][0]
    assert ("until" in grant) == (days is not None)


def test_a_renewal_date_is_extended(console, operator):
    purchase = bought(console, "ext")
    page = act(console, operator, "extend", {"purchase": purchase, "customer": "ext", "days": "7", "reason": "4"},
               ["by 7 days", "cannot be undone", "two extensions a year"], "AppStoreService/ExtendRenewalDate")
    assert "It renews at" in page and undo_link(page) is None


def test_apple_is_asked_again_about_a_purchase(console, operator):
    purchase = bought(console, "ref")
    page = act(console, operator, "refresh", {"transaction": purchase, "customer": "ref"}, ["Apple is asked"],
               "AppStoreService/RefreshPurchase")
    assert "Apple returned " in page and "; new or newer: " in page and undo_link(page) is None


def test_a_refund_question_is_answered(console, operator):
    purchase = bought(console, "refunder", "maps.pack")
    console.act("request-consumption", transactionId=purchase)
    state = lambda: [r["state"] for r in console.call(  # noqa: E731
        "AppStoreService/ListConsumptionRequests", customerId="refunder").get("requests", [])]
    wait_for(state)
    values = {"transaction": purchase, "customer": "refunder", "consent": "1", "preference": "1", "delivery": "1", "consumed": "40"}
    page = act(console, operator, "answer-refund", values, ["DECLINE", "40000", "cannot be undone"],
               "AppStoreService/SendConsumptionInformation", changes=state)
    assert undo_link(page) is None and state() != ["CONSUMPTION_REQUEST_STATE_OPEN"]


def test_a_missing_consent_is_said_at_its_field(console, operator):
    purchase = bought(console, "unasked", "maps.pack")
    console.act("request-consumption", transactionId=purchase)
    wait_for(lambda: console.call("AppStoreService/ListConsumptionRequests", customerId="unasked").get("requests"))
    values = {"transaction": purchase, "customer": "unasked", "preference": "1", "delivery": "1", "consumed": "", "note": "x"}
    page = operator.post(f"{HERE}/do/answer-refund", values)
    assert page.status >= 400 and 'id="consent-error"' in page.text


def test_make_good_offers_the_entitlements_of_the_app(operator):
    page = operator.get(f"{HERE}/do/make-good").text
    assert '<select id="entitlement"' in page and '<option value="maps"' in page


def test_the_form_of_an_answer_has_the_computed_share(console, operator):
    for customer, product in (("halfway", "season"), ("owner", "maps.pack")):
        console.act("request-consumption", transactionId=bought(console, customer, product))
    found = wait_for(lambda: len(found := [
        request for request in console.call("AppStoreService/ListConsumptionRequests").get("requests", [])
        if request["customerId"] in ("halfway", "owner")]) == 2 and found)  # fmt: skip
    share = next(each.get("consumptionPercentage", 0) for each in found if each["customerId"] == "halfway") // 1_000
    forms = {}
    for request in found:
        link = re.search(r'href="([^"]*answer-refund[^"]*)"', customer_page(operator, request["customerId"]))
        forms[request["customerId"]] = operator.get(html.unescape(link[1])).text
    assert f'name="consumed" value="{share}"' in forms["halfway"], "the share of the paid time"
    assert 'name="consumed" value=""' in forms["owner"], "nothing is known of the use"


def test_the_form_of_an_answer_shows_the_question(console, operator):
    """Also without the customer in the address, and in the preview."""
    purchase = bought(console, "shown", "maps.pack")
    console.act("request-consumption", transactionId=purchase, reason="UNINTENDED_PURCHASE")
    wait_for(lambda: console.call("AppStoreService/ListConsumptionRequests", customerId="shown").get("requests"))
    values = {"transaction": purchase, "customer": "shown", "consent": "1", "preference": "1", "delivery": "1", "note": "x"}
    pages = [operator.get(f"{HERE}/do/answer-refund?transaction={purchase}{more}") for more in ("", "&customer=shown")]
    for page in [*pages, operator.post(f"{HERE}/do/answer-refund", values)]:
        assert page.status == 200, page.text
        about = page.text.split("<h1>")[1].split("<form")[0]
        assert "maps.pack" in about and "9.99 USD" in about and "did not mean to buy it" in about
        assert f'href="{HERE}/purchases/{purchase}"' in about and f'href="{HERE}/customers/shown"' in about
        assert re.search(r"<dt>Time left</dt><dd>\d+ hours<", about) and "UNINTENDED_PURCHASE" not in about
    unknown = operator.get(f"{HERE}/do/answer-refund?transaction=1").text
    assert "No refund request about the transaction 1 waits for an answer." in unknown


@pytest.mark.parametrize("action", ["erase", "add-note", "set-attribute", "consent"])
def test_a_form_whose_customer_is_no_field_names_the_customer(admin, action):
    page = admin.get(f"{HERE}/do/{action}?customer=named").text
    assert f'<dt>Customer</dt><dd><a href="{HERE}/customers/named"><bdi>named</bdi></a></dd>' in page.split("<form")[-2]
    assert "<dt>Customer</dt>" not in admin.get(f"{HERE}/do/grant?customer=named").text, "the form shows it"


def test_notes_and_attributes_have_an_undo(console, operator):
    notes = lambda: [n["text"] for n in console.call("CustomerService/ListNotes", customerId="noted").get("notes", [])]  # noqa: E731
    preview = operator.post(f"{HERE}/do/add-note", {"customer": "noted", "text": "called on Monday"})
    assert "called on Monday" in preview.text and not notes()
    page = operator.get(operator.post(f"{HERE}/do/add-note", hidden(preview.text)).getheader("location")).text
    assert notes() == ["called on Monday"]
    act_again(console, operator, undo_link(page), ["is deleted"], "CustomerService/DeleteNote", notes)
    assert not notes()
    plan = lambda: [a["value"] for a in console.call(  # noqa: E731
        "CustomerService/GetCustomerAttributes", customerId="noted").get("attributes", [])]
    act(console, operator, "set-attribute", {"customer": "noted", "name": "plan", "value": "gold"}, ["set to gold"],
        "CustomerService/SetCustomerAttributes", changes=plan)
    page = act(console, operator, "set-attribute", {"customer": "noted", "name": "plan", "value": "silver"},
               ["set to silver"], "CustomerService/SetCustomerAttributes", changes=plan)
    act_again(console, operator, undo_link(page), ["set to gold"], "CustomerService/SetCustomerAttributes", plan)
    assert plan() == ["gold"]


def webhook(console, name):
    return next(w for w in console.call("WebhookService/ListWebhooks")["webhooks"] if w["name"] == name)


def dead_letters(console):
    return int(webhook(console, "broken").get("deadLetters", 0))


@pytest.mark.skipif(not IS_LONG, reason="part of `make test-long`: retries take a minute")
def test_dead_letters_are_resent_and_discarded(console, operator):
    bought(console, "hooked")
    wait_for(lambda: dead_letters(console))
    page = operator.get(f"{HERE}/work/dead-letters").text
    kind = re.search(r"/do/resend\?webhook=broken&amp;kind=(\d+)", page)[1]
    page = act(console, operator, "resend", {"webhook": "broken", "kind": kind}, ["The webhook broken gets "],
               "WebhookService/ResendDeliveries")
    assert "Sent again: " in page
    count = wait_for(lambda: dead_letters(console))
    page = act(console, operator, "discard", {"webhook": "broken", "kind": kind}, ["This discards ", "cannot be undone"],
               "WebhookService/DiscardDeliveries", changes=lambda: dead_letters(console) >= count)
    assert "Discarded: " in page and undo_link(page) is None


def test_a_webhook_that_is_gone_is_resumed(console, operator, gone):
    bought(console, "gone")
    sequence = console.call("EntitlementService/GetCustomer", customerId="gone")["sequence"]
    message = operator.get(f"{HERE}/work/dead-letters/gone/1/{sequence}")
    assert message.status == 200 and f'href="{HERE}/customers/gone"' in message.text and "entitlement." in message.text
    assert "What the webhook receives" in message.text and "customer" in message.text.split("What the webhook receives")[1]
    assert operator.get(f"{HERE}/work/dead-letters/gone/1/999999").status == 404
    page = operator.get(f"{HERE}/customers/gone?webhooks=1").text
    assert f'href="{HERE}/work/dead-letters/gone/1/{sequence}"' in page.split('id="timeline"')[1], "each message is in the timeline"
    lane = re.compile(r"\d+ webhook mess")  # the end may have no room
    assert lane.search(page.split("<svg")[1].split("</svg>")[0]), "and in the lanes"
    for other in (operator.get(f"{HERE}/customers/gone"), console.browser(READER).get(f"{HERE}/customers/gone?webhooks=1")):
        assert "work/dead-letters/" not in other.text and not lane.search(other.text)
    wait_for(lambda: webhook(console, "gone")["state"] == "WEBHOOK_STATE_GONE")
    page = operator.get(f"{HERE}/work/dead-letters").text
    assert "responded with 410 Gone" in page and "/do/resume-webhook?webhook=gone" in page
    gone.answer = lambda request: 200
    act(console, operator, "resume-webhook", {"webhook": "gone", "kind": "1"}, ["are sent to gone again"],
        "WebhookService/ResumeWebhook", changes=lambda: webhook(console, "gone")["state"])
    gone.wait(lambda receiver: receiver.accepted)
    wait_for(lambda: f"gone: delivered, #{sequence}" in operator.get(f"{HERE}/customers/gone?webhooks=1").text)


def test_a_csv_is_made_good_and_undone_as_one(console, operator):
    customers = [f"harmed-{number}" for number in range(30)] + ["comma, inc", 'say "hi"']
    quoted = ['"' + c.replace('"', '""') + '"' for c in customers]
    file = "customer_id,why\r\n" + "\r\n".join(f"{c},outage" for c in quoted) + "\r\n" + quoted[0] + ",twice\r\n"
    owners = lambda: [has(console, c, "maps") for c in customers]  # noqa: E731
    console.call("EntitlementService/Grant", customerId="harmed-0", entitlement="maps", accessLevel="ACCESS_LEVEL_FULL")
    before = owners()
    page = act(console, operator, "make-good", {"customers": file, "entitlement": "maps", "days": "3"},
               ["32 customers get maps", "changes for 31 of them"], "EntitlementService/Grant", changes=owners)
    assert all(owners())
    page = act_again(console, operator, undo_link(page), ["32 grants of 32 customers end now"],
                     "EntitlementService/RevokeGrant", owners)
    assert owners() == before, "what they had before stays"


def test_too_many_customers_are_refused_and_the_list_is_kept(operator):
    values = {"customers": "\n".join(f"c{n}" for n in range(10_001)), "entitlement": "maps", "days": "3", "note": "x"}
    page = operator.post(f"{HERE}/do/make-good", values)
    assert page.status == 400 and "between 1 and 10000 customers" in page.text and "c10000" in page.text


def test_an_erasure_is_for_admins_with_the_typed_id(console, operator, admin):
    bought(console, "leaver")
    assert operator.get(f"{HERE}/do/erase?customer=leaver").status == 403
    wrong = admin.post(f"{HERE}/do/erase", {"customer": "leaver", "confirm": "leave", "note": "x"})
    assert wrong.status == 400 and "is not that of the customer" in wrong.text
    page = act(console, admin, "erase", {"customer": "leaver", "confirm": "leaver"}, ["are erased", "cannot be undone"],
               "EntitlementService/EraseCustomer", ADMIN, lambda: has(console, "leaver"), keeps_note=False)
    assert undo_link(page) is None and not has(console, "leaver")


def test_a_customers_consent_is_recorded_and_withdrawn(console, operator):
    bought(console, "asked", "maps.pack")
    consent = lambda: console.call("EntitlementService/GetCustomer", customerId="asked").get("consumptionConsent", {}).get("consented", False)  # noqa: E731
    page = act(console, operator, "consent", {"customer": "asked", "consent": "1"}, ["asked consents"],
               "AppStoreService/SetConsumptionConsent", changes=consent)
    assert consent() and "Consents that Apple gets" in customer_page(operator, "asked")
    act_again(console, operator, undo_link(page), ["asked does not consent"], "AppStoreService/SetConsumptionConsent", consent)
    assert not consent()


def test_a_withdrawn_consent_is_settled_from_its_work_list(console, operator):
    bought(console, "kid", "maps.pack")
    console.act("rescind-consent", app=APP, account="account-of-kid")
    queue = f"{HERE}/work/withdrawn-consents"
    link = wait_for(lambda: re.search(r'href="([^"]*/do/settle-consent[^"]*customer=kid)"', operator.get(queue).text))
    assert "/do/" not in console.browser(READER).get(queue).text
    waits = lambda: "customers/kid" in operator.get(queue).text  # noqa: E731
    page = act_again(console, operator, html.unescape(link[1]), ["counts as settled", "cannot be undone"],
                     "AppStoreService/SettleConsentWithdrawal", waits)
    assert not waits() and "it was settled on" in page and undo_link(page) is None


def test_all_renewal_dates_of_a_product_are_extended_by_admins_who_type_its_id(console, operator, admin):
    purchase = bought(console, "patient")
    assert operator.get(f"{HERE}/do/extend-all").status == 403
    assert "/do/extend-all" in admin.get(f"{HERE}/work").text and "/do/extend-all" not in operator.get(f"{HERE}/work").text
    values = {"product": "pro.monthly", "confirm": "pro", "days": "7", "reason": "4", "note": "x"}
    wrong = admin.post(f"{HERE}/do/extend-all", values)
    assert wrong.status == 400 and "the two ids differ" in wrong.text
    end = lambda: next(each["transaction"]["expiresDate"] for each in console.call(  # noqa: E731
        "CustomerService/GetPurchase", originalTransactionId=purchase)["transactions"])
    page = act(console, admin, "extend-all", values | {"confirm": "pro.monthly"}, ["pro.monthly by 7 days", "cannot be undone"],
               "AppStoreService/MassExtendRenewalDate", ADMIN, end)
    assert undo_link(page) is None and "Apple&#39;s request is" in page


def test_rejected_notifications_are_decoded_again(console, operator):
    status, _ = post(f"http://{console.service.http}/notifications/{APP}", {"signedPayload": "not a document"})
    assert status == 202
    page = operator.get(f"{HERE}/work/rejected").text
    assert "/do/reprocess" in page
    page = act(console, operator, "reprocess", {}, ["again changes 0."],
               "NotificationService/ReprocessNotifications")
    assert "Done: Decode the notifications again." in page


def test_the_start_and_the_status_page_show_the_last_rejected_notification(console, operator):
    status, _ = post(f"http://{console.service.http}/notifications/{APP}", {"signedPayload": "another text"})
    assert status == 202
    for path in ("/apps", "/status"):
        page = operator.get(path).text
        # It names no environment, so it is in those of all; none was accepted in production.
        for environment, tone in (("sandbox", r"[a-z ]+"), ("production", "chip none")):
            link = f'<a href="/a/{APP}/{environment}/work/rejected">Rejected: <time [^>]+>[^<]+</time></a>'
            assert re.search(rf'{link} <span class="{tone}">not a signed document</span>', page), (path, environment, page)


def test_missed_notifications_are_fetched_from_apple(console, operator):
    purchase = bought(console, "missed", "maps.pack")
    # The notification of the purchase must not be the one that is dropped.
    console.act("deliver")
    console.act("faults", kind="drop", count=1)
    console.act("refund", transactionId=purchase)
    console.advance("1m")
    assert has(console, "missed", "maps"), "the notification is lost"
    page = act(console, operator, "backfill", {"days": "1"}, ["Apple is asked for all notifications since"],
               "NotificationService/BackfillNotifications", changes=lambda: has(console, "missed", "maps"))
    assert "that had not arrived. The state of " in page
    wait_for(lambda: not has(console, "missed", "maps"))


def test_a_migration_that_does_not_exist_cannot_be_cancelled(console, operator):
    preview = operator.post(f"{HERE}/do/cancel-migration", {"migration": "migration-1", "note": "CRM-1 was wrong"})
    assert preview.status == 200 and "What it has migrated stays." in preview.text
    refused = operator.post(f"{HERE}/do/cancel-migration", hidden(preview.text))
    assert refused.status == 404 and "UNKNOWN_MIGRATION" in refused.text
    entry = audited(console, "ReceiptService/CancelMigration", "CRM-1 was wrong")[0]
    assert (entry["actor"], entry["outcome"]) == (OPERATOR, "NOT_FOUND")


def refunds(browser, customer):
    """The address of a button on the customer's page."""
    action = f"{HERE}/customers/{customer}/refunds"
    assert f'action="{action}"' in customer_page(browser, customer)
    return browser.post(action, {})


def test_refunds_that_no_notification_reported_are_fetched_from_apple(console, operator):
    purchase = bought(console, "repaid", "maps.pack")
    assert "Apple reports no refund" in refunds(operator, "repaid").text
    console.act("deliver")
    console.act("faults", kind="drop", count=1)
    console.act("refund", transactionId=purchase)
    console.advance("1m")
    assert has(console, "repaid", "maps"), "the notification is lost"
    page = refunds(operator, "repaid")
    assert page.status == 200 and purchase in page.text and "9.99 USD" in page.text
    assert not has(console, "repaid", "maps"), "what Apple returned counts"
    again = operator.get(f"{HERE}/customers/repaid/refunds")
    assert again.status == 303 and again.getheader("location") == f"{HERE}/customers/repaid", "an address calls no one"


def test_refunds_at_apple_need_a_purchase_the_role_and_an_origin(console, operator):
    action = f"{HERE}/customers/never-seen/refunds"
    assert "/refunds" not in customer_page(operator, "never-seen")
    page = operator.post(action, {})
    assert page.status == 400 and "no purchase to ask Apple about" in page.text
    bought(console, "looked-at", "maps.pack")
    reader = console.browser(READER)
    assert "/refunds" not in customer_page(reader, "looked-at")
    assert reader.post(f"{HERE}/customers/looked-at/refunds", {}).status == 403
    assert operator.post(f"{HERE}/customers/looked-at/refunds", {}, Origin="http://evil.example").status == 403


def test_refunds_at_apple_without_a_key_say_what_is_missing(tmp_path):
    keyless = CONFIGURATION.replace("    apple_id: 1\n", "    apple_id: 1\n    app_store_servers: {Sandbox: http://127.0.0.1:9}\n")
    console = ProxiedConsole(tmp_path, keyless)
    try:
        bought(console, "keyless", "maps.pack")
        page = refunds(console.browser(OPERATOR), "keyless")
        assert page.status == 400 and "NO_IN_APP_PURCHASE_KEY" in page.text
        assert f"configure it for {APP} (in_app_purchase_key)" in page.text
    finally:
        console.service.stop()


def test_the_audit_page_shows_the_reason_of_each_action(console, operator, admin):
    act(console, operator, "backfill", {"days": "1"}, ["Apple is asked"], "NotificationService/BackfillNotifications")
    noted = audited(console, "NotificationService/BackfillNotifications", "ticket backfill")[0]["note"]
    assert noted in html.unescape(admin.get("/audit?method=BackfillNotifications").text)
    assert noted in admin.csv("/audit.csv?method=BackfillNotifications").text


ACTIONS = [
    "grant", "revoke", "link", "transfer", "merge", "undo", "refresh", "extend", "erase", "answer-refund", "add-note",
    "delete-note", "set-attribute", "look-up-order", "resend", "discard", "resume-webhook", "make-good", "undo-batch",
    "extend-all", "consent", "reprocess", "backfill", "cancel-migration", "set-token", "settle-consent",
]  # fmt: skip


@pytest.mark.parametrize("action", ACTIONS)
def test_the_role_read_may_do_nothing(console, action):
    reader = console.browser(READER)
    assert reader.get(f"{HERE}/do/{action}?customer=ada").status == 403
    page = reader.post(f"{HERE}/do/{action}", {"customer": "ada", "note": "x", "token": "1.x"})
    assert page.status == 403 and "ROLE_MISSING" in page.text


def test_the_role_read_sees_no_buttons(console):
    purchase = bought(console, "looked-at", "maps.pack")
    console.act("request-consumption", transactionId=purchase)
    console.call("EntitlementService/Grant", customerId="looked-at", entitlement="pro", accessLevel="ACCESS_LEVEL_FULL")
    console.call("CustomerService/AddNote", customerId="looked-at", text="x")
    console.submit("", console.buy("no-one", "pro.monthly"))
    reader = console.browser(READER)
    paths = ["customers/looked-at", f"purchases/{purchase}", "evidence/1", "events/1", "work", "work/refunds", "work/unclaimed",
             "work/rejected", "work/drift", "work/contradictions", "work/migrations"]  # fmt: skip
    for path in [f"{HERE}/{path}" for path in paths] + ["/apps", "/status", "/find?q=looked"]:
        page = reader.get(path)
        assert page.status in (200, 303) and "/do/" not in page.text, path
    for path in (f"{HERE}/work/dead-letters", f"{HERE}/work/dead-letters/gone/1/1", "/audit"):
        assert reader.get(path).status in (403, 404), path
    for path in (f"{HERE}/work/dead-letters.csv", "/audit.csv"):
        assert reader.csv(path).status in (403, 404), path
    assert "/do/grant" in customer_page(console.browser(OPERATOR), "looked-at")


def test_a_role_that_is_removed_counts_at_once(console, operator):
    """A form that was filled in before the role was removed is refused: the proxy's token is read for each request."""
    values = {"customer": "late", "entitlement": "maps", "level": "full", "preset": "7", "note": "x"}
    confirmed = hidden(operator.post(f"{HERE}/do/grant", values).text)
    assert console.browser(READER).post(f"{HERE}/do/grant", confirmed).status == 403
    assert not has(console, "late", "maps")
