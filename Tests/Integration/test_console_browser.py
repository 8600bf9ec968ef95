"""The console in a real browser: accessibility, keys, sizes, a support case from complaint to solution."""

import contextlib
import pathlib
import urllib.parse

import pytest

from console_browser import ARGUMENTS, CHROMIUM, LAUNCH_TIMEOUT, SHIFT, Watched, go, reach, received, until, violations
from console_story import APP, CUSTOMER
from harness import IS_LONG
from stub import StubServer

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium; run `tools/bootstrap --test`")
HERE = f"/a/{APP}/sandbox"


@pytest.fixture
def visit(console, chromium):
    """Opens signed-in pages, and fails on any message of the browser's console or request to another origin."""
    watched = Watched(chromium, console.url)

    def visit(view="light", **options):
        page = watched.page(view, **options)
        page.goto(console.new_link())
        page.fill("#name", "lena@example.com")
        # With its script, which handles keys.
        go(page, lambda: page.click("button"))
        return page

    yield visit
    watched.close()


def address(console, path):
    """The address of a path; a relative one is below the app and environment of the story."""
    return console.url + (path if path.startswith("/") else f"{HERE}/{path}").format(
        customer=urllib.parse.quote(CUSTOMER))


def test_the_customer_page_is_small_and_does_not_move(console, visit):
    page = visit()
    sizes, forget = received(page)
    forget()
    page.add_init_script(SHIFT)
    page.goto(address(console, "customers/{customer}"))
    page.wait_for_load_state("networkidle")
    assert 0 < sum(sizes) < 150_000
    assert page.evaluate("self.shift") <= 0.01
    sizes.clear()
    page.reload()
    page.wait_for_load_state("networkidle")
    assert 0 < sum(sizes) < 30_000, "files are cached"


def test_the_keys_lead_through_the_pages(console, visit):
    page = visit()
    page.keyboard.press("/")
    page.keyboard.type(CUSTOMER)
    go(page, lambda: page.keyboard.press("Enter"))
    assert page.url.endswith(f"/customers/{urllib.parse.quote(CUSTOMER, safe='')}"), "the only hit is opened"
    page.keyboard.press("l")
    assert page.text_content("[data-zone]") is not None
    before = page.input_value("input[name=at]")
    page.keyboard.press("[")
    page.wait_for_selector("html.as-of")
    assert page.input_value("input[name=at]") != before and "at=" in page.url
    page.keyboard.press("]")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/status")
    page.keyboard.press("?")
    assert page.is_visible(".keys")


def test_the_list_of_keys_has_a_line_for_each_and_fits_the_window(console, visit):
    page = visit()
    page.keyboard.press("?")
    heights = page.eval_on_selector_all(".keys dd", "all => all.map(each => each.getBoundingClientRect().height)")
    assert heights and max(heights) < 50, heights
    assert page.evaluate("document.querySelector('.person .menu').getBoundingClientRect().bottom <= innerHeight")


def test_the_keys_can_be_switched_off(console, visit):
    page = visit()
    page.click("details.person > summary")
    page.click("text=Keys without Ctrl or Alt")
    assert "Keys are off" in page.text_content("#announcement")
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("/")
    assert not page.evaluate("document.activeElement.matches('.find input')"), "the browser keeps the choice"
    page.click("details.person > summary")
    page.click("text=Keys without Ctrl or Alt")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.matches('.find input')")


def test_local_times_have_their_zone_in_the_heads_of_tables(console, visit):
    page = visit(timezone_id="Asia/Tokyo")
    page.goto(address(console, "customers/{customer}"))
    head, time = page.locator(".timeline th").first, page.locator(".timeline td time").first
    utc = time.text_content()
    assert head.text_content() == "When (UTC)"
    page.keyboard.press("l")
    assert head.text_content() == "When (Asia/Tokyo)" and time.text_content() != utc
    page.keyboard.press("l")
    assert head.text_content() == "When (UTC)" and time.text_content() == utc


def test_an_id_is_copied_by_a_click(console, visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.goto(address(console, "customers/{customer}"))
    page.click("h1 .id")
    page.locator("#announcement:not(:empty)").wait_for(state="attached")
    assert page.evaluate("navigator.clipboard.readText()") == CUSTOMER
    box = page.locator("#announcement").bounding_box()
    assert box["y"] + box["height"] <= page.viewport_size["height"], "it is in sight"
    page.keyboard.press("Escape")
    assert page.text_content("#announcement") == ""
    page.click("details.more > summary")
    page.click("text=Copy for ticket")
    page.locator("#announcement", has_text="ticket").wait_for(state="attached")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0].startswith(f"{CUSTOMER} has pro, studio") and any("(IN_GRACE_PERIOD)" in line for line in lines[1:-2])
    event = console.call("EntitlementService/GetCustomer", customerId=CUSTOMER)["sequence"]
    assert lines[-2].startswith("As of ") and lines[-2].endswith(f"event {event}") and lines[-1] == page.url
    assert page.locator(".more .menu > *").last.text_content() == "Erase the customer…", "what cannot be undone is last"


def test_the_sentence_for_the_customer_is_copied(console, visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.goto(address(console, "customers/{customer}"))
    button = page.locator(".tell button").first
    button.focus()
    page.keyboard.press("Enter")
    page.locator("#announcement", has_text="Text copied").wait_for(state="attached")
    text = page.evaluate("navigator.clipboard.readText()")
    assert text and f"“{text}”" in page.locator(".tell").first.text_content()
    assert button.get_attribute("aria-label").startswith("Copy what to tell about ")


def test_an_id_is_copied_by_a_key(console, visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.goto(address(console, "work/unclaimed"))

    def copied(key):
        page.keyboard.press(key)
        page.locator("#announcement", has_text="Id copied").wait_for(state="attached")
        return page.evaluate("navigator.clipboard.readText()")

    page.keyboard.press("j")
    first = page.text_content("tbody tr.selected a")
    assert copied(".") == first and first.isdigit()
    page.goto(address(console, "customers/{customer}"))
    page.keyboard.press("j")
    assert copied(".") == page.text_content("tbody tr.selected a") != CUSTOMER
    page.keyboard.press("Escape")
    assert copied(".") == CUSTOMER


def test_the_distance_of_a_time_is_that_of_the_sandboxs_clock(console, visit):
    """The story is in the future: by the clock of this machine, its events are yet to come."""
    page = visit()
    titles = "[...document.querySelectorAll('.timeline time')].map(time => time.title)"
    page.goto(address(console, "customers/{customer}"))
    assert (found := page.evaluate(titles)) and all(title.endswith((" ago", "yesterday", "today")) for title in found), found
    page.goto(address(console, "purchases/" + console.ids["pro"]["transactionId"]))
    assert all(title.endswith(" here") for title in page.evaluate("[...document.querySelectorAll('td time')].map(time => time.title)"))


def test_a_list_is_downloaded_with_a_reason(console, visit):
    page = visit()
    page.goto(address(console, "work/unclaimed"))
    page.click("text=The list as CSV")
    assert not violations(page)
    page.fill("main input[name=note]", "the auditor asked")
    with page.expect_download() as download:
        page.click("text=Download")
    assert download.value.suggested_filename == "unclaimed.csv"
    assert "original_transaction_id" in pathlib.Path(download.value.path()).read_text(encoding="utf-8")
    assert page.url == address(console, "work/unclaimed"), "the page stays"


def test_the_slider_moves_the_figures(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}?type=STARTED"))
    assert "grace" in page.text_content(".cards")
    slider = page.locator("#at")
    slider.evaluate("slider => { slider.value = Number(slider.min) + 864000; slider.dispatchEvent(new Event('change')); }")
    page.wait_for_selector("html.as-of .moment")
    assert "grace" not in page.text_content(".cards") and "type=STARTED" in page.url, "the filter stays"
    page.click("text=Back to now")
    page.wait_for_selector("html:not(.as-of)")


def test_a_page_reports_events_that_followed_and_shows_them_live(console, visit):
    page = visit()
    console.submit("liv", console.buy("liv", "shells.100"))
    page.goto(address(console, "customers/liv"))
    return_to_tab = "document.dispatchEvent(new Event('visibilitychange'))"
    with page.expect_response(lambda response: "/changes?after=" in response.url):
        page.evaluate(return_to_tab)
    assert not page.is_visible(".stale")
    grant = {"customerId": "liv", "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL", "note": "x"}
    console.call("EntitlementService/Grant", **grant)
    page.evaluate(return_to_tab)
    page.wait_for_selector(".stale:visible")
    assert "Events since this page was shown: 1." in " ".join(page.text_content(".stale").split())
    assert not violations(page)
    go(page, lambda: page.click(".stale a"))
    assert not page.is_visible(".stale") and "granted" in page.text_content("main")
    opened = []
    page.on("request", lambda request: opened.append(urllib.parse.urlsplit(request.url).path.rpartition("/")[2]))
    rows = page.locator(".timeline tbody tr").count()
    page.click("text=Live")
    assert page.get_attribute("[data-action=live]", "aria-pressed") == "true"
    console.call("EntitlementService/Grant", **grant | {"entitlement": "maps"})
    page.wait_for_selector(f".timeline tbody tr:nth-child({rows + 1})")
    assert page.get_attribute("[data-action=live]", "aria-pressed") == "true" and not page.is_visible(".stale")
    assert page.evaluate("document.activeElement.dataset.action") == "live", "the focus stays on the button"
    assert opened == ["live", "liv"], "one stream, and one page for what it announced"
    # A tab in the background closes the stream, and opens another one when it returns.
    hide = "hidden => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true}); }"
    page.evaluate(hide, True)
    page.evaluate(return_to_tab)
    console.call("EntitlementService/Grant", **grant | {"entitlement": "studio"})
    page.evaluate(hide, False)
    page.evaluate(return_to_tab)
    page.wait_for_selector(".timeline:has-text('studio')")
    assert opened.count("live") == 2
    page.click("text=Live")
    assert page.get_attribute("[data-action=live]", "aria-pressed") == "false"
    assert "not live any more" in page.text_content("#announcement")
    page.goto(address(console, "customers/liv") + "?at=1")
    assert page.locator("[data-changes]").count() == 0, "the past does not change"


COUNT_CHANGES = """self.EventSource = class extends EventSource {
    constructor(...values) { super(...values); this.addEventListener("change", () => { self.changes = (self.changes ?? 0) + 1; }); }
};"""


def test_a_live_page_keeps_what_is_typed_the_focus_and_what_is_open(console, visit):
    page = visit()
    console.submit("typist", console.buy("typist", "shells.100"))
    page.add_init_script(COUNT_CHANGES)
    page.goto(address(console, "customers/typist"))
    rows = page.locator(".timeline tbody tr").count()
    page.click("text=The picture as a table")
    page.click("text=The history as CSV")
    page.click("[data-action=live]")
    page.fill("main input[name=note]", "half a rea")
    grant = {"customerId": "typist", "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL", "note": "x"}
    console.call("EntitlementService/Grant", **grant)
    until(page, "self.changes > 0")
    assert page.input_value("main input[name=note]") == "half a rea"
    page.locator(".card .meta a").first.focus()
    page.wait_for_selector(f".timeline tbody tr:nth-child({rows + 1})")
    page.locator("#announcement", has_text="New events are shown").wait_for(state="attached")
    assert page.evaluate("document.activeElement.matches('.card .meta a')"), "the focus stays on the link"
    assert page.locator("details[open] > summary").all_text_contents() == ["The picture as a table", "The history as CSV"]
    assert page.input_value("main input[name=note]") == "half a rea", "text is kept without the focus, too"


def test_a_live_page_keeps_what_is_typed_while_it_loads(console, visit):
    page = visit()
    console.submit("hasty", console.buy("hasty", "shells.100"))
    page.goto(address(console, "customers/hasty"))
    rows = page.locator(".timeline tbody tr").count()
    page.click("text=The picture as a table")
    page.click("text=The history as CSV")
    held = []
    page.route("**/customers/hasty", lambda route: held.append(route))
    page.click("[data-action=live]")
    with page.expect_request("**/customers/hasty"):
        grant = {"customerId": "hasty", "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL", "note": "x"}
        console.call("EntitlementService/Grant", **grant)
    page.fill("main input[name=note]", "half a rea")
    with page.expect_response("**/customers/hasty"):
        held[0].continue_()
    page.unroute("**/customers/hasty")
    page.locator("main:not([aria-busy])").wait_for(state="attached")
    assert page.input_value("main input[name=note]") == "half a rea"
    assert page.locator(".timeline tbody tr").count() == rows, "the page waits for the end of the typing"
    page.locator(".card .meta a").first.focus()
    page.wait_for_selector(f".timeline tbody tr:nth-child({rows + 1})")
    assert page.input_value("main input[name=note]") == "half a rea"


def test_a_table_does_not_move_while_its_rows_arrive(console, visit):
    """A slow connection delivers the first rows of the audit log long before the last ones."""
    page = visit()
    for number in range(80):
        console.call("CustomerService/AddNote", customerId="c" * max(1, 36 - number // 2) + str(number), text="x")
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    client.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": 0, "downloadThroughput": 6_000, "uploadThroughput": -1})  # fmt: skip
    page.add_init_script(SHIFT)
    page.goto(console.url + "/audit")
    page.wait_for_load_state("networkidle")
    assert page.locator("tbody tr").count() > 80 and page.evaluate("self.shift") == 0, page.evaluate("self.moved")


def test_rows_can_be_compact(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    height = "document.querySelector('.timeline tbody tr').getBoundingClientRect().height"
    roomy = page.evaluate(height)
    page.click("details.person > summary")
    page.click("text=Roomy or compact rows")
    compact = page.evaluate(height)
    assert compact < roomy and not violations(page)
    page.reload()
    assert page.evaluate(height) == compact, "the browser keeps the choice"


def test_the_colours_can_be_chosen(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    ground = "getComputedStyle(document.documentElement).backgroundColor + getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("details.person > summary")
    page.click("[data-action=theme]")
    dark = page.evaluate(ground)
    assert dark != light and not violations(page)
    page.reload()
    assert page.evaluate(ground) == dark, "the browser keeps the choice"
    page.click("details.person > summary")
    page.click("[data-action=theme]")
    assert page.evaluate(ground) == light


def test_a_file_fills_the_list_of_customers(console, visit):
    page = visit()
    page.goto(address(console, "do/make-good"))
    text = "customer_id,why\nfiled-1,outage\nfiled-2,outage\n"
    page.set_input_files("input[type=file]", {"name": "harmed.csv", "mimeType": "text/csv", "buffer": text.encode()})
    until(page, "document.querySelector('#customers').value.includes('filed-2')")
    page.select_option("#entitlement", "maps")
    page.fill("#note", "ticket 3")
    go(page, lambda: page.click("text=Preview"))
    assert "2 customers get maps" in page.text_content("main")


def test_the_keys_of_a_customers_page_open_the_steps_the_evidence_and_the_timeline(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    page.keyboard.press("t")
    until(page, "scrollY > 0")
    go(page, lambda: page.keyboard.press("e"))
    assert "explain=" in page.url
    go(page, lambda: page.keyboard.press("o"))
    assert "/evidence/" in page.url
    # The list of all apps and the audit log are of no app, whose work lists could be opened from there.
    for key, end in [("w", "/work"), ("l", "/segments"), ("r", "/reports"), ("a", "/audit"), ("c", "/apps")]:
        page.keyboard.press("g")
        go(page, lambda key=key: page.keyboard.press(key))
        assert urllib.parse.urlsplit(page.url).path.endswith(end)


def test_a_page_without_scripts_does_the_same(console, visit):
    page = visit("script-free")
    page.goto(address(console, "customers/{customer}"))
    page.locator("#at").focus()
    page.keyboard.press("Home")
    go(page, lambda: page.click("button:text-is('Show')"))
    assert "at=" in page.url and page.locator("html.as-of").count() == 1


@pytest.mark.parametrize("view", ["light", "phone", "script-free"])
def test_a_row_of_the_timeline_opens_in_place(console, visit, view):
    page = visit(view)
    page.goto(address(console, "customers/{customer}"))
    row = page.locator(".timeline tr:has(summary)").first
    changes = row.locator("li").first
    assert not changes.is_visible()
    row.locator("summary").click()
    assert changes.is_visible() and page.url.endswith(f"/customers/{urllib.parse.quote(CUSTOMER)}")
    if view != "script-free":
        assert not violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_the_selected_row_of_the_timeline_opens_by_a_key(console, visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.goto(address(console, "customers/{customer}"))
    rows = page.locator("tbody tr").count()
    for _ in range(rows):
        page.keyboard.press("j")
        if page.locator(".timeline tr.selected").count():
            break
    page.keyboard.press("Enter")
    assert page.locator(".timeline tr.selected details[open]").count() == 1
    page.keyboard.press(".")
    page.locator("#announcement", has_text="Id copied").wait_for(state="attached")
    assert page.evaluate("navigator.clipboard.readText()") == page.text_content(".timeline tr.selected a[data-copy]")


@pytest.mark.parametrize("view", ["light", "phone", "script-free"] if IS_LONG else ["light", "script-free"])
def test_the_timeline_is_filtered_by_source_and_the_answers_are_shown(console, visit, view):
    page = visit(view)
    page.goto(address(console, "customers/{customer}"))
    page.select_option("select[name=source]", "us")
    page.check("input[name=webhooks]")
    go(page, lambda: page.click("form.filter button"))
    rows = page.locator(".timeline tbody tr")
    assert rows.count() > 0 and page.locator("select[name=source]").input_value() == "us"
    assert all("lena@example.com" in text for text in rows.all_text_contents() if "granted" in text)
    assert page.locator(".timeline a[href*='work/dead-letters/billing/']").count() > 0, "each message has its page"
    go(page, lambda: page.click("text=Show the service's answers"))
    page.click("summary:text-is('GetCustomer')")
    assert '"customerId"' in page.text_content("details:has(summary:text-is('GetCustomer')) pre")
    if view != "script-free":
        assert not violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


@pytest.mark.parametrize("view", ["light", "script-free"])
def test_the_error_of_a_form_is_shown_at_its_field(console, visit, view):
    page = visit(view)
    page.goto(address(console, "do/merge?customer=fia"))
    page.fill("#note", "ticket 9")
    # Spaces pass the check of the browser.
    page.fill("#to", "   ")
    go(page, lambda: page.click("text=Preview"))
    field = page.locator("#to")
    assert field.get_attribute("aria-invalid") == "true" and page.input_value("#note") == "ticket 9"
    described = field.get_attribute("aria-describedby").split()
    assert described[0] == "to-error" and "is missing" in page.text_content("#to-error")
    if view == "light":
        assert not violations(page)


# test_console_many.py does it without scripts, too.
@pytest.mark.parametrize("view", ["light", "script-free"] if IS_LONG else ["light"])
def test_a_long_list_is_made_good_piece_by_piece(console, visit, view):
    page = visit(view)
    # A page of a thousand durable grants takes a minute of a busy machine.
    page.set_default_timeout(LAUNCH_TIMEOUT)
    page.goto(address(console, "do/make-good"))
    page.fill("#customers", "\n".join(f"{view}-{number}" for number in range(1_010)))
    page.select_option("#entitlement", "maps")
    page.fill("#note", "ticket 2")
    go(page, lambda: page.click("text=Preview"))
    go(page, lambda: page.click("main form button"))
    if view == "script-free":
        assert "1000 of 1010 done" in page.text_content("main")
        go(page, lambda: page.click("text=Continue"))
    # With scripts, the page continues by itself.
    page.wait_for_url("**/work?*")
    assert "Done: Make good." in page.text_content("main")


@pytest.mark.parametrize("view", ["light", "phone", "script-free"] if IS_LONG else ["light", "script-free"])
def test_a_support_case_from_complaint_to_solution(console, visit, view):
    """'I paid and have nothing': find the purchase by its id, see why, link it, give a week on top, and take it back."""
    zoe = f"zoe@{view}"
    bought = console.buy(zoe, "pro.monthly")
    console.submit("", bought)
    page = visit(view)
    page.fill(".find input", bought["transactionId"])
    go(page, lambda: page.keyboard.press("Enter"))
    assert "unclaimed" in page.text_content("main") and page.locator("svg .bar.full").count() == 1
    go(page, lambda: page.click("text=Link a purchase…"))
    page.fill("#customer", zoe)
    page.fill("#note", "ticket 1")
    go(page, lambda: page.click("text=Preview"))
    assert f"belongs to {zoe}" in page.text_content("main") and "subscription active" in page.text_content("main")
    go(page, lambda: page.click("main form button"))
    assert "Done: Link a purchase." in page.text_content("main") and "✓ yes" in page.text_content(".cards")
    go(page, lambda: page.click("text=Grant…"))
    page.select_option("#entitlement", "maps")
    page.fill("#note", "ticket 1")
    go(page, lambda: page.click("text=Preview"))
    go(page, lambda: page.click("main form button"))
    done = page.url
    with contextlib.suppress(playwright.Error):  # The browser asks before it sends a form again.
        page.go_back()
    page = page.context.new_page()
    page.goto(done)
    assert len(console.call("EntitlementService/GetCustomer", customerId=zoe)["grants"]) == 1
    go(page, lambda: page.click("text=Undo…"))
    page.fill("#note", "given by mistake")
    go(page, lambda: page.click("text=Preview"))
    go(page, lambda: page.click("main form button"))
    assert console.call("EntitlementService/GetCustomer", customerId=zoe)["grants"][0]["revokedAt"]
    page.goto(address(console, f"customers/{urllib.parse.quote(zoe, safe='')}"))
    timeline = page.text_content("#timeline + form + .timeline")
    assert "granted" in timeline and "grant revoked" in timeline and "lena@example.com" in timeline


def test_a_support_case_needs_no_mouse(console, visit):
    """The same with the keyboard alone: Tab, Enter, arrows, and the keys of the pages."""
    bought = console.buy("kim", "pro.monthly")
    console.submit("", bought)
    page = visit()
    keyboard = page.keyboard
    keyboard.press("/")
    keyboard.type(bought["transactionId"])
    go(page, lambda: keyboard.press("Enter"))
    reach(page, "a[href*='/do/link']")
    go(page, lambda: keyboard.press("Enter"))
    reach(page, "#customer")
    keyboard.type("kim@1")
    reach(page, "#policy")
    keyboard.press("ArrowDown")
    reach(page, "#note")
    keyboard.type("ticket 2")
    reach(page, "main form button")
    go(page, lambda: keyboard.press("Enter"))
    reach(page, "main form button")
    go(page, lambda: keyboard.press("Enter"))
    assert "Done: Link a purchase." in page.text_content("main")
    go(page, lambda: keyboard.press("a"))
    reach(page, "#preset")
    keyboard.press("ArrowDown")
    reach(page, "#note")
    keyboard.type("ticket 2")
    reach(page, "main form button")
    go(page, lambda: keyboard.press("Enter"))
    reach(page, "main form button")
    go(page, lambda: keyboard.press("Enter"))
    assert "Done: Grant." in page.text_content("main")
    keyboard.press("m")
    assert page.evaluate("document.activeElement.closest('details.more')?.open")
    keyboard.press("Escape")
    assert not page.evaluate("document.querySelector('details.more').open")
    assert page.evaluate("document.activeElement.matches('details.more > summary')"), "the focus is where it was"
    keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('tr.selected') !== null")
    keyboard.press("j")
    keyboard.press("k")
    assert page.evaluate("document.querySelectorAll('tr.selected').length") == 1
    page.reload()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.skip')"), "the first stop skips the frame"
    keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_focus_is_visible_and_not_covered_by_the_frame(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    for _ in range(60):
        page.keyboard.press("Tab")
        place = page.evaluate("""() => {
            const element = document.activeElement, box = element.getBoundingClientRect();
            const frame = document.querySelector(".frame").getBoundingClientRect();
            const isInFrame = element.closest(".frame, .skip") !== null || element === document.body;
            return { covered: !isInFrame && box.height > 0 && box.bottom <= frame.bottom,
                outline: getComputedStyle(element).outlineStyle, tag: element.outerHTML.slice(0, 80), isBody: element === document.body };
        }""")
        assert not place["covered"], place
        assert place["isBody"] or place["outline"] != "none", place


def test_a_refund_question_is_answered_from_the_work_list(console, visit):
    page = visit()
    page.goto(address(console, "work/refunds"))
    go(page, lambda: page.click("text=Answer…"))
    page.check("#consent")
    page.select_option("#preference", "1")
    page.fill("#note", "used every day")
    go(page, lambda: page.click("text=Preview"))
    assert "DECLINE" in page.text_content("main pre")
    go(page, lambda: page.click("main form button"))
    assert "/customers/bob?" in page.url
    console.advance("1m")
    assert "answered" in page.goto(address(console, "customers/bob")).text().lower()


@pytest.mark.parametrize("view", ["light", "phone", "script-free"])
def test_the_refunds_at_apple_are_shown_on_the_page(console, visit, view):
    page = visit(view)
    page.goto(address(console, "customers/{customer}"))
    if view == "script-free":
        go(page, lambda: page.click("text=Ask Apple for all refunds"))
        assert page.url.endswith("/refunds") and page.text_content("h1") == "Refunds at Apple"
    else:
        button = page.locator("text=Ask Apple for all refunds")
        button.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#refund-history tbody tr")
        assert page.url == address(console, "customers/{customer}"), "the page stays"
        assert page.evaluate("document.activeElement.id") == "refund-history", "the focus is at the answer"
        # The frame covers a part of a row while the page is scrolled.
        page.evaluate("scrollTo(0, 0)")
        assert not violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    rows = page.locator("#refund-history tbody tr")
    assert rows.count() == 1 and "maps.pack" in rows.text_content() and console.ids["maps"]["transactionId"] in rows.text_content()


def test_a_pasted_document_leads_to_its_purchase_and_is_in_no_address(console, visit):
    page = visit("script-free")
    document = console.ids["pro"]["signedTransactionInfo"]
    addresses = []
    page.on("request", lambda request: addresses.append(request.url))
    page.fill(".find input", document)
    go(page, lambda: page.press(".find input", "Enter"))
    assert "verified" in page.text_content("main") and "It was not stored." in page.text_content("main")
    go(page, lambda: page.click(f"main a:text('{console.ids['pro']['transactionId']}')"))
    assert "/purchases/" in page.url
    assert not any(document[:20] in each for each in addresses)


def test_the_slider_has_steps_that_people_use(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    slider = page.locator("#at")
    first, last, step = (int(slider.get_attribute(name)) for name in ("min", "max", "step"))
    assert step in (3 * 3600, 6 * 3600, 12 * 3600), "half a year has steps of hours"
    assert (last - first) % step == 0 and int(slider.input_value()) == last, "the last step is now"
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("html.as-of")
    assert f"at={last - step}" in page.url
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("html:not(.as-of)")


# The centre of the slider's thumb, which stays inside the track, and half its width.
THUMB = """slider => {
    const box = slider.getBoundingClientRect(), half = parseFloat(getComputedStyle(slider).getPropertyValue("--thumb")) / 2;
    const share = (slider.value - slider.min) / (slider.max - slider.min);
    return { x: box.x + half + share * (box.width - 2 * half), y: box.y + box.height / 2, half };
}"""


def test_the_slider_of_a_phone_is_moved_by_a_finger(console, visit):
    page = visit("phone")
    page.goto(address(console, "customers/{customer}"))
    slider = page.locator("#at")
    slider.scroll_into_view_if_needed()
    for part in ("label[for=at]", "input[name=at]", "#moment", ".moments button"):
        box = page.locator(part).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, (part, box)
    assert page.locator("label[for=at]").is_visible() and slider.bounding_box()["width"] > 300

    # A finger drags the thumb to the middle: the text follows at once, the figures and the picture with its end.
    touch = page.context.new_cdp_session(page)

    def send(kind, *points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    start = slider.evaluate(THUMB)
    first = page.text_content("#moment")
    send("touchStart", {"x": start["x"], "y": start["y"]})
    for x in (start["x"] - 60, 195):
        send("touchMove", {"x": x, "y": start["y"]})
    until(page, "first => document.querySelector('#moment').textContent !== first", first)
    assert page.evaluate("document.querySelector('.plot').scrollLeft") > 0, "the plot shows the moment"
    send("touchEnd")
    page.wait_for_selector("html.as-of .moment")
    assert "at=" in page.url and page.evaluate("document.querySelector('.plot').scrollLeft") > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "the page does not scroll sideways"

    # WCAG 2.2, target size: 11 pixels beside its centre is still the thumb, which a press does not move.
    slider.scroll_into_view_if_needed()
    thumb, value = slider.evaluate(THUMB), slider.input_value()
    assert thumb["half"] >= 12
    for x, y in ((-11, 0), (11, 0), (0, -11), (0, 11)):
        page.mouse.move(thumb["x"] + x, thumb["y"] + y)
        page.mouse.down()
        page.mouse.up()
        assert slider.input_value() == value, (x, y)
    assert not violations(page)


def test_the_keys_for_events_stop_at_each_moment(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    moments = [int(each) for each in page.get_attribute("#moments-of-events", "data-moments").split()]
    for moment in reversed(moments[-4:]):
        with page.expect_response(lambda response: f"at={moment}" in response.url):
            page.keyboard.press("[")
        until(page, "moment => document.querySelector('#moment').dataset.at === String(moment)", moment)


def test_fast_steps_back_show_the_moment_of_the_last_one(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    moment = page.get_attribute("#moments-of-events", "data-moments").split()[-4]
    for _ in range(4):
        page.keyboard.press("[")
    until(page, "moment => location.search === `?at=${moment}`", moment)


@pytest.fixture(scope="module")
def evil():
    """A server of another origin on the same machine, whose pages attack the console."""
    pages = {}
    server = StubServer(lambda request: (200, pages.get(request.path, "")), "text/html")
    server.pages = pages
    yield server
    server.close()


def signed_in(console, chromium, **options):
    context = chromium.new_context(**options)
    page = context.new_page()
    page.goto(console.new_link())
    page.fill("#name", "lena@example.com")
    go(page, lambda: page.click("button"))
    return context


FORM = "customer=victim&entitlement=pro&level=full&preset=7&note=x"


@pytest.mark.parametrize("attack", [
    """<form method="post" action="URL/a/ocean/sandbox/do/grant"><input name="customer" value="victim"><input name="note" value="x">
       </form><script>document.forms[0].submit()</script>""",
    f"""<script>fetch("URL/a/ocean/sandbox/do/grant", {{method: "POST", mode: "no-cors", credentials: "include", body: "{FORM}",
       headers: {{"content-type": "application/x-www-form-urlencoded"}}}}).finally(() => document.title = "done")</script>""",
    f"""<script>fetch("URL/a/ocean/sandbox/do/grant", {{method: "POST", mode: "no-cors", credentials: "include", body: "{FORM}",
       headers: {{"content-type": "text/plain"}}}}).finally(() => document.title = "done")</script>""",
    """<form method="post" action="URL/session/end"></form><script>document.forms[0].submit()</script>""",
    """<form method="post" action="URL/find"><input name="q" value="ada"></form><script>document.forms[0].submit()</script>""",
])  # fmt: skip
def test_a_page_of_another_origin_posts_nothing(console, chromium, evil, attack):
    """The attacker's page is on the same site (another port), so that even strict cookies are sent."""
    context = signed_in(console, chromium)
    page = context.new_page()
    evil.pages["/post"] = attack.replace("URL", console.url)
    statuses = []
    page.on("response", lambda response: response.request.method == "POST" and statuses.append(response.status))
    if "fetch" in attack:
        # The browser shows nothing of a response that another origin may not read.
        page.goto(f"{evil.url}/post")
        until(page, "document.title === 'done'")
    else:
        with page.expect_response(lambda response: response.request.method == "POST"):
            page.goto(f"{evil.url}/post")
        assert statuses
    assert set(statuses) <= {403, 415}
    assert not console.call("EntitlementService/GetCustomer", customerId="victim").get("grants")
    page.goto(console.url)
    assert "lena@example.com" in page.text_content(".frame"), "still signed in"
    context.close()


def test_a_page_of_another_origin_reads_nothing(console, chromium, evil):
    context = signed_in(console, chromium)
    page = context.new_page()
    evil.pages["/read"] = f"""<script>fetch("{console.url}/a/ocean/sandbox/customers/ada", {{credentials: "include"}})
        .then((response) => response.text()).then((text) => document.title = "read " + text.length, () => document.title = "blocked")</script>"""
    page.goto(f"{evil.url}/read")
    until(page, "document.title !== ''")
    assert page.title() == "blocked"
    context.close()


def test_no_other_page_can_frame_it(console, chromium, evil):
    context = signed_in(console, chromium)
    page = context.new_page()
    address = f"{console.url}{HERE}/do/erase?customer=ada"
    evil.pages["/frame"] = f'<iframe src="{address}"></iframe><object data="{address}"></object><embed src="{address}">'
    page.goto(f"{evil.url}/frame")
    page.wait_for_load_state("networkidle")
    assert len(page.frames) > 1
    for frame in page.frames[1:]:
        assert frame.query_selector("form") is None and "Erase" not in frame.content()
    context.close()


def test_a_rebound_name_shows_nothing(console, chromium):
    """The name of an attacker's server that leads to this machine: the browser takes the console for the attacker's."""
    browser = chromium.browser_type.launch(
        executable_path=CHROMIUM, args=[*ARGUMENTS, "--host-resolver-rules=MAP evil.example 127.0.0.1"],
        timeout=LAUNCH_TIMEOUT)
    port = console.address.rpartition(":")[2]
    page = browser.new_page()
    for path in ("/", f"{HERE}/customers/ada", urllib.parse.urlsplit(console.new_link()).path):
        response = page.goto(f"http://evil.example:{port}{path}")
        assert response.status == 421 and page.query_selector("form, nav") is None
    browser.close()


HOSTILE_ONES = [
    """<script>alert(1)</script>""", """"><img src=x onerror=alert(1)>""", """'><svg onload=alert(1)>""",
    """</title><script>alert(1)</script>""", """javascript:alert(1)""", """&lt;b&gt;{{7*7}}${7*7}""",
    "\u202e\u2066rtl\u0000\u2028", "../../../etc", "a/b?c#d%2e%2e%2f", "😀" * 20,
]  # fmt: skip
# Together in one text, they become markup wherever one of them does.
HOSTILE = HOSTILE_ONES if IS_LONG else ["".join(HOSTILE_ONES[:-1]) + "😀", "../../../etc"]


@pytest.mark.parametrize("evil_text", HOSTILE)
def test_hostile_names_and_notes_are_text_on_every_page(console, visit, evil_text):
    """In ids of customers, notes, attributes, names of people and reasons; axe would find markup that they broke."""
    text = evil_text.replace("\0", "")
    console.call("CustomerService/AddNote", customerId=text, text=text, actor=text)
    console.call("CustomerService/SetCustomerAttributes", customerId=text, attributes=[{"name": "a", "value": text}])
    grant = console.call("EntitlementService/Grant", customerId=text, entitlement="pro", accessLevel="ACCESS_LEVEL_FULL",
                         note=text, actor=text)["grant"]  # fmt: skip
    evidence = console.call("CustomerService/FindCustomers", query=text)["hits"]
    quoted = urllib.parse.quote(text, safe="")
    segment = "~" + quoted if quoted in ("..", ".", "") else quoted
    page = visit()
    paths = [
        f"customers/{segment}", f"customers/{segment}?apple=1&webhooks=1", f"/find?q={quoted}", "/audit", f"/audit?customer={quoted}",
        f"do/grant?customer={quoted}&until={quoted}", f"do/make-good?customers={quoted}", f"do/revoke?grant={grant['grantId']}&customer={quoted}",
        f"do/erase?customer={quoted}", f"purchases/{segment}", f"work/{segment}", f"work/migrations/{segment}",
        f"work/dead-letters/{segment}/1/1", f"/audit?app={quoted}&from={quoted}", f"/find?q={quoted}&app={quoted}&environment=production",
    ]  # fmt: skip
    assert evidence
    for path in paths:
        page.goto(console.url + (path if path.startswith("/") else f"{HERE}/{path}"))
        assert page.query_selector("main") is not None
        assert page.query_selector("main img, main script, main [onerror], main [onload], svg [onload]") is None, path
        for link in page.query_selector_all("a[href]"):
            assert link.get_attribute("href").startswith(("/", "#", "https://")), path
    page.goto(f"{console.url}{HERE}/customers/{segment}")
    assert " ".join(text.split()) in " ".join(page.text_content("h1").replace("�", "").split()) or "\u202e" in text


def test_an_inserted_script_does_not_run(console, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(console.url)
    page.evaluate("""() => {
        const script = document.createElement("script");
        try { script.textContent = "self.ran = true"; document.body.append(script); } catch { /* Trusted Types. */ }
    }""")
    assert page.evaluate("self.ran") is None
    context.close()


def test_a_printed_page_has_no_frame(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    page.emulate_media(media="print")
    assert not page.is_visible(".frame") and page.is_visible("svg")
    style = lambda name, value: page.locator(f"svg .bar.{name}").first.evaluate(f"bar => getComputedStyle(bar).{value}")  # noqa: E731
    assert style("none", "strokeDasharray") != "none" == style("full", "strokeDasharray"), "periods without a word differ without colours"
    assert style("grant", "strokeWidth") != style("full", "strokeWidth")
