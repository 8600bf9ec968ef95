"""Posts signed notifications with the load generator, for `ingest` and `large-customers`."""

import contextlib
import os
import subprocess
import sys

from native import ROOT, load_generator
from server import LOAD_CORE, pinned
from store import ENTITLED

PROGRAM = ENTITLED.parent / "ingest-bench"
# Enough that the core is busy while the disk flushes: 1,024 in flight.
CONNECTIONS, STREAMS = 16, 64
APP = "ocean-journal"
CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    products:
      pro.yearly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro]}
trusted_roots:
  - {environment: Sandbox, certificate: root.der}
"""


def build():
    """Builds the writer of notifications; with ENTITLED_PROGRAM it is the one beside that program."""
    if PROGRAM.parent != ROOT / ".build" / "release":
        return
    subprocess.run([ROOT / "tools" / "build", "--product", PROGRAM.name], check=True, stdout=sys.stderr)


class Load:
    """A running load generator."""

    def __init__(self, name, server, port, seconds, warmup, extra):
        command = [
            load_generator(), "--port", port, "--server-pid", server.process.pid,
            "--seconds", seconds, "--warmup", warmup, *extra,
        ]  # fmt: skip
        self.name = name
        self.process = pinned(command, LOAD_CORE, stdout=subprocess.PIPE)

    def yields(self):
        """Lowers its priority on its core, so that its delays do not count as the server's."""
        os.sched_setscheduler(self.process.pid, os.SCHED_IDLE, os.sched_param(0))
        return self

    def goes_first(self):
        """Raises its priority on its core if permitted, so that its own delays do not count as the server's."""
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(self.process.pid, os.SCHED_FIFO, os.sched_param(1))
        return self

    def result(self):
        """Its measurements by name."""
        output, _ = self.process.communicate()
        if self.process.returncode != 0:
            raise SystemExit(f"the load of {self.name} failed: {output.strip() or 'see above'}")
        return {key: float(value) for key, value in (pair.split("=") for pair in output.split())}
