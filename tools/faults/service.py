"""Replicas of `entitled`, each on its own machine."""

import base64
import os
import pathlib
import re
import secrets
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("ENTITLED_PROGRAM", ROOT / ".build" / "release" / "entitled"))
APP = "ocean-journal"
START_LIMIT, STOP_LIMIT, MIGRATE_LIMIT = 60, 40, 120
CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    customer_from_app_account_token: true
    products:
      pro.yearly: {{type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro]}}
    webhooks:
      billing: {{url: "{webhook}", allow_http: true, secret: {{file: webhook.secret}}, retry_seconds: [1]}}
trusted_roots:
  - {{environment: Sandbox, certificate: root.der}}
erasures: {{key: installation.key}}
callers: open
listeners:
  grpc: {{cleartext: true}}
  http: {{cleartext: true}}
log: {{format: json, level: info}}
"""


def write_configuration(folder, webhook):
    """The configuration of all replicas, and the files that it names."""
    (folder / "entitled.yaml").write_text(CONFIGURATION.format(webhook=webhook))
    for name, text in (
        ("installation.key", base64.b64encode(secrets.token_bytes(32)).decode() + "\n"),
        ("webhook.secret", "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode() + "\n"),
    ):
        (folder / name).touch(0o600)
        (folder / name).write_text(text)


class Program:
    """A version of `entitled`: its program, and the environment that makes it this version."""

    def __init__(self, path, version=None):
        self.path = path
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ENTITLED_")} | (version or {})

    def run(self, *arguments, stderr=subprocess.PIPE):
        """Runs a command; with `None` for `stderr`, its progress and errors are shown."""
        command = [str(part) for part in (self.path, *arguments)]
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False, env=self.environment)

    def migrate(self, store, *step):
        """Changes the tables. The last step waits until the replicas of the version before are known to have ended."""
        deadline = time.monotonic() + MIGRATE_LIMIT
        while (done := self.run("store", "migrate", *step, "--store", store)).returncode != 0:
            if time.monotonic() > deadline:
                raise SystemExit(f"entitled store migrate failed: {done.stderr}")
            time.sleep(1)


def next_version():
    """The version with the next schema, which only debug builds have; `None` without such a build."""
    builds = [PROGRAM] if "debug" in PROGRAM.parts else [ROOT / ".build" / "debug" / "entitled"]
    return next((Program(path, {"ENTITLED_TEST_SCHEMA": "2"}) for path in builds if path.exists()), None)


class Replica:
    """A process of `entitled serve` on its machine, started again after each end."""

    def __init__(self, network, name, folder, store):
        self.machine, self.name = network.machine(name), name
        self.grpc, self.http = f"{self.machine.address}:50051", f"{self.machine.address}:8080"
        self.log = folder / f"{name}.log"
        self.arguments = [
            "serve", "--grpc", self.grpc, "--http", self.http, "--sandbox", "off", "--data", folder / name,
            "--config", folder / "entitled.yaml", "--store", store, "--replica", name,
        ]  # fmt: skip
        self.program = Program(PROGRAM)
        self.process = None
        self.starts = 0
        # The customers in the memory of the process.
        self.answered = set()

    def start(self):
        command = [self.program.path, *self.arguments]
        self.process = self.machine.start(command, self.log, env=self.program.environment)
        self.starts += 1
        self.answered = set()

    def signal(self, number):
        """Sends a signal to the process; nsenter became it."""
        os.kill(self.process.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def freeze(self):
        self.signal(signal.SIGSTOP)

    def wake(self):
        self.signal(signal.SIGCONT)

    def stop(self):
        """A planned stop; returns the exit status."""
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            self.kill()
            return -1

    def last_line(self):
        """The last line of its log; empty without any."""
        return next(iter(self.log.read_text(errors="replace").splitlines()[-1:]), "")

    def epochs(self):
        """The epochs in which it led, as its log states; 0 is that of a lease which was lost before it was logged."""
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if "took over as leader" in line]
        return [found[1] for line in lines if (found := re.search(r'"epoch":"?([1-9]\d*)', line))]


def sign_notifications(folder, count, customers):
    """Bodies as Apple posts them, signed by a test root, and that root in `folder`: renewals of the subscriptions of
    customers whose ids are their tokens."""
    for place in (PROGRAM.parent, ROOT / ".build" / "debug"):
        if (place / "ingest-bench").exists():
            subprocess.run([place / "ingest-bench", folder, str(count), str(customers), "renewals"], check=True)
            return (folder / "notifications.txt").read_bytes().splitlines()
    raise SystemExit("tools/replicas: no ingest-bench beside the program; run tools/build")
