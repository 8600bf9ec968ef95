"""The sandbox App Store's database: it survives `kill -9`, and can be queried while the sandbox runs."""

import contextlib
import json
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request

from harness import CALL_LIMIT, PROGRAM, STOP_LIMIT, Service, environment, post

APP = "ocean-journal"
BUYERS = 4


def query(service, sql, *values):
    """Queries the database of a service's sandbox, as a tester does with `sqlite3`."""
    path = f"file:{service.data / 'sandbox' / 'sandbox.sqlite'}?mode=ro"
    with contextlib.closing(sqlite3.connect(path, uri=True)) as database:
        return database.execute(sql, values).fetchall()


def transactions(service, account):
    """The purchases of an account in the sandbox: transaction id and product of each."""
    url = f"http://{service.sandbox}/sandbox/v1/accounts/{account}?app={APP}"
    with urllib.request.urlopen(url, timeout=CALL_LIMIT) as answer:
        [app] = json.loads(answer.read())["apps"]
    return {(bought["transactionId"], bought["productId"]) for bought in app["transactions"]}


class Buyers:
    """Customers who buy at full speed until their App Store is killed."""

    def __init__(self, service, name):
        self.acknowledged = {f"{name}-{number}": set() for number in range(BUYERS)}
        self._service = service
        self._threads = [threading.Thread(target=self._buy, args=[account]) for account in self.acknowledged]
        for thread in self._threads:
            thread.start()

    def _buy(self, account):
        with contextlib.suppress(OSError, urllib.error.URLError):
            for number in range(1_000_000):
                product = ["shells.100", "pro.monthly", "pro.yearly"][number % 3]
                bought = self._service.buy(product, account=account)
                self.acknowledged[account].add((bought["transactionId"], bought["productId"]))

    def wait(self, count):
        """Waits until `count` purchases were acknowledged."""
        deadline = time.monotonic() + CALL_LIMIT
        while sum(map(len, self.acknowledged.values())) < count:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def join(self):
        for thread in self._threads:
            thread.join(STOP_LIMIT)


def test_acknowledged_purchases_survive_kill_9_during_other_actions(tmp_path):
    acknowledged = {}
    for kill in range(3):
        service = Service(tmp_path / "data")
        # Transaction ids are not reused: earlier purchases are unchanged.
        for account, bought in acknowledged.items():
            assert bought <= transactions(service, account)
        buyers = Buyers(service, f"buyer-{kill}")
        buyers.wait(20 + 15 * kill)
        service.kill()
        buyers.join()
        acknowledged |= buyers.acknowledged
    service = Service(tmp_path / "data")
    everything = [number for bought in acknowledged.values() for number, _ in bought]
    assert len(everything) == len(set(everything)) >= 60
    for account, bought in acknowledged.items():
        there = transactions(service, account)
        assert bought <= there
        # At most the purchase in flight exists in addition.
        assert len(there - bought) <= 1
        rows = query(service, "SELECT transaction_id, product_id FROM purchase WHERE account = ?", account)
        assert {(str(number), product) for number, product in rows} == there
    assert query(service, "PRAGMA integrity_check") == [("ok",)]
    service.stop()


def test_the_database_can_be_queried_at_run_time(start):
    service = start()
    bought = service.buy("pro.monthly", account="ann")
    url = f"http://{service.sandbox}/sandbox/v1"
    post(f"{url}/grace-period", {"app": APP, "days": 16})
    post(f"{url}/billing", {"account": "ann", "fails": True})
    post(f"{url}/clock/advance", {"by": "32d"})
    [row] = query(
        service, "SELECT original_transaction_id, state, status, renews, renewal_product_id FROM subscription")
    assert row == (int(bought["transactionId"]), "grace", 4, 1, "pro.monthly")
    notifications = query(service, "SELECT type, subtype FROM notification ORDER BY number")
    assert notifications == [("SUBSCRIBED", "INITIAL_BUY"), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD")]
    assert query(service, "SELECT account, billing_fails FROM account") == [("ann", 1)]
    # A reader does not block the sandbox.
    service.buy("shells.100", account="ben")
    assert query(service, "SELECT count(*) FROM purchase") == [(2,)]
    actions = query(service, "SELECT entry ->> 'action' FROM journal WHERE entry ->> 'action' IS NOT NULL")
    assert actions == [("purchases",), ("grace-period",), ("billing",), ("purchases",)]


def test_the_database_of_a_newer_version_is_rejected(tmp_path):
    Service(tmp_path).stop()
    file = tmp_path / "sandbox" / "sandbox.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 99")
    command = [PROGRAM, "sandbox", "serve", "--data", tmp_path, "--sandbox", "127.0.0.1:0"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), cwd=tmp_path, timeout=STOP_LIMIT)
    assert done.returncode == 1
    assert done.stderr == f"entitled: {file} has schema version 99, and this program knows versions up to 1\n"
