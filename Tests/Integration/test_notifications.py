"""Apple's notifications: durable before the response, in any order, duplicated, and applied only if verified."""

import http.client
import json
import re
import time
import urllib.request
import uuid

import pytest

import contract
import stores
import forge
from certificates import write_key
from contract import StatusCode, entitlement_service, notification_service
from forge import Forger
from harness import CALL_LIMIT, post, wait_for

APP = "ocean-journal"
NOW = int(time.time() * 1000)
DAY = 86_400_000


@pytest.fixture(scope="session")
def notifications(channel):
    return contract.notification_stub(channel)


def signed(forger, notification_type, subtype=None, *, signed_at=NOW, environment="Sandbox", **parts):
    """The body that Apple would post: a signed payload with its nested documents."""
    payload = {
        "notificationType": notification_type, "notificationUUID": str(uuid.uuid4()), "version": "2.0",
        "signedDate": signed_at,
        "data": {
            "bundleId": "com.example.oceanjournal", "bundleVersion": "1", "environment": environment, **parts,
        },
    }  # fmt: skip
    if subtype:
        payload["subtype"] = subtype
    return {"signedPayload": forge.sign(payload, forger.chain, forger.leaf_key)}


def line():
    """An original transaction id that no other test uses."""
    return str(uuid.uuid4().int % 10**15)


def period(forger, number, begin, end, token=None, transaction=None, signed_at=NOW, **more):
    """A signed transaction of one period of `pro.monthly`."""
    return forger.transaction(
        transactionId=transaction or number, originalTransactionId=number, purchaseDate=begin, expiresDate=end,
        originalPurchaseDate=begin, appAccountToken=token, signedDate=signed_at, **more)


def deliver(service, body, app=APP, **headers):
    return post(f"http://{service.http}/notifications/{app}", body, headers)


def check(entitlements, customer):
    request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
    return entitlements.Check(request, timeout=CALL_LIMIT).entitlement


def test_a_notification_is_applied_before_its_response(service, forger, entitlements):
    token, number = str(uuid.uuid4()), line()
    bought = period(forger, number, NOW - DAY, NOW + 30 * DAY, token)
    status, answer = deliver(service, signed(forger, "SUBSCRIBED", "INITIAL_BUY", signedTransactionInfo=bought))
    assert (status, answer["reason"]) == (200, "APPLIED")
    assert "first time" in answer["explanation"]
    # The customer appears afterwards with the token: the purchase waited in the claim queue.
    request = contract.receipt_service.SubmitTransactionRequest(
        app=APP, customer_id=token, signed_transaction=bought)
    with service.channel() as channel:
        contract.receipt_stub(channel).SubmitTransaction(request, timeout=CALL_LIMIT)
    assert check(entitlements, token).entitled
    refunded = period(
        forger, number, NOW - DAY, NOW + 30 * DAY, token, signed_at=NOW + 1, revocationDate=NOW,
        revocationReason=1)
    body = signed(forger, "REFUND", signedTransactionInfo=refunded)
    assert deliver(service, body)[0] == 200
    answer = check(entitlements, token)
    assert not answer.entitled and answer.reason == "REFUNDED_FOR_APP_ISSUE"
    assert deliver(service, body) == (200, {"reason": "APPLIED", "explanation": "The purchase was refunded."})
    # Older evidence that arrives late changes nothing.
    late = signed(forger, "SUBSCRIBED", "INITIAL_BUY", signedTransactionInfo=bought)
    assert deliver(service, late)[1]["reason"] == "SUPERSEDED"
    assert not check(entitlements, token).entitled


def test_a_purchase_without_a_customer_waits_in_the_claim_queue(service, forger, entitlements, customer):
    number = line()
    bought = period(forger, number, NOW - DAY, NOW + 30 * DAY)
    deliver(service, signed(forger, "SUBSCRIBED", signedTransactionInfo=bought))
    with service.channel() as channel:
        stub = contract.entitlement_stub(channel)
        stub.LinkPurchase(
            entitlement_service.LinkPurchaseRequest(
                app=APP, customer_id=customer, original_transaction_id=number), timeout=CALL_LIMIT)
    assert check(entitlements, customer).entitled


@pytest.mark.parametrize(
    "spoil, status, code",
    [
        (lambda f, body: b"hello", 202, "MALFORMED_JSON"),
        (lambda f, body: b"[]", 202, "NOT_A_NOTIFICATION"),
        (lambda f, body: {"hello": 1}, 202, "NOT_A_NOTIFICATION"),
        (lambda f, body: {"signedPayload": 7}, 202, "MALFORMED_FIELD"),
        (lambda f, body: {"signedPayload": "abc"}, 202, "NOT_A_JWS"),
        (lambda f, body: {"signedPayload": body["signedPayload"][:-8] + "AAAAAAAA"}, 202, "BAD_SIGNATURE"),
        (lambda f, body: signed(f, "TEST", environment="Production"), 202, "UNTRUSTED_ROOT"),
        (lambda f, body: signed(f, "DID_RENEW", signedTransactionInfo=f.with_foreign_root()), 202, "UNTRUSTED_ROOT"),
        (lambda f, body: b"{" + b" " * (1 << 20), 413, "TOO_LARGE"),
    ],
)
def test_unverified_notifications_are_stored_and_change_nothing(service, forger, notifications, spoil, status, code):
    body = spoil(forger, signed(forger, "TEST"))
    answer = deliver(service, body)
    assert (answer[0], answer[1]["reason"]) == (status, code)
    assert answer[1]["explanation"]
    if status == 202:
        page = notifications.ListNotifications(
            notification_service.ListNotificationsRequest(
                app=APP, state="NOTIFICATION_STATE_REJECTED", page_size=1), timeout=CALL_LIMIT)
        assert page.notifications[0].reason == code


def refusal(reason):
    """The log line about a notification that was refused. There is at most one each second for a reason."""
    return (f"warning entitled.refusals: request refused address=127.0.0.1 app={APP}( left_out=\\d+)?"
            f' method="POST /notifications/{{app}}" reason={reason} request_id=')  # fmt: skip


def test_the_log_names_the_sender_of_a_rejected_notification(service, forger):
    document = signed(forger, "TEST")["signedPayload"][:-8] + "AAAAAAAA"

    def logged():
        assert deliver(service, {"signedPayload": document})[0] == 202
        return re.search(refusal("BAD_SIGNATURE"), service.log)

    wait_for(logged)
    assert document[:40] not in service.log


def test_the_endpoint_rejects_invalid_requests(service, forger):
    status, answer = deliver(service, signed(forger, "TEST"), app="no-such-app")
    assert (status, answer["reason"]) == (404, "UNKNOWN_APP") and "ocean-journal" not in json.dumps(answer)
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/grpc",
                 "text/json", "application/jsonx", "application/json5"]:  # fmt: skip
        assert deliver(service, signed(forger, "TEST"), **{"content-type": kind})[0] == 415, kind
    for kind in ["application/json;charset=UTF-8", "Application/JSON"]:
        assert deliver(service, signed(forger, "TEST"), **{"content-type": kind})[0] == 200, kind
    host, port = service.http.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=CALL_LIMIT)
    connection.request("GET", f"/notifications/{APP}")
    assert connection.getresponse().status == 405
    connection.close()


def counted(service, state):
    """The number of version 2 notifications counted with this state."""
    with urllib.request.urlopen(f"http://{service.http}/metrics", timeout=CALL_LIMIT) as answer:
        found = re.search(rf'entitled_notifications_total{{version="2",state="{state}"}} (\d+)', answer.read().decode())
    return int(found[1]) if found else 0


def test_unknown_types_are_stored_and_their_documents_applied(service, forger, entitlements, customer):
    number = line()
    bought = period(forger, number, NOW - DAY, NOW + 30 * DAY)
    before = counted(service, "UNSUPPORTED")
    status, answer = deliver(service, signed(forger, "SOMETHING_NEW", "ODD", signedTransactionInfo=bought))
    assert (status, answer["reason"]) == (200, "UNSUPPORTED")
    assert counted(service, "UNSUPPORTED") == before + 1
    with service.channel() as channel:
        contract.entitlement_stub(channel).LinkPurchase(
            entitlement_service.LinkPurchaseRequest(
                app=APP, customer_id=customer, original_transaction_id=number), timeout=CALL_LIMIT)
    assert check(entitlements, customer).entitled


def test_unknown_parts_are_stored_and_their_documents_applied(service, forger, entitlements, notifications, customer):
    number, identifiers = line(), [str(uuid.uuid4()) for _ in range(2)]
    part = {"bundleId": "com.example.oceanjournal", "environment": "Sandbox",
            "signedTransactionInfo": period(forger, number, NOW - DAY, NOW + 30 * DAY)}  # fmt: skip
    before = counted(service, "UNSUPPORTED")
    # The second one names neither app nor environment.
    for identifier, more in zip(identifiers, [{"bundleInfo": part}, {"novelties": {"count": 1}}], strict=True):
        payload = {"notificationType": "SOMETHING_NEWER", "notificationUUID": identifier, "signedDate": NOW, **more}
        body = {"signedPayload": forge.sign(payload, forger.chain, forger.leaf_key)}
        for _ in range(2):
            status, answer = deliver(service, body)
            assert (status, answer["reason"]) == (200, "UNSUPPORTED")
    assert counted(service, "UNSUPPORTED") == before + 2
    listed = notifications.ListNotifications(
        notification_service.ListNotificationsRequest(app=APP, notification_type="SOMETHING_NEWER"),
        timeout=CALL_LIMIT).notifications
    assert {one.notification_uuid for one in listed} == set(identifiers)
    with service.channel() as channel:
        contract.entitlement_stub(channel).LinkPurchase(
            entitlement_service.LinkPurchaseRequest(
                app=APP, customer_id=customer, original_transaction_id=number), timeout=CALL_LIMIT)
    assert check(entitlements, customer).entitled


def test_notifications_can_be_relayed_and_listed(service, forger, notifications, customer):
    number = line()
    bought = period(forger, number, NOW - DAY, NOW + 30 * DAY)
    body = json.dumps(signed(forger, "DID_RENEW", signedTransactionInfo=bought)).encode()
    request = notification_service.IngestNotificationRequest(app=APP, body=body)
    first = notifications.IngestNotification(request, timeout=CALL_LIMIT)
    assert not first.already_known
    assert first.notification.notification_type == "DID_RENEW"
    assert first.notification.original_transaction_id == number
    again = notifications.IngestNotification(request, timeout=CALL_LIMIT)
    assert again.already_known and again.notification == first.notification
    with service.channel() as channel:
        contract.entitlement_stub(channel).LinkPurchase(
            entitlement_service.LinkPurchaseRequest(
                app=APP, customer_id=customer, original_transaction_id=number), timeout=CALL_LIMIT)
    listed = notifications.ListNotifications(
        notification_service.ListNotificationsRequest(app=APP, customer_id=customer), timeout=CALL_LIMIT)
    assert [n.notification_uuid for n in listed.notifications] == [first.notification.notification_uuid]
    assert listed.notifications[0].customer_id == customer


def test_the_list_is_paged_newest_first(service, forger, notifications):
    for _ in range(5):
        assert deliver(service, signed(forger, "TEST"))[0] == 200
    seen, token = [], ""
    while True:
        page = notifications.ListNotifications(
            notification_service.ListNotificationsRequest(
                app=APP, notification_type="TEST", page_size=2, page_token=token), timeout=CALL_LIMIT)
        seen += [n.evidence_id for n in page.notifications]
        token = page.next_page_token
        if not token:
            break
    assert len(seen) >= 5
    assert seen == sorted(set(seen), reverse=True)


def test_the_list_of_an_environment_has_what_cannot_be_read(service, forger, notifications):
    assert deliver(service, {"signedPayload": f"unreadable-{uuid.uuid4()}"})[1]["reason"] == "NOT_A_JWS"
    unknown = f"NEW_{uuid.uuid4().hex}"
    assert deliver(service, signed(forger, unknown))[0] == 200

    def listed(environment, **more):
        request = notification_service.ListNotificationsRequest(
            app=APP, environment=f"ENVIRONMENT_{environment}", page_size=1, **more)
        return [(n.notification_type, n.reason) for n in notifications.ListNotifications(request, timeout=CALL_LIMIT).notifications]

    for environment in ["SANDBOX", "PRODUCTION"]:
        assert listed(environment, state="NOTIFICATION_STATE_REJECTED") == [("", "NOT_A_JWS")], "it may be of any environment"
    assert listed("SANDBOX")[0][0] == unknown and listed("SANDBOX", notification_type=unknown)
    assert not listed("PRODUCTION", notification_type=unknown)
    assert listed("PRODUCTION")[0][0] != unknown, "the page is filled with what belongs to the environment"


@pytest.mark.parametrize(
    "members, field", [({"page_size": -1}, "page_size"), ({"page_token": "x"}, "page_token")]
)
def test_an_invalid_page_token_is_rejected_with_its_reason(notifications, members, field):
    request = notification_service.ListNotificationsRequest(app=APP, **members)
    with pytest.raises(contract.RpcError) as error:
        notifications.ListNotifications(request, timeout=CALL_LIMIT)
    assert error.value.code() == StatusCode.INVALID_ARGUMENT
    assert contract.violations(error.value) == [field]


def test_an_acknowledged_notification_survives_a_kill(start, tmp_path):
    service = start()
    forger = forge.Forger(service)
    number = line()
    bought = period(forger, number, NOW - DAY, NOW + 30 * DAY)
    body = signed(forger, "SUBSCRIBED", signedTransactionInfo=bought)
    assert deliver(service, body)[0] == 200
    service.kill()
    service = start()
    # A replica that starts after a kill follows until the lease of the killed one has run out.
    assert deliver(service, body)[1]["reason"] in ({"APPLIED"} if stores.IS_SQLITE else {"APPLIED", "ACCEPTED"})
    with service.channel() as channel:
        deadline = time.monotonic() + 3 * CALL_LIMIT
        while True:
            listed = contract.notification_stub(channel).ListNotifications(
                notification_service.ListNotificationsRequest(app=APP), timeout=CALL_LIMIT)
            # The next leader applies notifications that were only accepted.
            if listed.notifications or time.monotonic() > deadline:
                break
        assert [n.original_transaction_id for n in listed.notifications] == [number]


# Version 1 is not signed.

SECRET = "0123456789abcdef0123456789abcdef"


def version_1(notification_type="DID_RENEW", password=SECRET, number="1000000001", **more):
    return {
        "notification_type": notification_type, "password": password, "environment": "Sandbox",
        "bid": "com.example.oceanjournal", "original_transaction_id": number, **more,
    }  # fmt: skip


def configured(tmp_path, demo, **members):
    """A configuration file like the demo's, with further members in its app."""
    file = tmp_path / "entitled.yaml"
    lines = "".join(f"    {name}: {value}\n" for name, value in members.items())
    file.write_text(demo.replace("    products:\n", lines + "    products:\n", 1))
    return file


DEMO = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox, Production]
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro]}
"""


def test_version_1_is_authenticated_by_its_secret(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    config = configured(
        tmp_path, DEMO, shared_secret=f"{{file: {secret}}}",
        app_store_servers="{Sandbox: http://127.0.0.1:9}")
    service = start(arguments=["--config", config])
    status, answer = deliver(service, version_1(password="wrong"))
    assert (status, answer["reason"]) == (202, "WRONG_SHARED_SECRET")
    answer = deliver(service, version_1(bid="com.example.other"))[1]
    assert (answer["reason"], "\"com.example.other\"" in answer["explanation"]) == ("WRONG_BUNDLE", True)
    assert "Optional" not in answer["explanation"]
    # No store has such texts, so Apple must not send them again.
    for text in ("a\0b", "x" * 257):
        for fields in ({"number": text}, {"notification_type": text}):
            status, answer = deliver(service, version_1(**fields))
            assert (status, answer["reason"]) == (202, "MALFORMED_FIELD")
    status, answer = deliver(service, version_1())
    assert (status, answer["reason"]) == (202, "NO_IN_APP_PURCHASE_KEY") and "reprocessed" in answer["explanation"]
    status, answer = deliver(service, version_1(original_transaction_id=None))
    assert (status, answer["reason"]) == (202, "NO_PURCHASE") and "names no purchase" in answer["explanation"]
    assert SECRET not in service.log
    with service.channel() as channel:
        listed = contract.notification_stub(channel).ListNotifications(
            notification_service.ListNotificationsRequest(app=APP), timeout=CALL_LIMIT)
    assert [(n.version, n.notification_type) for n in listed.notifications][0] == (1, "DID_RENEW")


def test_the_log_names_the_sender_of_a_notification_that_apple_could_not_confirm(start, tmp_path):
    write_key(tmp_path / "key.p8")
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "secret").chmod(0o600)
    config = configured(
        tmp_path, DEMO, shared_secret="{file: secret}", app_store_servers="{Sandbox: http://127.0.0.1:9}",
        in_app_purchase_key="{file: key.p8, key_id: ABCDE12345, issuer_id: x}")
    service = start(arguments=["--config", config])
    status, answer = deliver(service, version_1())
    assert (status, answer["reason"]) == (503, "APP_STORE_UNAVAILABLE")
    wait_for(lambda: re.search(refusal("APP_STORE_UNAVAILABLE"), service.log))
    assert SECRET not in service.log


def test_version_1_without_a_secret_is_rejected(service):
    status, answer = deliver(service, version_1())
    assert (status, answer["reason"]) == (202, "NO_SHARED_SECRET")


def test_the_status_shows_a_rejected_notification_until_one_is_accepted(start):
    service = start()

    def state():
        return next(line for line in service.command("status").stdout.splitlines() if line.startswith(f"{APP} sandbox  "))

    assert "no notification yet" in state()
    assert deliver(service, b"hello")[1]["reason"] == "MALFORMED_JSON"
    assert re.search(r"no accepted notification yet, last rejected one \S+Z \(MALFORMED_JSON\)", state()), state()
    assert deliver(service, signed(Forger(service), "TEST"))[0] == 200
    assert re.search(r"last notification \S+Z, 0 overdue", state()), state()
    assert deliver(service, b"[]")[1]["reason"] == "NOT_A_NOTIFICATION"
    assert re.search(r"last notification \S+Z, last rejected one \S+Z \(NOT_A_NOTIFICATION\)", state()), state()
