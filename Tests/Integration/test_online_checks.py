"""Certificates asked about at their authority, which is a web server of the test's own."""

import datetime
import http.server
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID

from forge import ASN1_NULL, LEAF_MARKER, Forger, name

CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    online_checks: {policy}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M}}
"""


class Authority:
    """Answers OCSP requests about one certificate, as it is told to."""

    def __init__(self):
        self.verdict = ocsp.OCSPCertStatus.GOOD
        self.asked = 0
        self.certificate = self.issuer = self.issuer_key = None
        authority = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                answer = authority.answer(ocsp.load_der_ocsp_request(body))
                self.send_response(200 if answer else 503)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments):
                """Says nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/ocsp"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        assert request.serial_number == self.certificate.serial_number
        self.asked += 1
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
    authority.server.shutdown()
    authority.server.server_close()


@pytest.fixture
def submit(start, tmp_path, authority):
    """Starts a service with a policy; submits a document of a leaf that names the authority."""

    def begin(policy):
        file = tmp_path / "entitled.yaml"
        file.write_text(CONFIGURATION.format(policy=policy))
        service = start(arguments=["--config", file])
        forger = Forger(service)
        key = ec.generate_private_key(ec.SECP256R1())
        document = forger.transaction([authority.issue(forger, key), *forger.chain[1:]], key)
        request = {"app": "ocean-journal", "customerId": "alice", "signedTransaction": document}
        return lambda: service.json("entitled.v1.ReceiptService/SubmitTransaction", request)

    return begin


def test_off_asks_nobody(submit, authority):
    assert submit("off")()[0] == 200
    assert authority.asked == 0


def test_hard_asks_once_and_accepts(submit, authority):
    send = submit("hard")
    assert [send()[0] for _ in range(3)] == [200, 200, 200]
    assert authority.asked == 1


def test_hard_refuses_a_revoked_certificate(submit, authority):
    authority.verdict = ocsp.OCSPCertStatus.REVOKED
    status, answer = submit("hard")()
    assert status == 403
    assert answer["details"][0]["reason"] == "REVOKED_CERTIFICATE"


def test_hard_without_an_answer_is_unavailable_and_says_when_to_try_again(submit, authority):
    authority.verdict = None
    status, answer = submit("hard")()
    assert status == 503
    assert answer["details"][0]["reason"] == "ONLINE_CHECK_UNAVAILABLE"
    assert answer["details"][1]["retryDelay"] == "10s"


def test_soft_accepts_without_an_answer(submit, authority):
    authority.verdict = None
    assert submit("soft")()[0] == 200
