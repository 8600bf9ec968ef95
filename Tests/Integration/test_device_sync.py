"""Apps without a backend: signed documents for entitlements and a token, and attacks with documents of others."""

import base64
import hashlib
import json
import time
import urllib.request
import uuid

import jwt
import pytest

import forge
from certificates import write_key
from forge import Forger
from harness import CALL_LIMIT, post
from test_signing import BUNDLE, CONFIGURATION, published

APP = "ocean-journal"
LIMIT = 3
NOW = 1_000 * int(time.time())


def configure(folder, settings, **more):
    """Writes a configuration with `device_sync`, tokens and a second app; returns the arguments."""
    text = CONFIGURATION.replace(
        "environments: [Sandbox]", f"environments: {more.pop('environments', '[Sandbox]')}\n"
        f"    device_sync: {json.dumps(settings)}", 1)  # fmt: skip
    text = text.replace("tokens:", "  other-journal:\n    bundle_id: com.example.other\n"
                        "    environments: [Sandbox]\n    products: {}\ntokens:")  # fmt: skip
    if more:
        text += f"limits: {json.dumps(more)}\n"
    (folder / "entitled.yaml").write_text(text)
    (folder / "keys").mkdir()
    write_key(folder / "keys" / "1.pem")
    write_key(folder / "iap.p8")
    return ["--config", folder / "entitled.yaml"]


class Device:
    """One Apple account's install of the app, with its purchases."""

    def __init__(self, service, forger, install="703000000000001", purchase="9001", **changed):
        self.service, self.forger, self.install, self.purchase = service, forger, install, purchase
        self.installation = str(uuid.uuid4())
        self.transaction = self.sign(**changed)

    def sign(self, **changed):
        return self.forger.transaction(
            **{"transactionId": self.purchase, "originalTransactionId": self.purchase, "productId": "lifetime",
               "type": "Non-Consumable", "subscriptionGroupIdentifier": None, "expiresDate": None,
               "appTransactionId": self.install, "appAccountToken": None} | changed)  # fmt: skip

    def app_transaction(self, **changed):
        payload = {
            "receiptType": "Sandbox", "bundleId": BUNDLE, "appTransactionId": self.install,
            "applicationVersion": "1.0", "originalApplicationVersion": "1.0", "originalPurchaseDate": NOW - 90_000_000,
            "receiptCreationDate": NOW, "originalPlatform": "iOS", **changed}  # fmt: skip
        payload = {name: value for name, value in payload.items() if value is not None}
        return forge.sign(payload, self.forger.chain, self.forger.leaf_key, "ES256")

    def sync(self, app=APP, documents=None, app_transaction=None, **more):
        body = {"signedAppTransaction": app_transaction or self.app_transaction(),
                "signedTransactions": [self.transaction] if documents is None else documents,
                "installationId": self.installation, **more}  # fmt: skip
        return post(f"http://{self.service.http}/app/v1/{app}/sync", body)


def reason(result):
    status, answer = result
    return status, answer["details"][0]["debug"]["reason"]


@pytest.fixture(scope="module")
def syncing(module_start, tmp_path_factory):
    return module_start(configure(tmp_path_factory.mktemp("sync"), {"max_installations": LIMIT}))


@pytest.fixture(scope="module")
def module_start(tmp_path_factory):
    from harness import Service
    started = []

    def start(arguments):
        started.append(Service(tmp_path_factory.mktemp("data") / "data", arguments))
        return started[-1]

    yield start
    for service in started:
        service.stop()


@pytest.fixture(scope="module")
def forger(syncing):
    return Forger(syncing)


@pytest.fixture
def device(syncing, forger):
    """A new device for each test."""
    number = str(uuid.uuid4().int % 10**12)
    return Device(syncing, forger, install=f"7{number}", purchase=f"9{number}")


def claims(service, answer):
    key = published(service)[jwt.get_unverified_header(answer["token"])["kid"]]
    return jwt.decode(answer["token"], key, algorithms=["ES256"], audience=f"{APP}/device",
                      issuer="https://entitled.example.com")  # fmt: skip


def test_signed_documents_give_entitlements_and_a_token_that_services_verify_offline(device):
    status, answer = device.sync()
    assert status == 200, answer
    assert (answer["identity"], answer["identityKind"]) == (device.install, "APP_TRANSACTION_ID")
    [pro] = answer["entitlements"]
    assert (pro["name"], pro["entitled"], pro["productId"], pro["accessLevel"]) == ("pro", True, "lifetime", "full")
    found = claims(device.service, answer)
    assert (found["sub"], found["app"], found["environment"]) == (device.install, APP, "Sandbox")
    assert (found["entitlements"], found["exp"] - found["iat"]) == (["pro"], 900)


def test_a_device_without_purchases_gets_a_token_without_entitlements(device):
    status, answer = device.sync(documents=[])
    assert (status, [e["entitled"] for e in answer["entitlements"]]) == (200, [False])
    assert claims(device.service, answer)["entitlements"] == []


def test_the_identity_is_the_app_account_token_if_present(syncing, forger, device):
    token = str(uuid.uuid4()).upper()
    status, answer = device.sync(documents=[device.sign(appAccountToken=token)])
    assert (status, answer["identity"], answer["identityKind"]) == (200, token.lower(), "APP_ACCOUNT_TOKEN")
    two = [device.sign(appAccountToken=str(uuid.uuid4()), transactionId=f"{device.purchase}{n}",
                       originalTransactionId=f"{device.purchase}{n}") for n in range(2)]  # fmt: skip
    assert device.sync(documents=two)[1]["identity"] == device.install, "two tokens name no one"


def test_a_token_ends_with_the_entitlement(device):
    # The renewal is late, and its slack of an hour ends in two minutes.
    expiry = 1_000 * int(time.time()) - 3_600_000 + 120_000
    document = device.sign(
        productId="pro.monthly", type="Auto-Renewable Subscription", expiresDate=expiry, purchaseDate=expiry - 9_000_000,
        originalPurchaseDate=expiry - 9_000_000, subscriptionGroupIdentifier="1")  # fmt: skip
    status, answer = device.sync(documents=[document])
    assert (status, answer["entitlements"][0]["entitled"]) == (200, True), answer
    assert claims(device.service, answer)["exp"] == expiry // 1_000 + 3_600
    assert answer["tokenExpiresAt"] == answer["entitlements"][0]["until"]


def test_sync_is_off_by_default_and_for_unknown_apps(device):
    for app in ("other-journal", "no-such-app", "", "a/b"):
        assert reason(device.sync(app=app)) == (404, "DEVICE_SYNC_OFF")
    assert device.sync(app=APP + "/sync")[0] == 404


def test_sync_needs_tokens(tmp_path):
    from harness import run
    arguments = configure(tmp_path, {})
    path = tmp_path / "entitled.yaml"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("tokens:")))
    checked = run("config", "check", path)
    assert checked.returncode != 0 and "device_sync of app ocean-journal needs the section tokens" in checked.stderr
    assert arguments


@pytest.mark.parametrize("settings", [
    {"max_installations": 0}, {"max_installations": 1001}, {"over_limit": "ignore"}, {"installations": 3}])
def test_an_invalid_configuration_is_refused(tmp_path, settings):
    from harness import run
    configure(tmp_path, settings)
    assert run("config", "check", tmp_path / "entitled.yaml").returncode != 0


# Attacks with documents of others.

def test_a_transaction_of_another_account_is_refused(syncing, forger, device):
    other = Device(syncing, forger, install="703999", purchase="9999")
    assert reason(device.sync(documents=[device.transaction, other.transaction])) == (403, "OTHER_APP_TRANSACTION")
    # A document without the id cannot be shown to be of this account.
    anonymous = device.sign(appTransactionId=None)
    assert reason(device.sync(documents=[anonymous])) == (403, "OTHER_APP_TRANSACTION")
    assert reason(device.sync(app_transaction=device.app_transaction(appTransactionId=None))) == (
        400, "NO_APP_TRANSACTION_ID")  # fmt: skip


def test_documents_of_another_app_are_refused(device):
    assert reason(device.sync(documents=[device.sign(bundleId="com.example.other")])) == (403, "WRONG_BUNDLE")
    stranger = device.app_transaction(bundleId="com.example.other")
    assert reason(device.sync(app_transaction=stranger)) == (403, "WRONG_BUNDLE")


def test_documents_of_another_environment_are_refused(device):
    for environment in ("Production", "Xcode", "LocalTesting"):
        status, _ = device.sync(documents=[device.sign(environment=environment)])
        assert status == 403
        status, _ = device.sync(app_transaction=device.app_transaction(receiptType=environment))
        assert status == 403


def test_sandbox_documents_are_refused_by_an_app_in_production(start, tmp_path, forger, device):
    arguments = configure(tmp_path, {}, environments="[Production]")
    path = tmp_path / "entitled.yaml"
    path.write_text(path.read_text().replace(f"bundle_id: {BUNDLE}", f"bundle_id: {BUNDLE}\n    apple_id: 1234567890"))
    device.service = start(arguments=arguments)
    status, code = reason(device.sync())
    assert (status, code in ("WRONG_ENVIRONMENT", "UNTRUSTED_ROOT")) == (403, True)


def test_altered_documents_are_refused(syncing, forger, device):
    head, payload, signature = device.transaction.split(".")
    changed = forge.payload_of(device.transaction) | {"productId": "pro.monthly"}
    altered = ".".join([head, forge.base64url(json.dumps(changed).encode()), signature])
    assert reason(device.sync(documents=[altered])) == (403, "BAD_SIGNATURE")
    assert reason(device.sync(app_transaction=device.transaction))[0] in (400, 403), "another kind of document"
    assert device.sync(documents=[forger.with_foreign_root()])[0] == 403


def test_a_revoked_transaction_gives_nothing(device):
    revoked = device.sign(revocationDate=NOW - 1_000, revocationReason=0)
    assert device.sync(documents=[revoked])[1]["entitlements"][0]["entitled"] is False


def test_a_document_from_before_a_refund_gives_nothing_after_it(syncing, device):
    assert device.sync()[1]["entitlements"][0]["entitled"] is True
    bought = forge.payload_of(device.transaction)
    refunded = device.sign(
        revocationDate=bought["purchaseDate"] + 1, revocationReason=0, signedDate=bought["signedDate"] + 1)
    request = {"app": APP, "customerId": "support", "signedTransaction": refunded}
    assert syncing.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0] == 200
    status, answer = device.sync()
    assert (status, answer["entitlements"][0]["entitled"]) == (200, False), "the replayed document is older"
    assert claims(syncing, answer)["entitlements"] == []


def test_a_withdrawn_consent_ends_the_access_of_the_app_install(start, tmp_path):
    arguments = configure(tmp_path, {})
    path = tmp_path / "entitled.yaml"
    path.write_text(path.read_text().replace(
        "    device_sync:", "    rescind_consent: end_access\n"
        '    bought_before_version: {version: "2.0", entitlements: [legacy]}\n    device_sync:', 1))  # fmt: skip
    service = start(arguments=arguments)
    device, other = (Device(service, Forger(service), install=f"70{n}", purchase=f"90{n}") for n in (1, 2))

    def held(device, **more):
        status, answer = device.sync(**more)
        assert status == 200 and claims(service, answer)["entitlements"] == [
            one["name"] for one in answer["entitlements"] if one["entitled"]]  # fmt: skip
        return {one["name"]: one["reason"] for one in answer["entitlements"]}

    owned = {"legacy": "BOUGHT_BEFORE_VERSION", "pro": "NON_CONSUMABLE_OWNED"}
    assert held(device) == owned
    # The app transactions of the requests are signed before it, and after it.
    notification = {
        "notificationType": "RESCIND_CONSENT", "notificationUUID": str(uuid.uuid4()), "version": "2.0", "signedDate": NOW,
        "appData": {"bundleId": BUNDLE, "environment": "Sandbox", "signedAppTransactionInfo": device.app_transaction()},
    }  # fmt: skip
    document = forge.sign(notification, device.forger.chain, device.forger.leaf_key, "ES256")
    assert post(f"http://{service.http}/notifications/{APP}", {"signedPayload": document})[0] == 200
    for created in (NOW, NOW + 60_000):
        app_transaction = device.app_transaction(receiptCreationDate=created)
        assert held(device, app_transaction=app_transaction) == {"legacy": "CONSENT_RESCINDED", "pro": "CONSENT_RESCINDED"}
        assert held(device, app_transaction=app_transaction, documents=[])["legacy"] == "CONSENT_RESCINDED"
    assert held(other) == owned


def test_installations_over_the_limit_get_no_token_and_are_reported(syncing, device):
    known = [str(uuid.uuid4()) for _ in range(LIMIT)]
    for installation in [*known, *known]:
        assert device.sync(installationId=installation)[0] == 200
    assert reason(device.sync(installationId=str(uuid.uuid4()))) == (403, "TOO_MANY_INSTALLATIONS")
    assert device.sync(installationId=known[0])[0] == 200, "those of before continue"
    assert "TOO_MANY_INSTALLATIONS" in metrics(syncing) and device.purchase in syncing.log
    assert reason(device.sync(documents=[], installationId=str(uuid.uuid4()))) == (403, "TOO_MANY_INSTALLATIONS")
    assert device.sync(documents=[], installationId=known[0])[0] == 200


def test_installations_of_an_app_install_without_purchases_are_limited_too(syncing, device):
    for _ in range(LIMIT):
        assert device.sync(documents=[], installationId=str(uuid.uuid4()))[0] == 200
    refused = device.sync(documents=[], installationId=str(uuid.uuid4()))
    assert reason(refused) == (403, "TOO_MANY_INSTALLATIONS")
    assert f"the app install {device.install} has {LIMIT} other installations" in refused[1]["message"]
    assert reason(device.sync(installationId=str(uuid.uuid4()))) == (403, "TOO_MANY_INSTALLATIONS"), "nor with one"


def test_a_restart_keeps_the_count_of_installations(start, tmp_path):
    arguments = configure(tmp_path, {"max_installations": 1})
    service = start(arguments=arguments)
    device = Device(service, Forger(service))
    assert device.sync()[0] == 200
    service.stop()
    device.service = start(arguments=arguments)
    assert reason(device.sync(installationId=str(uuid.uuid4()))) == (403, "TOO_MANY_INSTALLATIONS")
    assert device.sync()[0] == 200


def metrics(service):
    with urllib.request.urlopen(f"http://{service.http}/metrics", timeout=CALL_LIMIT) as answer:
        return answer.read().decode()


def test_installations_over_the_limit_may_be_reported_only(start, tmp_path):
    service = start(arguments=configure(tmp_path, {"max_installations": 1, "over_limit": "report"}))
    device = Device(service, Forger(service))
    for _ in range(3):
        assert device.sync(installationId=str(uuid.uuid4()))[0] == 200
    assert "TOO_MANY_INSTALLATIONS_REPORTED" in metrics(service)


def test_a_verified_device_counts_once_whatever_installation_it_names(device):
    identifier, nonce = str(uuid.uuid4()).upper(), str(uuid.uuid4()).upper()
    digest = hashlib.sha384((nonce + identifier).lower().encode()).digest()
    bound = device.app_transaction(
        deviceVerification=base64.b64encode(digest).decode(), deviceVerificationNonce=nonce.lower())
    for _ in range(LIMIT + 2):
        result = device.sync(app_transaction=bound, deviceVerificationId=identifier, installationId=str(uuid.uuid4()))
        assert result[0] == 200, result
    other = device.sync(app_transaction=bound, deviceVerificationId=str(uuid.uuid4()))
    assert reason(other) == (403, "OTHER_DEVICE")
    assert reason(device.sync(deviceVerificationId=identifier)) == (403, "OTHER_DEVICE"), "there is no hash"


def test_requests_of_one_app_install_are_limited(device):
    for number in range(LIMIT * 12 + 1):
        result = device.sync(documents=[])
        if result[0] != 200:
            break
    assert number == LIMIT * 12 and reason(result) == (429, "RATE_LIMIT")


def test_a_flood_of_one_address_is_limited_before_anything_is_verified(start, tmp_path):
    service = start(arguments=configure(tmp_path, {}, max_device_syncs_per_second=1))
    url = f"http://{service.http}/app/v1/{APP}/sync"
    results = [post(url, b"{") for _ in range(80)]
    assert results[0][0] == 400 and reason(results[-1]) == (429, "RATE_LIMIT")
    assert sum(status == 429 for status, _ in results) >= 10
    assert service.json("grpc.health.v1.Health/Check", {})[0] == 200


@pytest.mark.parametrize("body, code", [
    (b"", "MALFORMED_MESSAGE"), (b"[]", "MALFORMED_MESSAGE"), (b"{}", "MISSING_FIELD"),
    (b'{"signedAppTransaction":"a"}', "MISSING_FIELD"), (b'{"customerId":"alice"}', "INVALID_FIELD"),
    (b'{"signedAppTransaction":"a","installationId":"b","signedTransactions":"c"}', "INVALID_FIELD"),
    (b'{"signedAppTransaction":"a","installationId":"b","signedTransactions":[7]}', "INVALID_FIELD"),
    (b'{"signedAppTransaction":"a","installationId":"' + b"x" * 129 + b'"}', "FIELD_TOO_LONG"),
    (b'{"signedAppTransaction":"a","installationId":"b","signedTransactions":['
     + b",".join([b'"c"'] * 101) + b"]}", "TOO_MANY_TRANSACTIONS"),
    (b'{"signedAppTransaction":"a","installationId":"b"}', "NOT_A_JWS"),
    (b'{"signedAppTransaction":[' + b",".join([b"{}"] * 1_000) + b"]}", "MALFORMED_MESSAGE"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_malformed_requests_are_refused(syncing, body, code):
    assert reason(post(f"http://{syncing.http}/app/v1/{APP}/sync", body)) == (400, code)


def test_a_body_of_more_than_a_mebibyte_is_refused_unread(syncing):
    result = post(f"http://{syncing.http}/app/v1/{APP}/sync", b" " * (1 << 20) + b"{}")
    assert reason(result) == (413, "MESSAGE_TOO_LARGE")


def test_other_content_types_and_methods_are_refused(syncing):
    url = f"http://{syncing.http}/app/v1/{APP}/sync"
    assert post(url, b"{}", {"content-type": "application/xml"})[0] == 415
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(url, timeout=CALL_LIMIT)
    assert (raised.value.code, raised.value.headers["allow"]) == (405, "POST")


def test_refused_documents_are_not_stored(syncing, device):
    before = syncing.json("entitled.v1.EntitlementService/ListUnclaimedPurchases", {"app": APP})[1]
    assert device.sync(documents=[device.sign(bundleId="com.example.other")])[0] == 403
    assert syncing.json("entitled.v1.EntitlementService/ListUnclaimedPurchases", {"app": APP})[1] == before
