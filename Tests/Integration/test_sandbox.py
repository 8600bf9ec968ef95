"""The sandbox App Store's own manners; what it sells is proved by the service that accepts it."""

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
        ({"app": "ocean-journal", "productId": "lifetime", "colour": "blue"}, "UNKNOWN_MEMBER", "colour"),
        (b"{", "MALFORMED_JSON", ""),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isupper() else "",
)
def test_an_order_that_cannot_be_is_refused_by_name(service, order, code, named):
    status, answer = post(f"http://{service.sandbox}/sandbox/v1/purchases", order)
    assert (status, answer["error"]["code"]) == (400, code)
    assert named in answer["error"]["message"]


def test_a_sale_carries_what_was_ordered(service):
    token = "7b1dd2ea-6bc4-4bd1-93f9-d5ab23d84a1b"
    sold = service.buy("pro.yearly", appAccountToken=token, account="an-account")
    payload = payload_of(sold["signedTransactionInfo"])
    assert payload["appAccountToken"] == token
    assert payload["environment"] == "Sandbox"
    assert payload["bundleId"] == "com.example.oceanjournal"
    assert payload["transactionId"] == sold["transactionId"]
    again = payload_of(service.buy("lifetime", account="an-account")["signedTransactionInfo"])
    assert again["appTransactionId"] == payload["appTransactionId"]
    assert again["transactionId"] != payload["transactionId"]


def test_its_root_is_the_one_that_signs(service):
    root = x509.load_pem_x509_certificate(get(service, "/sandbox/v1/root").encode())
    assert chain_of(service.buy("lifetime")["signedTransactionInfo"])[2] == root


def test_its_catalog_is_that_of_the_configuration(service):
    [app] = json.loads(get(service, "/sandbox/v1/apps"))["apps"]
    assert {product["productId"] for product in app["products"]} == {
        "pro.monthly", "pro.yearly", "lifetime", "season", "shells.100",
    }  # fmt: skip


def test_its_keys_are_readable_by_nobody_else(service):
    keys = list(service.data.rglob("*.key.pem"))
    assert len(keys) == 3
    assert all(key.stat().st_mode & 0o077 == 0 for key in keys)
