"""8,000 calls of Watch with a window of zero, on ten connections."""

from wire import APP, PREFACE, call, count_closed, hold, settings, text, wait


def flood(target, until):
    peers = hold(target.grpc, 10, until, PREFACE + settings(window=0))
    for peer in peers:
        peer.settimeout(5)
        for first in range(1, 1_601, 100):
            peer.sendall(b"".join(call(stream, "Watch", text(1, APP)) for stream in range(first, first + 100, 2)))
    wait(until)
    return count_closed(peers)
