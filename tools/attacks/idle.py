"""5,000 idle connections, half of them to each port."""

from wire import PREFACE, count_closed, hold, settings, wait


def flood(target, until):
    peers = hold(target.grpc, 2_500, until, PREFACE + settings()) + hold(target.http, 2_500, until, b"G")
    wait(until)
    return count_closed(peers)
