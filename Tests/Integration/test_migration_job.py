"""Migration jobs: thousands of receipts from a file, through restarts, up to the App Store's state."""

import base64
import contextlib
import gzip
import json
import os
import random
import subprocess
import urllib.request

import pytest

import contract
import stores
from contract import StatusCode, receipt_service
from harness import CALL_LIMIT, IS_LONG, PROGRAM, environment, wait_for
from test_migration_receipt import APP, Store

CUSTOMERS = int(os.environ.get("ENTITLED_MIGRATION_CUSTOMERS", "40"))
KILLS = 5 if IS_LONG else 2


@pytest.fixture
def store(start):
    store = Store(start())
    yield store
    store.channel.close()


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def migrate(service, *arguments):
    """Runs `entitled migrate`; returns its exit status and its last line of JSON."""
    done = service.command("migrate", *arguments, "--json")
    lines = done.stdout.strip().splitlines()
    return done.returncode, json.loads(lines[-1]) if lines else done.stderr


def numbers(report):
    """The counts of a report, which JSON encodes as strings."""
    names = ("doneLines", "migrated", "unchanged", "empty", "rejected", "retryable", "duplicates")
    return {name: int(report[name]) for name in names if int(report.get(name, 0))}


def bad_receipts(store):
    """One line of each kind that a job must tolerate, and its reason."""
    valid = base64.b64decode(store.receipt("bad"))
    store.buy("bad")
    owned = store.receipt("bad")
    old = store.act("documents/transaction-receipt", app=APP, productId="lifetime", account="old")["document"]
    return [
        ({"customer_id": "bad", "receipt": owned}, None),
        ({"customer_id": "worse", "receipt": owned}, "OWNED_BY_ANOTHER_CUSTOMER"),
        ({"customer_id": "a", "receipt": "MIIé"}, "NOT_BASE64"),
        ({"customer_id": "b", "receipt": base64.b64encode(valid[:900]).decode()}, "NOT_A_RECEIPT"),
        ({"customer_id": "c", "receipt": old}, "NOT_VERIFIABLE"),
        ({"customer_id": "d", "original_transaction_id": "0"}, "TRANSACTION_ID_ZERO"),
        ({"customer_id": "e", "original_transaction_id": "123456"}, "UNKNOWN_TO_APPLE"),
        ({"customer_id": "f"}, "EMPTY_DOCUMENT"),
        ({"customer_id": "g" * 300, "receipt": owned}, "INVALID_FIELD"),
    ]


def test_each_invalid_line_has_its_reason_and_the_job_continues(store, tmp_path):
    cases = bad_receipts(store)
    path = write(tmp_path / "in.ndjson", [record for record, _ in cases])
    with path.open("a") as file:
        file.write("this is no JSON\n\n")
    store.buy("last")
    with path.open("a") as file:
        file.write(json.dumps({"customer_id": "last", "receipt": store.receipt("last")}) + "\n")
    # One at a time, so that the order of two customers is deterministic.
    status, report = migrate(store.service, "--input", path, "--concurrency", "1")
    wanted = sorted([reason for _, reason in cases if reason] + ["MALFORMED_LINE"])
    assert sorted(r["reason"] for r in report["reasons"]) == wanted
    assert status == 3 and numbers(report) == {"doneLines": 11, "migrated": 2, "rejected": 9}
    assert store.check("last").entitled and not store.check("worse").entitled
    # The failures are valid input themselves, and fail for the same reasons.
    failures = path.with_suffix(".ndjson.failures.ndjson")
    lines = [json.loads(line) for line in failures.read_text().splitlines()]
    assert sorted(line["reason"] for line in lines) == wanted
    again, second = migrate(store.service, "--input", failures)
    assert again == 3 and int(second["rejected"]) == 9
    left = (store.service.data / "import").iterdir() if stores.IS_SQLITE else store.query("SELECT 1 FROM upload")
    assert not list(left), "no receipt is left on the server"


def test_csv_is_looked_up_and_linked_only_if_vouched_for(store, tmp_path):
    bought = store.buy("ann")["originalTransactionId"]
    path = tmp_path / "export.csv"
    path.write_text(f'\ufeffuser;"the ""original"" id"\n"al;ice";{bought}\n')
    columns = ["--customer-column", "user", "--transaction-column", 'the "original" id', "--delimiter", ";"]
    status, report = migrate(store.service, "--input", path, *columns)
    assert (status, numbers(report)) == (0, {"doneLines": 1, "migrated": 1})
    assert not store.check("al;ice").entitled, "an unverified id is not linked to a customer"
    status, report = migrate(store.service, "--input", path, *columns, "--link")
    assert (status, numbers(report)) == (0, {"doneLines": 1, "migrated": 1})
    assert store.check("al;ice").entitled


def test_a_dry_run_changes_nothing_and_the_same_input_is_the_same_job(store, tmp_path):
    store.buy("ann")
    path = write(tmp_path / "in.ndjson", [
        {"customer_id": "alice", "receipt": store.receipt("ann")},
        {"customer_id": "newcomer", "receipt": store.receipt("newcomer")},
        {"customer_id": "x", "receipt": "?"}])  # fmt: skip
    status, report = migrate(store.service, "--input", path, "--dry-run")
    assert numbers(report) == {"doneLines": 3, "migrated": 1, "empty": 1, "rejected": 1} and status == 3
    assert not store.check("alice").entitled and not store.query("SELECT 1 FROM evidence")
    _, first = migrate(store.service, "--input", path)
    assert store.check("alice").entitled
    _, same = migrate(store.service, "--input", path)
    assert same["migrationId"] == first["migrationId"]
    _, again = migrate(store.service, "--input", path, "--force")
    assert again["migrationId"] != first["migrationId"]
    assert numbers(again) == {"doneLines": 3, "unchanged": 1, "empty": 1, "rejected": 1}


def test_a_repeated_command_leaves_the_file_of_failed_lines(store, tmp_path):
    path = write(tmp_path / "in.ndjson", [{"customer_id": "x", "receipt": "?"}])
    status, first = migrate(store.service, "--input", path)
    written = (tmp_path / "in.ndjson.failures.ndjson").read_text()
    assert status == 3 and json.loads(written)["receipt"] == "?"
    again = store.service.command("migrate", "--input", path)
    assert again.returncode == 3 and "in the file of the first run" in again.stdout, again.stdout
    assert (tmp_path / "in.ndjson.failures.ndjson").read_text() == written
    listed = store.service.command("migrate", "failures", first["migrationId"])
    assert listed.stdout == "the failed lines were purged\n"


def test_commands_that_upload_the_same_file_at_once_migrate_it_once(store, tmp_path):
    count = 30
    records = [{"customer_id": f"c{n}", "receipt": "?", "note": "x" * 400_000} for n in range(count)]
    path = write(tmp_path / "in.ndjson", records)
    jobs = [
        subprocess.Popen(
            [PROGRAM, "migrate", "--input", path, "--json", "--failures", tmp_path / f"failed.{n}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment() | {"ENTITLED_GRPC": store.service.grpc})
        for n in range(3)]  # fmt: skip
    outputs = [job.communicate(timeout=120) for job in jobs]
    # A command may find that another has purged the failures meanwhile.
    assert {job.returncode for job in jobs} <= {1, 3} and any(job.returncode == 3 for job in jobs), outputs
    assert store.query("SELECT count FROM migration_count") == [(count,)], outputs
    files = [(tmp_path / f"failed.{n}") for n in range(3)]
    failed = max((file.read_text().splitlines() for file in files if file.exists()), key=len)
    assert [json.loads(line)["customer_id"] for line in failed] == [record["customer_id"] for record in records]


@contextlib.contextmanager
def slow_job(store, tmp_path, *arguments):
    """A command whose job runs: the input, the records in it, and the process."""
    records = [{"customer_id": f"c{n}", "original_transaction_id": str(7_000 + n)} for n in range(40)]
    path = write(tmp_path / "in.ndjson", records)
    store.act("faults", kind="slow", count=1_000_000, by="100ms")
    with subprocess.Popen(
        [PROGRAM, "migrate", "--input", path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment() | {"ENTITLED_GRPC": store.service.grpc}) as job:  # fmt: skip
        wait_for(lambda: store.query("SELECT 1 FROM migration WHERE state = 'RUNNING'"))
        yield path, records, job


def test_a_dry_run_leaves_the_input_of_a_running_job(store, tmp_path):
    with slow_job(store, tmp_path, "--json", "--concurrency", "2") as (path, records, job):
        status, _ = migrate(store.service, "--input", path, "--dry-run")
        assert status == 0 and job.poll() is None
        output, errors = job.communicate(timeout=120)
    assert job.returncode == 3, (output, errors)
    failed = (tmp_path / "in.ndjson.failures.ndjson").read_text().splitlines()
    assert [json.loads(line)["original_transaction_id"] for line in failed] == [r["original_transaction_id"] for r in records]


def test_a_command_whose_job_is_cancelled_fails(store, tmp_path):
    with slow_job(store, tmp_path, "--concurrency", "1") as (_, _, job):
        store.service.command("migrate", "cancel", "migration-1")
        output, _ = job.communicate(timeout=60)
    assert job.returncode == 1 and "cancelled" in output



def test_two_receipts_of_one_account_need_one_lookup(store, tmp_path):
    store.buy("ann")
    old = store.receipt("ann")
    store.act("clock/advance", by="40d")
    new = store.receipt("ann")
    evidence_count = store.query("SELECT count(*) FROM evidence")[0][0]
    path = write(tmp_path / "in.ndjson", [{"customer_id": "alice", "receipt": r} for r in (new, old, new)])
    _, report = migrate(store.service, "--input", path)
    assert numbers(report) == {"doneLines": 3, "migrated": 1, "unchanged": 2, "duplicates": 2}, evidence_count


def test_migrating_known_customers_does_not_change_the_state(store, tmp_path):
    bought = store.buy("ann")
    store.receipts.SubmitTransaction(
        receipt_service.SubmitTransactionRequest(
            app=APP, customer_id="alice", signed_transaction=bought["signedTransactionInfo"]),
        timeout=CALL_LIMIT)  # fmt: skip
    first = write(tmp_path / "in.ndjson", [{"customer_id": "alice", "receipt": store.receipt("ann")}])
    migrate(store.service, "--input", first)
    before, events = store.check("alice"), store.query("SELECT count(*) FROM event")
    _, report = migrate(store.service, "--input", first, "--force")
    after = store.check("alice")
    # Signing time and source: Apple signs the same data again at each request.
    assert after.evidence_id > before.evidence_id
    after.evidence_id = before.evidence_id
    assert after == before and numbers(report) == {"doneLines": 1, "unchanged": 1}
    assert store.query("SELECT count(*) FROM event") == events
    verified = store.service.command("migrate", "compare", "--json")
    assert verified.returncode == 0 and json.loads(verified.stdout.splitlines()[-1])["compared"] == 1
    store.act("faults", kind="drop", count=100)
    store.act("refund", transactionId=bought["transactionId"], reason="OTHER")
    drifted = store.service.command("migrate", "compare")
    assert drifted.returncode == 3 and "DIFFERENT" in drifted.stdout


def test_the_stream_answers_each_receipt_under_backpressure(store):
    accounts = [f"s{number}" for number in range(40)]
    for account in accounts[::2]:
        store.buy(account)
    receipts = {account: store.receipt(account) for account in accounts}
    sent = []

    def requests():
        for account in accounts:
            sent.append(account)
            yield receipt_service.MigrateReceiptsRequest(
                correlation_id=account, app=APP, customer_id=account, receipt_base64=receipts[account])
        yield receipt_service.MigrateReceiptsRequest(correlation_id="bad", app=APP, receipt_base64="?")

    answers = {a.correlation_id: a for a in store.receipts.MigrateReceipts(requests(), timeout=60)}
    assert set(answers) == {*accounts, "bad"}
    outcomes = {k: receipt_service.MigrationOutcome.Name(a.outcome) for k, a in answers.items()}
    assert {outcomes[a] for a in accounts[::2]} == {"MIGRATION_OUTCOME_MIGRATED"}
    assert {outcomes[a] for a in accounts[1::2]} == {"MIGRATION_OUTCOME_EMPTY"}
    assert outcomes["bad"] == "MIGRATION_OUTCOME_REJECTED" and answers["bad"].error.message
    assert store.check("s0").entitled


@pytest.mark.parametrize("form", ["gzip", "CR", "UTF-16LE", "UTF-16BE"])
def test_an_input_that_must_be_converted_is_named_with_the_remedy(store, tmp_path, form):
    lines = b"customer_id,original_transaction_id\na,1\n"
    content = {"gzip": gzip.compress(lines), "CR": lines.replace(b"\n", b"\r")}
    (tmp_path / "in.csv").write_bytes(content.get(form) or lines.decode().encode(form))
    status, report = migrate(store.service, "--input", tmp_path / "in.csv")
    assert status == 1 and report["state"] == "MIGRATION_STATE_FAILED"
    assert form in report["error"] and {"gzip": "gunzip", "CR": "tr '\\r' '\\n'"}.get(form, f"iconv -f {form} -t UTF-8") in report["error"]


def test_an_empty_input_is_an_error_that_names_it(store, tmp_path):
    (tmp_path / "in.csv").touch()
    path = tmp_path / "in.csv"
    assert migrate(store.service, "--input", path) == (1, f"entitled: the input '{path}' is empty\n")
    done = store.service.command("migrate", "--input", "-", stdin="")
    assert (done.returncode, done.stderr) == (1, "entitled: the input '-' is empty\n")
    # The server sees that there is no line.
    path.write_text("\n\n")
    status, report = migrate(store.service, "--input", path)
    assert status == 1 and report["state"] == "MIGRATION_STATE_FAILED"
    assert report["error"].startswith("the input is empty; expected")


@pytest.mark.parametrize("options", [["--customer-column", "user"], ["--link"]])
def test_a_header_without_the_demanded_customer_column_fails_the_job(store, tmp_path, options):
    (tmp_path / "in.csv").write_text("subscriber,original_transaction_id\na,1\n")
    status, report = migrate(store.service, "--input", tmp_path / "in.csv", *options)
    assert status == 1 and report["state"] == "MIGRATION_STATE_FAILED"
    assert report["error"].startswith(f"the header has no column {options[1:] and 'user' or 'customer_id'}, but subscriber")


def test_a_folder_is_no_input(store, tmp_path):
    assert migrate(store.service, "--input", tmp_path) == (1, f"entitled: cannot read '{tmp_path}': Is a directory\n")


def test_jobs_read_only_from_the_import_folder(store, tmp_path):
    secret = write(tmp_path / "secret", [{}])
    for path, code in [(str(secret), StatusCode.PERMISSION_DENIED), ("../entitled.sqlite", None), ("x", None)]:
        with pytest.raises(contract.RpcError) as error:
            store.receipts.StartMigration(
                receipt_service.StartMigrationRequest(app=APP, input_path=path), timeout=CALL_LIMIT)
        assert error.value.code() in ([code] if code else [StatusCode.PERMISSION_DENIED, StatusCode.NOT_FOUND])


def test_a_job_killed_several_times_ends_with_the_app_stores_state(start, tmp_path):
    store = Store(start())
    store.act("notification-url", app=APP)  # later changes are known from receipts alone
    dice = random.Random(7)
    for number in range(CUSTOMERS):
        account = f"a{number}"
        for _ in range(dice.choice([0, 1, 1, 2])):
            bought = store.buy(account, dice.choice(["pro.monthly", "pro.yearly", "lifetime", "season"]))
            if dice.random() < 0.2:
                store.act("refund", transactionId=bought["transactionId"], reason="OTHER")
    receipts = {f"a{n}": store.receipt(f"a{n}") for n in range(CUSTOMERS)}
    store.act("clock/advance", by="45d")
    path = write(tmp_path / "in.ndjson", [{"customer_id": k, "receipt": r} for k, r in receipts.items()])
    for round_ in range(KILLS + 1):
        store.act("faults", kind="slow", count=1_000_000, by="20ms")
        if round_ % 2:
            store.act("faults", kind="rate-limit", count=2, by="100ms")
        env = environment() | {"ENTITLED_GRPC": store.service.grpc}
        job = subprocess.Popen(
            [PROGRAM, "migrate", "--input", path, "--concurrency", "4", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)  # fmt: skip
        if round_ < KILLS:
            wanted = CUSTOMERS * (round_ + 1) // (KILLS + 3)
            wait_for(lambda: store.query("SELECT coalesce(sum(count), 0) FROM migration_count")[0][0] >= wanted)
            store.service.kill()
            job.kill()
            job.communicate()
            store.channel.close()
            store = Store(start())
            continue
        output, errors = job.communicate(timeout=120)
        assert job.returncode == 0, errors
        report = json.loads(output.strip().splitlines()[-1])
    assert int(report["doneLines"]) == CUSTOMERS and report["state"] == "MIGRATION_STATE_FINISHED"
    assert len(store.query("SELECT DISTINCT migration_id FROM migration")) == 1
    # No receipt was ingested twice: one receipt statement per customer, one lookup per line.
    statements = store.query(
        "SELECT customer_id, count(*) FROM evidence WHERE kind = 'RECEIPT_STATEMENT' GROUP BY customer_id")
    assert len(statements) == CUSTOMERS and {count for _, count in statements} == {1}
    store.act("faults", kind="slow", count=0)
    verified = store.service.command("migrate", "compare", "--json")
    assert verified.returncode == 0, verified.stdout
    sandbox_owners = get(f"http://{store.service.sandbox}/sandbox/v1/owners?app={APP}")
    owned = {owner["account"]: owner["owned"] for owner in sandbox_owners["owners"]}
    for account in receipts:
        gives = {"pro.monthly", "pro.yearly", "lifetime", "season"}
        wanted = any(p["productId"] in gives for p in owned.get(account, []))
        assert store.check(account).entitled == wanted, (account, owned.get(account))
    store.channel.close()


def get(url):
    with urllib.request.urlopen(url, timeout=CALL_LIMIT) as answer:
        return json.load(answer)
