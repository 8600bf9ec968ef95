"""Segments of a large store: the time of a page of 1,000 rows.

`fill` writes purchase states as a million customers of two years would leave them; `measure` asks for a page of each of
the segments below and returns the slowest, best of three, in milliseconds.
"""

import http.client
import json
import random
import sqlite3
import time

DAY = 86_400_000
APP, ENVIRONMENT = "ocean-journal", "Sandbox"
PRODUCTS = [f"pro.{number}" for number in range(10)]
STOREFRONTS = ["USA", "DEU", "GBR", "FRA", "JPN"] + [f"X{number:02}" for number in range(35)]
# State, its share of all purchases, the days since it began, and those until it ends.
STATES = [
    (1, "SUBSCRIPTION_ACTIVE", 0.45, (0, 700), (0, 30)), (2, "SUBSCRIPTION_NOT_RENEWING", 0.08, (0, 30), (0, 30)),
    (6, "IN_GRACE_PERIOD", 0.005, (0, 16), (0, 16)), (8, "BILLING_RETRY", 0.01, (0, 60), (0, 60)),
    (9, "BILLING_LAPSED", 0.1, (60, 700), None), (12, "CANCELLED", 0.34, (0, 700), None),
    (15, "REFUNDED", 0.015, (0, 700), None),
]  # fmt: skip
SEGMENTS = {
    "at risk": {"states": [2]},
    "trials that end in three days": {"paymentModes": ["PAYMENT_MODE_FREE_TRIAL"], "states": [1, 2], "endsWithinDays": 3},
    "in billing retry for five days": {"states": [8], "minDaysInState": 5},
    "left 30 to 60 days ago": {"states": [12], "minDaysInState": 30, "maxDaysInState": 60},
    "left 30 to 60 days ago from one product": {"states": [12], "minDaysInState": 30, "maxDaysInState": 60, "productIds": ["pro.3"]},
    "a year paid": {"states": [1], "minPaidDays": 365},
    "one rare storefront": {"storefronts": ["X30"], "states": [1]},
    "unclaimed": {"unclaimed": True},
    "price consent": {"needsPriceConsent": True},
    "shared by the family, or a seat": {
        "states": [1, 2], "inAppOwnershipTypes": ["IN_APP_OWNERSHIP_TYPE_FAMILY_SHARED", "IN_APP_OWNERSHIP_TYPE_ASSIGNED"]},
    "win-back": {"states": [12, 9], "hasWinBackOffer": True},
    "all active": {"states": [1, 2, 6]},
    "ends within a day, two products": {"endsWithinDays": 1, "productIds": ["pro.1", "pro.2"]},
}  # fmt: skip


def rows(count, now):
    dice = random.Random(1)
    weights = [state[2] for state in STATES]
    for number in range(count):
        state, reason, _, since, ends = dice.choices(STATES, weights)[0]
        began = now - dice.randrange(since[0] * DAY, since[1] * DAY + 1)
        end = now + dice.randrange(ends[0] * DAY + 1, ends[1] * DAY + 1) if ends else None
        is_active, is_trial = state in (1, 2, 6), state in (1, 2) and dice.random() < 0.04
        yield (
            str(2_000_000_000_000_000 + number), APP, ENVIRONMENT,
            "" if dice.random() < 0.01 else f"customer-{number}", state, reason, str(number),
            dice.choice(PRODUCTS), dice.choices(STOREFRONTS, [30, 20, 10, 8, 8] + [1] * 35)[0],
            1 if is_trial else 0, "FAMILY_SHARED" if dice.random() < 0.001 else "PURCHASED", began, end, None, int(is_active and dice.random() < 0.002),
            "winback" if state == 12 and dice.random() < 0.1 else "",
            None if is_active else 0, began if is_active else None, 9_990, "USD", None,
        )  # fmt: skip


COLUMNS = """line_id, app, environment, customer_id, state, reason, transaction_id, product_id, storefront, mode, ownership,
since, ends_at, commitment_ends_at, needs_consent, win_back_offers, paid_ms, paid_since, price, currency, due_at"""


def fill(path, count):
    """Writes purchase states to the database of a store that no service has open."""
    with sqlite3.connect(path) as database:
        # Building the indexes at the end takes a third of the time.
        indexes = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'purchase_state' AND sql IS NOT NULL"
        ).fetchall()
        for name, _ in indexes:
            database.execute(f"DROP INDEX {name}")
        marks = ", ".join("?" for _ in COLUMNS.split(","))
        sql = f"INSERT INTO purchase_state ({COLUMNS}) VALUES ({marks})"
        database.executemany(sql, rows(count, int(time.time() * 1000)))
        for _, definition in indexes:
            database.execute(definition)


def page(port, filter):
    """The milliseconds and the number of rows of one page."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body = json.dumps({"app": APP, "filter": filter, "pageSize": 1000})
    begin = time.monotonic()
    connection.request(
        "POST", "/entitled.v1.SegmentService/ListCustomers", body, {"content-type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    if response.status != 200:
        raise SystemExit(f"ListCustomers: {answer}")
    return (time.monotonic() - begin) * 1000, len(answer.get("rows", []))


def measure(port, report=print):
    """The slowest page, best of three of each segment, in milliseconds, at the HTTP port of a running service."""
    slowest = 0.0
    for name, filter in SEGMENTS.items():
        times = [page(port, filter) for _ in range(3)]
        best = min(milliseconds for milliseconds, _ in times)
        slowest = max(slowest, best)
        report(f"{name:45} {times[0][1]:5} rows {best:8.1f} ms")
    return slowest
