"""Restarts under load: no call is lost, neither with two processes restarted in turn nor with one replaced in place."""

import contextlib
import http.client
import os
import socket
import subprocess
import threading
import time

import grpc
import pytest

from contract import entitlement_service, entitlement_stub
from harness import CALL_LIMIT, PROGRAM, READY, STOP_LIMIT, Service, environment

REQUEST = entitlement_service.CheckRequest(app="ocean-journal", customer_id="newcomer", entitlement="pro")
RESTARTS = int(os.environ.get("ENTITLED_RESTARTS", "3"))
CALLERS = 6


class Load:
    """Callers that call as fast as they can until the end of the `with` block; records failed calls."""

    def __init__(self, *calls):
        self.calls = calls
        self.count = 0
        self.failures = []
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=[call]) for call in calls]

    def _run(self, call):
        while not self._ended.is_set():
            try:
                call()
                self.count += 1
            except Exception as error:  # noqa: BLE001  every exception is a lost call
                self.failures.append(error)

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join(STOP_LIMIT)

    def wait_for_calls(self, calls=200):
        """Waits for `count` more calls."""
        target, end = self.count + calls, time.monotonic() + CALL_LIMIT * 3
        while self.count < target:
            assert time.monotonic() < end and not self.failures, self.failures[:3]
            time.sleep(0.01)


def checks(stack, target, count=CALLERS):
    """Callers with a channel each, which balance between the addresses of the target."""
    for _ in range(count):
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.lb_policy_name", "round_robin"),
                   ("grpc.initial_reconnect_backoff_ms", 100),
                   ("grpc.max_reconnect_backoff_ms", 500)]  # fmt: skip
        stub = entitlement_stub(
            stack.enter_context(grpc.insecure_channel(target, options=options)))
        yield lambda stub=stub: stub.Check(REQUEST, timeout=CALL_LIMIT)


def new_connections(address):
    """A caller that opens a connection for each request, and so meets a port as it closes."""
    host, _, port = address.rpartition(":")

    def call():
        connection = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)
        with contextlib.closing(connection):
            connection.request("GET", "/healthz")
            assert connection.getresponse().read().split() == [b"alive"]

    return call


def test_two_processes_restarted_in_turn_lose_no_call(tmp_path):
    services = [Service(tmp_path / name) for name in ("one", "two")]
    with contextlib.ExitStack() as stack:
        target = "ipv4:" + ",".join(service.grpc for service in services)
        with Load(*checks(stack, target)) as load:
            for turn in range(RESTARTS * 2):
                load.wait_for_calls()
                old = services[turn % 2]
                old.stop()
                load.wait_for_calls()
                services[turn % 2] = Service(old.data, ["--grpc", old.grpc, "--http", old.http])
                # The callers reconnect before the other process stops.
                wait_for_callers(services[turn % 2])
        assert load.failures == []
    for service in services:
        service.stop()


def wait_for_callers(service):
    end = time.monotonic() + CALL_LIMIT
    name = 'entitled_connections{listener="grpc"}'
    while f"{name} {CALLERS}" not in metrics(service):
        assert time.monotonic() < end, metrics(service)
        time.sleep(0.02)


def metrics(service):
    host, _, port = service.http.rpartition(":")
    with contextlib.closing(http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)) as connection:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()


def started_on(sockets, names, command, **options):
    """Starts a command that inherits two listening sockets, as with systemd socket activation."""
    script = 'export LISTEN_PID=$$; exec 3<&"$0" 4<&"$1"; shift; exec "$@"'
    descriptors = [s.fileno() for s in sockets]
    return subprocess.Popen(
        ["bash", "-c", script, *map(str, [*descriptors, *command])], pass_fds=descriptors, text=True,
        env=environment() | {"LISTEN_FDS": "2", "LISTEN_FDNAMES": names}, **options,
    )  # fmt: skip


class Activated:
    """A service on sockets held open by a parent process, as systemd does for its socket units."""

    def __init__(self, data, sockets):
        self.data, self.sockets = data, sockets
        self.start()

    def start(self):
        arguments = [PROGRAM, "serve", "--sandbox", "off", "--data", self.data]
        self.process = started_on(self.sockets, "grpc:http", arguments, stdout=subprocess.PIPE)
        ready = READY.match(self.process.stdout.readline())
        assert ready, "the service did not become ready"
        self.grpc, self.http = ready[1], ready[2]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(STOP_LIMIT) == 0
        self.process.stdout.close()


def test_a_process_replaced_on_the_same_sockets_loses_no_call(tmp_path):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1_024)) for _ in range(2)]
        service = Activated(tmp_path / "data", sockets)
        assert [service.grpc, service.http] == [f"127.0.0.1:{s.getsockname()[1]}" for s in sockets]
        with Load(*checks(stack, service.grpc), new_connections(service.http)) as load:
            for _ in range(RESTARTS):
                load.wait_for_calls()
                service.stop()
                service.start()
            load.wait_for_calls()
        service.stop()
        assert load.failures == []


@pytest.mark.parametrize("names, message", [("grpc", "1 names"), ("grpc:web", "'web'"), ("grpc:grpc", "two inherited")])
def test_ambiguous_inherited_sockets_are_rejected(tmp_path, names, message):
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        command = [PROGRAM, "serve", "--sandbox", "off", "--data", tmp_path / "data"]
        ended = started_on([one, two], names, command, stderr=subprocess.PIPE)
        assert message in ended.communicate(timeout=CALL_LIMIT)[1]
    assert ended.returncode == 1


def test_a_closing_port_answers_every_accepted_connection(tmp_path):
    """Connects without pause: each connection is answered or rejected; none is reset."""
    for turn in range(RESTARTS):
        service = Service(tmp_path / f"data{turn}")
        host, _, port = service.http.rpartition(":")
        outcomes = []

        def call():
            try:
                peer = socket.create_connection((host, int(port)), timeout=0.5)
            except OSError:  # the port is closed or closing
                outcomes.append("not let in")
                return
            with peer:
                peer.settimeout(CALL_LIMIT)
                peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                assert peer.recv(1_000).startswith(b"HTTP/1.1 200")
                outcomes.append("answered")

        with Load(*[call] * CALLERS) as load:
            load.wait_for_calls()
            service.stop()
            end = time.monotonic() + CALL_LIMIT
            while outcomes[-1] == "answered":
                assert time.monotonic() < end
        assert load.failures == []
