"""Values that Apple may add: the API keeps their words, and the answers stay sensible."""

import time

import pytest

import forge

APP = "ocean-journal"
DAY = 86_400_000


@pytest.fixture
def shop(service):
    return forge.Forger(service)


def submit(service, customer, transaction, renewal=""):
    status, answer = service.json(
        "entitled.v1.ReceiptService/SubmitTransaction",
        {"app": APP, "customerId": customer, "signedTransaction": transaction, "signedRenewalInfo": renewal})  # fmt: skip
    assert status == 200, answer
    return answer


def call(service, method, customer, **members):
    status, answer = service.json(
        f"entitled.v1.EntitlementService/{method}", {"app": APP, "customerId": customer, **members})
    assert status == 200, answer
    return answer


def lived(days=30):
    """The dates of a period that began a day ago."""
    start = int(time.time() * 1000) - DAY
    return {"purchaseDate": start, "originalPurchaseDate": start, "expiresDate": start + days * DAY, "signedDate": start}


def test_unknown_words_of_a_transaction_and_a_renewal_info_are_kept(service, shop, customer):
    line = {"transactionId": f"9{time.time_ns()}"}
    line["originalTransactionId"] = line["transactionId"]
    dates = lived()
    transaction = shop.transaction(
        **line, **dates, inAppOwnershipType="LENT", offerType=9, offerDiscountType="HALF",
        billingPlanType="WEEKLY")  # fmt: skip
    renewal = forge.sign(
        {
            "originalTransactionId": line["originalTransactionId"], "productId": "pro.monthly",
            "autoRenewProductId": "pro.monthly", "autoRenewStatus": 7, "expirationIntent": 8,
            "priceIncreaseStatus": 6, "offerType": 5, "renewalBillingPlanType": "DAILY",
            "environment": "Sandbox", "signedDate": dates["signedDate"],
            "commitmentInfo": {"commitmentAutoRenewStatus": 4, "commitmentRenewalBillingPlanType": "HOURLY"},
        }, shop.chain, shop.leaf_key)  # fmt: skip
    answer = submit(service, customer, transaction, renewal)
    found = answer["transaction"]
    assert (found["inAppOwnershipTypeRaw"], found["inAppOwnershipType"]) == ("LENT", "IN_APP_OWNERSHIP_TYPE_UNSPECIFIED")
    assert (found["offerTypeRaw"], found["offerDiscountTypeRaw"]) == ("9", "HALF")
    assert (found["billingPlanTypeRaw"], found["billingPlanType"]) == ("WEEKLY", "BILLING_PLAN_TYPE_UNSPECIFIED")
    assert found["typeRaw"] == ""
    renewal = answer["renewalInfo"]
    assert (renewal["autoRenewStatusRaw"], renewal["expirationIntentRaw"]) == ("7", "8")
    assert (renewal["priceIncreaseStatusRaw"], renewal["renewalBillingPlanTypeRaw"]) == ("6", "DAILY")
    assert renewal["offerType"] == "OFFER_TYPE_RETENTION" and renewal["offerTypeRaw"] == ""
    commitment = renewal["commitmentInfo"]
    assert commitment["commitmentAutoRenewStatusRaw"] == "4"
    assert commitment["commitmentRenewalBillingPlanTypeRaw"] == "HOURLY"
    found = call(service, "Check", customer, entitlement="pro")["entitlement"]
    assert found["entitled"]
    codes = found["appStoreCodes"]
    assert (codes["inAppOwnershipTypeRaw"], codes["billingPlanTypeRaw"]) == ("LENT", "WEEKLY")
    products = call(service, "GetCustomer", customer)["products"]
    [product] = [one for one in products if "latestTransaction" in one]
    assert product["latestTransaction"]["offerTypeRaw"] == "9"


def test_an_unknown_product_type_falls_back_to_the_catalog(service, shop, customer):
    line = {"transactionId": f"9{time.time_ns()}"}
    line["originalTransactionId"] = line["transactionId"]
    transaction = shop.transaction(**line, **lived(), type="Subscription Suite")
    answer = submit(service, customer, transaction)
    assert answer["transaction"]["type"] == "PRODUCT_TYPE_AUTO_RENEWABLE_SUBSCRIPTION"
    assert answer["transaction"]["typeRaw"] == "Subscription Suite"
    assert answer["entitlements"][0]["reason"] == "SUBSCRIPTION_ACTIVE"
    customer_view = call(service, "GetCustomer", customer)
    [product] = [one for one in customer_view["products"] if "latestTransaction" in one]
    assert (product["type"], product["typeRaw"]) == (
        "PRODUCT_TYPE_AUTO_RENEWABLE_SUBSCRIPTION", "Subscription Suite")  # fmt: skip
    assert product["state"] == "PRODUCT_STATE_ACTIVE"
    [event] = call(service, "ListTimeline", customer)["events"]
    assert (event["type"], event["productTypeRaw"]) == ("STARTED", "Subscription Suite")


def test_a_retention_offer_is_an_offer(service, shop, customer):
    line = {"transactionId": f"9{time.time_ns()}"}
    line["originalTransactionId"] = line["transactionId"]
    answer = submit(service, customer, shop.transaction(**line, **lived(), offerType=5, offerIdentifier="stay"))
    assert answer["transaction"]["offerType"] == "OFFER_TYPE_RETENTION"
    assert answer["entitlements"][0]["appStoreCodes"]["stateCode"] == "5.3"
