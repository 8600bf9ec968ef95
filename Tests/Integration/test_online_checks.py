"""Online checks: OCSP requests about signing certificates, answered by a web server in the test."""

import concurrent.futures
import datetime
import http.server
import subprocess
import threading
import time
import uuid

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID

from forge import ASN1_NULL, LEAF_MARKER, Forger, name, sign
from harness import post, wait_for

CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    online_checks: {policy}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
"""


class Authority:
    """Answers OCSP requests about one certificate, as configured by the test."""

    def __init__(self):
        self.verdict = ocsp.OCSPCertStatus.GOOD
        self.requests = 0
        self.delay = 0
        self.closing = threading.Event()
        self.certificate = self.issuer = self.issuer_key = None
        authority = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                answer = authority.answer(ocsp.load_der_ocsp_request(body))
                authority.closing.wait(authority.delay)
                self.send_response(200 if answer else 503)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments):
                """Suppresses the access log."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a client that did not wait for the response
        self.address = f"http://127.0.0.1:{self.server.server_port}/ocsp"
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def close(self):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        assert request.serial_number == self.certificate.serial_number
        self.requests += 1
        if self.verdict is None:
            return b""
        now = datetime.datetime.now(datetime.timezone.utc)
        revoked = now if self.verdict is ocsp.OCSPCertStatus.REVOKED else None
        response = ocsp.OCSPResponseBuilder().add_response(
            self.certificate, self.issuer, hashes.SHA1(), self.verdict,
            now, now + datetime.timedelta(hours=12), revoked, None,
        )  # fmt: skip
        response = response.responder_id(ocsp.OCSPResponderEncoding.HASH, self.issuer)
        return response.sign(self.issuer_key, hashes.SHA384()).public_bytes(serialization.Encoding.DER)

    def issue(self, forger, key):
        """A leaf under the sandbox's intermediate that names this authority."""
        self.issuer, self.issuer_key = forger.chain[1], forger.intermediate_key
        where = x509.AccessDescription(
            AuthorityInformationAccessOID.OCSP, x509.UniformResourceIdentifier(self.address))
        now = datetime.datetime.now(datetime.timezone.utc)
        self.certificate = (
            x509.CertificateBuilder()
            .subject_name(name("Leaf"))
            .issuer_name(self.issuer.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(forger.start)
            .not_valid_after(now + datetime.timedelta(days=365))
            .add_extension(x509.AuthorityInformationAccess([where]), critical=False)
            .add_extension(x509.UnrecognizedExtension(LEAF_MARKER, ASN1_NULL), critical=False)
            .sign(self.issuer_key, hashes.SHA256())
        )
        return self.certificate


@pytest.fixture
def authority():
    authority = Authority()
    yield authority
    authority.close()


class Documents:
    """Documents of a leaf that names the authority, and a service with a policy."""

    def __init__(self, service, authority):
        self.service = service
        self.forger = Forger(service)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.chain = [authority.issue(self.forger, self.key), *self.forger.chain[1:]]

    def submit(self, **changed):
        return self.call("SubmitTransaction", customerId="alice", signedTransaction=self.transaction(**changed))

    def inspect(self, document):
        return self.call("Inspect", document=document)

    def transaction(self, **changed):
        return self.forger.transaction(self.chain, self.key, **changed)

    def call(self, method, **request):
        return self.service.json(f"entitled.v1.ReceiptService/{method}", {"app": "ocean-journal", **request})


@pytest.fixture
def documents(start, tmp_path, authority):
    """Starts a service with a policy; its documents are of a leaf that names the authority."""

    def begin(policy):
        file = tmp_path / "entitled.yaml"
        file.write_text(CONFIGURATION.format(policy=policy))
        return Documents(start(arguments=["--config", file]), authority)

    return begin


def age(answer):
    """Seconds since the authority issued the response on which this one is based."""
    checked_at = datetime.datetime.fromisoformat(answer["certificatesCheckedAt"].replace("Z", "+00:00"))
    return (datetime.datetime.now(datetime.timezone.utc) - checked_at).total_seconds()


def test_policy_off_sends_no_request(documents, authority):
    status, answer = documents("off").submit()
    assert (status, authority.requests) == (200, 0)
    assert not answer.get("certificatesCheckedAt")


def test_policy_hard_requests_once_for_many_documents_and_reports_the_age(documents, authority):
    signed = documents("hard")
    authority.delay = 0.2
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: signed.submit(), range(16)))
    assert {status for status, _ in answers} == {200}
    assert all(0 <= age(answer) < 60 for _, answer in answers)
    assert signed.submit()[0] == 200
    assert authority.requests == 1


def test_policy_hard_rejects_a_revoked_certificate(documents, authority):
    authority.verdict = ocsp.OCSPCertStatus.REVOKED
    signed = documents("hard")
    status, answer = signed.submit()
    assert status == 403
    assert answer["details"][0]["debug"]["reason"] == "REVOKED_CERTIFICATE"
    [(kind, rejection, _, is_whole)] = signed.service.evidence("alice")
    assert (kind, rejection, is_whole) == ("SIGNED_TRANSACTION", "REVOKED_CERTIFICATE", True)
    assert int(answer["details"][0]["debug"]["metadata"]["evidenceId"]) > 0
    status, answer = signed.inspect(signed.transaction())
    assert (status, answer["verified"], answer["reason"]) == (200, False, "REVOKED_CERTIFICATE")
    assert answer["kind"] == "DOCUMENT_KIND_SIGNED_TRANSACTION"


def test_policy_hard_without_a_response_is_unavailable_with_a_retry_delay(documents, authority):
    authority.verdict = None
    signed = documents("hard")
    for status, answer in (signed.submit(), signed.inspect(signed.transaction())):
        assert status == 503
        assert answer["details"][0]["debug"]["reason"] == "ONLINE_CHECK_UNAVAILABLE"
        assert 8 <= float(answer["details"][1]["debug"]["retryDelay"].rstrip("s")) <= 10
    assert authority.requests == 1, "no second request right after a failure"


def test_a_slow_authority_is_not_awaited(documents, authority):
    authority.delay = 60
    signed = documents("hard")
    begin = time.monotonic()
    status, answer = signed.submit()
    assert (status, answer["details"][0]["debug"]["reason"]) == (503, "ONLINE_CHECK_UNAVAILABLE")
    assert 4 < time.monotonic() - begin < 50


def test_an_invalid_document_is_rejected_without_an_online_check(documents, authority):
    signed = documents("hard")
    status, answer = signed.inspect(signed.forger.with_foreign_root())
    assert (status, answer["reason"], authority.requests) == (200, "UNTRUSTED_ROOT", 0)


def test_policy_soft_does_not_wait_and_uses_the_response_when_it_arrives(documents, authority):
    signed = documents("soft")
    status, answer = signed.submit()
    assert status == 200
    deadline = time.monotonic() + 10
    while not answer.get("certificatesCheckedAt"):  # checked in the background
        assert time.monotonic() < deadline
        status, answer = signed.submit()
        assert status == 200
    assert age(answer) < 60
    assert authority.requests == 1


def test_policy_soft_accepts_without_a_response(documents, authority):
    authority.verdict = None
    status, answer = documents("soft").submit()
    assert status == 200
    assert not answer.get("certificatesCheckedAt")


class OpenSSLResponder:
    """The `openssl ocsp` command as a web server for one certificate."""

    def __init__(self, folder, address, authority, revoked):
        serial = f"{authority.certificate.serial_number:x}".upper()
        checked_at = "260102030405Z" if revoked else ""
        line = ("R" if revoked else "V", "360101000000Z", checked_at, serial, "unknown", "/CN=Leaf")
        (folder / "index").write_text("\t".join(line) + "\n")
        (folder / "ca.pem").write_bytes(authority.issuer.public_bytes(serialization.Encoding.PEM))
        (folder / "ca.key").write_bytes(authority.issuer_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        port = address.rpartition(":")[2].split("/")[0]
        self.process = subprocess.Popen(
            ["openssl", "ocsp", "-port", port, "-index", "index", "-CA", "ca.pem", "-rsigner", "ca.pem",
             "-rkey", "ca.key", "-nmin", "60"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        for line in self.process.stdout:
            if "waiting for OCSP client" in line:
                return
        raise AssertionError("openssl ocsp did not start")

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.mark.parametrize("revoked", [False, True], ids=["good", "revoked"])
def test_responses_of_openssl_are_accepted(documents, authority, tmp_path, revoked):
    signed = documents("hard")
    authority.close()  # frees its port for the command
    responder = OpenSSLResponder(tmp_path, authority.address, authority, revoked)
    try:
        status, answer = signed.submit()
    finally:
        responder.stop()
    if revoked:
        assert (status, answer["details"][0]["debug"]["reason"]) == (403, "REVOKED_CERTIFICATE")
    else:
        assert status == 200
        assert age(answer) < 60
    # The response is cached for its validity: the responder is not running any more.
    assert signed.submit()[0] == status


def notification(signed):
    """A notification signed by the authority's leaf, with a transaction signed by the same."""
    payload = {
        "notificationType": "SUBSCRIBED", "subtype": "INITIAL_BUY", "notificationUUID": str(uuid.uuid4()),
        "version": "2.0", "signedDate": int(time.time() * 1000),
        "data": {"bundleId": "com.example.oceanjournal", "environment": "Sandbox",
                 "signedTransactionInfo": signed.transaction()},
    }  # fmt: skip
    return {"signedPayload": sign(payload, signed.chain, signed.key)}


def deliver(signed, body):
    status, answer = post(f"http://{signed.service.http}/notifications/ocean-journal", body)
    return status, answer["reason"]


def test_policy_hard_makes_notifications_wait_for_the_authority(documents, authority):
    authority.verdict = None
    signed = documents("hard")
    body = notification(signed)
    # The notification is not stored, so Apple repeats it. Meanwhile the writer serves other requests.
    assert deliver(signed, body) == (503, "ONLINE_CHECK_UNAVAILABLE")
    listed = signed.service.json("entitled.v1.NotificationService/ListNotifications", {"app": "ocean-journal"})
    assert listed[1]["notifications"] == []


def test_a_notification_is_ingested_with_the_authoritys_response(documents, authority):
    signed = documents("hard")
    assert deliver(signed, notification(signed)) == (200, "APPLIED")
    assert authority.requests == 1, "one check for the notification and its nested documents"


def test_a_notification_of_a_revoked_certificate_is_stored_as_rejected(documents, authority):
    authority.verdict = ocsp.OCSPCertStatus.REVOKED
    signed = documents("hard")
    assert deliver(signed, notification(signed)) == (202, "REVOKED_CERTIFICATE")
    listed = signed.service.json("entitled.v1.NotificationService/ListNotifications", {"app": "ocean-journal"})
    (stored,) = listed[1]["notifications"]
    assert (stored["state"], stored["reason"]) == ("NOTIFICATION_STATE_REJECTED", "REVOKED_CERTIFICATE")


def test_policy_soft_ingests_a_notification_without_a_response(documents, authority):
    authority.verdict = None
    signed = documents("soft")
    assert deliver(signed, notification(signed)) == (200, "APPLIED")


def test_an_online_check_does_not_block_other_writes(documents, authority):
    authority.delay = 60
    signed = documents("hard")
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        asking = threads.submit(deliver, signed, notification(signed))
        wait_for(lambda: authority.requests == 1)
        status, answer = signed.service.json(
            "entitled.v1.AppStoreService/SetConsumptionConsent",
            {"app": "ocean-journal", "customerId": "ben", "consented": True})
        assert status == 200, answer
        assert not asking.done()
        authority.closing.set()
        assert asking.result() == (200, "APPLIED")
