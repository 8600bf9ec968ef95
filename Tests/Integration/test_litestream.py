"""deploy/litestream/litestream.yml with a real Litestream: a lost store is restored from its replica."""

import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time

import contract
from harness import CALL_LIMIT, ROOT

LITESTREAM = pathlib.Path(sys.executable).parent / "litestream"
CONFIGURATION = ROOT / "deploy" / "litestream" / "litestream.yml"
# Litestream does not report when a commit has reached the replica; its interval is one second.
ARRIVAL_LIMIT = 30


class Litestream:
    """Litestream with the repository's file, for one data directory and one replica path."""

    def __init__(self, data, backup):
        self.store = data / "entitled.sqlite"
        self.environment = os.environ | {"ENTITLED_DATA": str(data), "ENTITLED_BACKUP": str(backup)}

    def replicate(self):
        command = [str(LITESTREAM), "replicate", "-config", str(CONFIGURATION)]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL)

    def restore(self, path):
        """Restores the newest replica to a path; returns whether one existed."""
        command = [str(LITESTREAM), "restore", "-integrity-check", "full", "-config", str(CONFIGURATION), "-o", str(path), str(self.store)]
        return subprocess.run(command, env=self.environment, capture_output=True, timeout=60).returncode == 0


def evidence_count(store):
    connection = sqlite3.connect(store)
    try:
        return connection.execute("SELECT count(*) FROM evidence").fetchone()[0]
    finally:
        connection.close()


def test_a_killed_and_lost_store_is_restored_completely(start, tmp_path):
    data, backup = tmp_path / "data", tmp_path / "backup"
    service, litestream = start(data), Litestream(data, backup)
    replication = litestream.replicate()
    with service.channel() as channel:
        for number in range(20):
            submit(channel, service, f"customer-{number}")
    deadline = time.monotonic() + ARRIVAL_LIMIT
    for attempt in range(1000):
        copy = tmp_path / f"copy-{attempt}.sqlite"
        if litestream.restore(copy) and evidence_count(copy) == 20:
            break
        assert time.monotonic() < deadline, "the replica never contained every commit"
    # Both at once, as a machine is lost.
    replication.kill()
    service.kill()
    replication.wait()
    shutil.rmtree(data)

    data.mkdir(mode=0o700)
    assert litestream.restore(litestream.store)
    with start(data).channel() as channel:
        for number in range(20):
            answer = contract.entitlement_stub(channel).Check(
                contract.entitlement_service.CheckRequest(
                    app="ocean-journal", customer_id=f"customer-{number}", entitlement="pro"
                ),
                timeout=CALL_LIMIT,
            ).entitlement
            assert answer.entitled, number


def submit(channel, service, customer):
    contract.receipt_stub(channel).SubmitTransaction(
        contract.receipt_service.SubmitTransactionRequest(
            app="ocean-journal", customer_id=customer,
            signed_transaction=service.buy("lifetime")["signedTransactionInfo"],
        ),
        timeout=CALL_LIMIT,
    )  # fmt: skip
