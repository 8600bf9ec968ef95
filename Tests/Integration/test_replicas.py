"""Several processes on one PostgreSQL database: one leads, any takes any call, and another one takes over."""

import concurrent.futures
import contextlib
import http.client
import json
import select
import shutil
import signal
import subprocess
import threading
import time
import uuid

import grpc
import pytest

import contract
import forge
import link
from contract import StatusCode, entitlement, entitlement_service, notification_service, receipt_service
from harness import CALL_LIMIT, Service, post, wait_for
from receiver import Receiver
from test_metrics import value
from test_notifications import SECRET as V1_SECRET
from test_notifications import period, signed, version_1
from test_webhooks import configured, secret_file

APP = "ocean-journal"
NOW = int(time.time() * 1000)
DAY = 86_400_000
TAKEOVER_LIMIT = 40  # a lease lasts 5 seconds; the machine may be busy


class Replicas:
    """Replicas `a`, `b`, … of one database, with the same installation key and sandbox."""

    def __init__(self, postgres, database, folder, count, addresses=None, configurations=None):
        self.postgres, self.database, self.folder = postgres, database, folder
        self.services, self.configurations = {}, configurations or {}
        self.addresses = {name: self.address_through(relay) for name, relay in (addresses or {}).items()}
        for name in "abc"[:count]:
            self.start(name)
            # The first one makes the key and the sandbox of all.
            for other in "abc"[1:count] if name == "a" else ():
                shutil.copytree(folder / "a", folder / other, dirs_exist_ok=True)

    def start(self, name):
        address = self.addresses.get(name) or self.postgres.address(self.database)
        extra = ["--config", self.configurations[name]] if name in self.configurations else []
        self.services[name] = Service(self.folder / name, ["--store", address, "--replica", name, *extra])
        return self.services[name]

    def address_through(self, relay):
        """The address of the database at the other end of a link."""
        password = self.folder / "password"
        password.touch(mode=0o600)
        password.write_text(self.postgres.password)
        options = f"sslmode=disable&password_file={password}&connect_timeout=60"
        return f"postgres://{self.postgres.user}@127.0.0.1:{relay.port}/{self.database}?{options}"

    def sql(self, statement):
        return self.postgres.sql(statement, self.database)

    @property
    def leader(self):
        """The name of the replica with the lease; empty without one."""
        return self.sql("SELECT name FROM leader WHERE until > clock_timestamp()")

    def wait_for_leader(self, besides=()):
        """Waits for a leader other than `besides`, and returns its name."""
        return wait_for(lambda: (name := self.leader) not in besides and name)

    @property
    def followers(self):
        leader = self.wait_for_leader()
        return [name for name in self.services if name != leader]

    def close(self):
        for service in self.services.values():
            if service.process.poll() is None:
                service.process.send_signal(signal.SIGCONT)
                service.kill()


@pytest.fixture
def replicas(postgres, tmp_path):
    """Starts replicas of one new database."""
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgres.database())

        def start(count, **options):
            started = Replicas(postgres, database, tmp_path, count, **options)
            stack.callback(started.close)
            return started

        yield start


def grant(service, customer, timeout=TAKEOVER_LIMIT, **more):
    request = entitlement_service.GrantRequest(
        app=APP, customer_id=customer, entitlement="pro", access_level=entitlement.ACCESS_LEVEL_FULL, **more)
    with service.channel() as channel:
        return contract.entitlement_stub(channel).Grant(request, timeout=timeout)


def grant_or_repeat(service, customer):
    """Grants as a client does: the call is repeated when the service has said that it accepted nothing."""
    try:
        return grant(service, customer, 2 * TAKEOVER_LIMIT)
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.UNAVAILABLE and "nothing was accepted" in error.details(), error
        return wait_for(lambda: grant(service, customer))


def grants(service, customer):
    request = entitlement_service.ListGrantsRequest(app=APP, customer_id=customer)
    with service.channel() as channel:
        return contract.entitlement_stub(channel).ListGrants(request, timeout=CALL_LIMIT).grants


def is_entitled(service, customer):
    request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
    with service.channel() as channel:
        return contract.entitlement_stub(channel).Check(request, timeout=CALL_LIMIT).entitlement.entitled


def test_any_replica_takes_any_call_and_reads_what_it_wrote(replicas):
    group = replicas(3)
    assert group.wait_for_leader() == "a"
    # The replicas have copies of one sandbox, whose sales would have the same numbers.
    forger = forge.Forger(group.services["a"])
    for name, service in group.services.items():
        bought = period(forger, str(uuid.uuid4().int % 10**15), NOW - DAY, NOW + 30 * DAY)
        with service.channel() as channel:
            submitted = contract.receipt_stub(channel).SubmitTransaction(
                receipt_service.SubmitTransactionRequest(
                    app=APP, customer_id=f"buyer-{name}", signed_transaction=bought), timeout=TAKEOVER_LIMIT)
        assert submitted.position
        assert is_entitled(service, f"buyer-{name}"), "the replica that wrote answers with what it wrote"
        # By the Connect protocol, with an error of the handler too.
        status, answer = service.json(
            "entitled.v1.EntitlementService/RevokeGrant", {"app": APP, "grantId": "grant-77"})
        assert (status, answer["code"]) == (404, "not_found")
        granted = grant(service, f"friend-{name}")
        assert not granted.repeated and len(grants(service, f"friend-{name}")) == 1
        assert is_entitled(service, f"friend-{name}")
    # An idempotency key counts once, whichever replicas the requests come through.
    once = [grant(service, "once", idempotency_key="k") for service in group.services.values()]
    assert [answer.repeated for answer in once] == [False, True, True]
    assert len({answer.grant.grant_id for answer in once}) == 1
    with pytest.raises(grpc.RpcError) as error:
        grant(group.services[group.followers[0]], "another", idempotency_key="k")
    assert contract.reason(error.value) == "IDEMPOTENCY_KEY_REUSED"
    # The others follow.
    for service in group.services.values():
        for name in group.services:
            wait_for(lambda s=service, n=name: is_entitled(s, f"buyer-{n}") and is_entitled(s, f"friend-{n}"))
    wait_for(lambda: group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL") == "0")


def test_streams_facade_status_and_audit_work_on_a_follower(replicas):
    group = replicas(2)
    assert group.wait_for_leader() == "a"
    answers = {}
    for name, service in group.services.items():
        with service.channel() as channel:
            request = receipt_service.MigrateReceiptsRequest(
                app=APP, customer_id="c", receipt_base64="AAAA", correlation_id="1")
            stream = contract.receipt_stub(channel).MigrateReceipts(iter([request]), timeout=TAKEOVER_LIMIT)
            (migrated,) = list(stream)
            status = contract.status_stub(channel).GetStatus(contract.status_service.GetStatusRequest())
        replica = status.replica
        assert (replica.name, replica.leader, replica.leader_name, replica.epoch) == (name, name == "a", "a", 1)
        assert replica.leader_address == group.services["a"].grpc and status.ready
        facade = post(f"http://{service.http}/verifyReceipt/{APP}", {"receipt-data": "AAAA"})
        sync = post(f"http://{service.http}/app/v1/{APP}/sync", {})[0]
        answers[name] = (migrated.outcome, migrated.error.code, migrated.correlation_id, facade, sync)
        grant(service, f"audited-{name}", actor="support")
    assert answers["a"] == answers["b"]
    for service in group.services.values():
        def seen(service=service):
            with service.channel() as channel:
                status = contract.status_stub(channel).GetStatus(contract.status_service.GetStatusRequest())
            return [(other.name, bool(other.version)) for other in status.replica.replicas]
        wait_for(lambda: seen() == [("a", True), ("b", True)])
    # Requests that the leader would always refuse do not reach the database.
    assert group.sql(f"SELECT count(*) FROM inbox WHERE method IN ('/verifyReceipt/{APP}', '/app/v1/{APP}/sync')") == "0"
    # Entries of calls on any replica, in the store of all, each once.
    for service in group.services.values():
        for name in group.services:
            def entries(service=service, name=name):
                request = contract.audit_service.ListAuditEntriesRequest(app=APP, customer_id=f"audited-{name}")
                with service.channel() as channel:
                    listed = contract.audit_stub(channel).ListAuditEntries(request, timeout=CALL_LIMIT)
                return [e for e in listed.entries if e.method.endswith("Grant")]

            (entry,) = wait_for(entries)
            assert entry.actor == "support" and entry.outcome == "OK"


def test_a_follower_confirms_apples_notification_and_the_leader_applies_it(replicas):
    group = replicas(2)
    follower, leader = group.services["b"], group.services[group.wait_for_leader()]
    forger = forge.Forger(group.services["a"])
    token, number = str(uuid.uuid4()), str(uuid.uuid4().int % 10**15)
    bought = period(forger, number, NOW - DAY, NOW + 30 * DAY, token)
    body = signed(forger, "SUBSCRIBED", "INITIAL_BUY", signedTransactionInfo=bought)
    for _ in range(3):
        status, answer = post(f"http://{follower.http}/notifications/{APP}", body)
        assert (status, answer["reason"]) == (200, "ACCEPTED")

    def notifications(service):
        request = notification_service.ListNotificationsRequest(app=APP)
        with service.channel() as channel:
            found = contract.notification_stub(channel).ListNotifications(request, timeout=CALL_LIMIT)
        return [n for n in found.notifications if n.original_transaction_id == number]

    wait_for(lambda: notifications(leader))
    wait_for(lambda: group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL") == "0")
    assert len(notifications(leader)) == 1, "a notification counts once, however often it is sent"
    assert group.sql("SELECT count(*) FROM inbox WHERE kind = 'notification'") == "0", "no one waits for their outcomes"
    wait_for(lambda: notifications(follower))
    # A notification that does not verify is answered as by the leader, and so are an unknown app and no JSON.
    broken = {"signedPayload": body["signedPayload"][:-8] + "AAAAAAAA"}
    for bad, path in [(broken, APP), (body, "unknown"), (b"no JSON", APP)]:
        answers = [post(f"http://{s.http}/notifications/{path}", bad) for s in (follower, leader)]
        assert answers[0][0] == answers[1][0] and answers[0][1]["reason"] == answers[1][1]["reason"], answers


def test_a_command_counts_once_if_the_leader_dies_between_its_effect_and_its_outcome(replicas):
    group = replicas(2)
    assert group.wait_for_leader() == "a"
    # The transaction with the outcome waits, after the one with the effect has committed.
    group.sql("""
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
        CREATE TRIGGER wait BEFORE UPDATE OF outcome ON inbox FOR EACH ROW EXECUTE FUNCTION wait();
        """)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        with lock(group):
            granted = pool.submit(grant, group.services["b"], "alice", note="once")
            wait_for(lambda: len(grants(group.services["b"], "alice")) == 1)
            group.services["a"].kill()
            # The server would commit what it has received.
            group.sql("""
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE 'entitled writer%'
                """)
            assert group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL AND kind = 'call'") == "1"
        assert not granted.result().repeated
    assert group.wait_for_leader(besides=("a",)) == "b"
    assert len(grants(group.services["b"], "alice")) == 1
    assert is_entitled(group.services["b"], "alice")


@contextlib.contextmanager
def lock(group):
    """Holds the advisory lock 1 of the database in another session."""
    command = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--host", group.postgres.socket,
               "--port", str(group.postgres.port), "--username", group.postgres.user, "--dbname", group.database]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as session:
        session.stdin.write("SELECT pg_advisory_lock(1);\nSELECT 'locked';\n")
        while session.stdout.readline().strip() != "locked":
            pass
        try:
            yield
        finally:
            session.stdin.close()


def test_a_frozen_leader_changes_nothing_when_it_wakes(replicas):
    group = replicas(2)
    assert group.wait_for_leader() == "a"
    first, second = group.services["a"], group.services["b"]
    grant(first, "before")
    first.process.send_signal(signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # Calls to the frozen process wait; those to the other one are executed after the takeover.
        late = pool.submit(grant_or_repeat, first, "late")
        grant(second, "during")
        assert group.leader == "b"
        epoch = group.sql("SELECT epoch FROM head")
        first.process.send_signal(signal.SIGCONT)
        late.result()
    assert group.leader == "b" and group.sql("SELECT epoch FROM head") == epoch
    for service in (first, second):
        for customer in ("before", "during", "late"):
            wait_for(lambda s=service, c=customer: is_entitled(s, c))
            assert len(grants(service, customer)) == 1
    assert value(first, "entitled_leader") == 0 and value(second, "entitled_leader") == 1
    assert value(second, "entitled_leader_epoch") == int(epoch)


def status_after_freeze(group, body, seconds):
    """Posts a notification to the leader `a` and freezes it for this time while it writes; returns the status."""
    first = group.services["a"]
    group.sql("""
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
        CREATE TRIGGER wait BEFORE INSERT ON notification FOR EACH ROW EXECUTE FUNCTION wait();
        """)
    writing = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'entitled writer%' AND wait_event = 'advisory'
        """
    with concurrent.futures.ThreadPoolExecutor() as pool:
        with lock(group):
            posted = pool.submit(post, f"http://{first.http}/notifications/{APP}", body, timeout=2 * TAKEOVER_LIMIT)
            wait_for(lambda: group.sql(writing) == "1")
            begin = time.monotonic()
            first.process.send_signal(signal.SIGSTOP)
            assert group.wait_for_leader(besides=("a", "")) == "b"
            wait_for(lambda: time.monotonic() > begin + seconds)
        first.process.send_signal(signal.SIGCONT)
        return posted.result()[0]


def test_a_notification_that_a_leader_had_begun_before_it_was_frozen_is_handed_to_the_new_one(replicas):
    group = replicas(2)
    assert group.wait_for_leader() == "a"
    forger = forge.Forger(group.services["a"])
    number = str(uuid.uuid4().int % 10**15)
    bought = period(forger, number, NOW - DAY, NOW + 30 * DAY)
    body = signed(forger, "SUBSCRIBED", "INITIAL_BUY", signedTransactionInfo=bought)
    # Longer than a notification waits for a store that does not take it.
    assert status_after_freeze(group, body, seconds=6) == 200
    wait_for(lambda: group.sql(f"SELECT count(*) FROM notification WHERE line_id = '{number}'") == "1")


def test_a_leader_that_was_frozen_for_long_waits_for_the_response_to_a_notification_of_version_1(replicas, tmp_path):
    [_, configuration] = configured(tmp_path, shared_secret={"file": str(secret_file(tmp_path, "shared", V1_SECRET))})
    group = replicas(2, configurations={"a": configuration, "b": configuration})
    assert group.wait_for_leader() == "a"
    # Longer than a request waits for the leader. The new leader has no key for a lookup.
    assert status_after_freeze(group, version_1(), seconds=26) == 202
    assert group.sql("SELECT count(*) FROM notification") == "1"


def test_a_planned_stop_hands_over_within_seconds_and_fails_no_call(replicas):
    group = replicas(3)
    written, failed, gaps = [], [], []
    stopping = False

    def write(name, number):
        last = time.monotonic()
        while not stopping:
            customer = f"customer-{number}-{len(written)}-{uuid.uuid4().hex[:6]}"
            try:
                grant(group.services[name], customer)
            except grpc.RpcError as error:
                failed.append((error.code(), error.details()))
                continue
            written.append(customer)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert group.wait_for_leader() == "a"
        running = [pool.submit(write, name, number) for number, name in enumerate("bcbc")]
        wait_for(lambda: len(written) > 20)
        group.services["a"].stop()
        group.wait_for_leader(besides=("a", ""))
        count = len(written)
        wait_for(lambda: len(written) > count + 20)
        stopping = True
        for task in running:
            task.result()
    assert not failed
    assert max(gaps) < 10, max(gaps)
    print(f"longest wait at the hand-over: {max(gaps):.2f} s")
    services = [group.services[name] for name in "bc"]
    for number, customer in enumerate(written):
        assert len(grants(services[number % 2], customer)) == 1


def test_killing_leaders_loses_and_doubles_no_acknowledged_write(replicas):
    group = replicas(3)
    written, stopping = [], False

    def write(number):
        while not stopping:
            customer = f"customer-{number}-{uuid.uuid4().hex}"
            names = sorted(group.services)
            try:
                grant(group.services[names[number % len(names)]], customer)
            except grpc.RpcError as error:
                assert error.code() in (StatusCode.UNAVAILABLE, StatusCode.CANCELLED, StatusCode.DEADLINE_EXCEEDED)
                continue
            written.append(customer)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = [pool.submit(write, number) for number in range(6)]
        for _ in range(2):
            count = len(written)
            wait_for(lambda c=count: len(written) > c + 20)
            leader = group.wait_for_leader()
            group.services[leader].kill()
            assert group.wait_for_leader(besides=(leader, "")) != leader
            group.start(leader)
        count = len(written)
        wait_for(lambda: len(written) > count + 20)
        stopping = True
        for task in running:
            task.result()
    wait_for(lambda: group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL") == "0")
    for number, customer in enumerate(written):
        assert len(grants(group.services["abc"[number % 3]], customer)) == 1


def test_an_upload_through_several_replicas_is_the_input_of_a_job_after_a_takeover(replicas):
    group = replicas(2)
    assert group.wait_for_leader() == "a"
    lines = "".join(f'{{"customer_id": "customer-{number}"}}\n' for number in range(20)).encode()
    size = 0
    # Each piece through another replica, and each of them twice.
    for number, offset in enumerate(range(0, len(lines), 100)):
        for _ in range(2):
            request = receipt_service.UploadMigrationInputRequest(
                app=APP, upload_id="u", offset=offset, data=lines[offset : offset + 100])
            with group.services["ab"[number % 2]].channel() as channel:
                size = contract.receipt_stub(channel).UploadMigrationInput(request, timeout=TAKEOVER_LIMIT).size
    assert size == len(lines)
    group.services["a"].kill()
    assert group.wait_for_leader(besides=("a", "")) == "b"
    with group.services["b"].channel() as channel:
        stub = contract.receipt_stub(channel)
        request = receipt_service.StartMigrationRequest(app=APP, upload_id="u")
        name = stub.StartMigration(request, timeout=TAKEOVER_LIMIT).migration.migration_id

        def finished():
            request = receipt_service.GetMigrationRequest(app=APP, migration_id=name)
            job = stub.GetMigration(request, timeout=TAKEOVER_LIMIT).migration
            return job if job.state != receipt_service.MIGRATION_STATE_RUNNING else None

        job = wait_for(finished)
        assert job.state == receipt_service.MIGRATION_STATE_FINISHED and job.rejected == 20, job
        assert job.input_bytes == len(lines)
        stub.CancelMigration(
            receipt_service.CancelMigrationRequest(app=APP, migration_id=name), timeout=TAKEOVER_LIMIT)
        stub.PurgeMigration(receipt_service.PurgeMigrationRequest(app=APP, migration_id=name), timeout=TAKEOVER_LIMIT)
    assert group.sql("SELECT count(*) FROM upload") == "0"


@pytest.mark.parametrize("place", ["a", "b"], ids=["leader", "follower"])
def test_a_cut_link_refuses_callers_at_once_and_a_notification_waits_until_it_is_joined(replicas, postgres, place):
    with link.Link(postgres.port) as relay:
        group = replicas(2, addresses={place: relay})
        assert group.wait_for_leader() == "a"
        service = group.services[place]
        forger = forge.Forger(group.services["a"])
        number = str(uuid.uuid4().int % 10**15)
        bought = period(forger, number, NOW - DAY, NOW + 30 * DAY)
        body = signed(forger, "SUBSCRIBED", "INITIAL_BUY", signedTransactionInfo=bought)
        grant(service, "before")
        relay.cut()
        start = time.monotonic()
        with pytest.raises(grpc.RpcError) as refused:
            grant(service, "refused")
        assert refused.value.code() == StatusCode.UNAVAILABLE
        # A second, and what a busy machine adds.
        assert time.monotonic() - start < 5
        assert contract.details(refused.value)["RetryInfo"].retry_delay.seconds > 0
        with contextlib.closing(http.client.HTTPConnection(service.http, timeout=TAKEOVER_LIMIT)) as sender:
            sender.request("POST", f"/notifications/{APP}", json.dumps(body), {"content-type": "application/json"})
            # A call after it is refused; the notification is not.
            with pytest.raises(grpc.RpcError):
                grant(service, "refused")
            assert not select.select([sender.sock], [], [], 0)[0]
            relay.join()
            assert sender.getresponse().status == 200
        stored = f"SELECT count(*) FROM notification WHERE line_id = '{number}'"
        wait_for(lambda: group.sql(stored) == "1")


def test_a_replica_with_an_older_catalog_does_not_become_the_leader_while_a_newer_one_is_alive(replicas, tmp_path):
    older, newer = tmp_path / "older.yaml", tmp_path / "newer.yaml"
    products = "pro.yearly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro]}"
    full = "{full: {type: Non-Consumable, entitlements: [pro]}}"
    app = f"{{bundle_id: com.example.diary, environments: [Sandbox], products: {full}}}"
    for path, more in ((older, ""), (newer, f"\n  sea-diary: {app}")):
        path.write_text(
            "apps:\n  ocean-journal:\n    bundle_id: com.example.oceanjournal\n    environments: [Sandbox]\n"
            f"    products:\n      {products}{more}\ncallers: open\n"
        )
    group = replicas(2, configurations={"a": older, "b": older})
    assert group.wait_for_leader() == "a"
    group.configurations["c"] = newer
    shutil.copytree(tmp_path / "a", tmp_path / "c", dirs_exist_ok=True)
    group.start("c")
    wait_for(lambda: group.sql("SELECT count(*) FROM replica") == "3")
    # The newest replica has accepted a notification of an app that the leader does not know.
    group.sql("""
        INSERT INTO inbox (token, kind, app, method, caller, context, body, received_at)
        VALUES ('t', 'notification', '', '/notifications/sea-diary', '', '{}', 'x', now())
        """)
    for number in range(3):
        grant(group.services["b"], f"customer-{number}")
    waiting = "SELECT count(*) FROM inbox WHERE token = 't' AND done_at IS NULL"
    assert group.sql(waiting) == "1"
    group.services["a"].kill()
    # Either could take the lease; only the newer one may.
    assert group.wait_for_leader(besides=("a", "")) == "c"
    wait_for(lambda: group.sql(waiting) == "0")
    # After a rollback the older catalog leads again.
    group.services["c"].stop()
    assert group.wait_for_leader(besides=("c", "")) == "b"
    assert is_entitled(group.services["b"], "unknown") is False
    grant(group.services["b"], "later")


def test_streams_at_each_replica_and_webhooks_of_a_later_leader_learn_who_was_erased(replicas, tmp_path):
    accepts = threading.Event()
    with (
        contextlib.closing(Receiver(lambda request: 200 if accepts.is_set() else 500)) as receiver,
        contextlib.ExitStack() as stack,
    ):
        webhook = {"url": receiver.url, "retry_seconds": [1] * 20, "events": ["CUSTOMER_ERASED"]}
        _, configuration = configured(tmp_path, {"billing": webhook})
        group = replicas(3, configurations=dict.fromkeys("abc", configuration))
        leader = group.wait_for_leader()
        grant(group.services[leader], "ana")
        beat = {"nanos": 200_000_000}
        streams = {}
        for name, service in group.services.items():
            stub = contract.entitlement_stub(stack.enter_context(service.channel()))
            for customers in [], ["ana"]:
                request = entitlement_service.WatchRequest(app=APP, customer_ids=customers, heartbeat_interval=beat)
                streams[name, *customers] = stub.Watch(request, timeout=TAKEOVER_LIMIT)
        for stream in streams.values():
            next(stream)
        follower = next(service for name, service in group.services.items() if name != leader)
        with follower.channel() as channel:
            request = entitlement_service.EraseCustomerRequest(app=APP, customer_id="ana")
            contract.entitlement_stub(channel).EraseCustomer(request, timeout=TAKEOVER_LIMIT)
        for key, stream in streams.items():
            events = (message.event for message in stream if message.WhichOneof("content") == "event")
            erased = next(event for event in events if event.type == "CUSTOMER_ERASED")
            assert erased.erased_customer_id == "ana", key
        assert "ana" not in group.sql("SELECT encode(sealed, 'escape') FROM erased_name")

        receiver.wait(lambda receiver: receiver.requests)
        group.services[leader].kill()
        group.wait_for_leader(besides=(leader, ""))
        accepts.set()
        wait_for(lambda: receiver.accepted)
        assert {request.data["erasedCustomerId"] for request in receiver.accepted} == {"ana"}


def test_only_the_leader_sends_webhooks_and_the_next_one_goes_on(replicas, tmp_path):
    with contextlib.closing(Receiver()) as receiver:
        _, configuration = configured(tmp_path, {"billing": {"url": receiver.url}})
        group = replicas(3, configurations=dict.fromkeys("abc", configuration))

        def grant_at_each(name):
            for replica, service in group.services.items():
                if service.process.poll() is None:
                    grant(service, f"{name}-{replica}")

        def are_sent(count):
            """Whether the events of `count` grants have arrived, and the store has that."""
            unsent = """
                SELECT count(*) FROM event WHERE sequence > (SELECT max(position) FROM webhook_cursor)
                OR EXISTS (SELECT FROM delivery)
                """
            return len(receiver.accepted) >= count and group.sql(unsent) == "0"

        first = group.wait_for_leader()
        grant_at_each("first")
        wait_for(lambda: are_sent(3))
        group.services[first].stop()
        group.wait_for_leader(besides=(first, ""))
        grant_at_each("second")
        wait_for(lambda: are_sent(5))
        # Duplicates of another replica would arrive before this event.
        grant(next(s for s in group.services.values() if s.process.poll() is None), "last")
        wait_for(lambda: are_sent(6))
        customers = [request.data["customerId"] for request in receiver.accepted]
        assert len(customers) == len(set(customers)) == 6, customers
        assert customers[-1] == "last" and all(name.startswith("first") for name in customers[:3])
