"""Make good for long lists: in pieces, repeated after a failure, and undone as one."""

import re

from console_client import Browser, hidden
from console_story import APP, Console
from harness import IS_LONG

HERE = f"/a/{APP}/sandbox"
# A page handles 1,000 at a time.
COUNT = 10_000 if IS_LONG else 1_010
CUSTOMERS = [f"harmed-{number:05}" for number in range(COUNT)]
FORM = {"customers": "\n".join(CUSTOMERS), "entitlement": "maps", "days": "3", "note": "outage of Monday"}


def signed_in(console):
    browser = Browser(console.address)
    assert browser.sign_in(console.new_link()).status == 303
    return browser


def finish(browser, action, page):
    """Sends the form of the page, and those that continue; returns the last response and what each page says is done."""
    seen = []
    while (response := browser.post(f"{HERE}/do/{action}", hidden(page.text))).status == 200:
        seen.append(int(re.search(r"(\d+) of (\d+) done", response.text)[1]))
        page = response
    return response, seen


def grants(console, **more):
    """The grants by customer, from all pages."""
    found, page = {}, ""
    while True:
        answer = console.call("EntitlementService/ListGrants", pageSize=1000, pageToken=page, **more)
        for grant in answer.get("grants", []):
            found.setdefault(grant["customerId"], []).append(grant)
        if not (page := answer.get("nextPageToken")):
            return found


def test_a_long_list_is_made_good_in_pieces_after_a_crash_too_and_undone_as_one(tmp_path):
    console = Console(tmp_path)
    lena = signed_in(console)
    kept = console.call("EntitlementService/Grant", customerId=CUSTOMERS[0], entitlement="maps",
                        accessLevel="ACCESS_LEVEL_FULL", note="x")["grant"]["grantId"]
    preview = lena.post(f"{HERE}/do/make-good", FORM)
    assert f"{COUNT} customers get maps" in preview.text and f"changes for {COUNT - 1} of them" in preview.text
    half = lena.post(f"{HERE}/do/make-good", hidden(preview.text))
    assert f"1000 of {COUNT} done" in half.text and "Continue" in half.text and len(grants(console)) == 1_000
    console.service.kill()

    console = Console(tmp_path)
    lena = signed_in(console)
    preview = lena.post(f"{HERE}/do/make-good", hidden(half.text))
    assert "changed since" in preview.text, "tokens end with the process"
    assert f"changes for {COUNT - 1_000} of them" in preview.text
    # It begins with the first piece again.
    done, seen = finish(lena, "make-good", preview)
    assert done.status == 303 and seen == list(range(1_000, COUNT, 1_000))
    found = {customer: len(found) for customer, found in grants(console).items()}
    assert found == dict.fromkeys(CUSTOMERS, 1) | {CUSTOMERS[0]: 2}, "no one gets days twice"

    page = lena.get(done.getheader("location")).text
    batch = re.search(r"do/undo-batch\?batch=([0-9a-f]+)", page)[1]
    preview = lena.post(f"{HERE}/do/undo-batch", {"batch": batch, "note": "it was no outage"})
    assert f"{COUNT} grants of {COUNT} customers end now" in preview.text
    done, seen = finish(lena, "undo-batch", preview)
    assert done.status == 303 and (seen or not IS_LONG) and seen == sorted(seen)
    left = [grant["grantId"] for found in grants(console).values() for grant in found if "revokedAt" not in grant]
    assert left == [kept], "other grants stay"
    console.service.stop()


def test_a_changed_form_is_another_batch(tmp_path):
    console = Console(tmp_path)
    lena = signed_in(console)
    form = FORM | {"customers": "ada"}
    preview = lena.post(f"{HERE}/do/make-good", form)
    edited = lena.post(f"{HERE}/do/make-good", hidden(preview.text) | {"edit": "1"})
    assert edited.status == 200 and "outage of Monday</textarea>" in edited.text, "the form keeps what was typed"
    kept = hidden(edited.text)
    assert kept["batch"] == hidden(preview.text)["batch"]
    same = hidden(lena.post(f"{HERE}/do/make-good", form | kept).text)
    other = hidden(lena.post(f"{HERE}/do/make-good", form | kept | {"days": "7"}).text)
    assert same["batch"] == kept["batch"] != other["batch"] and other["until"] > same["until"]
    console.service.stop()


def test_a_batch_is_finished_with_another_reason(tmp_path):
    console = Console(tmp_path)
    lena = signed_in(console)
    customers = CUSTOMERS[:1_010]
    form = FORM | {"customers": "\n".join(customers)}
    preview = lena.post(f"{HERE}/do/make-good", form | {"note": "outge"})
    lena.post(f"{HERE}/do/make-good", hidden(preview.text))
    edited = hidden(lena.post(f"{HERE}/do/make-good", hidden(preview.text) | {"edit": "1"}).text)
    preview = lena.post(f"{HERE}/do/make-good", form | edited | {"note": "outage"})
    assert "changes for 10 of them" in preview.text
    done, _ = finish(lena, "make-good", preview)
    found = grants(console)
    assert done.status == 303 and {customer: len(found) for customer, found in found.items()} == dict.fromkeys(customers, 1)
    notes = [found[customer][0]["note"].split()[0] for customer in customers]
    assert notes == ["outge"] * 1_000 + ["outage"] * 10, "a grant keeps its reason"
    console.service.stop()


def test_an_undo_leaves_grants_alone_that_have_ended(tmp_path):
    console = Console(tmp_path)
    lena = signed_in(console)
    preview = lena.post(f"{HERE}/do/make-good", FORM | {"customers": "ada\nben"})
    batch = hidden(preview.text)["batch"]
    assert lena.post(f"{HERE}/do/make-good", hidden(preview.text)).status == 303
    undo = {"batch": batch, "note": "x"}
    assert "2 grants of 2 customers end now" in lena.post(f"{HERE}/do/undo-batch", undo).text
    console.advance("4d")
    assert "0 grants of 0 customers end now" in lena.post(f"{HERE}/do/undo-batch", undo).text
    console.service.stop()


def test_a_reason_that_is_too_long_is_an_error_of_the_preview(tmp_path):
    console = Console(tmp_path)
    lena = signed_in(console)
    form = FORM | {"customers": "ada"}
    refused = lena.post(f"{HERE}/do/make-good", form | {"note": "x" * 4_080})
    assert refused.status == 400 and 'id="note-error"' in refused.text
    preview = lena.post(f"{HERE}/do/make-good", form | {"note": "x" * 4_060})
    assert lena.post(f"{HERE}/do/make-good", hidden(preview.text)).status == 303
    console.service.stop()


def test_the_longest_list_fits_into_a_form(tmp_path):
    console = Console(tmp_path)
    lena = signed_in(console)
    ids = [f"{number:06}-" + "x" * 93 for number in range(10_000)]
    columns = ",pro.monthly,IN_GRACE_PERIOD,2026-11-30T21:30:04.022Z,2026-12-30T21:30:04.022Z,USA,,4990,USD,59880,30"
    for customers in ids, [id[:20] + columns for id in ids]:
        preview = lena.post(f"{HERE}/do/make-good", FORM | {"customers": "\r\n".join(customers)})
        assert preview.status == 200 and "10000 customers get maps" in preview.text, preview.text[:200]
    many = "&".join(["note=x"] * 1_001)
    assert lena.post(f"{HERE}/do/make-good", many).status == 413
    assert Browser(console.address).post("/session/once", {"code": "x" * 70_000, "name": "x"}).status == 413
    console.service.stop()
