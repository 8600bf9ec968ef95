"""Posts to the endpoints for retention messages and for RevenueCat's webhooks that are not authentic."""

import itertools

from notifications import post_all
from wire import APP, post


def flood(target, until):
    paths = itertools.cycle([f"/retention/{APP}", f"/import/revenuecat/{APP}"])
    requests = (post(path, body) for path, body in zip(paths, itertools.cycle(target.notifications)))
    return post_all(target, until, requests)
