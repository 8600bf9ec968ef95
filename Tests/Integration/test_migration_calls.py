"""Calls of a migration job to Apple, counted by an App Store that stays up while the service is killed."""

import subprocess

from certificates import write_key
from harness import PROGRAM, Service, environment, post, wait_for
from test_migration_job import get, write
from test_migration_receipt import APP, Store
from test_reconciliation import sandbox_alone

CUSTOMERS = 60
CONCURRENCY = 4
KILLS = 5
CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    {server}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 5, currency: USD}}
{roots}
"""
SERVER = """app_store_servers: {{Sandbox: "http://{address}"}}
    in_app_purchase_key: {{file: key.p8, key_id: KEY0000001, issuer_id: 57246542-96fe-1a63-e053-0824d011072a}}"""
ROOTS = """trusted_roots:
  - {environment: Sandbox, certificate: apple/sandbox/root.pem}"""


def test_completed_lookups_are_not_repeated_after_a_kill(tmp_path):
    (tmp_path / "apple.yaml").write_text(CONFIGURATION.format(server="", roots=""))
    with sandbox_alone(tmp_path / "apple", tmp_path / "apple.yaml") as address:

        def act(action, **members):
            status, answer = post(f"http://{address}/sandbox/v1/{action}", members)
            assert status == 200, answer
            return answer

        accounts = [f"a{number}" for number in range(CUSTOMERS)]
        receipts = [act("documents/app-receipt", app=APP, productId="pro.monthly", account=a)["document"] for a in accounts]
        path = write(tmp_path / "in.ndjson", [
            {"customer_id": account, "receipt": receipt} for account, receipt in zip(accounts, receipts)])  # fmt: skip
        act("faults", kind="slow", count=1_000_000, by="40ms")
        write_key(tmp_path / "key.p8")
        (tmp_path / "entitled.yaml").write_text(
            CONFIGURATION.format(server=SERVER.format(address=address), roots=ROOTS))
        for round_ in range(KILLS + 1):
            store = Store(Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"]))
            job = subprocess.Popen(
                [PROGRAM, "migrate", "--input", path, "--concurrency", str(CONCURRENCY), "--json"],
                stdout=subprocess.DEVNULL, env=environment() | {"ENTITLED_GRPC": store.service.grpc})  # fmt: skip
            if round_ < KILLS:
                done = CUSTOMERS * (round_ + 1) // (KILLS + 2)
                wait_for(lambda: store.query("SELECT coalesce(sum(count), 0) FROM migration_count")[0][0] >= done)
                store.service.kill()
                job.kill()
                job.wait()
                store.channel.close()
        assert job.wait(60) == 0
        calls = {kind: count["asked"] for kind, count in get(f"http://{address}/sandbox/v1/calls").items()}
        for kind in ("v2/history", "v1/subscriptions"):
            # One call per customer, and at most one more for each lookup in flight at a kill.
            assert CUSTOMERS <= calls[kind] <= CUSTOMERS + KILLS * CONCURRENCY, calls
        assert len(calls) == 2
        assert all(store.check(account).entitled for account in accounts)
        (job,) = store.query("SELECT done_lines, duplicates, state FROM migration")
        assert job == (CUSTOMERS, 0, "FINISHED")
        store.channel.close()
        store.service.stop()
