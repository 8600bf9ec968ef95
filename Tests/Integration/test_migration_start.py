"""Jobs by the contract alone: begun from the import folder, watched, read for failures page by page, and stopped."""

import json

import pytest

import harness
from contract import receipt_service
from harness import CALL_LIMIT, Service
from test_metrics import value
from test_migration_job import migrate, numbers, wait_for, write
from test_migration_receipt import APP, Store

State = receipt_service.MigrationState


@pytest.fixture
def store(start):
    store = Store(start())
    yield store
    store.channel.close()


def begun(store, records, folder=None, **more):
    """Puts an input into the import folder and begins a job with it; its name."""
    folder = folder or store.service.data / "import"
    folder.mkdir(exist_ok=True)
    (folder / "in.ndjson").write_text("".join(json.dumps(record) + "\n" for record in records))
    answer = store.receipts.StartMigration(
        receipt_service.StartMigrationRequest(app=APP, input_path="in.ndjson", **more), timeout=CALL_LIMIT)
    return answer.migration.migration_id


def standing(store, name):
    return store.receipts.GetMigration(
        receipt_service.GetMigrationRequest(migration_id=name), timeout=CALL_LIMIT).migration


def test_failures_are_told_page_by_page_as_input(store):
    store.buy("ann")
    good, bad = {"customer_id": "ann", "receipt": store.receipt("ann")}, {"customer_id": "b", "receipt": "?"}
    name = begun(store, [bad, good, {"customer_id": "c", "original_transaction_id": "77"}, bad])
    wait_for(lambda: standing(store, name).state != State.MIGRATION_STATE_RUNNING)
    job = standing(store, name)
    assert (job.total, job.migrated, job.rejected, job.position) == (4, 1, 3, job.input_bytes)
    failures, token = [], ""
    while True:
        page = store.receipts.ListMigrationFailures(
            receipt_service.ListMigrationFailuresRequest(migration_id=name, page_size=2, page_token=token),
            timeout=CALL_LIMIT)
        failures += page.failures
        token = page.next_page_token
        if not token:
            break
    assert [(f.line, f.reason) for f in failures] == [(1, "NOT_BASE64"), (3, "UNKNOWN_TO_APPLE"), (4, "NOT_BASE64")]
    assert json.loads(failures[1].input)["original_transaction_id"] == "77"
    assert store.query("SELECT count(*) FROM migration_failure") == [(3,)]
    store.receipts.CancelMigration(receipt_service.CancelMigrationRequest(migration_id=name), timeout=CALL_LIMIT)
    assert store.query("SELECT count(*) FROM migration_failure") == [(0,)], "what failed can be forgotten"


def test_a_variable_can_name_the_import_folder(tmp_path, monkeypatch):
    usual = harness.environment()
    monkeypatch.setattr(harness, "environment", lambda: usual | {"ENTITLED_IMPORT": str(tmp_path / "inputs")})
    service = Service(tmp_path / "data")
    try:
        store = Store(service)
        name = begun(store, [{"customer_id": "a", "receipt": "?"}], tmp_path / "inputs")
        wait_for(lambda: standing(store, name).total == 1)
        store.channel.close()
    finally:
        service.kill()


def test_a_job_that_is_stopped_stays_stopped(store, start):
    records = []
    for number in range(40):
        store.buy(f"a{number}")
        records.append({"customer_id": f"a{number}", "receipt": store.receipt(f"a{number}")})
    store.act("faults", kind="slow", count=1_000_000, by="100ms")
    name = begun(store, records, concurrency=2)
    wait_for(lambda: standing(store, name).total >= 3)
    store.receipts.CancelMigration(receipt_service.CancelMigrationRequest(migration_id=name), timeout=CALL_LIMIT)
    stopped = standing(store, name)
    assert stopped.state == State.MIGRATION_STATE_CANCELLED and stopped.total < 40
    store.service.stop()
    store.channel.close()
    again = Store(start())
    assert standing(again, name).state == State.MIGRATION_STATE_CANCELLED
    assert standing(again, name).total <= stopped.total + 2, "what was being worked on was finished, and no more"
    again.channel.close()


def test_a_sample_is_compared_with_apple(store):
    records = []
    for number in range(6):
        store.buy(f"a{number}")
        records.append({"customer_id": f"a{number}", "receipt": store.receipt(f"a{number}")})
    name = begun(store, records)
    wait_for(lambda: standing(store, name).state == State.MIGRATION_STATE_FINISHED)
    whole = store.service.command("migrate", "compare", "--json")
    sample = store.service.command("migrate", "compare", "--sample-every", "3", "--json")
    compared = [int(json.loads(run.stdout.splitlines()[-1])["compared"]) for run in (whole, sample)]
    assert compared == [6, 2] and whole.returncode == sample.returncode == 0
    assert value(store.service, "entitled_migrated_receipts_total", reason="DONE") == 6


def test_what_apple_cannot_be_asked_about_holds_and_is_to_be_tried_again(store, tmp_path):
    records = []
    for number in range(3):
        store.buy(f"a{number}")
        records.append({"customer_id": f"a{number}", "receipt": store.receipt(f"a{number}")})
    path = write(tmp_path / "in.ndjson", records)
    store.act("faults", kind="server-error", count=1_000_000)
    status, report = migrate(store.service, "--input", path)
    assert status == 3 and numbers(report) == {"total": 3, "retryable": 3}
    assert [(r["reason"], r["outcome"]) for r in report["reasons"]] == [
        ("APP_STORE_UNAVAILABLE", "MIGRATION_OUTCOME_RETRYABLE")]
    # The receipts are genuine, and their own word holds until Apple can be asked.
    assert all(store.check(f"a{number}").entitled for number in range(3))
    assert store.query("SELECT count(*) FROM refresh WHERE due_at IS NOT NULL") == [(3,)]
    store.act("faults", kind="server-error", count=0)
    # For some seconds after so many failures Apple is left alone.
    runs = []
    wait_for(lambda: runs.append(migrate(store.service, "--input", f"{path}.failures.ndjson")) or runs[-1][0] == 0)
    report = runs[-1][1]
    # Unchanged is what the queue asked about before.
    assert numbers(report).get("migrated", 0) + numbers(report).get("unchanged", 0) == 3
    assert store.query("SELECT count(*) FROM refresh WHERE due_at IS NOT NULL") == [(0,)]
