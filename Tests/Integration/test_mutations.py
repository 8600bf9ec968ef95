"""Mutated requests of every kind: bytes changed, cut and repeated. The server answers or closes, and keeps serving.

The seed is fixed; FUZZ_SECONDS=60 runs longer, from another seed each time. `make test-asan` runs this test
against a server with the address sanitizer; `make fuzz` mutates the input of single parsers, guided by coverage.
"""

import os
import random
import socket
import time

import pytest

from contract import entitlement_service
from frames import PREFACE, frame
from raw import CHECK, Connection, framed
from test_http2 import OK, CHECK_REQUEST

SECONDS = float(os.environ.get("FUZZ_SECONDS", 0))
ROUNDS = 150
JSON = b'{"app": "ocean-journal", "customerId": "customer", "entitlement": "pro"}'


def literal(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


HEAD = b"\x83\x86" + literal(b":path", CHECK.encode()) + literal(b":authority", b"a")
HEAD += literal(b"content-type", b"application/grpc") + literal(b"grpc-timeout", b"1S")
CALL = frame(4, 0, 0, b"") + frame(1, 4, 1, HEAD) + frame(0, 1, 1, framed(CHECK_REQUEST))
PING = frame(6, 0, 0, bytes(8)) + frame(8, 0, 0, b"\0\0\0\1") + frame(3, 0, 1, b"\0\0\0\x08")

SEEDS = {
    "http2": ("grpc", PREFACE, CALL + PING + CALL),
    "http1": (
        "http", b"",
        b"POST /" + CHECK.encode()[1:] + b" HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        + b"Content-Length: %d\r\n\r\n" % len(JSON) + JSON
        + b"POST /notifications/ocean-journal HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ),
}  # fmt: skip


def mutated(chance, data):
    """The data with one to eight changes."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        index = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0 if index < len(data):
                data[index] ^= 1 << chance.randrange(8)
            case 1 if index < len(data):
                data[index] = chance.choice([0, 1, 0x7F, 0x80, 0xFF])
            case 2:
                del data[index : index + chance.randint(1, 16)]
            case 3:
                data[index:index] = data[index : index + chance.randint(1, 64)]
            case _:
                data[index:index] = chance.randbytes(chance.randint(1, 16))
        if not data:
            return b"\0"
    return bytes(data)


def rounds():
    """The number of each round, for the configured duration."""
    end = time.monotonic() + SECONDS
    number = 0
    while number < ROUNDS or time.monotonic() < end:
        yield number
        number += 1


@pytest.mark.parametrize("kind", SEEDS)
def test_the_server_survives_mutated_connections(service, kind):
    port, before, seed = SEEDS[kind]
    host, _, number = getattr(service, port).rpartition(":")
    chance = random.Random(time.time_ns() if SECONDS else 1)
    for _ in rounds():
        data = before + mutated(chance, seed)
        with socket.create_connection((host, int(number)), timeout=10) as peer:
            try:
                peer.sendall(data)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65_536):
                    pass
            except ConnectionError:
                pass
    is_alive(service)


def test_the_server_survives_mutated_messages(service):
    chance = random.Random(time.time_ns() if SECONDS else 2)
    seed = framed(CHECK_REQUEST)
    batch = entitlement_service.BatchCheckRequest(
        checks=[entitlement_service.CheckRequest.FromString(CHECK_REQUEST)] * 3)
    with Connection(service.grpc) as connection:
        for _ in rounds():
            answer = connection.call(body=mutated(chance, seed))
            assert answer.status in range(17) or answer.headers[":status"] != "200"
            body = framed(mutated(chance, batch.SerializeToString()))
            assert connection.call(body=body, path=CHECK.replace("/Check", "/BatchCheck")).status in range(17)
    is_alive(service)


def is_alive(service):
    assert service.process.poll() is None, service.log
    with Connection(service.grpc) as connection:
        assert connection.call(CHECK_REQUEST).status == OK
