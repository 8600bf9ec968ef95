"""A database that stores entries of the inbox late: what callers learn, and that each entry counts once."""

import contextlib
import threading

import grpc
import pytest

import contract
from contract import StatusCode, entitlement_service
from harness import CALL_LIMIT, post, wait_for
from test_metrics import value
from test_replicas import APP, TAKEOVER_LIMIT, grant, grants, replicas  # noqa: F401
from test_side_by_side import demo, event, send  # noqa: F401
from test_side_by_side import write as side_by_side

BLOCKED = "FROM pg_stat_activity WHERE query LIKE '%INSERT INTO inbox%' AND wait_event_type = 'Lock'"


@contextlib.contextmanager
def stalled(group):
    """Makes appends to the inbox wait until the end of the block."""

    def hold():
        with contextlib.suppress(AssertionError):  # psql ends with its session
            group.sql("BEGIN; LOCK TABLE inbox IN EXCLUSIVE MODE; SELECT pg_sleep(600)")

    wait_for(lambda: group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL") == "0")
    holder = threading.Thread(target=hold)
    holder.start()
    holders = "FROM pg_locks WHERE relation = 'inbox'::regclass AND mode = 'ExclusiveLock' AND granted"
    wait_for(lambda: group.sql(f"SELECT count(*) {holders}") == "1")
    try:
        yield
    finally:
        group.sql(f"SELECT pg_terminate_backend(pid) {holders}")
        holder.join()


def test_a_call_that_may_be_executed_yet_has_an_unknown_outcome(replicas):  # noqa: F811
    group = replicas(2)
    follower = group.services[group.followers[0]]
    grant(follower, "ada")
    with stalled(group), pytest.raises(grpc.RpcError) as error:
        grant(follower, "ben")
    assert error.value.code() == StatusCode.UNAVAILABLE and contract.reason(error.value) == "OUTCOME_UNKNOWN"
    wait_for(lambda: grants(follower, "ben"))
    wait_for(lambda: group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL") == "0")
    assert len(grants(follower, "ben")) == 1
    # So has one that the leader gave up, because an attempt or a leader before may have been lost after its commit.
    group.sql("""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001''; END';
        CREATE TRIGGER refuse BEFORE INSERT ON evidence FOR EACH ROW EXECUTE FUNCTION refuse();
        """)
    with pytest.raises(grpc.RpcError) as error:
        grant(follower, "cat")
    assert error.value.code() == StatusCode.UNAVAILABLE and contract.reason(error.value) == "OUTCOME_UNKNOWN"
    assert not grants(follower, "cat")


def test_audit_entries_that_are_handed_over_repeatedly_count_once(replicas):  # noqa: F811
    group = replicas(2)
    follower = group.services[group.followers[0]]
    grant(follower, "ada")

    def looks():
        request = contract.audit_service.ListAuditEntriesRequest(app=APP, customer_id="looked-at")
        with follower.channel() as channel:
            entries = contract.audit_stub(channel).ListAuditEntries(request, timeout=CALL_LIMIT).entries
        return [entry for entry in entries if entry.method.endswith("/ListGrants")]

    with stalled(group):
        assert not grants(follower, "looked-at")
        wait_for(lambda: int(group.sql(f"SELECT count(*) {BLOCKED}")) >= 3)
    wait_for(looks)
    wait_for(lambda: group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL") == "0")
    assert len(looks()) == 1


def waiting(group):
    return int(group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL"))


def looked_at(group):
    return group.sql("SELECT customer_id FROM audit_customer ORDER BY customer_id").splitlines()


def test_an_audit_entry_that_the_store_refuses_is_discarded_without_the_others(replicas):  # noqa: F811
    group = replicas(2)
    leader, follower = (group.services[name] for name in (group.wait_for_leader(), group.followers[0]))
    group.sql("ALTER TABLE audit_customer ADD CHECK (customer_id NOT LIKE 'refused%')")
    for customer in ("ada", "refused-1", "ben", "refused-2"):
        grants(follower, customer)
    wait_for(lambda: looked_at(group) == ["ada", "ben"])
    wait_for(lambda: not waiting(group))
    assert value(leader, "entitled_inbox_discarded_total", kind="audit") == 2
    assert "records discarded: the store refuses them" in leader.log


def test_accepted_events_that_the_store_refuses_stay_without_holding_up_others(replicas, tmp_path, demo):  # noqa: F811
    group = replicas(2, configurations=dict.fromkeys("ab", side_by_side(tmp_path, demo)))
    leader, follower = (group.services[name] for name in (group.wait_for_leader(), group.followers[0]))
    group.sql("ALTER TABLE imported_event ADD CONSTRAINT refused CHECK (type <> 'TEST')")
    # More than the leader executes at a time.
    for _ in range(260):
        assert send(follower, event("TEST", "bob"))[1]["reason"] == "ACCEPTED"
    wait_for(lambda: "inbox entry failed, will retry" in leader.log)
    grant(follower, "ada")
    assert waiting(group) >= 260
    group.sql("ALTER TABLE imported_event DROP CONSTRAINT refused")
    leader.kill()
    wait_for(lambda: not waiting(group), 2 * TAKEOVER_LIMIT)
    assert group.sql("SELECT count(*) FROM imported_event") == "260"


def limited(folder, limit):
    """A configuration with one app, and with a limit such as `max_rejected_bytes_per_day: 0`."""
    configuration = folder / "service.yaml"
    configuration.write_text(
        "apps:\n  ocean-journal:\n    bundle_id: com.example.oceanjournal\n    environments: [Sandbox]\n"
        "    products:\n      full: {type: Non-Consumable, entitlements: [pro]}\n"
        f"callers: open\nlimits:\n  {limit}\n")
    return configuration


def test_a_notification_that_the_leader_rejects_when_the_space_of_a_day_is_used_up_is_settled(replicas, tmp_path):  # noqa: F811
    configuration = limited(tmp_path, "max_rejected_bytes_per_day: 0")
    group = replicas(2, configurations=dict.fromkeys("ab", configuration))
    leader = group.services[group.wait_for_leader()]
    # A follower with another configuration has accepted it.
    group.sql(f"""
        INSERT INTO inbox (token, kind, app, method, caller, context, body, received_at)
        VALUES ('full', 'notification', '', '/notifications/{APP}', '', '{{}}', 'x', now())
        """)
    wait_for(lambda: group.sql("SELECT count(*) FROM inbox WHERE token = 'full' AND done_at IS NULL") == "0")
    assert group.sql("SELECT body FROM inbox WHERE token = 'full'") == "\\x"
    assert group.sql("SELECT count(*) FROM evidence") == "0"
    assert value(leader, "entitled_verification_failures_total") == 1


def test_the_log_names_no_app_that_a_stranger_invented(replicas, tmp_path):  # noqa: F811
    configuration = limited(tmp_path, "max_rejected_posts_per_second: 1")
    group = replicas(2, configurations=dict.fromkeys("ab", configuration))
    group.wait_for_leader()
    follower = group.services[group.followers[0]]

    def refused(app):
        return post(f"http://{follower.http}/notifications/{app}", b"no document")[0] == 429

    wait_for(lambda: refused("invented"))
    wait_for(lambda: refused(APP) and f"app={APP}" in follower.log)
    assert "TOO_MANY_REJECTIONS" in follower.log and "invented" not in follower.log


def test_a_caller_cannot_choose_the_key_of_a_call_without_one(replicas):  # noqa: F811
    group = replicas(2)
    follower = group.services[group.followers[0]]
    leader = group.services[group.wait_for_leader()]
    last = int(group.sql("SELECT coalesce(max(id), 0) FROM inbox"))
    for number in range(last + 1, last + 20):
        grant(leader, "mallory", idempotency_key=f"inbox/{number}")
    for number in range(5):
        assert not grant(follower, f"customer-{number}").repeated
        assert len(grants(follower, f"customer-{number}")) == 1


def test_the_inbox_keeps_nothing_about_an_erased_customer(replicas):  # noqa: F811
    group = replicas(2)
    follower = group.services[group.followers[0]]
    name = "ana@example.com"
    grant(follower, name)
    with follower.channel() as channel:
        stub = contract.entitlement_stub(channel)
        request = contract.entitlement_service.EraseCustomerRequest(app=APP, customer_id=name)
        assert stub.EraseCustomer(request, timeout=CALL_LIMIT).erased_rows > 0
    columns = " || ".join(f"encode(coalesce({column}, ''), 'hex')" for column in ("context", "body", "outcome"))
    done = "FROM inbox WHERE done_at IS NOT NULL AND kind = 'call'"
    assert int(group.sql(f"SELECT count(*) {done}")) >= 2
    for line in group.sql(f"SELECT {columns} {done}").splitlines():
        row = bytes.fromhex(line)
        # In an outcome that is not encrypted, JSON has the response in base64.
        assert name.encode() not in row and not row.startswith(b"{")


def test_the_leader_checks_the_position_that_a_call_at_a_follower_requires(replicas):  # noqa: F811
    group = replicas(2)
    follower = group.services[group.followers[0]]
    position = grant(follower, "ada").position

    def grant_after(position):
        request = entitlement_service.GrantRequest(
            app=APP, customer_id="ben", entitlement="pro", access_level=contract.entitlement.ACCESS_LEVEL_FULL)
        with follower.channel() as channel:
            stub = contract.entitlement_stub(channel)
            stub.Grant(request, metadata=[("entitled-at-least", position)], timeout=CALL_LIMIT)

    with pytest.raises(grpc.RpcError) as error:
        grant_after("x" + position)
    assert error.value.code() == StatusCode.INVALID_ARGUMENT and contract.reason(error.value) == "INVALID_POSITION"
    assert not grants(follower, "ben")
    grant_after(position)
    assert len(grants(follower, "ben")) == 1
