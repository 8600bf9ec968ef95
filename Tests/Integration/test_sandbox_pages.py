"""The pages of the sandbox in a real browser: a subscriber's life, every page, accessibility, attacks."""

import http.client
import json
import os
import pathlib
import subprocess
import urllib.parse
import urllib.request

import pytest

from console_browser import SHIFT, VIEWS, Watched, go, received, violations
from console_story import CONFIGURATION
from harness import CALL_LIMIT, IS_LONG, PROGRAM, STOP_LIMIT, Service, environment, post

APP = "ocean"
HOSTILE = "<img src=x onerror=alert(1)>\"'&/../\u202e🐚"


class Sandbox:
    """A running service with its sandbox, and calls of both."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "entitled.yaml").write_text(CONFIGURATION.split("    webhooks:")[0], encoding="utf-8")
        self.service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
        self.url = f"http://{self.service.sandbox}"

    def act(self, path, **members):
        status, answer = post(f"{self.url}/sandbox/v1/{path}", members)
        assert status == 200, (path, answer)
        return answer

    def check(self, customer):
        status, answer = self.service.json(
            "entitled.v1.EntitlementService/Check", {"app": APP, "customerId": customer, "entitlement": "pro"})
        assert status == 200, answer
        return answer["entitlement"]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    sandbox = Sandbox(tmp_path_factory.mktemp("sandbox"))
    yield sandbox
    sandbox.service.stop()


@pytest.fixture
def visit(sandbox, chromium):
    """Opens pages, and fails on any message of the browser's console, dialog or request to another origin."""
    watched = Watched(chromium, sandbox.url)

    def visit(view="light", **options):
        page = watched.page(view, **options)
        page.goto(sandbox.url)
        return page

    yield visit
    watched.close()


def click(page, selector):
    go(page, lambda: page.click(selector))


def test_a_life_from_shop_to_refund_with_the_service_following(sandbox, visit):
    page = visit()
    assert page.url == f"{sandbox.url}/apps/{APP}"
    click(page, "text=Set the URL…")
    page.fill("#url", f"http://{sandbox.service.http}/notifications/{APP}")
    click(page, "main form button.primary")
    assert "Done: Set the notification URL." in page.text_content("main")
    click(page, "nav >> text=Settings")
    click(page, "tr:has-text('Grace period') >> text=Change…")
    page.select_option("#days", "16")
    click(page, "main form button.primary")

    # Buying; the app then submits the purchase to the service.
    click(page, "nav >> text=Shop")
    card = page.locator("section.card", has_text="pro.monthly")
    card.locator("input[name=account]").fill("mary")
    with page.expect_navigation():
        card.locator("button").click()
    assert page.url.split("?")[0] == f"{sandbox.url}/apps/{APP}/accounts/mary"
    assert "SUBSCRIBED/INITIAL_BUY" in page.text_content(".done") and "active" in page.text_content(".cards")
    restored = sandbox.act("restore", app=APP, account="mary", newDevice=False)
    status, answer = sandbox.service.json("entitled.v1.ReceiptService/SubmitTransaction", {
        "app": APP, "customerId": "mary", "signedTransaction": restored["signedTransactions"][0]})
    assert status == 200, answer
    assert sandbox.check("mary")["entitled"]

    # A month passes by the key of the next event, and the subscription renews.
    click(page, f"nav >> text={APP}")
    with page.expect_navigation():
        page.keyboard.press("n")
    assert "DID_RENEW" in page.text_content(".done")

    # The card is declined: access goes on in the grace period, at the App Store and at the service.
    click(page, "tr:has-text('mary') >> text=Decline the card")
    for _ in range(2):
        click(page, "text=+1 month")
    click(page, "main table >> text=mary")
    assert "in billing retry" in page.text_content(".cards")
    assert sandbox.check("mary")["reason"] == "BILLING_RETRY"
    assert page.locator("svg .bar.grace").count() == 1
    click(page, "text=Let charges succeed")
    assert "DID_RENEW/BILLING_RECOVERY" in page.text_content(".done") and "200" in page.text_content(".done")
    assert "mary, pro: ✕ billing retry → ✓ subscription active" in page.text_content(".done .answers")
    assert sandbox.check("mary")["reason"] == "SUBSCRIPTION_ACTIVE"

    # The customer asks for a refund, and gets it.
    click(page, ".cards >> text=Ask for a refund…")
    page.select_option("#reason", "UNINTENDED_PURCHASE")
    click(page, "main form button.primary")
    click(page, ".cards >> text=Refund a purchase…")
    assert "entitled sandbox do refund transactionId=" in page.text_content("main pre")
    click(page, "main form button.primary")
    assert "revoked" in page.text_content(".cards")
    # Apple turns auto-renew off when the customer asks for a refund (notificationType, DID_CHANGE_RENEWAL_STATUS).
    assert "mary, pro: ✓ subscription not renewing → ✕ refunded" in page.text_content(".done .answers")
    answer = sandbox.check("mary")
    assert not answer.get("entitled") and answer["reason"] == "REFUNDED"

    # The notification with its content and the answer of the service.
    click(page, ".done a:text-is('REFUND')")
    assert "Attempts" in page.text_content("main") and "200" in page.text_content("table")
    assert "signedTransactionInfo" in page.text_content("main") and "mary" in page.text_content("main")
    click(page, "text=Send again")
    assert page.locator("[aria-label=Attempts] tbody tr").count() == 2
    distances = page.evaluate("[...document.querySelectorAll('[aria-label=Attempts] time')].map(time => time.title)")
    assert all(title.endswith("today") for title in distances), "by the simulated clock, which is months ahead"

    # The journal shows the actions as a list of commands, and as a script.
    click(page, "nav >> text=Journal")
    line = page.locator("tr:has(code:has-text('do billing account=mary fails=false'))")
    line.locator("text=With curl").click()
    assert f"curl -s {sandbox.url}/sandbox/v1/billing" in line.locator("pre").text_content()
    script = page.context.request.get(f"{sandbox.url}/apps/{APP}/journal.sh").text()
    assert "entitled sandbox do billing account=mary fails=true" in script


def http_text(url):
    with urllib.request.urlopen(url, timeout=CALL_LIMIT) as answer:
        return answer.read().decode()


def http_json(url):
    return json.loads(http_text(url))


class Alone:
    """`entitled sandbox serve` without a service."""

    def __init__(self, folder, *arguments):
        (folder / "entitled.yaml").write_text(CONFIGURATION.split("    webhooks:")[0], encoding="utf-8")
        self.process = subprocess.Popen(
            [PROGRAM, "sandbox", "serve", "--in-memory", "--sandbox", "127.0.0.1:0", "--config",
             folder / "entitled.yaml", *arguments], stdout=subprocess.PIPE, text=True, env=environment())
        self.address = self.process.stdout.readline().strip().removeprefix("ready sandbox=")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(STOP_LIMIT) == 0
        self.process.stdout.close()


    def act(self, path, **members):
        status, answer = post(f"http://{self.address}/sandbox/v1/{path}", members)
        assert status == 200, (path, answer)
        return answer

    def owned(self):
        """The purchases of each account, and the states of its subscriptions, without ids and dates."""
        url = f"http://{self.address}/sandbox/v1"
        owned = {}
        for owner in http_json(f"{url}/owners?app={APP}")["owners"]:
            account = http_json(f"{url}/accounts/{urllib.parse.quote(owner['account'], safe='')}?app={APP}")["apps"][0]
            owned[owner["account"]] = {
                "owned": sorted(each["productId"] for each in owner["owned"]),
                "bought": [each["productId"] for each in account["transactions"]],
                "refunded": [each["productId"] for each in account["transactions"] if "revocationDate" in each],
                "subscriptions": [(each["productId"], each["status"], each["autoRenewStatus"])
                                  for each in account["subscriptions"]],
            }  # fmt: skip
        return owned


def eventful_life(alone):
    """Commands that name transactions, requests and seats by ids that only this sandbox knows."""
    buy = lambda product, account, **more: alone.act("purchases", app=APP, productId=product, account=account, **more)  # noqa: E731
    alone.act("grace-period", app=APP, days=16)
    ada = buy("pro.monthly", "ada")
    maps = buy("maps.pack", HOSTILE)
    buy("shells.100", HOSTILE, quantity=3)
    alone.act("clock/advance", by="40d")
    shells = buy("shells.100", HOSTILE)
    alone.act("billing", account="ada", fails=True)
    alone.act("clock/advance", by="50d")
    alone.act("billing", account="ada", fails=False)
    alone.act("clock/advance", by="3h")
    buy("studio.monthly", "ada")
    alone.act("extend", transactionId=ada["transactionId"], days=10)
    alone.act("auto-renew", transactionId=ada["transactionId"], enabled=False)
    alone.act("refund", transactionId=maps["transactionId"])
    alone.act("refund", transactionId=shells["transactionId"])
    alone.act("clock/advance", by="1d")
    alone.act("reverse-refund", transactionId=maps["transactionId"])
    asked = [buy("maps.pack", "ben", askToBuy=True), buy("pro.monthly", "ben", askToBuy=True)]
    alone.act("ask-to-buy", request=asked[1]["request"], approved=False)
    alone.act("ask-to-buy", request=asked[0]["request"], approved=True)
    seats = buy("pro.monthly", "team", seats=3)
    alone.act("assign-seat", transactionId=seats["transactionId"], account="cleo")
    alone.act("scenarios/year-in-the-life", app=APP)
    alone.act("clock", speed=60)


@pytest.mark.parametrize("has_same_start", [False, True])
def test_the_script_of_the_journal_does_the_same_in_a_new_sandbox(tmp_path, has_same_start):
    """Run by a shell, as on a machine for CI: at another date, and at the same date on which it began."""
    with Alone(tmp_path, "--start", "2024-01-31T10:00:00Z") as alone:
        eventful_life(alone)
        expected = alone.owned()
        script = http_text(f"http://{alone.address}/apps/{APP}/journal.sh")
    assert len(expected) > 4 and expected["ada"]["subscriptions"] and expected[HOSTILE]["refunded"]
    start = next(line.split("--start ")[1] for line in script.splitlines() if "--start" in line)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "entitled").symlink_to(pathlib.Path(PROGRAM).resolve())
    with Alone(tmp_path, *(["--start", start] if has_same_start else [])) as alone:
        done = subprocess.run(
            ["bash"], input=script, text=True, capture_output=True, cwd=tmp_path, timeout=CALL_LIMIT * 4,
            env=environment() | {"ENTITLED_SANDBOX": alone.address, "PATH": f"{programs}:{os.environ['PATH']}"})
        assert done.returncode == 0, done.stderr
        assert http_json(f"http://{alone.address}/sandbox/v1/clock")["speed"] == 60
        owned = alone.owned()
    if not has_same_start:
        # The same days contain another number of months at another date.
        for account in [*owned.values(), *expected.values()]:
            account["bought"] = sorted(set(account["bought"]))
    assert owned == expected


def test_the_pages_work_without_service_and_without_scripts(chromium, tmp_path):
    with Alone(tmp_path) as alone:
        context = chromium.new_context(**VIEWS["script-free"])
        page = context.new_page()
        page.goto(f"http://{alone.address}/")
        assert "Nothing happened yet" in page.text_content("main")
        click(page, "text=To the shop")
        card = page.locator("section.card", has_text="shells.100")
        card.locator("input[name=account]").fill("bob")
        card.locator("input[name=quantity]").fill("3")
        with page.expect_navigation():
            card.locator("button").click()
        assert "3 items" in page.text_content("main")
        click(page, "nav >> text=ocean")
        click(page, "text=+1 day")
        assert "Done: Advance the clock." in page.text_content("main")
        click(page, "nav >> text=Scenarios")
        click(page, "text=Run: Refund abuse")
        assert page.url.split("?")[0].endswith("/journal") and "REFUND_REVERSED" in page.text_content("main")
        context.close()


def test_a_rejected_form_says_why_and_keeps_what_was_typed(sandbox, visit):
    page = visit()
    page.goto(f"{sandbox.url}/apps/{APP}/do/purchases")
    page.select_option("#productId", "pro.monthly")
    page.fill("#account", "cleo")
    page.fill("#appAccountToken", "not a UUID")
    click(page, "main form button.primary")
    assert "appAccountToken is not a UUID" in page.text_content("[role=alert]")
    assert page.input_value("#account") == "cleo" and page.input_value("#productId") == "pro.monthly"


@pytest.fixture(scope="module")
def eventful(sandbox):
    """All scenarios, a fault, an offer, a hostile name."""
    for name in ["year-in-the-life", "refund-abuse", "family", "price-increase"]:
        sandbox.act(f"scenarios/{name}", app=APP)
    sandbox.act("offers", app=APP, productId="pro.monthly", id="trial", type="INTRODUCTORY", mode="FREE_TRIAL", period="P1W")
    sandbox.act("purchases", app=APP, productId="pro.monthly", account=HOSTILE, offer="trial")
    sandbox.act("purchases", app=APP, productId="pro.monthly", account=HOSTILE, seats=3)
    sandbox.act("assign-seat", transactionId=sandbox.act("restore", app=APP, account=HOSTILE)["transactionId"], account="ben")
    sandbox.act("purchases", app=APP, productId="maps.pack", account="ben", askToBuy=True)
    sandbox.act("faults", kind="drop", count=2, every=3)
    first = http_json(f"{sandbox.url}/sandbox/v1/notifications")["notifications"][-1]
    return {"uuid": first["notificationUUID"], "hostile": urllib.parse.quote(HOSTILE, safe="")}


# The element with the focus, if the header of the page covers it (WCAG 2.4.11).
COVERED = """() => {
    const [element, header] = [document.activeElement, document.querySelector(".frame")];
    if (header.contains(element) || element.matches("body, .skip")) return null;
    return element.getBoundingClientRect().bottom <= header.getBoundingClientRect().bottom ? element.outerHTML : null;
}"""


def test_no_element_with_the_focus_is_under_the_header(sandbox, visit, eventful):
    page = visit()
    page.goto(f"{sandbox.url}/apps/{APP}/notifications")
    for width in (700, 1000, 1280):
        page.set_viewport_size({"width": width, "height": 500})
        page.locator("main a").last.focus()
        for _ in range(30):
            page.keyboard.press("Shift+Tab")
            assert not (found := page.evaluate(COVERED)), (width, found)


PAGES = [
    "", "?did=refund&since=0", "accounts", "accounts/ben", "accounts/{hostile}", "shop?account={hostile}", "catalog", "notifications",
    "notifications/{uuid}", "journal", "journal?all=1", "scenarios", "faults", "settings", "do", "do/purchases",
    "do/refund?transactionId=1", "do/advance", "do/fault", "nothing",
]  # fmt: skip


def address(sandbox, eventful, path):
    path = path.format(**eventful)
    return f"{sandbox.url}/apps/{APP}" + (path if path.startswith("?") else f"/{path}" if path else "")


# In the short form, one page is enough for those with the same parts.
LOOKED_AT = PAGES if IS_LONG else [
    path for path in PAGES
    if path not in ("?did=refund&since=0", "accounts/ben", "journal?all=1", "do/refund?transactionId=1", "do/fault")
]  # fmt: skip


@pytest.mark.parametrize("views", [["light"], ["dark"], ["phone"]] if IS_LONG else [["light", "dark", "phone"]])
def test_no_page_violates_an_accessibility_rule(sandbox, visit, eventful, views):
    """In the short form, the pages are dealt out to the views. A hostile name is in them."""
    found = []
    for index, view in enumerate(views):
        page = visit(view, bypass_csp=True)
        for path in LOOKED_AT[index :: len(views)]:
            page.goto(address(sandbox, eventful, path))
            found += [f"{view} {path} {each}" for each in violations(page)]
            if page.locator("main img").count():
                found.append(f"{path}: the name is markup")
            if view == "phone" and (width := page.evaluate("document.documentElement.scrollWidth")) > 390:
                found.append(f"{path} is {width} wide")
    assert not found, "\n".join(found)
    page.goto(f"{sandbox.url}/apps/{APP}/accounts/{eventful['hostile']}")
    assert HOSTILE in page.text_content("h1")


def test_every_operation_has_a_form(sandbox, visit):
    page = visit()
    page.goto(f"{sandbox.url}/apps/{APP}/do")
    links = [link.get_attribute("href") for link in page.locator("main tbody a").all()]
    assert len(links) > 60
    for link in links:
        page.goto(sandbox.url + link)
        assert page.locator("main form button.primary").count() == 1, link
        assert page.locator("main label").count() == page.locator("main form :is(input:not([type=hidden]), select, textarea)").count()


def request(address, method, path, headers, body=b""):
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)
    connection.putrequest(method, path, skip_host=True)
    for name, value in ({"Host": address} | headers).items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    return connection.getresponse()


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.mark.parametrize("headers, status", [
    (FORM | OWN, 303), (FORM, 403), (FORM | {"Origin": "http://evil.example"}, 403),
    (FORM | {"Origin": "null"}, 403), (FORM | {"Sec-Fetch-Site": "cross-site"}, 403),
    (FORM | {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:1"}, 403),
    (FORM | OWN | {"Host": "evil.example"}, 421), ({"Content-Type": "text/plain"} | OWN, 415),
    ({"Content-Type": "application/json"} | OWN, 415),
])  # fmt: skip
def test_only_forms_of_the_pages_themselves_act(sandbox, headers, status):
    before = http_json(f"{sandbox.url}/sandbox/v1/clock")["milliseconds"]
    response = request(sandbox.service.sandbox, "POST", f"/apps/{APP}/do/advance", headers, b"by=1d")
    after = http_json(f"{sandbox.url}/sandbox/v1/clock")["milliseconds"]
    assert response.status == status
    assert (after - before >= 86_400_000) == (status == 303)


@pytest.mark.parametrize("path", ["/", f"/apps/{APP}", f"/apps/{APP}/journal.sh", "/assets/none.css"])
def test_a_rebound_name_reads_no_page(sandbox, path):
    assert request(sandbox.service.sandbox, "GET", path, {"Host": "evil.example"}).status == 421


def test_a_form_returns_to_no_other_site(sandbox):
    for back in ["//evil.example/", "https://evil.example/", "/\\evil.example", "..%2f..%2f"]:
        body = urllib.parse.urlencode({"by": "0s", "_back": back}).encode()
        response = request(sandbox.service.sandbox, "POST", f"/apps/{APP}/do/advance", FORM | OWN, body)
        assert response.status == 303
        target = urllib.parse.urljoin(f"{sandbox.url}/apps/{APP}/do/advance", response.getheader("location"))
        assert target.startswith(f"{sandbox.url}/apps/{APP}")


def test_pages_have_the_header_fields_of_the_console(sandbox):
    response = request(sandbox.service.sandbox, "GET", f"/apps/{APP}", {})
    policy = response.getheader("content-security-policy")
    assert "script-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert response.getheader("x-content-type-options") == "nosniff"
    assert response.getheader("cache-control") == "no-store"
    text = response.read().decode()
    assert "style=" not in text and "onclick" not in text


def test_no_other_page_can_frame_it(sandbox, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto("about:blank")
    page.set_content(f'<iframe src="{sandbox.url}/"></iframe>')
    page.wait_for_load_state("networkidle")
    assert not any(frame.url.startswith(sandbox.url) and frame.query_selector("h1") for frame in page.frames)
    context.close()


def test_a_page_is_small_and_does_not_move(sandbox, visit, eventful):
    page = visit()
    sizes, forget = received(page)
    forget()
    page.add_init_script(SHIFT)
    page.goto(f"{sandbox.url}/apps/{APP}")
    page.wait_for_load_state("networkidle")
    assert 0 < sum(sizes) < 150_000
    assert page.evaluate("self.shift") <= 0.01


def test_a_printed_page_has_no_frame(sandbox, visit, eventful):
    page = visit()
    page.goto(f"{sandbox.url}/apps/{APP}/accounts/ada")
    page.emulate_media(media="print")
    assert not page.is_visible(".frame") and page.is_visible("svg") and not page.is_visible("form")


def test_the_command_runs_a_scenario(sandbox):
    done = subprocess.run(
        [PROGRAM, "sandbox", "scenario", "family", "--sandbox", sandbox.service.sandbox], capture_output=True, text=True,
        env=environment(), timeout=CALL_LIMIT)
    assert done.returncode == 0 and '"REVOKE"' in done.stdout, done.stderr
    unknown = subprocess.run(
        [PROGRAM, "sandbox", "scenario", "none", "--sandbox", sandbox.service.sandbox], capture_output=True, text=True,
        env=environment(), timeout=CALL_LIMIT)
    assert unknown.returncode == 64 and "price-increase" in unknown.stderr
