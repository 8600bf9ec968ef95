"""The sandbox's certificates name an OCSP responder, which the sandbox provides."""

import base64
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID

from forge import chain_of
from harness import post
from test_online_checks import CONFIGURATION, age


@pytest.fixture
def store(start, tmp_path):
    """A service with an embedded sandbox, and a policy for online checks."""

    def begin(policy="off"):
        file = tmp_path / "entitled.yaml"
        file.write_text(CONFIGURATION.format(policy=policy))
        return start(arguments=["--config", file])

    return begin


def fault(service, kind, **members):
    status, answer = post(
        f"http://{service.sandbox}/sandbox/v1/faults", {"kind": kind, "count": 100, **members})
    assert status == 200, answer


def bought(service):
    """A signed transaction, and its certificates."""
    signed = service.buy("pro.monthly")["signedTransactionInfo"]
    return signed, chain_of(signed)


def responder(certificate):
    access = certificate.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
    [location] = [entry for entry in access if entry.access_method == AuthorityInformationAccessOID.OCSP]
    return location.access_location.value


def ocsp_request(certificate, issuer):
    request = ocsp.OCSPRequestBuilder().add_certificate(certificate, issuer, hashes.SHA256()).build()
    return request.public_bytes(serialization.Encoding.DER)


def ocsp_response(certificate, issuer):
    """The response of the responder that the certificate names."""
    request = urllib.request.Request(
        responder(certificate), ocsp_request(certificate, issuer), {"content-type": "application/ocsp-request"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["content-type"] == "application/ocsp-response"
        return ocsp.load_der_ocsp_response(answer.read())


def submit(service, signed):
    return service.json(
        "entitled.v1.ReceiptService/SubmitTransaction",
        {"app": "ocean-journal", "customerId": "alice", "signedTransaction": signed})


def openssl(folder, chain, certificate, issuer):
    """The output of `openssl ocsp` for the response, with the root as its only trust anchor."""
    for name, one in zip(["leaf", "intermediate", "root"], chain):
        (folder / f"{name}.pem").write_bytes(one.public_bytes(serialization.Encoding.PEM))
    return subprocess.run(
        ["openssl", "ocsp", "-issuer", f"{issuer}.pem", "-cert", f"{certificate}.pem",
         "-url", responder(chain[0]), "-CAfile", "root.pem"],
        cwd=folder, capture_output=True, text=True, timeout=10)  # fmt: skip


def test_openssl_accepts_the_response(store, tmp_path):
    service = store()
    _, chain = bought(service)
    for certificate, issuer in [("leaf", "intermediate"), ("intermediate", "root")]:
        answer = openssl(tmp_path, chain, certificate, issuer)
        assert f"{certificate}.pem: good" in answer.stdout, answer
        assert "Response verify OK" in answer.stderr
    fault(service, "ocsp-revoked")
    assert "leaf.pem: revoked" in openssl(tmp_path, chain, "leaf", "intermediate").stdout
    post(f"http://{service.sandbox}/sandbox/v1/faults", {"kind": "ocsp-revoked", "count": 0})
    fault(service, "ocsp-unknown")
    assert "leaf.pem: unknown" in openssl(tmp_path, chain, "leaf", "intermediate").stdout


def test_the_responder_supports_get_and_rejects_foreign_certificates(store):
    leaf, intermediate, root = bought(store())[1]
    der = base64.b64encode(ocsp_request(leaf, intermediate)).decode()
    url = f"{responder(leaf)}/{urllib.parse.quote(der, safe='')}"
    with urllib.request.urlopen(url, timeout=10) as answer:
        response = ocsp.load_der_ocsp_response(answer.read())
    assert response.certificate_status == ocsp.OCSPCertStatus.GOOD
    assert response.next_update_utc - response.this_update_utc == __import__("datetime").timedelta(hours=12)
    for body, status in [(b"", "MALFORMED_REQUEST"), (b"no DER", "MALFORMED_REQUEST"),
                         (ocsp_request(leaf, root), "UNAUTHORIZED")]:  # fmt: skip
        with urllib.request.urlopen(urllib.request.Request(responder(leaf), body), timeout=10) as answer:
            assert ocsp.load_der_ocsp_response(answer.read()).response_status.name == status
    assert ocsp_response(intermediate, root).certificate_status == ocsp.OCSPCertStatus.GOOD


def test_online_checks_call_the_responder(store):
    service = store("hard")
    status, answer = submit(service, bought(service)[0])
    assert status == 200, answer
    assert 0 <= age(answer) < 60
    # The response is valid for hours, even if the responder fails later.
    fault(service, "ocsp-down")
    assert submit(service, bought(service)[0])[0] == 200


@pytest.mark.parametrize("kind, policy, status, reason", [
    ("ocsp-down", "hard", 503, "ONLINE_CHECK_UNAVAILABLE"),
    ("ocsp-down", "soft", 200, None),
    ("ocsp-unknown", "hard", 503, "ONLINE_CHECK_UNAVAILABLE"),
    ("ocsp-revoked", "hard", 403, "REVOKED_CERTIFICATE"),
])  # fmt: skip
def test_a_service_handles_responder_faults(store, kind, policy, status, reason):
    service = store(policy)
    fault(service, kind)
    seen, answer = submit(service, bought(service)[0])
    assert seen == status, answer
    if reason:
        assert answer["details"][0]["debug"]["reason"] == reason
        assert all(rejection for _, rejection, *_ in service.evidence("alice")), "nothing is stored as accepted"


def test_the_responder_can_be_slow_or_down(store):
    service = store()
    leaf, intermediate, _ = bought(service)[1]
    fault(service, "ocsp-slow", by="300ms")
    began = time.monotonic()
    assert ocsp_response(leaf, intermediate).certificate_status == ocsp.OCSPCertStatus.GOOD
    assert time.monotonic() - began >= 0.3
    fault(service, "ocsp-down")
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        ocsp_response(leaf, intermediate)


def test_certificates_for_another_address_name_it_and_have_the_same_root(store):
    service = store()
    signed, chain = bought(service)
    assert submit(service, signed)[0] == 200
    service.stop()
    again = store()
    _, new = bought(again)
    assert responder(new[0]) == responder(new[1]) == f"http://{again.sandbox}/ocsp"
    assert (new[0] == chain[0]) == (again.sandbox == service.sandbox)
    assert new[2] == chain[2]
    assert submit(again, signed)[0] == 200, "documents signed before are still accepted"
