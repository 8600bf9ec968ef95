"""RevenueCat's webhooks beside the answers here: received, stored, compared, and listed while they disagree."""

import hashlib
import hmac
import json
import re
import signal
import time
import uuid

import pytest

import contract
import stores
from contract import entitlement_service as wire
from contract import receipt_service
from harness import CALL_LIMIT, Service, post, wait_for
from test_identity import APP, Client
from test_replicas import replicas  # noqa: F401

SECRET = "Bearer side-by-side-7f3a"
FAR = 4_102_444_800_000
KIND = receipt_service.DisagreementKind.Name


def write(folder, demo):
    """Writes the demo configuration with the section; returns its path."""
    secret = folder / "revenuecat.secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    section = (f"    revenuecat_events:\n      authorization: {{file: {secret}}}\n"
               "      entitlements: {premium: pro}\n      tolerance_seconds: 60\n      retention_days: 30\n")
    head = f"  {APP}:\n"
    assert head in demo
    path = folder / "entitled.yaml"
    text = re.sub(r"environments: \[.*?\]", "environments: [Sandbox]", demo.replace(head, head + section, 1), count=1)
    path.write_text(text)
    return path


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("demo") / "data")
    text = service.command("config", "demo").stdout
    service.kill()
    return text


@pytest.fixture
def client(tmp_path, demo):
    path = write(tmp_path, demo)
    client = Client(Service(tmp_path / "data", ["--config", path]).wait_until_leading())
    client.path = path
    yield client
    client.channel.close()
    client.service.kill()


def event(type_, customer, end=FAR, time=1_767_225_600_000, entitlement="premium", **more):
    """A webhook in the shape of RevenueCat's "Sample Events", about one purchase of each customer."""
    return {"api_version": "1.0", "event": {
        "aliases": [customer], "app_id": "1234567890",
        "app_user_id": customer, "country_code": "US", "currency": "USD", "entitlement_id": entitlement,
        "entitlement_ids": [entitlement], "environment": "SANDBOX", "event_timestamp_ms": time, "expiration_at_ms": end,
        "id": str(uuid.uuid4()), "is_family_share": False, "offer_code": None, "original_app_user_id": customer,
        "original_transaction_id": f"of {customer}", "period_type": "NORMAL", "presented_offering_id": None, "price": 4.99,
        "price_in_purchased_currency": 4.99, "product_id": "pro.monthly", "purchased_at_ms": time - 1000, "store": "APP_STORE",
        "subscriber_attributes": {"$email": {"updated_at_ms": time, "value": "a@example.com"}}, "takehome_percentage": 0.7,
        "transaction_id": "2000000000000002", "type": type_, **more}}


def transfer(source, target, time):
    return {"api_version": "1.0", "event": {
        "app_id": "1234567890", "environment": "SANDBOX", "event_timestamp_ms": time, "id": str(uuid.uuid4()),
        "store": "APP_STORE", "transferred_from": [source], "transferred_to": [target], "type": "TRANSFER"}}


def send(service, body, authorization=SECRET, app=APP):
    headers = {"authorization": authorization} if authorization else {}
    return post(f"http://{service.http}/import/revenuecat/{app}", body, headers)


def open_ones(client, **filters):
    return client.receipts.ListDisagreements(
        receipt_service.ListDisagreementsRequest(app=APP, **filters), timeout=CALL_LIMIT).disagreements


def kinds(client):
    return {one.customer_id: KIND(one.kind).removeprefix("DISAGREEMENT_KIND_") for one in open_ones(client)}


def compared(client):
    """Waits until each comparison that is due is done."""
    due = "SELECT count(*) FROM access_comparison WHERE due_at = 0"
    wait_for(lambda: stores.query(client.service.data, due) == [(0,)])


def test_a_disagreement_appears_with_both_sides_and_is_resolved_by_an_answer_or_an_event(client):
    client.buy("gus")
    purchase = event("INITIAL_PURCHASE", "bob")
    assert send(client.service, purchase) == (200, {"reason": "STORED", "explanation": "stored; it is compared within seconds"})
    assert send(client.service, event("EXPIRATION", "gus", 1_767_225_600_000, expiration_reason="UNSUBSCRIBE"))[0] == 200
    assert send(client.service, event("EXPIRATION", "ida", 1_767_225_600_000))[0] == 200
    assert send(client.service, event("TEST", "tia"))[0] == 200
    wait_for(lambda: kinds(client) == {"bob": "THEIRS_ONLY", "gus": "OURS_ONLY"})

    [bob] = open_ones(client, customer_id="bob")
    assert (bob.entitlement, bob.reason, bob.evidence_id) == ("pro", "NEVER_PURCHASED", 0)
    assert (bob.event_id, bob.event_type) == (purchase["event"]["id"], "INITIAL_PURCHASE")
    assert bob.stated_until.seconds == FAR // 1000 and json.loads(bob.event_json) == purchase
    [gus] = open_ones(client, customer_id="gus")
    ours = client.call("Check", customer_id="gus", entitlement="pro").entitlement
    assert gus.evidence_id == ours.evidence_id > 0 and gus.reason == ours.reason and gus.until == ours.until

    text = client.service.command("import", "disagreements").stdout
    assert "bob pro" in text and "THEIRS_ONLY" in text and "NEVER_PURCHASED" in text and purchase["event"]["id"] in text

    # The answer here changes: the next check closes one and finds the other end.
    client.buy("bob")
    wait_for(lambda: kinds(client).get("bob") == "OTHER_END")
    end = client.call("Check", customer_id="bob", entitlement="pro").entitlement.until
    assert send(client.service, event("RENEWAL", "bob", end.seconds * 1000, 1_767_225_700_000))[0] == 200
    end = ours.paid_until.seconds * 1000
    assert send(client.service, event("RENEWAL", "gus", end, 1_767_225_800_000))[0] == 200
    wait_for(lambda: not open_ones(client))
    assert "no disagreements" in client.service.command("import", "disagreements").stdout


SIGNING = "f6a1d5c3-signing-secret"


def signed(body, moment, secret=SIGNING, also=()):
    """A signature as RevenueCat makes it; those with the secrets `also` come first, as while a secret is replaced."""
    codes = [hmac.new(key.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest() for key in (*also, secret)]
    return ",".join([f"t={moment}", *(f"v1={code}" for code in codes)])


def test_with_a_signing_secret_only_a_fresh_signature_of_the_body_is_accepted(client):
    secret = client.path.parent / "signing.secret"
    secret.write_text(SIGNING + "\n")
    secret.chmod(0o600)
    text = client.path.read_text()
    client.path.write_text(text.replace("      tolerance_seconds: 60\n", f"      signing_secret: {{file: {secret}}}\n", 1))
    body = json.dumps(event("INITIAL_PURCHASE", "bob")).encode()
    url = f"http://{client.service.http}/import/revenuecat/{APP}"

    def answer(signature, authorization=SECRET, sent=body):
        headers = {"authorization": authorization, "content-type": "application/json"}
        status, answered = post(url, sent, headers | ({"X-RevenueCat-Webhook-Signature": signature} if signature else {}))
        return status, answered["reason"]

    # Without the key, a signature is not looked at.
    assert answer("nonsense") == (200, "STORED")
    client.service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: answer(None) == (401, "MISSING_SIGNATURE"))
    now = int(time.time())
    assert answer("nonsense") == answer(f"t={now}") == answer(f"t=soon,v1={'0' * 64}") == (401, "MISSING_SIGNATURE")
    assert answer(signed(body, now, "another")) == (401, "INVALID_SIGNATURE")
    assert answer(signed(body, now), sent=body + b" ") == (401, "INVALID_SIGNATURE")
    assert answer(signed(body, now).replace(f"t={now}", f"t={now + 1}")) == (401, "INVALID_SIGNATURE")
    assert answer(signed(body, now - 3600)) == answer(signed(body, now + 3600)) == (401, "STALE_SIGNATURE")
    assert answer(signed(body, now), authorization="Bearer wrong") == (401, "UNKNOWN_AUTHORIZATION")
    assert answer(signed(body, now)) == (200, "ALREADY_STORED")
    assert answer(signed(body, now, also=["the previous secret"])) == (200, "ALREADY_STORED")


def test_extreme_times_of_events_stop_nothing(client):
    client.buy("gus")
    extremes = [-(2**63), -1, 0, 2**63 - 1]
    for number, (time, end) in enumerate((time, end) for time in extremes for end in extremes):
        for kind in ("RENEWAL", "BILLING_ISSUE", "EXPIRATION", "TRANSFER"):
            customer = "gus" if number % 2 else f"{kind}{number}"
            body = event(kind, customer, end, time, grace_period_expiration_at_ms=end, original_transaction_id=str(number))
            assert send(client.service, body)[0] == 200
    assert send(client.service, event("RENEWAL", "zoe"))[0] == 200
    wait_for(lambda: kinds(client).get("zoe") == "THEIRS_ONLY")
    assert client.service.command("import", "disagreements").returncode == 0


def test_a_transfer_moves_what_is_stated(client):
    assert send(client.service, event("INITIAL_PURCHASE", "ann"))[0] == 200
    wait_for(lambda: kinds(client) == {"ann": "THEIRS_ONLY"})
    assert send(client.service, transfer("ann", "bea", 1_767_225_700_000))[0] == 200
    wait_for(lambda: kinds(client) == {"bea": "THEIRS_ONLY"})


def test_a_purchase_that_arrives_after_its_transfer_is_compared(client):
    assert send(client.service, transfer("cat", "dog", 1_767_225_700_000))[0] == 200
    compared(client)
    assert send(client.service, event("INITIAL_PURCHASE", "cat"))[0] == 200
    wait_for(lambda: kinds(client) == {"dog": "THEIRS_ONLY"})


def test_a_transfer_moves_the_purchases_of_its_store_only(client):
    assert send(client.service, event("INITIAL_PURCHASE", "cat"))[0] == 200
    play = event("INITIAL_PURCHASE", "cat", entitlement="plus", store="PLAY_STORE", original_transaction_id="GPA.1")
    grant = event("NON_RENEWING_PURCHASE", "cat", entitlement="gold", store="PROMOTIONAL", original_transaction_id="rc1")
    assert send(client.service, play)[0] == send(client.service, grant)[0] == 200
    assert send(client.service, transfer("cat", "dog", 1_767_225_700_000))[0] == 200
    wait_for(lambda: {(one.customer_id, one.entitlement) for one in open_ones(client)} == {
        ("dog", "pro"), ("cat", "plus"), ("cat", "gold")})


def test_a_customer_with_two_named_ids_has_no_disagreement_under_the_former_one(client):
    client.buy("bob")
    paid = client.call("Check", customer_id="bob", entitlement="pro").entitlement.paid_until.seconds * 1000
    client.call("MergeCustomers", from_customer_id="old-bob", into_customer_id="bob")
    assert send(client.service, event("INITIAL_PURCHASE", "old-bob", 1_767_225_650_000))[0] == 200
    ended = event("EXPIRATION", "old-bob", 1_767_225_650_000, original_transaction_id="another")
    assert send(client.service, ended)[0] == 200
    wait_for(lambda: kinds(client) == {"old-bob": "OURS_ONLY"})
    same = {"aliases": ["old-bob", "bob"], "original_transaction_id": "of old-bob"}
    renewal = event("RENEWAL", "bob", paid, 1_767_225_660_000, original_app_user_id="old-bob", **same)
    assert send(client.service, renewal)[0] == 200
    wait_for(lambda: not open_ones(client))
    refund = event("CANCELLATION", "bob", 1_767_225_670_000, 1_767_225_670_000, cancel_reason="CUSTOMER_SUPPORT", **same)
    assert send(client.service, refund)[0] == 200
    wait_for(lambda: kinds(client) == {"bob": "OURS_ONLY"})


def test_merged_customers_are_compared_together(client):
    client.buy("new")
    paid = client.call("Check", customer_id="new", entitlement="pro").entitlement.paid_until.seconds * 1000
    for customer, end in (("old", 1_767_225_650_000), ("new", paid)):
        assert send(client.service, event("RENEWAL", customer, end, original_transaction_id=customer))[0] == 200
    compared(client)
    assert not open_ones(client)
    # RevenueCat does not know the merge, and still has the ended purchase of the former customer.
    client.call("MergeCustomers", from_customer_id="old", into_customer_id="new")
    assert send(client.service, event("TEST", "old"))[0] == 200
    compared(client)
    assert not open_ones(client)


def test_a_purchase_has_the_customer_of_the_latest_statement_here_and_in_the_command(client):
    client.buy("bea")
    paid = client.call("Check", customer_id="bea", entitlement="pro").entitlement.paid_until.seconds * 1000
    first = event("INITIAL_PURCHASE", "ann", paid)
    assert send(client.service, first)[0] == 200
    wait_for(lambda: kinds(client) == {"ann": "THEIRS_ONLY"})
    renewal = event("RENEWAL", "bea", paid, 1_767_225_700_000, original_transaction_id="of ann")
    assert send(client.service, renewal)[0] == 200
    wait_for(lambda: not open_ones(client))
    path = client.path.parent / "events.ndjson"
    path.write_text(f"{json.dumps(first)}\n{json.dumps(renewal)}\n")
    compare = client.service.command("import", "compare", path, "--entitlement", "premium=pro")
    assert compare.returncode == 0, compare.stdout


def test_the_events_of_connected_customers_are_compared_once(client):
    """Each of many aliases was compared by itself, with all events of the others."""
    aliases = [f"$RCAnonymousID:{uuid.uuid4().hex}" for _ in range(300)]
    for number in range(30):
        assert send(client.service, event("RENEWAL", "many", time=1_767_225_600_000 + number, aliases=aliases))[0] == 200
    assert send(client.service, event("RENEWAL", "bob"))[0] == 200
    wait_for(lambda: kinds(client) == {"many": "THEIRS_ONLY", "bob": "THEIRS_ONLY"})
    compared(client)
    assert stores.query(client.service.data, "SELECT customer_id, events FROM access_comparison ORDER BY customer_id") == [
        ("bob", 1), ("many", 30)]


def test_an_id_in_very_many_events_connects_no_customers(client):
    """Customers who are compared together have one time of their next comparison."""
    times = "SELECT count(DISTINCT due_at) FROM access_comparison"
    for number in range(500):
        assert send(client.service, event("TEST", f"c{number}", aliases=["guest"]))[0] == 200
    compared(client)
    assert stores.query(client.service.data, times) == [(1,)]
    assert send(client.service, event("TEST", "c500", aliases=["guest"]))[0] == 200
    compared(client)
    assert stores.query(client.service.data, times) == [(2,)]


def test_only_the_configured_authorization_is_accepted(client):
    body = event("INITIAL_PURCHASE", "bob")
    for authorization in (None, "Bearer wrong", SECRET + "x", SECRET.removeprefix("Bearer ")):
        status, answer = send(client.service, body, authorization)
        assert (status, answer["reason"]) == (401, "UNKNOWN_AUTHORIZATION")
        assert "authorization" in answer["explanation"]
    assert send(client.service, body, app="unknown")[0] == 404
    assert send(client.service, {"event": {}})[1]["reason"] == "MALFORMED_MESSAGE"
    assert send(client.service, b" " * (1 << 18) + b"{}")[0] == 413
    production = event("RENEWAL", "bob", environment="PRODUCTION")
    assert send(client.service, production) == (
        200, {"reason": "OTHER_ENVIRONMENT", "explanation": "not stored: the app has no environment Production"})
    assert stores.query(client.service.data, "SELECT count(*) FROM imported_event") == [(0,)]


def test_a_repetition_is_stored_once_and_an_acknowledged_event_survives_a_kill(client):
    body = event("INITIAL_PURCHASE", "bob")
    assert [send(client.service, body)[1]["reason"] for _ in range(3)] == ["STORED", "ALREADY_STORED", "ALREADY_STORED"]
    others = [event("RENEWAL", f"c{number}") for number in range(20)]
    for other in others:
        assert send(client.service, other)[0] == 200
    client.channel.close()
    client.service.kill()
    again = Client(Service(client.service.data, ["--config", client.path]).wait_until_leading())
    client.service, client.channel, client.receipts = again.service, again.channel, again.receipts
    ids = {row[0] for row in stores.query(client.service.data, "SELECT event_id FROM imported_event")}
    assert ids == {one["event"]["id"] for one in [body, *others]}
    assert send(client.service, body)[1]["reason"] == "ALREADY_STORED"
    wait_for(lambda: len(kinds(client)) == 21)
    page = client.receipts.ListDisagreements(
        receipt_service.ListDisagreementsRequest(app=APP, page_size=15), timeout=CALL_LIMIT)
    rest = client.receipts.ListDisagreements(
        receipt_service.ListDisagreementsRequest(app=APP, page_size=15, page_token=page.next_page_token), timeout=CALL_LIMIT)
    names = [one.customer_id for one in [*page.disagreements, *rest.disagreements]]
    assert len(page.disagreements) == 15 and len(set(names)) == len(names) == 21 and not rest.next_page_token


def test_an_erased_customer_leaves_no_event(client):
    for customer in ("ann", "bob"):
        assert send(client.service, event("INITIAL_PURCHASE", customer))[0] == 200
    wait_for(lambda: set(kinds(client)) == {"ann", "bob"})
    client.entitlements.EraseCustomer(
        wire.EraseCustomerRequest(app=APP, environment=contract.environment.ENVIRONMENT_SANDBOX, customer_id="ann"), timeout=CALL_LIMIT)
    assert set(kinds(client)) == {"bob"}
    for table in ("imported_event_customer", "access_comparison", "access_disagreement"):
        rows = stores.query(client.service.data, f"SELECT customer_id FROM {table}")
        assert {row[0] for row in rows} == {"bob"}
    assert stores.query(client.service.data, "SELECT count(*) FROM imported_event") == [(1,)]


def test_old_events_are_deleted_also_without_the_section(client, demo):
    for customer in ("ann", "bob"):
        assert send(client.service, event("INITIAL_PURCHASE", customer))[0] == 200
    wait_for(lambda: set(kinds(client)) == {"ann", "bob"})
    client.channel.close()
    client.service.stop()
    stores.execute(client.service.data, f"UPDATE imported_event SET received_at = received_at - {401 * 86_400_000} WHERE "
                   "event_id IN (SELECT event_id FROM imported_event_customer WHERE customer_id = 'ann')")
    client.path.write_text(re.sub(r"environments: \[.*?\]", "environments: [Sandbox]", demo, count=1))
    again = Client(Service(client.service.data, ["--config", client.path]).wait_until_leading())
    client.service, client.channel, client.receipts = again.service, again.channel, again.receipts
    wait_for(lambda: stores.query(client.service.data, "SELECT customer_id FROM imported_event_customer") == [("bob",)])
    assert stores.query(client.service.data, "SELECT count(*) FROM imported_event") == [(1,)]
    assert send(client.service, event("RENEWAL", "bob"))[0] == 404


def test_an_erased_customer_leaves_no_event_of_the_anonymous_id(client):
    anonymous = "$RCAnonymousID:8f2"
    assert send(client.service, event("INITIAL_PURCHASE", anonymous))[0] == 200
    assert send(client.service, event("RENEWAL", "ann", aliases=["ann", anonymous]))[0] == 200
    wait_for(lambda: "ann" in kinds(client))
    client.entitlements.EraseCustomer(
        wire.EraseCustomerRequest(app=APP, environment=contract.environment.ENVIRONMENT_SANDBOX, customer_id="ann"), timeout=CALL_LIMIT)
    for table in ("imported_event", "imported_event_customer", "access_comparison", "access_disagreement"):
        assert stores.query(client.service.data, f"SELECT count(*) FROM {table}") == [(0,)]


def test_an_erased_customer_leaves_no_event_as_one_of_many_aliases(client):
    anonymous = [f"$RCAnonymousID:{number}" for number in range(120)]
    assert send(client.service, event("RENEWAL", anonymous[0], aliases=[*anonymous, "ann"]))[0] == 200
    wait_for(lambda: kinds(client) == {"ann": "THEIRS_ONLY"})
    client.entitlements.EraseCustomer(
        wire.EraseCustomerRequest(app=APP, environment=contract.environment.ENVIRONMENT_SANDBOX, customer_id="ann"), timeout=CALL_LIMIT)
    for table in ("imported_event", "imported_event_customer", "access_comparison", "access_disagreement"):
        assert stores.query(client.service.data, f"SELECT count(*) FROM {table}") == [(0,)]


@pytest.mark.parametrize("text", ["a\0b", "x" * 257])
def test_a_name_that_no_store_takes_is_refused(client, text):
    for fields in ({"entitlement": text}, {"id": text}, {"type": text}, {"store": text}, {"original_transaction_id": text}):
        status, answer = send(client.service, event("INITIAL_PURCHASE", "bob", **fields))
        assert (status, answer["reason"]) == (400, "MALFORMED_MESSAGE")


def test_a_customer_who_cannot_be_compared_holds_up_no_others(client):
    condition = "NEW.entitlement = 'bad'"
    if stores.IS_SQLITE:
        stores.execute(
            client.service.data, "CREATE TRIGGER refuse BEFORE INSERT ON access_disagreement "
            f"WHEN {condition} BEGIN SELECT RAISE(ABORT, 'refused'); END")
    else:
        stores.execute(client.service.data, "ALTER TABLE access_disagreement ADD CHECK (entitlement <> 'bad')")
    for customer, entitlement in (("bad", "bad"), ("bob", "premium")):
        assert send(client.service, event("INITIAL_PURCHASE", customer, entitlement=entitlement))[0] == 200
    wait_for(lambda: kinds(client) == {"bob": "THEIRS_ONLY"})
    compared(client)
    assert client.service.log.count("will retry in an hour") == 1


def test_a_follower_confirms_and_the_leader_stores_and_compares(replicas, tmp_path, demo):  # noqa: F811
    group = replicas(2, configurations=dict.fromkeys("ab", write(tmp_path, demo)))
    group.wait_for_leader()
    follower = group.services[group.followers[0]]
    body = event("INITIAL_PURCHASE", "bob")
    assert send(follower, body, "Bearer wrong")[0] == 401
    assert [send(follower, body)[1]["reason"] for _ in range(2)] == ["ACCEPTED", "ACCEPTED"]
    with follower.channel() as channel:
        stub = contract.receipt_stub(channel)

        def found():
            request = receipt_service.ListDisagreementsRequest(app=APP)
            return [one.customer_id for one in stub.ListDisagreements(request, timeout=CALL_LIMIT).disagreements]

        wait_for(lambda: found() == ["bob"])
