"""deploy/litestream/litestream.yml with a real Litestream: a lost store is restored from its replica."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import uuid

import contract
from harness import CALL_LIMIT, ROOT, wait_for

LITESTREAM = pathlib.Path(sys.executable).parent / "litestream"
CONFIGURATION = ROOT / "deploy" / "litestream" / "litestream.yml"
UNIT = ROOT / "deploy" / "systemd" / "litestream.service"
# Litestream does not report when a commit has reached the replica; its interval is one second.
ARRIVAL_LIMIT = 30


class Litestream:
    """Litestream with the repository's file, for one data directory and one replica path."""

    def __init__(self, data, backup):
        self.store = data / "entitled.sqlite"
        self.environment = os.environ | {"ENTITLED_DATA": str(data), "ENTITLED_BACKUP": str(backup)}

    def replicate(self):
        """Runs the commands of the unit for systemd."""
        snapshot, replicate = re.findall(r"^Exec\w+=-?(.+)$", UNIT.read_text(), re.MULTILINE)
        subprocess.run(self.command(snapshot), env=self.environment, stdout=subprocess.DEVNULL, check=False)
        return subprocess.Popen(self.command(replicate), env=self.environment, stdout=subprocess.DEVNULL)

    def command(self, line):
        names = {"/usr/bin/litestream": LITESTREAM, "/etc/litestream.yml": CONFIGURATION}
        return [str(names.get(word, word.replace("${ENTITLED_DATA}", str(self.store.parent)))) for word in line.split()]

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
    wait_for(lambda: is_complete(litestream, tmp_path, 20), ARRIVAL_LIMIT)
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


def test_each_start_of_litestream_takes_a_new_snapshot(start, tmp_path):
    """It may have copied a commit that the store does not have. The snapshot after it has none."""
    data, backup = tmp_path / "data", tmp_path / "backup"
    service, litestream = start(data), Litestream(data, backup)
    with service.channel() as channel:
        for count in (1, 2):
            replication = litestream.replicate()
            submit(channel, service, f"customer-{count}")
            wait_for(lambda count=count: is_complete(litestream, tmp_path, count), ARRIVAL_LIMIT)
            assert len(list(backup.glob("ltx/9/*.ltx"))) == count, "level 9 has the snapshots"
            replication.terminate()
            replication.wait()


def is_complete(litestream, folder, count):
    """Whether a restored copy is intact and has this much evidence."""
    copy = folder / f"copy-{uuid.uuid4()}.sqlite"
    return litestream.restore(copy) and evidence_count(copy) == count


def submit(channel, service, customer):
    contract.receipt_stub(channel).SubmitTransaction(
        contract.receipt_service.SubmitTransactionRequest(
            app="ocean-journal", customer_id=customer,
            signed_transaction=service.buy("lifetime")["signedTransactionInfo"],
        ),
        timeout=CALL_LIMIT,
    )  # fmt: skip
