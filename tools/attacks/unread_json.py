"""Forty HTTP/1.1 connections that pipeline calls of BatchCheck and read no response."""

import select
import time

from wire import APP, SERVICE, connect, post


def flood(target, until):
    checks = [{"app": APP, "customerId": f"customer-{number + 1:07}", "entitlement": "pro"} for number in range(200)]
    request = post(SERVICE + "BatchCheck", {"checks": checks})
    closed, peers = 0, []
    while time.monotonic() < until:
        try:
            while len(peers) < 40:
                peers.append(connect(target.http))
                peers[-1].setblocking(False)
        except OSError:
            closed += 1
        writable = select.select([], peers, [], 0.1)[1]
        for peer in writable:
            try:
                peer.send(request)
            except BlockingIOError:
                pass
            except OSError:
                closed += 1
                peers.remove(peer)
    return closed
