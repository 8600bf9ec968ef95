"""Live pages over HTTP: a stream that announces the events of one customer, and what ends it."""

import contextlib
import http.client
import signal
import socket
import time

import pytest

from console_client import OPERATOR, READER, Browser, ProxiedConsole
from console_story import APP, CONFIGURATION, Console
from harness import CALL_LIMIT, wait_for
from raw import Connection
from test_callers import reload

HERE = f"/a/{APP}/sandbox"
OTHER_APP = "apps:\n  other: {bundle_id: com.example.other, environments: [Sandbox], products: {gem: {type: Consumable}}}\n"


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    console = Console(tmp_path_factory.mktemp("live"))
    yield console
    console.service.stop()


class Live:
    """An open stream of one customer."""

    def __init__(self, browser, customer, after=0, headers=None, here=HERE):
        host, _, port = browser.address.rpartition(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)
        fields = browser.headers | (headers or {}) | ({"Cookie": browser.cookie} if browser.cookie else {})
        self.connection.request("GET", f"{here}/customers/{customer}/live?after={after}", headers=fields)
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def event(self):
        """The members of the next event; empty at the end of the stream."""
        members = {}
        while line := self.response.readline().decode():
            if line == "\n" and "data" in members:
                return members
            name, _, value = line.strip().partition(": ")
            members[name] = value
        return {}

    def close(self):
        self.response.close()
        self.connection.close()


def grant(console, customer, entitlement="pro"):
    console.call("EntitlementService/Grant", customerId=customer, entitlement=entitlement,
                 accessLevel="ACCESS_LEVEL_FULL", note="x")
    return int(console.call("EntitlementService/GetCustomer", customerId=customer)["sequence"])


def test_events_of_one_customer_are_announced_by_their_number(console, lena):
    live = Live(lena, "zoe")
    assert live.status == 200 and live.response.getheader("content-type") == "text/event-stream"
    assert live.response.getheader("cache-control") == "no-store" and live.response.getheader("content-length") is None
    assert "connect-src 'self'" in live.response.getheader("content-security-policy")
    grant(console, "another")
    first = grant(console, "zoe")
    event = live.event()
    assert (event["event"], event["id"], event["data"]) == ("change", str(first), str(first))
    assert set(event) <= {"event", "id", "data", "retry", ""}, "the stream says nothing about the customer"
    second = grant(console, "zoe", "maps")
    assert live.event()["data"] == str(second)
    live.close()
    # A page that is older than the last event learns so at once, and a browser that connects again sends the last event it received.
    late = Live(lena, "zoe", after=first)
    assert late.event()["data"] == str(second)
    late.close()
    again = Live(lena, "zoe", headers={"Last-Event-ID": str(second)})
    third = grant(console, "zoe", "studio")
    assert again.event()["data"] == str(third)
    again.close()


def test_looking_at_a_live_page_is_in_the_audit_log(console, lena):
    Live(lena, "watched").close()
    rows = wait_for(lambda: console.call("AuditService/ListAuditEntries", customerId="watched").get("entries"))
    assert rows[0]["actor"] == "lena@example.com"


def test_a_live_page_needs_a_person_and_an_app(console, lena):
    assert Live(Browser(console.address), "zoe").status == 401
    assert Live(lena, "zoe", here="/a/unknown/sandbox").status == 404


def test_a_person_has_a_limited_number_of_live_pages(console):
    ben = Browser(console.address)
    assert ben.sign_in(console.new_link(), "ben@example.com").status == 303
    open_pages = [Live(ben, f"limited-{number}") for number in range(8)]
    assert [page.status for page in open_pages] == [200] * 8
    refused = Live(ben, "limited-8")
    assert refused.status == 429 and "TOO_MANY_LIVE_PAGES" in refused.response.read().decode()
    # A browser that goes makes room.
    open_pages.pop().close()
    another = wait_for(lambda: (page := Live(ben, "limited-8")).status == 200 and page)
    for page in [another, *open_pages]:
        page.close()


def test_the_same_over_http2_and_over_http_1_0(console, lena):
    sequence = grant(console, "old")
    announced = f"id: {sequence}\nevent: change\ndata: {sequence}\n\n".encode()
    with Connection(console.address) as connection:
        stream = connection.open(f"{HERE}/customers/old/live", "GET", end=True, content_type=None, te=None,
                                 cookie=lena.cookie)
        while announced not in connection.answers[stream].data:
            assert connection.receive()
        assert connection.answers[stream].headers[":status"] == "200" and not connection.answers[stream].ended
    host, _, port = console.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=CALL_LIMIT) as plain:
        plain.sendall(f"GET {HERE}/customers/old/live HTTP/1.0\r\nHost: {console.address}\r\n"
                      f"Cookie: {lena.cookie}\r\n\r\n".encode())  # fmt: skip
        received = b""
        while not received.endswith(announced):
            part = plain.recv(4_096)
            assert part, received
            received += part
    assert b"chunked" not in received.lower() and b"connection: close" in received.lower()


def test_a_response_to_head_has_no_part_of_a_stream(console, lena):
    host, _, port = console.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=CALL_LIMIT) as plain:
        plain.sendall(f"HEAD {HERE}/customers/old/live HTTP/1.1\r\nHost: {console.address}\r\n"
                      f"Cookie: {lena.cookie}\r\n\r\n".encode())  # fmt: skip
        received = b""
        while part := plain.recv(4_096):
            received += part
    assert b" 200 OK\r\n" in received and received.endswith(b"\r\n\r\n") and received.count(b"\r\n\r\n") == 1
    assert b"chunked" not in received.lower() and b"content-length" not in received.lower()


@pytest.mark.parametrize("change", ["role", "removal", "app"])
def test_a_live_page_ends_when_its_person_loses_the_permission(tmp_path, change):
    console = ProxiedConsole(tmp_path, CONFIGURATION.replace("apps:\n", OTHER_APP, 1))
    lost, kept = (Live(console.browser(person), "zoe") for person in (READER, OPERATOR))
    assert (lost.status, kept.status) == (200, 200)
    file = tmp_path / "entitled.yaml"
    before = "  support: {roles: [read], subjects: [lena@example.com]}\n"
    after = {"role": before.replace("read", "submit"), "removal": "", "app": before.replace("]}", "], apps: [other]}")}
    file.write_text(file.read_text(encoding="utf-8").replace(before, after[change]), encoding="utf-8")
    reload(console.service, "callers reloaded")
    assert lost.event()["event"] == "end", "the browser does not connect again"
    assert lost.event() == {}
    sequence = grant(console, "zoe")
    assert kept.event()["data"] == str(sequence)
    kept.close()
    console.service.stop()


def test_a_drain_ends_live_pages_and_lets_them_connect_again(tmp_path):
    console = Console(tmp_path)
    lena = Browser(console.address)
    lena.sign_in(console.new_link())
    live = Live(lena, "zoe")
    assert live.status == 200
    begin = time.monotonic()
    console.service.process.send_signal(signal.SIGTERM)
    assert live.event() == {}, "the stream ends whole, and without the event after which a browser stays away"
    console.service.join(0)
    assert time.monotonic() - begin < 10
    with contextlib.suppress(OSError):
        live.close()
