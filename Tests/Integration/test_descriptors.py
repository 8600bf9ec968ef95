"""File descriptors: their limit, connections that use them up, and what is served meanwhile."""

import contextlib
import http.client
import itertools
import os
import pathlib
import resource
import socket
import subprocess
import time

import pytest

import harness
from contract import entitlement_service
from harness import CALL_LIMIT, FREE_PORTS, PROGRAM, Service, environment, wait_for
from raw import Connection
from test_http2 import CHECK_REQUEST, OK
from test_limits import is_closed

CHECK = "/entitled.v1.EntitlementService/Check"


@pytest.fixture
def start_with(tmp_path):
    """Starts a service under limits of open files; this process keeps its own."""
    started = []

    def start_with(soft, hard):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        script = tmp_path / "limited"
        script.write_text(f'#!/bin/sh\nulimit -Sn {soft} && ulimit -Hn {hard} && exec "{PROGRAM}" "$@"\n')
        script.chmod(0o755)
        try:
            harness.PROGRAM = script
            started.append(Service(tmp_path / "data"))
        finally:
            harness.PROGRAM = PROGRAM
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == before
        return started[-1]

    yield start_with
    for service in started:
        service.stop()


def occupy(address, number):
    """Opens connections that send nothing; returns those that the kernel accepted."""
    host, _, port = address.rpartition(":")
    peers = []
    for _ in range(number):
        peers.append(socket.create_connection((host, int(port)), timeout=CALL_LIMIT))
    return peers


def is_ready(service):
    try:
        return service.readiness()[0] == 200
    except OSError:
        return False  # the connections of the test are not closed yet


def test_the_soft_limit_is_raised_to_the_hard_one(start_with):
    service = start_with(256, 4096)
    assert service.metrics()["process_max_fds"] == 4096


def test_idle_edge_connections_do_not_stop_grpc(start_with):
    service = start_with(1024, 1024)
    peers = occupy(service.http, 1100)
    for _ in range(3):
        with Connection(service.grpc) as connection:
            assert connection.call(CHECK_REQUEST).status == OK
    for peer in peers:
        peer.close()


@pytest.mark.parametrize("limit", [128, 300])
def test_calls_are_served_again_after_all_descriptors_were_used(start_with, limit):
    service = start_with(limit, limit)
    peers = [occupy(address, limit) for address in (service.grpc, service.http)]
    for ours in peers:
        # Those beyond the share of the listener are closed.
        wait_for(lambda: any(is_closed(peer, 0.01) for peer in ours))
    for peer in itertools.chain(*peers):
        peer.close()
    wait_for(lambda: is_ready(service))
    for _ in range(20):
        with service.channel() as channel:
            call = channel.unary_unary(
                CHECK, entitlement_service.CheckRequest.SerializeToString,
                entitlement_service.CheckResponse.FromString)
            request = entitlement_service.CheckRequest(app="ocean-journal", customer_id="a", entitlement="pro")
            assert call(request, timeout=CALL_LIMIT, wait_for_ready=True).entitlement.name == "pro"


def free_descriptor(service):
    """The lowest descriptor that the process has not opened, or only for a moment."""
    def lowest():
        used = {int(name) for name in os.listdir(f"/proc/{service.process.pid}/fd")}
        return next(number for number in itertools.count() if number not in used)

    return min(lowest() for _ in range(20))


def queued(service, address):
    """The number of connections that the kernel has established and the service has not accepted."""
    port = f"{int(address.rpartition(':')[2]):04X}"
    for line in pathlib.Path(f"/proc/{service.process.pid}/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        _, local, _, state, queues, *_ = line.split()
        if local.endswith(f":{port}") and state == "0A":  # LISTEN, whose second queue is that of accept()
            return int(queues.partition(":")[2], 16)
    raise AssertionError(f"no socket listens at {address}")


def processor_seconds(service):
    """The time for which the threads of the process have run."""
    fields = pathlib.Path(f"/proc/{service.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_connections_wait_while_descriptors_are_scarce(start):
    service = start()
    host, _, port = service.http.rpartition(":")
    probe = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)

    def probed():
        probe.request("GET", "/readyz")
        answer = probe.getresponse()
        answer.read()
        return answer.status

    assert probed() == 200
    soft, hard = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)
    # Fewer than the service reserves. Each port accepts one more connection, for which it waited before.
    resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (free_descriptor(service) + 8, hard))
    with contextlib.ExitStack() as stack:
        assert stack.enter_context(Connection(service.grpc)).call(CHECK_REQUEST).status == OK
        assert service.readiness()[0] == 200
        calls = [stack.enter_context(Connection(service.grpc)) for _ in range(3)]
        edge = [stack.enter_context(peer) for peer in occupy(service.http, 3)]
        for peer in edge:
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        begin, spent = time.monotonic(), processor_seconds(service)
        while (elapsed := time.monotonic() - begin) < 4:
            assert probed() == 200
            assert [queued(service, address) for address in (service.grpc, service.http)] == [3, 3]
            time.sleep(0.1)
        assert processor_seconds(service) - spent < elapsed / 4
        resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
        for call in calls:
            assert call.call(CHECK_REQUEST).status == OK
        for peer in edge:
            assert peer.recv(65_536).startswith(b"HTTP/1.1 200 ")
    probe.close()


def test_a_limit_that_is_too_low_ends_the_start_with_one_line(tmp_path):
    command = ["sh", "-c", f'ulimit -n 40 && exec "{PROGRAM}" "$@"', "sh", "serve", *FREE_PORTS, "--data", tmp_path]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=CALL_LIMIT, env=environment())
    assert done.returncode == 1
    assert "open files" in done.stderr
