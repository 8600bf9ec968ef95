"""`entitled export`: daily partitions of events and postings, each number once, also after kills; DuckDB and pyarrow
read them, and MRR in SQL is that of QueryReport."""

import collections
import contextlib
import datetime
import gzip
import itertools
import json
import os
import pathlib
import random
import select
import re
import shutil
import signal
import subprocess
import time

import grpc
import jsonschema
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

import contract
from contract import report_service
from harness import CALL_LIMIT, PROGRAM, Service, environment, run
from report_lives import APP, CONFIGURATION, DAY, Lives, Reports, eventually

DAYS = int(os.environ.get("ENTITLED_WAREHOUSE_DAYS", 25))
KILLS = int(os.environ.get("ENTITLED_WAREHOUSE_KILLS", 6))
# The column with the number of a row.
NUMBERS = {"events": "sequence", "postings": "number"}
NAME = re.compile(r"known_day=(\d{4}-\d\d-\d\d)/(\d{20})-(\d{20})\.ndjson\.gz$")


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warehouse")
    segments = "    segments:\n      renewing: {states: [ACTIVE_AUTO_RENEW_ON]}\n"
    (folder / "entitled.yaml").write_text(CONFIGURATION + segments, encoding="utf-8")
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    lives = Lives(service)
    lives.live(DAYS)
    yield service, lives
    service.stop()


def command(service, directory, *options):
    return [str(PROGRAM), "export", str(directory), "--grpc", service.grpc, "--app", APP, *options]


def export(service, directory, *options):
    done = subprocess.run(command(service, directory, *options), capture_output=True, text=True, timeout=CALL_LIMIT, env=environment())
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(directory, kind):
    """The files of one kind by their numbers, each with its day."""
    found = []
    for path in (directory / kind).glob("known_day=*/*"):
        day, first, last = NAME.search(path.as_posix()).groups()
        found.append((int(first), int(last), day, path))
    return sorted(found)


def rows(directory, kind):
    """All rows in the order of their numbers."""
    found, end = [], 0
    for (first, last), part in itertools.groupby(files(directory, kind), key=lambda file: file[:2]):
        lines = []
        for _, _, day, path in part:
            lines += (of_day := [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()])
            known = "known_at" if kind == "postings" else "recorded_at"
            assert {line[known][:10] for line in of_day} == {day}
        lines.sort(key=lambda line: line[NUMBERS[kind]])
        assert (lines[0][NUMBERS[kind]], lines[-1][NUMBERS[kind]]) == (first, last) and first > end
        found += lines
        end = last
    numbers = [row[NUMBERS[kind]] for row in found]
    assert numbers == sorted(set(numbers)), "two rows have one number"
    return found


def comparable(postings):
    """What the rows say, without their numbers, and with the day of `known_at`."""
    return sorted(
        json.dumps({**row, "number": 0, "known_at": row["known_at"][:10]}, sort_keys=True) for row in postings
    )


def stored_postings(service):
    stub = contract.report_stub(service.channel())
    request = report_service.ListPostingsRequest(app=APP)
    return [posting for page in stub.ListPostings(request, timeout=CALL_LIMIT) for posting in page.postings]


def exported(service, directory):
    """All rows of the postings, when an export has each stored one. The service derives postings in the background; one that
    an export has left out is never there, because each export continues after the last."""

    def check():
        export(service, directory)
        found, known = rows(directory, "postings"), stored_postings(service)
        assert known and [row["number"] for row in found] == [posting.number for posting in known]
        return found, known

    return eventually(check)


def test_an_export_has_each_posting_and_event_once_with_its_schema(lived, tmp_path):
    service, _ = lived
    found, known = exported(service, tmp_path)
    for row, posting in zip(found, known):
        assert (row["kind"], row["units"], row["amount"], row["product_id"]) == (
            posting.kind, posting.units, posting.amount, posting.product_id,
        )  # fmt: skip
    events = rows(tmp_path, "events")
    assert [row["sequence"] for row in events] == list(range(1, len(events) + 1)), "sequences have no gaps"
    segments = {row["segment"] for row in events if row["type"] in ("SEGMENT_ENTERED", "SEGMENT_LEFT")}
    assert segments == {"renewing"} and not any(row["segment"] for row in events if "SEGMENT" not in row["type"])
    for kind, lines in (("postings", found), ("events", events)):
        schema = json.loads((tmp_path / kind / "schema.json").read_text(encoding="utf-8"))
        check = jsonschema.Draft202012Validator(schema)
        for line in lines[::7]:
            check.validate(line)
    eventually(lambda: _require_nothing_new(service, tmp_path))


def _require_nothing_new(service, directory):
    assert export(service, directory) == "nothing new\n"


def test_postings_are_listed_by_time_with_the_stocks_before_and_not_after_one_that_is_gone(lived):
    service, lives = lived
    stub = contract.report_stub(service.channel())
    eventually(lambda: _require_listed_by_time(service, lives, stub))
    day, next_day = Timestamp(seconds=0), Timestamp(seconds=86_400)
    for wrong, reason, field in (
        ({"after_number": 10**12}, "UNKNOWN_POSTING", "after_number"),
        ({"opening": True}, "INVALID_RANGE", "opening"),
        ({"start_time": day, "end_time": next_day, "after_number": 1}, "INVALID_RANGE", "after_number"),
        ({"start_time": day}, "INVALID_RANGE", "end_time"),
        ({"end_time": day}, "INVALID_RANGE", "start_time"),
        ({"start_time": Timestamp(seconds=1), "end_time": next_day, "opening": True}, "INVALID_RANGE", "start_time"),
    ):
        with pytest.raises(grpc.RpcError) as failure:
            list(stub.ListPostings(report_service.ListPostingsRequest(app=APP, **wrong), timeout=CALL_LIMIT))
        assert (contract.reason(failure.value), contract.violations(failure.value)) == (reason, [field])


def _require_listed_by_time(service, lives, stub):
    known = stored_postings(service)
    request = report_service.ListPostingsRequest(app=APP, opening=True)
    first, end = (lives.first + 5) * DAY, (lives.first + 9) * DAY
    request.start_time.FromMilliseconds(first)
    request.end_time.FromMilliseconds(end)
    found = [posting for page in stub.ListPostings(request, timeout=CALL_LIMIT) for posting in page.postings]
    sums = [posting for posting in found if not posting.number]
    times = {posting.number: posting.effective_at.ToMilliseconds() for posting in known}
    assert [posting.number for posting in found if posting.number] == sorted(
        (number for number, at in times.items() if first <= at < end), key=lambda number: (times[number], number)
    )
    before = sum(posting.units for posting in known if posting.kind == "ACTIVE" and times[posting.number] < first)
    assert sum(posting.units for posting in sums if posting.kind == "ACTIVE") == before


def test_late_facts_are_new_files_and_old_ones_stay_as_they_are(lived, tmp_path):
    service, lives = lived
    exported(service, tmp_path)
    before = {path: path.read_bytes() for *_, path in files(tmp_path, "postings")}
    late = datetime.datetime.fromtimestamp((lives.first + 1) * DAY / 1000, datetime.timezone.utc)
    lives.act("purchases", app=APP, productId="coins", account="late", purchaseDate=late.isoformat().replace("+00:00", "Z"))
    lives.wait_for_notifications()
    charge = eventually(lambda: _require_late_charge(service, tmp_path, before))
    after = {path: path.read_bytes() for *_, path in files(tmp_path, "postings")}
    assert {path: after[path] for path in before} == before
    assert charge["effective_at"][:10] == late.date().isoformat() < charge["known_at"][:10]


def _require_late_charge(service, directory, before):
    export(service, directory)
    new = [path for *_, path in files(directory, "postings") if path not in before]
    found = [row for path in new for row in map(json.loads, gzip.decompress(path.read_bytes()).splitlines())]
    late = [row for row in found if row["effective_at"][:10] < row["known_at"][:10]]
    charges = [row for row in late if (row["kind"], row["product_id"]) == ("CHARGE", "coins")]
    assert charges
    return charges[0]


def test_duckdb_and_pyarrow_recount_mrr(lived, tmp_path):
    service, lives = lived
    eventually(lambda: _recount_mrr(service, lives, tmp_path))


def _recount_mrr(service, lives, tmp_path):
    # Each worker imports this module, and only one needs these.
    import duckdb
    import pyarrow.compute
    import pyarrow.json

    export(service, tmp_path)
    expected = {
        (day, currency): value
        for (_, day, currency), value in Reports(service, lives).values("mrr", "closing").items()
    }
    assert expected
    source = f"read_json('{tmp_path}/postings/*/*.ndjson.gz', hive_partitioning = true)"
    found = {}
    for day in range(lives.first, lives.end):
        end = datetime.datetime.fromtimestamp((day + 1) * DAY / 1000, datetime.timezone.utc)
        query = f"""
            SELECT currency, CAST(sum(amount) AS BIGINT) FROM {source}
            WHERE kind = 'ACTIVE' AND effective_at < TIMESTAMP '{end:%Y-%m-%d %H:%M:%S}'
            GROUP BY currency HAVING sum(amount) <> 0
        """
        found |= {(day, currency): value for currency, value in duckdb.sql(query).fetchall()}
    assert found == expected
    tables = [pyarrow.json.read_json(gzip.open(path)) for *_, path in files(tmp_path, "postings")]
    totals = collections.Counter()
    for table in tables:
        active = table.filter(pyarrow.compute.equal(table["kind"], "ACTIVE"))
        for row in active.group_by("currency").aggregate([("amount", "sum")]).to_pylist():
            totals[row["currency"]] += row["amount_sum"]
    last = {currency: value for (day, currency), value in expected.items() if day == lives.end - 1}
    assert {currency: value for currency, value in totals.items() if value} == last


def test_an_export_that_is_killed_at_any_moment_has_no_number_twice_or_missing(lived, tmp_path):
    service, lives = lived
    chance = random.Random(7)
    for kill in range(KILLS):
        for _ in range(3):
            lives.step()
        process = subprocess.Popen(
            command(service, tmp_path, "--follow", "--interval", "0.1"), stdout=subprocess.PIPE, text=True, env=environment()
        )
        if kill % 2:
            # At once after a file, while the next one is written; if nothing is new, there is none.
            select.select([process.stdout], [], [], 2)
        time.sleep(chance.random() * 0.4)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    torn = tmp_path / "postings" / "known_day=2020-01-01"
    torn.mkdir()
    (torn / "00000000000000000001-00000000000000000002.ndjson.gz.new").write_bytes(b"\x1f\x8b torn")
    exported(service, tmp_path)
    events = rows(tmp_path, "events")
    assert [row["sequence"] for row in events] == list(range(1, len(events) + 1))


def test_an_export_that_is_killed_between_the_files_of_a_part_is_completed_or_written_again(lived, tmp_path):
    service, _ = lived
    known, _ = exported(service, tmp_path)
    first, *others = sorted(path for *_, path in files(tmp_path, "postings"))
    assert others, "a part has a file for each day"
    for drafts in ([first], others, [first, *others]):
        for path in drafts:
            path.rename(path.with_name(path.name + ".draft"))
        assert exported(service, tmp_path)[0] == known
        assert not list(tmp_path.rglob("*.draft"))


def test_postings_that_were_derived_again_need_a_file_for_each_day(tmp_path):
    config = tmp_path / "entitled.yaml"
    config.write_text(CONFIGURATION, encoding="utf-8")
    service = Service(tmp_path / "data", ["--config", config])
    try:
        lives = Lives(service)
        lives.live(16)
        before, _ = exported(service, tmp_path / "before")
    finally:
        service.stop()
    done = run("store", "rebuild-reports", "--data", tmp_path / "data", "--config", config)
    assert done.returncode == 0, done.stderr
    service = Service(tmp_path / "data", ["--config", config])
    try:
        after, _ = exported(service, tmp_path / "after")
    finally:
        service.stop()
    days = [row["known_at"][:10] for row in after]
    assert comparable(after) == comparable(before)
    assert len([day for day, _ in itertools.groupby(days)]) > len(set(days)), "a purchase is followed by an older one"
    assert len(files(tmp_path / "after", "postings")) == len(set(days))


def test_a_directory_takes_one_export_of_one_app(lived, tmp_path):
    service, _ = lived
    export(service, tmp_path)
    other = subprocess.run(
        command(service, tmp_path, "--environment", "Sandbox"), capture_output=True, text=True, timeout=CALL_LIMIT, env=environment()
    )
    assert (other.returncode, "another app or environment" in other.stderr) == (64, True)
    process = subprocess.Popen(command(service, tmp_path, "--follow"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        # The second process would be the first one otherwise.
        eventually(lambda: _require_open(process, tmp_path))
        _require_busy(service, tmp_path)
    finally:
        process.kill()
        process.communicate()


def _require_open(process, directory):
    files = []
    for file in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            files.append(os.readlink(file))
    assert any(file.startswith(str(directory)) for file in files)


def _require_busy(service, directory):
    second = subprocess.run(command(service, directory), capture_output=True, text=True, timeout=CALL_LIMIT, env=environment())
    assert (second.returncode, "another process uses" in second.stderr) == (1, True)


def test_an_export_stops_if_the_service_was_restored_and_has_other_events(tmp_path):
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION, encoding="utf-8")
    data, backup, warehouse = tmp_path / "data", tmp_path / "backup", tmp_path / "warehouse"

    def run(*customers):
        """A service in which these customers get a grant, and the export after it."""
        service = Service(data, ["--config", tmp_path / "entitled.yaml"])
        try:
            for customer in customers:
                granted = service.command("grants", "create", customer, "pro", "--app", APP)
                assert granted.returncode == 0, granted.stderr
            return subprocess.run(
                command(service, warehouse), capture_output=True, text=True, timeout=CALL_LIMIT, env=environment())
        finally:
            service.stop()

    assert run("ann").returncode == 0
    shutil.copytree(data, backup)
    assert run("ben").returncode == 0
    exported = rows(warehouse, "events")
    assert run().returncode == 0, "a restart is no restore"
    for customers in ((), ("cleo", "dora", "eve")):
        shutil.rmtree(data)
        shutil.copytree(backup, data)
        done = run(*customers)
        assert done.returncode == 1 and "is not that of the service, which was restored" in done.stderr, done
    assert rows(warehouse, "events") == exported
