"""The fixtures with Apple's library: `pytest -n auto` in an environment with `entitled-sandbox[apple]`."""

import datetime
import json
import os
import subprocess
import sys

import pytest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.signed_data_verifier import VerificationException

from entitled_sandbox import NotRenewedError, SandboxError

DAY = datetime.timedelta(days=1)


def status(app_store, purchase):
    """The status of a subscription, from the App Store Server API."""
    answer = app_store.client().get_all_subscription_statuses(purchase.original_transaction_id)
    return answer.data[0].lastTransactions[0].status


def test_apples_library_verifies_a_purchase(app_store):
    bought = app_store.buy("pro.monthly", account="ann")
    read = app_store.verifier().verify_and_decode_signed_transaction(bought.signed_transaction)
    assert (read.transactionId, read.productId) == (bought.transaction_id, "pro.monthly")
    assert app_store.verifier().verify_and_decode_renewal_info(bought.signed_renewal).autoRenewStatus == 1


def test_apples_library_rejects_a_document_of_another_root(app_store):
    app_store.call("faults", {"kind": "foreign-chain"})
    with pytest.raises(VerificationException):
        bought = app_store.buy("pro.monthly")
        app_store.verifier().verify_and_decode_signed_transaction(
            app_store.client().get_transaction_info(bought.transaction_id).signedTransactionInfo)


def test_a_renewal_is_another_transaction_of_the_next_period(app_store):
    bought = app_store.buy("pro.monthly")
    renewed = app_store.renew(bought)
    assert renewed.transaction_id != bought.transaction_id
    assert renewed.original_transaction_id == bought.original_transaction_id
    assert renewed.expires > bought.expires and app_store.now >= bought.expires
    assert app_store.latest("customer/pro.monthly").transaction_id == renewed.transaction_id


def test_a_renewal_that_is_charged_already_is_the_next_period(new_app_store):
    app_store = new_app_store(start="2026-01-31T12:00:00Z")
    bought = app_store.buy("pro.monthly")
    app_store.advance(to=bought.expires - datetime.timedelta(hours=1))
    renewed = app_store.renew(bought)
    assert renewed.transaction["purchaseDate"] == bought.transaction["expiresDate"]
    assert bought.expires <= app_store.now < bought.expires + datetime.timedelta(minutes=5)
    assert app_store.renew(renewed).expires > renewed.expires and app_store.now >= renewed.expires


def test_a_declined_card_prevents_the_renewal_until_it_is_accepted(app_store):
    bought = app_store.buy("pro.monthly", account="ann")
    app_store.decline_card("ann")
    with pytest.raises(NotRenewedError, match="did not renew; its status is 3"):
        app_store.renew(bought)
    assert status(app_store, bought) == Status.BILLING_RETRY
    app_store.accept_card("ann")
    assert status(app_store, bought) == Status.ACTIVE


def test_a_product_that_is_no_subscription_does_not_renew(app_store):
    with pytest.raises(NotRenewedError, match="lifetime is not a subscription"):
        app_store.renew(app_store.buy("lifetime"))


def test_a_refund_and_the_end_of_renewal_are_notified_in_order(app_store):
    bought = app_store.buy("pro.monthly")
    app_store.set_auto_renew(bought, False)
    app_store.refund(bought, reason="APP_ISSUE")
    assert status(app_store, bought) == Status.REVOKED
    read = [
        app_store.verifier().verify_and_decode_notification(json.loads(body)["signedPayload"]).notificationType
        for body in app_store.new_notifications()]  # fmt: skip
    assert read == [
        NotificationTypeV2.SUBSCRIBED, NotificationTypeV2.DID_CHANGE_RENEWAL_STATUS, NotificationTypeV2.REFUND]
    assert app_store.new_notifications() == []


def test_the_clock_advances_by_a_duration_and_to_an_instant(app_store):
    begin = app_store.now
    app_store.buy("pro.monthly")
    assert app_store.advance("32d") == ["DID_RENEW"]
    assert DAY * 32 <= app_store.now - begin < DAY * 32 + datetime.timedelta(minutes=5)
    assert app_store.advance(DAY) == [] and app_store.advance(to=begin + DAY * 66) == ["DID_RENEW"]


def test_a_restored_snapshot_continues_from_its_state(app_store):
    bought = app_store.buy("pro.monthly")
    base = json.loads(json.dumps(app_store.snapshot()))
    app_store.refund(bought)
    app_store.restore(base)
    assert app_store.latest(bought).status == 1 and app_store.new_notifications() == []
    app_store.reset()
    with pytest.raises(SandboxError) as refused:
        app_store.latest(bought)
    assert refused.value.status == 400


def test_a_copy_goes_its_own_way(app_store):
    bought = app_store.buy("pro.monthly")
    copy = app_store.copy()
    try:
        copy.refund(bought)
        assert (app_store.latest(bought).status, copy.latest(bought).status) == (1, 5)
    finally:
        copy.remove()


def test_a_world_can_begin_in_the_past(new_app_store):
    app_store = new_app_store(start="2026-01-31T12:00:00Z")
    assert app_store.now.date() == datetime.date(2026, 1, 31)
    bought = app_store.buy("pro.monthly")
    assert app_store.verifier().verify_and_decode_signed_transaction(bought.signed_transaction).productId == "pro.monthly"


def test_an_unknown_product_is_refused_with_its_reason(app_store):
    with pytest.raises(SandboxError, match="pro.monthli"):
        app_store.buy("pro.monthli")


def test_a_scenario_runs_in_the_world_of_the_test(app_store):
    assert app_store.scenario("family")["scenario"] == "family"
    assert app_store.notifications


SCRIPT = """
import os, sys
from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
key, transaction = sys.argv[1:]
client = AppStoreServerAPIClient(key.encode(), "KEY", "issuer", os.environ["APP_STORE_BUNDLE_ID"], Environment.SANDBOX)
client._base_url = os.environ["APP_STORE_URL"]
print(client.get_transaction_info(transaction).signedTransactionInfo)
"""


@pytest.mark.parametrize("tls", [False, True])
def test_a_process_with_the_environment_calls_the_server_api(app_store, tls):
    if tls and app_store.sandbox.tls_url is None:
        pytest.skip("the address of the sandbox with TLS is not known")
    from entitled_sandbox.apple import _new_key

    bought = app_store.buy("lifetime")
    environment = {**os.environ, **app_store.environment(tls=tls)}
    assert environment["APP_STORE_URL"].startswith("https://" if tls else "http://")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, _new_key().decode(), bought.transaction_id], env=environment, text=True,
        stdout=subprocess.PIPE, check=True)  # fmt: skip
    read = app_store.verifier().verify_and_decode_signed_transaction(done.stdout.strip())
    assert read.transactionId == bought.transaction_id
