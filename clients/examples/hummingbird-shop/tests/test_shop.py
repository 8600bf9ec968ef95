"""The shop as a process with an App Store of each test's own: `swift build && pytest -n auto`."""

import json
import os
import pathlib
import subprocess
import urllib.error
import urllib.request
import uuid

import pytest

# Built by `swift build`; the variable SHOP names another one.
PROGRAM = os.environ.get("SHOP", pathlib.Path(__file__).parent.parent / ".build" / "debug" / "shop")


@pytest.fixture
def start():
    """Starts a shop that trusts an App Store and receives its notifications; returns its URL."""
    running = []

    def start(store):
        environment = {**os.environ, **store.environment()}
        shop = subprocess.Popen([PROGRAM, "0"], stdout=subprocess.PIPE, text=True, env=environment)
        running.append(shop)
        url = f"http://127.0.0.1:{shop.stdout.readline().split()[-1]}"
        store.send_notifications_to(f"{url}/apple")
        return url

    yield start
    for shop in running:
        shop.terminate()
        shop.wait(30)
        shop.stdout.close()


@pytest.fixture
def shop(start, app_store):
    return start(app_store)


@pytest.fixture
def ann():
    return str(uuid.uuid4())


def entitled(shop, customer):
    with urllib.request.urlopen(f"{shop}/customers/{customer}") as answer:
        return json.load(answer)["entitled"]


def receive(shop, body):
    """The status of the shop's response to a notification that the test itself sends."""
    request = urllib.request.Request(f"{shop}/apple", body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_customer_is_entitled_while_the_subscription_renews(shop, app_store, ann):
    assert not entitled(shop, ann)
    bought = app_store.buy("pro.monthly", appAccountToken=ann)
    for _ in range(3):
        bought = app_store.renew(bought)
        assert entitled(shop, ann)
    app_store.set_auto_renew(bought, False)
    app_store.advance("62d")
    assert not entitled(shop, ann)


def test_a_refund_ends_access(shop, app_store, ann):
    bought = app_store.buy("lifetime", appAccountToken=ann)
    assert entitled(shop, ann)
    app_store.refund(bought)
    assert not entitled(shop, ann)
    app_store.act("reverse-refund", transactionId=bought.transaction_id)
    assert entitled(shop, ann)


def test_a_declined_card_ends_access_and_a_new_card_restores_it(shop, app_store, ann):
    app_store.buy("pro.monthly", appAccountToken=ann)
    app_store.decline_card()
    app_store.advance("33d")
    assert not entitled(shop, ann)
    app_store.accept_card()
    assert entitled(shop, ann)


def test_a_snapshot_is_the_begin_of_two_stories(shop, app_store, ann):
    bought = app_store.buy("pro.monthly", appAccountToken=ann)
    base = app_store.snapshot()
    app_store.refund(bought)
    assert not entitled(shop, ann)
    app_store.restore(base)
    app_store.renew(bought)
    assert entitled(shop, ann)


def test_the_purchases_of_two_app_stores_are_different_ones(shop, app_store, new_app_store, ann):
    other = new_app_store()
    other.send_notifications_to(f"{shop}/apple")
    ben = str(uuid.uuid4())
    first = app_store.buy("pro.monthly", appAccountToken=ann)
    other.buy("pro.monthly", appAccountToken=ben)
    app_store.refund(first)
    assert not entitled(shop, ann) and entitled(shop, ben)


@pytest.mark.parametrize("fault", ["wrong-signature", "foreign-chain"])
def test_a_forged_notification_is_rejected(shop, app_store, ann, fault):
    app_store.call("faults", {"kind": fault})
    app_store.buy("pro.monthly", appAccountToken=ann)
    assert app_store.notifications[-1].attempts == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"]
    assert not entitled(shop, ann)


def test_an_earlier_notification_that_arrives_late_changes_nothing(shop, app_store, ann):
    bought = app_store.buy("pro.monthly", appAccountToken=ann)
    earlier = app_store.new_notifications()
    app_store.refund(bought)
    for body in earlier:
        assert receive(shop, body) == 200
    assert earlier and not entitled(shop, ann)


@pytest.mark.parametrize("body", [b"", b"{}", b'{"signedPayload": "none"}'])
def test_a_body_that_is_no_notification_is_rejected(shop, body):
    assert receive(shop, body) == 400
