"""Third-party clients and proxies: grpcurl, buf curl, Envoy and nginx in front of the service."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import grpc
import pytest

import contract
import interop_client as interop
from contract import entitlement_service, interop_services
from harness import CALL_LIMIT, ROOT, free_port
from nginx import configuration

TOOLS = pathlib.Path(sys.executable).parent
CHECK_REQUEST = {"app": "ocean-journal", "customerId": "customer", "entitlement": "pro"}
CHECK = "entitled.v1.EntitlementService/Check"
START = 20


def tool(name, *folders):
    """The path of a program; tools/bootstrap --test installs them all."""
    found = shutil.which(name, path=os.pathsep.join([str(TOOLS), "/usr/sbin", os.environ["PATH"], *folders]))
    assert found, f"there is no {name}; run tools/bootstrap --test"
    return found


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)


def test_grpcurl_lists_describes_and_calls_by_reflection(service):
    listed = run(tool("grpcurl"), "-plaintext", service.grpc, "list")
    assert "entitled.v1.EntitlementService" in listed.stdout.split(), listed.stderr
    assert "grpc.testing.TestService" not in listed.stdout
    described = run(tool("grpcurl"), "-plaintext", service.grpc, "describe", "entitled.v1.CheckRequest")
    assert "customer_id" in described.stdout
    called = run(tool("grpcurl"), "-plaintext", "-d", json.dumps(CHECK_REQUEST), service.grpc, CHECK)
    assert json.loads(called.stdout)["entitlement"]["reason"] == "NEVER_PURCHASED", called.stderr
    unknown = json.dumps(CHECK_REQUEST | {"app": "none"})
    failed = run(tool("grpcurl"), "-plaintext", "-d", unknown, service.grpc, CHECK)
    assert "NotFound" in failed.stderr and "google.rpc.ErrorInfo" in failed.stderr


@pytest.mark.parametrize("schema", [["--schema", ROOT], ["--reflect"]], ids=["by its files", "by reflection"])
def test_buf_curl(service, schema):
    command = [tool("buf"), "curl", "--protocol", "grpc", "--http2-prior-knowledge", *schema]
    called = run(*command, "--data", json.dumps(CHECK_REQUEST), f"http://{service.grpc}/{CHECK}")
    assert json.loads(called.stdout)["entitlement"]["reason"] == "NEVER_PURCHASED", called.stderr


ENVOY = """
static_resources:
  listeners:
    - address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: edge
                codec_type: AUTO
                stream_idle_timeout: 0s
                route_config:
                  virtual_hosts:
                    - name: all
                      domains: ["*"]
                      routes: [{{match: {{prefix: "/"}}, route: {{cluster: server, timeout: 0s}}}}]
                http_filters:
                  - name: envoy.filters.http.grpc_web
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.grpc_web.v3.GrpcWeb
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
    - name: server
      connect_timeout: 5s
      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
          explicit_http_config: {{http2_protocol_options: {{}}}}
      load_assignment:
        cluster_name: server
        endpoints:
          - lb_endpoints:
              - endpoint: {{address: {{socket_address: {{address: {host}, port_value: {upstream}}}}}}}
"""

NGINX = """
  server {{
    listen 127.0.0.1:{port} http2;
    client_max_body_size 0;
    location / {{ grpc_pass grpc://{host}:{upstream}; }}
  }}
"""


class Proxy:
    """A proxy in front of an address, on a free port."""

    def __init__(self, kind, folder, address):
        self.port = free_port()
        host, _, upstream = address.rpartition(":")
        settings = {"port": self.port, "host": host, "upstream": upstream, "folder": folder}
        file = folder / f"{kind}.yaml"
        if kind == "envoy":
            file.write_text(ENVOY.format(**settings))
            command = [tool("envoy"), "--config-path", file, "--concurrency", "1",
                       "--use-dynamic-base-id", "--log-level", "error"]  # fmt: skip
        else:
            file.write_text(configuration(folder, NGINX.format(**settings)))
            command = [tool("nginx"), "-c", file, "-p", folder]
        self.log = (folder / "log").open("w+")
        self.process = subprocess.Popen([str(part) for part in command], stdout=self.log, stderr=self.log)
        self.address = f"127.0.0.1:{self.port}"
        self._wait()

    def _wait(self):
        end = time.monotonic() + START
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        self.log.seek(0)
        raise AssertionError(f"the proxy did not start: {self.log.read()}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(START)


@pytest.fixture(scope="module")
def interop_server():
    server = interop.InteropServer()
    yield server
    server.stop()


@pytest.fixture(scope="module", params=["envoy", "nginx"])
def proxied_interop(request, interop_server, tmp_path_factory):
    proxy = Proxy(request.param, tmp_path_factory.mktemp(request.param), interop_server.address)
    yield proxy
    proxy.stop()


# Compression flags and stream resets are hop by hop, so a proxy may change them.
PROXY_CASES = sorted(set(interop.CASES) - {"channel_soak", "unimplemented_service"})


@pytest.mark.parametrize("case", PROXY_CASES)
def test_interoperability_through_a_proxy(proxied_interop, case):
    with grpc.insecure_channel(proxied_interop.address) as channel:
        interop.CASES[case](interop_services.TestServiceStub(channel), proxied_interop.address)


@pytest.mark.parametrize("kind", ["envoy", "nginx"])
def test_the_service_works_behind_a_proxy(service, tmp_path, kind):
    proxy = Proxy(kind, tmp_path, service.grpc)
    try:
        with grpc.insecure_channel(proxy.address) as channel:
            stub = contract.entitlement_stub(channel)
            request = entitlement_service.CheckRequest(
                app="ocean-journal", customer_id="customer", entitlement="pro")
            assert stub.Check(request, timeout=CALL_LIMIT).entitlement.reason == "NEVER_PURCHASED"
            watch = stub.Watch(entitlement_service.WatchRequest(app="none"), timeout=CALL_LIMIT)
            with pytest.raises(grpc.RpcError) as error:
                next(watch)
            assert contract.reason(error.value) == "UNKNOWN_APP"
        if kind == "envoy":
            command = [tool("buf"), "curl", "--protocol", "grpcweb", "--schema", ROOT]
            called = run(*command, "--data", json.dumps(CHECK_REQUEST), f"http://{proxy.address}/{CHECK}")
            assert json.loads(called.stdout)["entitlement"]["reason"] == "NEVER_PURCHASED", called.stderr
    finally:
        proxy.stop()
