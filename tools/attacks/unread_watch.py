"""8,000 calls of Watch with a window of zero, on ten connections. All of them must have begun."""

import contextlib
import time

from wire import (
    APP, END_STREAM, HEADERS, PREFACE, RST_STREAM, IncompleteFlood, call, count_closed, hold, read_frames, settings, text,
    wait,
)  # fmt: skip

CONNECTIONS, STREAMS = 10, 800


def flood(target, until):
    peers = hold(target.grpc, CONNECTIONS, until, PREFACE + settings(window=0))
    with contextlib.suppress(OSError):
        for peer in peers:
            peer.settimeout(5)
            for first in range(1, 2 * STREAMS, 100):
                peer.sendall(b"".join(watch(stream) for stream in range(first, first + 100, 2)))
    begun = sum(count_begun(peer, until) for peer in peers)
    if begun < CONNECTIONS * STREAMS:
        raise IncompleteFlood(f"{begun:,} of {CONNECTIONS * STREAMS:,} streams had begun when the time was up")
    wait(until)
    return f"{count_closed(peers)} ({begun:,} streams begun)"


def watch(stream):
    return call(stream, "Watch", text(1, APP))


def count_begun(peer, until):
    """The number of streams with header fields of a response that goes on, once all have them or the time is up.

    Calls again where the service refuses a stream, because a busy store cannot begin all of them at once.
    """
    begun, next_stream = 0, 2 * STREAMS + 1
    peer.settimeout(max(until - time.monotonic(), 0.01))
    with contextlib.suppress(OSError), peer.makefile("rb") as frames:
        for kind, flags, _, _ in read_frames(frames):
            if kind == HEADERS and not flags & END_STREAM:
                begun += 1
            elif kind in (HEADERS, RST_STREAM):
                peer.sendall(watch(next_stream))
                next_stream += 2
            if begun == STREAMS or time.monotonic() >= until:
                break
    return begun
