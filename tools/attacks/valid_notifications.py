"""Signed notifications as fast as they are accepted, and then the same ones again."""

import itertools

from notifications import post_all
from wire import APP, post


def flood(target, until):
    bodies = itertools.cycle(target.notifications)
    return post_all(target, until, (post(f"/notifications/{APP}", body) for body in bodies))
