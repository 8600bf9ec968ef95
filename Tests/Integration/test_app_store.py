"""The service against the sandbox App Store: notifications in, App Store Server API calls out."""

import json
import random
import time
import uuid

import pytest

import contract
from contract import StatusCode, app_store_service, entitlement_service, notification_service
from harness import CALL_LIMIT, post

APP = "ocean-journal"


class World:
    """A service, its sandbox and one customer account."""

    def __init__(self, service, version=2):
        self.service = service
        self.act("notification-url", app=APP, url=f"http://{service.http}/notifications/{APP}", version=version)
        self.channel = service.channel()
        self.entitlements = contract.entitlement_stub(self.channel)
        self.apple = contract.app_store_stub(self.channel)
        self.notifications = contract.notification_stub(self.channel)

    def act(self, action, **members):
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def attempt(self, action, **members):
        """Performs an action that the App Store may reject."""
        return post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)

    def advance(self, by):
        return self.act("clock/advance", by=by)

    def deliver(self):
        """Waits for all pending notifications by advancing the clock."""
        self.advance("1s")

    def check(self, customer):
        return self.entitlements.Check(
            entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro"),
            timeout=CALL_LIMIT).entitlement

    def buy(self, customer, product="pro.monthly"):
        """Returns a customer whose id is the app account token and who has submitted the first purchase."""
        bought = self.act(
            "purchases", app=APP, productId=product, account=f"account-{customer}", appAccountToken=customer)
        contract.receipt_stub(self.channel).SubmitTransaction(
            contract.receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=customer, signed_transaction=bought["signedTransactionInfo"]),
            timeout=CALL_LIMIT)
        return bought["transactionId"]

    def lose_refund(self, customer, reason="OTHER"):
        """Buys a subscription, and refunds it without the notification. Returns the transaction id."""
        bought = self.buy(customer)
        self.deliver()
        self.act("faults", kind="drop", count=100)
        self.act("refund", transactionId=bought, reason=reason)
        self.deliver()
        return bought


@pytest.fixture
def world(start):
    world = World(start())
    yield world
    world.channel.close()


def test_notifications_alone_keep_a_subscription_current(world):
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    assert world.check(ana).state == contract.entitlement.ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_ON
    world.advance("32d")
    renewed = world.check(ana)
    assert renewed.entitled and renewed.transaction_id != bought
    world.act("auto-renew", transactionId=bought, enabled=False)
    world.deliver()
    off = world.check(ana)
    assert off.entitled and off.state == contract.entitlement.ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_OFF
    world.advance("35d")
    over = world.check(ana)
    assert not over.entitled and over.state == contract.entitlement.ENTITLEMENT_STATE_CANCELLED
    page = world.notifications.ListNotifications(
        notification_service.ListNotificationsRequest(app=APP, customer_id=ana), timeout=CALL_LIMIT)
    kinds = [n.notification_type for n in page.notifications]
    assert kinds[0] == "EXPIRED" and kinds[-1] == "SUBSCRIBED" and "DID_RENEW" in kinds


def test_lost_notifications_are_backfilled_from_the_history(world):
    ana = str(uuid.uuid4())
    world.lose_refund(ana, reason="APP_ISSUE")
    assert world.check(ana).entitled, "the refund notification was lost"
    outcome = world.notifications.BackfillNotifications(
        notification_service.BackfillNotificationsRequest(app=APP), timeout=CALL_LIMIT).repair
    assert outcome.received >= 1 and outcome.drifted_customers == 1
    assert world.check(ana).reason == "REFUNDED_FOR_APP_ISSUE"
    again = world.notifications.BackfillNotifications(
        notification_service.BackfillNotificationsRequest(app=APP), timeout=CALL_LIMIT).repair
    assert (again.received, again.drifted_customers) == (0, 0)


def test_a_backfill_without_a_start_begins_where_apples_history_does(world):
    def backfill(days):
        request = notification_service.BackfillNotificationsRequest(app=APP)
        request.end_time.FromSeconds(int(time.time()) - days * 86_400)
        return world.notifications.BackfillNotifications(request, timeout=CALL_LIMIT).repair

    repair = backfill(2)
    assert repair.HasField("finished_at") and not repair.error
    assert 26 < (repair.end_time.seconds - repair.start_time.seconds) / 86_400 < 28, "of 30 days in Sandbox"
    with pytest.raises(contract.RpcError) as error:
        backfill(40)
    assert contract.reason(error.value) == "INVALID_FIELD" and "end_time" in error.value.details()


def test_a_refresh_fetches_one_purchase(start, tmp_path):
    configuration = CONFIGURATION.replace("    shared_secret: {file: secret}\n", "    status_polling: false\n    gap_repair: false\n")
    (tmp_path / "entitled.yaml").write_text(configuration)
    world = World(start(arguments=["--config", tmp_path / "entitled.yaml"]))
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.deliver()
    world.act("faults", kind="drop", count=100)
    world.advance("70d")
    assert not world.check(ana).entitled, "the renewals did not arrive"
    refreshed = world.apple.RefreshPurchase(
        app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought), timeout=CALL_LIMIT)
    assert refreshed.changed >= 2
    assert world.check(ana).entitled
    refunds = world.apple.GetRefundHistory(
        app_store_service.GetRefundHistoryRequest(app=APP, transaction_id=bought), timeout=CALL_LIMIT)
    assert not refunds.transactions
    world.channel.close()


def test_renewal_dates_are_extended_and_apples_errors_passed_on(world):
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    before = world.check(ana).until.seconds
    request = app_store_service.ExtendRenewalDateRequest(
        app=APP, original_transaction_id=bought, extend_by_days=7, request_identifier=str(uuid.uuid4()),
        reason="EXTEND_REASON_SERVICE_ISSUE")
    world.apple.ExtendRenewalDate(request, timeout=CALL_LIMIT)
    world.deliver()
    assert world.check(ana).until.seconds == before + 7 * 86_400
    request.original_transaction_id = "99"
    with pytest.raises(contract.RpcError) as error:
        world.apple.ExtendRenewalDate(request, timeout=CALL_LIMIT)
    assert contract.reason(error.value).startswith("APP_STORE_404")
    request.extend_by_days = 91
    with pytest.raises(contract.RpcError) as error:
        world.apple.ExtendRenewalDate(request, timeout=CALL_LIMIT)
    assert contract.violations(error.value) == ["extend_by_days"]


def timeline(world, customer):
    return world.entitlements.ListTimeline(
        entitlement_service.ListTimelineRequest(app=APP, customer_id=customer), timeout=CALL_LIMIT).events


def test_changes_made_at_apple_are_stored_as_evidence_and_in_the_timeline(world):
    ana, request = str(uuid.uuid4()), str(uuid.uuid4())
    bought = world.buy(ana)
    world.apple.ExtendRenewalDate(
        app_store_service.ExtendRenewalDateRequest(
            app=APP, original_transaction_id=bought, extend_by_days=7, request_identifier=request,
            reason="EXTEND_REASON_SERVICE_ISSUE", actor="support/eve"), timeout=CALL_LIMIT)
    world.apple.SetAppAccountToken(
        app_store_service.SetAppAccountTokenRequest(
            app=APP, original_transaction_id=bought, app_account_token=ana, actor="support/eve"),
        timeout=CALL_LIMIT)
    world.apple.SendConsumptionInformation(
        app_store_service.SendConsumptionInformationRequest(
            app=APP, transaction_id=bought, customer_consented=True, actor="support/eve",
            delivery_status="DELIVERY_STATUS_DELIVERED"), timeout=CALL_LIMIT)
    requested = [event for event in timeline(world, ana) if event.type == "APP_STORE_CALLED"]
    assert len(requested) == 3 and {event.actor for event in requested} == {"support/eve"}
    exported = world.service.command("store", "export", "--data", world.service.data).stdout.splitlines()
    commands = {line["evidenceId"]: line for line in map(json.loads, exported) if line["kind"] == "command"}
    calls = [json.loads(commands[event.evidence_id]["body"])["call"] for event in requested]
    stored = {call["method"]: call for call in calls}
    assert stored["ExtendRenewalDate"]["request"]["requestIdentifier"] == request
    assert stored["ExtendRenewalDate"]["answer"]["success"] is True
    assert stored["SetAppAccountToken"]["purchase"] == bought and "SendConsumptionInformation" in stored


def commands(world):
    """The stored operator commands, oldest first."""
    exported = world.service.command("store", "export", "--data", world.service.data).stdout.splitlines()
    return [json.loads(line["body"]) for line in map(json.loads, exported) if line["kind"] == "command"]


def test_a_test_notification_request_is_stored_as_evidence(world):
    answer = world.notifications.RequestTestNotification(
        notification_service.RequestTestNotificationRequest(app=APP, actor="support/eve"), timeout=CALL_LIMIT)
    world.act("notification-url", app=APP)
    with pytest.raises(contract.RpcError):
        world.notifications.RequestTestNotification(
            notification_service.RequestTestNotificationRequest(app=APP), timeout=CALL_LIMIT)
    requested, failed = commands(world)
    assert requested["actor"] == "support/eve" and requested["call"]["method"] == "RequestTestNotification"
    assert requested["call"]["answer"] == {"testNotificationToken": answer.test_notification_token}
    assert failed["call"]["answer"]["errorCode"] == 4040007


def test_seat_assignments_and_removals_are_stored_as_evidence(world):
    world.act("notification-url", app=APP)  # otherwise Apple's notification about a seat may arrive before our own record
    world.act("invitations", app=APP, productId="pro.monthly", management="DEVELOPER")
    team, ana = str(uuid.uuid4()), str(uuid.uuid4())
    bought = world.act("purchases", app=APP, productId="pro.monthly", account="team", seats=3)
    contract.receipt_stub(world.channel).SubmitTransaction(
        contract.receipt_service.SubmitTransactionRequest(
            app=APP, customer_id=team, signed_transaction=bought["signedTransactionInfo"]), timeout=CALL_LIMIT)
    purchase = {"app": APP, "original_transaction_id": bought["originalTransactionId"]}
    seat = world.apple.ClaimSeat(
        app_store_service.ClaimSeatRequest(
            **purchase, request_identifier=str(uuid.uuid4()), actor="support/eve"), timeout=CALL_LIMIT).seat
    world.apple.AssociateSeat(
        app_store_service.AssociateSeatRequest(
            **purchase, seat_id=seat.seat_id, customer_id=ana, actor="support/sam"), timeout=CALL_LIMIT)
    world.apple.UnclaimSeat(
        app_store_service.UnclaimSeatRequest(**purchase, seat_id=seat.seat_id, actor="support/kim"),
        timeout=CALL_LIMIT)
    assert [command["actor"] for command in commands(world)] == ["support/eve", "support/sam", "support/kim"]


def test_a_mass_extension_reports_its_progress(world):
    bought, request = world.buy(str(uuid.uuid4()), "pro.yearly"), str(uuid.uuid4())
    world.apple.MassExtendRenewalDate(
        app_store_service.MassExtendRenewalDateRequest(
            app=APP, product_id="pro.yearly", extend_by_days=3, request_identifier=request,
            reason="EXTEND_REASON_OTHER"), timeout=CALL_LIMIT)
    status = world.apple.GetMassExtensionStatus(
        app_store_service.GetMassExtensionStatusRequest(
            app=APP, product_id="pro.yearly", request_identifier=request), timeout=CALL_LIMIT)
    assert bought and status.complete and (status.succeeded_count, status.failed_count) == (1, 0)


def test_a_test_notification_arrives_and_its_status_is_reported(world):
    requested = world.notifications.RequestTestNotification(
        notification_service.RequestTestNotificationRequest(app=APP), timeout=CALL_LIMIT)
    assert requested.test_notification_token
    world.deliver()
    status = world.notifications.GetTestNotificationStatus(
        notification_service.GetTestNotificationStatusRequest(
            app=APP, test_notification_token=requested.test_notification_token), timeout=CALL_LIMIT)
    assert json.loads(status.payload_json)["notificationType"] == "TEST"
    assert status.send_attempts[0].result == "SUCCESS"


@pytest.mark.parametrize("fault, code", [("rate-limit", StatusCode.RESOURCE_EXHAUSTED)])
def test_apple_errors_give_the_caller_a_retry_delay(world, fault, code):
    bought = world.buy(str(uuid.uuid4()))
    world.act("faults", kind=fault, count=50, by="10m")
    with pytest.raises(contract.RpcError) as error:
        world.apple.RefreshPurchase(
            app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought), timeout=5)
    assert error.value.code() == code
    assert contract.details(error.value)["RetryInfo"].retry_delay.seconds > 60


def test_unsigned_responses_are_rejected(world):
    ana = str(uuid.uuid4())
    bought = world.lose_refund(ana)
    world.act("faults", kind="wrong-signature", count=100)
    with pytest.raises(contract.RpcError) as error:
        world.apple.RefreshPurchase(
            app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought), timeout=CALL_LIMIT)
    assert contract.reason(error.value) == "APP_STORE_RESPONSE_NOT_GENUINE"
    assert world.check(ana).entitled


CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    shared_secret: {file: secret}
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M, price: 4.99, currency: USD}
"""


def test_version_1_notifications_count_once_apple_confirms_them(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a secret of ours")
    secret.chmod(0o600)
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION)
    world = World(start(arguments=["--config", tmp_path / "entitled.yaml"]), version=1)
    world.act("shared-secret", app=APP, password="a secret of ours")
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.advance("32d")
    assert world.check(ana).entitled, "version 1 announced the renewal and Apple confirmed it"
    world.act("refund", transactionId=bought, reason="APP_ISSUE")
    world.deliver()
    page = world.notifications.ListNotifications(
        notification_service.ListNotificationsRequest(app=APP), timeout=CALL_LIMIT)
    assert {n.version for n in page.notifications} == {1}
    assert "NOTIFICATION_STATE_APPLIED" in {
        notification_service.NotificationState.Name(n.state) for n in page.notifications}
    # A sender without the secret is rejected.
    world.act("shared-secret", app=APP, password="guessed")
    world.act("auto-renew", transactionId=bought, enabled=False)
    world.deliver()
    page = world.notifications.ListNotifications(
        notification_service.ListNotificationsRequest(app=APP, page_size=1), timeout=CALL_LIMIT)
    assert page.notifications[0].reason == "WRONG_SHARED_SECRET"
    world.channel.close()


@pytest.mark.parametrize("seed", range(3))
def test_random_histories_end_in_the_state_of_the_app_store(start, seed):
    """Random customers; a third of the notifications is lost, duplicated or late; then the gap is backfilled."""
    world = World(start())
    dice = random.Random(seed)
    customers = {}
    for _ in range(60):
        choice = dice.random()
        if choice < 0.2 or not customers:
            customer = str(uuid.UUID(int=dice.getrandbits(128), version=4))
            customers[customer] = world.buy(customer, dice.choice(["pro.monthly", "pro.yearly"]))
            continue
        customer = dice.choice(list(customers))
        transaction, account = customers[customer], f"account-{customer}"
        if choice < 0.35:
            world.attempt("auto-renew", transactionId=transaction, enabled=dice.random() < 0.5)
        elif choice < 0.45:
            world.attempt("refund", transactionId=transaction, reason="OTHER")
        elif choice < 0.5:
            world.attempt("reverse-refund", transactionId=transaction)
        elif choice < 0.6:
            world.attempt("billing", account=account, fails=dice.random() < 0.5)
        elif choice < 0.7:
            world.act("faults", kind=dice.choice(["drop", "duplicate", "reorder"]), count=dice.randint(1, 3))
        else:
            world.advance(f"{dice.randint(1, 40)}d")
    world.act("faults", kind="drop", count=0)
    world.notifications.BackfillNotifications(notification_service.BackfillNotificationsRequest(app=APP), timeout=60)
    before = {customer: world.check(customer) for customer in customers}
    for customer, transaction in customers.items():
        world.apple.RefreshPurchase(
            app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=transaction), timeout=CALL_LIMIT)
        requested = world.check(customer)
        assert (requested.entitled, requested.state, requested.until) == (
            before[customer].entitled, before[customer].state, before[customer].until)
    world.channel.close()
