"""Webhooks and forwarding: signed, in order per customer, retried until accepted, isolated from slow receivers."""

import base64
import json
import re
import signal
import threading
import time
import urllib.request
import uuid

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from standardwebhooks.webhooks import WebhookVerificationError

import forge
from harness import FREE_PORTS, Service, post, run, wait_for
from receiver import Receiver
from test_store_maintenance import fill, small_disk  # noqa: F401

APP = "ocean-journal"
SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
OLD_SECRET = "whsec_" + base64.b64encode(b"fedcba9876543210fedcba9876543210").decode()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def other_receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


def secret_file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text + "\n")
    path.chmod(0o600)
    return path


def configured(tmp_path, webhooks=None, forwardings=None, **members):
    """A configuration of one app with these webhooks: name -> members besides the secret."""
    secret = str(secret_file(tmp_path, "secret", SECRET))
    config = {
        "apps": {
            APP: {
                "bundle_id": "com.example.oceanjournal",
                "environments": ["Sandbox"],
                "products": {
                    "pro.monthly": {
                        "type": "Auto-Renewable Subscription", "group": "pro", "level": 1,
                        "entitlements": ["pro"], "period": "P1M", "price": 9.99, "currency": "USD",
                    }
                },
                "webhooks": {
                    name: {"secret": {"file": secret}, **webhook} for name, webhook in (webhooks or {}).items()
                },
                "forward_notifications": forwardings or {},
                **members,
            }
        }
    }  # fmt: skip
    file = tmp_path / "entitled.yaml"
    file.write_text(json.dumps(config))  # JSON is valid YAML
    return ["--config", file]


def grant(service, customer, times=1):
    """Grants and revokes in turn: two events each time."""
    for _ in range(times):
        status, given = service.json(
            "entitled.v1.EntitlementService/Grant",
            {"app": APP, "customerId": customer, "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL"})
        assert status == 200, given
        status, answer = service.json(
            "entitled.v1.EntitlementService/RevokeGrant", {"app": APP, "grantId": given["grant"]["grantId"]})
        assert status == 200, answer


def timeline(service, customer):
    status, page = service.json(
        "entitled.v1.EntitlementService/ListTimeline", {"app": APP, "customerId": customer, "pageSize": 1000})
    assert status == 200, page
    return page["events"]


def deliveries(service, webhook="billing", **members):
    status, page = service.json(
        "entitled.v1.WebhookService/ListDeliveries", {"app": APP, "webhook": webhook, **members})
    assert status == 200, page
    return page["deliveries"]


def webhook(service):
    status, page = service.json("entitled.v1.WebhookService/ListWebhooks", {"app": APP})
    assert status == 200, page
    return page["webhooks"][0]


def firsts(requests):
    """The messages in the order of their first arrival."""
    return list({request.id: request for request in requests}.values())


def assert_each_in_order(requests):
    last = {}
    for request in firsts(requests):
        customer = request.data["customerId"]
        assert last.get(customer, 0) < request.sequence
        last[customer] = request.sequence


def test_an_event_is_delivered_signed_in_the_format_of_the_api(start, tmp_path, receiver):
    old = str(secret_file(tmp_path, "old", OLD_SECRET))
    new = str(secret_file(tmp_path, "new", SECRET))
    service = start(
        arguments=configured(
            tmp_path, {"billing": {"url": receiver.url, "secret": [{"file": new}, {"file": old}]}}))
    grant(service, "ana")
    receiver.wait(lambda r: len(r.accepted) == 2)
    first = receiver.accepted[0]
    body = first.verified(SECRET)
    assert first.verified(OLD_SECRET) == body
    with pytest.raises(WebhookVerificationError):
        first.verified("whsec_" + base64.b64encode(b"x" * 32).decode())
    assert body["type"] == "entitlement.granted"
    assert body["data"] == timeline(service, "ana")[0]
    assert body["timestamp"] == body["data"]["effectiveAt"]
    assert first.headers["content-type"] == "application/json"
    assert SECRET not in service.log and OLD_SECRET not in service.log
    # The webhook's URL is listed without its secrets, and no delivery is pending.
    wait_for(lambda: webhook(service)["cursor"] == webhook(service)["latestNumber"])
    assert webhook(service)["state"] == "WEBHOOK_STATE_HEALTHY"


def test_an_event_is_delivered_as_a_signed_cloud_event(start, tmp_path, receiver):
    service = start(
        arguments=configured(tmp_path, {"billing": {"url": receiver.url, "format": "cloudevents"}}))
    grant(service, "ana")
    receiver.wait(lambda r: len(r.accepted) == 2)
    first, second = receiver.accepted
    assert first.headers["content-type"] == "application/cloudevents+json"
    event = from_structured_event(HTTPMessage(headers=first.headers, body=first.body))
    assert (event.get_specversion(), event.get_datacontenttype()) == ("1.0", "application/json")
    assert (event.get_id(), event.get_source(), event.get_subject()) == (first.id, f"/apps/{APP}", "ana")
    assert event.get_type() == "entitled.v1.entitlement.granted"
    assert event.get_data() == timeline(service, "ana")[0]
    assert json.loads(first.body)["time"] == event.get_data()["effectiveAt"]
    assert first.verified(SECRET)["id"] == event.get_id() != second.id
    with pytest.raises(WebhookVerificationError):
        first.verified(OLD_SECRET)


def test_a_purchase_that_does_not_renew_is_delivered_with_its_price(start, tmp_path, receiver):
    consumable = {"type": "Consumable", "price": 0.99, "currency": "USD"}
    service = start(
        arguments=configured(
            tmp_path, {"billing": {"url": receiver.url, "events": ["PURCHASED"]}}, products={"coins": consumable}))
    bought = service.buy("coins")
    request = {"app": APP, "customerId": "ana", "signedTransaction": bought["signedTransactionInfo"]}
    for _ in range(2):
        status, answer = service.json("entitled.v1.ReceiptService/SubmitTransaction", request)
        assert status == 200, answer
    receiver.wait(lambda r: len(r.accepted) == 1)
    body = receiver.accepted[0].verified(SECRET)
    payload = forge.payload_of(bought["signedTransactionInfo"])
    assert (body["type"], body["data"]["type"]) == ("entitlement.purchased", "PURCHASED")
    event = body["data"]
    assert (event["customerId"], event["transactionId"]) == ("ana", payload["transactionId"])
    assert (event["productId"], event["productType"]) == ("coins", "PRODUCT_TYPE_CONSUMABLE")
    assert (event["quantity"], event["price"]) == (1, {"milliunits": "990", "currency": "USD"})
    assert event["entitlement"] == ""
    assert event == timeline(service, "ana")[0]
    wait_for(lambda: webhook(service)["cursor"] == webhook(service)["latestNumber"])
    assert len(receiver.accepted) == 1


@pytest.mark.parametrize("policy", ["notify", "end_access"])
def test_a_rescinded_consent_is_delivered_and_ends_access_only_by_policy(start, tmp_path, receiver, policy):
    service = start(
        arguments=configured(
            tmp_path, {"billing": {"url": receiver.url, "events": ["CONSENT_RESCINDED", "ENDED"]}},
            rescind_consent=policy))
    bought = service.buy("pro.monthly", account="child")
    request = {"app": APP, "customerId": "ana", "signedTransaction": bought["signedTransactionInfo"]}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0] == 200
    url = f"http://{service.http}/notifications/{APP}"
    for action, members in [
        ("notification-url", {"url": url, "version": 2}), ("rescind-consent", {"account": "child"}),
    ]:  # fmt: skip
        status, answer = post(f"http://{service.sandbox}/sandbox/v1/{action}", {"app": APP, **members})
        assert status == 200, answer
    expected = ["CONSENT_RESCINDED"] + (["ENDED"] if policy == "end_access" else [])
    receiver.wait(lambda r: len(r.accepted) == len(expected))
    events = [request.verified(SECRET)["data"] for request in receiver.accepted]
    assert sorted(event["type"] for event in events) == expected
    assert {event["customerId"] for event in events} == {"ana"}
    status, answer = service.json(
        "entitled.v1.EntitlementService/Check", {"app": APP, "customerId": "ana", "entitlement": "pro"})
    assert status == 200
    expected = (True, "SUBSCRIPTION_ACTIVE") if policy == "notify" else (False, "CONSENT_RESCINDED")
    entitlement = answer["entitlement"]
    assert (entitlement["entitled"], entitlement["reason"]) == expected


def test_only_selected_event_types_are_delivered(start, tmp_path, receiver):
    service = start(
        arguments=configured(tmp_path, {"billing": {"url": receiver.url, "events": ["GRANT_REVOKED"]}}))
    grant(service, "ana", 2)
    receiver.wait(lambda r: len(r.accepted) == 2)
    assert {request.data["type"] for request in receiver.accepted} == {"GRANT_REVOKED"}


def test_events_of_a_customer_stay_in_order_despite_failures(start, tmp_path, receiver):
    seen, granted = set(), threading.Event()

    def answer(request):
        # All events exist before a retry is due, however long the grants take.
        assert granted.wait(15)
        if request.data["customerId"] in ("c0", "c1") and request.id not in seen:
            seen.add(request.id)
            return 500
        return 200

    receiver.answer = answer
    service = start(
        arguments=configured(tmp_path, {"billing": {"url": receiver.url, "retry_seconds": [2] * 10}}))
    for _ in range(2):
        for number in range(5):
            grant(service, f"c{number}")
    granted.set()
    receiver.wait(lambda r: len(firsts(r.accepted)) == 20)
    assert_each_in_order(receiver.accepted)
    # Customers without a failure did not wait for those with one.
    positions = [request.data["customerId"] for request in receiver.accepted]
    assert max(i for i, c in enumerate(positions) if c in ("c2", "c3", "c4")) < 14


def test_a_slow_receiver_does_not_delay_another(start, tmp_path, receiver, other_receiver):
    release = threading.Event()
    receiver.answer = lambda request: 200 if release.wait(15) else 500
    service = start(
        arguments=configured(
            tmp_path, {"slow": {"url": receiver.url}, "quick": {"url": other_receiver.url}}))
    for number in range(10):
        grant(service, f"c{number}")
    other_receiver.wait(lambda r: len(r.accepted) == 20)
    assert receiver.accepted == []
    release.set()
    receiver.wait(lambda r: len(r.accepted) == 20)


def test_after_a_crash_every_message_arrives_with_its_original_id(start, tmp_path, receiver):
    enough = threading.Event()

    def answer(request):
        if len(receiver.requests) > 15:
            enough.set()
        return 200

    receiver.answer = answer
    arguments = configured(tmp_path, {"billing": {"url": receiver.url, "concurrency": 2}})
    service = start(arguments=arguments)
    threads = [threading.Thread(target=_grants_until_killed, args=(service, f"c{n}")) for n in range(4)]
    for thread in threads:
        thread.start()
    assert enough.wait(20)
    service.kill()
    for thread in threads:
        thread.join()
    before = [request.id for request in receiver.accepted]
    service = start(arguments=arguments)
    events = [event for number in range(4) for event in timeline(service, f"c{number}")]
    receiver.wait(lambda r: {e["sequence"] for e in events} == {e.data["sequence"] for e in r.accepted})
    assert len(firsts(receiver.accepted)) == len(events) > len(before) / 2
    assert_each_in_order(receiver.accepted)
    bodies = {}
    for request in receiver.accepted:
        assert bodies.setdefault(request.id, request.body) == request.body


def _grants_until_killed(service, customer):
    try:
        grant(service, customer, 500)
    except OSError:
        pass


def test_dead_letters_are_listed_and_resent(start, tmp_path, receiver):
    receiver.answer = lambda request: 400 if request.data["customerId"] == "ana" else 200
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url, "retry_seconds": [1]}}))
    grant(service, "ana")
    grant(service, "ben")
    wait_for(lambda: len(deliveries(service, state="DELIVERY_STATE_DEAD_LETTER")) == 2)
    dead = deliveries(service)
    assert [d["state"] for d in dead] == ["DELIVERY_STATE_DEAD_LETTER"] * 2
    assert dead[0]["subject"] == "ana" and dead[0]["outcome"] == "status 400" and dead[0]["attempts"] == 2
    assert webhook(service)["deadLetters"] == "2"
    listed = service.command("webhooks", "deliveries", "billing", "--dead-letters")
    assert listed.returncode == 0 and "entitlement.granted: dead_letter, attempts: 2, status 400" in listed.stdout
    receiver.answer = lambda request: 200
    replayed = service.command("webhooks", "resend", "billing", "--dead-letters")
    assert replayed.stdout.split() == ["resent", "2"], replayed.stderr
    receiver.wait(lambda r: [q.id for q in r.accepted if q.data["customerId"] == "ana"] == [d["webhookId"] for d in dead])
    wait_for(lambda: deliveries(service) == [])
    # And all of it again.
    count = len(receiver.requests)
    assert service.command("webhooks", "resend", "billing", "--from", "1").returncode == 0
    receiver.wait(lambda r: len(r.requests) == count + 4)


def test_dead_letters_can_be_discarded_and_resent_from_the_log(start, tmp_path, receiver):
    receiver.answer = lambda request: 400 if request.data["customerId"] == "ana" else 200
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url, "retry_seconds": [1]}}))
    grant(service, "ana")
    grant(service, "ben")
    wait_for(lambda: len(deliveries(service, state="DELIVERY_STATE_DEAD_LETTER")) == 2)
    first = int(deliveries(service)[0]["number"])
    shown = json.loads(service.command("webhooks", "show", "billing", first, "--json").stdout)
    assert base64.b64decode(shown["body"]) in [request.body for request, _ in receiver.requests]
    assert (shown["subject"], shown["delivery"]["attempts"]) == ("ana", 2)
    status, answer = service.json(
        "entitled.v1.WebhookService/GetDelivery", {"app": APP, "webhook": "billing", "number": 99})
    assert (status, answer["details"][0]["debug"]["reason"]) == (404, "UNKNOWN_DELIVERY")
    one = service.command("webhooks", "discard", "billing", "--number", first)
    assert one.stdout.split() == ["discarded", "1"], one.stderr
    # Only a dead letter can be discarded.
    status, answer = service.json(
        "entitled.v1.WebhookService/DiscardDeliveries", {"app": APP, "webhook": "billing", "numbers": {"numbers": [first, 99]}})
    assert (status, answer["discarded"]) == (200, "0")
    assert service.command("webhooks", "discard", "billing", "--dead-letters").stdout.split() == ["discarded", "1"]
    assert deliveries(service) == [] and webhook(service)["state"] == "WEBHOOK_STATE_HEALTHY"
    for members in ({}, {"deadLetters": False}, {"numbers": {}}):
        status, answer = service.json(
            "entitled.v1.WebhookService/DiscardDeliveries", {"app": APP, "webhook": "billing", **members})
        assert (status, answer["details"][0]["debug"]["reason"]) == (400, "MISSING_FIELD")
    receiver.answer = lambda request: 200
    assert service.command("webhooks", "resend", "billing", "--from", "1").returncode == 0
    receiver.wait(lambda r: len(r.accepted) == 6)
    assert [q.sequence for q in receiver.accepted if q.data["customerId"] == "ana"] == [1, 2]


def reload(service, message):
    """Reloads the configuration, and waits for the log line."""
    before = service.log.count(message)
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: service.log.count(message) > before)


def test_sighup_reloads_webhooks(start, tmp_path, receiver, other_receiver):
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    grant(service, "ana")
    receiver.wait(lambda r: len(r.accepted) == 2)
    # A new webhook starts with the next event; the first one gets another URL and continues at its cursor.
    moved = other_receiver.url + "/moved"
    configured(tmp_path, {"billing": {"url": moved}, "audit": {"url": other_receiver.url, "events": ["GRANTED"]}})
    reload(service, "webhooks reloaded")
    grant(service, "ben")
    other_receiver.wait(lambda r: len(r.accepted) == 3)
    assert sorted((q.path, q.data["type"]) for q in other_receiver.accepted) == [
        ("/hooks", "GRANTED"), ("/hooks/moved", "GRANTED"), ("/hooks/moved", "GRANT_REVOKED")]  # fmt: skip
    assert len(receiver.requests) == 2
    # A removed webhook stops; a configuration error changes nothing, and health reports it.
    configured(tmp_path, {"audit": {"url": other_receiver.url, "events": ["GRANTED"]}})
    reload(service, "webhooks reloaded")
    grant(service, "cleo")
    other_receiver.wait(lambda r: len(r.accepted) == 4)
    secret_file(tmp_path, "bad", "no secret")
    configured(tmp_path, {"audit": {"url": other_receiver.url, "secret": {"file": str(tmp_path / "bad")}}})
    reload(service, "reload of webhooks failed")
    grant(service, "dora")
    other_receiver.wait(lambda r: len(r.accepted) == 5)
    # A webhook configured again under its name continues at its cursor.
    configured(tmp_path, {"billing": {"url": receiver.url}})
    reload(service, "webhooks reloaded")
    receiver.wait(lambda r: {q.sequence for q in r.accepted} >= {5, 6, 7, 8})
    # A message answered just before the removal may arrive twice: delivery is at least once.
    assert {q.sequence for q in receiver.accepted[2:]} - {3, 4} == {5, 6, 7, 8}
    assert_each_in_order(receiver.accepted)


def hold_responses(receiver):
    """Lets a receiver wait before it responds. Returns the event of an arrived message, and the one that ends the wait."""
    arrived, go_on = threading.Event(), threading.Event()

    def answer(_):
        arrived.set()
        go_on.wait(30)
        return 200

    receiver.answer = answer
    return arrived, go_on


def test_a_slow_receiver_does_not_delay_a_reload(start, tmp_path, receiver, other_receiver):
    arrived, go_on = hold_responses(receiver)
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    grant(service, "ana")
    assert arrived.wait(10)
    configured(tmp_path, {"billing": {"url": other_receiver.url}})
    reload(service, "webhooks reloaded")
    other_receiver.wait(lambda r: len(r.accepted) == 2, 10)
    go_on.set()
    assert_each_in_order(other_receiver.accepted)


def test_a_webhook_answered_with_410_stops_until_it_is_resumed(start, tmp_path, receiver):
    receiver.answer = lambda request: 410
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url, "retry_seconds": [1]}}))
    grant(service, "ana")
    wait_for(lambda: webhook(service)["state"] == "WEBHOOK_STATE_GONE")
    attempts = len(receiver.requests)
    grant(service, "ben")
    receiver.answer = lambda request: 200
    answer = service.command("webhooks", "resume", "billing")
    assert answer.returncode == 0, answer.stderr
    receiver.wait(lambda r: len(r.accepted) == 4)
    assert attempts <= 2
    assert_each_in_order(receiver.accepted)


def test_no_message_is_repeated_while_the_disk_is_full(small_disk, tmp_path, receiver):  # noqa: F811
    arrived, go_on = hold_responses(receiver)
    service = Service(small_disk / "data", configured(tmp_path, {"billing": {"url": receiver.url}}))
    try:
        grant(service, "ana")
        assert arrived.wait(10)
        filler = fill(small_disk)
        # The log may still have room for some.
        request = {"app": APP, "customerId": "ben", "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL"}
        while (answer := service.json("entitled.v1.EntitlementService/Grant", request))[0] == 200:
            pass
        assert "DISK_FULL" in json.dumps(answer[1])
        go_on.set()
        wait_for(lambda: len(re.findall('worker failed.*worker="webhook ', service.log)) == 3)
        filler.unlink()
        wait_for(lambda: webhook(service)["cursor"] == webhook(service)["latestNumber"])
        wait_for(lambda: webhook(service)["pending"] == "0")
        numbers = [int(request.data["sequence"]) for request in receiver.accepted]
        assert sorted(numbers) == list(range(1, int(webhook(service)["latestNumber"]) + 1))
        service.stop()
    finally:
        if service.process.poll() is None:
            service.kill()


def test_a_redirect_is_not_followed(start, tmp_path, receiver, other_receiver):
    receiver.answer = lambda request: (307, {"location": other_receiver.url})
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    grant(service, "ana")
    wait_for(lambda: deliveries(service) and deliveries(service)[0]["outcome"])
    assert deliveries(service)[0]["outcome"] == "status 307, redirects are not followed"
    assert other_receiver.requests == []


def test_retry_after_of_the_receiver_is_honoured(start, tmp_path, receiver):
    receiver.answer = lambda request: (429, {"retry-after": "3"}) if len(receiver.requests) == 0 else 200
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url, "retry_seconds": [1, 1]}}))
    grant(service, "ana")
    receiver.wait(lambda r: len(r.requests) == 1)
    start_of_rest = time.monotonic()
    receiver.wait(lambda r: len(r.accepted) == 2)
    assert time.monotonic() - start_of_rest > 2.5


def test_retry_after_of_the_endpoint_survives_a_reload(start, tmp_path, receiver, other_receiver):
    receiver.answer = lambda request: (429, {"retry-after": "3600"})
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    grant(service, "ana")
    wait_for(lambda: webhook(service)["pending"] != "0")
    configured(tmp_path, {"billing": {"url": receiver.url}, "other": {"url": other_receiver.url}})
    reload(service, "webhooks reloaded")
    grant(service, "ben")
    other_receiver.wait(lambda r: len(r.accepted) == 2)
    time.sleep(0.5)
    assert len(receiver.requests) == 1


def test_a_slow_customer_does_not_delay_the_others(start, tmp_path, receiver):
    go_on = threading.Event()
    receiver.answer = lambda request: 200 if request.data["customerId"] != "slow" or go_on.wait(15) else 500
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    grant(service, "slow", times=10)
    grant(service, "fast")
    receiver.wait(lambda r: len(r.accepted) == 2, 10)
    assert {request.data["customerId"] for request in receiver.accepted} == {"fast"}
    wait_for(lambda: webhook(service)["cursor"] == "22")
    assert (webhook(service)["state"], webhook(service)["pending"]) == ("WEBHOOK_STATE_FAILING", "20")
    go_on.set()
    receiver.wait(lambda r: len(r.accepted) == 22)
    assert_each_in_order(receiver.accepted)


def test_messages_after_an_erasure_have_the_pseudonym(start, tmp_path, receiver):
    arrived, go_on = hold_responses(receiver)
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    grant(service, "dan", times=5)
    assert arrived.wait(10)
    status, erased = service.json("entitled.v1.EntitlementService/EraseCustomer", {"app": APP, "customerId": "dan"})
    assert status == 200, erased
    go_on.set()
    receiver.wait(lambda r: any(request.data["type"] == "CUSTOMER_ERASED" for request in r.accepted))
    assert_each_in_order(receiver.accepted[1:])
    assert {request.data["customerId"] for request in receiver.accepted[1:]} == {erased["pseudonym"]}


def test_the_cursor_passes_events_that_are_not_selected(start, tmp_path, receiver):
    arguments = configured(tmp_path, {"billing": {"url": receiver.url, "events": ["REFUNDED"]}})
    service = start(arguments=arguments)
    grant(service, "ana", times=5)
    wait_for(lambda: webhook(service)["cursor"] == "10")
    service.kill()
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    grant(service, "ben")
    receiver.wait(lambda r: len(r.accepted) == 2)
    assert {request.data["customerId"] for request in receiver.accepted} == {"ben"}


def test_dead_letters_that_are_not_selected_stay_when_all_are_resent(start, tmp_path, receiver):
    receiver.answer = lambda request: 500
    hook = {"url": receiver.url, "retry_seconds": []}
    service = start(arguments=configured(tmp_path, {"billing": hook}))
    grant(service, "ana")
    wait_for(lambda: webhook(service)["deadLetters"] == "2")
    configured(tmp_path, {"billing": {**hook, "events": ["GRANT_REVOKED"]}})
    reload(service, "webhooks reloaded")
    receiver.answer = lambda request: 200
    answer = service.command("webhooks", "resend", "billing", "--dead-letters")
    assert answer.stdout.split() == ["resent", "1"], answer.stderr
    receiver.wait(lambda r: len(r.accepted) == 1)
    assert receiver.accepted[0].data["type"] == "GRANT_REVOKED"
    wait_for(lambda: [delivery["number"] for delivery in deliveries(service)] == ["1"])


def test_a_removed_webhook_has_no_pending_messages_in_the_metrics(start, tmp_path, receiver):
    receiver.answer = lambda request: 500
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    grant(service, "ana")

    def values():
        """The gauges of the webhook that are not zero."""
        with urllib.request.urlopen(f"http://{service.http}/metrics", timeout=30) as page:
            lines = page.read().decode().splitlines()
        return [line for line in lines if 'webhook="billing"' in line and "_total" not in line
                and "_seconds_" not in line and not line.endswith(" 0")]  # fmt: skip

    wait_for(lambda: any("entitled_webhook_deliveries_pending" in line for line in values()))
    configured(tmp_path, {})
    reload(service, "webhooks reloaded")
    wait_for(lambda: values() == [])


@pytest.mark.parametrize(
    "members, problem",
    [
        ({"url": "http://example.com/x"}, "is not https; set allow_http: true to allow http"),
        ({"url": "https://me:word@example.com/x"}, "must not contain a user or a password"),
        ({"url": "ftp://example.com"}, "is not a URL such as https://example.com/hooks"),
        ({"url": "https://example.com/a b"}, "has the character U+0020; write it percent-encoded"),
        ({"url": "https://example.com:99999"}, "has the port 99999, which is not between 1 and 65535"),
        ({"url": "https://example.com", "events": ["STARTS"]}, "unknown event 'STARTS'; known: STARTED"),
        ({"url": "https://example.com", "secret": {"variable": "PATH"}}, "is not whsec_ and base64"),
        ({"url": "https://example.com", "secret": {"variable": "NOT_SET"}}, "the environment variable NOT_SET"),
    ],
)
def test_an_invalid_webhook_configuration_prevents_the_start(tmp_path, members, problem):
    flag, file = configured(tmp_path, {"billing": members})
    done = run("serve", *FREE_PORTS, flag, file, "--data", tmp_path / "data")
    assert done.returncode == 1 and problem in done.stderr


@pytest.mark.parametrize(
    "request_, reason, field",
    [
        ({"webhook": "newcomer"}, "UNKNOWN_WEBHOOK", "webhook"),
        ({"webhook": "billing"}, "MISSING_FIELD", "selection"),
        ({"webhook": "billing", "deadLetters": False}, "MISSING_FIELD", "selection"),
        ({"webhook": "billing", "range": {"first": "3", "last": "2"}}, "INVALID_RANGE", "range.first"),
    ],
)
def test_an_invalid_resend_is_rejected(start, tmp_path, receiver, request_, reason, field):
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    status, answer = service.json("entitled.v1.WebhookService/ResendDeliveries", {"app": APP, **request_})
    assert status in (400, 404)
    details = {detail["type"]: detail["debug"] for detail in answer["details"]}
    assert details["google.rpc.ErrorInfo"]["reason"] == reason
    assert [violation["field"] for violation in details["google.rpc.BadRequest"]["fieldViolations"]] == [field]


def test_numbers_that_no_message_has_resend_nothing(start, tmp_path, receiver):
    service = start(
        arguments=configured(
            tmp_path, {"billing": {"url": receiver.url}}, forwardings={"old": {"url": receiver.url}}))
    for webhook, kind in [("billing", "WEBHOOK_KIND_EVENTS"), ("old", "WEBHOOK_KIND_NOTIFICATIONS")]:
        numbers = {"numbers": ["-9223372036854775808", "9223372036854775807", "0"]}
        request = {"app": APP, "webhook": webhook, "kind": kind, "numbers": numbers}
        status, answer = service.json("entitled.v1.WebhookService/ResendDeliveries", request)
        assert (status, answer.get("resent", "0")) == (200, "0")


# Forwarding of Apple's notifications.


def notification(forger, **more):
    payload = {
        "notificationType": "TEST", "notificationUUID": str(uuid.uuid4()), "version": "2.0",
        "signedDate": int(time.time() * 1000),
        "data": {"bundleId": "com.example.oceanjournal", "environment": "Sandbox"}, **more,
    }  # fmt: skip
    return forge.sign(payload, forger.chain, forger.leaf_key)


def deliver(service, body):
    return post(f"http://{service.http}/notifications/{APP}", body)


def test_notifications_are_forwarded_byte_for_byte_once_durable(start, tmp_path, receiver):
    held = threading.Event()
    receiver.answer = lambda request: 200 if held.is_set() else 503
    secret = str(secret_file(tmp_path, "shared", "0123456789abcdef"))
    service = start(
        arguments=configured(
            tmp_path, forwardings={"old": {"url": receiver.url, "retry_seconds": [1] * 30}},
            shared_secret={"file": secret}))
    forger = forge.Forger(service)
    unusual = f'{{ "signedPayload" :\t"{notification(forger)}" , "more": [1.50, "\\u00e9é"] }}\r\n'.encode()
    version_1 = b'{"notification_type":"DID_RENEW", "password":"0123456789abcdef",\n "environment":"Sandbox"}'
    forged = json.dumps({"signedPayload": notification(forger)[:-8] + "AAAAAAAA"}).encode()
    # The receiver is down; Apple gets its response regardless.
    assert deliver(service, unusual)[0] == 200
    assert deliver(service, unusual)[0] == 200
    assert deliver(service, forged)[0] == 202
    assert deliver(service, version_1)[0] == 202
    held.set()
    receiver.wait(lambda r: len(r.accepted) == 2)
    assert {request.body for request in receiver.accepted} == {unusual, version_1}
    assert receiver.accepted[0].headers["content-type"] == "application/json"
    status, page = service.json("entitled.v1.WebhookService/ListWebhooks", {"app": APP})
    assert page["webhooks"][0]["kind"] == "WEBHOOK_KIND_NOTIFICATIONS"


def test_forwarding_survives_a_crash(start, tmp_path, receiver):
    arguments = configured(tmp_path, forwardings={"old": {"url": receiver.url}})
    receiver.answer = lambda request: 500
    service = start(arguments=arguments)
    forger = forge.Forger(service)
    bodies = [json.dumps({"signedPayload": notification(forger)}).encode() for _ in range(3)]
    for body in bodies:
        assert deliver(service, body)[0] == 200
    service.kill()
    receiver.answer = lambda request: 200
    service = start(arguments=arguments)
    receiver.wait(lambda r: sorted(q.body for q in r.accepted) == sorted(bodies))


FORWARDING = "WEBHOOK_KIND_NOTIFICATIONS"


@pytest.mark.parametrize("days", [2, 5])
def test_a_purge_of_notifications_loses_none_that_waits(start, tmp_path, receiver, days):
    receiver.answer = lambda request: 503
    arguments = configured(tmp_path, forwardings={"old": {"url": receiver.url, "retry_seconds": [1] * 50}})
    config = json.loads(arguments[1].read_text())
    arguments[1].write_text(json.dumps({**config, "retention": {"notifications": 1}}))
    service = start(arguments=arguments)
    body = json.dumps({"signedPayload": notification(forge.Forger(service))}).encode()
    assert deliver(service, body)[0] == 200
    receiver.wait(lambda r: len(r.requests) == 1)
    assert post(f"http://{service.sandbox}/sandbox/v1/clock/advance", {"by": f"{days}d"})[0] == 200
    service.stop()
    # The service purges at its start. A message is kept for four days.
    service = start(arguments=arguments)
    if days == 5:
        wait_for(lambda: webhook(service)["deadLetters"] == "1")
        assert "webhook message lost" in service.log
        lost = deliveries(service, "old", kind=FORWARDING)[0]
        assert lost["outcome"] == "not sent: its content is no longer stored"
        status, answer = service.json(
            "entitled.v1.WebhookService/ResendDeliveries",
            {"app": APP, "webhook": "old", "kind": FORWARDING, "deadLetters": True})  # fmt: skip
        assert (status, answer["resent"]) == (200, "0")
        assert webhook(service)["deadLetters"] == "1"
    else:
        receiver.answer = lambda request: 200
        receiver.wait(lambda r: [request.body for request in r.accepted] == [body])


def test_a_notification_that_waits_is_forwarded_as_an_erasure_left_it(start, tmp_path, receiver):
    receiver.answer = lambda request: 500
    service = start(
        arguments=configured(tmp_path, forwardings={"old": {"url": receiver.url, "retry_seconds": [1] * 50}}))
    forger, token = forge.Forger(service), str(uuid.uuid4())
    transaction = {"transactionId": "991", "originalTransactionId": "991", "appAccountToken": token}
    signed = forger.transaction(**transaction)
    status, answer = service.json(
        "entitled.v1.ReceiptService/SubmitTransaction", {"app": APP, "customerId": "dan", "signedTransaction": signed})
    assert status == 200, answer
    data = {"bundleId": "com.example.oceanjournal", "environment": "Sandbox", "signedTransactionInfo": signed}
    payload = notification(forger, notificationType="DID_RENEW", data=data)
    assert deliver(service, json.dumps({"signedPayload": payload}).encode())[0] == 200
    receiver.wait(lambda r: len(r.requests) == 1)
    status, answer = service.json("entitled.v1.EntitlementService/EraseCustomer", {"app": APP, "customerId": "dan"})
    assert status == 200, answer
    receiver.answer = lambda request: 200
    receiver.wait(lambda r: len(r.accepted) == 1)
    sent = json.loads(receiver.accepted[0].body)["signedPayload"]
    assert forge.header_of(sent)["alg"] == "none" and "redacted" in forge.header_of(sent)
    assert token.encode() not in base64.urlsafe_b64decode(sent.split(".")[1] + "==")
