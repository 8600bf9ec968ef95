"""Posts notifications on a few connections at once."""

import select
import time

from wire import IncompleteFlood, connect

CONNECTIONS = 16


def post_all(target, until, requests):
    """Keeps a request on the way on each connection. Returns the number of connections that the server closed.

    Fails if none is answered.
    """
    closed, waiting, answered = 0, [], False
    while time.monotonic() < until:
        try:
            while len(waiting) < CONNECTIONS:
                waiting.append(connect(target.http))
                waiting[-1].sendall(next(requests))
        except OSError:
            closed += 1
            continue
        for peer in select.select(waiting, [], [], 0.1)[0]:
            try:
                if not peer.recv(1 << 16):
                    raise ConnectionError
                answered = True
                peer.sendall(next(requests))
            except OSError:
                closed += 1
                waiting.remove(peer)
    if not answered:
        raise IncompleteFlood("no answer to any request")
    return closed
