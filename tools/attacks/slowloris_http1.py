"""A thousand HTTP/1.1 connections whose requests arrive byte by byte."""

import time

from wire import hold


def flood(target, until):
    opening = b"POST /notifications/ocean-journal HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"
    peers = hold(target.http, 1_000, until, opening)
    closed = 0
    while time.monotonic() < until:
        for peer in list(peers):
            try:
                peer.sendall(b" ")
            except OSError:
                closed += 1
                peers.remove(peer)
        time.sleep(0.5)
    return closed
