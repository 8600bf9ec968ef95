"""1,000 calls of Check at a time whose app has 15,000 characters, which no error may repeat."""

from wire import PREFACE, call, flood_connection, settings, text


def chunks():
    message = text(1, "x" * 15_000)
    for first in range(1, 1 << 30, 2_000):
        yield b"".join(call(stream, "Check", message) for stream in range(first, first + 2_000, 2))


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
