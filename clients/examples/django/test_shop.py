"""The shop with an App Store of each test's own: `pytest -n auto`."""

import json
import urllib.request
import uuid

import pytest


@pytest.fixture(autouse=True)
def trusts(settings, app_store):
    """The shop trusts the sandbox as it trusts Apple in production."""
    settings.APP_STORE_ROOT = app_store.root_der
    settings.APP_STORE_BUNDLE_ID = app_store.bundle_id
    settings.APP_STORE_ENVIRONMENT = "Sandbox"


@pytest.fixture
def ann():
    return str(uuid.uuid4())


@pytest.fixture
def shop(live_server, app_store):
    """The shop on a socket, to which the App Store sends its notifications."""
    app_store.send_notifications_to(f"{live_server.url}/apple")
    return live_server.url


def entitled(shop, customer):
    with urllib.request.urlopen(f"{shop}/customers/{customer}") as answer:
        return json.load(answer)["entitled"]


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
    assert other.buy("pro.monthly", appAccountToken=ben).transaction_id != first.transaction_id
    app_store.refund(first)
    assert not entitled(shop, ann) and entitled(shop, ben)


# Without a socket: the test gives the notifications to the view.


def receive(client, app_store):
    return [client.post("/apple", body, content_type="application/json").status_code for body in app_store.new_notifications()]


@pytest.mark.django_db
def test_an_earlier_notification_that_arrives_late_changes_nothing(client, app_store, ann):
    bought = app_store.buy("pro.monthly", appAccountToken=ann)
    earlier = app_store.new_notifications()
    app_store.refund(bought)
    assert receive(client, app_store) == [200]
    for body in earlier:
        assert client.post("/apple", body, content_type="application/json").status_code == 200
    assert client.get(f"/customers/{ann}").json() == {"entitled": False}


@pytest.mark.django_db
@pytest.mark.parametrize("fault", ["wrong-signature", "foreign-chain"])
def test_a_forged_notification_is_rejected(live_server, client, app_store, ann, fault):
    app_store.send_notifications_to(f"{live_server.url}/apple")
    app_store.call("faults", {"kind": fault})
    app_store.buy("pro.monthly", appAccountToken=ann)
    assert app_store.notifications[-1].attempts == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"]
    assert client.get(f"/customers/{ann}").json() == {"entitled": False}
