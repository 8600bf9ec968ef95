"""The sandbox App Store's own behaviour; other tests cover its documents through the service that accepts them."""

import json
import urllib.request

import pytest
from cryptography import x509

from forge import chain_of, payload_of
from harness import CALL_LIMIT, post


def get(service, path):
    with urllib.request.urlopen(f"http://{service.sandbox}{path}", timeout=CALL_LIMIT) as answer:
        return answer.read().decode()


@pytest.mark.parametrize(
    "order, code, named",
    [
        ({"app": "ocean-journal", "productId": "pro.weekly"}, "UNKNOWN_PRODUCT", "pro.monthly"),
        ({"app": "no-such-app", "productId": "pro.monthly"}, "UNKNOWN_APP", "ocean-journal"),
        ({"productId": "pro.monthly"}, "MISSING_MEMBER", "app"),
        ({"app": "ocean-journal", "productId": 7}, "WRONG_TYPE", "productId"),
        ({"app": "ocean-journal", "productId": "pro.monthly", "account": "x" * 257}, "WRONG_TYPE", "256"),
        ({"app": "ocean-journal", "productId": "lifetime", "colour": "blue"}, "UNKNOWN_MEMBER", "colour"),
        (b"{", "MALFORMED_JSON", ""),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isupper() else "",
)
def test_an_invalid_order_is_rejected_with_its_reason(service, order, code, named):
    status, answer = post(f"http://{service.sandbox}/sandbox/v1/purchases", order)
    assert (status, answer["error"]["code"]) == (400, code)
    assert named in answer["error"]["message"]


def test_a_purchase_contains_the_order(service):
    token = "7b1dd2ea-6bc4-4bd1-93f9-d5ab23d84a1b"
    bought = service.buy("pro.yearly", appAccountToken=token, account="an-account")
    payload = payload_of(bought["signedTransactionInfo"])
    assert payload["appAccountToken"] == token
    assert payload["environment"] == "Sandbox"
    assert payload["bundleId"] == "com.example.oceanjournal"
    assert payload["transactionId"] == bought["transactionId"]
    again = payload_of(service.buy("lifetime", account="an-account")["signedTransactionInfo"])
    assert again["appTransactionId"] == payload["appTransactionId"]
    assert again["transactionId"] != payload["transactionId"]


def test_the_published_root_signs_the_documents(service):
    root = x509.load_pem_x509_certificate(get(service, "/sandbox/v1/root").encode())
    assert chain_of(service.buy("lifetime")["signedTransactionInfo"])[2] == root


def test_the_catalog_equals_the_configuration(service):
    [app] = json.loads(get(service, "/sandbox/v1/apps"))["apps"]
    assert {product["productId"] for product in app["products"]} == {
        "pro.monthly", "pro.yearly", "lifetime", "season", "shells.100",
    }  # fmt: skip


def test_key_files_are_readable_by_their_owner_only(service):
    keys = list(service.data.rglob("*.key.pem"))
    assert len(keys) == 4, "two roots, an intermediate and a leaf"
    assert all(key.stat().st_mode & 0o077 == 0 for key in keys)
