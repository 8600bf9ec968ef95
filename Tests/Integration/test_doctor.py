"""`entitled doctor` against a sandbox as Apple: every line is ok, and every fault is found in its own line."""

import contextlib
import http.server
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from certificates import Authority, write_key
from harness import Service, environment, post, run
from receiver import Receiver
from test_reconciliation import sandbox_alone

APP = "ocean-journal"
KEY_ID = "ABCDE12345"
CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    online_checks: soft
    {apple}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 5, currency: USD}}
"""
APPLE = """app_store_servers: {{Sandbox: "http://{address}"}}
    in_app_purchase_key: {{file: {key}, key_id: ABCDE12345, issuer_id: 57246542-96fe-1a63-e053-0824d011072a}}"""
HOUR = 3_600


@contextlib.contextmanager
def tls_server(files):
    """A server that does handshakes with this certificate, as the proxy of a service does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as secure:
                secure.recv(1)

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    # Wakes the thread that waits in accept.
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@contextlib.contextmanager
def refusing_proxy(target, ending):
    """Forwards to `target`, and answers 403 itself for paths with this ending."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def forward(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if self.path.endswith(ending):
                return self.reply(403, {}, b"{}")
            headers = {k: v for k, v in self.headers.items() if k.lower() in ("authorization", "content-type")}
            request = urllib.request.Request(
                f"http://{target}{self.path}", body or None, headers, method=self.command)
            try:
                answer = urllib.request.urlopen(request)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                return self.reply(answer.status, {"date": answer.headers["date"]}, answer.read())

        do_GET = do_POST = forward

        def reply(self, status, headers, body):
            self.send_response_only(status)
            for name, value in {**headers, "content-length": len(body)}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            """Suppresses the access log."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class World:
    """A sandbox as Apple, a service, a public TLS server, a backup, and the configuration of the doctor."""

    def __init__(self, folder, apple):
        self.folder, self.apple = folder, apple
        self.key = folder / "key.p8"
        write_key(self.key)
        public = subprocess.run(
            ["openssl", "pkey", "-in", self.key, "-pubout"], check=True, capture_output=True, text=True).stdout
        self.act("keys", keyId=KEY_ID, publicKey=public)
        self.roots = f"trusted_roots:\n  - {{environment: Sandbox, certificate: {folder}/apple/sandbox/root.pem}}\n"
        self.file = folder / "doctor.yaml"
        self.file.touch(0o600)
        (folder / "service.yaml").write_text(self.catalog(apple))
        self.service = Service(folder / "data", ["--config", folder / "service.yaml"])
        self.notify(f"http://{self.service.http}/notifications/{APP}")
        self.authority = Authority(folder)
        self.files = self.authority.issue("server", "localhost", days=90)
        self.backup = folder / "backups" / "one.sqlite"
        self.backup.parent.mkdir()
        self.backup.write_bytes(b"content")

    def act(self, action, **members):
        status, answer = post(f"http://{self.apple}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def notify(self, url):
        self.act("notification-url", app=APP, url=url)

    def catalog(self, address):
        return CONFIGURATION.format(apple=APPLE.format(address=address, key=self.key)) + self.roots

    def diagnose(self, *, files=None, host="localhost", port=None, trusted=True, address=None, more=()):
        """Runs the doctor; returns its exit status and the findings by check."""
        with tls_server(files or self.files) as listening:
            self.file.write_text(
                self.catalog(address or self.apple)
                + f"public_url: https://{host}:{port or listening}\n"
                + f"backup: {{path: {self.backup.parent}}}\n")
            authorities = ["--public-authorities", self.authority.file] if trusted else []
            done = self.service.command(
                "doctor", "--config", self.file, "--data", self.service.data, *authorities, *more, "--json")
        report = json.loads(done.stdout)
        assert report["healthy"] == (done.returncode == 0), done.stderr
        return done.returncode, {check["check"]: check for check in report["checks"]}

    def faults(self, **options):
        """The findings that are faults, by check."""
        _, found = self.diagnose(**options)
        return {name: check for name, check in found.items() if check["status"] == "FAULT"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doctor")
    (folder / "apple.yaml").write_text(CONFIGURATION.format(apple=""))
    with sandbox_alone(folder / "apple", folder / "apple.yaml") as apple:
        world = World(folder, apple)
        yield world
        world.service.stop()


NAMES = ["dns", "tls", "clock", "key", "notification", "history", "ocsp", "backup", "files", "data"]


def test_every_line_is_ok_for_a_service_in_order(world):
    status, found = world.diagnose()
    assert status == 0 and list(found) == NAMES, found
    assert {check["status"] for check in found.values()} == {"OK"}, found
    assert "stored by the service" in found["notification"]["detail"]
    # 90 from the second in which the certificate was made.
    assert re.search("(89|90) days left", found["tls"]["detail"]) and "127.0.0.1" in found["dns"]["detail"]
    assert all(check["action"] == "" for check in found.values())


def test_the_lines_for_people_begin_with_ok_or_the_fault(world):
    world.file.write_text(world.catalog(world.apple))
    done = world.service.command("doctor", "--config", world.file, "--data", world.service.data)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == len(NAMES), done.stdout
    assert any(line.startswith("dns") and "not checked" in line and "public_url" in line for line in lines)
    assert any(line.startswith("key ocean-journal Sandbox") and "  ok  " in line for line in lines)


def test_an_unknown_host_name_is_a_fault_of_dns(world):
    found = world.faults(host="no-such-host.invalid")
    assert {"dns", "tls"} <= set(found) and "public_url" in found["dns"]["action"]


@pytest.mark.parametrize(
    "hosts, days, words",
    [(["localhost"], -2, "ended"), (["localhost"], 5, "renew"), (["other.example.com"], 90, "localhost")],
    ids=["expired", "ends soon", "for another host"])  # fmt: skip
def test_an_unusable_certificate_is_a_fault_of_tls(world, hosts, days, words):
    files = world.authority.issue(f"bad{days}", *hosts, days=days)
    found = world.faults(files=files)
    assert set(found) == {"tls"} and words in found["tls"]["detail"] + found["tls"]["action"]


def test_a_certificate_of_an_unknown_authority_is_a_fault_of_tls(world):
    found = world.faults(trusted=False)
    assert set(found) == {"tls"} and "not trusted" in found["tls"]["detail"]


def test_a_port_without_tls_is_a_fault_of_tls_within_its_time_limit(world):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        found = world.faults(port=silent.getsockname()[1])
    assert set(found) == {"tls"} and time.monotonic() - start < 60


def test_a_server_without_tls_and_a_closed_port_are_named(world):
    found = world.faults(port=world.service.http.rpartition(":")[2])
    assert set(found) == {"tls"} and found["tls"]["detail"] == "no TLS connection: the server does not use TLS"
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    found = world.faults(port=port)
    assert set(found) == {"tls"} and found["tls"]["detail"] == "no TLS connection: Connection refused"


def test_a_clock_that_is_off_is_a_fault_of_the_clock(world):
    world.act("faults", kind="clock-off", count=1, by="10m")
    found = world.faults()
    assert set(found) == {"clock"} and "600 s behind" in found["clock"]["detail"].replace("599", "600")
    assert "NTP" in found["clock"]["action"]


def test_a_key_that_apple_does_not_know_is_a_fault_of_the_key(world):
    good = world.key
    # Apple's name for a key of another API.
    world.key = world.folder / "AuthKey_OTHER00001.p8"
    write_key(world.key)
    try:
        status, found = world.diagnose()
    finally:
        world.key = good
    assert status == 3 and found["key"]["status"] == "FAULT" and "key_id" in found["key"]["action"]
    assert "the file of an In-App Purchase key is SubscriptionKey_ID.p8" in found["key"]["action"]
    assert found["notification"]["status"] == "NOT_CHECKED"


def test_a_notification_that_apple_cannot_deliver_is_a_fault(world):
    world.act("faults", kind="drop", count=1)
    found = world.faults()
    assert set(found) == {"notification"} and "NO_RESPONSE" in found["notification"]["detail"]


def test_a_notification_that_another_server_receives_is_a_fault(world):
    receiver = Receiver()
    world.notify(receiver.url)
    try:
        found = world.faults()
    finally:
        world.notify(f"http://{world.service.http}/notifications/{APP}")
        receiver.close()
    assert set(found) == {"notification"} and "another server" in found["notification"]["action"]


def test_a_history_that_apple_refuses_is_a_fault_of_the_history(world):
    with refusing_proxy(world.apple, "/notifications/history") as address:
        found = world.faults(address=address)
    assert set(found) == {"history"} and found["history"]["action"]


def test_an_unreachable_responder_is_a_fault_of_ocsp(world):
    world.act("faults", kind="ocsp-down", count=10)
    try:
        found = world.faults()
    finally:
        urllib.request.urlopen(
            urllib.request.Request(f"http://{world.apple}/sandbox/v1/faults", method="DELETE")).close()
    assert set(found) == {"ocsp"} and "port 80" in found["ocsp"]["action"]


def test_an_old_backup_is_a_fault_of_the_backup(world):
    old = time.time() - 30 * HOUR
    os.utime(world.backup, (old, old))
    found = world.faults()
    os.utime(world.backup)
    assert set(found) == {"backup"} and "30 h old" in found["backup"]["detail"]


def test_a_key_that_others_can_read_is_a_fault_of_the_files(world):
    world.key.chmod(0o644)
    try:
        found = world.faults()
    finally:
        world.key.chmod(0o600)
    assert {"files", "key"} <= set(found) and f"chmod 600 {world.key}" in found["files"]["action"]


def test_a_configuration_that_every_user_can_read_is_a_fault_of_the_files(world):
    world.file.chmod(0o644)
    try:
        found = world.faults()
    finally:
        world.file.chmod(0o600)
    assert set(found) == {"files"} and "chmod o-rwx" in found["files"]["action"]


def test_a_data_directory_that_others_can_enter_is_a_fault_of_the_data(world):
    world.service.data.chmod(0o755)
    try:
        found = world.faults()
    finally:
        world.service.data.chmod(0o700)
    assert set(found) == {"data"} and "chmod 700" in found["data"]["action"]


def test_a_configuration_with_an_error_ends_the_doctor_with_its_line(tmp_path):
    (tmp_path / "bad.yaml").write_text("apps: {}\n")
    done = run("doctor", "--config", tmp_path / "bad.yaml", env=environment())
    assert done.returncode == 1 and "bad.yaml" in done.stderr
