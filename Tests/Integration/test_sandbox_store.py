"""The sandbox App Store with Apple's own client library and a developer's server, over real sockets."""

import base64
import json
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from appstoreserverlibrary.api_client import (
    APIError, APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion,
)  # fmt: skip
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from requests.exceptions import RequestException

from harness import CALL_LIMIT, Service, post

BUNDLE = "com.example.oceanjournal"
APP = "ocean-journal"
DAY = 86_400_000


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


class Store:
    """The sandbox of a service: testers' actions, and Apple's client for it."""

    def __init__(self, service):
        self.url = f"http://{service.sandbox}"
        self.key = ec.generate_private_key(ec.SECP256R1())
        root = x509.load_pem_x509_certificate(self.read("root").encode())
        der = root.public_bytes(serialization.Encoding.DER)
        self.verifier = SignedDataVerifier([der], False, Environment.SANDBOX, BUNDLE)

    def client(self, key=None, key_id="KEY1", bundle=BUNDLE):
        client = AppStoreServerAPIClient(pem(key or self.key), key_id, "issuer", bundle, Environment.SANDBOX)
        client._base_url = self.url
        return client

    def read(self, path):
        with urllib.request.urlopen(f"{self.url}/sandbox/v1/{path}", timeout=CALL_LIMIT) as answer:
            return answer.read().decode()

    def act(self, action, **members):
        status, answer = post(f"{self.url}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def buy(self, product, account, **more):
        return self.act("purchases", app=APP, productId=product, account=account, **more)

    def advance(self, by):
        return self.act("clock/advance", by=by)

    def transaction(self, jws):
        return self.verifier.verify_and_decode_signed_transaction(jws)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A service for this module, because its clock is advanced."""
    service = Service(tmp_path_factory.mktemp("store"))
    yield service
    service.stop()
    assert "eyJ" not in service.log


@pytest.fixture(scope="module")
def store(running):
    return Store(running)


class Developer:
    """A developer's server: stores notifications and responds with the configured statuses."""

    def __init__(self):
        self.bodies = []
        self.statuses = []
        developer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                developer.bodies.append(json.loads(body))
                self.send_response(developer.statuses.pop(0) if developer.statuses else 200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/notifications"
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def wait(self, count):
        """Waits for `count` bodies; returns them."""
        deadline = time.monotonic() + CALL_LIMIT
        while len(self.bodies) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(self.bodies) >= count, self.bodies
        return self.bodies


@pytest.fixture
def developer(store):
    developer = Developer()
    store.act(f"apps/{APP}/notification-url", url=developer.url, version=2)
    yield developer
    store.act(f"apps/{APP}/notification-url")
    developer.server.shutdown()


def decode(store, body):
    return store.verifier.verify_and_decode_notification(body["signedPayload"])


def test_a_subscription_follows_the_clock(store):
    bought = store.buy("pro.monthly", "ada")
    client = store.client()
    [group] = client.get_all_subscription_statuses(bought["transactionId"]).data
    [last] = group.lastTransactions
    assert (last.status, last.originalTransactionId) == (Status.ACTIVE, bought["transactionId"])
    assert store.advance("32d")["notifications"].count("DID_RENEW") >= 1
    [group] = client.get_all_subscription_statuses(bought["transactionId"]).data
    renewed = store.transaction(group.lastTransactions[0].signedTransactionInfo)
    assert renewed.transactionId != bought["transactionId"]
    assert renewed.rawTransactionReason == "RENEWAL"
    store.act("auto-renew", transactionId=bought["transactionId"], enabled=False)
    store.advance("60d")
    [group] = client.get_all_subscription_statuses(bought["transactionId"], [Status.EXPIRED]).data
    renewal = store.verifier.verify_and_decode_renewal_info(group.lastTransactions[0].signedRenewalInfo)
    assert renewal.rawExpirationIntent == 1
    assert client.get_all_subscription_statuses(bought["transactionId"], [Status.ACTIVE]).data == []


def test_the_history_is_paged_and_filtered(store):
    bought = [store.buy("shells.100", "collector") for _ in range(45)]
    store.buy("pro.monthly", "collector")
    client, any_id = store.client(), bought[7]["transactionId"]
    found, revision, pages = [], None, 0
    request = TransactionHistoryRequest(sort=Order.ASCENDING)
    while True:
        page = client.get_transaction_history(any_id, revision, request, GetTransactionHistoryVersion.V2)
        found += [store.transaction(jws) for jws in page.signedTransactions]
        revision, pages = page.revision, pages + 1
        if not page.hasMore:
            break
    assert pages == 3
    assert [t.transactionId for t in found][:45] == [b["transactionId"] for b in bought]
    only = TransactionHistoryRequest(productTypes=[ProductType.AUTO_RENEWABLE])
    page = client.get_transaction_history(any_id, None, only, GetTransactionHistoryVersion.V2)
    assert [store.transaction(jws).productId for jws in page.signedTransactions] == ["pro.monthly"]
    client.finish_transaction(any_id)
    for version, changed in [(GetTransactionHistoryVersion.V2, [any_id]), (GetTransactionHistoryVersion.V1, [])]:
        page = client.get_transaction_history(any_id, revision, request, version)
        assert [store.transaction(jws).transactionId for jws in page.signedTransactions] == changed


def test_transactions_orders_and_app_transactions_are_found(store):
    store.act("download", app=APP, account="asker", version="3.2", originalVersion="1.4")
    bought = store.buy("lifetime", "asker")
    client = store.client()
    info = client.get_transaction_info(bought["transactionId"])
    assert store.transaction(info.signedTransactionInfo).productId == "lifetime"
    app = client.get_app_transaction_info(bought["transactionId"]).signedAppTransactionInfo
    decoded = store.verifier.verify_and_decode_app_transaction(app)
    assert (decoded.originalApplicationVersion, decoded.applicationVersion) == ("1.4", "3.2")
    token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
    client.set_app_account_token(bought["transactionId"], UpdateAppAccountTokenRequest(appAccountToken=token))
    info = client.get_transaction_info(bought["transactionId"])
    assert store.transaction(info.signedTransactionInfo).appAccountToken == token
    assert client.look_up_order_id("MZZZ").rawStatus == 1


def test_refunds_have_a_history(store):
    first, second = store.buy("season", "regret"), store.buy("shells.100", "regret")
    store.act("refund", transactionId=first["transactionId"], reason="APP_ISSUE")
    store.advance("1d")
    store.act("refund", transactionId=second["transactionId"], percent=25)
    history = store.client().get_refund_history(second["transactionId"], None)
    refunded = [store.transaction(jws) for jws in history.signedTransactions]
    assert [t.transactionId for t in refunded] == [first["transactionId"], second["transactionId"]]
    assert (refunded[0].rawRevocationReason, refunded[1].revocationPercentage) == (1, 25_000)
    assert not history.hasMore


def test_renewal_dates_can_be_extended(store):
    bought = store.buy("pro.monthly", "patient")
    client = store.client()
    requests = [
        ExtendRenewalDateRequest(
            extendByDays=10, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier=identifier)
        for identifier in ("r1", "r2", "r3")]  # fmt: skip
    before = store.transaction(bought["signedTransactionInfo"]).expiresDate
    answer = client.extend_subscription_renewal_date(bought["transactionId"], requests[0])
    assert answer.success and answer.effectiveDate == before + 10 * DAY
    client.extend_subscription_renewal_date(bought["transactionId"], requests[1])
    with pytest.raises(APIException) as error:
        client.extend_subscription_renewal_date(bought["transactionId"], requests[2])
    assert error.value.api_error == APIError.SUBSCRIPTION_MAX_EXTENSION
    mass = MassExtendRenewalDateRequest(
        extendByDays=3, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier="all", productId="pro.monthly")
    assert client.extend_renewal_date_for_all_active_subscribers(mass).requestIdentifier == "all"
    status = client.get_status_of_subscription_renewal_date_extensions("all", "pro.monthly")
    assert status.complete and status.succeededCount + status.failedCount >= 1


def test_notifications_are_sent_retried_and_recorded(store, developer):
    store.act("delivery", app=APP, rules="PRODUCTION")
    start = json.loads(store.read("clock"))["milliseconds"] - 1
    developer.statuses = [500]
    bought = store.buy("pro.yearly", "notified")
    first = decode(store, developer.wait(1)[0])
    assert (first.notificationType, first.rawSubtype) == (NotificationTypeV2.SUBSCRIBED, "INITIAL_BUY")
    store.advance("2h")
    again = decode(store, developer.bodies[1])
    assert again.notificationUUID == first.notificationUUID
    end = json.loads(store.read("clock"))["milliseconds"] + 1
    request = NotificationHistoryRequest(
        startDate=start, endDate=end, transactionId=bought["transactionId"])
    history = store.client().get_notification_history(None, request)
    [entry] = history.notificationHistory
    results = [attempt.sendAttemptResult for attempt in entry.sendAttempts]
    assert results == [SendAttemptResult.UNSUCCESSFUL_HTTP_RESPONSE_CODE, SendAttemptResult.SUCCESS]
    # An hour after the first response; the clock keeps running meanwhile.
    assert 0 <= entry.sendAttempts[1].attemptDate - entry.sendAttempts[0].attemptDate - 3_600_000 < 5_000
    assert decode(store, {"signedPayload": entry.signedPayload}).notificationUUID == first.notificationUUID
    store.act("delivery", app=APP, rules="SANDBOX")


def test_a_test_notification_can_be_requested(store, developer):
    client = store.client()
    token = client.request_test_notification().testNotificationToken
    assert decode(store, developer.wait(1)[0]).notificationType == NotificationTypeV2.TEST
    deadline = time.monotonic() + CALL_LIMIT
    while True:
        try:
            status = client.get_test_notification_status(token)
            break
        except APIException as error:
            assert error.api_error == APIError.TEST_NOTIFICATION_NOT_FOUND
            assert time.monotonic() < deadline
    assert status.sendAttempts[0].sendAttemptResult == SendAttemptResult.SUCCESS


def test_without_a_url_there_is_no_test_notification(store):
    with pytest.raises(APIException) as error:
        store.client().request_test_notification()
    assert error.value.api_error == APIError.SERVER_NOTIFICATION_URL_NOT_FOUND


def test_injected_faults_occur_in_responses(store, developer):
    store.act("faults", kind="duplicate")
    store.act("faults", kind="reorder")
    store.buy("shells.100", "unlucky")
    developer.wait(2)
    assert developer.bodies[0] == developer.bodies[1]
    store.act("faults", kind="wrong-signature")
    store.buy("shells.100", "unlucky")
    bad = developer.wait(3)[2]
    with pytest.raises(VerificationException):
        decode(store, bad)
    store.act("faults", kind="drop")
    store.buy("shells.100", "unlucky")
    store.buy("shells.100", "unlucky")
    developer.wait(4)
    assert len(developer.bodies) == 4
    client, any_id = store.client(), store.buy("lifetime", "unlucky")["transactionId"]
    store.act("faults", kind="rate-limit", by="30s")
    with pytest.raises(APIException) as error:
        client.get_transaction_info(any_id)
    assert error.value.api_error == APIError.RATE_LIMIT_EXCEEDED
    store.act("faults", kind="cut")
    with pytest.raises(RequestException):
        client.get_transaction_info(any_id)
    assert client.get_transaction_info(any_id).signedTransactionInfo


def test_a_fast_clock_advances_without_commands(start):
    store, developer = Store(start()), Developer()
    store.act("notification-url", app=APP, url=developer.url)
    store.buy("pro.monthly", "hasty")
    store.act("clock", speed=5_000_000)  # a month takes half a second
    state = [decode(store, body).rawNotificationType for body in developer.wait(4)]
    store.act("clock", speed=0)
    assert state[:4] == ["SUBSCRIBED", "DID_RENEW", "DID_RENEW", "DID_RENEW"]
    still = store.read("clock")
    assert json.loads(still)["now"] == json.loads(store.read("clock"))["now"]
    developer.server.shutdown()


def test_an_unknown_id_gets_apples_error(store):
    for call, expected in [
        (lambda c: c.get_transaction_info("999"), APIError.TRANSACTION_ID_NOT_FOUND),
        (lambda c: c.get_transaction_info("x"), APIError.INVALID_TRANSACTION_ID),
        (lambda c: c.get_refund_history("999", None), APIError.TRANSACTION_ID_NOT_FOUND),
    ]:
        with pytest.raises(APIException) as error:
            call(store.client())
        assert error.value.api_error == expected


def test_a_registered_key_makes_its_tokens_mandatory(start):
    store = Store(start())
    bought = store.buy("lifetime", "ada")
    assert store.client().get_transaction_info(bought["transactionId"])
    public = store.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    store.act("keys", keyId="KEY1", publicKey=public.decode())
    assert store.client().get_transaction_info(bought["transactionId"])
    stranger = ec.generate_private_key(ec.SECP256R1())
    for client in (store.client(stranger), store.client(key_id="KEY2"), store.client(bundle="com.example.other")):
        with pytest.raises(APIException) as error:
            client.get_transaction_info(bought["transactionId"])
        assert error.value.http_status_code == 401


def test_verify_receipt_responds_like_apple(store):
    store.buy("pro.monthly", "old-timer")
    order = {"app": APP, "productId": "lifetime", "account": "old-timer"}
    _, answer = post(f"{store.url}/sandbox/v1/documents/app-receipt", order)
    receipt = answer["document"]
    status, verified = post(f"{store.url}/verifyReceipt", {"receipt-data": receipt})
    assert (status, verified["status"], verified["environment"]) == (200, 0, "Sandbox")
    assert {t["product_id"] for t in verified["latest_receipt_info"]} == {"pro.monthly", "lifetime"}
    assert [r["auto_renew_status"] for r in verified["pending_renewal_info"]] == ["1"]
    for name in ("receipt_creation_date", "request_date", "original_purchase_date"):
        assert verified["receipt"][name].endswith(" Etc/GMT")
        assert verified["receipt"][f"{name}_ms"].isdigit()
        assert verified["receipt"][f"{name}_pst"].endswith(" America/Los_Angeles")
    assert verified["receipt"]["original_purchase_date_pst"] == "2013-08-01 00:00:00 America/Los_Angeles"
    forged = base64.b64encode(base64.b64decode(receipt)[:-1] + b"\0").decode()
    for document, code in [("no receipt", 21002), (forged, 21003)]:
        assert post(f"{store.url}/verifyReceipt", {"receipt-data": document})[1]["status"] == code
    store.act("shared-secret", app=APP, password="secret")
    assert post(f"{store.url}/verifyReceipt", {"receipt-data": receipt})[1]["status"] == 21004
    right = {"receipt-data": receipt, "password": "secret"}
    assert post(f"{store.url}/verifyReceipt", right)[1]["status"] == 0
    store.act("shared-secret", app=APP)


def test_notifications_of_version_1_carry_receipt_and_secret(store, developer):
    store.act("notification-url", app=APP, url=developer.url, version=1)
    store.act("shared-secret", app=APP, password="secret")
    bought = store.buy("pro.monthly", "legacy")
    body = developer.wait(1)[0]
    assert (body["notification_type"], body["password"]) == ("INITIAL_BUY", "secret")
    [latest] = body["unified_receipt"]["latest_receipt_info"]
    assert latest["transaction_id"] == bought["transactionId"]
    store.act("shared-secret", app=APP)


def test_the_state_survives_a_restart(start, tmp_path):
    first = start(tmp_path / "again")
    store = Store(first)
    bought = store.buy("pro.monthly", "ada")
    store.advance("40d")
    before = json.loads(store.read("accounts/ada"))["apps"][0]["transactions"]
    first.stop()
    store = Store(start(tmp_path / "again"))
    after = json.loads(store.read("accounts/ada"))["apps"][0]["transactions"]
    same = ("transactionId", "purchaseDate", "expiresDate", "webOrderLineItemId")
    assert [[t[k] for k in same] for t in after] == [[t[k] for k in same] for t in before]
    assert len(after) == 2
    assert store.buy("shells.100", "ada")["transactionId"] not in {t["transactionId"] for t in after}
    assert after[0]["transactionId"] == bought["transactionId"]


def test_many_customers_survive_kill_9(tmp_path):
    def state(service):
        """The App Store's owners and accounts, and its clock."""
        store = Store(service)
        return [json.loads(store.read(path)) for path in ("clock", f"owners?app={APP}", f"accounts?app={APP}&limit=5000")]

    service = Service(tmp_path / "data")
    store = Store(service)
    post(f"{store.url}/sandbox/v1/clock", {"speed": 0})
    store.act("live", app=APP, customers=150, by="120d", seed=9)
    before = state(service)
    assert len(before[1]["owners"]) > 50
    service.kill()
    service = Service(tmp_path / "data")
    assert state(service) == before
    service.stop()


def test_the_service_uses_the_sandboxs_clock(start):
    service = start()
    store = Store(service)
    bought = store.buy("pro.monthly", "ada")
    submitted = {
        "app": APP, "customerId": "ada", "signedTransaction": bought["signedTransactionInfo"]}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", submitted)[0] == 200
    check_request = {"app": APP, "customerId": "ada", "entitlement": "pro"}
    assert service.json("entitled.v1.EntitlementService/Check", check_request)[1]["entitlement"]["entitled"]
    store.act("auto-renew", transactionId=bought["transactionId"], enabled=False)
    store.advance("35d")
    assert not service.json("entitled.v1.EntitlementService/Check", check_request)[1]["entitlement"]["entitled"]


def test_commands_perform_testers_actions(start):
    service = start()
    signed = service.command("sandbox", "buy", "pro.monthly", "--account", "ann").stdout.strip()
    assert signed.count(".") == 2
    advanced = json.loads(service.command("sandbox", "advance", "32d").stdout)
    assert advanced["notifications"] == ["DID_RENEW"]
    done = service.command("sandbox", "do", "storefront", "account=ann", "storefront=DEU")
    assert json.loads(done.stdout)["account"] == "ann"
    wrong = service.command("sandbox", "do", "storefront", "account=ann", "storefront=XYZ")
    assert wrong.returncode == 1 and "DEU" in wrong.stderr
    wrong = service.command("sandbox", "advance", "soon")
    assert wrong.returncode == 64 and "a duration such as 90s" in wrong.stderr
    wrong = service.command("sandbox", "do", "billing", "account=ann")
    assert (wrong.returncode, wrong.stderr) == (64, "entitled: fails is missing\n")


def test_documents_of_seats_and_families_pass_apples_verifier(store, developer):
    """Apple's library has no types for seats yet (API 1.23), so their members are read from the verified payload."""
    store.act("volume-pricing", app=APP, productId="pro.monthly", bands="2:3990")
    team = store.buy("pro.monthly", "head", seats=2)["transactionId"]
    store.act("seats", transactionId=team, seats=4)
    for account in ["mia", "leo"]:
        store.act("assign-seat", transactionId=team, account=account)
    store.act("unclaim-seat", transactionId=team, account="leo")
    store.act("refund-seats", transactionId=team, seats=2)
    store.act("shareable", app=APP, productId="lifetime")
    unlock = store.buy("lifetime", "mother")["transactionId"]
    for account in ["mother", "child"]:
        store.act("join-family", account=account, family="home")
    store.act("refund", transactionId=unlock, reason="APP_ISSUE")
    store.act("volume-pricing", app=APP, productId="pro.monthly")

    seen = {}
    for body in developer.wait(10):
        notification = decode(store, body)
        if notification.data.signedRenewalInfo:
            store.verifier.verify_and_decode_renewal_info(notification.data.signedRenewalInfo)
        sold = store.transaction(notification.data.signedTransactionInfo)
        key = (notification.rawNotificationType, notification.rawSubtype, sold.rawInAppOwnershipType)
        seen.setdefault(key, []).append((sold, unverified(notification.data.signedTransactionInfo)))
    assert {key: len(sold) for key, sold in seen.items()} == {
        ("SUBSCRIBED", "INITIAL_BUY", "PURCHASED"): 1, ("SUBSCRIBED", "INITIAL_BUY", "ASSIGNED"): 2,
        ("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", "PURCHASED"): 1, ("REVOKE", None, "ASSIGNED"): 1,
        ("REFUND", "SEATS", "PURCHASED"): 1, ("ONE_TIME_CHARGE", None, "PURCHASED"): 1,
        ("ONE_TIME_CHARGE", None, "FAMILY_SHARED"): 1, ("REFUND", None, "PURCHASED"): 1,
        ("REVOKE", None, "FAMILY_SHARED"): 1,
    }  # fmt: skip
    [(addition, raw)] = seen["DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", "PURCHASED"]
    assert (addition.quantity, addition.price, addition.originalTransactionId) == (2, 3990, team)
    assert raw["additionalTransactionReason"] == "SEAT_ADDITION"
    assert raw["multiSeatInfo"] == {
        "invitationManagement": "APPLE", "priceTiers": [{"tierPrice": 3990, "tierQuantity": 2}]}
    [(refunded, raw)] = seen["REFUND", "SEATS", "PURCHASED"]
    assert refunded.transactionId == addition.transactionId and refunded.revocationDate
    assert raw["multiSeatInfo"]["revokedSeatQuantity"] == 2
    for own, raw in seen["SUBSCRIBED", "INITIAL_BUY", "ASSIGNED"]:
        assert own.quantity == 2 and raw["multiSeatInfo"]["priceTiers"] == [{"tierPrice": 4990, "tierQuantity": 2}]
        assert "additionalTransactionReason" not in raw
    [(_, raw)] = seen["REVOKE", None, "ASSIGNED"]
    assert (raw["revocationType"], raw["revocationReason"]) == ("ASSIGNMENT_REVOKE", 0)
    [(charged, _)] = seen["ONE_TIME_CHARGE", None, "FAMILY_SHARED"]
    [(revoked, _)] = seen["REVOKE", None, "FAMILY_SHARED"]
    assert revoked.transactionId == charged.transactionId
    assert (revoked.rawRevocationType, revoked.rawRevocationReason) == ("FAMILY_REVOKE", 1)


def unverified(jws):
    """The payload of a JWS that was verified before."""
    part = jws.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
