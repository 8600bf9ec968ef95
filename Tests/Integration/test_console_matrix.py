"""Each page of the console for each role, in each state and each way to look at it.

`make test` looks at each page once as an administrator, with a browser in one of the views, and requests each one for
each other role without a browser; ENTITLED_LONG, which `make test-long` sets, looks at all combinations.
"""

import datetime
import itertools
import re
import urllib.parse

import pytest

from console_browser import SHIFT, VIEWS, Watched, received, violations
from console_client import ADMIN, CALLERS, OPERATOR, READER, Browser, ProxiedConsole
from console_story import APP, CHARTS, CUSTOMER, tell, wait_for_reports
from harness import IS_LONG

HERE = f"/a/{APP}/sandbox"
AUDITOR, STRANGER, FINANCE = "aude@example.com", "stranger@example.com", "fina@example.com"
ROLES = {"read": READER, "operate": OPERATOR, "admin": ADMIN, "audit": AUDITOR, "reports": FINANCE, "none": STRANGER}
PEOPLE = CALLERS.replace("  admins:", f"  auditors: {{roles: [audit], subjects: [{AUDITOR}]}}\n"
                         f"  finance: {{roles: [reports], subjects: [{FINANCE}]}}\n  admins:")
# In the short form, the pages are dealt out to these.
DEALT = ["light", "dark", "phone"]

# The pages with the roles that may open them; all but strangers, if none are named.
EVERYONE_WHO_READS = ("read", "operate", "admin")
WHO_SEES_REPORTS = (*EVERYONE_WHO_READS, "reports")
PAGES = {
    "/": (*WHO_SEES_REPORTS, "audit"),
    "/apps": EVERYONE_WHO_READS,
    "/find": (*WHO_SEES_REPORTS, "audit"),
    "/find?q=ada@": EVERYONE_WHO_READS,
    "/find?q=nothing-of-that-name": EVERYONE_WHO_READS,
    "customers/{customer}": EVERYONE_WHO_READS,
    "customers/{customer}?at={past}": EVERYONE_WHO_READS,
    "customers/{customer}?at={past}&known=then": EVERYONE_WHO_READS,
    "customers/{customer}?explain=pro&apple=1&webhooks=1&type=RENEWED": EVERYONE_WHO_READS,
    "customers/{customer}?range=all": EVERYONE_WHO_READS,
    "customers/twice": EVERYONE_WHO_READS,
    "customers/not-yet-known": EVERYONE_WHO_READS,
    "purchases/{pro}": EVERYONE_WHO_READS,
    "evidence/2": EVERYONE_WHO_READS,
    "evidence/2?body=1": EVERYONE_WHO_READS,
    "events/1": EVERYONE_WHO_READS,
    "work": EVERYONE_WHO_READS,
    "work/refunds": EVERYONE_WHO_READS,
    "work/unclaimed": EVERYONE_WHO_READS,
    "work/dead-letters": ("operate", "admin"),
    "work/rejected": EVERYONE_WHO_READS,
    "work/drift": EVERYONE_WHO_READS,
    "work/contradictions": EVERYONE_WHO_READS,
    "work/disagreements": EVERYONE_WHO_READS,
    "work/migrations": EVERYONE_WHO_READS,
    "do/grant?customer={customer}": ("operate", "admin"),
    "do/merge?customer={customer}": ("operate", "admin"),
    "do/make-good": ("operate", "admin"),
    "do/answer-refund?transaction={asked}&customer=bob": ("operate", "admin"),
    "do/erase?customer={customer}": ("admin",),
    "do/extend-all": ("admin",),
    "do/consent?customer={customer}": ("operate", "admin"),
    "do/set-token?purchase={pro}": ("operate", "admin"),
    "work/dead-letters/billing/1/1": ("operate", "admin"),
    "purchases/{unclaimed}": EVERYONE_WHO_READS,
    "do/reprocess": ("operate", "admin"),
    "segments": EVERYONE_WHO_READS,
    "segments/renewing": EVERYONE_WHO_READS,
    "segments/built-in/renewal-off": EVERYONE_WHO_READS,
    "segments/built-in/in-trial": EVERYONE_WHO_READS,
    "segments/built-in/shared": EVERYONE_WHO_READS,
    "segments/built-in/granted": EVERYONE_WHO_READS,
    "work/withdrawn-consents": EVERYONE_WHO_READS,
    "catalog": EVERYONE_WHO_READS,
    "/reports": WHO_SEES_REPORTS,
    "reports": WHO_SEES_REPORTS,
    **{f"reports/{name}": WHO_SEES_REPORTS for name in CHARTS},
    "reports/reconciliation/{day}": WHO_SEES_REPORTS,
    "reports/mrr?by=day&known=first&note-day={day}&note=release": WHO_SEES_REPORTS,
    "reports/active?from=2001-01-01&to=2001-02-01": WHO_SEES_REPORTS,
    "reports/revenue/customers?report=revenue&column=gross&bucket={month}&by=month&currency=USD": EVERYONE_WHO_READS,
    "/status": EVERYONE_WHO_READS,
    "/audit": ("operate", "admin", "audit"),
    "/audit?customer=unknown": ("operate", "admin", "audit"),
    "/nothing": (),
    "evidence/999999": (),
}  # fmt: skip


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    console = ProxiedConsole(tmp_path_factory.mktemp("matrix"), callers=PEOPLE)
    console.ids = tell(console)
    # Two subscriptions of one group at once: a contradiction.
    console.submit("twice", console.buy("one", "pro.monthly"))
    console.submit("twice", console.buy("two", "pro.monthly"))
    console.call("SegmentService/CreateSegment", environment="ENVIRONMENT_SANDBOX", name="renewing",
                 filter={"states": ["ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_ON"]})
    history = console.call("CustomerService/GetCustomerHistory", customerId=CUSTOMER)
    console.month = wait_for_reports(console)
    console.past = min(mark["time"] for lane in history["lanes"] for mark in lane.get("marks", []))
    yield console
    console.service.stop()


def address(console, path):
    past = int(datetime.datetime.fromisoformat(console.past.replace("Z", "+00:00")).timestamp()) + 40 * 86_400
    return console.url + (path if path.startswith("/") else f"{HERE}/{path}").format(
        customer=urllib.parse.quote(CUSTOMER), pro=console.ids["pro"]["transactionId"],
        asked=console.ids["asked"]["transactionId"], unclaimed=console.ids["unclaimed"]["transactionId"], past=past,
        month=f"{console.month}-01", day=f"{console.month}-15")  # fmt: skip


def expected(path, role, people):
    """The statuses that a page may have for a role."""
    if role == "none":
        return {401}
    if role in people:
        return {200}
    return {403, 404}


def look(console, chromium, role, view, paths):
    """The faults of pages in a view: in their content, elements that move, and transfers without a cache."""
    watched = Watched(chromium, console.url)
    page = watched.page(view, bypass_csp=True, extra_http_headers={"X-Proxy-JWT": console.token(ROLES[role])})
    page.add_init_script(SHIFT)
    sizes, forget = received(page)
    wrong = []
    for path in paths:
        forget()
        status = page.goto(address(console, path)).status
        if status not in expected(path, role, PAGES[path]):
            wrong.append(f"{path}: status {status}")
            continue
        wrong += [f"{path}: {each}" for each in problems(page, role, view, status)]
        if not 0 < sum(sizes) < 150_000:
            wrong.append(f"{path}: {sum(sizes)} bytes")
    watched.close()
    return wrong


@pytest.mark.skipif(IS_LONG, reason="the full matrix contains it")
def test_every_page_is_accessible_small_and_still_in_one_view(console, chromium):
    wrong = []
    for index, view in enumerate(DEALT):
        wrong += look(console, chromium, "admin", view, list(PAGES)[index :: len(DEALT)])
    assert not wrong, "\n".join(wrong)


# Without any combination, pytest reports the test as skipped.
@pytest.mark.parametrize("role, view", list(itertools.product(ROLES, VIEWS)) if IS_LONG else [])
def test_every_page_is_right_for_each_role_and_view(console, chromium, role, view):
    wrong = look(console, chromium, role, view, PAGES)
    assert not wrong, "\n".join(wrong)


def test_every_page_opens_for_its_roles_and_is_refused_to_others(console):
    """Without a browser: status, explanation, and no form of an action for the role `read`."""
    wrong = []
    # In the short form, the browser has requested each page as an administrator, with more checks than here.
    roles = {role: email for role, email in ROLES.items() if IS_LONG or role != "admin"}
    for (role, email), (path, people) in itertools.product(roles.items(), PAGES.items()):
        page = console.browser(email).get(address(console, path).removeprefix(console.url))
        main = page.text.partition("<main")[2]
        if page.status not in expected(path, role, people) | ({303} if path in ("/", "/find?q=ada@") else set()):
            wrong.append(f"{role} {path}: status {page.status}")
        elif page.status == 200 and (page.text.count("<h1") != 1 or "<title>" not in page.text):
            wrong.append(f"{role} {path}: no title")
        elif page.status >= 400 and 'role="alert"' not in main and "<p" not in main:
            wrong.append(f"{role} {path}: an error without explanation")
        elif role == "read" and re.search(r'href="[^"]*/do/|method="post" action="(?!/find"|[^"]*\.csv)', main):
            wrong.append(f"{path}: the role read sees a button")
    assert not wrong, "\n".join(wrong)


# The pages that show customers, or search for them.
ABOUT_CUSTOMERS = [
    path for path in PAGES
    if "customers" in path.split("/")[0] or "/customers?" in path or path.startswith(("/find?q=", "purchases/", "evidence/2", "events/"))
] + [
    "catalog", "work/refunds", "work/unclaimed", "work/contradictions", "work/rejected", "work/withdrawn-consents", "work/disagreements",
    "segments/renewing", "segments/built-in/shared", "segments/built-in/granted",
]  # fmt: skip


def test_each_look_at_customers_is_in_the_audit_log_under_the_persons_name(console):
    """Also a search that finds nothing. A different person looks at each page."""
    missing = []
    for number, path in enumerate(ABOUT_CUSTOMERS):
        email = f"looker-{number}@example.com"
        browser = Browser(console.address, {"X-Proxy-JWT": console.token(email, groups=["read"])})
        page = browser.get(address(console, path).removeprefix(console.url))
        assert page.status in (200, 303), (path, page.status)
        status, answer = console.service.json("entitled.v1.AuditService/ListAuditEntries", {"actor": email}, **console.headers)
        assert status == 200, answer
        if not answer.get("entries"):
            missing.append(path)
    assert len(ABOUT_CUSTOMERS) > 15 and not missing, missing


FILES = [
    "customers/{customer}/history.csv", "work/refunds.csv", "work/unclaimed.csv", "work/contradictions.csv", "work/rejected.csv",
    "segments/renewing.csv", "segments/built-in/renewal-off.csv", "segments/built-in/granted.csv",
    "reports/revenue/customers.csv?report=revenue&column=gross&bucket={month}&by=month&currency=USD",
]  # fmt: skip


def test_each_file_with_customers_is_in_the_audit_log_with_its_reason(console):
    wrong = []
    for number, path in enumerate(FILES):
        email, reason = f"downloader-{number}@example.com", f"ticket {number}"
        browser = Browser(console.address, {"X-Proxy-JWT": console.token(email, groups=["read"])})
        file = browser.csv(address(console, path).removeprefix(console.url), reason)
        assert file.status == 200 and file.getheader("cache-control") == "no-store", (path, file.status)
        assert file.getheader("content-disposition") == "attachment"
        status, answer = console.service.json("entitled.v1.AuditService/ListAuditEntries", {"actor": email}, **console.headers)
        notes = {entry.get("note") for entry in answer.get("entries", [])}
        if status != 200 or notes != {reason}:
            wrong.append((path, notes))
    assert not wrong, wrong


@pytest.mark.parametrize("role, path", [("read", "work"), ("admin", "catalog"), ("reports", "reports/mrr"), ("audit", "/audit")])
def test_the_frame_leads_to_what_the_role_may_open(console, role, path):
    browser = console.browser(ROLES[role])
    frame = browser.get(address(console, path).removeprefix(console.url)).text.partition("<main")[0]
    links = re.findall(r'<a href="([^"]+)"[^>]* data-key', frame)
    assert links and [link for link in links if browser.get(link).status not in (200, 303)] == []
    assert ('class="find"' in frame) == (role in EVERYONE_WHO_READS)
    assert ("You may look" in frame) == (role != "admin")


def test_an_auditor_begins_with_the_audit_log(console):
    home = console.browser(AUDITOR).get("/")
    assert home.status == 303 and home.getheader("location") == "/audit"


def test_a_person_who_submits_is_not_told_to_look_only(console):
    submitter = Browser(console.address, {"X-Proxy-JWT": console.token("new@example.com", groups=["read", "submit"])})
    page = submitter.get(address(console, "customers/{customer}").removeprefix(console.url)).text
    assert "/do/consent" in page and "/do/grant" not in page and "You may look" not in page


def problems(page, role, view, status):
    if view == "print":
        # A navigation ends the emulation.
        page.emulate_media(media="print")
        if page.is_visible(".frame, .actions, .skip:not(:focus)"):
            yield "a printed page has the frame"
        return
    if page.locator("h1").count() != 1:
        yield f"{page.locator('h1').count()} h1"
    if not page.title():
        yield "no title"
    buttons = "main a[href*='/do/'], main form[method=post]:not([action='/find'], [action*='.csv'])"
    if role == "read" and status == 200 and page.locator(buttons).count():
        yield "the role read sees a button"
    if status >= 400 and page.locator("[role=alert], main p").count() == 0:
        yield "an error without explanation"
    if view == "script-free":
        return
    yield from violations(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    if width > VIEWS[view]["viewport"]["width"]:
        yield f"{width} pixels wide"
    # The header's line moves by a few pixels if the page learns of newer events while it loads, and the columns of a
    # table move if its rows arrive in two parts. Google's "good" is 0.1.
    if (moved := page.evaluate("self.moved")) and page.evaluate("self.shift") > 0.01:
        yield f"a layout shift of {page.evaluate('self.shift')}: {', '.join(moved)}"


def test_the_pages_of_the_matrix_are_those_of_the_router():
    """Each address that the documentation names is in the matrix."""
    paths = {path.split("?")[0].split("/")[0 if not path.startswith("/") else 1] for path in PAGES}
    assert paths >= {"", "find", "customers", "purchases", "evidence", "events", "work", "do", "segments", "status", "audit", "reports", "catalog"}
