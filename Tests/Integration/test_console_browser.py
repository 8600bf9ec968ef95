"""The console in a real browser: accessibility, keys, sizes, a support case from complaint to solution."""

import contextlib
import shutil
import urllib.parse

import pytest

from console_story import APP, CUSTOMER, Console, tell

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium; run `tools/bootstrap --test`")
HERE = f"/a/{APP}/sandbox"
ARGUMENTS = ["--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"]
VIEWS = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "script-free": {"viewport": {"width": 1280, "height": 900}, "java_script_enabled": False},
}


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    console = Console(tmp_path_factory.mktemp("browser"))
    console.ids = tell(console)
    yield console
    console.service.stop()


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(console, chromium):
    """Opens signed-in pages, and fails on any message of the browser's console or request to another origin."""
    contexts, faults = [], []

    def visit(view="light", **options):
        context = chromium.new_context(**VIEWS[view], **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: "status of 404" in message.text or faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: request.url.startswith(console.url) or faults.append(request.url))
        page.goto(console.new_link())
        page.fill("#name", "lena@example.com")
        # With its script, which handles keys.
        with page.expect_navigation():
            page.click("button")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not faults


def address(console, path):
    """The address of a path; a relative one is below the app and environment of the story."""
    return console.url + (path if path.startswith("/") else f"{HERE}/{path}").format(
        customer=urllib.parse.quote(CUSTOMER), pro=console.ids["pro"]["transactionId"],
        asked=console.ids["asked"]["transactionId"])


PAGES = [
    "/", "/find?q=ada", "/find?q=nothing-of-that-name", "customers/{customer}", "customers/{customer}?explain=pro&apple=1",
    "purchases/{pro}", "evidence/2", "events/1", "work", "work/refunds",
    "work/unclaimed", "do/grant?customer={customer}", "do/answer-refund?transaction={asked}&customer=bob",
    "do/erase?customer={customer}", "/status", "/audit", "/nothing",
]  # fmt: skip


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": tags}}).response["violations"]
    return [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("view", ["light", "dark", "phone"])
def test_no_page_violates_an_accessibility_rule(console, visit, view):
    page = visit(view, bypass_csp=True)
    found = []
    for path in PAGES:
        page.goto(address(console, path))
        found += [f"{path} {each}" for each in violations(page)]
        if view == "phone":
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= 390, f"{path} is {width} wide"
    assert not found, "\n".join(found)


def test_the_customer_page_is_small_and_does_not_move(console, visit):
    page = visit()
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    client.send("Network.clearBrowserCache")
    received = []
    client.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.add_init_script("""
        self.shift = 0;
        new PerformanceObserver((list) => { for (const entry of list.getEntries()) self.shift += entry.value; })
            .observe({ type: "layout-shift", buffered: true });""")
    page.goto(address(console, "customers/{customer}"))
    page.wait_for_load_state("networkidle")
    assert sum(received) < 150_000
    assert page.evaluate("self.shift") == 0
    received.clear()
    page.reload()
    page.wait_for_load_state("networkidle")
    assert sum(received) < 30_000, "files are cached"


def test_the_keys_lead_through_the_pages(console, visit):
    page = visit()
    page.keyboard.press("/")
    page.keyboard.type(CUSTOMER)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    with page.expect_navigation():
        page.click("[aria-label=Hits] a")
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


def test_the_slider_moves_the_figures(console, visit):
    page = visit()
    page.goto(address(console, "customers/{customer}"))
    assert "grace" in page.text_content(".cards")
    slider = page.locator("input[name=at]")
    slider.evaluate("slider => { slider.value = Number(slider.min) + 864000; slider.dispatchEvent(new Event('change')); }")
    page.wait_for_selector("html.as-of .moment")
    assert "grace" not in page.text_content(".cards")
    page.click("text=Back to now")
    page.wait_for_selector("html:not(.as-of)")


def test_a_page_without_scripts_does_the_same(console, visit):
    page = visit("script-free")
    page.goto(address(console, "customers/{customer}"))
    page.locator("input[name=at]").focus()
    page.keyboard.press("Home")
    page.click("button:text-is('Show')")
    assert "at=" in page.url and page.locator("html.as-of").count() == 1


def test_a_support_case_from_complaint_to_solution(console, visit):
    """'I paid and have nothing': find the purchase by its id, see why, link it, and give a week on top."""
    bought = console.buy("zoe", "pro.monthly")
    console.submit("", bought)
    page = visit()
    page.fill(".find input", bought["transactionId"])
    page.keyboard.press("Enter")
    page.click(f"main a >> text={bought['transactionId']}")
    assert "unclaimed" in page.text_content("main")
    page.click("text=Link a purchase…")
    page.fill("#customer", "zoe@1")
    page.fill("#note", "ticket 1")
    page.click("text=Preview")
    assert "belongs to zoe@1" in page.text_content("main")
    page.click("main form button")
    page.wait_for_url("**/customers/zoe%401?**")
    assert "Done: Link a purchase." in page.text_content("main") and "✓ yes" in page.text_content(".cards")
    page.keyboard.press("a")
    page.select_option("#entitlement", "maps")
    page.fill("#note", "ticket 1")
    page.click("text=Preview")
    page.click("main form button")
    page.wait_for_url("**/customers/zoe%401?**")
    done = page.url
    with contextlib.suppress(playwright.Error):  # The browser asks before it sends a form again.
        page.go_back()
    page = page.context.new_page()
    page.goto(done)
    assert len(console.call("EntitlementService/GetCustomer", customerId="zoe@1")["grants"]) == 1
    page.click("text=Undo…")
    page.fill("#note", "given by mistake")
    page.click("text=Preview")
    page.click("main form button")
    page.wait_for_url("**/customers/zoe%401?**")
    assert console.call("EntitlementService/GetCustomer", customerId="zoe@1")["grants"][0]["revokedAt"]


def test_a_refund_question_is_answered_from_the_work_list(console, visit):
    page = visit()
    page.goto(address(console, "work/refunds"))
    page.click("text=Answer…")
    page.check("#consent")
    page.select_option("#preference", "1")
    page.fill("#note", "used every day")
    page.click("text=Preview")
    assert "DECLINE" in page.text_content("main pre")
    page.click("main form button")
    page.wait_for_url("**/customers/bob?**")
    console.advance("1m")
    assert "answered" in page.goto(address(console, "customers/bob")).text().lower()


def test_no_other_page_can_frame_it(console, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto("about:blank")
    page.set_content(f'<iframe id="frame" src="{console.url}/"></iframe>')
    page.wait_for_timeout(500)
    assert not any(frame.url.startswith(console.url) and frame.query_selector("h1") for frame in page.frames)
    context.close()


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
