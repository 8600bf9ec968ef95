"""Every member of every action of the sandbox, and of Apple's APIs in it, with extreme values: each request has an answer.

A trap would end the process with all its worlds, and a service with an embedded sandbox.
"""

import json
import re
import time
import urllib.parse
import uuid

import jwt
import pytest

from harness import ROOT, Service, post, response_to
from test_sandbox_api import call
from test_sandbox_store import APP, Store

DOCUMENT = (ROOT / "docs" / "sandbox.md").read_text()
# Other tables have no members, or values in capitals.
ROWS = re.findall(r"^\| `([a-z-]+)` \| ([^|]*) \|", DOCUMENT, re.M)
ACTIONS = {name: found for name, members in ROWS if (found := re.findall(r"`([a-z]+[a-zA-Z]*)`", members))}
LIMITS = [-(2**63), 2**63 - 1, 2**63, -1, 0, 1e308, True]
TEXTS = [
    "", "\0", "\u202e", "x" * 5_000, str(-(2**63)), str(2**63 - 1), "1000000w", "1000000000000ms", "P9999Y9999M9999W9999D",
    "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "ana/pro.monthly/-9223372036854775808", "#9223372036854775807", "1:2,3:4", "1.5:9223372036854775807",
]  # fmt: skip
VALUES = [*LIMITS, *TEXTS, None, [], {}, [None], [2**63 - 1], {"a": -(2**63)}]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("extremes"))
    store = Store(service)
    store.service = service
    yield store
    service.stop()


@pytest.fixture
def usual(store):
    """Members that make a request valid apart from the extreme one."""
    account = f"a{uuid.uuid4().hex[:8]}"
    bought = store.buy("pro.monthly", account)
    return {
        "app": APP, "productId": "pro.monthly", "account": account, "transactionId": bought["transactionId"],
        "originalTransactionId": bought["transactionId"], "id": str(uuid.uuid4()), "type": "PROMOTIONAL",
        "mode": "PAY_AS_YOU_GO", "period": "P1M", "periods": 2, "price": 990, "days": 3, "seats": 2, "percent": 50,
        "requestIdentifier": str(uuid.uuid4()), "version": "1", "storefront": "DEU", "enabled": True, "quantity": 1,
        "request": "changePrice", "url": "http://127.0.0.1:9/", "month": "30d", "family": "f", "device": "phone",
    }  # fmt: skip


def variants(members):
    for name in members:
        for value in VALUES:
            yield {**members, name: value}


def status_of(store, path):
    with response_to(f"{store.url}{path}") as answer:
        return answer.status


def assert_lives(store, account):
    store.advance("40d")
    assert store.read(f"accounts/{account}")
    assert store.service.process.poll() is None, store.service.log


def test_the_document_names_the_actions():
    assert len(ACTIONS) > 40 and "bands" in ACTIONS["volume-pricing"]


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_extreme_members_of_an_action_are_answered(store, usual, action):
    members = {name: usual.get(name, "x") for name in ACTIONS[action]}
    for request in variants(members):
        request = {name: value for name, value in request.items() if value != "x"}
        status, answer = post(f"{store.url}/sandbox/v1/{action}", request)
        assert status < 500, (request, answer)
    assert_lives(store, usual["account"])
    post(f"{store.url}/sandbox/v1/reset", {})


def test_extreme_signatures_of_offers_are_answered(store, usual):
    order = {"app": APP, "productId": "pro.monthly", "account": usual["account"], "offer": "stay", "offerSignature": "AAAA",
             "keyIdentifier": "K", "nonce": "n", "timestamp": 1}  # fmt: skip
    for request in variants(order):
        status, answer = post(f"{store.url}/sandbox/v1/purchases", request)
        assert status < 500, (request, answer)
    assert_lives(store, usual["account"])


PATHS = [
    "transactions/{}", "transactions/ana/pro.monthly/{}", "accounts/{}", "accounts/{}/receipt", "notifications/{}", "accounts?limit={}",
    "accounts?after={}", "receipts?limit={}", "journal?after={}", "journal?limit={}", "reports/sales?date={}", "reports/finance?date={}",
    "settings?app={}", "owners?app={}",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_extreme_paths_are_answered(store, usual, path):
    for value in [*LIMITS, *TEXTS]:
        quoted = urllib.parse.quote(str(value), safe="")
        assert status_of(store, f"/sandbox/v1/{path.format(quoted)}") < 500, (path, value)
    assert_lives(store, usual["account"])


def bodies(usual):
    """Paths of Apple's APIs with a body."""
    id, now = usual["transactionId"], int(time.time() * 1000)
    extension = {"extendByDays": 3, "extendReasonCode": 1, "requestIdentifier": "r"}
    info = {"requestInfo": {"requestReferenceId": str(uuid.uuid4())}}
    item = {"SKU": "a", "price": 1, "refundReason": "OTHER", "refundType": "CUSTOM", "refundAmount": 1, "revoke": True}
    yield "PUT", f"/inApps/v1/subscriptions/extend/{id}", extension
    yield "POST", "/inApps/v1/subscriptions/extend/mass", {**extension, "productId": "pro.monthly", "storefrontCountryCodes": ["USA"]}
    yield "POST", "/inApps/v1/notifications/history", {"startDate": now - 1_000_000, "endDate": now, "transactionId": id}
    yield "PUT", f"/inApps/v1/transactions/consumption/{id}", {"customerConsented": True, "accountTenure": 1, "consumptionStatus": 1}
    yield "PUT", f"/inApps/v2/transactions/consumption/{id}", {
        "customerConsented": True, "deliveryStatus": "DELIVERED", "consumptionPercentage": 1, "sampleContentProvided": True}
    yield "POST", f"/advancedCommerce/v1/subscription/changePrice/{id}", {**info, "items": [item]}
    yield "POST", f"/advancedCommerce/v1/transaction/requestRefund/{id}", {**info, "items": [item], "refundRiskingPreference": True}
    yield "PUT", "/externalPurchase/v1/reports", {
        "requestIdentifier": str(uuid.uuid4()), "externalPurchaseId": "e", "status": "LINE_ITEM", "lineItems": [{}]}


def test_extreme_bodies_of_apples_apis_are_answered(store, usual):
    for method, path, body in bodies(usual):
        for request in [*variants(body), *[{**body, "items": [item]} for item in variants(body.get("items", [{}])[0])]]:
            status, answer = call(store, method, path, request)
            assert status < 500, (path, request, answer)
    for path in ["history", "subscriptions", "refund/lookup", "lookup", "transactions", "transactions/appTransactions"]:
        for value in [*LIMITS, *TEXTS]:
            quoted = urllib.parse.quote(str(value), safe="")
            for target in (f"{path}/{quoted}", f"{path}/{usual['transactionId']}?revision={quoted}&startDate={quoted}&status={quoted}"):
                assert call(store, "GET", f"/inApps/v1/{target}")[0] < 500, target
    assert_lives(store, usual["account"])


def test_extreme_numbers_in_tokens_are_answered(store, usual):
    for name in ("iat", "exp"):
        for value in VALUES:
            claims = {"iss": "TEAM123456", "iat": 1, "exp": 2, "aud": "appstoreconnect-v1", "bid": "com.example.oceanjournal", name: value}
            parts = [json.dumps(part).encode() for part in ({"alg": "ES256", "kid": "K", "typ": "JWT"}, claims)] + [bytes(64)]
            token = ".".join(jwt.utils.base64url_encode(part).decode() for part in parts)
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            for path in ("inApps/v1/notifications/history", "v1/validate_device_token"):
                for timestamp in LIMITS:
                    body = {"device_token": "cGhvbmU=", "transaction_id": "1", "timestamp": timestamp}
                    status, answer = post(f"{store.url}/{path}", body, headers)
                    assert status < 500, (claims, body, answer)
    assert_lives(store, usual["account"])
