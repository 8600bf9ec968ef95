"""Every call of Apple's client library has its call here: a row in docs/apple-api.md, an RPC, and evidence of what it
changed at Apple."""

import enum
import importlib
import inspect
import json
import pkgutil
import re
import types
import urllib.request
import uuid

import attr as attrs
import pytest
from appstoreserverlibrary import models
from appstoreserverlibrary.api_client import APIError, AppStoreServerAPIClient

import contract
from contract import StatusCode, app_store_service, audit_service, retention_messaging_service
from certificates import write_key
from harness import CALL_LIMIT, wait_for
from stub import StubServer
from test_app_store import APP, CONFIGURATION, World, commands
from test_sandbox_api import ITEM, PNG

PAGE = contract.ROOT / "docs" / "apple-api.md"


def rows():
    """The rows of the table of calls: Apple's name, the library's method, our RPC."""
    return re.findall(r"^\| ([A-Z][^|]+?) \| (`\w+`|-) \| ([^|]+) \|", PAGE.read_text(), re.M)


def test_the_document_has_every_method_of_apples_client():
    expected = {name for name, _ in inspect.getmembers(AppStoreServerAPIClient, inspect.isfunction) if name[0] != "_"}
    found = [method.strip("`") for _, method, _ in rows() if method != "-"]
    assert sorted(found) == sorted(expected), "a new method of Apple's needs a call of ours and a row"


def test_each_rpc_of_the_document_exists():
    known = {f"{service.name}/{method.name}" for service in contract.services.values() for method in service.methods}
    for call, _, cell in rows():
        named = re.findall(r"`(\w+Service/\w+)`", cell)
        assert named and set(named) <= known, f"{call}: {cell}"


def test_the_document_names_the_version_of_the_library():
    requirements = (contract.ROOT / "tools" / "requirements.txt").read_text()
    version = re.search(r"app-store-server-library==([\d.]+)", requirements)[1]
    assert f"app-store-server-library {version}" in PAGE.read_text()


def test_each_error_code_of_apples_library_is_known():
    source = (contract.ROOT / "Sources/Domain/AppStore/ServerAPI/APIErrorCode.swift").read_text()
    known = {int(number.replace("_", "")) for number in re.findall(r": (\d_\d{3}_\d{3})$", source, re.M)}
    assert {code.value for code in APIError} <= known


def test_each_member_of_apples_models_has_its_name_here():
    """The members of Apple's requests, responses and payloads, and the texts of its codes."""
    found = "".join(path.read_text() for path in (contract.ROOT / "Sources").rglob("*.swift"))
    names = set()
    for module in pkgutil.iter_modules(models.__path__):
        for _, model in inspect.getmembers(importlib.import_module(f"{models.__name__}.{module.name}"), inspect.isclass):
            if attrs.has(model) and model.__module__.startswith(models.__name__):
                names |= {field.name for field in attrs.fields(model) if not field.name.startswith("raw")}
            elif issubclass(model, enum.Enum) and not model.__name__.endswith("Period"):
                names |= {code.value for code in model if isinstance(code.value, str)}
    missing = {name for name in names if f'"{name}"' not in found}
    # Names of the library for repeated parameters: Apple's are in the singular. The others are passed through.
    singular = {"productIds", "productTypes", "subscriptionGroupIdentifiers"}
    assert len(names) > 300 and missing == singular | {"advancedCommerceData", "APPLY_OFFER"}, missing


@pytest.fixture
def world(start):
    world = World(start())
    world.retention = contract.retention_messaging_stub(world.channel)
    yield world
    world.channel.close()


def call(world, method, **members):
    request = getattr(app_store_service, f"{method}Request")(app=APP, **members)
    return getattr(world.apple, method)(request, timeout=CALL_LIMIT)


def retain(world, method, **members):
    request = getattr(retention_messaging_service, f"{method}Request")(app=APP, **members)
    return getattr(world.retention, method)(request, timeout=CALL_LIMIT)


def audited(world):
    """The methods in the audit log."""
    stub = contract.audit_stub(world.channel)
    request = audit_service.ListAuditEntriesRequest(app=APP, page_size=1000)
    return {entry.method.rsplit("/", 1)[-1] for entry in stub.ListAuditEntries(request, timeout=CALL_LIMIT).entries}


def test_single_documents_are_fetched_and_stored(world):
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    found = call(world, "GetTransactionInfo", transaction_id=bought)
    assert (found.transaction.transaction_id, found.customer_id) == (bought, ana)
    # A purchase of which nothing is stored yet.
    world.act("notification-url", app=APP)
    other = world.act("purchases", app=APP, productId="lifetime", account="unheard")["transactionId"]
    assert call(world, "GetTransactionInfo", transaction_id=other).changed
    install = call(world, "GetAppTransactionInfo", transaction_id=bought, customer_id=ana)
    assert install.app_transaction_id and install.original_application_version and install.customer_id == ana
    again = call(world, "GetAppTransactionInfo", transaction_id=bought)
    assert again.app_transaction_id == install.app_transaction_id
    with pytest.raises(contract.RpcError) as error:
        call(world, "GetTransactionInfo", transaction_id="1")
    assert (error.value.code(), contract.reason(error.value)) == (StatusCode.NOT_FOUND, "APP_STORE_4040010")


def test_a_finished_transaction_is_recorded_once(world):
    coins = world.act("purchases", app=APP, productId="shells.100", account="ana")["transactionId"]
    first = call(world, "FinishTransaction", transaction_id=coins, actor="delivery", idempotency_key="one")
    second = call(world, "FinishTransaction", transaction_id=coins, actor="delivery", idempotency_key="one")
    assert not first.repeated and second.repeated and second.finished_at == first.finished_at
    [command] = commands(world)
    assert command["actor"] == "delivery" and command["call"]["method"] == "FinishTransaction"
    assert command["call"]["target"] == f"POST /inApps/v1/transactions/{coins}/finish"
    wait_for(lambda: "FinishTransaction" in audited(world))


def test_a_page_that_hides_the_next_one_is_an_error(apple):
    apple.answer = lambda request: (200, {"hasMore": True, "signedTransactions": [], "members": []})
    for method, members in [("GetRefundHistory", {"transaction_id": "1"}), ("ListGroupMembers", {"group_id": "1"})]:
        with pytest.raises(contract.RpcError) as error:
            call(apple, method, **members)
        assert (error.value.code(), contract.reason(error.value)) == (StatusCode.UNAVAILABLE, "APP_STORE_RESPONSE_MALFORMED")


@pytest.fixture
def apple(start, tmp_path):
    """A service that calls a stub instead of the sandbox; `answer` makes the responses."""
    world = types.SimpleNamespace()
    server = StubServer(lambda request: world.answer(request))
    write_key(tmp_path / "key.p8")
    members = f"""    status_polling: false
    gap_repair: false
    app_store_servers: {{Sandbox: "{server.url}"}}
    in_app_purchase_key: {{file: key.p8, key_id: KEY0000001, issuer_id: 57246542-96fe-1a63-e053-0824d011072a}}
"""
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION.replace("    shared_secret: {file: secret}\n", members))
    world.service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    with world.service.channel() as channel:
        world.apple = contract.app_store_stub(channel)
        yield world
    server.close()


def test_an_extension_that_apple_did_not_make_is_an_error(apple):
    effective, calls = 1_900_000_000_000, []

    def answer(request):
        calls.append(json.loads(request.body)["requestIdentifier"])
        return 200, {"originalTransactionId": "1", "success": len(calls) > 1, "effectiveDate": effective}

    apple.answer = answer
    members = {"original_transaction_id": "1", "extend_by_days": 7, "idempotency_key": "one"}
    with pytest.raises(contract.RpcError) as error:
        call(apple, "ExtendRenewalDate", **members)
    assert (error.value.code(), contract.reason(error.value)) == (
        StatusCode.FAILED_PRECONDITION, "APP_STORE_EXTENSION_FAILED")
    assert not commands(apple)
    extended = call(apple, "ExtendRenewalDate", **members)
    assert not extended.repeated and extended.effective_date.ToMilliseconds() == effective
    assert call(apple, "ExtendRenewalDate", **members).repeated and len(calls) == 2 and len(set(calls)) == 1


def test_consumption_information_of_version_1_answers_the_request(world):
    ana = str(uuid.uuid4())
    coins = world.buy(ana, "shells.100")
    world.act("request-consumption", transactionId=coins, reason="OTHER")
    world.deliver()
    codes = {"transaction_id": coins, "customer_consented": True, "consumption_status": 1, "platform": 1}
    dry = call(world, "SendConsumptionInformationV1", **codes, dry_run=True)
    assert json.loads(dry.payload_json)["consumptionStatus"] == 1 and not dry.HasField("sent_at")
    for changed, reason in [({"platform": 3}, "INVALID_FIELD"), ({"customer_consented": False}, "NO_CONSENT")]:
        with pytest.raises(contract.RpcError) as error:
            call(world, "SendConsumptionInformationV1", **{**codes, **changed})
        assert contract.reason(error.value) == reason
    assert call(world, "SendConsumptionInformationV1", **codes).HasField("sent_at")
    [request] = world.apple.ListConsumptionRequests(
        app_store_service.ListConsumptionRequestsRequest(app=APP), timeout=CALL_LIMIT).requests
    assert app_store_service.ConsumptionRequestState.Name(request.state) == "CONSUMPTION_REQUEST_STATE_ANSWERED"


def test_groups_and_seats_are_read_from_apple(world):
    team, member = str(uuid.uuid4()), str(uuid.uuid4())
    world.act("invitations", app=APP, productId="pro.monthly", management="DEVELOPER")
    bought = world.act(
        "purchases", app=APP, productId="pro.monthly", account=f"account-{team}", appAccountToken=team, seats=3)
    contract.receipt_stub(world.channel).SubmitTransaction(
        contract.receipt_service.SubmitTransactionRequest(
            app=APP, customer_id=team, signed_transaction=bought["signedTransactionInfo"]), timeout=CALL_LIMIT)
    number = bought["originalTransactionId"]
    world.apple.ClaimSeat(
        app_store_service.ClaimSeatRequest(
            app=APP, original_transaction_id=number, customer_id=member, request_identifier=str(uuid.uuid4())),
        timeout=CALL_LIMIT)
    seats = call(world, "GetSeatInfo", original_transaction_id=number)
    assert (seats.total_seat_count, len(seats.assigned_seat_claim_ids)) == (3, 1)
    assert seats.available_seat_count == 2
    [group] = call(world, "GetCustomerGroups", transaction_id=number).groups
    assert group.group_type == "CONSUMER" and not group.roles
    [owner] = call(world, "ListGroupMembers", group_id=group.group_id, page_size=1).members
    assert owner.app_transaction_id and list(owner.customer_ids) == [team]
    with pytest.raises(contract.RpcError) as error:
        call(world, "ListGroupMembers", group_id="7")
    assert contract.reason(error.value) == "APP_STORE_4000225"


def test_an_advanced_commerce_request_changes_the_subscription(world):
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.deliver()
    world.act("faults", kind="drop", count=100)  # only the response shows it
    price = json.dumps({"items": [{"SKU": "a", "price": 3500}], "currency": "USD"})
    changed = call(
        world, "SendAdvancedCommerceRequest", transaction_id=bought, request_json=price,
        action="ADVANCED_COMMERCE_ACTION_CHANGE_PRICE", idempotency_key="price", actor="support/eve")
    assert changed.transaction.transaction_id == bought
    [command] = commands(world)
    reference = command["call"]["request"]["requestInfo"]["requestReferenceId"]
    assert command["call"]["request"]["items"] and command["call"]["purchase"] == bought
    assert uuid.UUID(reference) and command["call"]["answer"]["signedRenewalInfo"]
    again = call(
        world, "SendAdvancedCommerceRequest", transaction_id=bought, request_json=price,
        action="ADVANCED_COMMERCE_ACTION_CHANGE_PRICE", idempotency_key="price", actor="support/eve")
    assert again.repeated and len(commands(world)) == 1
    call(
        world, "SendAdvancedCommerceRequest", transaction_id=bought, action="ADVANCED_COMMERCE_ACTION_CANCEL",
        request_reference_id=str(uuid.uuid4()))
    assert world.check(ana).state == contract.entitlement.ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_OFF
    for members, reason in [
        ({"action": "ADVANCED_COMMERCE_ACTION_REVOKE", "request_json": "{}"}, "APP_STORE_4000000"),
        ({"action": "ADVANCED_COMMERCE_ACTION_REVOKE", "request_json": "?"}, "INVALID_FIELD"),
        ({"request_json": "{}"}, "MISSING_FIELD"),
    ]:
        with pytest.raises(contract.RpcError) as error:
            call(
                world, "SendAdvancedCommerceRequest", transaction_id=bought, request_reference_id=str(uuid.uuid4()),
                **members)
        assert contract.reason(error.value) == reason


def test_an_advanced_commerce_request_revokes_some_seats(world):
    team = str(uuid.uuid4())
    world.act("invitations", app=APP, productId="pro.monthly", management="DEVELOPER")
    bought = world.act(
        "purchases", app=APP, productId="pro.monthly", account=f"account-{team}", appAccountToken=team, seats=5)
    contract.receipt_stub(world.channel).SubmitTransaction(
        contract.receipt_service.SubmitTransactionRequest(
            app=APP, customer_id=team, signed_transaction=bought["signedTransactionInfo"]), timeout=CALL_LIMIT)
    number = bought["originalTransactionId"]
    refund = {"refundReason": "OTHER", "refundType": "FULL", "refundRiskingPreference": False, "revokeSeatQuantity": 2}
    call(
        world, "SendAdvancedCommerceRequest", transaction_id=number, action="ADVANCED_COMMERCE_ACTION_REVOKE",
        request_json=json.dumps(refund), request_reference_id=str(uuid.uuid4()))
    wait_for(lambda: call(world, "ListSeats", original_transaction_id=number).purchased == 3)
    assert world.check(team).entitled


def test_a_report_of_external_purchases_is_sent_whole_or_not_at_all(world):
    token = world.act("external-purchase-token", app=APP, tokenType="ACQUISITION")["externalPurchaseId"]
    identifier = str(uuid.uuid4())
    report = {"externalPurchaseId": token, "status": "LINE_ITEM", "lineItems": [ITEM, ITEM]}
    with pytest.raises(contract.RpcError) as error:
        call(world, "SendExternalPurchaseReport", report_json=json.dumps(report), request_identifier=identifier)
    assert "DuplicateValueError" in error.value.details()
    report["lineItems"] = [ITEM]
    sent = call(world, "SendExternalPurchaseReport", report_json=json.dumps(report), request_identifier=identifier)
    assert sent.request_identifier == identifier
    found = call(world, "GetExternalPurchaseReport", request_identifier=identifier)
    assert json.loads(found.report_json) == {**report, "requestIdentifier": identifier}
    refused, accepted = commands(world)
    assert refused["call"]["answer"]["errorCode"] == 4000000 and "errorCode" not in accepted["call"]["answer"]


def test_retention_messages_live_from_upload_to_removal(world):
    image, icon, message = (str(uuid.uuid4()) for _ in range(3))
    retain(world, "UploadRetentionImage", image_identifier=image, png=PNG, actor="growth/kim")
    retain(
        world, "UploadRetentionImage", image_identifier=icon, png=PNG, image_size="RETENTION_IMAGE_SIZE_BULLET_POINT")
    with pytest.raises(contract.RpcError) as error:
        retain(world, "UploadRetentionImage", image_identifier=str(uuid.uuid4()), png=PNG, image_size=9)
    assert (error.value.code(), contract.reason(error.value)) == (StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    images = retain(world, "GetRetentionImages").images
    assert {(one.image_identifier, one.state, one.image_size) for one in images} == {
        (image, "APPROVED", "FULL_SIZE"), (icon, "APPROVED", "BULLET_POINT")}
    retain(
        world, "UploadRetentionMessage", message_identifier=message, header="Stay", body="There is more to come",
        image_identifier=image, image_alt_text="the sea", header_above_image=True,
        bullet_points=[{"text": "More maps", "image_identifier": icon, "alt_text": "a map"}])
    assert [one.message_identifier for one in retain(world, "GetRetentionMessages").messages] == [message]
    place = {"product_id": "pro.monthly", "locale": "en-US"}
    retain(world, "SetDefaultRetentionMessage", **place, message_identifier=message)
    assert retain(world, "GetDefaultRetentionMessage", **place).message_identifier == message
    with pytest.raises(contract.RpcError) as error:
        retain(world, "DeleteRetentionImage", image_identifier=image)
    assert (error.value.code(), contract.reason(error.value)) == (StatusCode.FAILED_PRECONDITION, "APP_STORE_4030019")
    retain(world, "SetRetentionUrl", url="https://127.0.0.1:1/retention")
    assert retain(world, "GetRetentionUrl").url == "https://127.0.0.1:1/retention"
    test = retain(
        world, "StartRetentionPerformanceTest", original_transaction_id=world.buy(str(uuid.uuid4())))
    result = retain(world, "GetRetentionPerformanceTest", request_id=test.request_id)
    assert (result.result, result.success_rate) == ("FAIL", 0) and result.config.total_requests == test.config.total_requests
    assert sum(failure.count for failure in result.failures) == test.config.total_requests
    retain(world, "DeleteRetentionUrl")
    retain(world, "DeleteDefaultRetentionMessage", **place)
    retain(world, "DeleteRetentionMessage", message_identifier=message)
    retain(world, "DeleteRetentionImage", image_identifier=image)
    assert [one.image_identifier for one in retain(world, "GetRetentionImages").images] == [icon]
    calls = [command["call"] for command in commands(world)]
    assert calls[0]["method"] == "UploadRetentionImage" and calls[0]["request"]["bytes"] == len(PNG)
    assert calls[0]["target"] == f"PUT /inApps/v1/messaging/image/{image}"
    assert calls[-1]["target"] == f"DELETE /inApps/v1/messaging/image/{image}" and len(calls) == 11
    wait_for(lambda: {"UploadRetentionImage", "SetDefaultRetentionMessage", "DeleteRetentionUrl"} <= audited(world))


def test_a_repeated_upload_with_a_key_calls_apple_once(world):
    members = {"image_identifier": str(uuid.uuid4()), "png": PNG}
    assert not retain(world, "UploadRetentionImage", **members, idempotency_key="k").repeated
    assert retain(world, "UploadRetentionImage", **members, idempotency_key="k").repeated
    with pytest.raises(contract.RpcError) as error:
        retain(world, "UploadRetentionImage", **members)
    assert (error.value.code(), contract.reason(error.value)) == (StatusCode.ALREADY_EXISTS, "APP_STORE_4090000")


STATE = app_store_service.ExternalTokenState


def tokens(world, **filters):
    """The listed external purchase tokens: id, state, type."""
    found = call(world, "ListExternalPurchaseTokens", **filters).tokens
    return [(one.external_purchase_id, STATE.Name(one.state).rsplit("_", 1)[-1], one.token_type) for one in found]


def test_external_purchase_tokens_are_stored_with_their_deadlines(world):
    plain = world.act("external-purchase-token", app=APP)["externalPurchaseId"]
    long = world.act("external-purchase-token", app=APP, tokenType="ACQUISITION", expires="90d")["externalPurchaseId"]
    short = world.act("external-purchase-token", app=APP, tokenType="SERVICES", expires="2d")["externalPurchaseId"]
    world.deliver()
    assert tokens(world) == [(short, "UNREPORTED", "SERVICES"), (long, "UNREPORTED", "ACQUISITION")], (
        "Apple announces no token without a type")
    found = {one.external_purchase_id: one for one in call(world, "ListExternalPurchaseTokens").tokens}
    day = 86_400
    assert found[long].report_by.seconds - found[long].created_at.seconds == 10 * day
    assert found[short].report_by == found[short].expires_at
    first = call(world, "ListExternalPurchaseTokens", page_size=1)
    rest = call(world, "ListExternalPurchaseTokens", page_size=1, page_token=first.next_page_token)
    assert [one.external_purchase_id for page in (first, rest) for one in page.tokens] == [short, long]
    world.advance("3d")
    assert tokens(world)[0] == (short, "OVERDUE", "SERVICES")
    call(
        world, "SendExternalPurchaseReport", request_identifier=str(uuid.uuid4()),
        report_json=json.dumps({"externalPurchaseId": short, "status": "NO_LINE_ITEM"}))
    assert [token for token, _, _ in tokens(world)] == [long]
    assert (short, "REPORTED", "SERVICES") in tokens(world, include_reported=True)
    # Apple complains about tokens that nothing was known of.
    world.advance("8d")
    assert set(tokens(world)) == {(plain, "OVERDUE", ""), (long, "OVERDUE", "ACQUISITION")}
    complained = [one for one in call(world, "ListExternalPurchaseTokens").tokens if one.external_purchase_id == plain][0]
    assert complained.HasField("complained_at") and complained.evidence_id
    due = min(one.report_by.seconds for one in call(world, "ListExternalPurchaseTokens").tokens)
    wait_for(lambda: scraped(world, "entitled_external_tokens_unreported") == 2)
    wait_for(lambda: scraped(world, "entitled_external_token_deadline_seconds") == due)


def scraped(world, name):
    """The value of a metric of the app."""
    with urllib.request.urlopen(f"http://{world.service.http}/metrics") as answer:
        text = answer.read().decode()
    found = re.search(rf'^{name}{{app="{APP}",environment="Sandbox"}} (\S+)$', text, re.M)
    return found and float(found[1])


def test_a_report_counts_before_the_notification_about_its_token_arrives(world):
    world.act("faults", kind="drop", count=100)
    token = world.act("external-purchase-token", app=APP, tokenType="ACQUISITION", expires="90d")["externalPurchaseId"]
    call(
        world, "SendExternalPurchaseReport", request_identifier=str(uuid.uuid4()),
        report_json=json.dumps({"externalPurchaseId": token, "status": "UNRECOGNIZED_TOKEN"}))
    assert tokens(world) == [] and tokens(world, include_reported=True) == [(token, "REPORTED", "")]
    world.act("faults", kind="drop", count=0)
    world.notifications.BackfillNotifications(
        contract.notification_service.BackfillNotificationsRequest(app=APP), timeout=CALL_LIMIT)
    assert tokens(world) == [] and tokens(world, include_reported=True) == [(token, "REPORTED", "ACQUISITION")]
