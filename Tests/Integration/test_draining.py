"""SIGTERM: readiness fails first, then clients are asked to go, calls end, and the program with them."""

import signal
import socket
import threading
import time
import urllib.error
import urllib.request

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

import contract
from contract import entitlement_service
from harness import CALL_LIMIT, Service
from raw import Connection, framed
from test_http2 import OK, QUESTION


def readiness(service):
    try:
        with urllib.request.urlopen(f"http://{service.http}/readyz", timeout=CALL_LIMIT) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_readiness_fails_first_and_calls_in_flight_end(tmp_path):
    service = Service(tmp_path / "data", ["--drain-delay", "2"])
    with Connection(service.grpc) as connection:
        # A call that is half here when the end begins.
        stream = connection.open()
        connection.send(stream, framed(QUESTION)[:8])
        assert readiness(service) == 200
        service.process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        while readiness(service) == 200:
            assert time.monotonic() - begin < 1.5
        # Not ready, and still serving those who have not noticed.
        with Connection(service.grpc) as late:
            assert late.call(QUESTION).status == OK
        assert connection.goaway is None
        while connection.goaway is None:
            assert connection.receive()
        assert time.monotonic() - begin > 1
        connection.send(stream, framed(QUESTION)[8:], end=True)
        assert connection.answer(stream).status == OK
        connection.drain()
    service.join(0)


def test_who_watches_health_hears_of_it_and_holds_nothing_up(tmp_path):
    service = Service(tmp_path / "data")
    with service.channel() as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
        begin = time.monotonic()
        service.process.send_signal(signal.SIGTERM)
        assert next(watching).status == health_pb2.HealthCheckResponse.NOT_SERVING
        service.join(0)
        assert time.monotonic() - begin < 10


def free_ports(count):
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def test_a_rolling_restart_under_load_fails_no_call(tmp_path):
    ports = free_ports(2)

    def begin(number):
        return Service(tmp_path / str(number), ["--grpc", f"127.0.0.1:{ports[number]}"])

    servers = [begin(0), begin(1)]
    target = "ipv4:" + ",".join(f"127.0.0.1:{port}" for port in ports)
    options = [
        ("grpc.service_config", '{"loadBalancingConfig": [{"round_robin": {}}]}'),
        ("grpc.use_local_subchannel_pool", 1), ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 200),
    ]  # fmt: skip
    stop = threading.Event()
    failures, calls = [], []

    def load(stub):
        question = entitlement_service.CheckRequest(
            app="ocean-journal", customer_id="somebody", entitlement="pro")
        while not stop.is_set():
            try:
                stub.Check(question, timeout=CALL_LIMIT)
                calls.append(1)
            except grpc.RpcError as error:
                failures.append(error)

    with grpc.insecure_channel(target, options=options) as channel:
        stub = contract.entitlement_stub(channel)
        threads = [threading.Thread(target=load, args=[stub]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in (0, 1):
            before = len(calls)
            servers[number].stop()
            servers[number] = begin(number)
            with servers[number].channel() as own:
                contract.entitlement_stub(own).Check(
                    entitlement_service.CheckRequest(app="ocean-journal", customer_id="a", entitlement="pro"),
                    timeout=CALL_LIMIT)  # fmt: skip
            assert len(calls) > before
            # The client finds the new one before the other goes.
            time.sleep(1)
        stop.set()
        for thread in threads:
            thread.join()
    for server in servers:
        server.stop()
    assert failures == []
    assert len(calls) > 100
