"""The commands of the documents for clients print what the documents show."""

import base64
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import time
import types
import uuid

import pytest
import yaml

import contract
from certificates import write_key
from forge import Forger
from harness import CALL_LIMIT, PROGRAM, ROOT, free_port, wait_for
from receiver import Receiver
from test_app_store import World
from test_clients import CONFIGURATION, PYTHON, SETTINGS
from test_family import Team
from test_metrics import value
from test_webhooks import configured, grant

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Parts that differ from run to run: times, numbers of events, signatures.
VARYING = [
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"), (re.compile(r"v1,[\w+/=]+"), "SIGNATURE"),
    (re.compile(r"_\d+_\d{13}"), "_NUMBER"), (re.compile(r"timestamp: \d+"), "timestamp: TIME"),
]  # fmt: skip


def blocks(page, language):
    text = (ROOT / "docs" / page).read_text()
    return [block for found, block in BLOCK.findall(text) if found == language]


def commands(block):
    """The commands of a block with the lines that each prints."""
    found = []
    for line in re.sub(r"\\\n\s*", "", block).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


class Shell:
    """A folder in which the commands of a page run, against a service with other ports than the page names."""

    def __init__(self, folder, service):
        self.folder = folder
        self.backend = free_port()
        self.names = {
            "127.0.0.1:8080": service.http, "127.0.0.1:50051": service.grpc, "127.0.0.1:8000": f"127.0.0.1:{self.backend}",
            " 8000": f" {self.backend}"}  # fmt: skip
        (folder / "clients").symlink_to(ROOT / "clients")
        python = folder / "example" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients" / "python" / "src")}
        self.started = []

    def real(self, text):
        for name, replacement in self.names.items():
            text = text.replace(name, replacement)
        return text

    def run(self, command, expected):
        command, expected = self.real(command), self.real("\n".join(expected)).splitlines()
        if command.endswith("&"):
            process = subprocess.Popen(
                shlex.split(command[:-1]), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
            self.started.append(process)
            lines = [process.stdout.readline().rstrip("\n") for _ in expected]
        else:
            output = subprocess.run(
                ["bash", "-c", command], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True,
                timeout=CALL_LIMIT, check=True).stdout
            lines = output.splitlines()
        if "..." in expected:
            expected = expected[: expected.index("...")]
            lines = lines[: len(expected)]
        assert lines == expected, command

    def close(self):
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def shell(tmp_path, start):
    shell = Shell(tmp_path, service := start(data=tmp_path / "data"))
    shell.service = service
    yield shell
    shell.close()


def buy(service, submitted=True):
    """Buys `pro.monthly`; returns the signed transaction, which is alice's if it is submitted."""
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    if submitted:
        request = {"app": "ocean-journal", "customerId": "alice", "signedTransaction": document}
        assert service.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0] == 200
    return document


def test_the_commands_of_http_md(shell):
    for block in blocks("http.md", "console"):
        for command, expected in commands(block):
            shell.run(command, expected)


def test_the_commands_of_clients_md(shell):
    buy(shell.service)
    (shell.folder / "example.py").write_text(shell.real(blocks("clients.md", "python")[0]))
    (shell.folder / "example.mjs").write_text(shell.real(blocks("clients.md", "js")[0]))
    for block in blocks("clients.md", "console"):
        for command, expected in commands(block):
            shell.run(command, expected)


# The preparation that the blocks of clients.md assume. They end with the first event.
TAKEN_FOR_GRANTED = """
import sys
from entitled import Client
client, stored, token = Client(sys.argv[1], app="ocean-journal"), *sys.argv[2:]
def handle(event, *values):
    print(getattr(event, "customer_id", event), *values, flush=True)
    if values: sys.exit()
def store(position):
    print(position != stored, flush=True)
    sys.exit()
"""


def test_the_python_code_of_clients_md(start, tmp_path):
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(CONFIGURATION)
    (tmp_path / "keys").mkdir()
    write_key(tmp_path / "keys" / "1.pem")
    service = start(arguments=["--config", configuration])

    def call(method, **request):
        status, answer = service.json(f"entitled.v1.{method}", {"app": "ocean-journal", **request})
        assert status == 200, answer
        return answer

    def submit(customer):
        document = service.buy("lifetime")["signedTransactionInfo"]
        return call("ReceiptService/SubmitTransaction", customerId=customer, signedTransaction=document)

    def run(block, more=""):
        block = block.replace("https://entitled.example.com/.well-known", f"http://{service.http}/.well-known")
        command = [sys.executable, "-c", TAKEN_FOR_GRANTED + block + more, service.grpc, stored, token]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=PYTHON)

    def printed(program):
        assert program.wait(6 * CALL_LIMIT) == 0
        return program.stdout.read().splitlines()

    _, watch, watch_segment, verify = blocks("clients.md", "python")
    call("SegmentService/CreateSegment", name="trials-ending", filter={"states": ["ENTITLEMENT_STATE_LIFETIME"]})
    stored = submit("ann")["position"]
    token = call("EntitlementService/IssueToken", customerId="ann", audience=SETTINGS["audience"])["token"]
    submit("bob")
    assert printed(run(watch)) == ["bob", "True"]
    # The event comes after the list.
    program = run(watch_segment)
    wait_for(lambda: value(service, "entitled_streams", listener="grpc") == 1)
    purchase = submit("cleo")["transaction"]["originalTransactionId"]
    assert printed(program) == [f"SEGMENT_ENTERED cleo {purchase}"]
    assert printed(run(verify, "print(verifier.verify(token).customer_id)")) == ["ann"]


def test_the_examples_have_the_calls_of_app_md():
    examples = ROOT / "clients" / "examples"
    (python,), (script,), swift = blocks("app.md", "python"), blocks("app.md", "js"), blocks("app.md", "swift")[2]
    backend = examples / "hummingbird-backend" / "Sources"
    sources = "".join(path.read_text() for path in sorted(backend.rglob("*.swift")))
    for shown, source in (
        (python, (examples / "backend.py").read_text()), (script, (examples / "backend.mjs").read_text()), (swift, sources),
    ):
        assert shown.strip() in source


def test_the_commands_of_app_md(shell):
    (shell.folder / "purchase.jws").write_text(buy(shell.service, submitted=False))
    for block in blocks("app.md", "console"):
        for command, expected in commands(block):
            shell.run(command, expected)


def test_the_swift_code_of_app_md_is_type_correct(tmp_path):
    """Against the stub of StoreKit, with the names that the page takes for granted."""
    buy_, updates, _, restore, offer, refund = blocks("app.md", "swift")
    source = f"""
import Foundation
import StoreKit

struct Backend {{ func submit(_ document: String) async throws {{}} }}
struct User {{ var appAccountToken = UUID() }}
let backend = Backend()
let user = User()
{updates}
func buy(_ product: Product) async throws {{ {buy_} }}
func restore() async throws {{ {restore} }}
func buy(_ product: Product, jws: String) async throws {{ {offer}; _ = result }}
func refund(_ transactionID: UInt64, in scene: UIWindowScene) async throws {{ {refund}; _ = status }}
"""
    check_swift(tmp_path, source)


def test_the_swift_code_of_clients_md_for_apps_is_type_correct(tmp_path):
    example = blocks("clients.md", "swift")[1].replace("…", "")
    # Foundation has the folder on Apple's systems only.
    source = f"""
import Foundation

extension URL {{ static var applicationSupportDirectory: URL {{ URL(fileURLWithPath: "/tmp") }} }}
func example() async throws {{ {example} }}
"""
    check_swift(tmp_path, source, ROOT / "clients" / "swift" / "ios" / "DeviceEntitlements.swift")


def check_swift(folder, source, *files):
    """Checks the types of a source and of `files` against the stub of StoreKit."""
    (folder / "App.swift").write_text(source)
    stub = ROOT / "clients" / "swift" / "ios" / "StubStoreKit" / "StoreKit.swift"
    options = ["-swift-version", "6", "-parse-as-library"]
    module = ["-emit-module", "-module-name", "StoreKit", stub, "-emit-module-path", folder / "StoreKit.swiftmodule"]
    subprocess.run(["swiftc", *options, *module], check=True)
    subprocess.run(["swiftc", *options, "-typecheck", "-I", folder, folder / "App.swift", *files], check=True)


def normalized(text):
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return text


def test_the_requests_of_webhooks_md(start, tmp_path):
    shown = [block for block in blocks("webhooks.md", "") if "webhook-id" in block]
    for block, settings in zip(shown, [{}, {"format": "cloudevents"}], strict=True):
        receiver = Receiver()
        folder = tmp_path / str(len(settings))
        folder.mkdir()
        service = start(folder / "data", configured(folder, {"billing": {"url": receiver.url, **settings}}))
        grant(service, "ana")
        receiver.wait(lambda receiver: receiver.accepted)
        first = receiver.accepted[0]
        fields, body = block.split("\n\n")
        for field in fields.splitlines():
            if not field.startswith("POST "):
                name = field.split(":")[0]
                assert normalized(field) == normalized(f"{name}: {first.headers[name]}")
        expected = normalized(re.sub(r"\n\s*", "", body))
        assert expected.endswith(",...}}")
        assert normalized(first.body.decode()).startswith(expected.removesuffix(",...}}"))
        receiver.close()


def test_the_error_of_family_sharing_md(start):
    service = start()
    team = Team(service, Forger(service), 2, number="77")
    for customer in ("dan", "eva"):
        team.claim(customer)
    request = {"app": "ocean-journal", "originalTransactionId": "77", "customerId": "fay", "requestIdentifier": "1"}
    status, error = service.json("entitled.v1.AppStoreService/ClaimSeat", request)
    assert status == 400
    shown = next(json.loads(block) for block in blocks("family-sharing.md", "json") if "NO_SEAT_LEFT" in block)
    assert shown == error
    assert b"NO_SEAT_LEFT" in base64.b64decode(shown["details"][0]["value"] + "==")
    team.channel.close()


def test_the_configuration_and_the_command_of_testflight_md(start, tmp_path):
    (indented,) = re.findall(r"^   ```yaml\n(.*?)^   ```$", (ROOT / "docs/testflight.md").read_text(), re.M | re.S)
    configuration = tmp_path / "entitled.yaml"
    product = "products: {pro: {type: Non-Consumable, entitlements: [pro]}}"
    configuration.write_text(textwrap.dedent(indented).rstrip() + f"\n    {product}\n")
    service = start(arguments=["--config", configuration])
    command = "check USER pro --environment Sandbox"
    assert f"`entitled {command}`" in (ROOT / "docs/testflight.md").read_text()
    result = subprocess.run(
        [PROGRAM, *command.split(), "--grpc", service.grpc], stdout=subprocess.PIPE, text=True, timeout=CALL_LIMIT)
    assert result.returncode == 3 and {"NEVER_PURCHASED", "SANDBOX"} <= set(result.stdout.split()), result.stdout


def test_answers_md_has_every_reason_with_its_sentence():
    source = (ROOT / "Sources/Domain/Entitlements/Evaluation/EntitlementReason.swift").read_text()
    names = dict(re.findall(r'case (\w+) = "([A-Z_]+)"', source))
    sentences = re.findall(r'case \.(\w+):\s*"([^"]+)"', source)
    shown = re.findall(r"^\| `([A-Z_]+)` \| (?:yes|no) \| (.*) \|$", (ROOT / "docs/answers.md").read_text(), re.M)
    assert len(sentences) == len(names) and dict(shown) == {names[case]: sentence for case, sentence in sentences}


def test_the_question_of_testflight_md_is_about_the_environment_of_the_app(start):
    (indented,) = re.findall(r"^   ```python\n(.*?)^   ```$", (ROOT / "docs/testflight.md").read_text(), re.M | re.S)
    choice, question = textwrap.dedent(indented).splitlines()
    service = start()
    for app, expected in (("Sandbox", "ENVIRONMENT_SANDBOX"), ("Production", "ENVIRONMENT_PRODUCTION")):
        names = {
            "request": types.SimpleNamespace(app_environment=app), "user": "USER",
            "CheckRequest": contract.entitlement_service.CheckRequest} | dict(contract.environment.Environment.items())
        exec(choice, names)  # the document is the test's own
        request = eval(question, names)
        assert request.environment == contract.environment.Environment.Value(expected)
        if app == "Sandbox":
            with service.channel() as channel:
                answer = contract.entitlement_stub(channel).Check(request, timeout=CALL_LIMIT)
            assert answer.environment == request.environment and not answer.entitlement.entitled


def test_a_subscription_in_testflight_ends_after_six_renewals_as_testflight_md_says(start):
    world = World(start())
    world.act("periods", testFlight=True)
    tester = str(uuid.uuid4())
    world.buy(tester)
    for _ in range(3):
        world.advance("2d")
    assert world.check(tester).entitled
    world.advance("2d")
    assert not world.check(tester).entitled
    request = contract.entitlement_service.ListTimelineRequest(app="ocean-journal", customer_id=tester, types=["RENEWED"])
    assert len(world.entitlements.ListTimeline(request, timeout=CALL_LIMIT).events) == 6
    world.channel.close()


def test_the_configuration_of_device_sync_md(tmp_path):
    (shown,) = blocks("device-sync.md", "yaml")
    configured = yaml.safe_load(shown)
    app = {"bundle_id": "com.example.oceanjournal", "environments": ["Sandbox"], "products": {}}
    configured["apps"]["ocean-journal"] |= app
    keys = tmp_path / "keys"
    keys.mkdir()
    write_key(keys / "1.pem")
    configured["tokens"] = {"issuer": "https://entitled.example.com", "keys": str(keys)}
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(yaml.safe_dump(configured))
    subprocess.run([PROGRAM, "config", "check", configuration], check=True, stdout=subprocess.PIPE)


def test_the_commands_of_reports_md(start, tmp_path):
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(blocks("reports.md", "yaml")[0])
    service = start(arguments=["--config", configuration])
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "entitled").symlink_to(PROGRAM)
    addresses = {"ENTITLED_GRPC": service.grpc, "ENTITLED_HTTP": service.http, "ENTITLED_SANDBOX": service.sandbox}
    environment = {**os.environ, **addresses, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}

    def run(command):
        command = command.replace("127.0.0.1:8080", service.http).replace("127.0.0.1:8090", service.sandbox)
        return subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, timeout=CALL_LIMIT,
            check=True).stdout.splitlines()

    for block in blocks("reports.md", "console"):
        for command, expected in commands(block):
            lines = run(command)
            deadline = time.monotonic() + CALL_LIMIT
            # A worker beside the calls derives the reports.
            while expected and lines != expected and time.monotonic() < deadline:
                time.sleep(0.1)
                lines = run(command)
            assert not expected or lines == expected, command


def test_reports_md_defines_every_column(start):
    page = re.sub(r"\[([^]]+)\]\(glossary\.md[^)]*\)", r"\1", (ROOT / "docs" / "reports.md").read_text())
    reports = json.loads(start().command("report", "--json").stdout)["reports"]
    for report in reports:
        assert f"### `{report['name']}`: " in page, report["name"]
        for column in report["columns"]:
            assert f"| `{column['name']}` | {column['definition']} |" in page, (report["name"], column["name"])
