"""The share of the reports' worker in the cost of a notification, for `reports`."""

import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.request

from native import OUTPUT
from posting import APP, CONNECTIONS, PROGRAM, STREAMS, Load, build
from server import Server
from store import ENTITLED

# Until the renewals begin.
HOURS = 12
# The CPU seconds that looking for work may take in a second.
LOOKING = 0.005
METRIC = re.compile(r"^entitled_report_cpu_microseconds_total(?:\{[^}]*\})? ([\d.e+]+)$", re.M)
CONFIGURATION = f"""
apps:
  {APP}:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    customer_from_app_account_token: true
    products:
      pro.monthly:
        {{type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
trusted_roots:
  - {{environment: Sandbox, certificate: root.der}}
"""


def report_seconds(port):
    """The CPU time of the worker so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return sum(float(value) for value in METRIC.findall(answer.read().decode())) / 1e6


def idle_report_seconds(port):
    """The CPU time of the worker once it has nothing to do: its longest pause is two seconds.

    The health checks wake it once a second to look for work, so its time never stands still.
    """
    last = report_seconds(port)
    while True:
        time.sleep(3)
        now = report_seconds(port)
        if now - last < LOOKING * 3:
            return now
        last = now


def process_seconds(process):
    """The CPU time of all threads of a process."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def post(server, bodies):
    """Posts all notifications of a file; returns the CPU seconds of the worker for them, and of everything else."""
    report, process = idle_report_seconds(server.ports[1]), process_seconds(server.process)
    extra = [
        "--connections", CONNECTIONS, "--streams", STREAMS, "--post", f"/notifications/{APP}", "--bodies", bodies,
    ]  # fmt: skip
    Load("notifications", server, server.ports[1], 600, 0, extra).result()
    report = idle_report_seconds(server.ports[1]) - report
    return report, process_seconds(server.process) - process - report


def worker_share(quick):
    """The worker's CPU time for each notification, of the CPU time that the process takes without it.

    The notifications are, in equal parts, renewals, cancellations and first purchases, one for each customer. Those of the
    one to twelve earlier periods of each subscription are posted before and not measured. A renewal begins later: Apple
    charges it up to a day before.
    """
    build()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    customers = 3_000 if quick else 9_000
    with tempfile.TemporaryDirectory(dir=OUTPUT) as name:
        folder = pathlib.Path(name)
        configuration = folder / "lives.yaml"
        configuration.write_text(CONFIGURATION)
        subprocess.run([PROGRAM, folder, str(HOURS * 3_600), str(customers), "lives"], check=True)
        listeners = ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--sandbox", "off", "--threads", "1"]
        command = [ENTITLED, "serve", *listeners, "--data", folder / "data", "--config", configuration]
        ready = r"^ready .*\bgrpc=127\.0\.0\.1:(\d+) http=127\.0\.0\.1:(\d+)"
        with Server("entitled", command, ready=ready) as server:
            post(server, folder / "history.txt")
            report, others = post(server, folder / "notifications.txt")
            print(
                f"a notification takes {others / customers * 1e6:.0f} us of CPU,"
                f" and the worker of reports {report / customers * 1e6:.0f} us more")
            return report / others
