"""The nginx of deploy/README.md in front of replicas: it repeats a notification at another one."""

import re
import ssl
import subprocess
import time
import urllib.request

import pytest

from harness import CALL_LIMIT, ROOT, free_port
from nginx import configuration
from test_conformance import tool
from test_envoy import SEVERAL, FailingReplica, new_notification, write_certificate

START_LIMIT = 30


@pytest.fixture
def balancer(service, tmp_path):
    """Starts the page's nginx in front of the service and two others; returns the function that posts to an app."""
    write_certificate(tmp_path)
    port, started = free_port(), []
    (servers,) = re.findall(r"^```nginx\n(.*?)^```$", (ROOT / "deploy" / "README.md").read_text(), re.M | re.S)

    def start(*others):
        text = servers
        written = {
            "listen 443": f"listen 127.0.0.1:{port}",
            "/etc/nginx/entitled.pem": f"{tmp_path}/certificate.pem",
            "/etc/nginx/entitled.key": f"{tmp_path}/key.pem",
            **dict(zip(re.findall(r"10\.\S+:8080", servers), [*others, service.http], strict=True)),
        }
        for on_the_page, here in written.items():
            assert on_the_page in text
            text = text.replace(on_the_page, here)
        file = tmp_path / "nginx.conf"
        file.write_text(configuration(tmp_path, text))
        command = [str(part) for part in (tool("nginx"), "-c", file, "-p", tmp_path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        started.append(process)
        wait_for(tmp_path / "nginx.pid", process)
        trusted = ssl.create_default_context(cafile=tmp_path / "certificate.pem")

        def post(body):
            url = f"https://localhost:{port}/notifications/ocean-journal"
            request = urllib.request.Request(url, body, {"content-type": "application/json"})
            with urllib.request.urlopen(request, timeout=CALL_LIMIT, context=trusted) as answer:
                return answer.status

        return post

    yield start
    for process in started:
        process.terminate()
        process.wait(START_LIMIT)
        process.stdout.close()


def wait_for(file, process):
    """Waits for the file that nginx writes when it listens."""
    end = time.monotonic() + START_LIMIT
    while not file.exists():
        assert process.poll() is None and time.monotonic() < end, process.stdout.read()
        time.sleep(0.01)


def test_nginx_repeats_a_notification_at_a_replica_that_takes_it(balancer, service):
    failing = FailingReplica()
    # The second one has just ended.
    post = balancer(failing.address, f"127.0.0.1:{free_port()}")
    assert [post(new_notification(service)) for _ in range(SEVERAL)] == [200] * SEVERAL
    assert failing.failed
    failing.server.close()
