"""Apple's own client library with the sandbox: every method of its client, and every signed document."""

import inspect
import sqlite3
import uuid

import pytest
from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from appstoreserverlibrary.models.UserStatus import UserStatus
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

from harness import Service
from test_sandbox_api import PNG, Shop
from test_sandbox_store import APP, DAY, Developer, Store

TOKEN = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
# Methods of Apple's client that the sandbox does not support, with the reason.
UNSUPPORTED = {}
# Notifications that Apple's library cannot attribute to an app, with the reason.
UNVERIFIABLE = {"UNCLAIM_SEATS": "the library of API 1.21 does not know `unclaimInfo`"}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("clients"))
    yield service
    service.stop()


@pytest.fixture(scope="module")
def store(service):
    return Store(service)


@pytest.fixture
def developer(store):
    developer = Developer()
    store.act("notification-url", app=APP, url=developer.url)
    yield developer
    store.act("notification-url", app=APP)
    developer.server.shutdown()


def public_methods(of):
    return {name for name, _ in inspect.getmembers(of, inspect.isfunction) if not name.startswith("_")}


def order_id(service, transaction):
    """The order id that the customer's receipt mail has."""
    path = f"file:{service.data / 'sandbox' / 'sandbox.sqlite'}?mode=ro"
    store = sqlite3.connect(path, uri=True)
    try:
        return store.execute("SELECT order_id FROM purchase WHERE transaction_id = ?", [int(transaction)]).fetchone()[0]
    finally:
        store.close()


def test_the_sandbox_answers_every_method_of_apples_client(service, store, developer):
    client, retention = store.client(), Shop()
    month = store.buy("pro.monthly", "ada")["transactionId"]
    coins = store.buy("shells.100", "ada")["transactionId"]
    image, message, extension = uuid.uuid4(), uuid.uuid4(), str(uuid.uuid4())
    now = store.transaction(client.get_transaction_info(month).signedTransactionInfo).signedDate
    results = {}

    def call(method, *arguments):
        results[method] = getattr(client, method)(*arguments)
        return results[method]

    assert call("get_all_subscription_statuses", month).data[0].lastTransactions[0].originalTransactionId == month
    history = call(
        "get_transaction_history", month, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)
    assert len(history.signedTransactions) == 2
    assert store.transaction(call("get_transaction_info", coins).signedTransactionInfo).productId == "shells.100"
    app = call("get_app_transaction_info", month).signedAppTransactionInfo
    assert store.verifier.verify_and_decode_app_transaction(app).bundleId
    order = call("look_up_order_id", order_id(service, month))
    assert order.status == OrderLookupStatus.VALID
    assert store.transaction(order.signedTransactions[0]).transactionId == month
    call("set_app_account_token", month, UpdateAppAccountTokenRequest(appAccountToken=TOKEN))
    assert store.transaction(client.get_transaction_info(month).signedTransactionInfo).appAccountToken == TOKEN

    request = ExtendRenewalDateRequest(
        extendByDays=3, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier=str(uuid.uuid4()))
    assert call("extend_subscription_renewal_date", month, request).success
    mass = MassExtendRenewalDateRequest(
        extendByDays=3, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier=extension,
        productId="pro.monthly")  # fmt: skip
    assert call("extend_renewal_date_for_all_active_subscribers", mass).requestIdentifier == extension
    assert call("get_status_of_subscription_renewal_date_extensions", extension, "pro.monthly").complete

    store.act("request-consumption", transactionId=coins)
    call("send_consumption_information", coins, ConsumptionRequest(
        customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED))
    call("send_consumption_data", coins, ConsumptionRequestV1(
        customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatusV1(0), appAccountToken="",
        consumptionStatus=ConsumptionStatus(1), platform=Platform(1), accountTenure=AccountTenure(2),
        playTime=PlayTime(3), lifetimeDollarsPurchased=LifetimeDollarsPurchased(1),
        lifetimeDollarsRefunded=LifetimeDollarsRefunded(1), userStatus=UserStatus(1)))  # fmt: skip
    store.act("refund", transactionId=coins)
    assert len(call("get_refund_history", coins, None).signedTransactions) == 1
    call("finish_transaction", coins)

    token = call("request_test_notification").testNotificationToken
    store.advance("1s")
    assert call("get_test_notification_status", token).sendAttempts
    found = call("get_notification_history", None, NotificationHistoryRequest(startDate=now - DAY, endDate=now + DAY))
    assert found.notificationHistory

    call("upload_image", image, PNG)
    assert call("get_image_list").imageIdentifiers
    call("upload_message", message, UploadMessageRequestBody(header="Stay", body="There is more to come"))
    assert call("get_message_list").messageIdentifiers
    call("configure_default_message", "pro.monthly", "en-US", DefaultConfigurationRequest(messageIdentifier=message))
    assert call("get_default_message", "pro.monthly", "en-US").messageIdentifier
    call("delete_default_message", "pro.monthly", "en-US")
    call("delete_message", message)
    call("delete_image", image)
    url = f"http://127.0.0.1:{retention.server_port}/retention"
    call("configure_realtime_url", RealtimeUrlRequest(realtimeURL=url))
    assert call("get_realtime_url").realtimeURL == url
    test = call("initiate_performance_test", PerformanceTestRequest(originalTransactionId=month))
    assert call("get_performance_test_results", test.requestId).rawResult == "PASS"
    call("delete_realtime_url")
    retention.shutdown()
    retention.server_close()

    assert set(results) | set(UNSUPPORTED) == public_methods(AppStoreServerAPIClient)
    assert not set(results) & set(UNSUPPORTED)


def live_through_everything(store):
    """Causes a notification of every type."""
    for product in ("pro.monthly", "lifetime"):
        store.act("shareable", app=APP, productId=product)
    for id, kind in [("back", "PROMOTIONAL"), ("return", "WIN_BACK")]:
        store.act("offers", app=APP, productId="pro.monthly", id=id, type=kind, mode="FREE_TRIAL", period="P1W")
    store.act("grace-period", app=APP, days=3)
    ids = {name: store.buy("pro.monthly", name)["transactionId"] for name in [
        "owner", "upgrader", "left", "failing", "offered", "refunded", "extended", "consenting", "merchant"]}  # fmt: skip
    store.buy("lifetime", "owner")
    store.act("join-family", account="owner", family="ours")
    store.act("join-family", account="member", family="ours")
    store.buy("pro.yearly", "upgrader")
    store.buy("pro.monthly", "upgrader")
    store.act("auto-renew", transactionId=ids["left"], enabled=False)
    store.act("billing", account="failing", fails=True)
    store.buy("pro.monthly", "offered", offer="back")
    coins = store.buy("shells.100", "refunded")["transactionId"]
    store.act("request-consumption", transactionId=coins, reason="LEGAL")
    store.act("decline-refund", transactionId=coins)
    for action in ("refund", "reverse-refund"):
        store.act(action, transactionId=ids["refunded"])
    store.act("extend", transactionId=ids["extended"], days=3)
    store.act("rescind-consent", app=APP, account="consenting")
    for request in ("changeMetadata", "migrate"):
        store.act("advanced-commerce", transactionId=ids["merchant"], request=request)
    store.act("advanced-commerce", transactionId=ids["merchant"], request="changePrice", price=990)
    store.act("external-purchase-token", app=APP, tokenType="ACQUISITION", expires="90d")
    store.act("external-purchase-token", app=APP, tokenType="SERVICES")
    store.act("test-notification", app=APP)
    store.advance("8d")
    store.act("leave-family", account="member")
    store.advance("40d")
    store.act("price", app=APP, productId="pro.monthly", price=5990, needsConsent=True)
    store.act("mass-extend", app=APP, productId="pro.monthly", days=2, requestIdentifier=str(uuid.uuid4()))
    team = store.buy("pro.yearly", "team", seats=3)["transactionId"]
    store.act("assign-seat", transactionId=team, account="pupil")
    store.act("unclaim-seat", transactionId=team, account="pupil")
    store.act("invitations", app=APP, productId="pro.yearly", management="DEVELOPER")
    crew = store.buy("pro.yearly", "crew", seats=2)["transactionId"]
    claim = store.act("claim-seat", transactionId=crew, requestIdentifier=str(uuid.uuid4()))["seatClaimId"]
    store.act("unclaim-seat", transactionId=crew, seatClaimId=claim)
    store.advance("70d")


def test_apples_verifier_accepts_every_document(store, developer):
    # Apple's sandbox has a history of 30 days only.
    store.act("delivery", app=APP, rules="PRODUCTION")
    start = store.transaction(store.buy("lifetime", "first")["signedTransactionInfo"]).signedDate
    live_through_everything(store)
    client, token, seen = store.client(), None, set()
    request = NotificationHistoryRequest(startDate=start, endDate=start + 179 * DAY)
    while True:
        page = client.get_notification_history(token, request)
        for entry in page.notificationHistory:
            seen.add(verify(store, entry.signedPayload))
        token = page.paginationToken
        if not page.hasMore:
            break
    assert {kind.value for kind in NotificationTypeV2} - seen == set()
    assert set(UNVERIFIABLE) <= seen
    document = store.act("documents/retention-message-request", app=APP, productId="pro.monthly")["document"]
    assert store.verifier.verify_and_decode_realtime_request(document).productId == "pro.monthly"
    # Every method that verifies a document is called above or in `verify`.
    assert {name for name in public_methods(SignedDataVerifier) if name.startswith("verify")} == {
        "verify_and_decode_app_transaction", "verify_and_decode_notification", "verify_and_decode_realtime_request",
        "verify_and_decode_renewal_info", "verify_and_decode_signed_transaction"}  # fmt: skip


def verify(store, payload):
    """Verifies a notification and the documents in it; returns its type."""
    try:
        notification = store.verifier.verify_and_decode_notification(payload)
    except VerificationException:
        kind = store.verifier._decode_signed_object(payload)["notificationType"]
        assert kind in UNVERIFIABLE, kind
        return kind
    data = notification.data
    if data and data.signedTransactionInfo:
        assert store.transaction(data.signedTransactionInfo).transactionId
    if data and data.signedRenewalInfo:
        assert store.verifier.verify_and_decode_renewal_info(data.signedRenewalInfo).originalTransactionId
    if notification.appData:
        assert store.verifier.verify_and_decode_app_transaction(notification.appData.signedAppTransactionInfo)
    return notification.rawNotificationType
