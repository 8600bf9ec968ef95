"""The fixtures of a version for later ones: its store, its configuration, its contract, and answers about its customers.

`freeze` writes them to a folder of `Tests/Fixtures`, and test_frozen_versions.py opens each of these folders with the
present program.
"""

import datetime
import gzip
import json
import pathlib
import sqlite3
import subprocess
import urllib.request

from harness import CALL_LIMIT, ROOT, Service, post, run, wait_for

FIXTURES = ROOT / "Tests" / "Fixtures"
APP = "ocean-journal"
# The story happens in the past, so that nothing of it changes when a later program opens the store.
START = "2023-01-01T00:00:00Z"
# The story ends after 245 days, and a day closes six hours after its end.
LAST_CLOSED = datetime.datetime(2023, 9, 1, tzinfo=datetime.UTC).timestamp()
# Instants that the questions are about: in each period of the story, and long after it.
INSTANTS = ["2023-01-02", "2023-02-15", "2023-03-05", "2023-03-20", "2023-05-01", "2023-08-01", "2025-01-01"]
CUSTOMERS = ["renewing", "declined", "refunded", "lifetime", "season", "granted", "shells", "unknown"]
EXPLAIN, TIMELINE = "entitled.v1.EntitlementService/Explain", "entitled.v1.EntitlementService/ListTimeline"
# Fields that a later program may fill differently: texts are for people; advice and links depend on the present.
FREE = {"explanation", "steps", "advice", "manageUrl", "nextPageToken", "laterChanges", "appStoreCodes"}

CONFIGURATION = """\
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox, Production]
    online_checks: off
    operator_grace: {days: 3, access: limited}
    bought_before_version: {version: "3.0", entitlements: [pro]}
    family_sharing: {pro: allow}
    ownership_policy: keep
    receipts: {verify: local, retain: false, look_up_unverified: false}
    consumption_requests:
      answer: automatic
      refund_preference: DECLINE
      by_reason: {FULFILLMENT_ISSUE: {refund_preference: GRANT_FULL}, LEGAL: {answer: manual}}
    products:
      pro.monthly:
        {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M, price: 4.99, currency: USD}
      lifetime: {type: Non-Consumable, entitlements: [pro], price: 99.99, currency: USD}
      season: {type: Non-Renewing Subscription, duration: P90D, entitlements: [pro], price: 12.99, currency: USD}
      shells.100: {type: Consumable, price: 0.99, currency: USD}
callers: open
log: {format: json, level: info}
retention: {rejected: 36500, notifications: 36500, documents: 36500}
"""


def call(service, method, **request):
    status, answer = service.json(method, {"app": APP, **request})
    assert status == 200, answer
    return answer


def live(service):
    """Eight months of seven customers until everything that can end has ended, and a forged document."""

    def act(action, **members):
        status, answer = post(f"http://{service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def buy(customer, product):
        bought = act("purchases", app=APP, productId=product, account=customer)
        signed = bought["signedTransactionInfo"]
        call(service, "entitled.v1.ReceiptService/SubmitTransaction", customerId=customer, signedTransaction=signed)
        return bought["transactionId"], signed

    act("notification-url", app=APP, url=f"http://{service.http}/notifications/{APP}")
    act("grace-period", app=APP, days=16)
    renewing, _ = buy("renewing", "pro.monthly")
    buy("declined", "pro.monthly")
    refunded, _ = buy("refunded", "lifetime")
    _, signed = buy("lifetime", "lifetime")
    buy("season", "season")
    buy("shells", "shells.100")
    call(
        service, "entitled.v1.EntitlementService/Grant", customerId="granted", entitlement="pro",
        accessLevel="ACCESS_LEVEL_FULL")  # fmt: skip
    forged = {"app": APP, "customerId": "unknown", "signedTransaction": signed[:-4] + "AAAA"}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", forged)[0] == 403
    act("clock/advance", by="35d")
    act("billing", account="declined", fails=True)
    act("refund", transactionId=refunded)
    act("clock/advance", by="150d")
    act("auto-renew", transactionId=renewing, enabled=False)
    act("clock/advance", by="60d")


def has_arrived(service, data):
    """Whether every notification has arrived, and the reports count all evidence and have closed the days of the story."""
    with urllib.request.urlopen(f"http://{service.sandbox}/sandbox/v1/notifications", timeout=CALL_LIMIT) as page:
        notices = json.load(page)["notifications"]
    if any(notice["attempts"][-1:] != ["SUCCESS"] for notice in notices):
        return False
    (waiting,), (closed,) = (rows[0] for rows in (
        select(data / "entitled.sqlite", sql)
        for sql in ("SELECT count(*) FROM report_queue", "SELECT max(day) * 86400 FROM closed_day")))
    return waiting == 0 and closed is not None and closed >= LAST_CLOSED


def constant(value):
    """The part of a response that every later version repeats."""
    if isinstance(value, dict):
        return {name: constant(part) for name, part in value.items() if name not in FREE}
    return [constant(part) for part in value] if isinstance(value, list) else value


def ask(service):
    """The questions and their answers: each customer at each instant, and the events of each customer."""
    found = []
    for customer in CUSTOMERS:
        for instant in INSTANTS:
            question = {"customerId": customer, "entitlement": "pro", "asOf": f"{instant}T00:00:00Z"}
            found.append({"method": EXPLAIN, "request": question})
        found.append({"method": TIMELINE, "request": {"customerId": customer}})
    for entry in found:
        entry["response"] = constant(call(service, entry["method"], **entry["request"]))
    return found


def tables(database):
    """The definitions of the tables and indexes of a store."""
    return sorted(select(database, "SELECT type, name, sql FROM sqlite_master"))


def select(database, sql):
    """The rows of a query of a store."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def unpack(folder, data):
    """Makes a data directory of a frozen store; returns the path of the database."""
    data.mkdir(mode=0o700)
    database = data / "entitled.sqlite"
    database.write_bytes(gzip.decompress((folder / "store.sqlite.gz").read_bytes()))
    database.chmod(0o600)
    return database


def freeze(folder, scratch):
    """Writes the store, the configuration, the contract and the answers of the present program to a folder.

    `scratch` is an empty folder for the data directories.
    """
    folder, scratch = pathlib.Path(folder).resolve(), pathlib.Path(scratch)
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "entitled.yaml"
    configuration.write_text(CONFIGURATION)
    service = Service(scratch / "lived", ["--config", configuration, "--sandbox-start", START])
    live(service)
    wait_for(lambda: has_arrived(service, scratch / "lived"))
    service.stop()
    backup = scratch / "store.sqlite"
    done = run("store", "backup", backup, "--data", scratch / "lived")
    assert done.returncode == 0, done.stderr
    (folder / "store.sqlite.gz").write_bytes(gzip.compress(backup.read_bytes(), mtime=0))
    unpack(folder, scratch / "asked")
    service = Service(scratch / "asked", ["--config", configuration])
    answers = ask(service)
    service.stop()
    lines = ",\n".join(json.dumps(entry, sort_keys=True) for entry in answers)
    (folder / "answers.json").write_text(f"[\n{lines}\n]\n")
    contract = folder / "contract.binpb.gz"
    subprocess.run(
        [ROOT / ".venv/bin/buf", "build", "--exclude-source-info", "--output", contract], check=True, cwd=ROOT,
        timeout=6 * CALL_LIMIT)  # fmt: skip
