"""Inspect for every kind of document: its kind, its verdict and its content."""

import base64
import json

import pytest
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from cryptography import x509
from cryptography.hazmat.primitives import serialization

import contract
import forge
from contract import receipt_service
from harness import CALL_LIMIT, post

BUNDLE = "com.example.oceanjournal"
Kind = receipt_service.DocumentKind

# Documents of the sandbox: name in its path, kind that Inspect reports, method of Apple's library.
SIGNED = {
    "transaction": ("DOCUMENT_KIND_SIGNED_TRANSACTION", "verify_and_decode_signed_transaction"),
    "renewal-info": ("DOCUMENT_KIND_SIGNED_RENEWAL_INFO", "verify_and_decode_renewal_info"),
    "app-transaction": ("DOCUMENT_KIND_SIGNED_APP_TRANSACTION", "verify_and_decode_app_transaction"),
    "notification": ("DOCUMENT_KIND_NOTIFICATION_V2", "verify_and_decode_notification"),
    "retention-message-request": (
        "DOCUMENT_KIND_RETENTION_MESSAGE_REQUEST", "verify_and_decode_realtime_request"),
}  # fmt: skip


def signed(service, kind, product="pro.monthly"):
    """A document that the sandbox App Store signs about a new purchase."""
    order = {"app": "ocean-journal", "productId": product}
    status, answer = post(f"http://{service.sandbox}/sandbox/v1/documents/{kind}", order)
    assert status == 200, answer
    return answer["document"]


def inspect(receipts, document=None, **request):
    if document is not None:
        request["document"] = document
    return receipts.Inspect(
        receipt_service.InspectRequest(app="ocean-journal", **request), timeout=CALL_LIMIT)


@pytest.fixture(scope="module")
def apples_library(service):
    """Apple's own verifier, which trusts only the sandbox's root."""
    pem = (service.data / "sandbox" / "root.pem").read_bytes()
    root = x509.load_pem_x509_certificate(pem).public_bytes(serialization.Encoding.DER)
    return SignedDataVerifier([root], False, Environment.SANDBOX, BUNDLE)


@pytest.mark.parametrize("kind", SIGNED)
def test_apples_library_accepts_documents_of_the_sandbox(service, apples_library, kind):
    verify = getattr(apples_library, SIGNED[kind][1])
    decoded = verify(signed(service, kind))
    assert "2.0" == decoded.version if kind == "notification" else decoded


def test_apples_library_decodes_receipts_of_the_sandbox(service):
    read = ReceiptUtility()
    receipt = signed(service, "app-receipt")
    assert read.extract_transaction_id_from_app_receipt(receipt).isdigit()
    old = signed(service, "transaction-receipt")
    assert read.extract_transaction_id_from_transaction_receipt(old).isdigit()


def test_receipts_of_the_sandbox_are_recognised_in_every_form(service, receipts):
    text = signed(service, "app-receipt")
    broken = "\n".join(text[start:start + 76] for start in range(0, len(text), 76))
    forms = (text, broken, json.dumps({"receipt-data": text, "password": "a secret"}))
    for request in (*({"document": form} for form in forms), {"raw_document": base64.b64decode(text)}):
        inspected = inspect(receipts, **request)
        assert inspected.kind == Kind.DOCUMENT_KIND_APP_RECEIPT
        assert (inspected.verified, inspected.reason) == (True, "VERIFIED"), inspected.explanation
        payload = json.loads(inspected.payload_json)
        assert payload["in_app"][0]["product_id"] == "pro.monthly"
        assert payload["original_application_version"] == "1.0"
    old = inspect(receipts, signed(service, "transaction-receipt"))
    assert old.kind == Kind.DOCUMENT_KIND_TRANSACTION_RECEIPT
    assert (old.verified, old.reason, old.bundle_id) == (False, "NOT_VERIFIABLE", BUNDLE)
    first = inspect(receipts, signed(service, "notification-v1"))
    assert first.kind == Kind.DOCUMENT_KIND_NOTIFICATION_V1
    assert (first.verified, first.reason, first.bundle_id) == (False, "NOT_SIGNED", BUNDLE)


@pytest.mark.parametrize("kind", SIGNED)
def test_every_signed_document_is_recognised_and_verified(service, receipts, kind):
    inspected = inspect(receipts, signed(service, kind))
    assert (inspected.verified, inspected.reason) == (True, "VERIFIED"), inspected.explanation
    assert Kind.Name(inspected.kind) == SIGNED[kind][0]
    assert inspected.environment == contract.environment.ENVIRONMENT_SANDBOX
    assert inspected.signed_date.seconds > 1_700_000_000
    if kind in ("transaction", "app-transaction", "notification"):
        assert inspected.bundle_id == BUNDLE
    leaf, intermediate, root = inspected.certificates
    assert (leaf.issuer, intermediate.issuer, root.issuer) == (intermediate.subject, root.subject, root.subject)
    assert len(bytes.fromhex(leaf.sha256)) == 32
    assert leaf.not_before.seconds < inspected.signed_date.seconds < leaf.not_after.seconds


def test_a_notification_shows_its_nested_documents(service, receipts):
    document = signed(service, "notification")
    for text in (document, json.dumps({"signedPayload": document})):
        inspected = inspect(receipts, text)
        assert inspected.verified
        assert [Kind.Name(inner.kind) for inner in inspected.documents] == [
            "DOCUMENT_KIND_SIGNED_TRANSACTION", "DOCUMENT_KIND_SIGNED_RENEWAL_INFO"]  # fmt: skip
        assert all(inner.verified for inner in inspected.documents)
        assert json.loads(inspected.documents[0].payload_json)["productId"] == "pro.monthly"


def test_a_verified_notification_does_not_vouch_for_its_nested_documents(forger, receipts):
    foreign = forger.transaction(bundleId="com.example.other")
    payload = {
        "notificationType": "ONE_TIME_CHARGE", "notificationUUID": "1", "version": "2.0",
        "signedDate": forger.payload["signedDate"],
        "data": {"bundleId": BUNDLE, "environment": "Sandbox", "signedTransactionInfo": foreign},
    }  # fmt: skip
    inspected = inspect(receipts, forge.sign(payload, forger.chain, forger.leaf_key))
    assert (inspected.verified, inspected.reason) == (False, "WRONG_BUNDLE")
    assert inspected.explanation.startswith("in its signedTransactionInfo, ")
    assert inspected.documents[0].reason == "WRONG_BUNDLE"
    assert "com.example.other" in inspected.documents[0].payload_json


def test_a_rejected_document_shows_its_certificates_and_content(forger, receipts):
    inspected = inspect(receipts, forger.with_foreign_root())
    assert (inspected.verified, inspected.reason) == (False, "UNTRUSTED_ROOT")
    assert len(inspected.certificates) == 3
    assert json.loads(inspected.payload_json)["bundleId"] == BUNDLE


def test_a_version_1_notification_is_decoded_but_unverified_and_its_secret_hidden(receipts):
    body = {
        "notification_type": "DID_RENEW", "password": "our-shared-secret", "environment": "Sandbox", "bid": BUNDLE,
        "unified_receipt": {"status": 0, "latest_receipt_info": [{"product_id": "pro.monthly"}]},
    }  # fmt: skip
    inspected = inspect(receipts, json.dumps(body))
    assert inspected.kind == Kind.DOCUMENT_KIND_NOTIFICATION_V1
    assert (inspected.verified, inspected.reason) == (False, "NOT_SIGNED")
    assert "pro.monthly" in inspected.payload_json
    assert "our-shared-secret" not in str(inspected)
    other = inspect(receipts, json.dumps(body | {"bid": "com.example.other"}))
    assert other.reason == "WRONG_BUNDLE"


def nested(depth):
    return '{"a":' + "[" * depth + "]" * depth + "}"


@pytest.mark.parametrize(
    "document, reason",
    [
        (" \n", "EMPTY_DOCUMENT"),
        ("hello", "NOT_A_JWS"),
        ("MIIT!", "NOT_BASE64"),
        (base64.b64encode(b"something else").decode(), "NOT_A_RECEIPT"),
        ('{"a": 1}', "UNKNOWN_DOCUMENT"),
        ('{"a": 1', "MALFORMED_JSON"),
        (nested(10_000), "MALFORMED_JSON"),
        ('{"signedPayload": "hello"}', "NOT_A_JWS"),
        ('{"notification_type": true}', "MALFORMED_FIELD"),
    ],
    ids=lambda value: value[:20] if value.isupper() else "",
)
def test_an_unknown_document_gets_a_reason(receipts, document, reason):
    inspected = inspect(receipts, document)
    assert (inspected.verified, inspected.reason) == (False, reason)
    assert inspected.explanation


def submitted(receipts, jws=None, receipt=None):
    """The reason and the text with which a document is rejected."""
    with pytest.raises(contract.RpcError) as error:
        if jws is not None:
            receipts.SubmitTransaction(
                receipt_service.SubmitTransactionRequest(app="ocean-journal", signed_transaction=jws), timeout=CALL_LIMIT)
        else:
            receipts.SubmitReceipt(
                receipt_service.SubmitReceiptRequest(app="ocean-journal", receipt_base64=receipt), timeout=CALL_LIMIT)
        raise AssertionError("accepted")
    return contract.reason(error.value), error.value.details()


# Damage to text in transit, and the words that report it: for a signed transaction, and for a receipt.
DAMAGED_JWS = {
    "standard alphabet": (lambda text: text.replace("-", "+").replace("_", "/"), "standard alphabet"),
    "plus as space": (lambda text: text.replace("-", " ").replace("_", "/"), "spaces"),
    "padding": (lambda text: text + "==", "padding"),
    "first segment": (lambda text: text.split(".")[0], "three segments"),
    "white space": (lambda text: " \n", "empty"),
    "other text": (lambda text: "good morning", "a JWS"),
    "json": (lambda text: '{"a": 1', "not JSON"),
    "signature": (lambda text: text[:-8] + "AAAAAAAA", "signature"),
}
DAMAGED_RECEIPT = {
    "plus as space": (lambda text: text.replace("+", " "), "spaces"),
    "URL-safe alphabet": (lambda text: text.replace("+", "-").replace("/", "_"), "URL-safe"),
    "no padding": (lambda text: base64.b64encode(base64.b64decode(text) + bytes(-len(base64.b64decode(text)) % 3 + 1))
                   .decode().rstrip("="), "padding"),
    "cut": (lambda text: text[:400], "not a receipt"),
    "encoded twice": (lambda text: base64.b64encode(text.encode()).decode(), "encoded twice"),
}


@pytest.mark.parametrize("kind", DAMAGED_JWS)
def test_inspect_and_submit_name_the_same_fault_of_a_transaction(service, receipts, kind):
    damage, words = DAMAGED_JWS[kind]
    documents = (signed(service, "transaction") for _ in range(1000))
    # Few documents have no such character in their signature, and nothing to damage.
    damaged = damage(next(text for text in documents if "-" in text and "_" in text))
    inspected = inspect(receipts, damaged)
    reason, details = submitted(receipts, jws=damaged)
    assert (inspected.verified, inspected.reason) == (False, reason)
    assert words in inspected.explanation and words in details


@pytest.mark.parametrize("kind", DAMAGED_RECEIPT)
def test_inspect_and_submit_name_the_same_fault_of_a_receipt(service, receipts, kind):
    damage, words = DAMAGED_RECEIPT[kind]
    documents = (signed(service, "app-receipt") for _ in range(1000))
    damaged = damage(next(text for text in documents if "+" in text and "/" in text))
    inspected = inspect(receipts, damaged)
    reason, details = submitted(receipts, receipt=damaged)
    assert (inspected.verified, inspected.reason) == (False, reason)
    assert words in inspected.explanation and words in details


@pytest.mark.parametrize("text", ["hello", "hello world", "?", "héllo", "[1]", "MIIT!", "AAAA", "%7B%7D"])
def test_inspect_and_every_submission_name_text_of_no_known_form_alike(receipts, text):
    inspected = inspect(receipts, text)
    assert not inspected.verified
    assert submitted(receipts, receipt=text)[0] == inspected.reason
    # A document without a dot is no receipt either, if it is submitted as a transaction.
    assert submitted(receipts, jws=text)[0] == inspected.reason


def test_a_receipt_from_before_ios_7_has_one_reason(service, receipts):
    old = signed(service, "transaction-receipt")
    inspected = inspect(receipts, old)
    assert (inspected.verified, inspected.reason) == (False, "NOT_VERIFIABLE")
    reason, details = submitted(receipts, receipt=old)
    assert reason == inspected.reason and details == inspected.explanation


def test_white_space_around_a_document_does_not_count(service, receipts):
    document = signed(service, "transaction")
    request = receipt_service.SubmitTransactionRequest(app="ocean-journal", signed_transaction=f"\r\n {document}\n")
    first = receipts.SubmitTransaction(request, timeout=CALL_LIMIT)
    request.signed_transaction = document
    assert receipts.SubmitTransaction(request, timeout=CALL_LIMIT).evidence_id == first.evidence_id
    assert inspect(receipts, f"\r\n {document}\n").verified


def test_an_apple_receipt_is_verified_in_base64_and_as_bytes_with_its_device(receipts, testdata):
    text = (testdata / "genuine" / "receipt-sandbox-g5").read_text()
    device = bytes.fromhex("956328d9cc6a47f4be406953fb0ab6c7")
    for request in ({"document": text}, {"raw_document": base64.b64decode(text)}):
        inspected = inspect(receipts, **request, device_identifier=device)
        assert inspected.kind == Kind.DOCUMENT_KIND_APP_RECEIPT
        # The signature and the chain are checked before the bundle id.
        assert (inspected.verified, inspected.reason) == (False, "WRONG_BUNDLE")
        assert inspected.bundle_id == "dev.bonzer.weeka.app"
        assert inspected.environment == contract.environment.ENVIRONMENT_SANDBOX
        assert len(json.loads(inspected.payload_json)["in_app"]) == 2
        assert len(inspected.certificates) == 3
        assert inspected.certificates[0].issuer == inspected.certificates[1].subject
        assert inspected.device_hash_matches
    assert not inspect(receipts, text, device_identifier=device[::-1]).device_hash_matches


def test_an_altered_receipt_is_detected(receipts, testdata):
    receipt = bytearray(base64.b64decode((testdata / "genuine" / "receipt-sandbox-g5").read_text()))
    receipt[receipt.index(b"dev.bonzer")] ^= 1
    inspected = inspect(receipts, raw_document=bytes(receipt))
    assert (inspected.verified, inspected.reason) == (False, "BAD_SIGNATURE")


@pytest.mark.parametrize("name", ["xcode-app-receipt-empty", "xcode-app-receipt-with-transaction"])
def test_a_receipt_of_xcode_is_recognised_and_rejected(receipts, testdata, name):
    inspected = inspect(receipts, (testdata / "apple-asl" / "xcode" / name).read_text())
    assert inspected.kind == Kind.DOCUMENT_KIND_XCODE_RECEIPT
    assert (inspected.verified, inspected.reason) == (False, "XCODE_NOT_ALLOWED")
    assert inspected.bundle_id == "com.example.naturelab.backyardbirds.example"


def test_a_receipt_from_before_ios_7_is_decoded(receipts, testdata):
    inspected = inspect(receipts, (testdata / "apple-asl" / "mock_signed_data" / "legacyTransaction").read_text())
    assert inspected.kind == Kind.DOCUMENT_KIND_TRANSACTION_RECEIPT
    assert (inspected.verified, inspected.reason) == (False, "NOT_VERIFIABLE")
    assert "33993399" in inspected.payload_json
