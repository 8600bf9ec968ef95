"""The sandbox's responses to every request of Apple's client library, and to requests that no library has."""

import json
import re
import struct
import threading
import time
import urllib.request
import uuid
import zlib
from http.server import BaseHTTPRequestHandler, HTTPServer

import jwt
import pytest
from appstoreserverlibrary.api_client import APIException
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from cryptography.hazmat.primitives import serialization

from certificates import write_key
from harness import CALL_LIMIT, Service, post, response_to, wait_for
from test_sandbox_store import APP, BUNDLE, Store, pem
from test_signing import CONFIGURATION, KEY_ID, sign, subscribe



def png(width=3840, height=2160, color=2):
    """A PNG of one color; the color type 6 has an alpha channel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    samples = {2: 3, 6: 4}[color]
    rows = zlib.compress((b"\0" + b"\x40" * (samples * width)) * height, 9)
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


PNG = png(height=160)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("api"))
    yield Store(service)
    service.stop()


def call(store, method, path, body=None):
    """Makes a request as any client would; returns the status and the response."""
    now = int(time.time())
    claims = {"iss": "i", "iat": now, "exp": now + 300, "aud": "appstoreconnect-v1", "bid": BUNDLE}
    token = jwt.encode(claims, pem(store.key), algorithm="ES256", headers={"kid": "KEY1"})
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        store.url + path, data, {"authorization": f"Bearer {token}", "content-type": "application/json"},
        method=method)  # fmt: skip
    with response_to(request) as answer:
        text = answer.read()
        return answer.status, json.loads(text) if text else None


def test_every_request_of_apples_client_gets_apples_response(store, testdata):
    requests = json.loads((testdata / "api_client_expectations.json").read_text())
    assert len(requests) == 45
    for request in requests:
        path = request["url"].removeprefix("https://local-testing-base-url")
        query = "&".join(f"{name}={value}" for name, values in request["params"].items() for value in values)
        body = PNG if "/image/a" in path and request["method"] == "PUT" else request["body"]
        status, answer = call(store, request["method"], f"{path}?{query}" if query else path, body)
        # Most ids in these requests are unknown, so that the responses are Apple's errors.
        if status not in (200, 202):
            assert answer["errorCode"] // 10_000 == status and answer["errorMessage"], (request, status, answer)
        assert status < 500, request


def test_an_address_that_is_not_utf_8_names_no_other_account(store):
    for path in ("/sandbox/v1/accounts/J%FCrgen", "/apps/ocean-journal/accounts/J%FCrgen", "/sandbox/v1/accounts?after=%FC"):
        with response_to(store.url + path) as answer:
            assert (answer.status, answer.read()) == (400, b"the address is not UTF-8\n")
    with response_to(f"{store.url}/sandbox/v1/accounts/J%C3%BCrgen?app={APP}") as answer:
        assert answer.status == 404


def test_a_response_to_head_has_the_length_of_that_to_get(store):
    with response_to(f"{store.url}/apps/{APP}/catalog") as page:
        length, text = page.headers["content-length"], page.read().decode()
    file = re.search(r'src="(/assets/[^"]+)"', text)[1]
    with response_to(store.url + file) as answer:
        lengths = {f"/apps/{APP}/catalog": length, file: answer.headers["content-length"]}
    for path, expected in lengths.items():
        with response_to(urllib.request.Request(store.url + path, method="HEAD")) as answer:
            assert answer.headers["content-length"] == expected != "0" and answer.read() == b""


def test_retention_messages_are_stored_and_reviewed(store):
    client, image, message = store.client(), uuid.uuid4(), uuid.uuid4()
    client.upload_image(image, PNG)
    with pytest.raises(APIException) as error:
        client.upload_image(image, PNG)
    assert error.value.raw_api_error == 4090000
    body = UploadMessageRequestBody(
        header="Stay", body="There is more to come",
        image=UploadMessageImage(imageIdentifier=image, altText="the sea"))  # fmt: skip
    client.upload_message(message, body)
    listed = client.get_message_list().messageIdentifiers
    assert (str(message), "APPROVED") in {(str(m.messageIdentifier), m.rawMessageState) for m in listed}
    default = DefaultConfigurationRequest(messageIdentifier=message)
    client.configure_default_message("pro.monthly", "en-US", default)
    assert str(client.get_default_message("pro.monthly", "en-US").messageIdentifier) == str(message)
    with pytest.raises(APIException) as error:
        client.delete_image(image)
    assert error.value.raw_api_error == 4030019
    store.act("review-retention", app=APP, id=str(image), approved=False)
    with pytest.raises(APIException) as error:
        client.configure_default_message("pro.monthly", "de-DE", default)
    assert error.value.raw_api_error == 4030018
    client.delete_default_message("pro.monthly", "en-US")
    client.delete_message(message)
    client.delete_image(image)
    assert image not in [i.imageIdentifier for i in client.get_image_list().imageIdentifiers]


class Shop(HTTPServer):
    """A developer's server that selects the retention message for the Confirm Cancellation page."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), ShopHandler)
        self.asked = []
        # Requests are answered while it is set.
        self.open = threading.Event()
        self.open.set()
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()


class ShopHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body["signedPayload"])
        self.server.open.wait(CALL_LIMIT)
        answer = b'{"message": {"messageIdentifier": "m"}}'
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def test_the_developers_server_selects_the_retention_message(store):
    client, shop = store.client(), Shop()
    bought = store.buy("pro.monthly", "leaving")
    with pytest.raises(APIException) as error:
        client.get_realtime_url()
    assert error.value.raw_api_error == 4040021
    url = f"http://127.0.0.1:{shop.server_port}/retention"
    client.configure_realtime_url(RealtimeUrlRequest(realtimeURL=url))
    assert client.get_realtime_url().realtimeURL == url
    asked = store.act("realtime-message", transactionId=bought["transactionId"])
    assert asked["result"] == "SUCCESS" and asked["answer"]["message"]["messageIdentifier"] == "m"
    question = store.verifier.verify_and_decode_realtime_request(shop.asked[0])
    assert (question.originalTransactionId, question.productId) == (bought["transactionId"], "pro.monthly")
    request = PerformanceTestRequest(originalTransactionId=bought["transactionId"])
    result = client.get_performance_test_results(client.initiate_performance_test(request).requestId)
    assert (result.rawResult, result.target, len(shop.asked)) == ("PASS", url, 11)
    shop.open.clear()
    first = threading.Thread(target=client.initiate_performance_test, args=[request])
    first.start()
    wait_for(lambda: len(shop.asked) == 12)
    with pytest.raises(APIException) as error:
        store.client().initiate_performance_test(request)
    assert error.value.raw_api_error == 4000213, "one test at a time"
    shop.open.set()
    first.join()
    client.delete_realtime_url()
    shop.shutdown()
    shop.server_close()


def test_seat_invitations_of_the_developer(store):
    store.act("invitations", app=APP, productId="pro.yearly", management="DEVELOPER")
    bought = store.buy("pro.yearly", "boss", seats=2)
    number = bought["originalTransactionId"]
    payload = store.transaction(bought["signedTransactionInfo"])
    assert payload.quantity == 2
    seats = f"/groups/v1/transactions/{number}/seats"
    claim = call(store, "POST", seats, {"requestIdentifier": "one"})[1]["seatClaimId"]
    assert call(store, "POST", seats, {"requestIdentifier": "one"})[1]["seatClaimId"] == claim
    assert call(store, "POST", seats, {"requestIdentifier": "two"})[0] == 200
    status, error = call(store, "POST", seats, {"requestIdentifier": "three"})
    assert (status, error["errorMessage"]) == (400, "NoAvailableSeatsError")
    assert call(store, "GET", seats)[1]["availableSeatCount"] == 0
    store.act("download", app=APP, account="member", version="1.0")
    member = json.loads(store.read(f"accounts/member?app={APP}"))["apps"][0]["appTransactionId"]
    status, error = call(store, "POST", f"{seats}/{claim}/associate", {"appTransactionId": "77"})
    assert (status, error["errorMessage"]) == (400, "AppTransactionIdNotFoundError")
    assert call(store, "POST", f"{seats}/{claim}/associate", {"appTransactionId": member})[0] == 200
    [group] = call(store, "GET", f"/groups/v1/currentGroups/{number}")[1]["groups"]
    assert group["groupType"] == "CONSUMER" and "roles" not in group
    page = call(store, "GET", f"/groups/v1/group/{group['groupId']}?limit=1")[1]
    assert page["hasMore"]
    rest = call(
        store, "GET", f"/groups/v1/group/{group['groupId']}?limit=1&paginationToken={page['paginationToken']}")[1]
    assert rest["members"] == [{"appTransactionId": member}] and not rest["hasMore"]
    assert call(store, "GET", "/groups/v1/group/900000000000000000")[1]["errorCode"] == 4040022
    assert call(store, "DELETE", f"{seats}/{claim}")[0] == 200
    assert call(store, "GET", seats)[1]["availableSeatCount"] == 1


def test_advanced_commerce_changes_the_subscription(store):
    bought = store.buy("pro.monthly", "streamer")
    number = bought["transactionId"]
    info = {"requestInfo": {"requestReferenceId": str(uuid.uuid4())}, "storefront": "USA"}
    status, _ = call(store, "POST", f"/advancedCommerce/v1/subscription/cancel/{number}", {"storefront": "USA"})
    assert status == 400, "a request without its reference is rejected"
    price = {**info, "items": [{"SKU": "a", "price": 2000}, {"SKU": "b", "price": 1500}], "currency": "USD"}
    status, answer = call(store, "POST", f"/advancedCommerce/v1/subscription/changePrice/{number}", price)
    renewal = store.verifier.verify_and_decode_renewal_info(answer["signedRenewalInfo"])
    assert (status, renewal.renewalPrice) == (200, 3500)
    text = {"description": "All films", "displayName": "Films"}
    bodies = {
        "changeMetadata": {"descriptors": {**text, "effective": "IMMEDIATELY"}},
        "migrate": {"descriptors": text, "items": [{**text, "SKU": "a"}], "targetProductId": "films", "taxCode": "C003-00-1"},
    }
    for request, body in bodies.items():
        path = f"/advancedCommerce/v1/subscription/{request}/{number}"
        assert call(store, "POST", path, info)[0] == 400, "a request without Apple's required members is rejected"
        assert call(store, "POST", path, {**info, **body})[0] == 200
    _, answer = call(store, "POST", f"/advancedCommerce/v1/subscription/cancel/{number}", info)
    assert store.verifier.verify_and_decode_renewal_info(answer["signedRenewalInfo"]).rawAutoRenewStatus == 0
    refund = {"refundRiskingPreference": False, "items": [
        {"SKU": "a", "refundReason": "OTHER", "refundType": "FULL", "revoke": True}]}  # fmt: skip
    path = f"/advancedCommerce/v1/transaction/requestRefund/{number}"
    assert call(store, "POST", path, info)[0] == 400
    _, answer = call(store, "POST", path, {**info, **refund})
    assert store.transaction(answer["signedTransactionInfo"]).revocationDate


def test_external_purchases_are_reported(store):
    report = {"requestIdentifier": str(uuid.uuid4()), "externalPurchaseId": "SANDBOX_1", "status": "NO_LINE_ITEM"}
    status, answer = call(store, "PUT", "/externalPurchase/v1/reports", report)
    assert (status, answer["requestIdentifier"]) == (200, report["requestIdentifier"])
    assert call(store, "GET", f"/externalPurchase/v1/reports/{report['requestIdentifier']}") == (200, report)
    assert call(store, "GET", f"/externalPurchase/v1/reports/{uuid.uuid4()}")[0] == 404
    assert call(store, "PUT", "/externalPurchase/v1/reports", report)[0] == 200, "the same report again"
    changed = {**report, "status": "UNRECOGNIZED_TOKEN"}
    assert call(store, "PUT", "/externalPurchase/v1/reports", changed)[1]["errorMessage"] == "DuplicateValueError"


ITEM = {
    "lineItemId": "one", "creationDate": 1, "eventType": "BUY", "productType": "ONE_TIME_BUY", "productIdentifier": "coins",
    "amountTaxInclusive": 1190, "amountTaxExclusive": 1000, "taxAmount": 190, "netAmountTaxExclusive": 1000,
    "reportingCurrency": "EUR", "pricingCurrency": "EUR", "taxCountry": "DE", "quantity": 1,
}  # fmt: skip


@pytest.mark.parametrize("changed, items, error", [
    ({"status": "LINE_ITEM"}, None, "MissingLineItemsForStatusError"),
    ({"status": "NO_LINE_ITEM"}, [ITEM], "LineItemsNotAllowedForStatusError"),
    ({"status": "LINE_ITEM"}, [ITEM, ITEM], "DuplicateValueError"),
    ({"status": "LINE_ITEM"}, [{**ITEM, "eventType": "REFUND"}], "Bad request."),
    ({"status": "LINE_ITEM"}, [{**ITEM, "productType": "SUBSCRIPTION"}], "Bad request."),
    ({"status": "SOLD"}, None, "Bad request."),
    ({"status": "LINE_ITEM"}, [ITEM], None),
])  # fmt: skip
def test_external_purchase_reports_are_validated(store, changed, items, error):
    report = {"requestIdentifier": str(uuid.uuid4()), "externalPurchaseId": "SANDBOX_2", **changed}
    if items is not None:
        report["lineItems"] = items
    status, answer = call(store, "PUT", "/externalPurchase/v1/reports", report)
    assert (status, answer.get("errorMessage")) == ((200, None) if error is None else (400, error))


@pytest.mark.parametrize("image, query, code", [
    (png(width=100, height=100), "", 4000161), (png(height=159), "", 4000161), (png(height=160, color=6), "", 4000161),
    (b"GIF89a", "", 4000161), (PNG, "?imageSize=HUGE", 4000216), (png(width=100, height=100), "?imageSize=BULLET_POINT", None),
])  # fmt: skip
def test_images_of_retention_messages_are_validated(store, image, query, code):
    status, answer = call(store, "PUT", f"/inApps/v1/messaging/image/{uuid.uuid4()}{query}", image)
    assert (answer or {}).get("errorCode") == code and (status == 200) == (code is None)


def test_retention_messages_are_validated(store):
    words = {"header": "Stay", "body": "There is more to come"}
    for content, code in [
        ({"header": "Stay"}, 4000000), ({**words, "header": "x" * 67}, 4000162), ({**words, "body": "x" * 145}, 4000163),
        ({**words, "headerPosition": "BELOW"}, 4000000), ({**words, "headerPosition": "ABOVE_IMAGE"}, 4000224),
        ({**words, "bulletPoints": [{"text": "more"}]}, 4000000),
        ({**words, "image": {"imageIdentifier": str(uuid.uuid4()), "altText": "x"}}, 4040014),
    ]:  # fmt: skip
        assert call(store, "PUT", f"/inApps/v1/messaging/message/{uuid.uuid4()}", content)[1]["errorCode"] == code
    url = "https://example.com/" + "x" * 240
    assert call(store, "PUT", "/inApps/v1/messaging/realtime/url", {"realtimeURL": url})[1]["errorCode"] == 4000215


def test_calls_about_missing_or_unapproved_messages_have_apples_errors(store):
    message, path = str(uuid.uuid4()), "/inApps/v1/messaging"
    default = f"{path}/default/pro.yearly/fr-FR"
    words = {"header": "Stay", "body": "There is more to come"}
    assert call(store, "PUT", f"{path}/message/{message}", words)[0] == 200
    store.act("review-retention", app=APP, id=message, approved=False)
    for method, target, body, code in [
        ("PUT", f"{path}/message/{message}", words, 4090001),
        ("PUT", default, {"messageIdentifier": message}, 4030017),
        ("PUT", default, {"messageIdentifier": str(uuid.uuid4())}, 4040015),
        ("GET", default, None, 4040020),
        ("GET", f"{path}/performanceTest/result/{uuid.uuid4()}", None, 4040018),
        ("POST", "/inApps/v1/notifications/history", {"startDate": 4_000_000_000_000, "endDate": 4_000_000_000_000}, 4000013),
    ]:  # fmt: skip
        status, answer = call(store, method, target, body)
        assert (answer["errorCode"], status) == (code, code // 10_000), target


def test_consumption_information_of_version_1_is_validated(store):
    number = store.buy("shells.100", "eater")["transactionId"]
    codes = ("accountTenure", "consumptionStatus", "deliveryStatus", "lifetimeDollarsPurchased", "lifetimeDollarsRefunded",
             "platform", "playTime", "userStatus")  # fmt: skip
    valid = {"customerConsented": True, "sampleContentProvided": False, "appAccountToken": "", **dict.fromkeys(codes, 0)}
    path = f"/inApps/v1/transactions/consumption/{number}"
    for change, code in [
        ({"appAccountToken": "ann"}, 4000033), ({"consumptionStatus": 4}, 4000034), ({"consumptionStatus": "0"}, 4000034),
        ({"customerConsented": False}, 4000035), ({"deliveryStatus": 6}, 4000036), ({"accountTenure": 8}, 4000032),
        ({"lifetimeDollarsPurchased": -1}, 4000037), ({"lifetimeDollarsRefunded": 8}, 4000038), ({"platform": 3}, 4000039),
        ({"playTime": 8}, 4000040), ({"sampleContentProvided": None}, 4000041), ({"userStatus": 5}, 4000042),
        ({"refundPreference": 4}, 4000044), ({"refundPreference": "GRANT_FULL"}, 4000044),
    ]:  # fmt: skip
        status, answer = call(store, "PUT", path, valid | change)
        assert (status, answer["errorCode"]) == (400, code), change
    assert call(store, "PUT", path, valid)[0] == call(store, "PUT", path, valid | {"refundPreference": 3})[0] == 202


def test_another_storefront_has_another_price(store):
    bought = store.buy("pro.monthly", "traveller")
    store.act("storefront", account="traveller", storefront="DEU")
    store.act("price", app=APP, productId="pro.monthly", price=5490, storefront="DEU")
    store.advance("31d")
    info = store.client().get_all_subscription_statuses(bought["transactionId"]).data[0].lastTransactions[0]
    renewed = store.transaction(info.signedTransactionInfo)
    assert (renewed.storefront, renewed.currency, renewed.price) == ("DEU", "EUR", 5490)


def test_the_sandbox_accepts_offers_signed_by_the_service(start, tmp_path):
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION)
    (tmp_path / "keys").mkdir()
    write_key(tmp_path / "keys" / "1.pem")
    key = serialization.load_pem_private_key(write_key(tmp_path / "iap.p8"), None)
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    store = Store(service)
    store.act("keys", keyId=KEY_ID, publicKey=public.decode())
    trial = {"mode": "FREE_TRIAL", "period": "P1W"}
    store.act("offers", app=APP, productId="pro.monthly", id="back", type="PROMOTIONAL", **trial)
    store.act("offers", app=APP, productId="pro.monthly", id="trial", type="INTRODUCTORY", **trial)
    token = str(uuid.uuid4())
    order = {"app": APP, "productId": "pro.monthly", "account": "alice", "appAccountToken": token}

    # StoreKit 2: the developer allows alice the introductory offer, and then denies it.
    for allowed in [False, True]:
        word = sign(
            service, "INTRODUCTORY_ELIGIBILITY_JWS", productId="pro.monthly", transactionId="1",
            allowIntroductoryOffer=allowed)["signature"]  # fmt: skip
        status, bought = post(
            f"{store.url}/sandbox/v1/purchases", {**order, "offer": "trial", "introductoryOfferEligibility": word})
        assert status == (200 if allowed else 400), bought
    subscribe(service, bought["signedTransactionInfo"])

    jws = sign(service, "PROMOTIONAL_JWS", productId="pro.monthly", offerIdentifier="back")["signature"]
    assert store.act("purchases", **order, offer="back", offerSignature=jws)["notifications"] == ["OFFER_REDEEMED"]
    with pytest.raises(AssertionError, match="INVALID_OFFER_SIGNATURE"):
        store.act("purchases", **order, offer="back", offerSignature=jws[:-4] + "AAAA")

    # StoreKit 1: a signature over a text, for this order only.
    old = sign(
        service, "PROMOTIONAL_LEGACY", productId="pro.monthly", offerIdentifier="back", appAccountToken=token)
    signed = {
        "offerSignature": old["signature"], "keyIdentifier": old["keyIdentifier"], "nonce": old["nonce"],
        "timestamp": old["timestamp"],
    }  # fmt: skip
    store.act("purchases", **order, offer="back", **signed)
    with pytest.raises(AssertionError, match="INVALID_OFFER_SIGNATURE"):
        store.act("purchases", **order | {"appAccountToken": str(uuid.uuid4())}, offer="back", **signed)
