"""`entitled store export`: the whole store as lines of JSON, from a running service."""

import base64
import collections
import hashlib
import json
import subprocess
import sys
import urllib.request

import pytest

from contract import entitlement_service, entitlement_stub
from harness import CALL_LIMIT, PROGRAM, SANITIZED, Service, environment, post, run
from random_customers import APP, RandomCustomers, catalog, started

CUSTOMERS = ("ben", "cleo", "dan")
FACTS = ("transaction", "renewal", "appTransaction")


def exported(service):
    """The lines of an export by kind; asserts that they are complete and counted at the end."""
    done = run("store", "export", "--data", service.data)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["kind"] == "export" and lines[-1]["kind"] == "end"
    kinds = collections.defaultdict(list)
    for line in lines[1:-1]:
        kinds[line["kind"]].append(line)
    assert {kind: len(found) for kind, found in kinds.items()} == lines[-1]["lines"]
    return kinds


def state_hash(kinds):
    """The known purchases, whatever their owner and source."""
    lines = [json.dumps(line, sort_keys=True) for kind in FACTS for line in kinds[kind]]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def submit(service, document):
    """Submits a document of an export in the same way as its original sender."""
    if document["type"].startswith("NOTIFICATION"):
        status, answer = post(f"http://{service.http}/notifications/{document['app']}", document["body"].encode())
    else:
        member = {
            "SIGNED_TRANSACTION": "signedTransaction", "SIGNED_RENEWAL_INFO": "signedRenewalInfo",
            "SIGNED_APP_TRANSACTION": "signedAppTransaction",
        }[document["type"]]  # fmt: skip
        request = {"app": document["app"], "customerId": document.get("customerId", ""), member: document["body"]}
        status, answer = service.json("entitled.v1.ReceiptService/SubmitTransaction", request)
    assert status == 200, answer


def populated(directory):
    """A service with purchases received by notification, some of them linked to customers, and a grant."""
    service = started(directory)
    customers = RandomCustomers(service, 6, seed=3, notified=True)
    customers.live(days=40, each_day=2)
    customers.delivered()
    for customer in CUSTOMERS:
        bought = service.buy("monthly", app=APP, account=f"{customer}s-account")
        documents = {"signedTransaction": bought["signedTransactionInfo"], "customerId": customer, "app": APP}
        assert service.json("entitled.v1.ReceiptService/SubmitTransaction", documents)[0] == 200
    forged = service.buy("coins", app=APP)["signedTransactionInfo"][:-8] + "AAAAAAAA"
    rejected = {"app": APP, "customerId": "mallory", "signedTransaction": forged}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", rejected)[0] != 200
    customers.delivered()
    with service.channel() as channel:
        entitlement_stub(channel).Grant(
            entitlement_service.GrantRequest(
                app=APP, customer_id="ann", entitlement="pro", access_level="ACCESS_LEVEL_FULL", note="a present"),
            timeout=CALL_LIMIT)
    return service


def test_an_export_is_complete_and_its_documents_reproduce_the_state(tmp_path):
    service = populated(tmp_path / "first")
    kinds = exported(service)
    for document in kinds["document"] + kinds["command"]:
        body = document["body"].encode() if "body" in document else base64.b64decode(document["bodyBase64"])
        assert hashlib.sha256(body).hexdigest() == document["sha256"]
        assert len(body) == document["size"]
    assert [line["rejection"] for line in kinds["document"] if "rejection" in line] == ["BAD_SIGNATURE"]
    assert [(line["customerId"], line["entitlement"], line["note"]) for line in kinds["grant"]] == [
        ("ann", "pro", "a present")]  # fmt: skip
    assert {line["customerId"] for line in kinds["customer"]} == {"ann", *CUSTOMERS}
    assert {line["state"] for line in kinds["notification"]} <= {"APPLIED", "SUPERSEDED"}
    assert [line["sequence"] for line in kinds["event"]] == list(range(1, len(kinds["event"]) + 1))

    # Another service that trusts the same App Store receives only the documents.
    with open(tmp_path / "root.pem", "w") as root:
        root.write(service_root(service))
    secret = tmp_path / "first" / "secret"
    configuration = json.loads(catalog(secret)) | {
        "trusted_roots": [{"environment": "Sandbox", "certificate": str(tmp_path / "root.pem")}]}
    (tmp_path / "second.yaml").write_text(json.dumps(configuration))
    second = Service(tmp_path / "second", ["--config", tmp_path / "second.yaml"])
    for document in kinds["document"]:
        if "rejection" not in document:
            submit(second, document)
    assert state_hash(exported(second)) == state_hash(kinds)
    second.stop()

    # Workers may have asked the App Store meanwhile.
    service.stop()
    kinds = exported(service)
    rows = dict(line.rsplit(None, 1) for line in run("store", "stats", "--data", service.data).stdout.splitlines())
    assert int(rows["evidence"]) == len(kinds["document"]) + len(kinds["command"])
    assert int(rows["customers"]) == len(kinds["customer"])
    assert int(rows["events"]) == len(kinds["event"])
    assert int(rows["transactions"]) == len({(line["transactionId"]) for line in kinds["transaction"]})


def service_root(service):
    with urllib.request.urlopen(f"http://{service.sandbox}/sandbox/v1/root", timeout=CALL_LIMIT) as answer:
        return answer.read().decode()


@pytest.mark.skipif(SANITIZED, reason="the address sanitizer delays the reuse of freed memory")
def test_memory_does_not_grow_with_the_store(tmp_path):
    """Ten times as many customers need no more memory, except for the allocator's reserve."""
    peaks = []
    for customers in (300, 3_000):
        data = tmp_path / str(customers)
        assert run("store", "seed", "--customers", str(customers), "--data", data, timeout=120).returncode == 0
        file = tmp_path / f"{customers}.ndjson"
        peaks.append(peak_memory("store", "export", "--data", data, "--output", file))
        with open(file, "rb") as lines:
            assert sum(1 for line in lines if b'"kind":"customer"' in line) == customers
        assert file.stat().st_mode & 0o777 == 0o600
        # An existing file is not overwritten.
        assert run("store", "export", "--data", data, "--output", file).returncode == 1
    assert peaks[1] < peaks[0] * 1.25, peaks


def peak_memory(*arguments):
    """Runs the program until it exits; returns its peak memory in KiB."""
    script = (
        "import resource, subprocess, sys; status = subprocess.run(sys.argv[1:]).returncode; "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(status)"
    )
    command = [sys.executable, "-c", script, PROGRAM, *arguments]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, env=environment(), check=True)
    return int(done.stdout)


def test_a_missing_store_is_not_created(tmp_path):
    done = run("store", "export", "--data", tmp_path / "nothing")
    assert done.returncode == 1 and "cannot open the store" in done.stderr
    assert not (tmp_path / "nothing").exists()
