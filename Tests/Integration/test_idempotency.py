"""Idempotency keys over gRPC: each method, other requests and callers, 30 days, erasure, kill -9, and unknown results."""

import concurrent.futures
import hashlib
import json
import signal
import threading
import uuid

import grpc
import pytest

import contract
import stores
from contract import StatusCode, app_store_service, receipt_service
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service, post
from test_app_store import World
from test_identity import APP, Client, rejection

REUSED = (StatusCode.ALREADY_EXISTS, "IDEMPOTENCY_KEY_REUSED")


@pytest.fixture
def client(start):
    client = Client(start())
    yield client
    client.channel.close()


def without_mark(response):
    """A copy of the response without the mark, and without the position of the store, which is the present one."""
    copy = type(response)()
    copy.CopyFrom(response)
    copy.repeated = False
    if "position" in type(response).DESCRIPTOR.fields_by_name:
        copy.position = ""
    return copy


def assert_once(call, request, other):
    """A repeated request returns the same response, marked; another request with its key is rejected."""
    request.idempotency_key = key = f"key {uuid.uuid4()}"
    first = call(request, timeout=CALL_LIMIT)
    assert not first.repeated
    for _ in range(2):
        again = call(request, timeout=CALL_LIMIT)
        assert again.repeated and without_mark(again) == without_mark(first)
    changed = type(request)()
    changed.CopyFrom(request)
    for field, value in other.items():
        setattr(changed, field, value)
    assert changed.idempotency_key == key
    assert rejection(lambda: call(changed, timeout=CALL_LIMIT)) == REUSED
    return first


def test_each_command_about_customers_is_executed_once(client):
    line, stub = client.buy("ana"), client.entitlements
    granted = assert_once(
        stub.Grant, wire.GrantRequest(app=APP, customer_id="erin", entitlement="pro", access_level=3),
        {"customer_id": "frank"})
    assert not client.is_entitled("frank")
    assert [g.grant_id for g in client.call("GetCustomer", customer_id="erin").grants] == [granted.grant.grant_id]
    other = client.buy("")
    assert_once(
        stub.LinkPurchase, wire.LinkPurchaseRequest(app=APP, customer_id="ben", original_transaction_id=other),
        {"note": "why"})
    moved = assert_once(
        stub.TransferPurchase,
        wire.TransferPurchaseRequest(
            app=APP, original_transaction_id=line, from_customer_id="ana", to_customer_id="ben"),
        {"dry_run": True})
    assert_once(
        stub.UndoTransfer, wire.UndoTransferRequest(app=APP, transfer_id=moved.transfer_id), {"actor": "eve"})
    merged = assert_once(
        stub.MergeCustomers, wire.MergeCustomersRequest(app=APP, from_customer_id="ben", into_customer_id="cleo"),
        {"into_customer_id": "dan"})
    assert list(merged.original_transaction_ids) == [other]


def test_a_key_belongs_to_one_method(client):
    client.call("Grant", customer_id="ana", entitlement="pro", access_level=3, idempotency_key="k")
    assert rejection(
        lambda: client.call("MergeCustomers", from_customer_id="a", into_customer_id="b", idempotency_key="k")
    ) == REUSED


def test_a_failed_command_and_a_dry_run_leave_the_key_free(client):
    request = {"customer_id": "ana", "entitlement": "pro", "access_level": 3, "idempotency_key": "k"}
    assert rejection(lambda: client.call("Grant", **{**request, "entitlement": "none"}))[1] == "UNKNOWN_ENTITLEMENT"
    dry = client.call("Grant", dry_run=True, **request)
    assert dry.entitlement.entitled and [e.type for e in dry.events] == ["GRANTED"] and not dry.grant.grant_id
    assert not client.is_entitled("ana")
    assert not client.call("Grant", **request).repeated
    assert rejection(lambda: client.call("Grant", dry_run=True, **request)) == REUSED


def test_a_repeated_request_is_not_checked_again(client):
    request = wire.GrantRequest(app=APP, customer_id="ana", entitlement="pro", access_level=3, idempotency_key="k")
    advance(client.service, "1s")
    request.until.FromSeconds(client.call("Grant", customer_id="z", entitlement="pro", access_level=3)
                              .grant.since.seconds + 3_600)
    first = client.entitlements.Grant(request, timeout=CALL_LIMIT)
    advance(client.service, "2h")
    again = client.entitlements.Grant(request, timeout=CALL_LIMIT)
    assert again.repeated and without_mark(again) == without_mark(first) and again.entitlement.entitled


def advance(service, by):
    status, answer = post(f"http://{service.sandbox}/sandbox/v1/clock/advance", {"by": by})
    assert status == 200, answer


def test_the_sandboxs_clock_frees_no_key(client):
    request = {"customer_id": "ana", "entitlement": "pro", "access_level": 3, "idempotency_key": "k"}
    first = client.call("Grant", **request)
    advance(client.service, "31d")
    assert client.call("Grant", **request).grant.grant_id == first.grant.grant_id


def test_the_response_is_erased_with_the_customer(client):
    secret = "ana@example.com"
    request = {"customer_id": secret, "entitlement": "pro", "access_level": 3, "idempotency_key": f"gift for {secret}"}
    client.call("Grant", note=f"{secret} called", **request)
    counted = client.call("EraseCustomer", customer_id=secret, note=f"mail of {secret}", dry_run=True)
    # Background workers may store rows about the customer between the two calls.
    assert client.call("EraseCustomer", customer_id=secret, note=f"mail of {secret}").erased_rows >= counted.erased_rows > 0
    assert rejection(lambda: client.call("Grant", note=f"{secret} called", **request)) == (
        StatusCode.FAILED_PRECONDITION, "RESPONSE_ERASED")
    assert not client.is_entitled(secret)
    client.service.stop()
    assert not stores.holds(client.service.data, secret)


CALLERS = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro],
        period: P1M, price: 4.99, currency: USD}
callers:
"""


def test_another_caller_with_the_same_key_is_independent(start, tmp_path):
    tokens = {name: f"ent_{name}_{hashlib.sha256(name.encode()).hexdigest()}" for name in ("billing", "support")}
    configuration = CALLERS + "".join(
        f"  {name}: {{roles: [read, operate], tokens: ['sha256:{hashlib.sha256(token.encode()).hexdigest()}']}}\n"
        for name, token in tokens.items())
    (tmp_path / "entitled.yaml").write_text(configuration)
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    with service.channel() as channel:
        def grant(caller):
            return contract.entitlement_stub(channel).Grant(
                wire.GrantRequest(
                    app=APP, customer_id="ana", entitlement="pro", access_level=3, idempotency_key="k"),
                metadata=[("authorization", f"Bearer {tokens[caller]}")], timeout=CALL_LIMIT)

        first, second = grant("billing"), grant("support")
        assert not second.repeated and second.grant.grant_id != first.grant.grant_id
        assert grant("support").repeated and grant("support").grant == second.grant


def test_concurrent_requests_are_executed_once(client):
    request = {"customer_id": "ana", "entitlement": "pro", "access_level": 3, "idempotency_key": "k"}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: client.call("Grant", **request), range(48)))
    assert sum(not answer.repeated for answer in answers) == 1
    assert len({answer.grant.grant_id for answer in answers}) == 1


def test_no_grant_is_doubled_by_kill_9(tmp_path):
    """Grants are sent while the service is killed; each is then repeated with its key."""
    requests = [
        wire.GrantRequest(
            app=APP, customer_id=f"c{number}", entitlement="pro", access_level=3, idempotency_key=f"k{number}")
        for number in range(400)]
    answered = {}
    for round_ in range(3):
        client = Client(Service(tmp_path / "data"))

        def send(request, client=client):
            try:
                answer = client.entitlements.Grant(request, timeout=CALL_LIMIT)
            except grpc.RpcError:
                return
            known = answered.setdefault(request.customer_id, answer.grant.grant_id)
            assert known == answer.grant.grant_id

        killer = threading.Timer(0.15 * (round_ + 1), lambda: client.service.process.send_signal(signal.SIGKILL))
        if round_ < 2:
            killer.start()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(send, requests))
        if round_ < 2:
            killer.join()
        else:
            for request in requests:
                customer = client.call("GetCustomer", customer_id=request.customer_id)
                assert [grant.grant_id for grant in customer.grants] == [answered[request.customer_id]]
        client.channel.close()
        client.service.kill()


@pytest.fixture
def world(start):
    world = World(start())
    yield world
    world.channel.close()


def test_extensions_are_sent_to_apple_once(world):
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    before = world.check(ana).paid_until.seconds
    extended = assert_once(
        world.apple.ExtendRenewalDate,
        app_store_service.ExtendRenewalDateRequest(
            app=APP, original_transaction_id=bought, extend_by_days=7, reason="EXTEND_REASON_SERVICE_ISSUE"),
        {"extend_by_days": 8})
    assert extended.effective_date.seconds == before + 7 * 86_400
    mass = assert_once(
        world.apple.MassExtendRenewalDate,
        app_store_service.MassExtendRenewalDateRequest(app=APP, product_id="pro.monthly", extend_by_days=3),
        {"note": "why"})
    assert uuid.UUID(mass.request_identifier).version == 8
    world.deliver()
    assert world.check(ana).paid_until.seconds == before + 10 * 86_400


def test_an_extension_with_an_unknown_result_is_completed_by_the_same_request(world):
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    before = world.check(ana).paid_until.seconds
    request = app_store_service.ExtendRenewalDateRequest(
        app=APP, original_transaction_id=bought, extend_by_days=7, idempotency_key="outage")
    world.act("faults", kind="truncated", count=100)
    assert rejection(lambda: world.apple.ExtendRenewalDate(request, timeout=CALL_LIMIT))[1].startswith("APP_STORE")
    world.act("faults", kind="truncated", count=0)
    # Apple executed it; a restart makes no difference.
    data = world.service.data
    world.channel.close()
    world.service.kill()
    world = World(Service(data))
    try:
        changed = app_store_service.ExtendRenewalDateRequest()
        changed.CopyFrom(request)
        changed.extend_by_days = 9
        assert rejection(lambda: world.apple.ExtendRenewalDate(changed, timeout=CALL_LIMIT)) == REUSED
        done = world.apple.ExtendRenewalDate(request, timeout=CALL_LIMIT)
        assert not done.repeated and done.effective_date.seconds == before + 7 * 86_400
        assert world.apple.ExtendRenewalDate(request, timeout=CALL_LIMIT).repeated
        world.deliver()
        assert world.check(ana).paid_until.seconds == before + 7 * 86_400
    finally:
        world.channel.close()
        world.service.kill()


def test_a_rejection_by_apple_leaves_the_key_free(world):
    request = app_store_service.ExtendRenewalDateRequest(
        app=APP, original_transaction_id="99", extend_by_days=7, idempotency_key="k")
    for _ in range(2):
        assert rejection(lambda: world.apple.ExtendRenewalDate(request, timeout=CALL_LIMIT))[1].startswith("APP_STORE_404")
    request.original_transaction_id = world.buy(str(uuid.uuid4()))
    assert not world.apple.ExtendRenewalDate(request, timeout=CALL_LIMIT).repeated
    without = app_store_service.ExtendRenewalDateRequest(app=APP, original_transaction_id="1", extend_by_days=7)
    with pytest.raises(grpc.RpcError) as error:
        world.apple.ExtendRenewalDate(without, timeout=CALL_LIMIT)
    assert contract.violations(error.value) == ["request_identifier"]


def test_a_seat_is_claimed_once(world):
    owner, member = str(uuid.uuid4()), "member"
    world.act("invitations", app=APP, productId="pro.monthly", management="DEVELOPER")
    bought = world.act(
        "purchases", app=APP, productId="pro.monthly", account=owner, appAccountToken=owner, seats=3)
    contract.receipt_stub(world.channel).SubmitTransaction(
        receipt_service.SubmitTransactionRequest(
            app=APP, customer_id=owner, signed_transaction=bought["signedTransactionInfo"]), timeout=CALL_LIMIT)
    claimed = assert_once(
        world.apple.ClaimSeat,
        app_store_service.ClaimSeatRequest(
            app=APP, original_transaction_id=bought["transactionId"], customer_id=member),
        {"customer_id": "another"})
    assert claimed.seat.customer_id == member
    seats = world.apple.ListSeats(
        app_store_service.ListSeatsRequest(app=APP, original_transaction_id=bought["transactionId"]),
        timeout=CALL_LIMIT).seats
    assert [seat.seat_id for seat in seats] == [claimed.seat.seat_id]


def test_a_migration_is_started_once(client):
    lines = [json.dumps({"customer_id": "ana", "original_transaction_id": "0"})]
    data = "\n".join(lines).encode()
    client.receipts.UploadMigrationInput(
        receipt_service.UploadMigrationInputRequest(app=APP, upload_id="u", data=data), timeout=CALL_LIMIT)
    started = assert_once(
        client.receipts.StartMigration, receipt_service.StartMigrationRequest(app=APP, upload_id="u"),
        {"dry_run": True})
    assert started.migration.migration_id
