"""Vectors of verification: signed documents, each correct or wrong in one property."""

import base64
import hashlib
import hmac

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from authority import (
    INTERMEDIATE_MARKER, LEAF_MARKER, Certificate, Chain, base64url, compact, date, ecdsa, from_base64url, jws, key,
    rs256, rsa_key,
)  # fmt: skip
from documents import APP_APPLE_ID, app_transaction, at, body, identifier, notification, renewal_info, transaction

REQUIRED, RECOMMENDED = "required", "recommended"
TRUST = Chain()
STRANGER = Chain("stranger ", name="Stranger")


class Group:
    """The vectors of one file."""

    def __init__(self, name, kind, title):
        self.name, self.kind, self.title, self.vectors = name, kind, title, []

    def accept(self, name, document, note, *, payload=None, level=REQUIRED, **more):
        """A document that must be accepted; `payload` has members that its decoded payload must have."""
        expected = {"verdict": "accepted"} | ({"payload": payload} if payload else {})
        self._add(name, document, note, level, expected, more)

    def reject(self, name, document, reasons, note, *, level=REQUIRED, **more):
        """A document that must be rejected; `reasons` are correct names of the cause."""
        reasons = [reasons] if isinstance(reasons, str) else list(reasons)
        self._add(name, document, note, level, {"verdict": "rejected", "reasons": reasons}, more)

    def _add(self, name, document, note, level, expected, more):
        self.vectors.append(
            {"name": name, "level": level, "note": note, "kind": self.kind, **more, "document": document,
             "expected": expected})  # fmt: skip

    @property
    def content(self):
        return {"format": 1, "group": self.name, "title": self.title, "vectors": self.vectors}


def leaf(name="Conformance Signing", *, issuer=None, markers=(LEAF_MARKER,), private_key=None, **validity):
    return Certificate(name, private_key or key("leaf " + name), issuer or TRUST.intermediate, markers=markers, **validity)


def with_leaf(certificate, payload, **changes):
    chain = [certificate.der, TRUST.intermediate.der, TRUST.root.der]
    return jws(payload, chain, certificate.key, **changes)


def with_intermediate(payload, *, ca=True, **properties):
    """Signed under another intermediate of the trusted root."""
    authority = Certificate("Other Intermediate", key("other intermediate"), TRUST.root, ca=ca, **properties)
    signer = leaf("Under Other Intermediate", issuer=authority)
    return jws(payload, [signer.der, authority.der, TRUST.root.der], signer.key)


def altered(document, change):
    """The same signature over other content."""
    header, payload, signature = document.split(".")
    return f"{header}.{base64url(change(from_base64url(payload)))}.{signature}"


def with_signature(document, change):
    signed, _, signature = document.rpartition(".")
    return f"{signed}.{base64url(change(from_base64url(signature)))}"


def flipped(data, index=20):
    return data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :]


def der_signature(private_key, data):
    return private_key.sign(data, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))


def hs256(secret):
    return lambda _, data: hmac.new(secret, data, hashlib.sha256).digest()


def public_pem(certificate):
    public = certificate.key.public_key()
    return public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def non_canonical(document):
    """The last character of the signature with other unused bits: a text of the same bytes."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return document[:-1] + alphabet[alphabet.index(document[-1]) | 1]


def chains(group, payload, valid, prefix=""):
    """The vectors that every kind of document has: who signed, and whether the chain holds."""
    group.reject(prefix + "foreign-root", STRANGER.sign(payload), "UNTRUSTED_ROOT",
                 "The whole chain has Apple's shape, but its root is not trusted.")  # fmt: skip
    group.reject(prefix + "altered-payload", altered(valid, lambda data: data.replace(b"Sandbox", b"sandbox", 1)),
                 ["BAD_SIGNATURE", "WRONG_ENVIRONMENT"], "The payload was changed after it was signed.")  # fmt: skip
    group.reject(prefix + "leaf-without-marker", with_leaf(leaf("Unmarked", markers=()), payload), "MISSING_MARKER_OID",
                 "The root is trusted, but the leaf lacks OID 1.2.840.113635.100.6.11.1, so it may not sign App Store "
                 "data: the root signs certificates for other purposes too.")  # fmt: skip
    group.reject(prefix + "expired-at-signing",
                 with_leaf(leaf("Expired", begin=date("2025-01-01"), end=date("2025-12-31")), payload),
                 "CHAIN_EXPIRED_AT_SIGNING", "The leaf had expired when the document was signed.")  # fmt: skip


def transactions():
    group = Group("transactions", "transaction", "Signed transactions (JWSTransaction)")
    payload = transaction()
    valid = TRUST.sign(payload)
    certificates, private_key = TRUST.certificates, TRUST.leaf.key
    names = {"transactionId": payload["transactionId"], "productId": "pro.monthly", "environment": "Sandbox"}

    group.accept("valid", valid, "A subscription's first transaction.", payload=names)
    group.accept("valid-non-consumable", TRUST.sign(transaction("lifetime", number=2)), "Without expiresDate.",
                 payload={"productId": "lifetime", "type": "Non-Consumable"})  # fmt: skip
    revoked = transaction(number=3, signed=at(2), revocationDate=at(1), revocationReason=0)
    group.accept("valid-revoked", TRUST.sign(revoked), "A refund is a genuine document: it is accepted, and ends access.",
                 payload={"revocationDate": at(1), "revocationReason": 0})  # fmt: skip
    future = payload | {"futureMember": {"nested": [1, 2, None]}, "anotherMember": "text"}
    group.accept("unknown-members", TRUST.sign(future), "Apple adds members without notice.", payload=names)
    group.accept("unknown-values",
                 TRUST.sign(payload | {"transactionReason": "SOMETHING_NEW", "offerType": 99, "storefront": "XKX"}),
                 "Apple adds values to enumerations without notice.", payload=names)  # fmt: skip
    escaped = compact(payload).replace(b'"pro.monthly"', b'"\\u0070ro.monthly"')
    group.accept("escaped-text", TRUST.sign(escaped), "JSON may write any character as an escape.", payload=names)
    group.accept("more-header-members", TRUST.sign(payload, header={"typ": "JWT", "kid": "Apple_Xcode_Key"}),
                 "A header may have members without meaning for the signature.", payload=names)  # fmt: skip
    spent = leaf("Expired Since", begin=date("2025-01-01"), end=date("2026-02-01"))
    group.accept("signer-expired-since", with_leaf(spent, payload),
                 "The leaf was valid at signedDate and has expired since. Purchases stay proven: Apple's leaves live for "
                 "about two years.", payload=names)  # fmt: skip

    chains(group, payload, valid)
    impostor = Chain("impostor ")
    group.reject("foreign-root-of-the-same-name", impostor.sign(payload), "UNTRUSTED_ROOT",
                 "The root has the trusted root's name and another key.")  # fmt: skip
    mixed = jws(payload, [STRANGER.leaf.der, STRANGER.intermediate.der, TRUST.root.der], STRANGER.leaf.key)
    group.reject("foreign-leaf-before-the-trusted-root", mixed, "UNTRUSTED_ROOT",
                 "The last certificate is the trusted root, but it did not issue the others.")  # fmt: skip
    mixed = jws(payload, [STRANGER.leaf.der, TRUST.intermediate.der, TRUST.root.der], STRANGER.leaf.key)
    group.reject("foreign-leaf-before-a-genuine-intermediate", mixed, "UNTRUSTED_ROOT",
                 "The intermediate is genuine, but it did not issue the leaf.")  # fmt: skip
    group.reject("intermediate-without-marker", with_intermediate(payload), "MISSING_MARKER_OID",
                 "The intermediate lacks OID 1.2.840.113635.100.6.2.1.")  # fmt: skip
    wrong = leaf("Wrong Marker", markers=(INTERMEDIATE_MARKER,))
    group.reject("leaf-with-the-intermediates-marker", with_leaf(wrong, payload), "MISSING_MARKER_OID",
                 "The leaf has the OID of intermediates instead of that of leaves.")  # fmt: skip
    group.reject("intermediate-with-the-leafs-marker", with_intermediate(payload, markers=(LEAF_MARKER,)),
                 "MISSING_MARKER_OID", "The intermediate has the OID of a leaf certificate, and not that of an intermediate.")  # fmt: skip
    below = leaf("Under A Leaf", issuer=TRUST.leaf)
    group.reject("issued-by-a-leaf", jws(payload, [below.der, TRUST.leaf.der, TRUST.root.der], below.key),
                 ["UNTRUSTED_ROOT", "MISSING_MARKER_OID"],
                 "A leaf is no authority: its holder must not be able to issue another one.")  # fmt: skip
    group.reject("intermediate-that-is-no-authority", with_intermediate(payload, markers=(INTERMEDIATE_MARKER,), ca=False),
                 "UNTRUSTED_ROOT",
                 "The intermediate has the OID, but its basic constraints do not permit it to issue certificates.")  # fmt: skip
    direct = leaf("Under The Root", issuer=TRUST.root)
    group.reject("issued-by-the-root", jws(payload, [direct.der, TRUST.intermediate.der, TRUST.root.der], direct.key),
                 "UNTRUSTED_ROOT", "The root issued the leaf; the intermediate beside it is not part of its path.",
                 level=RECOMMENDED)  # fmt: skip
    group.reject("not-yet-valid-at-signing", with_leaf(leaf("Future", begin=date("2026-06-01")), payload),
                 "CHAIN_EXPIRED_AT_SIGNING", "The leaf became valid after the document was signed.")  # fmt: skip
    group.reject("intermediate-expired-at-signing",
                 with_intermediate(payload, markers=(INTERMEDIATE_MARKER,), end=date("2025-12-31")),
                 ["CHAIN_EXPIRED_AT_SIGNING", "UNTRUSTED_ROOT"],
                 "The intermediate had expired when the document was signed.")  # fmt: skip

    def listed(name, chain, reasons, note, **more):
        group.reject(name, jws(payload, chain, private_key), reasons, note, **more)

    listed("swapped-chain", [certificates[1], certificates[0], certificates[2]],
           ["MISSING_MARKER_OID", "UNTRUSTED_ROOT"], "Intermediate and leaf are in the wrong order.")  # fmt: skip
    listed("leaf-three-times", [certificates[0]] * 3, ["MISSING_MARKER_OID", "UNTRUSTED_ROOT"],
           "The leaf in place of all three certificates.")  # fmt: skip
    listed("one-certificate", certificates[:1], "WRONG_CERTIFICATE_COUNT", "Apple always sends three certificates.")
    listed("two-certificates", certificates[:2], "WRONG_CERTIFICATE_COUNT", "Apple always sends three certificates.",
           level=RECOMMENDED)  # fmt: skip
    listed("four-certificates", [*certificates, certificates[2]], "WRONG_CERTIFICATE_COUNT",
           "Apple always sends three certificates.", level=RECOMMENDED)  # fmt: skip
    listed("no-certificates", [], "WRONG_CERTIFICATE_COUNT", "An empty x5c.")
    listed("damaged-certificate", [certificates[0], flipped(certificates[1], 12)[:-40], certificates[2]],
           ["MALFORMED_CERTIFICATE", "UNTRUSTED_ROOT"], "The intermediate is not a certificate.")  # fmt: skip
    group.reject("no-x5c", TRUST.sign(payload, header={"x5c": None}), "WRONG_CERTIFICATE_COUNT",
                 "Without certificates there is nothing to trust.")  # fmt: skip
    attacker = STRANGER.leaf.key.public_key().public_numbers()
    jwk = {"kty": "EC", "crv": "P-256", "x": base64url(attacker.x.to_bytes(32, "big")),
           "y": base64url(attacker.y.to_bytes(32, "big"))}  # fmt: skip
    group.reject("key-in-the-header", jws(payload, certificates, STRANGER.leaf.key, header={"jwk": jwk}), "BAD_SIGNATURE",
                 "A genuine chain, but the signature is of the key in `jwk`.")  # fmt: skip

    def algorithm(name, signature, note, **header):
        document = TRUST.sign(payload, header=header, signature=signature)
        group.reject(name, document, ["UNSUPPORTED_ALGORITHM", "NOT_A_JWS"], note)

    algorithm("algorithm-none", lambda *_: b"", "No signature at all.", alg="none")
    algorithm("algorithm-none-in-mixed-case", lambda *_: b"", "A filter for `none` may miss it.", alg="nOnE")
    algorithm("algorithm-none-with-a-signature", ecdsa, "The header permits a verifier to skip the signature.", alg="none")
    algorithm("algorithm-hs256-with-the-public-key", hs256(public_pem(TRUST.leaf)),
              "The MAC's secret is the leaf's public key in PEM, which is public.", alg="HS256")  # fmt: skip
    algorithm("algorithm-hs256-with-the-certificate", hs256(TRUST.leaf.der),
              "The MAC's secret is the leaf's certificate.", alg="HS256")  # fmt: skip
    algorithm("algorithm-es384", lambda k, data: ecdsa(k, data, hashes.SHA384()),
              "Apple signs with ES256 only; P-256 with SHA-384 is no algorithm of JWS.", alg="ES384")  # fmt: skip
    algorithm("algorithm-missing", ecdsa, "A header without `alg`.", alg=None)
    algorithm("algorithm-in-lower-case", ecdsa, "Names of algorithms are case-sensitive.", alg="es256")
    rsa_leaf = leaf("RSA Signing", private_key=rsa_key())
    group.reject("algorithm-rs256", with_leaf(rsa_leaf, payload, header={"alg": "RS256"}, signature=rs256),
                 "UNSUPPORTED_ALGORITHM", "A valid signature of another algorithm under the trusted root.")  # fmt: skip
    p384 = leaf("P-384 Signing", private_key=key("leaf P-384", ec.SECP384R1()))
    group.reject("key-on-another-curve", with_leaf(p384, payload), ["UNSUPPORTED_KEY", "BAD_SIGNATURE"],
                 "ES256 needs a key on P-256.")  # fmt: skip

    other = TRUST.sign(transaction(number=4))
    group.reject("signature-of-another-document", f"{valid.rpartition('.')[0]}.{other.rpartition('.')[2]}",
                 "BAD_SIGNATURE", "A genuine signature, of another transaction.")  # fmt: skip
    group.reject("altered-product", altered(valid, lambda data: data.replace(b"pro.monthly", b"lifetime\\u0020")),
                 "BAD_SIGNATURE", "The product was changed after signing.")  # fmt: skip
    group.reject("signed-by-the-intermediate", jws(payload, certificates, TRUST.intermediate.key), "BAD_SIGNATURE",
                 "The signature is of the intermediate's key.")  # fmt: skip
    group.reject("flipped-bit-in-the-signature", with_signature(valid, flipped), "BAD_SIGNATURE", "One bit differs.")
    group.reject("empty-signature", with_signature(valid, lambda _: b""), ["BAD_SIGNATURE", "NOT_A_JWS"], "No signature.")
    group.reject("zero-signature", with_signature(valid, lambda data: bytes(len(data))), "BAD_SIGNATURE",
                 "R and S are 0, which some libraries once accepted for any document (CVE-2022-21449).")  # fmt: skip
    group.reject("short-signature", with_signature(valid, lambda data: data[:-1]), ["BAD_SIGNATURE", "NOT_A_JWS"],
                 "63 bytes instead of 64.")  # fmt: skip
    group.reject("der-signature", TRUST.sign(payload, signature=der_signature), "BAD_SIGNATURE",
                 "RFC 7518, section 3.4: the signature of a JWS is R and S, not their DER.")  # fmt: skip

    group.reject("wrong-bundle", TRUST.sign(payload | {"bundleId": "com.example.other"}), "WRONG_BUNDLE",
                 "A genuine document of another app: anyone can buy in their own app.")  # fmt: skip
    group.reject("bundle-in-other-case", TRUST.sign(payload | {"bundleId": "com.example.Conformance"}), "WRONG_BUNDLE",
                 "Another app's bundle id may differ only in case.", level=RECOMMENDED)  # fmt: skip
    group.reject("wrong-environment", TRUST.sign(payload | {"environment": "Production"}), "WRONG_ENVIRONMENT",
                 "The app accepts Sandbox only.")  # fmt: skip
    group.reject("unknown-environment", TRUST.sign(payload | {"environment": "Moon"}), "WRONG_ENVIRONMENT",
                 "An environment that does not exist.")  # fmt: skip
    xcode = Certificate("StoreKit Testing in Xcode", key("xcode"))
    local = jws(payload | {"environment": "Xcode"}, [xcode.der], xcode.key, header={"kid": "Apple_Xcode_Key"})
    group.reject("xcode", local, ["XCODE_NOT_ALLOWED", "WRONG_CERTIFICATE_COUNT", "WRONG_ENVIRONMENT"],
                 "Xcode signs with a certificate that anyone can make.")  # fmt: skip
    local = jws(payload | {"environment": "LocalTesting"}, [], xcode.key)
    group.reject("local-testing", local, ["XCODE_NOT_ALLOWED", "WRONG_CERTIFICATE_COUNT", "WRONG_ENVIRONMENT"],
                 "Unit tests with StoreKitTest sign with a key that anyone can make.")  # fmt: skip
    production = TRUST.sign(payload | {"environment": "Production"})
    group.accept("valid-in-production", production, "The same document for an app that accepts Production.",
                 environment="Production", payload={"environment": "Production"})  # fmt: skip
    group.reject("sandbox-in-production", valid, "WRONG_ENVIRONMENT",
                 "Purchases in Apple's sandbox cost nothing: Production must not accept them.",
                 environment="Production")  # fmt: skip

    formats(group, payload, valid)
    return group


def formats(group, payload, valid):
    """The vectors about the text of a document."""
    group.reject("empty", "", ["NOT_A_JWS", "UNKNOWN_DOCUMENT"], "An empty text.")
    group.reject("two-segments", valid.rpartition(".")[0], ["NOT_A_JWS", "UNKNOWN_DOCUMENT"], "Without a signature.")
    group.reject("four-segments", valid + ".e30", "NOT_A_JWS", "A JWS has three segments.")
    group.reject("bare-json", compact(payload).decode(), ["NOT_A_JWS", "UNKNOWN_DOCUMENT"], "The payload without a signature.")
    group.reject("payload-is-no-json", TRUST.sign(compact(payload)[:-1]), "MALFORMED_JSON", "The JSON is cut off.")
    group.reject("payload-is-a-list", TRUST.sign(b"[]"), "MALFORMED_JSON", "The payload is not an object.")
    group.reject("critical-extension", TRUST.sign(payload, header={"crit": ["b64"], "b64": False}), "NOT_A_JWS",
                 "RFC 7515, section 4.1.11: a verifier must reject extensions in `crit` that it does not know.",
                 level=RECOMMENDED)  # fmt: skip
    group.reject("padded-base64", valid + "==", "NOT_A_JWS", "RFC 7515: base64url without padding.", level=RECOMMENDED)
    group.reject("non-canonical-base64", non_canonical(valid), "NOT_A_JWS",
                 "The unused bits of the last character are not 0, so that one document has several texts: a record of "
                 "known documents by their text or hash takes it for a new one.", level=RECOMMENDED)  # fmt: skip
    group.reject("line-break-inside", valid.replace(".", ".\n", 1), "NOT_A_JWS", "A JWS has no white space.",
                 level=RECOMMENDED)  # fmt: skip
    twice = compact(payload)[:-1] + b',"productId":"lifetime"}'
    group.reject("duplicate-member", TRUST.sign(twice), "MALFORMED_JSON",
                 "A member twice: two parsers can read two products.", level=RECOMMENDED)  # fmt: skip
    header = '{"alg":"ES256","alg":"none","x5c":' + compact([base64.b64encode(c).decode() for c in TRUST.certificates]).decode() + "}"
    signed = base64url(header.encode()) + "." + valid.split(".")[1]
    group.reject("duplicate-header-member", f"{signed}.{base64url(ecdsa(TRUST.leaf.key, signed.encode()))}",
                 ["NOT_A_JWS", "UNSUPPORTED_ALGORITHM"], "RFC 7515, section 4: header members must be unique.")  # fmt: skip
    for member in ("bundleId", "environment"):
        group.reject(f"without-{member}", TRUST.sign({k: v for k, v in payload.items() if k != member}),
                     ["MISSING_FIELD", "WRONG_BUNDLE", "WRONG_ENVIRONMENT"],
                     "It names no app or environment, so it may be of another one.")  # fmt: skip
    for member in ("signedDate", "transactionId", "originalTransactionId", "productId", "purchaseDate"):
        group.reject(f"without-{member}", TRUST.sign({k: v for k, v in payload.items() if k != member}),
                     "MISSING_FIELD", "Apple always sends it.", level=RECOMMENDED)  # fmt: skip
    group.reject("member-of-another-type", TRUST.sign(payload | {"transactionId": 77}), "MALFORMED_FIELD",
                 "Transaction ids are texts.", level=RECOMMENDED)  # fmt: skip


def renewal_infos():
    group = Group("renewal-infos", "renewal-info", "Signed renewal infos (JWSRenewalInfo)")
    payload = renewal_info()
    valid = TRUST.sign(payload)
    group.accept("valid", valid, "It names no app: it belongs to the app of its subscription.",
                 payload={"originalTransactionId": payload["originalTransactionId"], "autoRenewStatus": 1})  # fmt: skip
    off = renewal_info(renews=False, expirationIntent=1)
    group.accept("valid-cancelled", TRUST.sign(off), "Auto-renew is off.", payload={"autoRenewStatus": 0})
    failed = renewal_info(isInBillingRetryPeriod=True, expirationIntent=2, gracePeriodExpiresDate=at(46))
    group.accept("valid-grace-period", TRUST.sign(failed), "The renewal failed.", payload={"gracePeriodExpiresDate": at(46)})
    group.accept("unknown-members", TRUST.sign(payload | {"futureMember": [1]}), "Apple adds members without notice.")
    chains(group, payload, valid)
    group.reject("wrong-environment", TRUST.sign(payload | {"environment": "Production"}), "WRONG_ENVIRONMENT",
                 "The app accepts Sandbox only.")  # fmt: skip
    group.reject("algorithm-none", TRUST.sign(payload, header={"alg": "none"}, signature=lambda *_: b""),
                 ["UNSUPPORTED_ALGORITHM", "NOT_A_JWS"], "No signature at all.")  # fmt: skip
    group.reject("without-signedDate", TRUST.sign({k: v for k, v in payload.items() if k != "signedDate"}),
                 "MISSING_FIELD", "Without it, no one can tell which of two renewal infos is newer.",
                 level=RECOMMENDED)  # fmt: skip
    return group


def app_transactions():
    group = Group("app-transactions", "app-transaction", "Signed app transactions (AppTransaction)")
    payload = app_transaction()
    valid = TRUST.sign(payload)
    group.accept("valid", valid, "In Sandbox, appAppleId is 0.", payload={"originalApplicationVersion": "1.0"})
    group.accept("unknown-members", TRUST.sign(payload | {"futureMember": {}}), "Apple adds members without notice.")
    chains(group, payload, valid)
    group.reject("wrong-bundle", TRUST.sign(payload | {"bundleId": "com.example.other"}), "WRONG_BUNDLE", "Another app.")
    group.reject("wrong-environment", TRUST.sign(payload | {"receiptType": "Production", "appAppleId": APP_APPLE_ID}),
                 "WRONG_ENVIRONMENT", "The app accepts Sandbox only.")  # fmt: skip
    sold = payload | {"receiptType": "Production", "appAppleId": APP_APPLE_ID}
    group.accept("valid-in-production", TRUST.sign(sold), "With the app's App Store id.", environment="Production")
    group.reject("wrong-app-in-production", TRUST.sign(sold | {"appAppleId": 999}), "WRONG_APP",
                 "In Production the App Store id must match too.", environment="Production")  # fmt: skip
    return group


def notifications():
    group = Group("notifications", "notification", "Server notifications, version 2 (the body of the request)")
    inner = TRUST.sign(transaction())
    renewal = TRUST.sign(renewal_info())
    payload = notification("SUBSCRIBED", "INITIAL_BUY", transaction=inner, renewal=renewal)
    valid = TRUST.sign(payload)

    def other(**parts):
        return body(TRUST.sign(notification("DID_RENEW", **({"transaction": inner, "renewal": renewal} | parts))))

    group.accept("valid", body(valid), "A first purchase.",
                 payload={"notificationType": "SUBSCRIBED", "notificationUUID": payload["notificationUUID"]})  # fmt: skip
    group.accept("valid-test", body(TRUST.sign(notification("TEST"))), "A test notification has no transaction.",
                 payload={"notificationType": "TEST"})  # fmt: skip
    group.accept("unknown-type", body(TRUST.sign(notification("SOMETHING_NEW", "ELSE", transaction=inner))),
                 "Apple adds types without notice; its documents are as good as others.")  # fmt: skip
    group.accept("unknown-members", body(TRUST.sign(payload | {"futureMember": 1})), "Apple adds members without notice.")
    summary = {"requestIdentifier": identifier("extension"), "environment": "Sandbox", "appAppleId": 0,
               "bundleId": payload["data"]["bundleId"], "productId": "pro.monthly", "storefrontCountryCodes": ["USA"],
               "succeededCount": 5, "failedCount": 2}  # fmt: skip
    group.accept("valid-summary", body(TRUST.sign(notification("RENEWAL_EXTENSION", "SUMMARY") | {"data": None} | {"summary": summary})).replace('"data":null,', ""),
                 "The summary of a mass extension has `summary` instead of `data`.")  # fmt: skip
    chains_of_notifications(group, payload, valid)
    group.reject("wrong-bundle", other(data={"bundleId": "com.example.other"}), "WRONG_BUNDLE",
                 "Another app's notification, sent to this app's URL.")  # fmt: skip
    group.reject("wrong-environment", other(data={"environment": "Production", "appAppleId": APP_APPLE_ID}),
                 "WRONG_ENVIRONMENT", "The app accepts Sandbox only.")  # fmt: skip
    sold = TRUST.sign(transaction(environment="Production"))
    store = {"environment": "Production", "appAppleId": APP_APPLE_ID}
    group.accept("valid-in-production", other(transaction=sold, renewal=None, data=store), "With the app's App Store id.",
                 environment="Production")  # fmt: skip
    group.reject("wrong-app-in-production", other(transaction=sold, renewal=None, data=store | {"appAppleId": 999}),
                 "WRONG_APP", "In Production the App Store id must match too.", environment="Production")  # fmt: skip
    group.reject("unsigned-body", compact(payload).decode(), ["NOT_A_JWS", "UNKNOWN_DOCUMENT", "MISSING_FIELD"],
                 "The payload as it would look after verification.")  # fmt: skip
    group.reject("version-1-without-a-secret",
                 compact({"notification_type": "INITIAL_BUY", "environment": "Sandbox", "bid": payload["data"]["bundleId"],
                          "unified_receipt": {"status": 0, "environment": "Sandbox"}}).decode(),
                 ["NOT_A_JWS", "NOT_SIGNED", "UNKNOWN_DOCUMENT"],
                 "Notifications of version 1 are not signed: anyone can send one.")  # fmt: skip
    for name, document, reasons, note in (
        ("inner-transaction-of-a-foreign-root", other(transaction=STRANGER.sign(transaction())), "UNTRUSTED_ROOT",
         "The documents inside are signed too; each is verified."),
        ("inner-transaction-altered", other(transaction=with_signature(inner, flipped)), "BAD_SIGNATURE",
         "The signature of the transaction inside does not match."),
        ("inner-renewal-info-of-a-foreign-root", other(renewal=STRANGER.sign(renewal_info())), "UNTRUSTED_ROOT",
         "The documents inside are signed too; each is verified."),
        ("inner-transaction-of-another-app", other(transaction=TRUST.sign(transaction(bundleId="com.example.other"))),
         "WRONG_BUNDLE", "The notification is for this app, the transaction inside is not."),
        ("inner-transaction-of-another-environment", other(transaction=TRUST.sign(transaction(environment="Production"))),
         "WRONG_ENVIRONMENT", "The transaction inside is of another environment than the notification."),
    ):  # fmt: skip
        group.reject(name, document, reasons, note, level=RECOMMENDED)
    return group


def chains_of_notifications(group, payload, valid):
    inside = Group(group.name, group.kind, group.title)
    chains(inside, payload, valid)
    for vector in inside.vectors:
        group.vectors.append(vector | {"document": body(vector["document"])})
    unsigned = TRUST.sign(payload, header={"alg": "none"}, signature=lambda *_: b"")
    group.reject("algorithm-none", body(unsigned), ["UNSUPPORTED_ALGORITHM", "NOT_A_JWS"], "No signature at all.")
