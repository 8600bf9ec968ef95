"""The program under test as a process: start it, read its ports, stop or kill it."""

import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import grpc

import stores

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("ENTITLED_PROGRAM", ROOT / ".build" / "release" / "entitled"))
# The program without the sandbox, which a release installs as `entitled`.
SERVICE_PROGRAM = PROGRAM.with_name("entitled-service")
TESTDATA = pathlib.Path(os.environ.get("ENTITLED_TESTDATA", ROOT.parent / "shared" / "testdata"))
READY = re.compile(r"^ready grpc=(\S+) http=(\S+) sandbox=(\S+) data=(.+)$")
# Whether the program runs with a sanitizer (set by tools/test-sanitized), which makes it several times slower.
SANITIZED = "ENTITLED_SANITIZED" in os.environ
# Whether it is the thread sanitizer, which needs files that images lack.
THREAD_SANITIZED = "TSAN_OPTIONS" in os.environ
# Whether the long form of tests runs, as in `make test-long`.
IS_LONG = "ENTITLED_LONG" in os.environ
_SLOWNESS = 4 if SANITIZED else 1
START_LIMIT = 30 * _SLOWNESS
STOP_LIMIT = 40 * _SLOWNESS  # longer than the service waits for unresponsive clients
CALL_LIMIT = 10 * _SLOWNESS
# For messages of megabytes: each takes a second of a core in the client and in the service, which a busy machine divides.
LARGE_CALL_LIMIT = 6 * CALL_LIMIT


# Below the ephemeral range (net.ipv4.ip_local_port_range), so that no other test gets the port
# before it is used; each pytest worker starts at a different port.
_ports = itertools.count(10_000 + os.getpid() * 97 % 20_000)


def free_port():
    """Returns a free port for a program that cannot bind port 0."""
    for port in _ports:
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def wait_for(condition, limit=6 * CALL_LIMIT):
    """Repeats `condition` until it returns something true, and returns that. For work that no response waits for."""
    end, pause = time.monotonic() + limit, 0.01
    while not (found := condition()):
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(pause)
        pause = min(1.5 * pause, 0.1)  # a busy machine has better things to do
    return found


def environment():
    """This process's environment without settings that change the behaviour of `entitled`."""
    return {k: v for k, v in os.environ.items() if not k.startswith("ENTITLED_")}


# Every listener of `entitled serve` on a free local port.
FREE_PORTS = ("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--sandbox", "127.0.0.1:0")


# Called with the path and the response of each failed POST; interceptors of the channels of services. conftest.py sets
# both, so that errors are checked in passing.
error_checks = []
interceptors = []


class Service:
    """One running `entitled serve` with free ports and a data directory of the test's choice.

    Its standard error goes to the descriptor `errors`, if there is one, and otherwise to `log`.
    """

    def __init__(self, data, arguments=(), errors=subprocess.STDOUT):
        self.data = pathlib.Path(data)
        store = [] if "--store" in arguments else stores.arguments(self.data)
        command = [PROGRAM, "serve", *FREE_PORTS, "--data", self.data, *store, *arguments]
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.PIPE, stderr=errors, text=True, env=environment(),
        )  # fmt: skip
        self._lines = []
        self._ready = threading.Event()
        self.grpc = self.http = self.sandbox = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._ready.wait(START_LIMIT) or self.grpc is None:
            self.kill()
            raise AssertionError(f"entitled did not become ready; output:\n{self.log}")

    def _read(self):
        for line in self.process.stdout:
            self._lines.append(line)
            if found := READY.match(line):
                self.grpc, self.http, self.sandbox = found[1], found[2], found[3]
                self._ready.set()
        self._ready.set()

    @property
    def log(self):
        """Everything the process has printed so far."""
        return "".join(self._lines)

    @property
    def memory(self):
        """Resident memory in bytes; 0 with the address sanitizer, which delays the reuse of freed memory."""
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return 0 if SANITIZED else int(pages) * os.sysconf("SC_PAGE_SIZE")

    def metrics(self):
        """The values of the metrics without labels, by name."""
        with urllib.request.urlopen(f"http://{self.http}/metrics", timeout=CALL_LIMIT) as page:
            text = page.read().decode()
        return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.M)}

    def wait_until_leading(self):
        """Waits until the service writes to its store itself; a replica on PostgreSQL passes requests on until it leads."""
        wait_for(lambda: stores.IS_SQLITE or "took over as leader" in self.log)
        return self

    def readiness(self):
        """The response of the readiness probe: its status and its document."""
        with response_to(f"http://{self.http}/readyz") as answer:
            return answer.status, json.load(answer)

    def channel(self, **options):
        """A new gRPC channel; `max_message=…` lifts the client's own limit."""
        pairs = [(key.replace("_", "."), value) for key, value in options.items()]
        channel = grpc.insecure_channel(self.grpc, options=[("grpc.use_local_subchannel_pool", 1), *pairs])
        return grpc.intercept_channel(channel, *interceptors)

    def stop(self):
        """Sends SIGTERM; asserts that the process exits with status 0."""
        self.process.send_signal(signal.SIGTERM)
        self.join(0)

    def join(self, status):
        """Asserts that the process exits with this status."""
        try:
            assert self.process.wait(STOP_LIMIT) == status, self.log
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"entitled did not stop; output:\n{self.log}") from None
        self._require_no_finding()

    def kill(self):
        """Sends SIGKILL, so that the process cannot finish anything."""
        self.process.kill()
        self.process.wait()
        self._require_no_finding()

    def _require_no_finding(self):
        """Asserts that no sanitizer has found anything; the exit status of a killed process does not tell."""
        self._reader.join(STOP_LIMIT)
        assert not SANITIZED or "Sanitizer:" not in self.log, self.log

    def buy(self, product, app="ocean-journal", **more):
        """Buys in the sandbox App Store; returns its response."""
        order = {"app": app, "productId": product, **more}
        status, answer = post(f"http://{self.sandbox}/sandbox/v1/purchases", order)
        assert status == 200, answer
        return answer

    def json(self, method, request, **headers):
        """Makes a unary call as JSON on the edge; returns the HTTP status and the response."""
        return post(f"http://{self.http}/{method}", request, headers)

    def evidence(self, customer):
        """The stored evidence of a customer's submissions: kind, rejection reason, SHA-256, whether complete."""
        # A rejected body is stored once for all evidence with its content.
        query = f"""
            SELECT kind, rejection, content_hash, EXISTS (
                SELECT 1 FROM evidence other WHERE other.content_hash = e.content_hash AND other.body IS NOT NULL)
                AS has_body
            FROM evidence e WHERE customer_id = '{customer.replace("'", "''")}' ORDER BY evidence_id"""
        return stores.query(self.data, query)

    def command(self, *arguments, stdin=None, timeout=START_LIMIT):
        """Runs `entitled` with these arguments against this service; adds its addresses."""
        env = environment() | {
            "ENTITLED_GRPC": self.grpc, "ENTITLED_HTTP": self.http, "ENTITLED_SANDBOX": self.sandbox,
        }  # fmt: skip
        return run(*arguments, env=env, stdin=stdin, timeout=timeout)


def run(*arguments, env=None, stdin=None, timeout=START_LIMIT):
    """Runs `entitled` until it exits; returns the completed process with its output as text."""
    if arguments[:1] == ("store",) and "--data" in arguments and not {"--store", "seed"} & set(arguments):
        arguments = (*arguments, *stores.arguments(arguments[arguments.index("--data") + 1]))
    return subprocess.run(
        [str(PROGRAM), *map(str, arguments)],
        capture_output=True, text=True, timeout=timeout, env=env or environment(), input=stdin,
    )  # fmt: skip


def command_tree(program=PROGRAM):
    """The commands of a program as it describes them. A program without optimization computes for seconds, so the test
    process that needs them first writes them to a file beside the program."""
    described, lock = (program.with_name(f"{program.name}.commands.{suffix}") for suffix in ("json", "lock"))
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not described.exists() or described.stat().st_mtime < program.stat().st_mtime:
            described.write_bytes(subprocess.check_output([program, "--experimental-dump-help"], env=environment()))
    return json.loads(described.read_bytes())["command"]


def on_terminal(*arguments, env=None):
    """Runs `entitled` with a terminal as its standard error; returns its exit status and what the terminal got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(PROGRAM), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs, env=environment() | (env or {}))
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal whose other end is closed
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    return process.wait(START_LIMIT), shown.decode()


def response_to(request, timeout=CALL_LIMIT):
    """The response to a request or URL, also one whose status is an error; a context that closes it."""
    try:
        return urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        return error


def post(url, body, headers=None, timeout=CALL_LIMIT):
    """POSTs JSON (or raw bytes); returns the status and the response, decoded if it is JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", **(headers or {})})
    with response_to(request, timeout) as answer:
        text = answer.read().decode()
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        decoded = json.loads(text) if is_json else text
        for check in error_checks if answer.status >= 400 else ():
            check(urllib.parse.urlsplit(url).path, decoded)
        return answer.status, decoded
