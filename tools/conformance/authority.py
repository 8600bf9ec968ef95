"""The test authority of the conformance kit: keys and certificates, the same in each run.

Keys on elliptic curves follow from their names, and the RSA key of receipts is a file of the kit. Signatures are
deterministic (RFC 6979, PKCS#1 1.5), so the vectors change only if their content changes.
"""

import base64
import datetime
import hashlib
import json
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.x509.oid import NameOID, ObjectIdentifier

KIT = pathlib.Path(__file__).resolve().parent.parent.parent / "conformance"
LEAF_MARKER = ObjectIdentifier("1.2.840.113635.100.6.11.1")
INTERMEDIATE_MARKER = ObjectIdentifier("1.2.840.113635.100.6.2.1")
ASN1_NULL = b"\x05\x00"
DER, PEM = serialization.Encoding.DER, serialization.Encoding.PEM


def date(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc)


# The validity of every certificate that is meant to be valid; the documents are of 2026.
BEGIN, END = date("2025-01-01"), date("2049-12-31")


def key(name, curve=None):
    """The private key of this name."""
    curve = curve or ec.SECP256R1()
    order_bits = curve.key_size - 1  # below the order of each of the curves in use
    digest = hashlib.shake_256(f"entitled conformance kit: {name}".encode()).digest(curve.key_size // 8)
    return ec.derive_private_key(int.from_bytes(digest, "big") % (1 << order_bits), curve)


def rsa_key():
    """The key that signs receipts."""
    return serialization.load_pem_private_key((KIT / "keys" / "receipt-leaf.key.pem").read_bytes(), password=None)


class Certificate:
    """A certificate with its key."""

    def __init__(self, name, private_key, issuer=None, *, markers=(), ca=False, begin=BEGIN, end=END):
        self.key = private_key
        subject = x509.Name([
            x509.NameAttribute(NameOID.COMMON_NAME, name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "entitled conformance kit (test only)"),
        ])  # fmt: skip
        public_key = private_key.public_key()
        seed = public_key.public_bytes(DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        serial = hashlib.sha256(repr((name, begin, end, markers)).encode() + seed).digest()[:8]
        builder = (
            x509.CertificateBuilder().subject_name(subject)
            .issuer_name(issuer.certificate.subject if issuer else subject).public_key(public_key)
            .serial_number(int.from_bytes(serial, "big") >> 1 | 1).not_valid_before(begin).not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca, (0 if issuer else None) if ca else None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            .add_extension(_key_usage(ca), critical=True)
        )  # fmt: skip
        if issuer:
            authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key())
            builder = builder.add_extension(authority, critical=False)
        for marker in markers:
            builder = builder.add_extension(x509.UnrecognizedExtension(marker, ASN1_NULL), critical=False)
        self.certificate = builder.sign(
            issuer.key if issuer else private_key, hashes.SHA256(),
            ecdsa_deterministic=True if isinstance((issuer or self).key, ec.EllipticCurvePrivateKey) else None)

    @property
    def der(self):
        return self.certificate.public_bytes(DER)


def _key_usage(ca):
    return x509.KeyUsage(
        digital_signature=not ca, key_cert_sign=ca, crl_sign=ca, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False)  # fmt: skip


class Chain:
    """Leaf, intermediate and root, shaped like Apple's; `prefix` distinguishes authorities."""

    def __init__(self, prefix="", *, name="Conformance", leaf=None, intermediate=None, root=None):
        self.root = root or Certificate(f"{name} Root", key(prefix + "root"), ca=True)
        self.intermediate = intermediate or Certificate(
            f"{name} Intermediate", key(prefix + "intermediate"), self.root, markers=(INTERMEDIATE_MARKER,), ca=True)
        self.leaf = leaf or Certificate(
            f"{name} Signing", key(prefix + "leaf"), self.intermediate, markers=(LEAF_MARKER,))

    @property
    def certificates(self):
        return [self.leaf.der, self.intermediate.der, self.root.der]

    def sign(self, payload, **changes):
        """A JWS of `payload` by the leaf; `changes` as in `jws`."""
        return jws(payload, self.certificates, self.leaf.key, **changes)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def compact(value):
    return value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def ecdsa(private_key, data, hash_algorithm=None):
    """The signature of a JWS: R and S, each in the size of the curve."""
    algorithm = ec.ECDSA(hash_algorithm or hashes.SHA256(), deterministic_signing=True)
    r, s = utils.decode_dss_signature(private_key.sign(data, algorithm))
    size = (private_key.curve.key_size + 7) // 8
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def jws(payload, certificates, private_key, *, header=None, signature=None):
    """A JWS in compact form.

    `header` changes members of the header (`None` removes one); `signature` makes the signature from the key and
    the signed bytes.
    """
    members = {"alg": "ES256", "x5c": [base64.b64encode(c).decode() for c in certificates]} | (header or {})
    members = {name: value for name, value in members.items() if value is not None}
    signed = f"{base64url(compact(members))}.{base64url(compact(payload))}"
    return f"{signed}.{base64url((signature or ecdsa)(private_key, signed.encode()))}"


def rs256(private_key, data):
    return private_key.sign(data, padding.PKCS1v15(), hashes.SHA256())


def new_rsa_key():
    return rsa.generate_private_key(65537, 2048)


def private_pem(private_key):
    return private_key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
