"""The App Store client uses HTTP/2 with one connection and one token for many calls. The server is nghttpd."""

import concurrent.futures
import json
import re
import shutil
import subprocess

import pytest
import yaml

import contract
import harness
from certificates import Authority, write_key
from contract import app_store_service
from harness import CALL_LIMIT, Service, free_port
from test_callers import APPS

APP = "ocean-journal"
CALLS = 200
SYSTEM_ROOTS = "/etc/ssl/certs/ca-certificates.crt"


class Apple:
    """nghttpd as the App Store: serves a history and statuses without purchases, and logs all requests."""

    def __init__(self, folder, authority):
        statuses = {"environment": "Sandbox", "bundleId": "com.example.oceanjournal", "data": []}
        history = {"environment": "Sandbox", "revision": "r", "hasMore": False, "signedTransactions": []}
        for path, answer in [("v1/subscriptions", statuses), ("v2/history", history)]:
            file_folder = folder / "htdocs" / "inApps" / path
            file_folder.mkdir(parents=True)
            (file_folder / "1").write_text(json.dumps(answer))
        server = authority.issue("localhost", "localhost")
        self.port = free_port()
        self.log = folder / "nghttpd.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                ["nghttpd", "--verbose", "--no-content-length", "-d", folder / "htdocs", "-n1",
                 str(self.port), server.key, server.certificate],
                stdout=log, stderr=subprocess.STDOUT)  # fmt: skip

    def stop(self):
        """Stops the server; returns its connections and the tokens of the requests on them."""
        self.process.terminate()
        self.process.wait(harness.STOP_LIMIT)
        log = self.log.read_text()
        requests = re.findall(r"\[id=(\d+)\].*recv \(stream_id=\d+(?:, sensitive)?\) authorization: (\S.*)", log)
        return {connection for connection, _ in requests}, [token for _, token in requests], log


@pytest.fixture
def trusting(tmp_path, monkeypatch):
    """A certificate authority that only the service under test trusts."""
    if not shutil.which("nghttpd"):
        pytest.skip("no nghttpd")
    authority = Authority(tmp_path)
    trust = ["unshare", "--mount", "sh", "-c", f'mount --bind "{authority.file}" {SYSTEM_ROOTS} && exec "$@"', "-"]
    if subprocess.run([*trust, "true"], capture_output=True).returncode:
        pytest.skip("replacing the trusted roots requires the permission to mount")
    program = tmp_path / "program"
    program.write_text(f"#!/usr/bin/python3\nimport os, sys\nos.execvp('unshare', {trust!r} + [{str(harness.PROGRAM)!r}] + sys.argv[1:])\n")
    program.chmod(0o755)
    monkeypatch.setattr(harness, "PROGRAM", program)
    return authority


@pytest.fixture
def service(tmp_path, trusting):
    apple = Apple(tmp_path, trusting)
    write_key(tmp_path / "key.p8")
    configuration = yaml.safe_load(APPS)
    configuration["apps"][APP] |= {
        "in_app_purchase_key": {"file": "key.p8", "key_id": "ABCDE12345", "issuer_id": "x"},
        "app_store_servers": {"Sandbox": f"https://localhost:{apple.port}"},
    }
    (tmp_path / "entitled.yaml").write_text(yaml.safe_dump(configuration))
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    service.apple = apple
    yield service
    service.stop()
    apple.process.kill()
    apple.process.wait()


def test_many_calls_share_one_connection_and_one_token(service):
    with service.channel() as channel, concurrent.futures.ThreadPoolExecutor(16) as threads:
        stub = contract.app_store_stub(channel)

        def refresh(_):
            stub.RefreshPurchase(
                app_store_service.RefreshPurchaseRequest(app=APP, transaction_id="1"), timeout=CALL_LIMIT * 3)

        refresh(None)  # the first connection negotiates HTTP/2
        list(threads.map(refresh, range(CALLS // 2 - 1)))
    connections, tokens, log = service.apple.stop()
    assert len(tokens) == CALLS, log[-2000:]
    assert len(connections) == 1 and len(set(tokens)) == 1
    assert tokens[0].startswith("Bearer eyJ")
    assert "The negotiated protocol: h2" in log
