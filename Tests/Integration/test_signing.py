"""Signed offers and customer tokens, verified with Apple's own library, PyJWT and `cryptography`."""

import base64
import json
import signal
import subprocess
import time
import urllib.request

import jwt
import pytest
from appstoreserverlibrary.jws_signature_creator import (
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import forge
from certificates import write_key
from forge import Forger
from harness import FREE_PORTS, PROGRAM, environment, wait_for

BUNDLE = "com.example.oceanjournal"
ISSUER = "57246542-96fe-1a63-e053-0824d011072a"
KEY_ID = "ABCDE12345"
CONFIGURATION = f"""
apps:
  ocean-journal:
    bundle_id: {BUNDLE}
    environments: [Sandbox]
    in_app_purchase_key: {{file: iap.p8, key_id: {KEY_ID}, issuer_id: {ISSUER}}}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
      lifetime: {{type: Non-Consumable, entitlements: [pro], price: 4.99, currency: USD}}
tokens: {{issuer: "https://entitled.example.com", keys: keys, lifetime_seconds: 300}}
"""


@pytest.fixture
def folder(tmp_path):
    """A configuration with an in-app purchase key and one token key."""
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION)
    (tmp_path / "keys").mkdir()
    write_key(tmp_path / "keys" / "1.pem")
    write_key(tmp_path / "iap.p8")
    return tmp_path


@pytest.fixture
def signing(start, folder):
    return start(arguments=["--config", folder / "entitled.yaml"])


def sign(service, form, status=200, **fields):
    request = {"app": "ocean-journal", "customerId": "alice", "form": f"OFFER_SIGNATURE_FORM_{form}", **fields}
    found, answer = service.json("entitled.v1.ReceiptService/SignOffer", request)
    assert found == status, answer
    return answer


def reason(answer):
    return answer["details"][0]["debug"]["reason"]


def subscribe(service, document=None):
    document = document or service.buy("pro.monthly")["signedTransactionInfo"]
    request = {"app": "ocean-journal", "customerId": "alice", "signedTransaction": document}
    status, answer = service.json("entitled.v1.ReceiptService/SubmitTransaction", request)
    assert status == 200, answer


def assert_same(ours, theirs, key):
    """Asserts the same header, the same claims except time and nonce, and a valid signature."""
    assert jwt.get_unverified_header(ours) == jwt.get_unverified_header(theirs)
    public = serialization.load_pem_private_key(key, None).public_key()
    options = {"verify_aud": False}
    found = jwt.decode(ours, public, algorithms=["ES256"], options=options)
    expected = jwt.decode(theirs, public, algorithms=["ES256"], options=options)
    assert found.keys() == expected.keys()
    for name in found.keys() - {"iat", "nonce"}:
        assert found[name] == expected[name], name
    assert isinstance(found["iat"], int)
    assert abs(found["iat"] - expected["iat"]) < 60
    assert len(found["nonce"]) == len(expected["nonce"]) == 36


def test_a_promotional_offer_equals_that_of_apples_library(signing, folder):
    key = (folder / "iap.p8").read_bytes()
    subscribe(signing)
    creator = PromotionalOfferV2SignatureCreator(key, KEY_ID, ISSUER, BUNDLE)
    for transaction in ["1000", None]:
        more = {"transactionId": transaction} if transaction else {}
        answer = sign(signing, "PROMOTIONAL_JWS", productId="pro.monthly", offerIdentifier="back", **more)
        assert_same(answer["signature"], creator.create_signature("pro.monthly", "back", transaction), key)
        assert not answer.get("nonce"), "the JWS has it"


def test_introductory_eligibility_equals_that_of_apples_library(signing, folder):
    key = (folder / "iap.p8").read_bytes()
    creator = IntroductoryOfferEligibilitySignatureCreator(key, KEY_ID, ISSUER, BUNDLE)
    for allowed in [True, False]:
        answer = sign(
            signing, "INTRODUCTORY_ELIGIBILITY_JWS",
            productId="pro.monthly", transactionId="1000", allowIntroductoryOffer=allowed,
        )  # fmt: skip
        assert_same(answer["signature"], creator.create_signature("pro.monthly", allowed, "1000"), key)


def test_an_advanced_commerce_request_is_encoded_as_base64(signing, folder):
    request = {"operation": "CREATE_ONE_TIME_CHARGE", "version": "1", "requestInfo": {"requestReferenceId": "r"}}
    answer = sign(signing, "ADVANCED_COMMERCE_JWS", advancedCommerceRequestJson=json.dumps(request))
    public = serialization.load_pem_private_key((folder / "iap.p8").read_bytes(), None).public_key()
    claims = jwt.decode(answer["signature"], public, algorithms=["ES256"], audience="advanced-commerce-api")
    assert json.loads(base64.b64decode(claims["request"], validate=True)) == request
    assert claims.keys() == {"request", "bid", "iss", "aud", "iat", "nonce"}


def test_a_legacy_signature_is_valid_over_apples_text(signing, folder):
    subscribe(signing)
    answer = sign(
        signing, "PROMOTIONAL_LEGACY",
        productId="pro.monthly", offerIdentifier="back", appAccountToken="7E3FB20B-4CDB-47CC-936D-99D65F608138",
    )  # fmt: skip
    assert answer["keyIdentifier"] == KEY_ID
    parts = [BUNDLE, KEY_ID, "pro.monthly", "back", "7e3fb20b-4cdb-47cc-936d-99d65f608138"]
    text = "\u2063".join([*parts, answer["nonce"], answer["timestamp"]])
    public = serialization.load_pem_private_key((folder / "iap.p8").read_bytes(), None).public_key()
    public.verify(base64.b64decode(answer["signature"]), text.encode(), ec.ECDSA(hashes.SHA256()))


def test_eligibility_follows_the_history_unless_overridden(signing):
    offer = {"productId": "pro.monthly", "offerIdentifier": "back"}
    rejected = sign(signing, "PROMOTIONAL_JWS", 400, **offer)
    assert reason(rejected) == "NEVER_SUBSCRIBED"
    sign(signing, "PROMOTIONAL_JWS", **offer, skipEligibilityCheck=True)
    subscribe(signing)
    sign(signing, "PROMOTIONAL_JWS", **offer)


def test_an_introductory_offer_is_allowed_once_in_a_group(signing):
    offer = {"productId": "pro.monthly", "transactionId": "1000"}
    forger = Forger(signing)
    past = {"purchaseDate": 1_700_000_000_000, "expiresDate": 1_702_000_000_000}
    lapsed = forger.transaction(transactionId="77", originalTransactionId="77", **past)
    subscribe(signing, lapsed)
    sign(signing, "INTRODUCTORY_ELIGIBILITY_JWS", **offer, allowIntroductoryOffer=True)
    used = forger.transaction(transactionId="78", originalTransactionId="77", offerType=1, **past)
    subscribe(signing, used)
    rejected = sign(signing, "INTRODUCTORY_ELIGIBILITY_JWS", 400, **offer, allowIntroductoryOffer=True)
    assert reason(rejected) == "INTRODUCTORY_OFFER_USED"
    assert rejected["details"][0]["debug"]["metadata"] == {"transactionId": "78"}
    sign(signing, "INTRODUCTORY_ELIGIBILITY_JWS", **offer, allowIntroductoryOffer=False)


def test_an_introductory_offer_is_refused_to_an_existing_subscriber(signing):
    offer = {"productId": "pro.monthly", "transactionId": "1000", "allowIntroductoryOffer": True}
    subscribe(signing)
    rejected = sign(signing, "INTRODUCTORY_ELIGIBILITY_JWS", 400, **offer)
    assert reason(rejected) == "EXISTING_SUBSCRIBER"
    request = {"app": "ocean-journal", "customerId": "alice"}
    status, answer = signing.json("entitled.v1.EntitlementService/GetCustomer", request)
    assert status == 200 and not answer["subscriptionGroups"][0]["eligibleForIntroductoryOffer"]
    sign(signing, "INTRODUCTORY_ELIGIBILITY_JWS", **offer, skipEligibilityCheck=True)


def test_an_introductory_offer_is_refused_while_the_transaction_of_an_upgrade_has_not_arrived(signing):
    subscribe(signing, Forger(signing).transaction(isUpgraded=True))
    rejected = sign(
        signing, "INTRODUCTORY_ELIGIBILITY_JWS", 400,
        productId="pro.monthly", transactionId="1000", allowIntroductoryOffer=True)  # fmt: skip
    assert reason(rejected) == "EXISTING_SUBSCRIBER"


def test_an_introductory_offer_is_allowed_once_to_an_apple_account(signing):
    """Whichever customer asks: Apple counts what the account with the transaction used."""
    forger, past = Forger(signing), {"purchaseDate": 1_700_000_000_000, "expiresDate": 1_702_000_000_000}
    account = {"appTransactionId": "704900000000000001"}
    subscribe(signing, forger.transaction(transactionId="78", originalTransactionId="78", offerType=1, **account, **past))
    other = {"productId": "lifetime", "type": "Non-Consumable", "expiresDate": None, "subscriptionGroupIdentifier": None}
    subscribe(signing, forger.transaction(transactionId="79", originalTransactionId="79", **other, **account))

    def refused(customer, transaction):
        answer = sign(signing, "INTRODUCTORY_ELIGIBILITY_JWS", 400, customerId=customer, productId="pro.monthly",
                      transactionId=transaction, allowIntroductoryOffer=True)  # fmt: skip
        assert reason(answer) == "INTRODUCTORY_OFFER_USED"

    for transaction in ("78", "79", *account.values()):
        refused("another", transaction)
    sign(signing, "INTRODUCTORY_ELIGIBILITY_JWS", customerId="another", productId="pro.monthly", transactionId="80",
         allowIntroductoryOffer=True)  # fmt: skip
    merge = {"app": "ocean-journal", "fromCustomerId": "alice", "intoCustomerId": "bob"}
    assert signing.json("entitled.v1.EntitlementService/MergeCustomers", merge)[0] == 200
    refused("alice", "80")


def test_shared_purchases_do_not_affect_eligibility(signing):
    subscribe(signing, Forger(signing).transaction(inAppOwnershipType="FAMILY_SHARED"))
    rejected = sign(signing, "PROMOTIONAL_JWS", 400, productId="pro.monthly", offerIdentifier="back")
    assert reason(rejected) == "NEVER_SUBSCRIBED"


@pytest.mark.parametrize(
    ("form", "fields", "status", "expected"),
    [
        ("UNSPECIFIED", {}, 400, "MISSING_FIELD"),
        ("PROMOTIONAL_JWS", {"productId": "pro.monthly"}, 400, "MISSING_FIELD"),
        ("PROMOTIONAL_JWS", {"productId": "none", "offerIdentifier": "x"}, 404, "UNKNOWN_PRODUCT"),
        ("PROMOTIONAL_JWS", {"productId": "lifetime", "offerIdentifier": "x"}, 400, "NOT_A_SUBSCRIPTION"),
        ("INTRODUCTORY_ELIGIBILITY_JWS", {"productId": "pro.monthly"}, 400, "MISSING_FIELD"),
        ("ADVANCED_COMMERCE_JWS", {"advancedCommerceRequestJson": "[1]"}, 400, "MALFORMED_JSON"),
        ("ADVANCED_COMMERCE_JWS", {"advancedCommerceRequestJson": '{"operation": "CREATE_SUBSCRIPTION"}'}, 400, "MISSING_FIELD"),
    ],
)
def test_incomplete_offers_are_rejected(signing, form, fields, status, expected):
    assert reason(sign(signing, form, status, **fields)) == expected


def issue(service, **fields):
    request = {"app": "ocean-journal", "customerId": "alice", **fields}
    status, answer = service.json("entitled.v1.EntitlementService/IssueToken", request)
    assert status == 200, answer
    return answer


def published(service):
    with urllib.request.urlopen(f"http://{service.http}/.well-known/jwks.json", timeout=10) as answer:
        keys = jwt.PyJWKSet.from_json(answer.read().decode()).keys
    return {key.key_id: key.key for key in keys}


def decoded(service, answer, audience="ocean-journal"):
    key = published(service)[jwt.get_unverified_header(answer["token"])["kid"]]
    return jwt.decode(
        answer["token"], key, algorithms=["ES256"], audience=audience, issuer="https://entitled.example.com"
    )


def test_a_token_is_verified_with_the_published_keys_alone(signing):
    assert decoded(signing, issue(signing))["entitlements"] == []
    subscribe(signing)
    claims = decoded(signing, issue(signing, audience="cdn"), audience="cdn")
    assert claims["sub"] == "alice"
    assert claims["app"] == "ocean-journal"
    assert claims["environment"] == "Sandbox"
    assert claims["entitlements"] == ["pro"]
    assert claims["exp"] - claims["iat"] == 300
    short = decoded(signing, issue(signing, lifetime="10s"))
    assert short["exp"] - short["iat"] == 10
    assert decoded(signing, issue(signing, lifetime="9999s"))["exp"] - int(time.time()) <= 300


def test_a_token_is_not_for_another_app_or_for_device_sync(start, folder):
    configuration = folder / "entitled.yaml"
    other = "  sea-journal: {bundle_id: com.example.sea, environments: [Sandbox], products: {}}\n"
    configuration.write_text(CONFIGURATION.replace("tokens:", other + "tokens:"))
    service = start(arguments=["--config", configuration])
    for audience in ("sea-journal", "sea-journal/device", "sea-journal/", "ocean-journal/device"):
        request = {"app": "ocean-journal", "customerId": "alice", "audience": audience}
        status, answer = service.json("entitled.v1.EntitlementService/IssueToken", request)
        assert (status, reason(answer)) == (400, "INVALID_FIELD"), audience
        assert "audience" in answer["message"]
    for audience in ("ocean-journal", "ocean-journal/reader", "sea-journals", "reader/sea-journal"):
        assert decoded(service, issue(service, audience=audience), audience)["app"] == "ocean-journal"


@pytest.mark.parametrize("renews", [True, False])
def test_a_token_lasts_until_the_end_of_the_slack_while_renewal_is_on(signing, renews):
    now = int(time.time() * 1000)
    forger = Forger(signing)
    end = now + 60_000
    transaction = forger.transaction(
        transactionId="91", originalTransactionId="91", purchaseDate=now - 60_000, expiresDate=end, signedDate=now)
    info = forge.sign({
        "originalTransactionId": "91", "productId": "pro.monthly", "autoRenewProductId": "pro.monthly",
        "autoRenewStatus": int(renews), "environment": "Sandbox", "renewalDate": end, "signedDate": now,
    }, forger.chain, forger.leaf_key)  # fmt: skip
    status, answer = signing.json(
        "entitled.v1.ReceiptService/SubmitTransaction",
        {"app": "ocean-journal", "customerId": "alice", "signedTransaction": transaction, "signedRenewalInfo": info})
    assert status == 200, answer
    claims = decoded(signing, issue(signing))
    assert claims["entitlements"] == ["pro"]
    if renews:
        assert claims["exp"] - claims["iat"] == 300, "the slack of an hour is longer"
    else:
        assert claims["exp"] == end // 1000


def test_keys_change_on_sighup_and_old_tokens_stay_valid(signing, folder):
    old = issue(signing)
    write_key(folder / "keys" / "2.pem")
    signing.process.send_signal(signal.SIGHUP)
    wait_for(lambda: len(published(signing)) == 2)
    new = issue(signing)
    assert new["keyId"] != old["keyId"]
    decoded(signing, new)
    decoded(signing, old)


def test_a_key_readable_by_others_prevents_the_start(folder):
    write_key(folder / "iap.p8", 0o644)
    result = subprocess.run(
        [PROGRAM, "serve", *FREE_PORTS, "--config", folder / "entitled.yaml", "--data", folder / "data"],
        capture_output=True, text=True, timeout=30, env=environment(),
    )  # fmt: skip
    assert result.returncode != 0
    assert "iap.p8 has mode 0644, which permits access by others" in result.stderr
    assert "PRIVATE" not in result.stderr + result.stdout
