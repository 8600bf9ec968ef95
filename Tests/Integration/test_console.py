"""The console over HTTP: signing in, pages, roles, and what an attacker can try."""

import html
import http.client
import re
import urllib.parse

import pytest

from console_story import APP, CONFIGURATION, CUSTOMER, Console, tell
from harness import CALL_LIMIT, FREE_PORTS, PROGRAM, environment

HERE = f"/a/{APP}/sandbox"


class Browser:
    """A client with one cookie, as a browser without scripts."""

    def __init__(self, address, headers=None):
        self.address, self.cookie, self.headers = address, None, headers or {}

    def request(self, method, path, body=None, **headers):
        host, _, port = self.address.rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)
        fields = {"Host": self.address} | self.headers | {k.replace("_", "-"): v for k, v in headers.items()}
        if self.cookie:
            fields["Cookie"] = self.cookie
        if body is not None:
            fields = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{self.address}"} | fields
            body = urllib.parse.urlencode(body) if isinstance(body, dict) else body
        connection.putrequest(method, path, skip_host=True)
        for name, value in fields.items():
            if value is not None:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body or "")))
        connection.endheaders((body or "").encode())
        response = connection.getresponse()
        response.text = response.read().decode()
        return response

    def get(self, path, **headers):
        return self.request("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.request("POST", path, body, **headers)

    def sign_in(self, link, name="lena@example.com"):
        parts = urllib.parse.urlsplit(link)
        code = urllib.parse.parse_qs(parts.query)["code"][0]
        response = self.post(parts.path, {"code": code, "name": name})
        if response.status == 303:
            self.cookie = response.getheader("set-cookie").split(";")[0]
        return response


def hidden(text):
    """The hidden fields of the last form of a page."""
    form = text[text.rindex("<form"):]
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form, re.S)
    return {html.unescape(name): html.unescape(value) for name, value in found}


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    console = Console(tmp_path_factory.mktemp("console"))
    console.ids = tell(console)
    yield console
    console.service.stop()


@pytest.fixture(scope="module")
def lena(console):
    browser = Browser(console.address)
    assert browser.sign_in(console.new_link()).status == 303
    return browser


def test_a_one_time_link_signs_in_once(console):
    link = console.new_link()
    browser = Browser(console.address)
    assert browser.get("/").status == 401
    parts = urllib.parse.urlsplit(link)
    preview = browser.get(f"{parts.path}?{parts.query}")
    assert preview.status == 200 and "<form" in preview.text, "a preview of the link does not use it up"
    assert browser.sign_in(link).status == 303
    assert browser.get("/").status == 200
    assert Browser(console.address).sign_in(link).status == 403


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
    ({"Origin": None}, 403), ({"Content_Type": "text/plain"}, 415), ({"Content_Type": "multipart/form-data"}, 415),
])  # fmt: skip
def test_a_form_of_another_page_is_refused(console, lena, headers, status):
    assert lena.post(f"{HERE}/do/grant", {"customer": "eve"}, **headers).status == status


def test_a_click_from_another_site_loads_the_page_once_more(console):
    page = Browser(console.address).get(f"{HERE}/customers/ada", Sec_Fetch_Site="cross-site")
    assert page.status == 200 and 'http-equiv="refresh"' in page.text
    assert 'http-equiv="refresh"' not in Browser(console.address).get("/", Sec_Fetch_Site="same-origin").text


def test_find_leads_to_the_customer_by_any_id(console, lena):
    for query in (CUSTOMER, console.ids["pro"]["transactionId"], "ada", "CRM-8812", "#1"):
        page = lena.get("/find?" + urllib.parse.urlencode({"q": query})).text
        assert f"/customers/{urllib.parse.quote(CUSTOMER, safe='')}" in page, query


def test_find_offers_to_ask_apple_about_what_is_not_here(lena):
    page = lena.get("/find?q=MZZZ99").text
    assert "Not here" in page and "/do/look-up-order?order=MZZZ99" in page


def test_the_customer_page_shows_verdicts_history_and_timeline(console, lena):
    page = lena.get(f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}").text
    assert page.count('<article class="card') == 3
    assert "update the payment details" in page and "<svg" in page and "hatch-grace" in page
    for event in ("claimed by another", "refunded", "granted", "entered grace period", "recovered"):
        assert event in page.lower(), event
    for text in ("Wrote twice about maps.", "CRM-8812", "lena@example.com", "shells.100", "maps.pack"):
        assert text in page, text


def test_as_of_moves_every_figure(console, lena):
    path = f"{HERE}/customers/{urllib.parse.quote(CUSTOMER)}"
    now = lena.get(path).text
    first = int(re.search(r'name="at" min="(\d+)"', now)[1])
    then = lena.get(f"{path}?at={first + 10 * 86400}").text
    assert 'class="as-of"' in then and "Back to now" in then
    assert then.count("<article") == 3 and "update the payment details" not in then
    assert "granted" not in then.lower().split('id="timeline"')[1].split("</table>")[0]
    assert "maps.pack" not in then.split('id="purchases"')[1].split("</table>")[0]
    assert "Wrote twice" not in then
    assert "Grant…" not in then, "a past moment has no buttons"


@pytest.mark.parametrize("path", [
    "purchases/{pro}", "evidence/2", "events/1", "work", "work/refunds", "work/unclaimed", "work/dead-letters",
    "work/rejected", "work/drift", "work/migrations", "customers/not-yet-known", "customers/{customer}/history.csv",
])  # fmt: skip
def test_pages_are_served(console, lena, path):
    path = path.format(pro=console.ids["pro"]["transactionId"], customer=urllib.parse.quote(CUSTOMER))
    assert lena.get(f"{HERE}/{path}").status == 200, path


@pytest.mark.parametrize("path", ["/status", "/audit", "/", "/find"])
def test_pages_of_the_service_are_served(lena, path):
    assert lena.get(path).status == 200


@pytest.mark.parametrize("path", ["/nothing", "/a", f"{HERE}/evidence/999999", f"{HERE}/events/0", "/a/other/sandbox/work/refunds",
                                  f"/a/{APP}/nowhere/work", f"{HERE}/work/other", f"{HERE}/do/other"])  # fmt: skip
def test_what_does_not_exist_is_an_error_page(lena, path):
    page = lena.get(path)
    assert page.status == 404 and "That did not work" in page.text


def test_looking_is_in_the_audit_log_under_the_persons_name(console, lena):
    lena.get(f"{HERE}/customers/audited")
    entries = console.call("AuditService/ListAuditEntries", customerId="audited")["entries"]
    assert {entry["method"].split("/")[-1] for entry in entries} >= {"DescribeCustomer", "GetCustomer", "ListTimeline"}
    assert {entry["actor"] for entry in entries} == {"lena@example.com"}
    assert {entry["caller"] for entry in entries} == {"console"}


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


def test_an_erasure_needs_the_typed_id(console, lena):
    console.call("EntitlementService/Grant", customerId="gone", entitlement="pro", accessLevel="ACCESS_LEVEL_FULL")
    form = {"customer": "gone", "confirm": "gon", "note": "asked by e-mail"}
    assert "is not that of the customer" in lena.post(f"{HERE}/do/erase", form).text
    preview = lena.post(f"{HERE}/do/erase", form | {"confirm": "gone"})
    assert "cannot be undone" in preview.text
    assert lena.post(f"{HERE}/do/erase", hidden(preview.text)).status == 303
    assert not console.call("EntitlementService/GetCustomer", customerId="gone").get("grants")


def test_many_customers_are_made_good_and_undone_as_one(console, lena):
    customers = [f"harmed-{number}" for number in range(5)]
    form = {"customers": "customer_id,why\r\n" + "\r\n".join(f"{c},outage" for c in customers) + "\r\nharmed-0\r\n",
            "entitlement": "maps", "days": "3", "note": "outage of Monday"}
    preview = lena.post(f"{HERE}/do/make-good", form)
    assert "5 customers get maps" in preview.text and "changes for 5" in preview.text
    done = lena.post(f"{HERE}/do/make-good", hidden(preview.text))
    assert done.status == 303
    page = lena.get(done.getheader("location")).text
    assert "Done: Make good." in page
    for customer in customers:
        assert len(console.call("EntitlementService/GetCustomer", customerId=customer)["grants"]) == 1
    undo = html.unescape(re.search(r'href="([^"]*do/undo-batch[^"]*)">Undo', page)[1])
    batch = re.search(r"batch=([0-9a-f]+)", undo)[1]
    preview = lena.post(f"{HERE}/do/undo-batch", {"batch": batch, "note": "it was no outage"})
    assert "5 grants of 5 customers end now" in preview.text
    assert lena.post(f"{HERE}/do/undo-batch", hidden(preview.text)).status == 303
    for customer in customers:
        assert console.call("EntitlementService/GetCustomer", customerId=customer)["grants"][0]["revokedAt"]


def test_markup_in_names_and_notes_stays_text(console, lena):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    console.call("CustomerService/AddNote", customerId=evil, text=evil, actor=evil)
    console.call("CustomerService/SetCustomerAttributes", customerId=evil, attributes=[{"name": "a", "value": evil}])
    console.call("EntitlementService/Grant", customerId=evil, entitlement="pro", accessLevel="ACCESS_LEVEL_FULL", note=evil, actor=evil)
    quoted = urllib.parse.quote(evil, safe="")
    for path in (f"{HERE}/customers/{quoted}", f"/find?q={quoted}", "/audit", f"{HERE}/do/grant?customer={quoted}"):
        page = lena.get(path)
        assert page.status == 200 and "<script>alert" not in page.text and "<img" not in page.text, path


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


CALLERS = """callers:
  machines: {roles: [admin], tokens: ["sha256:HASH"]}
  support: {roles: [read], subjects: [lena@example.com]}
  operators: {roles: [read, operate], subjects: [otto@example.com]}
listeners:
  console:
    identity:
      header: X-Proxy-JWT
      issuer: https://proxy.example.com
      audience: console
      subject_claim: email
      roles_claim: groups
      keys: {file: keys.json}
"""


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    """A console behind a proxy that signs people in, and the proxy's signature."""
    import base64
    import hashlib
    import json
    import time

    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    key = ec.generate_private_key(ec.SECP256R1())
    text = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()  # noqa: E731
    numbers = key.public_key().public_numbers()
    folder = tmp_path_factory.mktemp("proxied")
    (folder / "keys.json").write_text(json.dumps({"keys": [{
        "kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256", "use": "sig",
        "x": text(numbers.x.to_bytes(32, "big")), "y": text(numbers.y.to_bytes(32, "big"))}]}), encoding="utf-8")

    def token(email, sign=key, algorithm="ES256", **more):
        claims = {"iss": "https://proxy.example.com", "aud": "console", "email": email, "exp": time.time() + 600} | more
        body = text(json.dumps({"alg": algorithm, "kid": "one"}).encode()) + "." + text(json.dumps(claims).encode())
        if algorithm == "none":
            return body + "."
        r, s = utils.decode_dss_signature(sign.sign(body.encode(), ec.ECDSA(hashes.SHA256())))
        return body + "." + text(r.to_bytes(32, "big") + s.to_bytes(32, "big"))

    secret = "ent_" + "a" * 43
    callers = CALLERS.replace("HASH", hashlib.sha256(secret.encode()).hexdigest())
    port = __import__("harness").free_port()
    console = Console(folder, CONFIGURATION + callers, address=f"127.0.0.1:{port}")
    console.address = f"127.0.0.1:{port}"
    console.token, console.other_key, console.secret = token, ec.generate_private_key(ec.SECP256R1()), secret
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
    lambda p: None, lambda p: "lena@example.com", lambda p: p.token("lena@example.com", sign=p.other_key),
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
    assert browser.get("/").status == 200
