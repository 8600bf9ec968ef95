"""5,000 idle connections, half of them to each port."""

from wire import PREFACE, IncompleteFlood, count_closed, hold, settings, wait


def flood(target, until):
    peers = hold(target.grpc, 2_500, until, PREFACE + settings()) + hold(target.http, 2_500, until, b"G")
    # A listener may close a connection right after it has accepted it.
    if closed := count_closed(peers):
        raise IncompleteFlood(f"the service closed {closed:,} of {len(peers):,} connections while they were opened")
    wait(until)
    return count_closed(peers)
