"""The sandbox's clock governs its own environment, and never moves Production."""

import time
import uuid

import pytest

import contract
from contract import app_store_service
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service, post
from test_app_store import World

APP = "ocean-journal"
FULL = "ACCESS_LEVEL_FULL"


@pytest.fixture
def service(tmp_path):
    service = Service(tmp_path / "data")
    yield service
    service.kill()


def test_turning_the_sandboxs_clock_moves_no_answer_about_production(service):
    with service.channel() as channel:
        stub = contract.entitlement_stub(channel)

        def call(method, name, **members):
            request = getattr(wire, f"{method}Request")(
                app=APP, customer_id="ana", environment=f"ENVIRONMENT_{name}", **members)
            return getattr(stub, method)(request, timeout=CALL_LIMIT)

        until = int(time.time()) + 10 * 86_400
        for name in ("SANDBOX", "PRODUCTION"):
            grant = call("Grant", name, entitlement="pro", access_level=FULL, until={"seconds": until}).grant
            assert call("Check", name, entitlement="pro").entitlement.entitled
        assert post(f"http://{service.sandbox}/sandbox/v1/clock/advance", {"by": "30d"})[0] == 200
        assert not call("Check", "SANDBOX", entitlement="pro").entitlement.entitled
        answer = call("Check", "PRODUCTION", entitlement="pro")
        assert answer.entitlement.entitled and abs(answer.evaluated_at.seconds - time.time()) < 60
        batch = wire.BatchCheckRequest(checks=[
            wire.CheckRequest(app=APP, customer_id="ana", entitlement="pro", environment=f"ENVIRONMENT_{name}")
            for name in ("PRODUCTION", "SANDBOX", "PRODUCTION")])
        results = stub.BatchCheck(batch, timeout=CALL_LIMIT).results
        assert [result.response.entitlement.entitled for result in results] == [True, False, True]
        assert call("GetCustomer", "PRODUCTION").entitlements[0].entitled
        assert call("Explain", "PRODUCTION", entitlement="pro").entitlement.entitled
        assert [event.type for event in call("ListTimeline", "PRODUCTION").events] == ["GRANTED"]
        # Later records have the machine's time, too. The request names no environment.
        revoked = stub.RevokeGrant(
            wire.RevokeGrantRequest(app=APP, grant_id=grant.grant_id), timeout=CALL_LIMIT).grant
        assert abs(revoked.revoked_at.seconds - time.time()) < 60
        (_, event) = call("ListTimeline", "PRODUCTION").events
        assert event.type == "GRANT_REVOKED" and abs(event.recorded_at.seconds - time.time()) < 60


def test_a_stopped_sandbox_clock_stops_no_production_expiry(service):
    assert post(f"http://{service.sandbox}/sandbox/v1/clock", {"speed": 0})[0] == 200
    with service.channel() as channel:
        stub = contract.entitlement_stub(channel)
        stub.Grant(
            wire.GrantRequest(
                app=APP, customer_id="ana", environment="ENVIRONMENT_PRODUCTION", entitlement="pro", access_level=FULL,
                until={"seconds": int(time.time()) + 2}), timeout=CALL_LIMIT)
        watch = stub.Watch(
            wire.WatchRequest(app=APP, environment="ENVIRONMENT_PRODUCTION", from_beginning=True), timeout=CALL_LIMIT)
        types = []
        while "ENDED" not in types:
            message = next(watch)
            if message.WhichOneof("content") == "event":
                types.append(message.event.type)
        assert types == ["GRANTED", "ENDED"]


def test_times_in_headers_of_the_app_store_are_the_machines_whatever_the_sandboxs_clock_shows(service):
    world = World(service)
    bought = world.buy(str(uuid.uuid4()))
    world.advance("300d")

    def refresh():
        world.apple.RefreshPurchase(
            app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=bought), timeout=CALL_LIMIT)

    refresh()
    world.act("faults", kind="rate-limit", count=1, by="2s")
    began = time.monotonic()
    refresh()
    assert 1.5 < time.monotonic() - began < 60, "the client waits as long as Retry-After says"
    world.act("revoke-key", keyId="EMBEDDED00")
    with pytest.raises(contract.RpcError) as error:
        refresh()
    assert contract.reason(error.value) == "APP_STORE_KEY_REJECTED"
    world.channel.close()
