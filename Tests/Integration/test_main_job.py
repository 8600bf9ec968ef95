"""The main job: a purchase is submitted, and Check returns the correct answer with its reason."""

import datetime

import pytest

import contract
from contract import entitlement, environment, entitlement_service, product, receipt_service
from forge import payload_of
from harness import CALL_LIMIT

DAY = 86_400_000


def submission(customer, purchase):
    return receipt_service.SubmitTransactionRequest(
        app="ocean-journal", customer_id=customer,
        signed_transaction=purchase["signedTransactionInfo"],
        signed_renewal_info=purchase.get("signedRenewalInfo", ""),
    )  # fmt: skip


def check_request(customer, **more):
    return entitlement_service.CheckRequest(app="ocean-journal", customer_id=customer, entitlement="pro", **more)


def submit(receipts, customer, purchase):
    return receipts.SubmitTransaction(submission(customer, purchase), timeout=CALL_LIMIT)


def check(entitlements, customer, **more):
    return entitlements.Check(check_request(customer, **more), timeout=CALL_LIMIT).entitlement


@pytest.mark.parametrize("product_id", ["pro.monthly", "pro.yearly"])
def test_a_subscription_entitles_until_it_expires(service, receipts, entitlements, customer, product_id):
    purchase = service.buy(product_id)
    bought = payload_of(purchase["signedTransactionInfo"])
    submitted = submit(receipts, customer, purchase)
    assert not submitted.already_known
    assert submitted.evidence_id > 0
    assert submitted.transaction.transaction_id == bought["transactionId"]
    assert submitted.transaction.type == product.PRODUCT_TYPE_AUTO_RENEWABLE_SUBSCRIPTION
    assert submitted.environment == environment.ENVIRONMENT_SANDBOX

    answer = check(entitlements, customer)
    assert answer.entitled
    assert answer.access_level == entitlement.ACCESS_LEVEL_FULL
    assert answer.state == entitlement.ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_ON
    assert answer.app_store_codes.product_state == product.PRODUCT_STATE_ACTIVE
    assert answer.reason == "SUBSCRIPTION_ACTIVE"
    assert answer.explanation
    assert answer.product_id == product_id
    assert answer.transaction_id == bought["transactionId"]
    assert answer.original_transaction_id == bought["originalTransactionId"]
    assert answer.paid_until.ToMilliseconds() == bought["expiresDate"]
    assert [e.name for e in submitted.entitlements] == ["pro"]
    assert submitted.entitlements[0].reason == answer.reason


def test_a_non_consumable_entitles_without_expiry(service, receipts, entitlements, customer):
    submit(receipts, customer, service.buy("lifetime"))
    answer = check(entitlements, customer)
    assert answer.entitled
    assert answer.state == entitlement.ENTITLEMENT_STATE_LIFETIME
    assert answer.reason == "NON_CONSUMABLE_OWNED"
    assert not answer.HasField("until")


def test_a_non_renewing_subscription_entitles_for_its_duration(service, receipts, entitlements, customer):
    purchase = service.buy("season")
    submit(receipts, customer, purchase)
    answer = check(entitlements, customer)
    assert answer.entitled
    assert answer.state == entitlement.ENTITLEMENT_STATE_NON_RENEWING
    assert answer.reason == "NON_RENEWING_ACTIVE"
    bought = payload_of(purchase["signedTransactionInfo"])
    assert answer.until.ToMilliseconds() == bought["purchaseDate"] + 90 * DAY


def test_a_consumable_grants_no_entitlement(service, receipts, entitlements, customer):
    submitted = submit(receipts, customer, service.buy("shells.100"))
    assert submitted.transaction.type == product.PRODUCT_TYPE_CONSUMABLE
    assert list(submitted.entitlements) == []
    answer = check(entitlements, customer)
    assert not answer.entitled
    assert answer.access_level == entitlement.ACCESS_LEVEL_NONE


def test_an_unknown_customer_is_not_entitled_without_an_error(entitlements, customer):
    answer = check(entitlements, customer)
    assert not answer.entitled
    assert answer.state == entitlement.ENTITLEMENT_STATE_MISSING
    assert answer.app_store_codes.product_state == product.PRODUCT_STATE_NEW
    assert answer.reason == "NEVER_PURCHASED"
    assert not answer.HasField("until")


def test_a_subscription_of_last_year_has_expired(service, receipts, entitlements, customer):
    last_year = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=365)
    purchase = service.buy("pro.monthly", purchaseDate=int(last_year.timestamp() * 1000))
    submit(receipts, customer, purchase)
    answer = check(entitlements, customer)
    assert not answer.entitled
    assert answer.app_store_codes.product_state == product.PRODUCT_STATE_INACTIVE
    assert answer.paid_until.ToMilliseconds() == payload_of(purchase["signedTransactionInfo"])["expiresDate"]


def test_submitting_again_changes_nothing(service, receipts, entitlements, customer):
    purchase = service.buy("pro.monthly")
    first = submit(receipts, customer, purchase)
    before = check(entitlements, customer)
    second = submit(receipts, customer, purchase)
    assert second.already_known
    assert second.evidence_id == first.evidence_id
    assert check(entitlements, customer) == before


def test_environments_are_separate(service, receipts, entitlements, customer):
    submit(receipts, customer, service.buy("lifetime"))
    assert check(entitlements, customer, environment=environment.ENVIRONMENT_SANDBOX).entitled
    assert not check(entitlements, customer, environment=environment.ENVIRONMENT_PRODUCTION).entitled


def test_a_purchase_belongs_to_one_customer(service, receipts, entitlements, customer):
    purchase = service.buy("pro.monthly")
    submit(receipts, customer, purchase)
    with pytest.raises(contract.RpcError) as error:
        submit(receipts, customer + "-thief", purchase)
    assert error.value.code() in (contract.StatusCode.PERMISSION_DENIED, contract.StatusCode.FAILED_PRECONDITION)
    assert contract.reason(error.value) == "OWNED_BY_ANOTHER_CUSTOMER"
    assert check(entitlements, customer).entitled
    assert not check(entitlements, customer + "-thief").entitled


def test_inspect_verifies_and_decodes_without_storing(service, receipts, entitlements, customer):
    jws = service.buy("lifetime")["signedTransactionInfo"]
    inspected = receipts.Inspect(
        receipt_service.InspectRequest(app="ocean-journal", document=jws), timeout=CALL_LIMIT)
    assert inspected.verified and inspected.reason == "VERIFIED"
    assert inspected.kind == receipt_service.DOCUMENT_KIND_SIGNED_TRANSACTION
    assert '"lifetime"' in inspected.payload_json
    assert not submit(receipts, customer, {"signedTransactionInfo": jws}).already_known
