"""`GET /v1/subscribers/{customer}`: customers in the form of RevenueCat's REST API v1, over sockets."""

import datetime
import json
import urllib.error
import urllib.parse
import urllib.request
import uuid

import pytest

from contract import customer_service
import contract
from harness import CALL_LIMIT, Service, post, response_to, wait_for
from test_callers import APP, APPS, OTHER, caller, token
from test_identity import Client

ON = "listeners: {http: {subscriber_api: true}}\n"


def get(service, customer, bearer=None, query="", **headers):
    """Reads a subscriber; returns the status and the document."""
    url = f"http://{service.http}/v1/subscribers/{urllib.parse.quote(customer, safe='')}{query}"
    if bearer:
        headers["authorization"] = f"Bearer {bearer}"
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    with response_to(request) as answer:
        text = answer.read().decode()
        return answer.status, json.loads(text) if text.startswith("{") else text


def time(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.UTC).timestamp()


def act(service, action, **members):
    """Performs an action of the sandbox; returns its response."""
    status, answer = post(f"http://{service.sandbox}/sandbox/v1/{action}", members)
    assert status == 200, answer
    return answer


def rounded(timestamp):
    """A time in RevenueCat's form, which has no milliseconds."""
    return datetime.datetime.fromtimestamp(timestamp.seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subscribers")
    demo = Service(folder / "demo")
    text = demo.command("config", "demo").stdout
    demo.stop()
    (folder / "entitled.yaml").write_text(text + ON)
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    client = Client(service)
    yield client
    client.channel.close()
    service.stop()


def test_a_subscription_has_its_entitlement_and_period(client):
    purchase = client.buy("ann@example.com")
    ours = client.call("Check", customer_id="ann@example.com", entitlement="pro").entitlement
    status, document = get(client.service, "ann@example.com")
    subscriber = document["subscriber"]
    assert status == 200 and set(document) == {"request_date", "request_date_ms", "subscriber"}
    assert abs(time(document["request_date"]) - document["request_date_ms"] / 1000) < 1
    assert subscriber["original_app_user_id"] == "ann@example.com"
    pro = subscriber["entitlements"]["pro"]
    assert set(pro) == {"expires_date", "grace_period_expires_date", "product_identifier", "purchase_date"}
    assert pro["product_identifier"] == "pro.monthly" and pro["grace_period_expires_date"] is None
    assert time(pro["expires_date"]) == ours.paid_until.seconds < ours.until.seconds, "RevenueCat knows no renewal slack"
    assert time(pro["purchase_date"]) == ours.since.seconds
    subscription = subscriber["subscriptions"]["pro.monthly"]
    assert subscription["store"] == "app_store" and subscription["is_sandbox"] is True
    assert subscription["period_type"] == "normal" and subscription["ownership_type"] == "PURCHASED"
    assert subscription["store_transaction_id"] == purchase
    assert subscription["price"] == {"amount": 4.99, "currency": "USD"} and subscription["display_name"] is None
    assert subscription["management_url"] == subscriber["management_url"]
    assert subscription["expires_date"] == pro["expires_date"]
    assert subscription["unsubscribe_detected_at"] is None and subscription["refunded_at"] is None
    assert subscriber["management_url"] == "https://apps.apple.com/account/subscriptions"
    assert subscriber["first_seen"] == subscriber["last_seen"] == pro["purchase_date"]


def test_a_commitment_has_the_payments_that_are_left(client):
    service, account = client.service, str(uuid.uuid4())
    # Apple does not sell monthly payments in the United States.
    moved = {"account": account, "storefront": "DEU"}
    assert post(f"http://{service.sandbox}/sandbox/v1/storefront", moved)[0] == 200
    status, bought = post(
        f"http://{service.sandbox}/sandbox/v1/purchases",
        {"app": "ocean-journal", "productId": "pro.yearly", "account": account, "billingPlanType": "MONTHLY"})
    assert status == 200, bought
    assert service.command("submit", account, "-", stdin=bought["signedTransactionInfo"]).returncode == 0
    subscription = get(service, account)[1]["subscriber"]["subscriptions"]["pro.yearly"]
    ours = client.call("Check", customer_id=account, entitlement="pro").entitlement.commitment_info
    assert subscription["commitment"].pop("expires_date") == rounded(ours.commitment_expires_date)
    assert ours.remaining_price.milliunits == 43_890
    assert subscription["commitment"] == {
        "billing_period_number": 1, "total_billing_periods": 12, "remaining_periods": 11,
        "remaining_price": {"amount": 43.89, "currency": ours.remaining_price.currency}}
    act = {"app": "ocean-journal", "url": f"http://{service.http}/notifications/ocean-journal"}
    assert post(f"http://{service.sandbox}/sandbox/v1/notification-url", act)[0] == 200
    refund = {"transactionId": bought["transactionId"]}
    assert post(f"http://{service.sandbox}/sandbox/v1/refund", refund)[0] == 200
    wait_for(lambda: not client.call("Check", customer_id=account, entitlement="pro").entitlement.entitled)
    assert "commitment" not in get(service, account)[1]["subscriber"]["subscriptions"]["pro.yearly"]
    ours = client.call("Check", customer_id=account, entitlement="pro").entitlement.commitment_info
    assert not ours.HasField("remaining_price") and ours.commitment_price.milliunits == 47_880


def test_a_failed_payment_a_cancellation_and_a_refund_have_their_times(client, start, tmp_path):
    (tmp_path / "entitled.yaml").write_text(client.service.command("config", "demo").stdout + ON)
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])

    def subscription():
        return get(service, "kay")[1]["subscriber"]["subscriptions"]["pro.monthly"]

    act(service, "notification-url", app="ocean-journal", url=f"http://{service.http}/notifications/ocean-journal")
    act(service, "grace-period", app="ocean-journal", days=16)
    bought = service.buy("pro.monthly", account="kay")["signedTransactionInfo"]
    assert service.command("submit", "kay", bought).returncode == 0
    act(service, "billing", account="kay", fails=True)
    act(service, "clock/advance", by="32d")
    wait_for(lambda: subscription()["billing_issues_detected_at"])
    document, failed = get(service, "kay")[1], subscription()
    pro = document["subscriber"]["entitlements"]["pro"]
    # RevenueCat's clients compare `expires_date` with `request_date` to decide whether access is active.
    assert failed["billing_issues_detected_at"] < document["request_date"] < pro["expires_date"]
    ends = {member[name] for member in (pro, failed) for name in ("expires_date", "grace_period_expires_date")}
    assert ends == {pro["expires_date"]}
    act(service, "billing", account="kay", fails=False)
    wait_for(lambda: not subscription()["billing_issues_detected_at"])
    act(service, "auto-renew", transactionId="kay/pro.monthly", enabled=False)
    wait_for(lambda: subscription()["unsubscribe_detected_at"])
    act(service, "refund", transactionId="kay/pro.monthly")
    wait_for(lambda: subscription()["refunded_at"])
    pro = get(service, "kay")[1]["subscriber"]["entitlements"]["pro"]
    assert pro["expires_date"] == subscription()["expires_date"] == subscription()["refunded_at"]


def test_a_family_member_has_a_shared_subscription_without_a_price(client):
    service = client.service
    for account in ("pat", "mia"):
        act(service, "join-family", account=account, family="subscribers")
    act(service, "shareable", app="ocean-journal", productId="pro.monthly", enabled=True)
    service.buy("pro.monthly", account="pat")
    [shared] = act(service, "restore", app="ocean-journal", account="mia", newDevice=False)["signedTransactions"]
    assert service.command("submit", "mia", shared).returncode == 0
    subscription = get(service, "mia")[1]["subscriber"]["subscriptions"]["pro.monthly"]
    assert (subscription["ownership_type"], subscription["price"]) == ("FAMILY_SHARED", None)


def test_an_unknown_customer_has_nothing_and_is_not_created(client):
    status, document = get(client.service, "stranger")
    subscriber = document["subscriber"]
    assert status == 200 and subscriber["original_app_user_id"] == "stranger"
    assert not any(subscriber[name] for name in ("entitlements", "subscriptions", "non_subscriptions", "subscriber_attributes"))
    assert subscriber["management_url"] is None
    found = json.loads(client.service.command("find", "stranger", "--json").stdout)
    assert not found.get("hits"), found


@pytest.mark.parametrize("customer", ["a\0b", "x" * 257, ""])
def test_an_impossible_customer_id_is_rejected(client, customer):
    status, document = get(client.service, customer)
    assert status == 400 and "customer id of 1 to 256 bytes" in document["message"]


def test_other_stores_attributes_and_aliases_are_in_the_document(client):
    service = client.service
    service.command(
        "grants", "create", "dora", "pro", "--source", "play", "--external-id", "GPA.1#pro", "--product-id", "gold",
        "--revision", "1", "--since", "2026-01-01", "--until", "2099-01-01T00:00:00Z")
    stub = contract.customer_stub(client.channel)
    stub.SetCustomerAttributes(
        customer_service.SetCustomerAttributesRequest(
            app="ocean-journal", customer_id="dora", attributes=[
                customer_service.CustomerAttribute(name="rc:email", value="d@example.com"),
                customer_service.CustomerAttribute(name="cohort", value="A")]), timeout=CALL_LIMIT)
    client.call("MergeCustomers", from_customer_id="$RCAnonymousID:7", into_customer_id="dora")
    own, by_alias = get(service, "dora")[1]["subscriber"], get(service, "$RCAnonymousID:7")[1]["subscriber"]
    assert own == by_alias and own["original_app_user_id"] == "dora"
    assert own["entitlements"]["pro"] == {
        "expires_date": "2099-01-01T00:00:00Z", "grace_period_expires_date": None, "product_identifier": "gold",
        "purchase_date": "2026-01-01T00:00:00Z"}
    gold = own["subscriptions"]["gold"]
    assert (gold["store"], gold["store_transaction_id"]) == ("play_store", "GPA.1") and own["management_url"] is None
    assert own["subscriber_attributes"] == {"$email": {"value": "d@example.com"}, "cohort": {"value": "A"}}


def test_the_product_of_each_entitlement_is_in_the_document(client):
    """Backends look up `subscriptions[product_identifier]`, also for a grant of the operator."""
    granted = client.service.command("grants", "create", "hal", "pro", "--until", "2099-01-01T00:00:00Z")
    assert granted.returncode == 0, granted.stderr

    def hal():
        subscriber = get(client.service, "hal")[1]["subscriber"]
        return subscriber["entitlements"]["pro"], subscriber["subscriptions"]

    pro, subscriptions = hal()
    subscription = subscriptions[pro["product_identifier"]]
    assert (subscription["store"], subscription["period_type"]) == ("promotional", "promotional")
    assert subscription["expires_date"] == pro["expires_date"] == "2099-01-01T00:00:00Z"
    grant = client.call("ListGrants", customer_id="hal").grants[0].grant_id
    assert client.service.command("grants", "revoke", grant).returncode == 0
    pro, subscriptions = hal()
    assert subscriptions[grant]["expires_date"] == pro["expires_date"] < "2099" and subscriptions[grant]["refunded_at"] is None


def test_a_refunded_purchase_that_does_not_renew_is_no_purchase(client):
    service, account = client.service, str(uuid.uuid4())
    purchase = client.buy(account, "lifetime", account=account)
    subscriber = get(service, account)[1]["subscriber"]
    [sold] = subscriber["non_subscriptions"]["lifetime"]
    assert sold["store_transaction_id"] == purchase and sold["price"]["currency"] == "USD"
    assert subscriber["entitlements"]["pro"]["expires_date"] is None
    act = {"app": "ocean-journal", "url": f"http://{service.http}/notifications/ocean-journal"}
    assert post(f"http://{service.sandbox}/sandbox/v1/notification-url", act)[0] == 200
    assert post(f"http://{service.sandbox}/sandbox/v1/refund", {"transactionId": purchase})[0] == 200
    wait_for(lambda: not client.call("Check", customer_id=account, entitlement="pro").entitlement.entitled)
    subscriber = get(service, account)[1]["subscriber"]
    assert subscriber["non_subscriptions"] == subscriber["other_purchases"] == {}
    assert subscriber["entitlements"]["pro"]["expires_date"]


def test_a_product_of_two_stores_shows_the_purchase_that_ends_last(client):
    client.buy("gia")
    grant = ("grants", "create", "gia", "pro", "--source", "play", "--product-id", "pro.monthly")
    client.service.command(*grant, "--external-id", "GPA.7", "--revision", "1", "--since", "2025-01-01", "--until", "2025-02-01")
    subscriber = get(client.service, "gia")[1]["subscriber"]
    assert subscriber["subscriptions"]["pro.monthly"]["store"] == "app_store"
    client.service.command(*grant, "--external-id", "GPA.8", "--revision", "1", "--since", "2025-01-01", "--until", "2099-01-01")
    client.service.command(*grant, "--external-id", "GPA.9", "--revision", "1", "--since", "2025-01-01", "--until", "2025-03-01")
    subscription = get(client.service, "gia")[1]["subscriber"]["subscriptions"]["pro.monthly"]
    assert (subscription["store"], subscription["store_transaction_id"]) == ("play_store", "GPA.8")


def test_a_path_below_a_customer_is_not_the_id_of_another_one(client):
    url = f"http://{client.service.http}/v1/subscribers/ann/offerings"
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(url, timeout=CALL_LIMIT)
    assert error.value.status == 400 and json.loads(error.value.read())["code"] == 7226
    assert get(client.service, "team/ann")[1]["subscriber"]["original_app_user_id"] == "team/ann"


def test_an_ended_purchase_keeps_its_entitlement_with_the_end(client):
    client.service.command(
        "grants", "create", "eve", "pro", "--source", "stripe", "--external-id", "sub_1", "--revision", "1",
        "--since", "2026-01-01", "--until", "2026-02-01T00:00:00Z")
    subscriber = get(client.service, "eve")[1]["subscriber"]
    assert subscriber["entitlements"]["pro"]["expires_date"] == "2026-02-01T00:00:00Z"


@pytest.mark.parametrize("method, body, headers", [
    ("POST", b"{}", {"content-type": "application/json"}), ("POST", b"a=1", {}), ("POST", None, {}), ("DELETE", None, {}),
    ("OPTIONS", None, {})])
def test_a_method_other_than_get_is_refused_in_the_form_of_errors(client, method, body, headers):
    request = urllib.request.Request(f"http://{client.service.http}/v1/subscribers/a", body, headers, method=method)
    with response_to(request) as answer:
        assert answer.status == 405 and answer.headers["allow"] == "GET"
        assert json.loads(answer.read()) == {"code": 7226, "message": "method not allowed; use GET"}


def test_the_id_of_a_customer_has_limits(client):
    assert get(client.service, "")[0] == 400 and get(client.service, "x" * 257)[0] == 400


def test_an_id_that_is_not_utf_8_is_refused_as_in_a_post(client):
    for path in ("J%FCrgen", "J%C3"):
        with response_to(f"http://{client.service.http}/v1/subscribers/{path}") as answer:
            assert answer.status == 400
            assert json.loads(answer.read()) == {"code": 7226, "message": "the customer id in the path is not UTF-8"}
    assert get(client.service, "Jürgen")[1]["subscriber"]["original_app_user_id"] == "Jürgen"


def test_the_route_is_off_unless_configured(service):
    assert get(service, "ann")[0] == 404


def test_the_bearer_token_decides_as_for_check(tmp_path):
    callers = "callers:\n" + caller("reader", "read", apps=[APP]) + caller("both", "read") + caller("writer", "submit")
    callers += caller("reviewer", "audit")
    (tmp_path / "entitled.yaml").write_text(APPS + callers + ON)
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    try:
        assert get(service, "ann", token("reader"))[0] == 200
        status, error = get(service, "ann")
        assert status == 401 and error["code"] == 7225 and error["message"]
        assert get(service, "ann", "unknown")[1]["code"] == 7225
        status, error = get(service, "ann", token("writer"), f"?app={APP}")
        assert status == 403 and error["code"] == 7243
        status, error = get(service, "ann", token("both"))
        assert status == 400 and "?app=" in error["message"]
        assert get(service, "ann", token("both"), f"?app={OTHER}")[0] == 200
        assert get(service, "ann", token("reader"), f"?app={OTHER}")[0] == 403
        # Each request of a caller is an audit entry, as that of GetCustomer.
        route, headers = "GET /v1/subscribers/{customer}", {"authorization": f"Bearer {token('reviewer')}"}
        status, found = service.json("entitled.v1.AuditService/ListAuditEntries", {"method": route}, **headers)
        assert status == 200, found
        entries = [
            (entry["caller"], entry["app"], entry["customerIds"], entry["outcome"])
            for entry in reversed(found["entries"])]
        assert entries == [
            ("reader", APP, ["ann"], "OK"), ("writer", APP, ["ann"], "PERMISSION_DENIED"),
            ("both", "", ["ann"], "INVALID_ARGUMENT"), ("both", OTHER, ["ann"], "OK"),
            ("reader", OTHER, ["ann"], "PERMISSION_DENIED")]
        assert {(entry["method"], entry["address"]) for entry in found["entries"]} == {(route, "127.0.0.1")}
    finally:
        service.stop()
