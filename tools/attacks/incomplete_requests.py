"""A hundred HTTP/1.1 connections with requests of 4 MB, each without its last byte."""

import time

from wire import connect, discard, post

CONNECTIONS = 100


def flood(target, until):
    request = post("/verifyReceipt", b" " * 4_000_000)[:-1]
    closed, peers = 0, []
    while time.monotonic() < until:
        if len(peers) == CONNECTIONS:
            time.sleep(0.05)
        else:
            try:
                peer = connect(target.http, max(until - time.monotonic(), 0.01))
                peer.sendall(request)
                peers.append(peer)
            except OSError:
                closed += 1
        for peer in list(peers):
            try:
                discard(peer)
            except OSError:
                closed += 1
                peers.remove(peer)
    return closed
