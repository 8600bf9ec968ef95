"""Forty HTTP/1.1 connections with 1,700 requests behind responses that they do not read."""

from wire import count_closed, hold, post, wait

LARGE = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
SMALL = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


def flood(target, until):
    # After the large body, the service reads as much as it can at once.
    peers = hold(target.http, 40, until, post("/nothing", bytes(300_000)) + LARGE * 20 + SMALL * 1_700)
    wait(until)
    return count_closed(peers)
