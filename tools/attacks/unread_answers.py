"""Twenty connections with a window of zero and 200 calls of BatchCheck with 1,000 checks on each."""

import time

from wire import PREFACE, batch, call, connect, discard, settings

CONNECTIONS, LAST_STREAM = 20, 2 * 200 - 1


def flood(target, until):
    message, opening = batch(1_000), PREFACE + settings(window=0)
    closed, peers = 0, {}
    while time.monotonic() < until:
        is_waiting = True
        for number in range(CONNECTIONS):
            try:
                if number not in peers:
                    peers[number] = [connect(target.grpc), 1]
                    peers[number][0].sendall(opening)
                peer, stream = peers[number]
                if stream <= LAST_STREAM:
                    is_waiting = False
                    peer.settimeout(max(until - time.monotonic(), 0.01))
                    peer.sendall(call(stream, "BatchCheck", message))
                    peers[number][1] = stream + 2
                discard(peer)
            except TimeoutError:
                continue
            except OSError:
                closed += 1
                peers.pop(number, None)
        if is_waiting:
            time.sleep(0.05)
    return closed
