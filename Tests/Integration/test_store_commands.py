"""The commands `entitled store …` on PostgreSQL, copies between both engines, and changes of the schema."""

import base64
import concurrent.futures
import json
import shutil
import threading

import grpc
import pytest

import harness
from contract import StatusCode, entitlement, entitlement_service, entitlement_stub
from harness import FREE_PORTS, PROGRAM, Service, environment, run, wait_for
from test_postgres_store import grant, is_granted

APP = "ocean-journal"


@pytest.fixture
def filled(postgres, tmp_path):
    """The address of a database with purchases and grants, its name, and its data directory; the service is stopped."""
    with postgres.database() as database:
        address = postgres.address(database)
        service = Service(tmp_path / "data", ["--store", address])
        fill(service)
        service.stop()
        yield address, database, tmp_path / "data"


def fill(service):
    for number in range(20):
        bought = service.buy("pro.monthly" if number % 2 else "lifetime")
        request = {"app": APP, "customerId": f"ada-{number}", "signedTransaction": bought["signedTransactionInfo"]}
        status, answer = service.json("entitled.v1.ReceiptService/SubmitTransaction", request)
        assert status == 200, answer
    grant(service, "grace")
    refused = {"app": APP, "customerId": "eve", "signedTransaction": "a.b.c"}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", refused)[0] == 400


def state(done):
    """The state hash that `store verify` printed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.rpartition("state hash: ")[2].strip()


def test_stats_export_verify_and_replay_work_beside_a_running_service(postgres, tmp_path):
    with postgres.database() as database:
        address = postgres.address(database)
        service = Service(tmp_path / "data", ["--store", address])
        fill(service)
        counted = json.loads(run("store", "stats", "--store", address, "--json").stdout)
        assert counted["customers"] == 21 and counted["databaseBytes"] > 1 << 20 and "unusedBytes" not in counted
        exported = run("store", "export", "--store", address)
        lines = [json.loads(line) for line in exported.stdout.splitlines()]
        assert lines[-1]["kind"] == "end" and lines[-1]["lines"]["customer"] == 21
        assert len(state(run("store", "verify", "--store", address))) == 64
        replayed = run("store", "replay", "--store", address, "--data", tmp_path / "scratch")
        assert replayed.returncode == 0 and "no differences" in replayed.stdout, replayed.stdout + replayed.stderr
        assert not list((tmp_path / "scratch").iterdir())
        assert is_granted(service, "grace")
        service.stop()


def test_verify_reports_altered_evidence_and_references_to_missing_rows(postgres, filled):
    address, database, _ = filled
    postgres.sql("UPDATE evidence SET content_hash = decode(repeat('00', 32), 'hex') WHERE evidence_id = 1", database)
    postgres.sql("DELETE FROM evidence WHERE evidence_id = 2", database)
    found = run("store", "verify", "--store", address)
    assert found.returncode == 3
    assert "evidence 1 does not match its hash" in found.stdout
    assert "rows of line_customer reference missing rows of evidence" in found.stdout


@pytest.mark.parametrize("command, word", [(["backup", "copy.sqlite"], "pg_dump"), (["vacuum"], "VACUUM FULL")])
def test_maintenance_that_postgresql_does_itself_is_refused_with_its_tool(command, word):
    done = run("store", *command, "--store", "postgres://me@/x?host=/nonexistent")
    assert done.returncode == 64 and word in done.stderr, done


def test_the_environment_and_the_configuration_name_the_store(filled, postgres, tmp_path):
    address, database, _ = filled
    variables = environment() | {"ENTITLED_STORE": address}
    assert "customers" in run("store", "stats", env=variables).stdout
    # A directory on the command line is that of SQLite.
    assert run("store", "stats", "--data", tmp_path / "none", env=variables).returncode == 1
    (tmp_path / "entitled.yaml").write_text(
        "apps: {ocean-journal: {bundle_id: com.example.ocean, environments: [Sandbox], products: {pro: "
        "{type: Non-Consumable, entitlements: [pro]}}}}\n"
        f"store: {{postgres: {{hosts: ['{postgres.socket}:{postgres.port}'], database: {database}, "
        f"user: {postgres.user}}}}}\n")  # fmt: skip
    done = run("store", "stats", "--config", tmp_path / "entitled.yaml")
    assert "customers" in done.stdout, done.stderr


def test_a_copy_to_sqlite_and_back_has_the_same_rows(postgres, filled, tmp_path):
    address, _, data = filled
    original = state(run("store", "verify", "--store", address))
    there = run("store", "copy", address, f"sqlite:{data}", "--json")
    assert there.returncode == 0, there.stderr
    report = json.loads(there.stdout)
    assert report["stateHash"] == original and report["tables"]["evidence"] == 22 and report["rows"] > 100
    assert state(run("store", "verify", "--store", f"sqlite:{data}")) == original
    assert (data / "entitled.sqlite").stat().st_mode & 0o777 == 0o600 and (data / "store.marker").exists()
    service = Service(data, ["--store", f"sqlite:{data}"])
    assert is_granted(service, "grace")
    grant(service, "new")
    running = run("store", "copy", f"sqlite:{data}", address)
    assert running.returncode == 1 and "in use" in running.stderr
    service.stop()
    with postgres.database() as second:
        back = run("store", "copy", f"sqlite:{data}", postgres.address(second))
        assert back.returncode == 0, back.stderr
        changed = state(run("store", "verify", "--store", postgres.address(second)))
        assert changed != original and changed in back.stdout
        # The new store's numbers continue after the copied rows.
        service = Service(data, ["--store", postgres.address(second)])
        fill(service)
        assert is_granted(service, "new")
        service.stop()
        assert run("store", "replay", "--store", postgres.address(second), "--data", data).returncode == 0


def test_a_copy_refuses_a_target_with_rows_and_leaves_it(filled, tmp_path):
    address, _, data = filled
    assert run("store", "copy", address, f"sqlite:{data}").returncode == 0
    size = (data / "entitled.sqlite").stat().st_size
    again = run("store", "copy", address, f"sqlite:{data}")
    assert again.returncode == 1 and "exists already" in again.stderr
    assert (data / "entitled.sqlite").stat().st_size == size and not list(data.glob("*.partial"))
    back = run("store", "copy", f"sqlite:{data}", address)
    assert back.returncode == 1 and "has rows; copy to a new database" in back.stderr


def test_a_copy_of_a_database_in_use_is_refused(postgres, tmp_path):
    with postgres.database() as database:
        address = postgres.address(database)
        service = Service(tmp_path / "data", ["--store", address])
        wait_for(lambda: postgres.sql("SELECT count(*) FROM replica", database) == "1")
        refused = run("store", "copy", address, f"sqlite:{tmp_path / 'copy'}")
        assert refused.returncode == 1 and "replicas use the store" in refused.stderr
        service.stop()
        assert postgres.sql("SELECT count(*) FROM replica", database) == "0"
        assert run("store", "copy", address, f"sqlite:{tmp_path / 'copy'}").returncode == 0


def test_a_copy_without_what_replicas_accepted_is_refused(filled, postgres, tmp_path):
    address, database, _ = filled
    # As a follower that answered Apple, and ended before a leader took the notification.
    postgres.sql("""
        INSERT INTO inbox (token, kind, app, method, caller, context, body, received_at)
        VALUES ('t', 'notification', '', '/notifications/ocean-journal', '', '{}', 'x', now())
        """, database)
    refused = run("store", "copy", address, f"sqlite:{tmp_path / 'copy'}")
    assert refused.returncode == 1 and "entries that no leader has executed: 1;" in refused.stderr, refused
    assert not (tmp_path / "copy" / "entitled.sqlite").exists()
    listed = json.loads(run("store", "inbox", "--store", address, "--json").stdout)["entries"]
    assert [(entry["kind"], entry["method"], entry["bytes"]) for entry in listed] == [
        ("notification", "/notifications/ocean-journal", 1)]  # fmt: skip
    assert run("store", "inbox", "--store", address).stdout.startswith(f"{listed[0]['id']}  notification /notifications/")
    remove = ["store", "inbox", "--store", address, "--json", "--remove", str(listed[0]["id"])]
    assert json.loads(run(*remove).stdout)["removed"]["body"] == base64.b64encode(b"x").decode()
    again = run(*remove)
    assert again.returncode == 1 and "no entry" in again.stderr
    assert run("store", "inbox", "--store", address).stdout == "no entries\n"
    assert run("store", "copy", address, f"sqlite:{tmp_path / 'copy'}").returncode == 0


def test_a_copy_of_a_database_that_is_used_meanwhile_is_refused(filled, postgres, tmp_path):
    address, database, _ = filled
    copies = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'entitled store'"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with postgres.session(database) as other:
            # The copy has begun, and waits for a table.
            other("BEGIN; LOCK TABLE evidence IN ACCESS EXCLUSIVE MODE; UPDATE head SET position = position + 1")
            copy = pool.submit(run, "store", "copy", address, f"sqlite:{tmp_path / 'copy'}")
            wait_for(lambda: postgres.sql(f"{copies} AND wait_event_type = 'Lock'") == "1")
            other("COMMIT")
        refused = copy.result()
    assert refused.returncode == 1 and "a service has used the source during the copy" in refused.stderr, refused
    assert not (tmp_path / "copy" / "entitled.sqlite").exists()


def test_migrate_without_an_upgrade_changes_nothing(postgres):
    with postgres.database() as database:
        address = postgres.address(database)
        first = json.loads(run("store", "migrate", "--store", address, "--json").stdout)
        assert first == {"changed": True, "schemaVersion": 1, "oldestProgram": 1, "replicas": []}
        again = json.loads(run("store", "migrate", "--store", address, "--json").stdout)
        assert again["changed"] is False


@pytest.mark.skipif("release" in str(PROGRAM), reason="only debug builds have a second schema version")
def test_two_schema_versions_serve_side_by_side_until_the_contract_step(postgres, tmp_path, monkeypatch):
    newer = environment() | {"ENTITLED_TEST_SCHEMA": "2"}
    with postgres.database() as database:
        address = postgres.address(database)
        old = Service(tmp_path / "old", ["--store", address])
        refused = run("serve", "--data", tmp_path / "new", "--store", address, *FREE_PORTS, env=newer)
        assert refused.returncode == 1 and "run 'entitled store migrate'" in refused.stderr
        with Load(old) as load:
            expanded = json.loads(run("store", "migrate", "--store", address, "--json", env=newer).stdout)
            assert (expanded["changed"], expanded["schemaVersion"], expanded["oldestProgram"]) == (True, 2, 1)
            load.go_on()
            (tmp_path / "new").mkdir(mode=0o700, exist_ok=True)
            shutil.copy(tmp_path / "old" / "entitled.key", tmp_path / "new")
            monkeypatch.setattr(harness, "environment", lambda: newer)
            new = Service(tmp_path / "new", ["--store", address])
            monkeypatch.undo()
            wait_for(lambda: postgres.sql("SELECT count(*) FROM replica", database) == "2")
            with Load(new, "newer") as beside:
                load.go_on()
                early = run("store", "migrate", "--contract", "--store", address, env=newer)
                assert early.returncode == 1 and "older schema version are alive" in early.stderr
                beside.go_on()
                granted = load.granted() + beside.granted()
                assert all(is_granted(service, customer) for customer in granted for service in (old, new))
        with Load(new, "later") as later:
            old.stop()
            later.go_on()
            done = json.loads(run("store", "migrate", "--contract", "--store", address, "--json", env=newer).stdout)
            assert (done["changed"], done["oldestProgram"]) == (True, 2)
            later.go_on()
        assert all(is_granted(new, customer) for customer in granted + later.granted())
        new.stop()
        late = run("serve", "--data", tmp_path / "old", "--store", address, *FREE_PORTS)
        assert late.returncode == 1 and "this program knows versions up to 1" in late.stderr


class Load:
    """Grants to one customer after the other while it is open; a failed call must be UNAVAILABLE or a conflict."""

    def __init__(self, service, name="load"):
        self.service, self.name = service, name
        self.customers = []
        self.failures = []
        self.is_over = False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        with self.service.channel() as channel:
            while not self.is_over:
                customer = f"{self.name}-{len(self.customers)}"
                request = entitlement_service.GrantRequest(
                    app=APP, customer_id=customer, entitlement="pro",
                    access_level=entitlement.ACCESS_LEVEL_FULL, idempotency_key=customer)  # fmt: skip
                try:
                    entitlement_stub(channel).Grant(request, timeout=10)
                    self.customers.append(customer)
                except grpc.RpcError as error:
                    self.failures.append(error.code())

    def granted(self):
        return list(self.customers)

    def go_on(self):
        """Waits for further writes."""
        count = len(self.customers)
        wait_for(lambda: len(self.customers) > count + 3)

    def __enter__(self):
        self.thread.start()
        self.go_on()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        assert set(self.failures) <= {StatusCode.UNAVAILABLE, StatusCode.ABORTED}, self.failures
