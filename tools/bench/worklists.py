"""The content of the console's work lists, for `console`: one entry of each list for a thousand customers.

No customer has contradictory facts, which would have to be encoded here.
"""

import sqlite3

APP, ENVIRONMENT = "ocean-journal", "Sandbox"
HOUR = 3_600_000
# The evidence ids of the open refund requests and of the rejected notifications begin here.
OPEN, REJECTED = 9_000_000, 9_500_000
# Apple's time for an answer to a refund request, and the time that the youngest one has waited.
LIMIT, SPREAD = 12 * HOUR, 11 * HOUR


def status(reason, level):
    """The bytes of a status of an event: each member has a number and a text with its length."""
    members = {1: reason, 11: str(level), 2: "0", 3: "ACTIVE" if level else "INACTIVE"}
    return b"".join(bytes([number, len(text)]) + text.encode() for number, text in members.items())


ENTITLED, ENDED = status("SUBSCRIPTION_ACTIVE", 2), status("CANCELLED", 0)


def line(number):
    """The purchase of a customer of `store seed`."""
    return str(2_000_000_000_000_000 + number * 10)


def fill(store, count, now):
    """Adds the entries; `now` is in seconds."""
    now *= 1000
    entries = range(1, max(20, count // 1_000) + 1)
    # Customers far from each other, of which no other page has one.
    customers = {entry: 1 + entry * 977 % count for entry in entries}
    names = {entry: f"customer-{customers[entry]:07}" for entry in entries}

    def insert(table, rows):
        rows = list(rows)
        store.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

    insert("consumption_request", (
        (OPEN + entry, line(customers[entry]), APP, ENVIRONMENT, line(customers[entry]), "pro.yearly", "OTHER", now, "OPEN",
         "", 0, now + LIMIT, None) for entry in entries))  # fmt: skip
    insert("notification", (
        (REJECTED + entry, APP, ENVIRONMENT, 2, "", "", "", "REJECTED", "BAD_SIGNATURE", "", None, now, "", "", "")
        for entry in entries))  # fmt: skip
    insert("event", (
        (entry, APP, entry, ENVIRONMENT, names[entry], "pro", "ENDED", now, now, None, "", ENTITLED, ENDED, b"", "", "")
        for entry in entries))  # fmt: skip
    insert("webhook_cursor", [(APP, "EVENTS", "billing", entries[-1], None)])
    insert("delivery", (
        (APP, "EVENTS", "billing", entry, ENVIRONMENT, names[entry], "entitlement.revoked", now, "DEAD_LETTER", 8, now, None,
         "HTTP 500") for entry in entries))  # fmt: skip
    insert("repair", [
        (1, APP, ENVIRONMENT, "MANUAL", now - 24 * HOUR, now, 0, now, now, "DONE", None, len(entries), 0, len(entries), "", "")
    ])  # fmt: skip
    insert("drift", ((1, names[entry], "pro", now, ENTITLED, ENDED) for entry in entries))
    insert("consent_withdrawal", (
        (str(700_000_000_000_000 + entry), APP, ENVIRONMENT, now, 1, None, None, 0) for entry in entries))  # fmt: skip
    insert("access_disagreement", (
        (names[entry], APP, ENVIRONMENT, "pro", "OURS_ONLY", now, now, None, "", "CANCELLED", None, 1) for entry in entries))
    insert("migration", (
        (entry, APP, ENVIRONMENT, "receipts.jsonl", "JSONL", 4, 0, "bench", 0, 0, "FINISHED", "", now, now, 1_000, 0, 0)
        for entry in entries))  # fmt: skip
    insert("migration_count", ((entry, "MIGRATED", "", 999) for entry in entries))
    # Purchases that no one owns any more.
    purchases = [line(number) for number in customers.values()]
    store.executemany("DELETE FROM line_customer WHERE line_id = ?", ((purchase,) for purchase in purchases))
    insert("unclaimed_line", ((APP, ENVIRONMENT, purchase, "", "") for purchase in purchases))


def reopen(path, now):
    """Makes the refund requests younger than Apple's limit again: the store may be of an earlier run."""
    now *= 1000
    with sqlite3.connect(path) as store:
        store.execute(
            "UPDATE consumption_request SET state = 'OPEN', error = '', attempts = 0, settled_at = NULL,"
            " requested_at = ?1 - evidence_id * 7919 % ?2, due_at = ?1 - evidence_id * 7919 % ?2 + ?3 WHERE evidence_id > ?4",
            (now, SPREAD, LIMIT, OPEN))  # fmt: skip
