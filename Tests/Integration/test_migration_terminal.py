"""Output of `entitled migrate`: a progress bar with rate and time left on a terminal, JSON otherwise."""

import json
import os
import pty
import re
import subprocess

import pytest

from harness import PROGRAM, environment
from test_migration_job import write
from test_migration_receipt import Store

CUSTOMERS = 24
BAR = re.compile(r"\[(#*)(\.*)\] (\d+) %  (\d+) done, (\d+) failed  (\d+)/s  (\d+ s left|\d+ min left)?")


@pytest.fixture
def store(start):
    store = Store(start())
    yield store
    store.channel.close()


@pytest.fixture
def slow_input(store, tmp_path):
    """Receipts that take about two seconds, and an invalid one."""
    for number in range(CUSTOMERS):
        store.buy(f"a{number}")
    records = [{"customer_id": f"a{n}", "receipt": store.receipt(f"a{n}")} for n in range(CUSTOMERS)]
    store.act("faults", kind="slow", count=1_000_000, by="150ms")
    return write(tmp_path / "in.ndjson", [*records, {"customer_id": "bad", "receipt": "?"}])


def command(store, path):
    return [str(PROGRAM), "migrate", "--input", str(path), "--concurrency", "4"], {
        "env": environment() | {"ENTITLED_GRPC": store.service.grpc}, "stderr": subprocess.STDOUT}  # fmt: skip


def read_all(descriptor):
    text = b""
    while True:
        try:
            piece = os.read(descriptor, 4096)
        except OSError:  # a terminal whose other end is closed
            return text.decode()
        if not piece:
            return text.decode()
        text += piece


def test_a_terminal_shows_a_progress_bar(store, slow_input):
    ours, theirs = pty.openpty()
    arguments, more = command(store, slow_input)
    process = subprocess.Popen(arguments, stdout=theirs, **more)
    os.close(theirs)
    output = read_all(ours)
    assert process.wait(30) == 3
    bars = [BAR.search(line) for line in output.split("\r") if line.startswith("[")]
    assert all(bars) and len(bars) >= 3, output
    assert all(len(bar[1]) + len(bar[2]) == 30 for bar in bars)
    done = [int(bar[4]) for bar in bars]
    assert done == sorted(done) and 0 < done[-1] <= CUSTOMERS + 1
    assert any(int(bar[6]) > 0 for bar in bars) and any(bar[7] for bar in bars), output
    # The report replaces the bar.
    report = output.rsplit("\x1b[K", 1)[1]
    assert re.search(r"^migrated +24\s*$", report, re.M) and re.search(r"^rejected +1\s*$", report, re.M)
    assert "NOT_BASE64" in report, report


def test_without_a_terminal_each_second_prints_a_line_of_json(store, slow_input):
    arguments, more = command(store, slow_input)
    done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, timeout=60, **more)
    assert done.returncode == 3 and "\r" not in done.stdout
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines and all(line["state"] == "MIGRATION_STATE_RUNNING" for line in lines)
    assert all({"doneLines", "rate", "doneBytes", "inputBytes"} <= line.keys() for line in lines)
    assert re.search(r"^migrated +24$", done.stdout, re.M)
    # With --json the last line is JSON, too.
    again = subprocess.run([*arguments, "--json"], stdout=subprocess.PIPE, text=True, timeout=60, **more)
    (last,) = again.stdout.splitlines()
    assert json.loads(last)["state"] == "MIGRATION_STATE_FINISHED"


def test_the_input_can_be_a_pipe(store, slow_input, tmp_path):
    arguments, more = command(store, "-")
    more["stderr"] = subprocess.PIPE
    done = subprocess.run(
        [*arguments, "--json", "--failures", str(tmp_path / "failed")], input=slow_input.read_text(),
        stdout=subprocess.PIPE, text=True, timeout=60, **more)  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["migrated"] == str(CUSTOMERS)
    (failure,) = (tmp_path / "failed").read_text().splitlines()
    assert json.loads(failure)["customer_id"] == "bad"
    assert (tmp_path / "failed").stat().st_mode & 0o777 == 0o600


def test_an_input_that_is_read_twice_is_no_pipe(store, tmp_path):
    os.mkfifo(tmp_path / "in")
    arguments, more = command(store, tmp_path / "in")
    done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, timeout=60, **more)
    reason = "it is not a regular file; - reads the standard input"
    assert (done.returncode, done.stdout) == (1, f"entitled: cannot read '{tmp_path}/in': {reason}\n")


def test_failed_lines_go_through_a_link_or_pipe_and_never_to_the_input(store, tmp_path):
    line = '{"customer_id":"bad","receipt":"?"}\n'
    path = tmp_path / "in.ndjson"
    path.write_text(line)
    arguments, more = command(store, path)

    def migrate(target):
        return subprocess.run(
            [*arguments, "--force", "--failures", str(target)], stdout=subprocess.PIPE, text=True, timeout=60, **more)

    (tmp_path / "link").symlink_to("target")
    (tmp_path / "target").write_text("old\n" * 100)
    assert migrate(tmp_path / "link").returncode == 3
    assert (tmp_path / "link").is_symlink()
    failure = (tmp_path / "target").read_text()
    assert json.loads(failure)["customer_id"] == "bad"

    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE, text=True)
    assert migrate(tmp_path / "pipe").returncode == 3
    assert reader.communicate(timeout=60)[0] == failure and (tmp_path / "pipe").is_fifo()

    (tmp_path / "input").symlink_to(path)
    done = migrate(tmp_path / "input")
    assert done.returncode == 64 and "is the input; name another file for the output" in done.stdout
    assert path.read_text() == line
