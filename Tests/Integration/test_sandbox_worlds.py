"""Worlds of one sandbox over real sockets: commands, pages, snapshots, and TLS under the sandbox's own root."""

import json
import pathlib
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest

from harness import CALL_LIMIT, PROGRAM, STOP_LIMIT, Service, environment, post, run

APP = "ocean-journal"


class Sandbox:
    """A running sandbox in memory."""

    def __init__(self, *arguments, program=PROGRAM, command=("sandbox", "serve"), **options):
        self.process = subprocess.Popen(
            [program, *command, "--in-memory", "--sandbox", "127.0.0.1:0", *map(str, arguments)],
            stdout=subprocess.PIPE, text=True, env=environment(), **options)  # fmt: skip
        self.ready = dict(part.split("=", 1) for part in self.process.stdout.readline().split()[1:])
        self.address = self.ready["sandbox"]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(STOP_LIMIT) == 0
        self.process.stdout.close()

    def url(self, path, world=None):
        return f"http://{self.address}{f'/w/{world}' if world else ''}{path}"

    def call(self, path, members, world=None):
        status, answer = post(self.url(f"/sandbox/v1/{path}", world), members)
        assert status == 200, answer
        return answer

    def get(self, path, world=None):
        with urllib.request.urlopen(self.url(f"/sandbox/v1/{path}", world), timeout=CALL_LIMIT) as answer:
            return json.load(answer)

    def command(self, *arguments, **variables):
        return run("sandbox", *arguments, env=environment() | {"ENTITLED_SANDBOX": self.address} | variables)


@pytest.fixture
def start():
    """Starts sandboxes, and stops them after the test."""
    running = []

    def start(*arguments, **options):
        running.append(Sandbox(*arguments, **options))
        return running[-1]

    yield start
    for sandbox in running:
        sandbox.stop()


def accounts(sandbox, world=None):
    return [one["account"] for one in sandbox.get(f"accounts?app={APP}", world)["accounts"]]


def test_commands_act_in_the_world_that_they_name(start, tmp_path):
    sandbox = start()
    assert sandbox.command("world", "create", "a").stdout == "a\t/w/a\n"
    assert sandbox.command("buy", "pro.monthly", "--account", "ann", "--world", "a").returncode == 0
    assert sandbox.command("buy", "pro.monthly", "--account", "ben", ENTITLED_SANDBOX_WORLD="a").returncode == 0
    assert accounts(sandbox, "a") == ["ann", "ben"] and accounts(sandbox) == []
    file = tmp_path / "base.json"
    assert sandbox.command("world", "snapshot", "--world", "a", "--output", str(file)).stdout == f"wrote {file}\n"
    assert sandbox.command("world", "reset", "--world", "a").returncode == 0
    assert accounts(sandbox, "a") == []
    assert sandbox.command("world", "restore", str(file), "--world", "b").returncode == 0
    assert sandbox.command("world", "restore", "--from", "b", "--world", "a").returncode == 0
    assert accounts(sandbox, "a") == accounts(sandbox, "b") == ["ann", "ben"]
    listed = [line.split("\t") for line in sandbox.command("world", "list").stdout.splitlines()]
    assert [(name, count) for name, _, count in listed] == [("a", "2 accounts"), ("b", "2 accounts")]
    assert sandbox.command("world", "remove", "b").stdout == "removed b\n"
    assert sandbox.command("world", "remove", "b").returncode == 1
    assert sandbox.command("buy", "pro.monthly", "--world", "../a").returncode == 64


def test_a_scenario_of_the_command_line_is_one_of_the_pages(start):
    sandbox = start()
    listed = [line.split("\t")[0] for line in sandbox.command("scenario").stdout.splitlines()]
    assert listed == [one["name"] for one in sandbox.get("scenarios")["scenarios"]]
    done = json.loads(sandbox.command("scenario", "family", "--world", "story").stdout)
    assert done["scenario"] == "family" and accounts(sandbox, "story") == ["maria", "noah", "olga"]


def test_a_page_of_a_world_has_its_accounts(start):
    sandbox = start()
    sandbox.call("purchases", {"app": APP, "productId": "pro.monthly", "account": "zoe-7"}, "a")
    for world, found in (("a", True), (None, False)):
        with urllib.request.urlopen(sandbox.url(f"/apps/{APP}/accounts", world), timeout=CALL_LIMIT) as page:
            assert ("zoe-7" in page.read().decode()) == found


def test_a_service_that_runs_with_the_sandbox_keeps_its_time(tmp_path):
    service = Service(tmp_path)
    try:
        bought = service.buy("pro.monthly", account="ann")
        base = f"http://{service.sandbox}"
        assert post(f"{base}/sandbox/v1/clock/advance", {"by": "10d"})[0] == 200
        later = post(f"{base}/sandbox/v1/reset", {})[1]["milliseconds"]
        assert post(f"{base}/w/other/sandbox/v1/clock/advance", {"by": "1s"})[1]["milliseconds"] < later
        status, answer = service.json(
            "entitled.v1.ReceiptService/SubmitTransaction",
            {"app": APP, "customerId": "c", "signedTransaction": bought["signedTransactionInfo"]})
        assert status == 200, answer
    finally:
        service.stop()


def test_the_limit_of_worlds_is_an_option(start):
    sandbox = start("--max-worlds", 1)
    sandbox.get("clock", "a")
    status, answer = post(sandbox.url("/sandbox/v1/purchases", "b"), {"app": APP, "productId": "pro.monthly"})
    assert (status, answer["error"]["code"]) == (429, "TOO_MANY_WORLDS")


STOREKIT = {
    "identifier": "1", "products": [{"displayPrice": "0.99", "productID": "coins", "type": "Consumable"}],
    "settings": {"_timeRate": 6}, "subscriptionGroups": [], "version": {"major": 4, "minor": 0}}  # fmt: skip


def test_a_storekit_file_is_the_catalog_of_a_sandbox_or_of_a_world(start, tmp_path):
    file = tmp_path / "Products.storekit"
    file.write_text(json.dumps(STOREKIT))
    shown = run("sandbox", "storekit", str(file), "--bundle-id", "com.example.shop")
    assert "product coins: Consumable, 0.99 USD" in shown.stdout and "not imported: settings._timeRate" in shown.stdout
    sandbox = start("--storekit", file, "--bundle-id", "com.example.shop", stderr=subprocess.PIPE)
    assert [app["bundleId"] for app in sandbox.get("apps")["apps"]] == ["com.example.shop"]
    assert sandbox.command("buy", "coins").returncode == 0
    other = start()
    made = other.call("worlds", {"name": "s", "storekit": STOREKIT, "bundleId": "com.example.shop"})
    assert made["apps"] == ["shop"] and made["notImported"][0].startswith("settings._timeRate")
    assert other.call("purchases", {"app": "shop", "productId": "coins"}, "s")["productId"] == "coins"
    created = other.command("world", "create", "t", "--storekit", str(file), "--bundle-id", "com.example.shop")
    assert created.returncode == 0 and "not imported" in created.stdout


@pytest.fixture
def tls(start, tmp_path):
    root = tmp_path / "root.pem"
    sandbox = start("--tls", "127.0.0.1:0", "--tls-name", "api.storekit.test", "--tls-root", root)
    return sandbox, root


def test_a_client_that_trusts_the_root_connects_with_tls(tls):
    sandbox, root = tls
    context = ssl.create_default_context(cafile=str(root))
    port = sandbox.ready["tls"].rsplit(":", 1)[1]
    for host in ("127.0.0.1", "localhost"):
        with urllib.request.urlopen(f"https://{host}:{port}/sandbox/v1/apps", timeout=CALL_LIMIT, context=context) as answer:
            assert json.load(answer)["apps"]
    with urllib.request.urlopen(sandbox.url("/sandbox/v1/tls-root"), timeout=CALL_LIMIT) as answer:
        assert answer.read().decode() == root.read_text()
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(f"https://localhost:{port}/sandbox/v1/apps", timeout=CALL_LIMIT)


def test_the_tls_certificate_has_the_names_of_the_option(tls):
    sandbox, root = tls
    context = ssl.create_default_context(cafile=str(root))
    host, port = sandbox.ready["tls"].rsplit(":", 1)
    with context.wrap_socket(socket.create_connection((host, int(port))), server_hostname="api.storekit.test") as s:
        names = {value for _, value in s.getpeercert()["subjectAltName"]}
        s.sendall(b"GET /sandbox/v1/clock HTTP/1.1\r\nhost: api.storekit.test\r\nconnection: close\r\n\r\n")
        assert s.recv(4096).startswith(b"HTTP/1.1 200")
    assert {"localhost", "127.0.0.1", "api.storekit.test"} <= names


def test_the_tls_root_of_a_data_directory_stays_the_same(tmp_path):
    roots = set()
    for number in range(2):
        root = tmp_path / f"root-{number}.pem"
        command = [
            PROGRAM, "sandbox", "serve", "--data", tmp_path / "data", "--sandbox", "127.0.0.1:0", "--tls", "127.0.0.1:0",
            "--tls-root", root]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
        assert process.stdout.readline().startswith("ready ")
        process.terminate()
        assert process.wait(STOP_LIMIT) == 0
        process.stdout.close()
        roots.add(root.read_text())
    assert len(roots) == 1
    key = tmp_path / "data" / "sandbox-tls" / "tls-root.key.pem"
    assert key.stat().st_mode & 0o077 == 0


def test_a_host_name_must_be_allowed(start):
    for arguments, status in (((), 421), (("--allow-host", "app-store"), 200)):
        sandbox = start(*arguments)
        request = urllib.request.Request(sandbox.url("/sandbox/v1/clock"), headers={"host": "app-store:8090"})
        try:
            with urllib.request.urlopen(request, timeout=CALL_LIMIT) as answer:
                assert answer.status == status
        except urllib.error.HTTPError as error:
            assert error.code == status


def test_the_program_entitled_sandbox_has_the_same_commands():
    program = pathlib.Path(PROGRAM).with_name("entitled-sandbox")
    if not program.exists():
        pytest.skip("entitled-sandbox is not built")
    sandbox = Sandbox(program=program, command=("serve",))
    try:
        bought = subprocess.run(
            [program, "buy", "pro.monthly", "--world", "x"], env=environment() | {"ENTITLED_SANDBOX": sandbox.address},
            capture_output=True, text=True, timeout=CALL_LIMIT)  # fmt: skip
        assert bought.returncode == 0 and bought.stdout.startswith("eyJ")
        assert subprocess.run([program, "--version"], capture_output=True, text=True, timeout=CALL_LIMIT).stdout == run("--version").stdout
    finally:
        sandbox.stop()
