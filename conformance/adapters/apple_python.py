#!/usr/bin/env python3
"""An adapter of the conformance kit over Apple's Python library (PyPI: app-store-server-library).

    pip install app-store-server-library
    python3 apple_python.py 8000
    entitled conformance http://127.0.0.1:8000

`Backend` is the backend under test: it verifies with Apple's library and derives the state itself. Replace it with calls
of your own code; the rest of the file is the adapter. It needs `kit.json`, from the folder above this one or from the
folder in CONFORMANCE_KIT.
"""

import base64
import http.server
import json
import math
import os
import pathlib
import sys

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

FOLDER = pathlib.Path(os.environ.get("CONFORMANCE_KIT", pathlib.Path(__file__).resolve().parent.parent))
KIT = json.loads((FOLDER / "kit.json").read_text(encoding="utf-8"))
ROOTS = [base64.b64decode(root) for root in KIT["trustedRoots"]]


def payload_of(jws):
    """The payload of a verified document, as Apple wrote it: the library's models drop unknown members."""
    text = jws.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


class Backend:
    """Verifies with Apple's library, keeps the newest version of each document, and derives the state from all."""

    def __init__(self):
        self._verifiers = {
            name: SignedDataVerifier(ROOTS, False, Environment(name), KIT["app"]["bundleId"], KIT["app"]["appAppleId"])
            for name in ("Sandbox", "Production")
        }
        self.reset()

    def reset(self):
        self._transactions, self._renewals = {}, {}

    def verify(self, kind, document, environment):
        """The payload of a document, and the signed documents inside a notification.

        Raises VerificationException, or another exception for a document that the library cannot parse.
        """
        verifier = self._verifiers[environment]
        if kind == "transaction":
            verifier.verify_and_decode_signed_transaction(document)
        elif kind == "renewal-info":
            verifier.verify_and_decode_renewal_info(document)
        elif kind == "app-transaction":
            verifier.verify_and_decode_app_transaction(document)
        else:
            document = json.loads(document)["signedPayload"]
            verifier.verify_and_decode_notification(document)
        payload = payload_of(document)
        data = payload.get("data") or {}
        parts = {
            inner: self.verify(inner, data[member], environment)[0]
            for inner, member in (("transaction", "signedTransactionInfo"), ("renewal-info", "signedRenewalInfo"))
            if data.get(member)
        }
        return payload, parts

    def deliver(self, kind, document, customer):
        """Stores a notification, or a transaction that the app of `customer` submits."""
        payload, parts = self.verify(kind, document, "Sandbox")
        if kind == "transaction":
            parts = {"transaction": payload}
        if transaction := parts.get("transaction"):
            self.keep(self._transactions, self.period(transaction), transaction)
        if renewal := parts.get("renewal-info"):
            self.keep(self._renewals, renewal["originalTransactionId"], renewal)

    def period(self, transaction):
        """What identifies a period: after a restore, it has several transaction ids."""
        return transaction.get("webOrderLineItemId") or transaction["transactionId"]

    def keep(self, documents, key, new):
        """Keeps the newer of two versions: by the time of signing, because they can arrive in any order."""
        old = documents.get(key)
        if old is None or new["signedDate"] > old["signedDate"]:
            documents[key] = new

    def state(self, customer, entitlement, at):
        mine = [t for t in self._transactions.values()
                if t.get("appAccountToken") == customer and entitlement in KIT["products"][t["productId"]]["entitlements"]]  # fmt: skip
        mine = [t for t in mine if t["purchaseDate"] <= at]
        if not mine:
            return {"entitled": False, "status": "NONE"}
        end = max(self.end(t) for t in mine)
        if at < end:
            return {"entitled": True, "status": "ACTIVE", "until": None if end == math.inf else end}
        last = max(mine, key=lambda t: t["purchaseDate"])
        if self.is_revoked(last):
            return {"entitled": False, "status": "REVOKED"}
        renewal = self._renewals.get(last["originalTransactionId"], {})
        if at < renewal.get("gracePeriodExpiresDate", 0):
            return {"entitled": True, "status": "GRACE_PERIOD", "until": renewal["gracePeriodExpiresDate"]}
        return {"entitled": False, "status": "BILLING_RETRY" if renewal.get("isInBillingRetryPeriod") else "EXPIRED"}

    def end(self, transaction):
        """The end of the access that a transaction gives."""
        return min(transaction.get("expiresDate", math.inf), transaction.get("revocationDate", math.inf), self.next(transaction))

    def next(self, transaction):
        """The beginning of the subscription's next period, which ends an upgraded one early."""
        later = (t["purchaseDate"] for t in self._transactions.values()
                 if t["originalTransactionId"] == transaction["originalTransactionId"]
                 and t["purchaseDate"] > transaction["purchaseDate"])  # fmt: skip
        return min(later, default=math.inf)

    def is_revoked(self, transaction):
        return "revocationDate" in transaction


class Adapter:
    """The four calls of the contract (README.md), on a backend."""

    def __init__(self, backend):
        self.backend = backend

    def reset(self, request):
        self.backend.reset()
        return {}

    def verify(self, request):
        if request["kind"] == "receipt":
            return {"verdict": "unsupported"}  # Apple's library does not verify receipts
        try:
            payload, _ = self.backend.verify(request["kind"], request["document"], request["environment"])
        except VerificationException as error:
            return {"verdict": "rejected", "detail": error.status.name}
        except Exception as error:  # noqa: BLE001  (a document that is no JWS, JSON or body)
            return {"verdict": "rejected", "detail": repr(error)}
        return {"verdict": "accepted", "payload": payload}

    def deliver(self, request):
        self.backend.deliver(request["kind"], request["document"], request["customer"])
        return {}

    def state(self, request):
        return self.backend.state(request["customer"], request["entitlement"], request["at"])


def serve(backend, port=0):
    """An HTTP server of the adapter, bound to a local port."""
    adapter = Adapter(backend)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # head and body of a response in one segment

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            call = {"/reset": adapter.reset, "/verify": adapter.verify, "/deliver": adapter.deliver, "/state": adapter.state}
            known = self.path in call
            answer = json.dumps(call[self.path](request) if known else {}).encode()
            self.send_response(200 if known else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            """Logs nothing: a run makes a thousand requests."""

    return http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    serve(Backend(), int(sys.argv[1])).serve_forever()
