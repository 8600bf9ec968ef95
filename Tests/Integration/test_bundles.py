"""Bundles and suites, which Apple announced without documents: made-up ones are accepted, kept to the digit and shown,
and the answers follow from the members that are known."""

import base64
import json
import time
import uuid

import pytest

import forge
from harness import post
from test_unknown_words import APP, DAY, call, lived, submit

# Longer than the 53 bits that other JSON readers keep.
LONG = 9_007_199_254_740_993_001
BUNDLE = {
    "bundleProductId": "all.of.it", "bundleSubscriptionGroupId": "21500001", "bundleTransactionId": LONG,
    "bundleInfo": {"members": [{"bundleId": "com.example.other", "share": 0.25}, None], "isSuite": False},
}  # fmt: skip


@pytest.fixture
def shop(service):
    return forge.Forger(service)


def line():
    number = f"8{time.time_ns()}"
    return {"transactionId": number, "originalTransactionId": number}


def read(service, method, **members):
    status, answer = service.json(f"entitled.v1.{method}", {"app": APP, **members})
    assert status == 200, answer
    return answer


def same(text):
    """Whether a payload has the made-up members as they were sent."""
    payload = json.loads(text)
    return {name: payload[name] for name in BUNDLE} == BUNDLE and str(LONG) in text


def test_unknown_members_of_a_bundles_transaction_are_kept_and_shown(service, shop, customer):
    bought = line()
    transaction = shop.transaction(**bought, **lived(), **BUNDLE)
    answer = submit(service, customer, transaction)
    assert answer["entitlements"][0]["reason"] == "SUBSCRIPTION_ACTIVE"
    inspected = read(service, "ReceiptService/Inspect", document=transaction)
    assert inspected["verified"] and same(inspected["payloadJson"])
    evidence = read(service, "CustomerService/GetEvidence", evidenceId=answer["evidenceId"])
    assert same(evidence["document"]["payloadJson"])
    # The program's own commands, and the export of the store.
    shown = service.command("evidence", str(answer["evidenceId"]), "--app", APP)
    assert "bundleTransactionId" in shown.stdout and str(LONG) in shown.stdout
    assert str(LONG) in service.command("inspect", transaction, "--app", APP).stdout
    exported = service.command("store", "export", "--data", service.data).stdout.splitlines()
    assert any(json.loads(text).get("body") == transaction for text in exported)


def test_a_suite_that_the_catalog_does_not_have_is_shown_without_an_entitlement(service, shop, customer):
    bought = line()
    answer = submit(
        service, customer,
        shop.transaction(**bought, **lived(), type="Subscription Suite", productId="suite.of.all", **BUNDLE))
    assert answer["transaction"]["typeRaw"] == "Subscription Suite" and not answer["entitlements"]
    purchase = read(
        service, "CustomerService/GetPurchase", originalTransactionId=bought["originalTransactionId"])
    assert "suite.of.all" in json.dumps(purchase) and "Subscription Suite" in json.dumps(purchase)
    products = call(service, "GetCustomer", customer)["products"]
    assert "suite.of.all" in [one["productId"] for one in products]
    assert not call(service, "Check", customer, entitlement="pro")["entitlement"]["entitled"]


@pytest.mark.parametrize("kind, subtype, state", [
    ("BUNDLE_CHANGED", None, "NOTIFICATION_STATE_UNSUPPORTED"),
    ("DID_CHANGE_RENEWAL_PREF", "BUNDLE_MEMBER_REMOVED", "NOTIFICATION_STATE_APPLIED"),
])  # fmt: skip
def test_notifications_about_bundles_are_kept_shown_and_applied(service, shop, customer, kind, subtype, state):
    first, identifier = line(), str(uuid.uuid4())
    began = int(time.time() * 1000) - 60 * DAY
    over = {
        "purchaseDate": began, "originalPurchaseDate": began, "expiresDate": began + 30 * DAY,
        "signedDate": lived()["signedDate"]}
    submit(service, customer, shop.transaction(**first, **over))
    assert not call(service, "Check", customer, entitlement="pro")["entitlement"]["entitled"]
    renewed = {**first, "transactionId": first["transactionId"] + "1"}
    transaction = shop.transaction(**renewed, **{**lived(), "originalPurchaseDate": began}, **BUNDLE)
    payload = {
        "notificationType": kind, "notificationUUID": identifier, "version": "2.0", "signedDate": int(time.time() * 1000),
        "data": {
            "bundleId": shop.payload["bundleId"], "environment": "Sandbox", "signedTransactionInfo": transaction,
            "bundleMembership": "PARTIAL",
        },
        **BUNDLE,
    }  # fmt: skip
    if subtype:
        payload["subtype"] = subtype
    status, _ = post(
        f"http://{service.http}/notifications/{APP}", {"signedPayload": forge.sign(payload, shop.chain, shop.leaf_key)})
    assert status == 200, "Apple would send it again"
    listed = read(service, "NotificationService/ListNotifications", notificationType=kind)["notifications"]
    [found] = [one for one in listed if one["notificationUuid"] == identifier]
    assert (found["notificationType"], found["subtype"], found["state"]) == (kind, subtype or "", state)
    document = read(service, "CustomerService/GetEvidence", evidenceId=found["evidenceId"])["document"]
    assert same(document["payloadJson"]) and "bundleMembership" in document["payloadJson"]
    assert same(document["documents"][0]["payloadJson"])
    assert call(service, "Check", customer, entitlement="pro")["entitlement"]["entitled"], (
        "the signed transaction inside counts, whatever the notification is called")


def test_the_body_of_a_document_is_stored_as_it_arrived(service, shop, customer):
    transaction = shop.transaction(**line(), **lived(), **BUNDLE)
    evidence = submit(service, customer, transaction)["evidenceId"]
    found = read(service, "CustomerService/GetEvidence", evidenceId=evidence, includeBody=True)
    assert base64.b64decode(found["body"]).decode() == transaction
