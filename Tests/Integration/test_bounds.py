"""Oversized, deeply nested or too numerous input is rejected early, with a reason."""

import base64
import json

import grpc
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.serialization import pkcs7

import forge
from contract import receipt_service
from harness import CALL_LIMIT, LARGE_CALL_LIMIT, post

# Far more than any of these calls needs, also on a busy machine.
TIMEOUT = 2 * CALL_LIMIT


def inspect(receipts, **request):
    answer = receipts.Inspect(receipt_service.InspectRequest(app="ocean-journal", **request), timeout=TIMEOUT)
    assert not answer.verified
    return answer


def der(tag, content):
    """One DER element, with a length of four bytes if one does not suffice."""
    length = len(content)
    return bytes([tag]) + (bytes([length]) if length < 128 else b"\x84" + length.to_bytes(4, "big")) + content


def attribute(number, value):
    digits = number.to_bytes((number.bit_length() + 8) // 8, "big")
    return der(0x30, der(0x02, digits) + der(0x02, b"\x01") + der(0x04, value))


def receipt(forger, attributes):
    """A receipt signed with the sandbox's keys."""
    leaf, *others = forger.chain
    message = pkcs7.PKCS7SignatureBuilder().set_data(der(0x31, attributes))
    message = message.add_signer(leaf, forger.leaf_key, hashes.SHA256())
    for certificate in others:
        message = message.add_certificate(certificate)
    options = [pkcs7.PKCS7Options.Binary, pkcs7.PKCS7Options.NoAttributes]
    return message.sign(serialization.Encoding.DER, options)


def test_a_receipt_of_fifty_megabytes_is_rejected_on_both_ports(service):
    oversized = b"\x30\x84" + bytes(50_000_000)
    with service.channel() as channel:
        call = channel.unary_unary("/entitled.v1.ReceiptService/Inspect")
        request = receipt_service.InspectRequest(app="ocean-journal", raw_document=oversized)
        with pytest.raises(grpc.RpcError) as error:
            call(request.SerializeToString(), timeout=LARGE_CALL_LIMIT)
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    body = json.dumps({"app": "ocean-journal", "rawDocument": base64.b64encode(oversized).decode()})
    try:
        status, _ = post(f"http://{service.http}/entitled.v1.ReceiptService/Inspect", body.encode())
    except OSError:
        return  # the server may close the connection while the client still sends
    assert status == 413


def test_a_receipt_of_a_hundred_thousand_purchases_is_rejected(receipts, forger):
    purchases = attribute(17, der(0x31, b"")) * 100_000
    answer = inspect(receipts, raw_document=receipt(forger, purchases))
    assert answer.reason == "TOO_MANY"
    assert "elements" in answer.explanation


def test_a_receipt_of_a_thousand_purchases_is_decoded(receipts, forger):
    attributes = attribute(0, der(0x0C, b"ProductionSandbox")) + attribute(2, der(0x0C, b"com.example.oceanjournal"))
    created = forger.chain[0].not_valid_before_utc.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    attributes += attribute(12, der(0x16, created))
    purchase = der(0x31, attribute(1702, der(0x0C, b"lifetime")) + attribute(1703, der(0x0C, b"1")))
    document = receipt(forger, attributes + attribute(17, purchase) * 1000)
    answer = receipts.Inspect(
        receipt_service.InspectRequest(app="ocean-journal", raw_document=document), timeout=CALL_LIMIT)
    assert (answer.verified, answer.reason) == (True, "VERIFIED"), answer.explanation
    assert len(json.loads(answer.payload_json)["in_app"]) == 1000


def test_a_receipt_of_many_elements_is_rejected(receipts):
    answer = inspect(receipts, raw_document=der(0x30, b"\x05\x00" * 1_000_000))
    assert answer.reason == "TOO_MANY"


def test_a_receipt_nested_ten_thousand_deep_is_rejected(receipts, forger):
    deep = b"\x30\x80" * 10_000 + b"\x00\x00" * 10_000
    assert inspect(receipts, raw_document=deep).reason == "TOO_MANY"
    assert inspect(receipts, raw_document=receipt(forger, deep)).reason == "NOT_A_RECEIPT"


@pytest.mark.parametrize("bracket", ["[]", "{}"], ids=["arrays", "objects"])
def test_json_nested_ten_thousand_deep_is_rejected(receipts, forger, bracket):
    opening = '{"a":' if bracket == "{}" else "["
    deep = opening * 10_000 + "1" + bracket[1] * 10_000
    answer = inspect(receipts, document='{"a":' + deep + "}")
    assert answer.reason == "MALFORMED_JSON"
    assert "deeper" in answer.explanation
    signed = forge.sign(deep.encode(), forger.chain, forger.leaf_key)
    assert inspect(receipts, document=signed).reason == "MALFORMED_JSON"


def test_a_long_certificate_list_is_rejected_unread(receipts, forger):
    certificate = forger.chain[2].public_bytes(serialization.Encoding.DER)
    chain = [c.public_bytes(serialization.Encoding.DER) for c in forger.chain] + [certificate] * 500
    answer = inspect(receipts, document=forger.transaction(chain))
    assert answer.reason == "WRONG_CERTIFICATE_COUNT"
    assert "503" in answer.explanation
    assert len(answer.certificates) <= 8


def test_a_huge_text_is_rejected(receipts):
    assert inspect(receipts, document="MIIA" * 900_000).reason == "TOO_MANY"
    assert inspect(receipts, document="MIIA" * 900_000 + "*").reason == "NOT_BASE64"
    answer = inspect(receipts, document="eyJh" * 900_000 + ".e30.AAAA")
    assert (answer.reason, "1048576" in answer.explanation) == ("DOCUMENT_TOO_LARGE", True)
    assert inspect(receipts, document="{" + '"a":1,' * 500_000 + '"a":1}').reason == "MALFORMED_JSON"


def test_a_duplicate_member_in_a_signed_document_is_rejected(receipts, forger):
    payload = json.dumps(forger.payload)[:-1] + ', "productId": "lifetime"}'
    answer = inspect(receipts, document=forge.sign(payload.encode(), forger.chain, forger.leaf_key))
    assert answer.reason == "MALFORMED_JSON"
    assert "duplicate member" in answer.explanation
