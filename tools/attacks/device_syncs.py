"""Device syncs with forged documents."""

import itertools

from notifications import post_all
from wire import APP, post


def flood(target, until):
    # A notification is signed, too, but its signature is altered, and it is no app transaction.
    documents = itertools.cycle(body.split(b'"')[3].decode() for body in target.notifications)
    requests = (
        post(f"/app/v1/{APP}/sync", {"signedAppTransaction": document[:-8] + "A" * 8, "installationId": "a"})
        for document in documents)  # fmt: skip
    return post_all(target, until, requests)
