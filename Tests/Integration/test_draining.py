"""Draining after SIGTERM: readiness fails first, clients get a GOAWAY, calls finish, the program exits."""

import contextlib
import http.client
import signal
import time

from grpc_health.v1 import health_pb2, health_pb2_grpc

from harness import CALL_LIMIT, Service
from raw import Connection, framed
from test_http2 import OK, CHECK_REQUEST


def test_readiness_fails_first_and_calls_in_flight_finish(tmp_path):
    service = Service(tmp_path / "data", ["--drain-delay", "2"])
    with Connection(service.grpc) as connection:
        # A call whose request is incomplete when the drain starts.
        stream = connection.open()
        connection.send(stream, framed(CHECK_REQUEST)[:8])
        assert service.readiness()[0] == 200
        service.process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        while service.readiness()[0] == 200:
            assert time.monotonic() - begin < 1.5
        # Another signal changes nothing: the drain has begun.
        service.process.send_signal(signal.SIGTERM)
        # Not ready, but still serving clients that have not noticed.
        with Connection(service.grpc) as late:
            assert late.call(CHECK_REQUEST).status == OK
        assert connection.goaway is None
        while connection.goaway is None:
            assert connection.receive()
        assert time.monotonic() - begin > 1
        connection.send(stream, framed(CHECK_REQUEST)[8:], end=True)
        assert connection.answer(stream).status == OK
        connection.drain()
    service.join(0)


def test_health_watchers_are_notified_and_do_not_delay_the_drain(tmp_path):
    service = Service(tmp_path / "data")
    with service.channel() as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
        begin = time.monotonic()
        service.process.send_signal(signal.SIGTERM)
        assert next(watching).status == health_pb2.HealthCheckResponse.NOT_SERVING
        service.join(0)
        assert time.monotonic() - begin < 10


def test_http1_responses_announce_the_close_while_draining(tmp_path):
    service = Service(tmp_path / "data", ["--drain-delay", "1"])
    host, _, port = service.http.rpartition(":")
    with contextlib.closing(http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)) as connection:
        assert closes(connection) is None
        service.process.send_signal(signal.SIGTERM)
        while closes(connection) != "close":
            pass
    service.join(0)


def closes(connection):
    """Requests liveness; returns the response's `connection` header."""
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    assert (answer.status, answer.read().split()) == (200, [b"alive"])
    return answer.getheader("connection")
