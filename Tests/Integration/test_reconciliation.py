"""Reconciliation: state missed in notifications is found by status polls at the end of periods and by gap repairs."""

import contextlib
import json
import re
import signal
import subprocess
import time
import urllib.request
import uuid

import grpc
import pytest

import contract
import stores
from certificates import write_key
from contract import entitlement_service, notification_service
from harness import CALL_LIMIT, PROGRAM, STOP_LIMIT, Service, environment, on_terminal, post, wait_for
from test_app_store import APP, World
from test_metrics import value

CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    status_polling: {polling}
    gap_repair: {repair}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
      pro.yearly: {{type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1Y, price: 39.99, currency: USD}}
"""


@pytest.fixture
def begin(start, tmp_path):
    """Starts a world with only the feature under test enabled."""
    worlds = []

    def begin(polling=False, repair=False, more=""):
        file = tmp_path / "entitled.yaml"
        text = CONFIGURATION.format(polling=str(polling).lower(), repair=str(repair).lower())
        file.write_text(text.replace("    products:", f"{more}    products:"))
        worlds.append(World(start(arguments=["--config", file])))
        return worlds[-1]

    yield begin
    for world in worlds:
        world.channel.close()


def repairs(world, **filters):
    return world.notifications.ListRepairs(
        notification_service.ListRepairsRequest(app=APP, **filters), timeout=CALL_LIMIT).repairs


def finished(world, reason):
    """The latest repair for this reason, once all are finished."""
    all_repairs = repairs(world)
    wanted = [repair for repair in all_repairs if notification_service.RepairReason.Name(repair.reason).endswith(reason)]
    return wanted[0] if wanted and all(repair.HasField("finished_at") for repair in all_repairs) else None


def report(world, repair):
    return world.notifications.GetDriftReport(
        notification_service.GetDriftReportRequest(app=APP, repair_id=repair.repair_id), timeout=CALL_LIMIT)


def rows(world, query):
    """The store's rows for a query."""
    return stores.query(world.service.data, query)


def drop_notifications(world):
    """Drops all notifications from now on, without retries by Apple."""
    world.act("faults", kind="drop", count=10_000)


def test_status_polls_find_renewals_without_notifications(begin):
    world = begin(polling=True)
    ana = str(uuid.uuid4())
    world.buy(ana)
    drop_notifications(world)
    world.advance("32d")
    wait_for(lambda: world.check(ana).entitled)
    world.advance("92d")
    wait_for(lambda: world.check(ana).entitled)
    # The periods in between are stored, too.
    wait_for(lambda: len(rows(world, "SELECT 1 FROM transaction_fact")) == 5)


def test_status_polls_follow_failed_payments_through_billing_retry(begin):
    world = begin(polling=True)
    ana = str(uuid.uuid4())
    world.buy(ana)
    world.act("billing", account=f"account-{ana}", fails=True)
    drop_notifications(world)
    world.advance("32d")
    wait_for(lambda: world.check(ana).reason == "BILLING_RETRY")
    world.act("billing", account=f"account-{ana}", fails=False)
    world.advance("4d")
    wait_for(lambda: world.check(ana).entitled)


def test_a_poll_finds_all_transactions_of_a_period_with_added_seats(begin):
    """A status shows only the latest transaction of a period that is not refunded."""
    world = begin(repair=True, more="    full_poll_interval: P1D\n")
    ana = str(uuid.uuid4())
    world.buy(ana)
    bought = world.act(
        "purchases", app=APP, productId="pro.monthly", account=f"account-{ana}", seats=2)["transactionId"]
    world.deliver()
    # Without a URL there is nothing in the notification history either.
    world.act("notification-url", app=APP)
    for seats in (3, 5):
        world.act("seats", transactionId=bought, seats=seats)
    world.act("refund", transactionId=bought)
    world.advance("25h")
    wait_for(lambda: finished(world, "FULL_POLL"))
    assert len(rows(world, "SELECT 1 FROM transaction_fact")) == 4
    assert world.check(ana).entitled


def test_a_full_poll_finds_the_refund_of_an_earlier_period(begin):
    """A status shows only the last period."""
    world = begin(repair=True, more="    full_poll_interval: P1D\n")
    ana = str(uuid.uuid4())
    first = world.buy(ana)
    world.advance("32d")
    world.act("notification-url", app=APP)
    world.act("refund", transactionId=first)
    world.advance("25h")

    def refunded():
        timeline = world.entitlements.ListTimeline(
            entitlement_service.ListTimelineRequest(app=APP, customer_id=ana), timeout=CALL_LIMIT)
        return [event.transaction_id for event in timeline.events if event.type == "REFUNDED"]

    wait_for(lambda: refunded() == [first])
    assert world.check(ana).entitled


def test_purchases_with_notifications_are_not_polled(begin):
    world = begin(polling=True)
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.advance("32d")
    world.act("auto-renew", transactionId=bought, enabled=False)
    world.advance("40d")
    assert not world.check(ana).entitled
    assert not rows(world, "SELECT 1 FROM poll WHERE polled_at IS NOT NULL"), "notifications made the poll unnecessary"


def test_failed_notifications_are_fetched_once_a_day(begin):
    world = begin(repair=True)
    ana, ben = str(uuid.uuid4()), str(uuid.uuid4())
    bought, _ = world.buy(ana), world.buy(ben)
    world.deliver()
    drop_notifications(world)
    world.act("refund", transactionId=bought, reason="APP_ISSUE")
    world.advance("25h")
    wait_for(lambda: world.check(ana).reason == "REFUNDED_FOR_APP_ISSUE")
    repair = wait_for(lambda: finished(world, "SCHEDULED"))
    assert (repair.only_failures, repair.received, repair.drifted_customers) == (True, 1, 1)
    drift, = report(world, repair).drifts
    assert (drift.customer_id, drift.entitlement) == (ana, "pro")
    assert drift.before.entitled and drift.before.reason == "SUBSCRIPTION_ACTIVE"
    assert not drift.after.entitled and drift.after.reason == "REFUNDED_FOR_APP_ISSUE"
    assert world.check(ben).entitled


def test_a_delivery_that_fails_after_the_daily_search_is_found_by_the_next_one(begin):
    world = begin(repair=True)
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.deliver()
    world.advance("20h")
    world.act("faults", kind="delay", count=1, by="6h")
    world.act("refund", transactionId=bought, reason="APP_ISSUE")
    world.advance("5h")
    first = wait_for(lambda: finished(world, "SCHEDULED"))
    assert first.received == 0, "the App Store has not tried to deliver it"
    drop_notifications(world)
    world.advance("2h")
    assert world.check(ana).entitled
    world.advance("24h")
    wait_for(lambda: world.check(ana).reason == "REFUNDED_FOR_APP_ISSUE")


def test_an_unusual_delivery_gap_triggers_a_repair(begin):
    world = begin(repair=True)
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    for _ in range(8):
        world.act("test-notification", app=APP)
        world.advance("1m")
    drop_notifications(world)
    world.act("refund", transactionId=bought, reason="OTHER")
    world.advance("10m")
    assert not repairs(world), "ten minutes are no gap"
    world.advance("6m")
    wait_for(lambda: world.check(ana).reason == "REFUNDED")
    repair = wait_for(lambda: finished(world, "DELIVERY_GAP"))
    assert repair.drifted_customers == 1
    # A gap that continues triggers no second repair.
    world.advance("5m")
    assert len(repairs(world)) == 1


def test_a_manual_repair_waits_for_apple_and_survives_a_restart(begin, start):
    world = begin()
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.deliver()
    drop_notifications(world)
    world.act("refund", transactionId=bought, reason="OTHER")
    world.deliver()
    world.act("faults", kind="rate-limit", count=1_000, by="1s")
    backfill = world.notifications.BackfillNotifications(
        notification_service.BackfillNotificationsRequest(app=APP), timeout=CALL_LIMIT)
    assert not backfill.repair.HasField("finished_at")
    assert world.check(ana).entitled
    world.service.kill()
    world.channel.close()
    # The injected faults end with the process.
    again = World(start(arguments=world.service.process.args[10:]))
    wait_for(lambda: again.check(ana).reason == "REFUNDED")
    repair = wait_for(lambda: finished(again, "MANUAL"))
    assert (repair.repair_id, repair.drifted_customers) == (backfill.repair.repair_id, 1)
    again.channel.close()


def test_a_backfill_shows_what_it_has_done(begin):
    world = begin()
    world.buy(str(uuid.uuid4()))
    world.deliver()
    world.act("faults", kind="slow", count=1_000, by="1s")
    status, shown = on_terminal("notifications", "backfill", env={"ENTITLED_GRPC": world.service.grpc})
    assert status == 0, shown
    assert re.search(r"\r\d+ notifications of the history read, \d+ were missing", shown), shown


def watermark(world):
    """Until when all deliveries are accounted for, in seconds since 1970."""
    return value(world.service, "entitled_notification_watermark_seconds", app=APP, environment="Sandbox")


def test_the_watermark_waits_until_the_history_could_be_read(begin):
    world = begin(repair=True)
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.deliver()
    drop_notifications(world)
    world.act("faults", kind="html", count=100_000)
    world.act("refund", transactionId=bought, reason="OTHER")
    start = wait_for(lambda: watermark(world))
    for _ in range(4):
        world.advance("25h")
        wait_for(lambda: any(repair.error for repair in repairs(world)))
    delayed = repairs(world)
    assert delayed and all(repair.error for repair in delayed), "each repair says why it waits"
    assert not any(repair.HasField("finished_at") for repair in delayed)
    assert watermark(world) - start < 26 * 3600, "the history of the last days is unknown"

    faults = urllib.request.Request(f"http://{world.service.sandbox}/sandbox/v1/faults", method="DELETE")
    urllib.request.urlopen(faults, timeout=CALL_LIMIT).close()
    world.advance("2m")
    wait_for(lambda: world.check(ana).reason == "REFUNDED")
    wait_for(lambda: all(repair.HasField("finished_at") and not repair.error for repair in repairs(world)))
    wait_for(lambda: watermark(world) - start > 4 * 25 * 3600)


def test_a_repair_whose_history_apple_refuses_keeps_the_error(begin):
    world = begin()
    ana = str(uuid.uuid4())
    world.buy(ana)
    world.deliver()
    backfill = notification_service.BackfillNotificationsRequest(app=APP)
    # Apple's sandbox has 30 days of history.
    backfill.start_time.FromSeconds(int(time.time()) - 90 * 86_400)
    refused = world.notifications.BackfillNotifications(backfill, timeout=CALL_LIMIT).repair
    assert refused.HasField("finished_at") and "4000012" in refused.error
    world.notifications.BackfillNotifications(
        notification_service.BackfillNotificationsRequest(app=APP), timeout=CALL_LIMIT)
    assert [bool(repair.error) for repair in repairs(world)] == [False, True]


def test_an_unknown_repair_is_not_found(begin):
    world = begin()
    for repair_id in ["", "17", "x"]:
        with pytest.raises(contract.RpcError) as error:
            world.notifications.GetDriftReport(
                notification_service.GetDriftReportRequest(app=APP, repair_id=repair_id), timeout=CALL_LIMIT)
        assert contract.reason(error.value) == "UNKNOWN_REPAIR"


@contextlib.contextmanager
def sandbox_alone(data, config):
    """Runs the sandbox of a stopped service as a separate process; returns its address."""
    process = subprocess.Popen(
        [PROGRAM, "sandbox", "serve", "--sandbox", "127.0.0.1:0", "--data", data, "--config", config],
        stdout=subprocess.PIPE, text=True, env=environment())
    try:
        yield process.stdout.readline().strip().removeprefix("ready sandbox=")
    finally:
        process.terminate()
        process.wait(STOP_LIMIT)
        process.stdout.close()


@pytest.mark.parametrize("is_repairing", [False, True], ids=["idle", "during a repair"])
def test_after_a_day_of_outage_the_state_is_repaired_and_the_drift_reported(
        begin, start, tmp_path, is_repairing):
    world = begin(polling=True, repair=True)
    names = ["renewed", "refunded", "left", "upgraded", "lapsed", "declined", "untouched"]
    customers = {name: str(uuid.uuid4()) for name in names}
    bought = {name: world.buy(customers[name]) for name in names if name != "untouched"}
    # The renewals must not be charged before the outage.
    world.act("renewal-timing", chargeLead="1h")
    if is_repairing:
        world.act("faults", kind="rate-limit", count=10_000, by="1s")
    world.advance("29d")
    # So long without a delivery triggers two repairs, one for the gap and one for the day.
    wait_for(lambda: len(all_repairs := repairs(world)) == 2 and (is_repairing or all(r.HasField("finished_at") for r in all_repairs)))
    bought["untouched"] = world.buy(customers["untouched"])
    world.act("auto-renew", transactionId=bought["lapsed"], enabled=False)
    world.deliver()
    world.service.stop()
    world.channel.close()

    # The App Store continues for a day and a half, in which all periods but one end, without reaching the service.
    with sandbox_alone(world.service.data, tmp_path / "entitled.yaml") as address:
        def act(action, **members):
            status, answer = post(f"http://{address}/sandbox/v1/{action}", members)
            assert status == 200, answer

        act("faults", kind="drop", count=1_000)
        act("clock/advance", by="6h")
        act("refund", transactionId=bought["refunded"], reason="APP_ISSUE")
        act("auto-renew", transactionId=bought["left"], enabled=False)
        act("billing", account=f"account-{customers['declined']}", fails=True)
        act("purchases", app=APP, productId="pro.yearly", account=f"account-{customers['upgraded']}")
        act("clock/advance", by="60h")

    again = World(start(arguments=world.service.process.args[10:]))
    repair = wait_for(lambda: finished(again, "DOWNTIME"))
    expected = {
        "renewed": "SUBSCRIPTION_ACTIVE", "refunded": "REFUNDED_FOR_APP_ISSUE", "left": "CANCELLED",
        "upgraded": "SUBSCRIPTION_ACTIVE", "lapsed": "CANCELLED", "declined": "BILLING_RETRY",
        "untouched": "SUBSCRIPTION_ACTIVE",
    }
    assert {name: again.check(customers[name]).reason for name in names} == expected
    assert again.check(customers["upgraded"]).product_id == "pro.yearly"

    drifts = {drift.customer_id: drift for drift in report(again, repair).drifts}
    changed = {name for name in names if customers[name] in drifts}
    assert changed >= {"renewed", "refunded", "left", "upgraded", "declined"} and "untouched" not in changed
    assert repair.drifted_customers == len(changed)
    assert not drifts[customers["renewed"]].before.entitled and drifts[customers["renewed"]].after.entitled
    # A full poll finds no other difference.
    again.notifications.BackfillNotifications(notification_service.BackfillNotificationsRequest(app=APP), timeout=CALL_LIMIT)
    assert {name: again.check(customers[name]).reason for name in names} == expected
    again.channel.close()


def replay(world, **filters):
    return world.notifications.ReprocessNotifications(
        notification_service.ReprocessNotificationsRequest(app=APP, **filters), timeout=CALL_LIMIT)


def test_reprocessing_applies_notifications_unsupported_by_an_older_version(begin, start):
    world = begin()
    world.act("test-notification", app=APP)
    ana = str(uuid.uuid4())
    world.buy(ana)
    world.deliver()
    world.service.stop()
    world.channel.close()
    # As stored by a version that does not support these types.
    stores.execute(
        world.service.data,
        "UPDATE notification SET state = 'UNSUPPORTED', meaning = 'This version does not know it.'")
    again = World(start(arguments=world.service.process.args[10:]))
    preview = replay(again, dry_run=True)
    assert (preview.reprocessed, preview.changed, preview.unsupported) == (2, 2, 0)
    done = replay(again)
    assert (done.reprocessed, done.changed, done.unsupported) == (2, 2, 0)
    # In order of arrival: a later notification that is decoded first would supersede the earlier ones.
    assert [change.notification_type for change in done.changes] == ["TEST", "SUBSCRIBED"]
    assert {change.explanation for change in done.changes} >= {"The customer subscribed for the first time."}
    assert replay(again).reprocessed == 0
    assert again.check(ana).entitled
    again.channel.close()


KEYED = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    {more}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 5, currency: USD}}
trusted_roots:
  - {{environment: Sandbox, certificate: apple/sandbox/root.pem}}
"""
SERVER = """app_store_servers: {{Sandbox: "http://{address}"}}"""
KEY = """
    in_app_purchase_key: {file: key.p8, key_id: KEY0000001, issuer_id: 57246542-96fe-1a63-e053-0824d011072a}"""


def test_the_first_in_app_purchase_key_of_an_app_starts_its_reconciliation_at_sighup(tmp_path):
    apple, file = tmp_path / "apple.yaml", tmp_path / "entitled.yaml"
    apple.write_text(KEYED.split("trusted_roots")[0].format(more=""))
    with sandbox_alone(tmp_path / "apple", apple) as address:
        hook = {"app": APP, "url": "http://127.0.0.1:9/"}
        assert post(f"http://{address}/sandbox/v1/notification-url", hook)[0] == 200
        bought = post(f"http://{address}/sandbox/v1/purchases", {"app": APP, "productId": "pro.monthly"})[1]
        server = SERVER.format(address=address)
        file.write_text(KEYED.format(more=server))
        service = Service(tmp_path / "data", ["--config", file])
        with service.channel() as channel:
            apple_calls, notifications = contract.app_store_stub(channel), contract.notification_stub(channel)
            backfill = notification_service.BackfillNotificationsRequest(app=APP)
            purchase = contract.app_store_service.RefreshPurchaseRequest(
                app=APP, transaction_id=bought["transactionId"])
            for call in (
                lambda: notifications.BackfillNotifications(backfill, timeout=CALL_LIMIT),
                lambda: apple_calls.RefreshPurchase(purchase, timeout=CALL_LIMIT),
            ):
                with pytest.raises(grpc.RpcError) as error:
                    call()
                assert error.value.code() == grpc.StatusCode.FAILED_PRECONDITION
                assert contract.reason(error.value) == "NO_IN_APP_PURCHASE_KEY"

            write_key(tmp_path / "key.p8")
            file.write_text(KEYED.format(more=server + KEY))
            service.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "in-app purchase keys and shared secrets reloaded" in service.log)
            repair = notifications.BackfillNotifications(backfill, timeout=CALL_LIMIT).repair
            assert repair.HasField("finished_at") and not repair.error
            apple_calls.RefreshPurchase(purchase, timeout=CALL_LIMIT)
        with urllib.request.urlopen(f"http://{address}/sandbox/v1/calls", timeout=CALL_LIMIT) as calls:
            assert json.load(calls)["v1/notifications"]["asked"] == 1
        service.stop()
