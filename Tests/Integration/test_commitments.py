"""Monthly subscriptions with a 12-month commitment: Apple's library reads every document, and the service's answers follow."""

import datetime
import time

import pytest
from appstoreserverlibrary.api_client import GetTransactionHistoryVersion
from appstoreserverlibrary.models.AutoRenewStatus import AutoRenewStatus
from appstoreserverlibrary.models.BillingPlanType import BillingPlanType
from appstoreserverlibrary.models.RenewalBillingPlanType import RenewalBillingPlanType
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, TransactionHistoryRequest

from harness import CALL_LIMIT, Service
from test_sandbox_store import APP, DAY, Developer, Store

PRODUCT = "pro.yearly"


def instant(milliseconds):
    """An instant as the JSON API writes it."""
    written = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc)
    return written.isoformat(timespec="milliseconds").replace("+00:00", "Z").replace(".000Z", "Z")


@pytest.fixture
def running(tmp_path):
    service = Service(tmp_path / "data")
    yield service
    service.stop()


class Subscriber:
    """A customer with a commitment, seen through Apple's client, and as a customer of the service."""

    def __init__(self, service, account):
        self.service, self.account, self.store = service, account, Store(service)
        self.store.act("storefront", account=account, storefront="DEU")
        bought = self.store.buy(PRODUCT, account, billingPlanType="MONTHLY")
        self.id = bought["originalTransactionId"]
        submitted = service.command("submit", account, "-", stdin=bought["signedTransactionInfo"])
        assert submitted.returncode == 0, submitted.stderr
        self.store.act("notification-url", app=APP, url=f"http://{service.http}/notifications/{APP}")

    def status(self):
        """Apple's status, the latest transaction and the renewal info, decoded by Apple's verifier."""
        last = self.store.client().get_all_subscription_statuses(self.id).data[0].lastTransactions[0]
        verifier = self.store.verifier
        renewal = verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
        return last.status, self.store.transaction(last.signedTransactionInfo), renewal

    def history(self):
        """All transactions in order of purchase."""
        request = TransactionHistoryRequest(sort=Order.ASCENDING)
        page = self.store.client().get_transaction_history(self.id, None, request, GetTransactionHistoryVersion.V2)
        assert not page.hasMore
        return sorted(map(self.store.transaction, page.signedTransactions), key=lambda sold: sold.purchaseDate)

    def becomes(self, is_entitled):
        """Whether the service's answer becomes this one; notifications of an action arrive soon after it."""
        deadline = time.monotonic() + CALL_LIMIT
        while time.monotonic() < deadline:
            if (self.service.command("check", self.account, "pro").stdout.split()[1] == "yes") == is_entitled:
                return True
        return False

    def call(self, method, **members):
        status, answer = self.service.json(
            f"entitled.v1.EntitlementService/{method}", {"app": APP, "customerId": self.account, **members})
        assert status == 200, answer
        return answer

    def check(self):
        return self.call("Check", entitlement="pro")["entitlement"]

    def answered(self, condition):
        """The first answer for which this holds."""
        deadline = time.monotonic() + CALL_LIMIT
        while not condition(answer := self.check()):
            assert time.monotonic() < deadline, answer
        return answer

    def act(self, action, **members):
        return self.store.act(action, **members)


def test_a_commitment_is_paid_cancelled_and_ends(running):
    cleo = Subscriber(running, "cleo")
    status, sold, renewal = cleo.status()
    assert (status, sold.billingPlanType, sold.price) == (Status.ACTIVE, BillingPlanType.MONTHLY, 3990)
    commitment = sold.commitmentInfo
    assert (commitment.billingPeriodNumber, commitment.totalBillingPeriods, commitment.commitmentPrice) == (1, 12, 47880)
    assert sold.expiresDate - sold.purchaseDate <= 31 * DAY
    assert 365 * DAY <= commitment.commitmentExpiresDate - sold.purchaseDate <= 366 * DAY
    assert renewal.renewalBillingPlanType == RenewalBillingPlanType.MONTHLY
    next_commitment = renewal.commitmentInfo
    assert next_commitment.commitmentAutoRenewProductId == PRODUCT
    assert next_commitment.commitmentRenewalBillingPlanType == RenewalBillingPlanType.MONTHLY
    assert next_commitment.commitmentRenewalDate == commitment.commitmentExpiresDate
    answer = cleo.check()
    assert answer["billingPlanType"] == "BILLING_PLAN_TYPE_MONTHLY" and answer["willRenew"]
    assert answer["commitmentInfo"]["totalBillingPeriods"] == 12
    assert answer["commitmentInfo"]["commitmentPrice"] == {"milliunits": "47880", "currency": sold.currency}
    assert answer["commitmentInfo"]["remainingPrice"] == {"milliunits": str(11 * 3990), "currency": sold.currency}
    shown = cleo.service.command("check", cleo.account, "pro").stdout
    assert f"payment 1 of 12, 11 left (43.89 {sold.currency})" in shown, shown
    # Cancelling leaves the payments.
    assert cleo.act("auto-renew", transactionId=cleo.id, enabled=False)["notifications"] == [
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"]  # fmt: skip
    for number in range(2, 13):
        assert cleo.store.advance("31d")["notifications"] == ["DID_RENEW"]
        status, sold, renewal = cleo.status()
        assert (status, sold.commitmentInfo.billingPeriodNumber) == (Status.ACTIVE, number)
        assert renewal.autoRenewStatus == AutoRenewStatus.ON
        assert renewal.commitmentInfo.commitmentAutoRenewStatus == AutoRenewStatus.OFF
        answer = cleo.answered(lambda answer: answer["commitmentInfo"]["billingPeriodNumber"] == number)
        assert answer["entitled"] and answer["appStoreCodes"]["stateCode"] == "4.0" and not answer["willRenew"]
        assert answer["commitmentInfo"]["commitmentExpiresDate"] == instant(commitment.commitmentExpiresDate)
        assert answer["commitmentInfo"].get("remainingPeriods", 0) == 12 - number
        assert answer["commitmentInfo"]["remainingPrice"].get("milliunits", "0") == str((12 - number) * 3990)
        # The payments go on, so that there is no hurry before the last two.
        assert [one["kind"] for one in answer.get("advice", [])] == (
            ["ADVICE_KIND_RETENTION_OFFER"] if number >= 11 else [])
        assert answer["manageUrl"] == "https://apps.apple.com/account/subscriptions"
    assert sold.expiresDate == commitment.commitmentExpiresDate
    [product] = [one for one in cleo.call("GetCustomer")["products"] if one["productId"] == PRODUCT]
    info = product["latestTransaction"]["commitmentInfo"]
    assert (info["billingPeriodNumber"], info["commitmentPrice"]["milliunits"]) == (12, "47880")
    assert info.get("remainingPeriods", 0) == 0 and info["remainingPrice"].get("milliunits", "0") == "0"
    assert product["latestTransaction"]["billingPlanType"] == "BILLING_PLAN_TYPE_MONTHLY"
    info = product["renewalInfo"]["commitmentInfo"]
    assert not info["commitmentWillAutoRenew"] and info["commitmentAutoRenewProductId"] == PRODUCT
    assert product["renewalInfo"]["willAutoRenew"]
    assert cleo.store.advance("31d")["notifications"] == ["EXPIRED/VOLUNTARY"]
    status, sold, renewal = cleo.status()
    assert (status, renewal.commitmentInfo) == (Status.EXPIRED, None)
    assert cleo.becomes(is_entitled=False)
    numbers = [sold.commitmentInfo.billingPeriodNumber for sold in cleo.history()]
    assert numbers == list(range(1, 13))
    assert cleo.check()["reason"] == "CANCELLED"
    events = cleo.call("ListTimeline", pageSize=100)["events"]
    assert [event["type"] for event in events] == ["STARTED", "RENEWAL_TURNED_OFF", *["RENEWED"] * 11, "ENDED"]
    renewed = [event for event in events if event["type"] == "RENEWED"]
    assert [event["transactionId"] for event in renewed] == [sold.transactionId for sold in cleo.history()[1:]]
    assert [event["commitmentInfo"]["billingPeriodNumber"] for event in renewed] == list(range(2, 13))
    forecasts = [int(event["commitmentInfo"]["remainingPrice"].get("milliunits", "0")) for event in renewed]
    assert forecasts == [(12 - number) * 3990 for number in range(2, 13)], "the months that are left, at the month's price"
    # Apple charges up to a day early; until then, access rests on the period before.
    paid = [event["after"]["commitmentInfo"]["billingPeriodNumber"] for event in renewed]
    assert all(number in (event, event - 1) for event, number in enumerate(paid, start=2))


def test_a_failed_payment_stops_access_and_a_late_one_shifts_the_commitment(running):
    dora = Subscriber(running, "dora")
    dora.act("grace-period", app=APP, days=16)
    end = dora.status()[1].commitmentInfo.commitmentExpiresDate
    dora.act("billing", account="dora", fails=True)
    assert dora.store.advance("40d")["notifications"] == ["DID_FAIL_TO_RENEW"]
    status, sold, renewal = dora.status()
    assert (status, renewal.isInBillingRetryPeriod) == (Status.BILLING_RETRY, True)
    assert renewal.gracePeriodExpiresDate is None and renewal.commitmentInfo is not None
    assert dora.becomes(is_entitled=False)
    assert dora.act("billing", account="dora", fails=False)["notifications"] == ["DID_RENEW/BILLING_RECOVERY"]
    status, sold, renewal = dora.status()
    assert (status, sold.commitmentInfo.billingPeriodNumber) == (Status.ACTIVE, 2)
    assert sold.commitmentInfo.commitmentExpiresDate > end
    assert dora.becomes(is_entitled=True)
    dora.act("billing", account="dora", fails=True)
    assert dora.store.advance("125d")["notifications"] == ["DID_FAIL_TO_RENEW", "EXPIRED/BILLING_RETRY"]
    assert dora.status()[0] == Status.EXPIRED and dora.becomes(is_entitled=False)


def test_refunds_and_changes_of_a_commitment(running):
    emil = Subscriber(running, "emil")
    emil.store.advance("40d")
    first, second = emil.history()
    assert emil.act("refund", transactionId=first.transactionId)["notifications"] == ["REFUND"]
    assert emil.status()[0] == Status.ACTIVE and emil.becomes(is_entitled=True)
    assert emil.act("refund", transactionId=second.transactionId)["notifications"] == ["REFUND"]
    status, sold, renewal = emil.status()
    assert (status, renewal.commitmentInfo) == (Status.REVOKED, None)
    assert sold.revocationDate and emil.becomes(is_entitled=False)

    fee = Subscriber(running, "fee")
    fee.act("purchases", app=APP, productId="pro.monthly", account="fee")
    status, sold, renewal = fee.status()
    assert sold.productId == PRODUCT and renewal.commitmentInfo.commitmentAutoRenewProductId == "pro.monthly"


def test_notifications_and_offers_of_a_commitment_are_decoded(running):
    developer, store = Developer(), Store(running)
    store.act("notification-url", app=APP, url=developer.url)
    trial = {"type": "INTRODUCTORY", "mode": "FREE_TRIAL", "period": "P1W", "billingPlanType": "MONTHLY"}
    store.act("offers", app=APP, productId=PRODUCT, id="week", **trial)
    store.act("storefront", account="gus", storefront="FRA")
    store.buy(PRODUCT, "gus", offer="week", billingPlanType="MONTHLY")
    store.advance("8d")
    decoded = [store.verifier.verify_and_decode_notification(body["signedPayload"]) for body in developer.wait(2)]
    trial, paid = [store.transaction(notification.data.signedTransactionInfo) for notification in decoded]
    assert (trial.billingPlanType, trial.price, trial.commitmentInfo) == (BillingPlanType.MONTHLY, 0, None)
    assert (paid.price, paid.commitmentInfo.billingPeriodNumber) == (3990, 1)


def test_the_command_buys_with_a_billing_plan(running):
    store = Store(running)
    store.act("storefront", account="hal", storefront="GBR")
    bought = running.command("sandbox", "buy", PRODUCT, "--account", "hal", "--billing-plan-type", "MONTHLY")
    assert store.transaction(bought.stdout.strip()).commitmentInfo.billingPeriodNumber == 1
    refused = running.command("sandbox", "buy", PRODUCT, "--billing-plan-type", "MONTHLY")
    assert refused.returncode != 0 and "not sold in storefront USA" in refused.stderr
