"""Server processes of a benchmark: started on one core, measured, and stopped."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

# The server has one core and the load generator another, if there are two.
SERVER_CORE, LOAD_CORE = (0, 1) if (os.cpu_count() or 1) > 1 else (0, 0)
START_LIMIT = 30
IDLE_CONNECTIONS = 1_000
# A client's first bytes: the preface and empty settings (RFC 9113, section 3.4).
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


def pinned(command, core, **options):
    """Starts a command pinned to one core, without the log of each call."""
    return subprocess.Popen(
        [str(part) for part in command],
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        text=True,
        env=os.environ | {"ENTITLED_LOG_LEVEL": "warning"},
        **options,
    )


class Server:
    """A running server with the port it listens on; leaving its `with` block stops it.

    The server prints its port in a line that `ready` matches, or listens on `port`.
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

    def memory(self, kind="VmRSS"):
        """The process's memory in KiB; `RssAnon` excludes mapped files such as a store's."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{kind}:\s+(\d+) kB", status)[1])

    def memory_of_a_connection(self):
        """KiB of the server's memory per idle HTTP/2 connection."""
        with contextlib.ExitStack() as open_sockets:
            def connect(count):
                for _ in range(count):
                    connection = open_sockets.enter_context(socket.create_connection(("127.0.0.1", self.port)))
                    connection.sendall(PREFACE)
                    connection.recv(64)
            connect(100)  # the first connections load shared memory
            before = self.memory("RssAnon")
            connect(IDLE_CONNECTIONS)
            return (self.memory("RssAnon") - before) / IDLE_CONNECTIONS

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
    """A port that is currently free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def load(generator, server, connections, streams, seconds, warmup, extra):
    """Puts load on a server; returns its CPU microseconds per call and the calls per second."""
    measured = measured_load(generator, server, connections, streams, seconds, warmup, extra)
    return measured["cpu_us"], measured["calls_per_second"]


class LoadFailed(SystemExit):
    """Some calls got a wrong response, or none in time."""


def measured_load(generator, server, connections, streams, seconds, warmup, extra):
    """Puts load on a server; returns the generator's measurements by name."""
    command = [
        generator, "--port", server.port, "--server-pid", server.process.pid,
        "--connections", connections, "--streams", streams,
        "--seconds", seconds, "--warmup", warmup, *extra,
    ]  # fmt: skip
    running = pinned(command, LOAD_CORE, stdout=subprocess.PIPE)
    output, _ = running.communicate(timeout=seconds + warmup + START_LIMIT)
    if running.returncode != 0:
        raise LoadFailed(f"the load on {server.name} failed: {output.strip() or 'see above'}")
    return {name: float(value) for name, value in (pair.split("=") for pair in output.split())}
