"""The conformance kit: its files, the service itself, Apple's library, and broken backends that it must catch."""

import base64
import contextlib
import functools
import json
import math
import re
import sys
import threading
import xml.etree.ElementTree

import jsonschema
import pytest
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException, VerificationStatus
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from harness import ROOT, START_LIMIT, Service, run

KIT = ROOT / "conformance"
sys.path.insert(0, str(KIT / "adapters"))

import apple_python  # noqa: E402

SCHEMA = json.loads((KIT / "schema.json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def adapter(backend):
    """The URL of an adapter over `backend`."""
    server = apple_python.serve(backend)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def play(backend, *arguments):
    """The exit status and the results in JSON of a run against `backend`."""
    with adapter(backend) as url:
        done = run("conformance", url, "--json", *arguments, timeout=4 * START_LIMIT)
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, json.loads(done.stdout)


def failed(results, level="required"):
    return {f"{f['group']}/{f['name']}" for f in results["failures"] if f["level"] == level}


def test_the_files_of_the_kit_follow_their_schema():
    validator = jsonschema.Draft202012Validator(SCHEMA)
    files = [KIT / "kit.json", *KIT.glob("verification/*.json"), *KIT.glob("lifecycles/*.json")]
    for file in files:
        assert validator.is_valid(json.loads(file.read_text(encoding="utf-8"))), file.name


def test_the_readme_lists_every_reason_and_status():
    text = (KIT / "README.md").read_text(encoding="utf-8")
    for word in SCHEMA["$defs"]["reason"]["enum"] + SCHEMA["$defs"]["status"]["enum"]:
        assert f"`{word}`" in text, word


@pytest.fixture(scope="module")
def kit_service(tmp_path_factory):
    """A service with the configuration of the kit."""
    service = Service(tmp_path_factory.mktemp("kit") / "data", ["--config", KIT / "entitled.yaml"])
    yield service
    service.stop()


GROUPS = {
    "transactions", "renewal-infos", "app-transactions", "notifications", "receipts", "lifecycles", "lifecycles-in-any-order",
}  # fmt: skip


def test_the_service_passes_every_vector_with_its_reason(kit_service):
    """In one run, because each one reads the whole kit."""
    done = kit_service.command("conformance", "--strict", "--json", timeout=12 * START_LIMIT)
    results = json.loads(done.stdout)
    assert results["failures"] == [] and done.returncode == 0
    assert {group["group"] for group in results["groups"]} == GROUPS
    assert all(group["passed"] and not group["skipped"] for group in results["groups"])


def test_a_service_without_the_apps_of_the_kit_is_an_error(service):
    done = service.command("conformance")
    assert done.returncode == 1 and "entitled.yaml" in done.stderr


def test_apples_library_passes_every_required_vector_as_the_readme_shows(tmp_path):
    text = (KIT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"^\$ entitled conformance http\S+\n(.*?)```", text, re.MULTILINE | re.DOTALL)[1]
    table, warning = shown.split("...\n")
    with adapter(apple_python.Backend()) as url:
        done = run("conformance", url, "--junit", tmp_path / "results.xml", timeout=4 * START_LIMIT)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith(table) and warning in done.stdout, done.stdout
    suites = xml.etree.ElementTree.parse(tmp_path / "results.xml").getroot()
    assert {suite.get("name") for suite in suites} == GROUPS
    assert suites.get("failures") == "0" and not suites.findall(".//failure")


class TrustsAnyRoot(apple_python.Backend):
    """Takes the root from the document."""

    def verify(self, kind, document, environment):
        text = json.loads(document)["signedPayload"] if kind == "notification" else document
        header = text.split(".")[0]
        chain = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["x5c"]
        self._verifiers[environment] = SignedDataVerifier(
            [base64.b64decode(chain[2])], False, Environment(environment), apple_python.KIT["app"]["bundleId"],
            apple_python.KIT["app"]["appAppleId"])  # fmt: skip
        return super().verify(kind, document, environment)


class IgnoresMarkers(apple_python.Backend):
    """Trusts every certificate under the root, whatever it was issued for."""

    def __init__(self):
        super().__init__()
        for verifier in self._verifiers.values():
            verifier._chain_verifier.check_oid = lambda *_: None


class IgnoresTheEnvironment(apple_python.Backend):
    """Accepts purchases in Apple's sandbox for Production, and the reverse."""

    def verify(self, kind, document, environment):
        for name in ("Sandbox", "Production"):
            with contextlib.suppress(Exception):
                return super().verify(kind, document, name)
        return super().verify(kind, document, environment)


class IgnoresAuthority(apple_python.Backend):
    """Checks signatures, markers and dates of the chain, but not whether a certificate may issue others."""

    def __init__(self):
        super().__init__()
        for verifier in self._verifiers.values():
            checks = verifier._chain_verifier
            checks.verify_chain = functools.partial(self.public_key, checks)

    @staticmethod
    def public_key(checks, certificates, online, instant):
        leaf, intermediate, root = chain = [
            x509.load_der_x509_certificate(base64.b64decode(text, validate=True)) for text in certificates]  # fmt: skip
        leaf.verify_directly_issued_by(intermediate)
        intermediate.verify_directly_issued_by(root)
        checks.check_oid(leaf, "1.2.840.113635.100.6.11.1")
        checks.check_oid(intermediate, "1.2.840.113635.100.6.2.1")
        valid = all(c.not_valid_before_utc.timestamp() <= instant <= c.not_valid_after_utc.timestamp() for c in chain)
        if not valid or root.public_bytes(Encoding.DER) not in apple_python.ROOTS:
            raise VerificationException(VerificationStatus.VERIFICATION_FAILURE)
        return leaf.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


class IgnoresUpgrades(apple_python.Backend):
    """Lets a period grant access to its end, although an upgrade replaced it."""

    def next(self, transaction):
        return math.inf


class KnowsUpgradesByTheirFlag(IgnoresUpgrades):
    """Ends an upgraded period only if a document says `isUpgraded`, which notifications do not have."""

    def end(self, transaction):
        return -math.inf if transaction.get("isUpgraded") else super().end(transaction)


class KnowsThePresentOnly(apple_python.Backend):
    """Answers each question about the past as if it were about its newest document's day."""

    def state(self, customer, entitlement, at):
        newest = max((t["signedDate"] for t in self._transactions.values() if t.get("appAccountToken") == customer), default=at)
        return super().state(customer, entitlement, max(at, newest))


class KeepsTransactionIdsApart(apple_python.Backend):
    """Stores a separate period for each transaction id."""

    def period(self, transaction):
        return transaction["transactionId"]


class LastDeliveryWins(apple_python.Backend):
    """Overwrites what it knows by what arrives."""

    def keep(self, documents, key, new):
        documents[key] = new


class IgnoresRevocations(apple_python.Backend):
    """Goes on after a refund."""

    def end(self, transaction):
        return transaction.get("expiresDate", math.inf)

    def is_revoked(self, transaction):
        return False


class EndsAtExpiresDate(apple_python.Backend):
    """Takes access away in the grace period."""

    def state(self, customer, entitlement, at):
        answer = super().state(customer, entitlement, at)
        return {"entitled": False, "status": "EXPIRED"} if answer["status"] == "GRACE_PERIOD" else answer


@pytest.mark.parametrize(
    "backend, group, level, caught",
    [
        (TrustsAnyRoot, "transactions", "required", {"foreign-root", "foreign-root-of-the-same-name"}),
        (IgnoresMarkers, "transactions", "required",
         {"leaf-without-marker", "intermediate-without-marker", "leaf-with-the-intermediates-marker",
          "intermediate-with-the-leafs-marker"}),
        (IgnoresAuthority, "transactions", "required", {"intermediate-that-is-no-authority"}),
        (IgnoresTheEnvironment, "transactions", "required", {"wrong-environment", "sandbox-in-production"}),
        (IgnoresRevocations, "lifecycles", "required",
         {"refunded", "refund-reversed", "non-consumable-refunded", "family-sharing-ended",
          "old-notification-after-a-refund", "upgrade-refunded", "upgrade-refunded-without-the-upgraded-transaction"}),
        (IgnoresUpgrades, "lifecycles", "required",
         {"upgrade-refunded", "upgrade-refunded-without-the-upgraded-transaction"}),
        (KnowsUpgradesByTheirFlag, "lifecycles", "required", {"upgrade-refunded-without-the-upgraded-transaction"}),
        (KnowsThePresentOnly, "lifecycles", "recommended", {"gap-before-resubscription"}),
        (KeepsTransactionIdsApart, "lifecycles", "recommended", {"one-period-two-transaction-ids"}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)  # fmt: skip
def test_a_broken_backend_is_caught_by_name(backend, group, level, caught):
    status, results = play(backend(), "--only", group, "--strict")
    assert (status, failed(results, level)) == (3, {f"{group}/{name}" for name in caught})


def test_the_order_of_arrival_is_caught_where_it_matters():
    status, results = play(LastDeliveryWins(), "--only", "lifecycles", "--only", "lifecycles-in-any-order")
    found = failed(results)
    assert status == 3 and "lifecycles-in-any-order/refunded (reversed)" in found
    assert {name for name in found if name.startswith("lifecycles/")} == {"lifecycles/old-notification-after-a-refund"}


def test_a_failure_names_the_step_and_both_answers():
    with adapter(EndsAtExpiresDate()) as url:
        done = run("conformance", url, "--only", "lifecycles")
    assert done.returncode == 3
    failures = set(re.findall(r"^FAILED +(\S+)", done.stdout, re.M))
    assert failures == {"lifecycles/grace-period-recovered", "lifecycles/grace-period-over"}
    found = done.stdout[done.stdout.index("FAILED  lifecycles/grace-period-recovered"):]
    assert "after step 2 (DID_FAIL_TO_RENEW GRACE_PERIOD) at 2026-02-05T10:00:00" in found
    assert "entitled, GRACE_PERIOD until 2026-02-20T10:00:00" in found and "got       not entitled, EXPIRED" in found


def test_a_server_that_is_no_adapter_is_an_error(service):
    done = run("conformance", f"http://{service.http}")
    assert done.returncode == 1 and "/reset returned HTTP 404" in done.stderr and done.stdout == ""
    assert run("conformance", "127.0.0.1:1").returncode == 64
    done = run("conformance", "http://127.0.0.1:1")
    assert (done.returncode, done.stderr) == (
        1, "entitled: cannot reach the adapter at http://127.0.0.1:1/reset: Connection refused\n")


def test_the_extracted_kit_is_the_published_one(tmp_path):
    assert run("conformance", "--extract", tmp_path).returncode == 0
    for file in tmp_path.rglob("*.*"):
        if file.is_file():
            assert file.read_bytes() == (KIT / file.relative_to(tmp_path)).read_bytes(), file.name
    assert (tmp_path / "keys" / "root.pem").exists() and (tmp_path / "entitled.yaml").exists()
    with adapter(apple_python.Backend()) as url:
        done = run("conformance", url, "--kit", tmp_path, "--only", "renewal-infos")
    assert done.returncode == 0 and "renewal-infos" in done.stdout
