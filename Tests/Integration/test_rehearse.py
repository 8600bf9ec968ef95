"""`entitled rehearse`: rotations of Apple's certificates and keys, and documents of later versions, against backends."""

import contextlib
import http.server
import json
import signal
import socket
import sys
import threading
import urllib.request

import pytest
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from cryptography.hazmat.primitives import serialization

from certificates import write_key
from forge import chain_of, payload_of
from harness import CALL_LIMIT, ROOT, START_LIMIT, post, wait_for

sys.path.insert(0, str(ROOT / "conformance" / "adapters"))

import apple_python  # noqa: E402

BUNDLE = "com.example.oceanjournal"
STAGES = ["unchanged", "leaf", "intermediate", "root", "revoked-leaf", "revoked-intermediate", "fields", "types"]
CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    online_checks: {policy}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
{key}"""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service that checks certificates online, with the sandbox as its App Store."""
    from harness import Service

    folder = tmp_path_factory.mktemp("rehearse")
    (folder / "entitled.yaml").write_text(CONFIGURATION.format(policy="hard", key=""))
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    yield service
    service.stop()


def rehearse(service, *arguments):
    """The exit status and the results of a rehearsal."""
    done = service.command("rehearse", *arguments, "--json", timeout=4 * START_LIMIT)
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, json.loads(done.stdout)


def numbers(results, name):
    return {stage["stage"]: stage[name] for stage in results["stages"]}


def roots(service):
    with urllib.request.urlopen(f"http://{service.sandbox}/sandbox/v1/roots", timeout=CALL_LIMIT) as answer:
        text = answer.read().decode()
    return ["".join(part) for part in text.replace("-----END CERTIFICATE-----\n", "-----END CERTIFICATE-----\n\0").split("\0") if part]


def test_the_service_refuses_no_genuine_document_and_no_other_is_accepted(service):
    status, results = rehearse(service, "--strict")
    assert results["findings"] == [] and (status, results["passed"]) == (0, True)
    assert [stage["stage"] for stage in results["stages"]] == STAGES
    assert set(numbers(results, "skipped").values()) == {0}
    # Five kinds and the fetched transaction, and from the second stage on the documents of the stage before.
    assert list(numbers(results, "genuine").values()) == [6] + [11] * 7
    assert set(numbers(results, "forged").values()) == {8}
    assert {name: count for name, count in numbers(results, "revoked").items() if count} == {
        "revoked-leaf": 5, "revoked-intermediate": 5}


def test_the_notifications_endpoint_refuses_no_genuine_notification(service):
    status, results = rehearse(
        service, "--strict", "--notifications", f"http://{service.http}/notifications/ocean-journal")
    assert results["findings"] == [] and status == 0
    assert list(numbers(results, "genuine").values()) == [1] + [2] * 7
    assert set(numbers(results, "forged").values()) == {4} and numbers(results, "revoked")["revoked-leaf"] == 1


def test_without_online_checks_documents_of_revoked_certificates_are_reported(start, tmp_path):
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION.format(policy="off", key=""))
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    stages = ("--stage", "unchanged", "--stage", "revoked-leaf")
    status, results = rehearse(service, *stages)
    assert status == 0 and results["passed"] and numbers(results, "revokedAccepted") == {"unchanged": 0, "revoked-leaf": 5}
    assert {(finding["origin"], finding["outcome"]) for finding in results["findings"]} == {("revoked", "accepted")}
    assert rehearse(service, *stages, "--strict")[0] == 3
    table = service.command("rehearse", *stages, timeout=4 * START_LIMIT)
    assert table.returncode == 0 and "ACCEPTED  revoked  revoked-leaf/transaction of a revoked certificate" in table.stdout
    assert table.stdout.splitlines()[0].split() == [
        "stage", "genuine", "refused", "forged", "accepted", "revoked", "accepted", "skipped"]


class Keys:
    """An HTTP server that does what a person does before the stage `api-key`: a new key, at Apple and in the service."""

    def __init__(self, folder):
        self.folder = folder
        self.service = None
        self.prepared = []
        keys = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                keys.prepare(self.path[1:])
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                """Logs nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def write(self, key_id):
        """Makes a key and configures it; returns the public key."""
        key = serialization.load_pem_private_key(write_key(self.folder / f"{key_id}.p8"), None)
        text = f"    in_app_purchase_key: {{file: {key_id}.p8, key_id: {key_id}, issuer_id: 57246542-96fe-1a63-e053-0824d011072a}}\n"
        (self.folder / "entitled.yaml").write_text(CONFIGURATION.format(policy="off", key=text))
        return key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()

    def register(self, key_id, public_key):
        status, answer = post(
            f"http://{self.service.sandbox}/sandbox/v1/keys", {"keyId": key_id, "publicKey": public_key})
        assert status == 200, answer

    def prepare(self, stage):
        self.prepared.append(stage)
        if stage != "api-key":
            return
        self.register("NEWKEY0001", self.write("NEWKEY0001"))
        self.service.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "in-app purchase keys and shared secrets reloaded" in self.service.log)


def test_a_service_with_a_new_api_key_survives_the_end_of_the_old_one(start, tmp_path):
    keys = Keys(tmp_path)
    public_key = keys.write("OLDKEY0001")
    keys.service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    keys.register("OLDKEY0001", public_key)
    stages = ("--stage", "unchanged", "--stage", "api-key", "--api-key", "OLDKEY0001")
    before = f"curl -sf http://127.0.0.1:{keys.server.server_port}/$ENTITLED_STAGE"
    status, results = rehearse(keys.service, *stages, "--before", before)
    assert status == 0 and results["findings"] == [] and keys.prepared == ["unchanged", "api-key"]
    # Without a new key the service can no longer fetch.
    status, results = rehearse(keys.service, *stages[2:4], "--api-key", "NEWKEY0001")
    [finding] = results["findings"]
    assert status == 3 and finding["document"] == "transaction that the backend fetches"
    assert finding["reason"] == "APP_STORE_KEY_REJECTED"
    keys.server.shutdown()


class Verifies(apple_python.Backend):
    """Verifies with Apple's library under both roots of the sandbox."""

    def __init__(self, trusted):
        super().__init__()
        certificates = [chain_bytes(pem) for pem in trusted]
        verifier = SignedDataVerifier(certificates, False, Environment.SANDBOX, BUNDLE, None)
        self._verifiers = {"Sandbox": verifier}


def chain_bytes(pem):
    from cryptography import x509

    return x509.load_pem_x509_certificate(pem.encode()).public_bytes(serialization.Encoding.DER)


class PinsTheLeaf(Verifies):
    """Accepts only documents of the leaf that it saw first."""

    def __init__(self, trusted):
        super().__init__(trusted)
        self.leaf = None

    def verify(self, kind, document, environment):
        answer = super().verify(kind, document, environment)
        jws = json.loads(document)["signedPayload"] if kind == "notification" else document
        leaf = chain_of(jws)[0]
        self.leaf = self.leaf or leaf
        if leaf != self.leaf:
            raise ValueError("another leaf")
        return answer


class RejectsUnknownMembers(Verifies):
    """Accepts only the members that documents of each kind had in the first version."""

    def __init__(self, trusted):
        super().__init__(trusted)
        self.members = {}

    def verify(self, kind, document, environment):
        payload, parts = super().verify(kind, document, environment)
        if not set(payload) <= self.members.setdefault(kind, set(payload)):
            raise ValueError("unknown member")
        return payload, parts


class KnowsTheTypes(Verifies):
    """Refuses types that it does not know."""

    def verify(self, kind, document, environment):
        payload, parts = super().verify(kind, document, environment)
        if payload.get("notificationType", "TEST") not in ("TEST", "SUBSCRIBED"):
            raise ValueError("unknown type")
        return payload, parts


class SkipsTheSignature(Verifies):
    """Decodes without verification."""

    def verify(self, kind, document, environment):
        return payload_of(json.loads(document)["signedPayload"] if kind == "notification" else document), {}


@contextlib.contextmanager
def adapter(backend):
    server = apple_python.serve(backend)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def refused(results):
    return {finding["stage"] for finding in results["findings"] if finding["origin"] == "genuine"}


@pytest.mark.parametrize("backend, stages", [
    (Verifies, set()),
    (PinsTheLeaf, set(STAGES) - {"unchanged"}),
    (RejectsUnknownMembers, {"fields", "types"}),
    (KnowsTheTypes, {"types"}),
], ids=lambda value: value.__name__ if isinstance(value, type) else "")  # fmt: skip
def test_a_backend_that_cannot_survive_a_change_is_caught_by_stage(service, backend, stages):
    with adapter(backend(roots(service))) as url:
        status, results = rehearse(service, url)
    assert refused(results) == stages and status == (3 if stages else 0)
    assert sum(numbers(results, "forgedAccepted").values()) == 0
    # Apple's library has no receipts, and this adapter fetches nothing.
    assert set(numbers(results, "skipped").values()) >= {2}


def test_a_backend_that_trusts_one_root_refuses_the_other(service):
    trusted = roots(service)
    with adapter(Verifies(trusted[:1])) as url:
        status, results = rehearse(service, url, "--stage", "root", "--stage", "root")
    assert status == 3 and len({finding["document"] for finding in results["findings"]
                                if finding["outcome"] == "refused"}) >= 4  # fmt: skip


def test_a_backend_that_verifies_nothing_accepts_forged_documents(service):
    with adapter(SkipsTheSignature(roots(service))) as url:
        status, results = rehearse(service, url, "--stage", "unchanged")
        assert status == 0 and numbers(results, "forgedAccepted") == {"unchanged": 8}
        assert rehearse(service, url, "--stage", "unchanged", "--strict")[0] == 3


def test_after_a_rehearsal_documents_are_as_before(service):
    rehearse(service, "--stage", "types")
    assert payload_of(service.buy("pro.monthly")["signedTransactionInfo"])["type"] == "Auto-Renewable Subscription"


@pytest.mark.parametrize("arguments, status, problem", [
    (["--stage", "stem"], 64, "unknown stage 'stem'"),
    (["--stage", "api-key"], 64, "needs --api-key"),
    (["ftp://x"], 64, "must start with http"),
    (["http://127.0.0.1:1", "--notifications", "http://127.0.0.1:1"], 64, "exclude each other"),
    (["--before", "exit 7", "--stage", "leaf"], 1, "exit status 7"),
    (["--app", "other"], 1, "sells no product of the app 'other'"),
])  # fmt: skip
def test_wrong_options_are_errors(service, arguments, status, problem):
    done = service.command("rehearse", *arguments)
    assert done.returncode == status and problem in done.stderr and done.stdout == ""


@pytest.mark.parametrize("option", [[], ["--notifications"]])
def test_an_unreachable_backend_ends_the_rehearsal_with_one_error(service, option):
    with socket.socket() as closed:
        # Bound without listening, so that connections are refused.
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        done = service.command("rehearse", *option, url)
    assert (done.returncode, done.stdout) == (3, "")
    assert "the rehearsal ended at unchanged/" in done.stderr and "cannot reach " in done.stderr and url in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_person_rotates_certificates_by_command(service):
    before = json.loads(service.command("sandbox", "certificates", "--json").stdout)
    done = service.command("sandbox", "rotate", "leaf", "--revoke", "--json")
    after = json.loads(done.stdout)
    assert done.returncode == 0 and after["chain"][0] != before["chain"][0] and after["chain"][1:] == before["chain"][1:]
    assert before["chain"][0]["serialNumber"] in [entry["serialNumber"] for entry in after["revoked"]]
    lines = service.command("sandbox", "certificates").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines[:3]] == ["leaf", "intermediate", "root"] and lines[3].endswith("revoked")
    refused = service.command("sandbox", "rotate", "root", "--revoke")
    assert refused.returncode == 1 and "no OCSP responder" in refused.stderr
    assert service.command("sandbox", "rotate", "stem").returncode == 64
