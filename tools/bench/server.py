"""Servers of a benchmark: each started on a core of its own, measured, and stopped."""

import os
import re
import signal
import socket
import subprocess
import time

# The server under load has one core and the load generator another, where there are two.
SERVER_CORE, LOAD_CORE = (0, 1) if (os.cpu_count() or 1) > 1 else (0, 0)
START_LIMIT = 30


def pinned(command, core, **options):
    """Starts a command that may use only one core."""
    return subprocess.Popen(
        [str(part) for part in command],
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        text=True,
        **options,
    )


class Server:
    """A running server with the port it listens on; leaving its `with` block stops it.

    It says its ports itself, in a line that `ready` matches, or is told the one by `port`.
    """

    def __init__(self, name, command, ready=None, port=None):
        self.name = name
        self.process = pinned(command, SERVER_CORE, stdout=subprocess.PIPE if ready else subprocess.DEVNULL)
        self.ports = self._announced_ports(ready) if ready else [self._reachable(port)]
        self.port = self.ports[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def _announced_ports(self, ready):
        for line in self.process.stdout:
            if found := re.search(ready, line):
                return [int(port) for port in found.groups()]
        raise SystemExit(f"{self.name} ended before it was ready (status {self.process.wait()})")

    def _reachable(self, port):
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.05)
        raise SystemExit(f"{self.name} does not listen on port {port}")


def free_port():
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def load(generator, server, connections, streams, seconds, warmup, extra):
    """Puts load on a server; returns its CPU microseconds per call and the calls per second."""
    command = [
        generator, "--port", server.port, "--server-pid", server.process.pid,
        "--connections", connections, "--streams", streams,
        "--seconds", seconds, "--warmup", warmup, *extra,
    ]  # fmt: skip
    running = pinned(command, LOAD_CORE, stdout=subprocess.PIPE)
    output, _ = running.communicate(timeout=seconds + warmup + START_LIMIT)
    if running.returncode != 0:
        raise SystemExit(f"the load on {server.name} failed: {output.strip() or 'see above'}")
    values = dict(pair.split("=") for pair in output.split())
    return float(values["cpu_us"]), float(values["calls_per_second"])
