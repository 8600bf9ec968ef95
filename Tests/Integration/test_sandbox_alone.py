"""`entitled sandbox serve` as a separate process, with its state in memory only."""

import contextlib
import http.server
import json
import subprocess
import threading
import urllib.request

import pytest

from harness import CALL_LIMIT, PROGRAM, STOP_LIMIT, environment, post

APP = "ocean-journal"
APPS = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M,
        price: 4.99, currency: USD}
"""


def test_a_sandbox_in_memory_sells_and_leaves_no_files(tmp_path):
    roots = set()
    for _ in range(2):
        command = [PROGRAM, "sandbox", "serve", "--in-memory", "--sandbox", "127.0.0.1:0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(), cwd=tmp_path)
        try:
            address = process.stdout.readline().strip().removeprefix("ready sandbox=")
            status, bought = post(
                f"http://{address}/sandbox/v1/purchases", {"app": "ocean-journal", "productId": "pro.monthly"})
            assert status == 200, bought
            roots.add(bought["signedTransactionInfo"].split(".")[0])
        finally:
            process.terminate()
            assert process.wait(STOP_LIMIT) == 0
            process.stdout.close()
    assert len(roots) == 2, "a restart makes another App Store"
    assert not list(tmp_path.iterdir())



def test_memory_and_a_directory_are_mutually_exclusive(tmp_path):
    command = [PROGRAM, "sandbox", "serve", "--in-memory", "--data", "here"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), cwd=tmp_path, timeout=STOP_LIMIT)
    assert done.returncode == 64
    assert "--data and --in-memory exclude each other" in done.stderr


@pytest.mark.parametrize("command", [["sandbox", "serve", "--in-memory"], ["serve", "--grpc", "127.0.0.1:0"]])
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_an_address_beyond_loopback_needs_allow_remote(tmp_path, command, address):
    done = subprocess.run(
        [PROGRAM, *command, "--sandbox", address], capture_output=True, text=True, env=environment(), cwd=tmp_path,
        timeout=STOP_LIMIT)
    assert done.returncode == 64
    assert "--allow-remote" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("allowance", [["--allow-remote"], {"ENTITLED_ALLOW_REMOTE": "true"}])
def test_allow_remote_permits_an_address_beyond_loopback(tmp_path, allowance):
    flags, variables = (allowance, {}) if isinstance(allowance, list) else ([], allowance)
    command = [PROGRAM, "sandbox", "serve", "--in-memory", "--sandbox", "0.0.0.0:0", *flags]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment() | variables, cwd=tmp_path)
    try:
        assert process.stdout.readline().startswith("ready sandbox=0.0.0.0:")
    finally:
        process.terminate()
        assert process.wait(STOP_LIMIT) == 0
        process.stdout.close()


class Calls:
    """Calls of a sandbox."""

    def __init__(self, url):
        self.url = url

    def __call__(self, path, body):
        return post(self.url + path, body)

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=CALL_LIMIT) as answer:
            return json.load(answer)


@pytest.fixture
def sandbox(tmp_path):
    """Starts a sandbox in memory; returns its calls."""
    running = []

    def start(*flags, config="", **variables):
        (tmp_path / "entitled.yaml").write_text(APPS + config)
        command = [
            PROGRAM, "sandbox", "serve", "--in-memory", "--sandbox", "127.0.0.1:0", "--config",
            tmp_path / "entitled.yaml", *flags]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
            env=environment() | variables))
        address = running[-1].stdout.readline().strip().removeprefix("ready sandbox=")
        return Calls(f"http://{address}/sandbox/v1/")

    yield start
    for process in running:
        process.terminate()
        assert process.wait(STOP_LIMIT) == 0
        process.stdout.close()


def set_url(call, url):
    return call("notification-url", {"app": APP, "url": url})


@pytest.mark.parametrize("url", [
    "http://backend.test/hook", "http://169.254.169.254/latest", "http://127.0.0.1@backend.test/",
    "http://127.0.0.1.backend.test/", "http://backend.test#@127.0.0.1/", "file:///etc/passwd",
    "http+unix://%2Frun%2Fx.sock/", "http://0.0.0.0:1/", "http://[::ffff:10.0.0.1]/", "//127.0.0.1/x", "x"])
def test_notifications_go_to_no_other_machine(sandbox, url):
    status, answer = set_url(sandbox(), url)
    assert status == 400 and "--allow-target" in answer["error"]["message"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://localhost:9/x", "http://[::1]:9/x"])
def test_notifications_go_to_this_machine(sandbox, url):
    assert set_url(sandbox(), url)[0] == 200


def test_notifications_go_to_allowed_targets(sandbox):
    call = sandbox("--allow-target", "backend.test", config="listeners: {sandbox: {allowed_targets: ['10.0.0.7:81']}}\n")
    assert set_url(call, "https://Backend.Test:8443/x")[0] == 200
    assert set_url(call, "http://10.0.0.7:81/x")[0] == 200
    assert set_url(call, "http://10.0.0.7:82/x")[0] == 400
    assert set_url(call, "http://sub.backend.test/x")[0] == 400
    call = sandbox(ENTITLED_ALLOW_TARGET="one.test, backend.test,")
    assert [set_url(call, f"http://{host}.test/x")[0] for host in ("one", "backend", "other")] == [200, 200, 400]


class Redirecting(http.server.BaseHTTPRequestHandler):
    """Redirects to the path's number of itself, or to another host."""

    target = ""

    def do_POST(self):
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(307 if self.path == "/first" else 200)
        if self.path == "/first":
            self.send_header("location", self.server.target)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Keeps the report of the tests short."""


class Endless(http.server.BaseHTTPRequestHandler):
    """Begins its response, and sends a byte now and then until the peer leaves."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "1000000")
        self.end_headers()
        try:
            while not self.server.left.wait(0.05):
                self.wfile.write(b" ")
        except OSError:
            self.server.left.set()

    def log_message(self, *_):
        """Keeps the report of the tests short."""


def test_a_response_without_an_end_is_a_timeout(sandbox):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        server.left = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        call = sandbox()
        assert set_url(call, f"http://127.0.0.1:{server.server_port}/")[0] == 200

        def deliver():
            # The call waits for the delivery, which takes ten seconds.
            with contextlib.suppress(TimeoutError):
                call("test-notification", {"app": APP})
                call("clock/advance", {"by": "1s"})

        thread = threading.Thread(target=deliver, daemon=True)
        thread.start()
        try:
            assert server.left.wait(3 * CALL_LIMIT), "the sandbox still reads"
            thread.join()
        finally:
            server.left.set()
            server.shutdown()
    assert [one["attempts"] for one in call.get("notifications")["notifications"]] == [["TIMED_OUT"]]


@pytest.mark.parametrize("target, attempts, result", [
    ("/second", 2, "SUCCESS"), ("http://backend.test/", 1, "OTHER"), ("/first", 1, "CIRCULAR_REDIRECT")])
def test_a_redirect_is_followed_to_allowed_targets_only(sandbox, target, attempts, result):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirecting) as server:
        server.target, server.bodies = target, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        call = sandbox()
        assert set_url(call, f"http://127.0.0.1:{server.server_port}/first")[0] == 200
        assert call("test-notification", {"app": APP})[0] == 200
        call("clock/advance", {"by": "1s"})
        server.shutdown()
        assert len(server.bodies) == attempts and len(set(server.bodies)) == 1
    assert [one["attempts"] for one in call.get("notifications")["notifications"]] == [[result]]
