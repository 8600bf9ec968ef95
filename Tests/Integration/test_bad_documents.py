"""Invalid documents: each is rejected with its own reason and changes nothing, and the service keeps serving."""

import datetime
import hashlib
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

import contract
import forge
from contract import StatusCode, entitlement_service, receipt_service
from harness import CALL_LIMIT

DAY = datetime.timedelta(days=1)


def milliseconds(date):
    return int(date.timestamp() * 1000)


def altered(jws, **members):
    """The same signature over changed members."""
    header, _, signature = jws.split(".")
    return ".".join([header, forge.base64url(json.dumps(forge.payload_of(jws) | members).encode()), signature])


def with_flipped_bit(jws):
    """One bit of the signature flipped."""
    signed, _, signature = jws.rpartition(".")
    bits = bytearray(forge.from_base64url(signature))
    bits[40] ^= 1
    return signed + "." + forge.base64url(bits)


def with_rsa_leaf(f):
    key = rsa.generate_private_key(65537, 2048)
    leaf = forge.certificate("Leaf", key, f.chain[1], f.intermediate_key, markers=(forge.LEAF_MARKER,))
    return f.transaction([leaf, *f.chain[1:]], key, "RS256")


def with_p384_leaf(f):
    key = ec.generate_private_key(ec.SECP384R1())
    leaf = forge.certificate("Leaf", key, f.chain[1], f.intermediate_key, markers=(forge.LEAF_MARKER,))
    return f.transaction([leaf, *f.chain[1:]])


MALFORMED = {
    "no JWS": (lambda f: "hello", "NOT_A_JWS"),
    "two segments": (lambda f: "a.b", "NOT_A_JWS"),
    "four segments": (lambda f: f.transaction() + ".d", "NOT_A_JWS"),
    "padded base64url": (lambda f: f.transaction() + "==", "NOT_A_JWS"),
    "white space inside": (lambda f: f.transaction().replace(".", ".\n", 1), "NOT_A_JWS"),
    "algorithm none": (lambda f: f.transaction(algorithm="none"), "UNSUPPORTED_ALGORITHM"),
    "algorithm HS256": (lambda f: f.transaction(algorithm="HS256"), "UNSUPPORTED_ALGORITHM"),
    "algorithm RS256": (with_rsa_leaf, "UNSUPPORTED_ALGORITHM"),
    "no certificate": (lambda f: forge.sign(f.payload, [], f.leaf_key), "WRONG_CERTIFICATE_COUNT"),
    "two certificates": (lambda f: f.transaction(f.chain[:2]), "WRONG_CERTIFICATE_COUNT"),
    "four certificates": (lambda f: f.transaction([*f.chain, f.chain[2]]), "WRONG_CERTIFICATE_COUNT"),
    "bytes that are no certificate": (
        lambda f: f.transaction([b"not a certificate", *f.chain[1:]]), "MALFORMED_CERTIFICATE"),
    "a payload that is no JSON": (
        lambda f: forge.sign(b'{"a":1,}', f.chain, f.leaf_key), "MALFORMED_JSON"),
    "no signed date": (lambda f: f.transaction(signedDate=None), "MISSING_FIELD"),
    "a member of another type": (lambda f: f.transaction(transactionId=77), "MALFORMED_FIELD"),
    "no transaction id": (lambda f: f.transaction(transactionId=None), "MISSING_FIELD"),
    "larger than any document": (
        lambda f: f.transaction(padding="x" * 1_200_000), "DOCUMENT_TOO_LARGE"),
}  # fmt: skip

UNTRUSTED = {
    "a flipped bit": (lambda f: with_flipped_bit(f.transaction()), "BAD_SIGNATURE"),
    "an altered member": (lambda f: altered(f.transaction(), productId="lifetime"), "BAD_SIGNATURE"),
    "another key": (
        lambda f: f.transaction(key=ec.generate_private_key(ec.SECP256R1())), "BAD_SIGNATURE"),
    "a leaf on another curve": (with_p384_leaf, "UNSUPPORTED_KEY"),
    "a foreign root": (lambda f: f.with_foreign_root(), "UNTRUSTED_ROOT"),
    "a leaf without its marker": (lambda f: f.with_leaf(markers=()), "MISSING_MARKER_OID"),
    "an intermediate without its marker": (lambda f: f.with_intermediate(), "MISSING_MARKER_OID"),
    "a leaf that had expired": (
        lambda f: f.with_leaf(end=f.start + DAY, signedDate=milliseconds(f.start + 2 * DAY)),
        "CHAIN_EXPIRED_AT_SIGNING"),
    "a leaf not yet valid": (
        lambda f: f.with_leaf(begin=f.start + 2 * DAY, signedDate=milliseconds(f.start + DAY)),
        "CHAIN_EXPIRED_AT_SIGNING"),
    "another bundle id": (lambda f: f.transaction(bundleId="com.example.other"), "WRONG_BUNDLE"),
    "Production under the sandbox's root": (
        lambda f: f.transaction(environment="Production"), "UNTRUSTED_ROOT"),
    "an unknown environment": (lambda f: f.transaction(environment="Moon"), "WRONG_ENVIRONMENT"),
    "Xcode": (lambda f: f.transaction(environment="Xcode"), "XCODE_NOT_ALLOWED"),
}  # fmt: skip

CASES = [
    pytest.param(make, reason, code, id=name)
    for cases, code in ((MALFORMED, StatusCode.INVALID_ARGUMENT), (UNTRUSTED, StatusCode.PERMISSION_DENIED))
    for name, (make, reason) in cases.items()
]


@pytest.mark.parametrize("make, reason, code", CASES)
def test_an_invalid_document_is_rejected_with_its_reason_and_changes_nothing(
    service, forger, receipts, entitlements, customer, make, reason, code
):
    document = make(forger)
    with pytest.raises(contract.RpcError) as error:
        receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app="ocean-journal", customer_id=customer, signed_transaction=document),
            timeout=CALL_LIMIT,
        )  # fmt: skip
    assert (contract.reason(error.value), error.value.code()) == (reason, code)
    assert error.value.details(), "a rejection has a message"

    answer = entitlements.Check(
        entitlement_service.CheckRequest(app="ocean-journal", customer_id=customer, entitlement="pro"),
        timeout=CALL_LIMIT,
    ).entitlement  # fmt: skip
    assert (answer.entitled, answer.reason) == (False, "NEVER_PURCHASED")

    [(_, rejection, digest, is_whole)] = service.evidence(customer)
    assert reason in rejection, "rejected evidence is stored with its reason"
    # Oversized evidence is stored as size and hash, all other evidence byte for byte.
    assert digest == hashlib.sha256(document.encode()).digest()
    assert is_whole == (reason != "DOCUMENT_TOO_LARGE")


@pytest.mark.parametrize("make, reason, code", CASES)
def test_inspect_reports_the_same_rejection(forger, receipts, make, reason, code):
    request = receipt_service.InspectRequest(app="ocean-journal", document=make(forger))
    inspected = receipts.Inspect(request, timeout=CALL_LIMIT)
    assert (inspected.verified, inspected.reason) == (False, reason)
    assert inspected.explanation


def test_a_valid_document_of_the_same_forger_is_accepted(forger, receipts, customer):
    accepted = receipts.SubmitTransaction(
        receipt_service.SubmitTransactionRequest(
            app="ocean-journal", customer_id=customer,
            signed_transaction=forger.transaction(transactionId="77", originalTransactionId="77")),
        timeout=CALL_LIMIT,
    )  # fmt: skip
    assert accepted.transaction.transaction_id == "77"


def test_a_new_leaf_under_the_trusted_chain_is_accepted(forger, receipts, customer):
    document = forger.with_leaf(transactionId="78", originalTransactionId="78")
    receipts.SubmitTransaction(
        receipt_service.SubmitTransactionRequest(
            app="ocean-journal", customer_id=customer, signed_transaction=document),
        timeout=CALL_LIMIT,
    )  # fmt: skip


PRODUCTION_ONLY = """\
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Production]
    products:
      lifetime: {type: Non-Consumable, entitlements: [pro], price: 9.99, currency: USD}
"""


def test_an_app_for_production_only_rejects_sandbox_documents(start, tmp_path, customer):
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(PRODUCTION_ONLY)
    service = start(arguments=["--config", configuration])
    request = receipt_service.SubmitTransactionRequest(
        app="ocean-journal", customer_id=customer,
        signed_transaction=service.buy("lifetime")["signedTransactionInfo"])  # fmt: skip
    with service.channel() as channel, pytest.raises(contract.RpcError) as error:
        contract.receipt_stub(channel).SubmitTransaction(request, timeout=CALL_LIMIT)
    assert contract.reason(error.value) == "WRONG_ENVIRONMENT"
