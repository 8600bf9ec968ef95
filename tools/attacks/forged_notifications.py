"""Notifications with valid content and a forged signature."""

import itertools

from notifications import post_all
from wire import APP, post


def forged(bodies):
    """Each body with another signature every time; the last characters of a JWS are its signature."""
    for number, body in zip(itertools.count(), itertools.cycle(bodies)):
        yield body[:-20] + b"%016d" % number + body[-4:]


def flood(target, until):
    return post_all(target, until, (post(f"/notifications/{APP}", body) for body in forged(target.notifications)))
