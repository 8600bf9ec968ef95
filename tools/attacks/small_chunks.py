"""Requests over HTTP/1.1 whose bodies arrive in chunks of one byte."""

from wire import flood_connection

HEAD = (
    b"POST /entitled.v1.EntitlementService/Check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def chunks():
    while True:
        yield b"1\r\n \r\n" * 10_000


def flood(target, until):
    return flood_connection(target.http, until, HEAD, chunks)
