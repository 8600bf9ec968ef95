"""What the worker of reports takes from a notification, for `reports`."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.request

from posting import APP, CONFIGURATION, CONNECTIONS, PROGRAM, STREAMS, Load, build
from server import Server
from store import ENTITLED, seeded_store

CUSTOMERS = 20_000
METRIC = re.compile(r"^entitled_report_cpu_microseconds_total(?:\{[^}]*\})? ([\d.e+]+)$", re.M)


def report_seconds(port):
    """The CPU time of the worker so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return sum(float(value) for value in METRIC.findall(answer.read().decode())) / 1e6


def idle_report_seconds(port):
    """The CPU time of the worker once it has nothing to do for two seconds."""
    last, since = -1.0, time.monotonic()
    while time.monotonic() - since < 2:
        now = report_seconds(port)
        if now != last:
            last, since = now, time.monotonic()
        time.sleep(0.1)
    return last


def process_seconds(process):
    """The CPU time of all threads of a process."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def enqueue(store):
    """Queues all seeded purchases, because `entitled store seed` writes no postings."""
    database = sqlite3.connect(store)
    database.execute(
        "INSERT INTO report_queue (line_id, app, environment, evidence_id)"
        " SELECT line_id, app, environment, evidence_id FROM line_evidence"
        " WHERE line_id IN (SELECT line_id FROM transaction_fact) ON CONFLICT DO NOTHING"
    )
    database.commit()
    database.close()


def worker_share(quick):
    """The worker's CPU time for each notification, of the CPU time that the process takes without it."""
    build()
    count = 4_000 if quick else 20_000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        configuration = folder / "ingest.yaml"
        configuration.write_text(CONFIGURATION)
        subprocess.run([PROGRAM, folder, str(count), str(CUSTOMERS)], check=True)
        shutil.copytree(seeded_store(CUSTOMERS, configuration), folder / "data")
        enqueue(folder / "data" / "entitled.sqlite")
        listeners = ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--sandbox", "off", "--threads", "1"]
        command = [ENTITLED, "serve", *listeners, "--data", folder / "data", "--config", configuration]
        ready = r"^ready .*\bgrpc=127\.0\.0\.1:(\d+) http=127\.0\.0\.1:(\d+)"
        with Server("entitled", command, ready=ready) as server:
            # The postings of the seeded purchases come first, so that a notification finds them.
            before = idle_report_seconds(server.ports[1]), process_seconds(server.process)
            seconds = 2 if quick else 8
            extra = [
                "--connections", CONNECTIONS, "--streams", STREAMS, "--post", f"/notifications/{APP}",
                "--bodies", folder / "notifications.txt",
            ]  # fmt: skip
            Load("notifications", server, server.ports[1], seconds, 0, extra).result()
            report = idle_report_seconds(server.ports[1]) - before[0]
            return report / (process_seconds(server.process) - before[1] - report)
