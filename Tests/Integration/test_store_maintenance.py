"""Maintenance of the store: backup at run time, restore, verify, vacuum and stats; behaviour on a full disk."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile

import pytest

from certificates import write_key
from harness import ROOT, Service, on_terminal, post, run, wait_for


def submit(service, customer, jws):
    request = {"app": "ocean-journal", "customerId": customer, "signedTransaction": jws}
    return service.json("entitled.v1.ReceiptService/SubmitTransaction", request)


def buy(service, customer):
    jws = service.buy("lifetime")["signedTransactionInfo"]
    status, answer = submit(service, customer, jws)
    assert status == 200, answer


def check(service, customer):
    request = {"app": "ocean-journal", "customerId": customer, "entitlement": "pro"}
    status, answer = service.json("entitled.v1.EntitlementService/Check", request)
    assert status == 200, answer
    return answer["entitlement"]["entitled"]


def table(text):
    return dict(line.split(maxsplit=1) if "  " not in line else line.split("  ", 1) for line in text.splitlines())


def test_a_backup_of_a_running_service_restores_the_same_state(start, tmp_path):
    service = start()
    buy(service, "ana")
    copy = tmp_path / "copy.sqlite"
    made = run("store", "backup", copy, "--data", service.data)
    assert made.returncode == 0, made.stderr
    assert table(made.stdout)["bytes"].strip() == str(copy.stat().st_size) and copy.stat().st_mode & 0o777 == 0o600
    buy(service, "ben")
    verified, state = run("store", "verify", copy).stdout.splitlines()
    assert verified == "intact, evidence: 1" and re.fullmatch("state hash: [0-9a-f]{64}", state)
    verified, later = run("store", "verify", "--data", service.data).stdout.splitlines()
    assert verified == "intact, evidence: 2" and later != state
    again = run("store", "backup", copy, "--data", service.data)
    assert (again.returncode, again.stderr) == (
        1, f"entitled: cannot open the store in {copy}: it exists already; choose the path of a new file\n")
    service.stop()

    restored = tmp_path / "restored"
    restored.mkdir(mode=0o700)
    copy.rename(restored / "entitled.sqlite")
    service = start(restored)
    assert check(service, "ana") and not check(service, "ben")
    service.stop()
    replayed = run("store", "verify", "--replay", "--data", restored)
    assert replayed.returncode == 0 and "no differences" in replayed.stdout, replayed
    # The restored store has the state of the backup, and so has its replay.
    assert state in replayed.stdout.splitlines()
    assert state.split()[-1] == table(replayed.stdout.split("\n", 2)[2])["state hash"].strip()


def test_the_documented_restore_keeps_the_rest_of_the_data_directory(start, tmp_path):
    data, backup = tmp_path / "entitled", tmp_path / "entitled-2026-11-21.sqlite"
    (data / "token-keys").mkdir(parents=True, mode=0o700)
    data.chmod(0o700)
    write_key(data / "token-keys" / "1.pem")
    config = tmp_path / "entitled.yaml"
    config.write_text(
        run("config", "demo").stdout
        + f"tokens: {{issuer: 'https://entitled.example.com', keys: {data / 'token-keys'}}}\n")
    service = start(data, ["--config", config])
    buy(service, "ana")
    buy(service, "ben")
    assert run("store", "backup", backup, "--data", data).returncode == 0
    request = {"app": "ocean-journal", "customerId": "ana"}
    assert service.json("entitled.v1.EntitlementService/EraseCustomer", request)[0] == 200
    buy(service, "eve")
    # A log stays in the directory.
    service.kill()

    page = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^\*\*Restore\*\*.*?```sh\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    block = block.replace("/var/lib/private", str(tmp_path)).replace("/backup", str(tmp_path))
    subprocess.run(["bash", "-euc", "systemctl() { :; }\n" + block], check=True)
    service = start(data, ["--config", config])
    assert check(service, "ben") and not check(service, "ana") and not check(service, "eve")
    assert service.command("token", "issue", "ben").returncode == 0
    kept = run("store", "backup", "--help").stdout
    assert "entitled.key" in kept and "entitled.erasures" in kept


def test_after_a_clean_stop_the_store_is_one_file(start, tmp_path):
    service = start()
    for customer in ("ana", "ben"):
        buy(service, customer)
        assert check(service, customer)
    service.stop()
    assert (service.data / "entitled.sqlite-wal").stat().st_size == 0
    moved = tmp_path / "moved"
    moved.mkdir(mode=0o700)
    shutil.copy(service.data / "entitled.sqlite", moved)
    service = start(moved)
    assert check(service, "ana") and check(service, "ben")


def test_verify_names_altered_evidence(start):
    service = start()
    buy(service, "ana")
    service.stop()
    with contextlib.closing(sqlite3.connect(service.data / "entitled.sqlite")) as store, store:
        store.execute("UPDATE evidence SET content_hash = zeroblob(32)")
    found = run("store", "verify", "--data", service.data)
    assert (found.returncode, found.stdout) == (3, "evidence 1 does not match its hash\n")


def test_stats_and_vacuum_report_the_size_of_the_store(start):
    service = start()
    buy(service, "ana")
    counted = table(run("store", "stats", "--data", service.data).stdout)
    assert counted["customers"].strip() == counted["evidence"].strip() == "1"
    assert int(counted["stored bytes"]) * 2 < int(counted["received bytes"])
    failed = run("store", "vacuum", "--data", service.data)
    assert failed.returncode == 1 and "in use by another process" in failed.stderr
    service.stop()
    emptied = run("store", "vacuum", "--data", service.data)
    assert emptied.returncode == 0 and "bytes after" in emptied.stdout, emptied
    assert run("store", "verify", "--data", service.data).returncode == 0


def test_reports_are_derived_again_from_the_evidence(start):
    service = start()
    buy(service, "ana")

    def rows(sql):
        with contextlib.closing(sqlite3.connect(service.data / "entitled.sqlite")) as store, store:
            return store.execute(sql).fetchall()

    sums = "SELECT kind, day, key_id, units, amount FROM report_cell ORDER BY kind, day, key_id, age"
    packs = "SELECT kind, known_day, late, cells FROM report_pack ORDER BY kind, known_day"
    months = "SELECT kind, last_day, cells FROM report_month ORDER BY last_day, kind"

    wait_for(lambda: rows(sums))
    # After two months, those of the purchase are packed, and the next purchase is of a day that is open.
    post(f"http://{service.sandbox}/sandbox/v1/clock/advance", {"by": "70d"})
    wait_for(lambda: rows(months + " LIMIT 1"))
    bought = service.buy("lifetime", account="other")
    assert submit(service, "ben", bought["signedTransactionInfo"])[0] == 200
    wait_for(lambda: rows(sums))
    failed = run("store", "rebuild-reports", "--data", service.data)
    assert failed.returncode == 1 and "in use by another process" in failed.stderr
    service.stop()
    before, [(last,)] = [rows(sums), rows(packs), rows(months)], rows("SELECT max(position) FROM posting")
    assert all(before)
    for change in ["report_cell SET units = units + 5", "report_pack SET cells = x''", "report_month SET cells = x''"]:
        rows(f"UPDATE {change}")
    done = run("store", "rebuild-reports", "--data", service.data)
    assert done.returncode == 0 and "ocean-journal" in done.stdout, done
    assert [rows(sums), rows(packs), rows(months)] == before
    assert rows("SELECT min(position) FROM posting")[0][0] > last, "no number is used again"


def test_reports_are_not_derived_without_the_configuration_of_all_apps(start, tmp_path):
    config = tmp_path / "entitled.yaml"
    config.write_text(run("config", "demo").stdout.replace("ocean-journal:", "sea-notes:"))
    service = start(arguments=["--config", config])
    bought = service.buy("lifetime", app="sea-notes")["signedTransactionInfo"]
    request = {"app": "sea-notes", "customerId": "ana", "signedTransaction": bought}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0] == 200
    service.stop()
    failed = run("store", "rebuild-reports", "--data", service.data)
    assert failed.returncode == 1 and not failed.stdout
    assert failed.stderr.startswith("entitled: the store has documents of apps that the configuration lacks: sea-notes; set --config")
    done = run("store", "rebuild-reports", "--data", service.data, "--config", config)
    assert done.returncode == 0 and "sea-notes" in done.stdout, done


@pytest.mark.parametrize("command", ["stats", "verify", "vacuum", "replay", "rebuild-reports"])
def test_maintenance_of_a_missing_store_creates_none(command, tmp_path):
    done = run("store", command, "--data", tmp_path)
    assert done.returncode == 1 and str(tmp_path) in done.stderr and not done.stdout, done
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small_disk():
    """A folder on a file system of 3 MiB; skips without the permission to mount."""
    with tempfile.TemporaryDirectory(prefix="small-disk-") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            pytest.skip("mounting a small file system requires root")
        try:
            yield pathlib.Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def fill(disk):
    """Fills a disk with a file, and returns it."""
    filler = os.open(disk / "filler", os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while os.write(filler, bytes(4096)):
            pass
    os.close(filler)
    return disk / "filler"


def test_a_full_disk_rejects_writes_serves_reads_and_recovers(small_disk):
    service = Service(small_disk / "data", ["--sandbox", "127.0.0.1:0"])
    try:
        buy(service, "ana")
        bought = service.buy("lifetime")["signedTransactionInfo"]
        order = json.dumps({"app": "ocean-journal", "productId": "pro.monthly"}).encode()
        _, made = post(f"http://{service.sandbox}/sandbox/v1/documents/notification", order)
        notification = {"signedPayload": made["document"]}

        filler = fill(small_disk)
        # The log may still have room for some.
        answers = [submit(service, f"customer-{number}", bought) for number in range(30)]
        status, answer = answers[-1]
        assert status == 503 and "DISK_FULL" in json.dumps(answer), answer
        for _ in range(5):
            status, _ = post(f"http://{service.http}/notifications/ocean-journal", notification)
            assert status == 503
        warnings = [line for line in service.log.splitlines() if " warning " in line]
        (warning,) = [line for line in warnings if "disk" in line or "space" in line]
        assert "disk full, writes are refused" in warning and "free space on this disk or enlarge it" in warning
        assert check(service, "ana"), "reads are served"

        filler.unlink()
        assert post(f"http://{service.http}/notifications/ocean-journal", notification)[0] == 200
        buy(service, "ben")
        assert check(service, "ben")
        service.stop()
        assert run("store", "verify", "--data", service.data).returncode == 0
    finally:
        if service.process.poll() is None:
            service.kill()


def bars(data, verb, *command):
    """The percentages that a command of the store shows on a terminal."""
    _, shown = on_terminal("store", *command, "--data", data)
    parts = [int(part) for part in re.findall(rf"\r{verb} \[#*\.*\] (\d+) %\x1b\[K", shown)]
    assert parts == sorted(parts) and all(part <= 100 for part in parts), shown
    # The line makes room for the result.
    assert not parts or "\r\x1b[K" in shown
    return parts


def test_long_work_shows_a_bar_on_a_terminal(tmp_path):
    data, output = tmp_path / "data", tmp_path / "export.ndjson"
    assert run("store", "seed", "--customers", "10", "--data", data).returncode == 0
    first = 1_000
    waiting = [
        ("evidence verified", "verify"), ("evidence replayed", "replay"), ("exported", "export", "--output", output)]
    # Work of less than a quarter of a second shows none, and a released program does ten times as much in it.
    for last in (8_000, 60_000):
        with contextlib.closing(sqlite3.connect(data / "entitled.sqlite")) as store, store:
            columns = [name for _, name, *_ in store.execute("PRAGMA table_info(evidence)")]
            changed = {"evidence_id": "number", "customer_id": "'c' || number"}
            copied = ", ".join(changed.get(name, name) for name in columns)
            store.execute(
                f"""
                WITH RECURSIVE copies (number) AS (SELECT {first} UNION ALL SELECT number + 1 FROM copies WHERE number < {last})
                INSERT INTO evidence SELECT {copied} FROM copies, (SELECT * FROM evidence LIMIT 1)
                """)
        first = last + 1
        output.unlink(missing_ok=True)
        waiting = [command for command in waiting if not bars(data, *command)]
    assert not waiting
