"""Posts to the notification endpoint that are not notifications."""

import itertools

from notifications import post_all
from wire import APP, post


def flood(target, until):
    bodies = (b'{"signedPayload":"' + b"x" * 4_000 + b'%d"}' % number for number in itertools.count())
    return post_all(target, until, (post(f"/notifications/{APP}", body) for body in bodies))
