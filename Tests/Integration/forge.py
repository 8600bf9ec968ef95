"""Signed documents that no App Store makes: correct in all but one property.

They are signed with the sandbox App Store's own keys, stored below the data directory, so that a rejection
can only have that one cause.
"""

import base64
import datetime
import json
import pathlib
import subprocess

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.x509.oid import NameOID, ObjectIdentifier

LEAF_MARKER = ObjectIdentifier("1.2.840.113635.100.6.11.1")
INTERMEDIATE_MARKER = ObjectIdentifier("1.2.840.113635.100.6.2.1")
ASN1_NULL = b"\x05\x00"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def header_of(jws):
    return json.loads(from_base64url(jws.split(".")[0]))


def payload_of(jws):
    return json.loads(from_base64url(jws.split(".")[1]))


def chain_of(jws):
    return [x509.load_der_x509_certificate(base64.b64decode(text)) for text in header_of(jws)["x5c"]]


def sign(payload, chain, key, algorithm="ES256"):
    """A JWS over the payload (members, or the bytes as they are); `algorithm` is what its header claims."""
    certificates = [c if isinstance(c, bytes) else c.public_bytes(serialization.Encoding.DER) for c in chain]
    header = {"alg": algorithm, "x5c": [base64.b64encode(c).decode() for c in certificates]}
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    signed = base64url(json.dumps(header).encode()) + "." + base64url(body)
    return signed + "." + base64url(_signature(key, signed.encode(), algorithm))


def _signature(key, data, algorithm):
    if algorithm == "none":
        return b""
    if algorithm == "HS256":
        mac = hashes.Hash(hashes.SHA256())  # no verifier has a secret; any 32 bytes do
        mac.update(data)
        return mac.finalize()
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, padding.PKCS1v15(), hashes.SHA256())
    r, s = utils.decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
    size = (key.curve.key_size + 7) // 8
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(subject, key, issuer=None, issuer_key=None, markers=(), ca=False, begin=None, end=None):
    """Returns a certificate for `key`, self-signed unless an issuer is given."""
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(issuer.subject if issuer else name(subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin or now - day)
        .not_valid_after(end or now + 365 * day)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_key_usage(ca), critical=True)
    )
    if issuer:
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key())
        builder = builder.add_extension(authority, critical=False)
    for marker in markers:
        builder = builder.add_extension(x509.UnrecognizedExtension(marker, ASN1_NULL), critical=False)
    return builder.sign(issuer_key or key, hashes.SHA256())


def _key_usage(ca):
    return x509.KeyUsage(
        digital_signature=not ca, key_cert_sign=ca, crl_sign=ca, content_commitment=False,
        key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False,
        decipher_only=False,
    )  # fmt: skip


class Forger:
    """Signs as the sandbox App Store of one service, with one property changed."""

    def __init__(self, service):
        valid = service.buy("pro.monthly")["signedTransactionInfo"]
        self.payload = payload_of(valid)
        self.chain = chain_of(valid)
        self.start = self.chain[1].not_valid_before_utc  # start of validity of every chain of this forger
        keys = _private_keys(service.data)
        self.leaf_key, self.intermediate_key, self.root_key = (
            keys[_public_bytes(certificate.public_key())] for certificate in self.chain
        )

    def transaction(self, chain=None, key=None, algorithm="ES256", **changed):
        """A signed transaction with these members changed; `None` removes one."""
        if "transactionId" in changed:
            # Transactions with one webOrderLineItemId are copies of one period.
            changed = {"webOrderLineItemId": changed["transactionId"]} | changed
        payload = {k: v for k, v in (self.payload | changed).items() if v is not None}
        return sign(payload, chain or self.chain, key or self.leaf_key, algorithm)

    def with_leaf(self, markers=(LEAF_MARKER,), begin=None, end=None, **changed):
        """Signed by a new leaf under the sandbox's intermediate."""
        key = ec.generate_private_key(ec.SECP256R1())
        leaf = certificate(
            "Leaf", key, self.chain[1], self.intermediate_key, markers=markers,
            begin=begin or self.start, end=end)  # fmt: skip
        return self.transaction([leaf, *self.chain[1:]], key, **changed)

    def with_intermediate(self, markers=(), **changed):
        """Signed by a new leaf under a new intermediate under the sandbox's root."""
        intermediate_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        intermediate = certificate(
            "Intermediate", intermediate_key, self.chain[2], self.root_key, markers=markers, ca=True)
        leaf = certificate("Leaf", key, intermediate, intermediate_key, markers=(LEAF_MARKER,))
        return self.transaction([leaf, intermediate, self.chain[2]], key, **changed)

    def with_foreign_root(self, **changed):
        """Signed under a root that no configuration trusts, otherwise shaped like Apple's."""
        root_key, intermediate_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
        root = certificate("Root", root_key, ca=True)
        intermediate = certificate(
            "Intermediate", intermediate_key, root, root_key, markers=(INTERMEDIATE_MARKER,), ca=True)
        leaf = certificate("Leaf", key, intermediate, intermediate_key, markers=(LEAF_MARKER,))
        return self.transaction([leaf, intermediate, root], key, **changed)


def _private_keys(folder):
    """Every PEM private key below a folder, by its public key."""
    keys = {}
    for file in pathlib.Path(folder).rglob("*"):
        if not file.is_file():
            continue
        try:
            key = serialization.load_pem_private_key(file.read_bytes(), password=None)
        except (ValueError, TypeError):
            continue
        keys[_public_bytes(key.public_key())] = key
    return keys


def _public_bytes(key):
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.DER, form)


def app_receipt(service, purchases, bundle="com.example.oceanjournal", kind="ProductionSandbox", created="2026-01-01T00:00:00Z"):
    """An app receipt in base64, signed with the sandbox's keys. `purchases` are pairs of product and transaction number."""
    attributes = [(0, utf8(kind)), (2, utf8(bundle)), (3, utf8("1.0")), (12, ia5(created)), (19, utf8("1.0"))]
    for product, number in purchases:
        entry = [(1701, element(0x02, b"\x01")), (1702, utf8(product)), (1703, utf8(number)), (1704, ia5(created)),
                 (1705, utf8(number)), (1706, ia5(created))]  # fmt: skip
        attributes.append((17, attribute_set(entry)))
    folder = service.data / "sandbox"
    chain = folder / "chain.pem"
    chain.write_bytes((folder / "intermediate.pem").read_bytes() + (folder / "root.pem").read_bytes())
    command = [
        "openssl", "cms", "-sign", "-binary", "-nodetach", "-nosmimecap", "-outform", "DER", "-signer", folder / "leaf.pem",
        "-inkey", folder / "leaf.key.pem", "-certfile", chain]  # fmt: skip
    signed = subprocess.run(command, input=attribute_set(attributes), capture_output=True, check=True).stdout
    return base64.b64encode(signed).decode()


def attribute_set(attributes):
    """A receipt's attributes: a SET of SEQUENCEs of type, version and value."""
    return element(0x31, b"".join(
        element(0x30, element(0x02, kind.to_bytes(4, "big").lstrip(b"\0") or b"\0") + element(0x02, b"\x01")
                + element(0x04, value)) for kind, value in attributes))  # fmt: skip


def utf8(text):
    return element(0x0C, text.encode())


def ia5(text):
    return element(0x16, text.encode())


def element(tag, content):
    """One DER element."""
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(digits)]) + digits + content
