"""Receipt verification policies: by signature, by Apple's `verifyReceipt`, or by both, which must agree."""

import base64
import hashlib
import json

import pytest

from contract import StatusCode
from harness import Service, post
from stub import StubServer
from test_metrics import value
from test_migration_job import migrate, write
from test_migration_receipt import Store

SECRET = "a secret that Apple knows too"
CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 4711
    environments: [{environments}]
    shared_secret: {{file: secret}}
    receipts:
      verify: {policy}
      endpoints: {{Production: "{production}", Sandbox: "{sandbox}"}}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 5, currency: USD}}
"""


class Endpoint:
    """Apple's `verifyReceipt` on one of its two hosts: the test's responses, or the sandbox's."""

    def __init__(self):
        self.requests, self.status, self.http_status, self.sandbox = [], None, 200, None
        self._server = StubServer(self.respond)
        self.url = f"{self._server.url}/verifyReceipt"

    def respond(self, request):
        return self.http_status, self.answer(json.loads(request.body))

    def answer(self, request):
        self.requests.append(request)
        if isinstance(self.status, dict):
            return self.status
        if self.status is not None:
            return {"status": self.status}
        return post(f"http://{self.sandbox}/verifyReceipt", request)[1]

    def close(self):
        self._server.close()


class PolicyService:
    """A service with a receipt policy, and the two hosts that it calls."""

    def __init__(self, folder, policy, environments="Sandbox"):
        self.production, self.sandbox = Endpoint(), Endpoint()
        (folder / "secret").write_text(SECRET)
        (folder / "secret").chmod(0o600)
        (folder / "entitled.yaml").write_text(
            CONFIGURATION.format(
                policy=policy, environments=environments, production=self.production.url, sandbox=self.sandbox.url))
        self.store = Store(Service(folder / "data", ["--config", folder / "entitled.yaml"]))
        self.sandbox.sandbox = self.store.service.sandbox

    def bought(self, account):
        """The receipt of an account with a subscription."""
        self.store.buy(account)
        return self.store.receipt(account)

    def close(self):
        self.store.channel.close()
        self.store.service.stop()
        assert SECRET not in self.store.service.log
        self.production.close()
        self.sandbox.close()


@pytest.fixture
def start(tmp_path):
    started = []

    def start(policy, **more):
        started.append(PolicyService(tmp_path, policy, **more))
        return started[-1]

    yield start
    for made in started:
        made.close()


def forged(receipt):
    document = base64.b64decode(receipt)
    return base64.b64encode(document[:-1] + bytes([document[-1] ^ 1])).decode()


def test_policy_endpoint_relies_on_verify_receipt_alone(start):
    here = start("endpoint")
    receipt = here.bought("ann")
    answer = here.store.submit("ann", receipt)
    assert not answer.refresh_pending and here.store.check("ann").entitled
    (request,) = here.sandbox.requests
    assert request["receipt-data"] == receipt and request["password"] == SECRET
    # It overrides the signature in both directions.
    real = post(f"http://{here.store.service.sandbox}/verifyReceipt", {"receipt-data": here.bought("ben")})[1]
    here.sandbox.status = real
    assert here.store.submit("ben", forged(here.store.receipt("ben"))).original_transaction_ids
    here.sandbox.status = 21003
    assert here.store.rejection("cid", here.bought("cid")) == (StatusCode.PERMISSION_DENIED, "VERIFY_RECEIPT_21003")
    assert not here.store.check("cid").entitled
    assert not here.production.requests
    # A response about another app's receipt does not count.
    here.sandbox.status = real | {"receipt": real["receipt"] | {"bundle_id": "com.example.other"}}
    assert here.store.rejection("dan", here.bought("dan"))[1] == "WRONG_BUNDLE"


def test_policy_both_requires_agreement(start, tmp_path):
    here = start("both")
    good, disputed, bad = here.bought("ann"), here.bought("ben"), here.bought("cid")
    assert not here.store.submit("ann", good).refresh_pending
    assert here.store.check("ann").entitled and len(here.sandbox.requests) == 1
    disagree = (StatusCode.PERMISSION_DENIED, "VERIFICATION_MISMATCH")
    here.sandbox.status = 21003
    assert here.store.rejection("ben", disputed) == disagree
    here.sandbox.status = post(f"http://{here.store.service.sandbox}/verifyReceipt", {"receipt-data": bad})[1]
    assert here.store.rejection("cid", forged(bad)) == disagree
    assert not here.store.check("ben").entitled and not here.store.check("cid").entitled
    assert value(here.store.service, "entitled_receipt_verification_mismatches_total") == 2
    # If both reject, the reason is that of the signature, which is more specific.
    here.sandbox.status = 21003
    assert here.store.rejection("cid", forged(bad))[1] == "BAD_SIGNATURE"
    # The same in a job.
    path = write(tmp_path / "in.ndjson", [{"customer_id": "ben", "receipt": disputed}])
    status, report = migrate(here.store.service, "--input", path)
    assert (status, [r["reason"] for r in report["reasons"]]) == (3, ["VERIFICATION_MISMATCH"])
    assert value(here.store.service, "entitled_migrated_receipts_total", reason="VERIFICATION_MISMATCH") == 1


@pytest.mark.parametrize("policy", ["endpoint", "both"])
def test_while_verify_receipt_is_down_receipts_are_neither_accepted_nor_rejected(start, policy):
    here = start(policy)
    receipt = here.bought("ann")
    here.sandbox.http_status = 503
    assert here.store.rejection("ann", receipt) == (StatusCode.UNAVAILABLE, "VERIFY_RECEIPT_UNAVAILABLE")
    assert not here.store.check("ann").entitled and not here.store.service.evidence("ann")
    here.sandbox.http_status = 200
    assert not here.store.submit("ann", receipt).refresh_pending
    assert here.store.check("ann").entitled


@pytest.mark.parametrize(
    "status, code, reason",
    [
        (21002, StatusCode.UNAVAILABLE, "VERIFY_RECEIPT_21002"),
        (21004, StatusCode.UNAVAILABLE, "VERIFY_RECEIPT_21004"),
        (21005, StatusCode.UNAVAILABLE, "VERIFY_RECEIPT_21005"),
        (21009, StatusCode.UNAVAILABLE, "VERIFY_RECEIPT_21009"),
        (21010, StatusCode.PERMISSION_DENIED, "VERIFY_RECEIPT_21010"),
        ({"status": 21123, "is_retryable": True}, StatusCode.UNAVAILABLE, "VERIFY_RECEIPT_21123"),
    ],
)
def test_transient_statuses_are_retried_and_permanent_ones_rejected(start, status, code, reason):
    here = start("endpoint")
    here.sandbox.status = status
    assert here.store.rejection("ann", here.bought("ann")) == (code, reason)
    assert (len(here.sandbox.requests) > 1) == (code == StatusCode.UNAVAILABLE and status != 21004)


def test_production_is_called_first_and_the_sandbox_after_21007(start):
    here = start("endpoint", environments="Production, Sandbox")
    here.production.status = 21007
    answer = here.store.submit("ann", here.bought("ann"))
    assert (len(here.production.requests), len(here.sandbox.requests)) == (1, 1)
    assert answer.environment == 2 and answer.original_transaction_ids
    # A receipt accepted by production is a production receipt.
    real = here.sandbox.answer({"receipt-data": here.bought("ben"), "password": SECRET})
    here.sandbox.requests.clear()
    here.production.status = real | {"environment": "Production"}
    answer = here.store.submit("ben", here.store.receipt("ben"))
    assert answer.environment == 1 and not here.sandbox.requests


def test_a_production_receipt_is_rejected_for_a_sandbox_only_app(start):
    here = start("endpoint")
    receipt = here.bought("ann")
    real = here.sandbox.answer({"receipt-data": receipt, "password": SECRET})
    here.sandbox.status, here.production.status = 21008, real | {"environment": "Production"}
    assert here.store.rejection("ann", receipt) == (StatusCode.PERMISSION_DENIED, "WRONG_ENVIRONMENT")
    assert len(here.production.requests) == 1 and not here.store.check("ann").entitled


def test_the_receipt_is_stored_if_retention_is_configured(start):
    # test_migration_receipt.py covers the default: not stored.
    here = start("local\n      retain: true")
    receipt = here.bought("ann")
    here.store.submit("ann", receipt)
    stored = {kind: (hashed, whole) for kind, _, hashed, whole in here.store.service.evidence("ann")}
    assert stored["RECEIPT_STATEMENT"]
    assert stored["APP_RECEIPT"] == (hashlib.sha256(base64.b64decode(receipt)).digest(), 1)
    assert not here.sandbox.requests and not here.production.requests
