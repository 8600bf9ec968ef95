"""Migration jobs through the API: started from the import folder, watched, failures listed page by page, cancelled."""

import json

import grpc
import pytest

import contract
import harness
from contract import receipt_service
from harness import CALL_LIMIT, Service, wait_for
from test_metrics import value
from test_migration_job import migrate, numbers, write
from test_migration_receipt import APP, Store

State = receipt_service.MigrationState


@pytest.fixture
def store(start):
    store = Store(start())
    yield store
    store.channel.close()


def start_job(store, records, folder=None, **more):
    """Writes an input into the import folder and starts a job with it; returns the job's id."""
    folder = folder or store.service.data / "import"
    folder.mkdir(exist_ok=True)
    (folder / "in.ndjson").write_text("".join(json.dumps(record) + "\n" for record in records))
    answer = store.receipts.StartMigration(
        receipt_service.StartMigrationRequest(app=APP, input_path="in.ndjson", **more), timeout=CALL_LIMIT)
    return answer.migration.migration_id


def get_job(store, name):
    return store.receipts.GetMigration(
        receipt_service.GetMigrationRequest(app=APP, migration_id=name), timeout=CALL_LIMIT).migration


def test_failures_are_listed_page_by_page_as_input(store):
    store.buy("ann")
    good, bad = {"customer_id": "ann", "receipt": store.receipt("ann")}, {"customer_id": "b", "receipt": "?"}
    name = start_job(store, [bad, good, {"customer_id": "c", "original_transaction_id": "77"}, bad])
    wait_for(lambda: get_job(store, name).state != State.MIGRATION_STATE_RUNNING)
    job = get_job(store, name)
    assert (job.done_lines, job.migrated, job.rejected, job.done_bytes) == (4, 1, 3, job.input_bytes)
    failures, token = [], ""
    while True:
        page = store.receipts.ListMigrationFailures(
            receipt_service.ListMigrationFailuresRequest(
                app=APP, migration_id=name, page_size=2, page_token=token),
            timeout=CALL_LIMIT)
        failures += page.failures
        token = page.next_page_token
        if not token:
            break
    assert [(f.line, f.reason) for f in failures] == [(1, "NOT_BASE64"), (3, "UNKNOWN_TO_APPLE"), (4, "NOT_BASE64")]
    assert json.loads(failures[1].input)["original_transaction_id"] == "77"
    assert store.query("SELECT count(*) FROM migration_failure") == [(3,)]
    cancelled = store.receipts.CancelMigration(
        receipt_service.CancelMigrationRequest(app=APP, migration_id=name), timeout=CALL_LIMIT)
    assert cancelled.migration == job and cancelled.position, "a job that has ended stays as it is"
    assert store.query("SELECT count(*) FROM migration_failure") == [(3,)]
    for _ in range(2):
        purged = store.receipts.PurgeMigration(
            receipt_service.PurgeMigrationRequest(app=APP, migration_id=name), timeout=CALL_LIMIT)
        assert purged.migration == job and purged.position
        assert store.query("SELECT count(*) FROM migration_failure") == [(0,)]


def test_a_variable_sets_the_import_folder(tmp_path, monkeypatch):
    base_environment = harness.environment()
    monkeypatch.setattr(harness, "environment", lambda: base_environment | {"ENTITLED_IMPORT": str(tmp_path / "inputs")})
    service = Service(tmp_path / "data")
    try:
        store = Store(service)
        name = start_job(store, [{"customer_id": "a", "receipt": "?"}], tmp_path / "inputs")
        wait_for(lambda: get_job(store, name).done_lines == 1)
        store.channel.close()
    finally:
        service.kill()


def test_a_cancelled_job_stays_cancelled(store, start):
    records = []
    for number in range(40):
        store.buy(f"a{number}")
        records.append({"customer_id": f"a{number}", "receipt": store.receipt(f"a{number}")})
    store.act("faults", kind="slow", count=1_000_000, by="100ms")
    name = start_job(store, records, concurrency=2)
    wait_for(lambda: get_job(store, name).done_lines >= 3)
    with pytest.raises(grpc.RpcError) as error:
        store.receipts.PurgeMigration(
            receipt_service.PurgeMigrationRequest(app=APP, migration_id=name), timeout=CALL_LIMIT)
    assert contract.reason(error.value) == "MIGRATION_RUNNING"
    store.receipts.CancelMigration(
        receipt_service.CancelMigrationRequest(app=APP, migration_id=name), timeout=CALL_LIMIT)
    stopped = get_job(store, name)
    assert stopped.state == State.MIGRATION_STATE_CANCELLED and stopped.done_lines < 40
    store.service.stop()
    store.channel.close()
    again = Store(start())
    assert get_job(again, name).state == State.MIGRATION_STATE_CANCELLED
    assert get_job(again, name).done_lines <= stopped.done_lines + 2, "only receipts in flight were finished"
    again.channel.close()


def test_a_sample_is_compared_with_apple(store):
    records = []
    for number in range(6):
        store.buy(f"a{number}")
        records.append({"customer_id": f"a{number}", "receipt": store.receipt(f"a{number}")})
    name = start_job(store, records)
    wait_for(lambda: get_job(store, name).state == State.MIGRATION_STATE_FINISHED)
    complete = store.service.command("migrate", "compare", "--json")
    sample = store.service.command("migrate", "compare", "--sample-every", "3", "--json")
    compared = [int(json.loads(run.stdout.splitlines()[-1])["compared"]) for run in (complete, sample)]
    assert compared == [6, 2] and complete.returncode == sample.returncode == 0
    assert value(store.service, "entitled_migrated_receipts_total", reason="DONE") == 6


def test_receipts_count_while_apple_is_unavailable_and_are_retried(store, tmp_path):
    records = []
    for number in range(3):
        store.buy(f"a{number}")
        records.append({"customer_id": f"a{number}", "receipt": store.receipt(f"a{number}")})
    path = write(tmp_path / "in.ndjson", records)
    store.act("faults", kind="server-error", count=1_000_000)
    status, report = migrate(store.service, "--input", path)
    assert status == 3 and numbers(report) == {"doneLines": 3, "retryable": 3}
    assert [(r["reason"], r["outcome"]) for r in report["reasons"]] == [
        ("APP_STORE_UNAVAILABLE", "MIGRATION_OUTCOME_RETRYABLE")]
    # The receipts are verified, and their contents count until Apple can be called.
    assert all(store.check(f"a{number}").entitled for number in range(3))
    assert store.query("SELECT count(*) FROM refresh WHERE due_at IS NOT NULL") == [(3,)]
    store.act("faults", kind="server-error", count=0)
    # Lookups that are in flight may still fail. Without --force a command shows its first job.
    runs = []
    wait_for(lambda: runs.append(migrate(store.service, "--force", "--input", f"{path}.failures.ndjson"))
             or runs[-1][0] == 0)
    report = runs[-1][1]
    # Lookups already answered from the queue count as unchanged.
    assert numbers(report).get("migrated", 0) + numbers(report).get("unchanged", 0) == 3
    assert store.query("SELECT count(*) FROM refresh WHERE due_at IS NOT NULL") == [(0,)]
