"""Requests that a web page can make a browser send: to another host name, from another origin, without preflight."""

import http.client
import json
import urllib.request

import pytest

from harness import CALL_LIMIT, free_port, wait_for

ADVANCE = "/sandbox/v1/clock"
CHECK = "/entitled.v1.EntitlementService/Check"


def status(address, method, path, headers=None, body=b"{}"):
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)
    connection.putrequest(method, path, skip_host=True)
    for name, value in ({"Host": address, "Content-Type": "application/json"} | (headers or {})).items():
        if value is not None:
            connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    return connection.getresponse().status


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example"])
def test_a_rebound_name_reaches_neither_sandbox_nor_api(service, host):
    assert status(service.sandbox, "GET", ADVANCE, {"Host": host}, b"") == 421
    assert status(service.sandbox, "POST", ADVANCE, {"Host": host}) == 421
    assert status(service.http, "POST", CHECK, {"Host": host}) == 421


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_accept_every_host(service, path):
    assert status(service.http, "GET", path, {"Host": "entitled.cluster.local"}, b"") == 200


def test_notifications_accept_every_host(service):
    headers = {"Host": "hooks.example.com"}
    assert status(service.http, "POST", "/notifications/ocean-journal", headers) == 202
    assert status(service.http, "POST", "/notifications/ocean-journal", headers | {"Content-Type": None}) == 202


@pytest.mark.parametrize(
    "header", [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
        # Another program of this machine has another port.
        {"Origin": "http://localhost:1"}, {"Origin": "http://127.0.0.1:1"}, {"Origin": "https://127.0.0.1"},
    ])  # fmt: skip
def test_a_foreign_page_cannot_change_anything(service, header):
    assert status(service.sandbox, "POST", ADVANCE, header) == 403
    assert status(service.http, "POST", CHECK, header) == 403


@pytest.mark.parametrize("path", ["/w/new/x", "/w/new/", "/w/new/inApps/v1/subscriptions/1"])
def test_a_foreign_page_creates_no_world(service, path):
    for site in ("cross-site", "same-site"):
        assert status(service.sandbox, "GET", path, {"Sec-Fetch-Site": site}, b"") == 403
    with urllib.request.urlopen(f"http://{service.sandbox}/sandbox/v1/worlds", timeout=CALL_LIMIT) as answer:
        assert json.load(answer) == {"worlds": []}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_a_content_type_without_preflight_is_refused(service, kind):
    assert status(service.sandbox, "POST", ADVANCE, {"Content-Type": kind}) == 415
    assert status(service.http, "POST", CHECK, {"Content-Type": kind}) == 415


def test_verify_receipt_accepts_every_content_type(service):
    for address in (service.http, service.sandbox):
        assert status(address, "POST", "/verifyReceipt", {"Content-Type": "application/x-www-form-urlencoded"}) == 200


def test_a_configured_host_is_served(start, tmp_path):
    from test_callers import APPS

    (tmp_path / "entitled.yaml").write_text(
        APPS + "listeners: {http: {allowed_hosts: [api.example.com]}, sandbox: {allowed_hosts: [box.example.com]}}\n")
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    assert status(service.http, "POST", CHECK, {"Host": "api.example.com"}) != 421
    assert status(service.http, "POST", CHECK, {"Host": "box.example.com"}) == 421
    assert status(service.sandbox, "GET", ADVANCE, {"Host": "box.example.com"}, b"") == 200


def test_with_callers_only_the_edge_serves_every_host(start, tmp_path):
    from test_callers import APPS, caller, token

    (tmp_path / "entitled.yaml").write_text(f"{APPS}callers:\n{caller('reader', 'read')}")
    console = f"127.0.0.1:{free_port()}"
    service = start(arguments=["--config", tmp_path / "entitled.yaml", "--console", console])
    wait_for(lambda: "\nconsole=" in service.log)
    host, allowed = {"Host": "evil.example"}, {"Authorization": f"Bearer {token('reader')}"}
    request = b'{"app": "ocean-journal", "customerId": "ana", "entitlement": "pro"}'
    # A page lacks the token.
    assert status(service.http, "POST", CHECK, host, request) == 401
    assert status(service.http, "POST", CHECK, host | allowed, request) == 200
    assert status(service.sandbox, "GET", ADVANCE, host, b"") == 421
    assert status(service.sandbox, "POST", ADVANCE, host) == 421
    assert status(service.sandbox, "GET", ADVANCE, body=b"") == 200
    for pages in (service.sandbox, console):
        assert status(pages, "GET", "/", host, b"") == 421
        assert status(pages, "GET", "/", body=b"") != 421
