"""Vectors of app receipts: PKCS#7 signed data around a SET of attributes."""

import base64
import hashlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from authority import LEAF_MARKER, Certificate, date, key, rsa_key
from documents import BUNDLE_ID
from verification import RECOMMENDED, STRANGER, TRUST, Group

SIGNED_DATA, DATA = bytes.fromhex("06092a864886f70d010702"), bytes.fromhex("06092a864886f70d010701")
DIGESTS = {
    "sha1": (hashes.SHA1, bytes.fromhex("300906052b0e03021a0500")),
    "sha256": (hashes.SHA256, bytes.fromhex("300d06096086480165030402010500")),
    "md5": (hashes.MD5, bytes.fromhex("300c06082a864886f70d02050500")),
}
RSA_ENCRYPTION = bytes.fromhex("300d06092a864886f70d0101010500")
OPAQUE = bytes(range(16))
DEVICE = bytes.fromhex("3f2b1a0c9d8e4f5a8b7c6d5e4f3a2b1c")
CREATED = "2026-01-05T10:00:00Z"
LEAF = Certificate("Conformance Receipt Signing", rsa_key(), TRUST.intermediate, markers=(LEAF_MARKER,))


def element(tag, *contents):
    """One DER element."""
    content = b"".join(contents)
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def integer(number):
    return element(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def utf8(text):
    return element(0x0C, text.encode())


def ia5(text):
    return element(0x16, text.encode())


def attributes(pairs):
    return element(0x31, *(element(0x30, integer(kind), integer(1), element(0x04, value)) for kind, value in pairs))


def content(bundle=BUNDLE_ID, kind="ProductionSandbox", created=CREATED, device=DEVICE, more=()):
    """The signed content of a receipt with one purchase."""
    purchase = attributes([
        (1701, integer(1)), (1702, utf8("lifetime")), (1703, utf8("2000000900000002")), (1704, ia5(CREATED)),
        (1705, utf8("2000000900000002")), (1706, ia5(CREATED)),
    ])  # fmt: skip
    name = utf8(bundle) if bundle is not None else b""
    pairs = [(0, utf8(kind)), (2, name), (3, utf8("42")), (4, OPAQUE),
             (5, hashlib.sha1(device + OPAQUE + name).digest()), (12, ia5(created) if created else None),
             (17, purchase), (19, utf8("1.0")), *more]  # fmt: skip
    return attributes([(kind, value) for kind, value in pairs if value])


def signed(data, signer=LEAF, certificates=None, digest="sha256", private_key=None, signature=None):
    """PKCS#7 signed data, in DER."""
    algorithm, identifier = DIGESTS[digest]
    certificates = [signer, TRUST.intermediate, TRUST.root] if certificates is None else certificates
    signature = signature or (private_key or signer.key).sign(data, padding.PKCS1v15(), algorithm())
    name = signer.certificate.issuer.public_bytes()
    info = element(
        0x30, integer(1), element(0x30, name, integer(signer.certificate.serial_number)), identifier, RSA_ENCRYPTION,
        element(0x04, signature))  # fmt: skip
    message = element(
        0x30, integer(1), element(0x31, identifier), element(0x30, DATA, element(0xA0, element(0x04, data))),
        element(0xA0, *(c.der for c in certificates)), element(0x31, info))  # fmt: skip
    return element(0x30, SIGNED_DATA, element(0xA0, message))


def text(document):
    return base64.b64encode(document).decode()


def signer(name, issuer=TRUST.intermediate, markers=(LEAF_MARKER,), **validity):
    return Certificate(name, rsa_key(), issuer, markers=markers, **validity)


def receipts():
    group = Group("receipts", "receipt", "App receipts (PKCS#7 in Base64)")
    valid = signed(content())
    names = {"bundle_id": BUNDLE_ID}
    group.accept("valid", text(valid), "Signed with SHA-256, as the App Store does since 2023.", payload=names)
    group.accept("valid-sha1", text(signed(content(), digest="sha1")), "Older receipts are signed with SHA-1.", payload=names)
    lines = base64.encodebytes(valid).decode()
    group.accept("valid-with-line-breaks", lines, "Base64 with line breaks, as some apps send it.", payload=names)
    group.accept("valid-without-the-root", text(signed(content(), certificates=[LEAF, TRUST.intermediate])),
                 "The root in a receipt is neither needed nor trusted.", payload=names)  # fmt: skip
    group.accept("unknown-attributes", text(signed(content(more=[(9_999, b"\x01\x02"), (9, b"private")]))),
                 "Apple documents only some attributes.", payload=names)  # fmt: skip
    group.accept("valid-on-its-device", text(valid), "The hash matches the device's identifier.", payload=names,
                 device=text(DEVICE))  # fmt: skip
    spent = signer("Receipt Expired Since", begin=date("2025-01-01"), end=date("2026-02-01"))
    group.accept("signer-expired-since", text(signed(content(), spent)),
                 "The signer was valid at the creation date and has expired since.", payload=names)  # fmt: skip

    group.reject("copied-from-another-device", text(signed(content(device=bytes(16)))), "WRONG_DEVICE",
                 "A genuine receipt of another device: the hash of attribute 5 does not match.", device=text(DEVICE))  # fmt: skip
    group.reject("damaged-device-hash", text(signed(content(device=DEVICE[::-1]))), "WRONG_DEVICE",
                 "The hash was made from other bytes.", device=text(DEVICE))  # fmt: skip
    stranger = Certificate("Stranger Receipt Signing", rsa_key(), STRANGER.intermediate, markers=(LEAF_MARKER,))
    group.reject("foreign-root",
                 text(signed(content(), stranger, [stranger, STRANGER.intermediate, STRANGER.root])), "UNTRUSTED_ROOT",
                 "The whole chain has Apple's shape, but its root is not trusted.")  # fmt: skip
    mixed = signed(content(), stranger, [stranger, TRUST.intermediate, TRUST.root])
    group.reject("foreign-signer-beside-the-trusted-chain", text(mixed), "UNTRUSTED_ROOT",
                 "The message has the trusted certificates, but they did not issue the signer.")  # fmt: skip
    alone = Certificate("Self-signed", rsa_key(), markers=(LEAF_MARKER,))
    group.reject("self-signed", text(signed(content(), alone, [alone])), "UNTRUSTED_ROOT", "A signer without a chain.")
    group.reject("without-certificates", text(signed(content(), certificates=[])), ["UNTRUSTED_ROOT", "NOT_A_RECEIPT"],
                 "The signer's certificate is missing.")  # fmt: skip
    group.reject("without-the-intermediate", text(signed(content(), certificates=[LEAF, TRUST.root])), "UNTRUSTED_ROOT",
                 "The chain has a gap.")  # fmt: skip
    unmarked = signer("Receipt Unmarked", markers=())
    group.reject("signer-without-marker", text(signed(content(), unmarked)), "MISSING_MARKER_OID",
                 "The signer lacks OID 1.2.840.113635.100.6.11.1.")  # fmt: skip
    plain = Certificate("Receipt Intermediate Unmarked", key("receipt intermediate"), TRUST.root, ca=True)
    under = signer("Receipt Under Unmarked", issuer=plain)
    group.reject("intermediate-without-marker", text(signed(content(), under, [under, plain, TRUST.root])),
                 "MISSING_MARKER_OID", "The intermediate lacks OID 1.2.840.113635.100.6.2.1.")  # fmt: skip
    expired = signer("Receipt Expired", begin=date("2025-01-01"), end=date("2025-12-31"))
    group.reject("expired-at-creation", text(signed(content(), expired)), "CHAIN_EXPIRED_AT_SIGNING",
                 "The signer had expired when the receipt was created.")  # fmt: skip

    group.reject("altered-content", text(valid.replace(b"lifetime", b"lifetimf", 1)), "BAD_SIGNATURE",
                 "The product was changed after signing.")  # fmt: skip
    group.reject("signature-of-another-receipt",
                 text(signed(content(), signature=LEAF.key.sign(b"other", padding.PKCS1v15(), hashes.SHA256()))),
                 "BAD_SIGNATURE", "A genuine signature, of other content.")  # fmt: skip
    group.reject("flipped-bit-in-the-signature", text(valid[:-1] + bytes([valid[-1] ^ 1])), "BAD_SIGNATURE", "One bit differs.")
    group.reject("truncated", text(valid[: len(valid) // 2]), "NOT_A_RECEIPT", "Half of a receipt.")
    group.reject("trailing-bytes", text(valid + bytes(4)), "NOT_A_RECEIPT", "Bytes follow the signed data.", level=RECOMMENDED)
    group.reject("not-base64", "%" + text(valid)[1:], ["NOT_BASE64", "UNKNOWN_DOCUMENT"], "A character that Base64 does not have.")
    group.reject("not-pkcs7", text(element(0x30, DATA, element(0xA0, element(0x04, content())))), "NOT_A_RECEIPT",
                 "The attributes without a signature.")  # fmt: skip
    group.reject("attributes-only", text(content()), ["NOT_A_RECEIPT", "UNKNOWN_DOCUMENT"], "The content of a receipt, unsigned.")
    group.reject("other-content", text(signed(utf8("not a receipt"))), "NOT_A_RECEIPT", "A genuine signature of something else.")
    group.reject("digest-md5", text(signed(content(), digest="md5", signature=bytes(256))),
                 ["UNSUPPORTED_ALGORITHM", "BAD_SIGNATURE"], "MD5 proves nothing.")  # fmt: skip
    group.reject("wrong-bundle", text(signed(content(bundle="com.example.other"))), "WRONG_BUNDLE", "Another app's receipt.")
    group.reject("without-bundle", text(signed(content(bundle=None))), ["MISSING_FIELD", "WRONG_BUNDLE"], "It names no app.")
    group.reject("without-creation-date", text(signed(content(created=None))), "MISSING_FIELD",
                 "It does not say when the certificates must have been valid.", level=RECOMMENDED)  # fmt: skip
    group.reject("wrong-environment", text(signed(content(kind="Production"))), "WRONG_ENVIRONMENT",
                 "The app accepts Sandbox only.")  # fmt: skip
    group.accept("valid-in-production", text(signed(content(kind="Production"))), "The same receipt of Production.",
                 environment="Production", payload=names)  # fmt: skip
    group.reject("sandbox-in-production", text(valid), "WRONG_ENVIRONMENT",
                 "Purchases in Apple's sandbox cost nothing: Production must not accept them.",
                 environment="Production")  # fmt: skip
    return group
