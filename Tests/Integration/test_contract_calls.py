"""Habits that all methods of the contract share: positions, pages, idempotency keys, notes and dry runs."""

import json
import uuid

import grpc
import pytest

import contract
import forge
import stores
from contract import (
    app_store_service, audit_service, customer_service, environment, notification_service, receipt_service,
    report_service, segment_service, webhook_service,
)  # fmt: skip
from contract import entitlement_service as wire
from harness import CALL_LIMIT, post, wait_for
from test_app_store import World
from test_identity import APP, Client, rejection

# Methods that write, whose effect is no part of the store.
OUTSIDE = {"UploadMigrationInput", "SignOffer"}
# Methods whose repetition has no further effect, because they are recognized by content or by an id, or because the effect is final.
IDEMPOTENT = {
    "AcknowledgeFulfillment", "EraseCustomer", "SubmitTransaction", "SubmitTransactions", "SubmitReceipt",
    "MigrateReceipts", "UploadMigrationInput", "CancelMigration", "PurgeMigration", "SignOffer",
    "IngestNotification", "ReprocessNotifications", "BackfillNotifications", "GetRefundHistory", "LookUpOrder",
    "RefreshPurchase", "GetTransactionInfo", "GetAppTransactionInfo", "DiscardDeliveries", "ResumeWebhook",
    "RecordReconciliation",
}  # fmt: skip


def methods():
    access = contract.access.DESCRIPTOR.extensions_by_name["access"]
    for service in contract.services.values():
        for method in service.methods:
            yield method, method.GetOptions().Extensions[access].mutates


def fields(message):
    return {field.name for field in message.fields}


def test_each_response_that_writes_has_a_position():
    for method, mutates in methods():
        writes = mutates and method.name not in OUTSIDE
        assert ("position" in fields(method.output_type)) == (writes or method.name in {"Watch", "WatchSegment"}), method.name


def test_each_method_that_writes_has_an_idempotency_key_or_is_idempotent():
    found = set()
    for method, mutates in methods():
        has_key = "idempotency_key" in fields(method.input_type)
        assert has_key == ("repeated" in fields(method.output_type)), method.name
        assert not has_key or mutates, method.name
        if mutates and not has_key:
            found.add(method.name)
    assert found == IDEMPOTENT


# Methods without an actor or a reason: programs call them, or what they store says it all.
WITHOUT_REASON = {
    "AddNote", "AcknowledgeFulfillment", "MigrateReceipts", "UploadMigrationInput", "GetRefundHistory", "RecordReconciliation",
}  # fmt: skip


def test_each_command_of_an_operator_says_who_made_it_and_why():
    access = contract.access.DESCRIPTOR.extensions_by_name["access"]
    roles = {contract.access.Access.ROLE_OPERATE, contract.access.Access.ROLE_ADMIN}
    found = {
        method.name for method, mutates in methods()
        if mutates and method.GetOptions().Extensions[access].role in roles
        and not {"actor", "note"} <= fields(method.input_type)}
    assert found == WITHOUT_REASON


def test_each_list_is_paged():
    for method, _ in methods():
        paged = "next_page_token" in fields(method.output_type)
        assert paged == ("page_token" in fields(method.input_type)), method.name
        # The definitions of the reports are part of the program, and few; postings are a stream.
        is_list = method.name.startswith("List") and method.name not in ("ListReports", "ListPostings")
        assert paged or not is_list, method.name
        # Apple decides the size of the pages of its refund history.
        if paged and method.name != "GetRefundHistory":
            assert "page_size" in fields(method.input_type), method.name


# Methods about the customer of the request, and the audit log itself.
SHOW_ONE_CUSTOMER = {
    "GetCustomer", "DescribeCustomer", "GetCustomerHistory", "ListTimeline", "ListNotes", "ListAuditEntries"}


def names_customers(message, seen=frozenset()):
    """Whether a message has the id of a customer at any depth."""
    seen = seen | {message.full_name}
    return any(
        field.name.endswith(("customer_id", "customer_ids"))
        or (field.message_type and field.message_type.full_name not in seen and names_customers(field.message_type, seen))
        for field in message.fields)


def test_each_call_that_shows_customers_is_in_the_audit_log():
    access = contract.access.DESCRIPTOR.extensions_by_name["access"]
    found = {
        method.name for method, mutates in methods()
        if not mutates and not method.server_streaming and names_customers(method.output_type)
        and not method.GetOptions().Extensions[access].shows_customers}
    assert found == SHOW_ONE_CUSTOMER


def test_each_request_names_its_app():
    without = {"WhoAmI", "GetStatus", "GetConfiguration", "BatchCheck"}
    assert {m.name for m, _ in methods() if "app" not in fields(m.input_type)} == without


@pytest.fixture
def client(start):
    client = Client(start())
    yield client
    client.channel.close()


@pytest.fixture
def world(start):
    world = World(start())
    yield world
    world.channel.close()


def positions_after(client, position):
    """The number of events after a position."""
    stream = client.entitlements.Watch(
        wire.WatchRequest(app=APP, after_position=position, heartbeat_interval={"seconds": 1}), timeout=CALL_LIMIT)
    found = next(stream)
    stream.cancel()
    return found


def test_a_dry_run_of_a_revocation_and_a_consent_changes_nothing(client):
    granted = client.call("Grant", customer_id="ana", entitlement="pro", access_level=3)
    before = client.call("ListTimeline", customer_id="ana")
    dry = client.call("RevokeGrant", grant_id=granted.grant.grant_id, dry_run=True)
    assert [event.type for event in dry.events] == ["GRANT_REVOKED"] and not dry.entitlement.entitled
    assert [event.sequence for event in dry.events] == [0]
    assert client.is_entitled("ana")
    apple = contract.app_store_stub(client.channel)
    consent = apple.SetConsumptionConsent(
        app_store_service.SetConsumptionConsentRequest(app=APP, customer_id="ana", consented=True, dry_run=True),
        timeout=CALL_LIMIT).consent
    assert consent.consented and consent.evidence_id == 0
    assert not client.call("GetCustomer", customer_id="ana").HasField("consumption_consent")
    assert client.call("ListTimeline", customer_id="ana") == before
    real = client.call("RevokeGrant", grant_id=granted.grant.grant_id)
    assert [event.type for event in real.events] == [event.type for event in dry.events]
    assert not client.is_entitled("ana")


def test_a_dry_run_of_consumption_information_sends_nothing(world):
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.act("request-consumption", transactionId=bought, reason="OTHER")
    world.deliver()
    request = app_store_service.SendConsumptionInformationRequest(
        app=APP, transaction_id=bought, customer_consented=True, delivery_status="DELIVERY_STATUS_DELIVERED",
        dry_run=True)
    dry = world.apple.SendConsumptionInformation(request, timeout=CALL_LIMIT)
    assert json.loads(dry.payload_json)["deliveryStatus"] == "DELIVERED" and not dry.HasField("sent_at")

    def open_requests():
        request = app_store_service.ListConsumptionRequestsRequest(app=APP, state="CONSUMPTION_REQUEST_STATE_OPEN")
        return world.apple.ListConsumptionRequests(request, timeout=CALL_LIMIT).requests

    assert [one.transaction_id for one in open_requests()] == [bought]
    request.dry_run = False
    sent = world.apple.SendConsumptionInformation(request, timeout=CALL_LIMIT)
    assert sent.payload_json == dry.payload_json and sent.HasField("sent_at")
    assert not open_requests()


def evidence_of(client, id):
    return contract.customer_stub(client.channel).GetEvidence(
        customer_service.GetEvidenceRequest(app=APP, evidence_id=id), timeout=CALL_LIMIT)


def test_each_command_stores_its_note_in_evidence_and_in_the_audit_log(client):
    line, noted = client.buy("ana"), []

    def command(method, **members):
        note = f"because of {method}"
        noted.append((method, note))
        return client.call(method, note=note, actor="support/kim", **members)

    command("LinkPurchase", customer_id="ben", original_transaction_id=line, policy=2)
    moved = command("TransferPurchase", original_transaction_id=line, from_customer_id="ben", to_customer_id="cleo")
    command("UndoTransfer", transfer_id=moved.transfer_id)
    command("MergeCustomers", from_customer_id="ben", into_customer_id="dan")
    granted = command("Grant", customer_id="eve", entitlement="pro", access_level=3)
    command("RevokeGrant", grant_id=granted.grant.grant_id)
    command("EraseCustomer", customer_id="eve")
    apple = contract.app_store_stub(client.channel)
    apple.SetConsumptionConsent(
        app_store_service.SetConsumptionConsentRequest(
            app=APP, customer_id="dan", consented=True, note="because of SetConsumptionConsent"), timeout=CALL_LIMIT)
    noted.append(("SetConsumptionConsent", "because of SetConsumptionConsent"))
    segments = contract.segment_stub(client.channel)
    segment = {"app": APP, "name": "free", "actor": "support/kim"}
    segments.CreateSegment(
        segment_service.CreateSegmentRequest(filter={"unclaimed": True}, note="because of CreateSegment", **segment),
        timeout=CALL_LIMIT)
    segments.DeleteSegment(
        segment_service.DeleteSegmentRequest(note="because of DeleteSegment", **segment), timeout=CALL_LIMIT)
    last = client.call("ListTimeline", customer_id="dan", newest_first=True).events[0].evidence_id
    commands = [evidence_of(client, id) for id in range(1, last + 1)]
    stored = {evidence.note for evidence in commands if evidence.command_json}
    # The erasure removes the notes about the erased customer, its own excepted.
    gone = {"because of Grant", "because of RevokeGrant"}
    assert {note for _, note in noted} - gone <= stored
    entries = contract.audit_stub(client.channel).ListAuditEntries(
        audit_service.ListAuditEntriesRequest(app=APP), timeout=CALL_LIMIT).entries
    for method, note in noted:
        if note not in gone | {"because of EraseCustomer"}:
            assert any(e.method.endswith(f"/{method}") and e.note == note for e in entries), method
    # Segments are no evidence.
    for method in ("CreateSegment", "DeleteSegment"):
        entry = next(e for e in entries if e.method.endswith(f"/{method}"))
        assert (entry.actor, entry.note) == ("support/kim", f"because of {method}")


def test_commands_at_apple_store_their_notes(world):
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.apple.ExtendRenewalDate(
        app_store_service.ExtendRenewalDateRequest(
            app=APP, original_transaction_id=bought, extend_by_days=7, request_identifier="r1", note="outage"),
        timeout=CALL_LIMIT)
    world.apple.MassExtendRenewalDate(
        app_store_service.MassExtendRenewalDateRequest(
            app=APP, product_id="pro.monthly", extend_by_days=3, request_identifier="r2", note="outage of all"),
        timeout=CALL_LIMIT)
    world.apple.SetAppAccountToken(
        app_store_service.SetAppAccountTokenRequest(
            app=APP, original_transaction_id=bought, app_account_token=str(uuid.uuid4()), note="forgotten"),
        timeout=CALL_LIMIT)
    world.act("request-consumption", transactionId=bought, reason="OTHER")
    world.deliver()
    world.apple.SendConsumptionInformation(
        app_store_service.SendConsumptionInformationRequest(
            app=APP, transaction_id=bought, customer_consented=True, delivery_status="DELIVERY_STATUS_DELIVERED",
            note="asked by mail"), timeout=CALL_LIMIT)
    events = world.entitlements.ListTimeline(
        wire.ListTimelineRequest(app=APP, customer_id=ana, types=["APP_STORE_CALLED"]), timeout=CALL_LIMIT).events
    notes = [evidence_of(world, event.evidence_id).note for event in events]
    assert notes[0] == "outage" and notes[-2:] == ["forgotten", "asked by mail"]


def test_the_installs_of_a_customer_have_their_preorder_date(client):
    forger = forge.Forger(client.service)
    day = 86_400_000
    date = forger.payload["signedDate"] // day * day - 100 * day
    signed = forge.sign(
        {"receiptType": "Sandbox", "bundleId": "com.example.oceanjournal", "appTransactionId": "704000000000001",
         "applicationVersion": "2.0", "originalApplicationVersion": "1.0", "originalPurchaseDate": date + 10 * day,
         "preorderDate": date, "receiptCreationDate": forger.payload["signedDate"], "originalPlatform": "iOS"},
        forger.chain, forger.leaf_key, "ES256")
    client.receipts.SubmitTransaction(
        receipt_service.SubmitTransactionRequest(app=APP, customer_id="ana", signed_app_transaction=signed),
        timeout=CALL_LIMIT)
    (install,) = client.call("GetCustomer", customer_id="ana").app_installs
    assert install.preorder_date.ToMilliseconds() == date
    assert install.original_purchase_date.ToMilliseconds() == date + 10 * day
    assert install.original_application_version == "1.0"


TWO_ENVIRONMENTS = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Production, Sandbox]
    products:
      lifetime: {type: Non-Consumable, entitlements: [pro], price: 4.99, currency: USD}
"""


def test_a_customer_of_another_environment_is_hinted_at(start, tmp_path):
    (tmp_path / "entitled.yaml").write_text(TWO_ENVIRONMENTS)
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    client = Client(service)
    client.call("Grant", customer_id="ana", entitlement="pro", access_level=3, environment=environment.ENVIRONMENT_SANDBOX)
    checked = service.command("check", "ana", "pro")
    assert checked.returncode == 3 and "the customer has access in sandbox" in checked.stdout, checked.stdout
    view = client.call("GetCustomer", customer_id="ana")
    assert not view.known and list(view.active_in_environments) == [environment.ENVIRONMENT_SANDBOX]
    assert view.environment == environment.ENVIRONMENT_PRODUCTION
    described = contract.customer_stub(client.channel)
    there = client.call("GetCustomer", customer_id="ana", environment=environment.ENVIRONMENT_SANDBOX)
    assert there.known and not there.active_in_environments
    client.call("Grant", customer_id="ana", entitlement="pro", access_level=3, until={"seconds": 9_000_000_000})
    hints = described.DescribeCustomer(
        customer_service.DescribeCustomerRequest(app=APP, customer_id="ana"), timeout=CALL_LIMIT)
    assert list(hints.active_in_environments) == [environment.ENVIRONMENT_SANDBOX]
    assert "hint" not in service.command("check", "ana", "pro").stdout
    client.channel.close()


def test_a_hint_at_another_environment_follows_the_clock_of_that_environment(start, tmp_path):
    (tmp_path / "entitled.yaml").write_text(TWO_ENVIRONMENTS)
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    client = Client(service)
    sandbox = {"customer_id": "ana", "environment": environment.ENVIRONMENT_SANDBOX}
    now = client.call("GetCustomer", **sandbox).evaluated_at.seconds
    client.call("Grant", **sandbox, entitlement="pro", access_level=3, until={"seconds": now + 86_400})
    assert client.call("GetCustomer", customer_id="ana").active_in_environments == [environment.ENVIRONMENT_SANDBOX]
    assert post(f"http://{service.sandbox}/sandbox/v1/clock/advance", {"by": "2d"})[0] == 200
    assert not client.call("GetCustomer", customer_id="ana").active_in_environments, "the grant ended there"
    client.channel.close()


def test_members_of_a_probable_family_and_transactions_of_an_order_are_paged(world):
    world.act("shareable", app=APP, productId="pro.monthly", enabled=True)
    receipts = contract.receipt_stub(world.channel)
    names = ["anna", "ben", "cem", "dan"]

    def submit(account, signed):
        receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(app=APP, customer_id=account, signed_transaction=signed),
            timeout=CALL_LIMIT)

    bought = world.act("purchases", app=APP, productId="pro.monthly", account="anna")
    submit("anna", bought["signedTransactionInfo"])
    for account in names:
        world.act("join-family", account=account, family="f")
    world.deliver()
    for account in names[1:]:
        for signed in world.act("restore", app=APP, account=account)["signedTransactions"]:
            submit(account, signed)

    def family(**more):
        request = wire.GetProbableFamilyRequest(app=APP, customer_id="anna", **more)
        return world.entitlements.GetProbableFamily(request, timeout=CALL_LIMIT)

    whole = family()
    assert {member.customer_id for member in whole.members} == set(names[1:]) and not whole.next_page_token
    first = family(page_size=2)
    rest = family(page_size=2, page_token=first.next_page_token)
    assert [*first.members, *rest.members] == list(whole.members) and not rest.next_page_token
    assert len(family(page_size=100_000).members) == 3, "a size above the limit is capped"
    assert rejection(lambda: world.entitlements.GetProbableFamily(
        wire.GetProbableFamilyRequest(app=APP, customer_id="ben", page_token=first.next_page_token),
        timeout=CALL_LIMIT))[1] == "INVALID_PAGE_TOKEN"


def test_searches_by_attribute_are_paged_and_end(client):
    customers = contract.customer_stub(client.channel)
    for number in range(5):
        customers.SetCustomerAttributes(
            customer_service.SetCustomerAttributesRequest(
                app=APP, customer_id=f"gold-{number}", attributes=[{"name": "plan", "value": "gold-"}]),
            timeout=CALL_LIMIT)
    found, token, pages = [], "", 0
    while pages == 0 or token:
        page = customers.FindCustomers(
            customer_service.FindCustomersRequest(query="gold-", page_size=2, page_token=token), timeout=CALL_LIMIT)
        assert 0 < len(page.hits) <= 2
        found += [(hit.kind, hit.customer_ids[0]) for hit in page.hits]
        token, pages = page.next_page_token, pages + 1
    kind = customer_service.CustomerHitKind
    ids = [f"gold-{number}" for number in range(5)]
    assert found == [(kind.CUSTOMER_HIT_KIND_ATTRIBUTE, id) for id in ids] + [
        (kind.CUSTOMER_HIT_KIND_CUSTOMER_PREFIX, id) for id in ids]


def test_a_migration_of_another_app_is_unknown(start, tmp_path):
    from test_callers import APPS, OTHER  # two apps
    (tmp_path / "entitled.yaml").write_text(APPS)
    client = Client(start(arguments=["--config", tmp_path / "entitled.yaml"]))
    for app in (APP, OTHER):
        uploaded = client.receipts.UploadMigrationInput(
            receipt_service.UploadMigrationInputRequest(
                app=app, upload_id="u", data=b'{"customer_id":"a"}\n' * (1 if app == APP else 2)), timeout=CALL_LIMIT)
        assert uploaded.size == 20 * (1 if app == APP else 2), "the same id in another app is another upload"
    job = client.receipts.StartMigration(
        receipt_service.StartMigrationRequest(app=APP, upload_id="u"), timeout=CALL_LIMIT).migration
    for method in ("GetMigration", "CancelMigration", "PurgeMigration", "ListMigrationFailures"):
        request = getattr(receipt_service, f"{method}Request")
        call = getattr(client.receipts, method)
        if method != "PurgeMigration":
            call(request(app=APP, migration_id=job.migration_id), timeout=CALL_LIMIT)
        assert rejection(lambda: call(request(app=OTHER, migration_id=job.migration_id), timeout=CALL_LIMIT)) == (
            contract.StatusCode.NOT_FOUND, "UNKNOWN_MIGRATION")
    wait_for(lambda: client.receipts.GetMigration(
        receipt_service.GetMigrationRequest(app=APP, migration_id=job.migration_id),
        timeout=CALL_LIMIT).migration.state != receipt_service.MIGRATION_STATE_RUNNING)
    client.channel.close()


def test_numbers_of_enums_that_are_not_defined_are_refused(client):
    apple, webhooks = contract.app_store_stub(client.channel), contract.webhook_stub(client.channel)
    notifications, reports = contract.notification_stub(client.channel), contract.report_stub(client.channel)
    retention = contract.retention_messaging_stub(client.channel)
    for call, request, field in [
        (notifications.ListNotifications, notification_service.ListNotificationsRequest(state=99), "state"),
        (notifications.ReprocessNotifications, notification_service.ReprocessNotificationsRequest(state=99), "state"),
        (apple.ListConsumptionRequests, app_store_service.ListConsumptionRequestsRequest(state=99), "state"),
        (apple.ExtendRenewalDate, app_store_service.ExtendRenewalDateRequest(
            original_transaction_id="1", extend_by_days=1, request_identifier="r", reason=99), "reason"),
        (apple.SendConsumptionInformation, app_store_service.SendConsumptionInformationRequest(
            transaction_id="1", customer_consented=True, delivery_status=1, refund_preference=99), "refund_preference"),
        (apple.SendConsumptionInformation, app_store_service.SendConsumptionInformationRequest(
            transaction_id="1", customer_consented=True, delivery_status=99), "delivery_status"),
        (apple.SendAdvancedCommerceRequest, app_store_service.SendAdvancedCommerceRequestRequest(
            transaction_id="1", request_reference_id="c5bdb9bb-4f1c-4f64-9c36-5a0d3c8f7a11", action=99), "action"),
        (webhooks.ListDeliveries, webhook_service.ListDeliveriesRequest(webhook="w", kind=99), "kind"),
        (retention.ListRetentionRequests, contract.retention_messaging_service.ListRetentionRequestsRequest(
            outcome=99), "outcome"),
        (client.entitlements.LinkPurchase, wire.LinkPurchaseRequest(
            customer_id="ana", original_transaction_id="1", policy=99), "policy"),
        (lambda *call, **options: next(reports.ExportReport(*call, **options)), report_service.ExportReportRequest(
            query=report_service.ReportQuery(report="mrr"), format=99), "format"),
    ]:  # fmt: skip
        request.app = APP
        with pytest.raises(grpc.RpcError) as error:
            call(request, timeout=CALL_LIMIT)
        assert (contract.reason(error.value), contract.violations(error.value)) == ("INVALID_FIELD", [field])


def test_errors_of_ranges_name_the_field_of_the_contract(client):
    customers, reports = contract.customer_stub(client.channel), contract.report_stub(client.channel)
    notifications = contract.notification_stub(client.channel)
    retention = contract.retention_messaging_stub(client.channel)
    early, late = {"seconds": 1_767_225_600}, {"seconds": 1_767_312_000}  # 2026-01-01 and 2026-01-02
    within, far = {"seconds": 1_767_225_601}, {"seconds": 1_867_276_800}
    backwards = {"start_time": late, "end_time": early}
    query, days = report_service.ReportQuery, report_service.GetReconciliationRequest
    for call, request, reason, field in [
        (customers.GetCustomerHistory, customer_service.GetCustomerHistoryRequest(
            customer_id="ana", start_time=late, as_of=early), "INVALID_FIELD", "start_time"),
        (notifications.BackfillNotifications, notification_service.BackfillNotificationsRequest(
            **backwards), "INVALID_FIELD", "start_time"),
        (retention.GetRetentionReport, contract.retention_messaging_service.GetRetentionReportRequest(
            **backwards), "INVALID_RANGE", "end_time"),
        (reports.GetReconciliation, days(end_time=late), "MISSING_FIELD", "start_time"),
        (reports.GetReconciliation, days(start_time=early), "MISSING_FIELD", "end_time"),
        (reports.GetReconciliation, days(start_time=within, end_time=late), "INVALID_RANGE", "start_time"),
        (reports.GetReconciliation, days(start_time=early, end_time=within), "INVALID_RANGE", "end_time"),
        (reports.GetReconciliation, days(**backwards), "INVALID_RANGE", "end_time"),
        (reports.QueryReport, report_service.QueryReportRequest(
            query=query(report="mrr")), "MISSING_FIELD", "query.start_time"),
        (reports.QueryReport, report_service.QueryReportRequest(
            query=query(report="mrr", **backwards)), "INVALID_RANGE", "query.end_time"),
        (lambda *call, **options: next(reports.ListPostings(*call, **options)), report_service.ListPostingsRequest(
            start_time=early, end_time=far), "INVALID_RANGE", "end_time"),
    ]:  # fmt: skip
        request.app = APP
        with pytest.raises(grpc.RpcError) as error:
            call(request, timeout=CALL_LIMIT)
        assert (contract.reason(error.value), contract.violations(error.value)) == (reason, [field]), request


def test_an_order_needs_an_app_in_production(start, tmp_path):
    from test_callers import APPS  # in Apple's sandbox only
    (tmp_path / "entitled.yaml").write_text(APPS)
    client = Client(start(arguments=["--config", tmp_path / "entitled.yaml"]))
    request = app_store_service.LookUpOrderRequest(app=APP, order_id="MK5TTTVWJH")
    assert rejection(lambda: contract.app_store_stub(client.channel).LookUpOrder(request, timeout=CALL_LIMIT)) == (
        contract.StatusCode.INVALID_ARGUMENT, "WRONG_ENVIRONMENT")
    client.channel.close()


def test_the_stream_of_a_migration_returns_positions(client):
    requests = iter([receipt_service.MigrateReceiptsRequest(
        correlation_id="1", app=APP, customer_id="ana", original_transaction_id=client.buy(""))])
    (answer,) = client.receipts.MigrateReceipts(requests, timeout=CALL_LIMIT)
    assert answer.correlation_id == "1" and not answer.HasField("error"), answer
    assert positions_after(client, answer.position).HasField("heartbeat"), "no event follows"


def test_every_command_about_customers_is_executed_once(client):
    from test_idempotency import assert_once

    customers = contract.customer_stub(client.channel)
    apple = contract.app_store_stub(client.channel)
    token = str(uuid.uuid4())
    line = client.buy("", appAccountToken=token)
    registered = assert_once(
        client.entitlements.RegisterAppAccountToken,
        wire.RegisterAppAccountTokenRequest(app=APP, customer_id="ana", app_account_token=token), {"customer_id": "ben"})
    assert list(registered.original_transaction_ids) == [line]
    note = assert_once(
        customers.AddNote, customer_service.AddNoteRequest(app=APP, customer_id="ana", text="called"), {"text": "wrote"})
    notes = customers.ListNotes(customer_service.ListNotesRequest(app=APP, customer_id="ana"), timeout=CALL_LIMIT).notes
    assert [one.note_id for one in notes] == [note.note.note_id]
    assert_once(
        customers.DeleteNote, customer_service.DeleteNoteRequest(app=APP, note_id=note.note.note_id), {"actor": "eve"})
    first = customer_service.SetCustomerAttributesRequest(
        app=APP, customer_id="ana", attributes=[{"name": "plan", "value": "beta"}])
    assert_once(customers.SetCustomerAttributes, first, {"actor": "eve"})
    consent = app_store_service.SetConsumptionConsentRequest(app=APP, customer_id="ana", consented=True)
    assert_once(apple.SetConsumptionConsent, consent, {"consented": False})
    # A late repetition of an old value does not replace a newer one.
    customers.SetCustomerAttributes(
        customer_service.SetCustomerAttributesRequest(
            app=APP, customer_id="ana", attributes=[{"name": "plan", "value": "gold"}]), timeout=CALL_LIMIT)
    apple.SetConsumptionConsent(
        app_store_service.SetConsumptionConsentRequest(app=APP, customer_id="ana", consented=False), timeout=CALL_LIMIT)
    assert customers.SetCustomerAttributes(first, timeout=CALL_LIMIT).attributes[0].value == "beta"
    assert apple.SetConsumptionConsent(consent, timeout=CALL_LIMIT).consent.consented
    now = customers.GetCustomerAttributes(
        customer_service.GetCustomerAttributesRequest(app=APP, customer_id="ana"), timeout=CALL_LIMIT)
    assert now.attributes[0].value == "gold"
    assert not client.call("GetCustomer", customer_id="ana").consumption_consent.consented
    granted = client.call("Grant", customer_id="ana", entitlement="pro", access_level=3).grant.grant_id
    revoked = assert_once(
        client.entitlements.RevokeGrant, wire.RevokeGrantRequest(app=APP, grant_id=granted), {"note": "why"})
    assert [event.type for event in revoked.events] == ["GRANT_REVOKED"]
    # The stored responses name the customer, so an erasure removes them.
    client.call("EraseCustomer", customer_id="ana")
    assert rejection(lambda: customers.AddNote(
        customer_service.AddNoteRequest(
            app=APP, customer_id="ana", text="called", idempotency_key=first.idempotency_key),
        timeout=CALL_LIMIT))[1] in ("RESPONSE_ERASED", "IDEMPOTENCY_KEY_REUSED")
    assert rejection(lambda: customers.SetCustomerAttributes(first, timeout=CALL_LIMIT))[1] == "RESPONSE_ERASED"


def test_calls_to_apple_are_made_once(world):
    from test_idempotency import assert_once

    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    assert_once(
        world.apple.SetAppAccountToken,
        app_store_service.SetAppAccountTokenRequest(
            app=APP, original_transaction_id=bought, app_account_token=str(uuid.uuid4())), {"note": "why"})
    requested = assert_once(
        world.notifications.RequestTestNotification,
        notification_service.RequestTestNotificationRequest(app=APP), {"actor": "eve"})
    assert requested.test_notification_token
    world.act("request-consumption", transactionId=bought, reason="OTHER")
    world.deliver()
    sent = assert_once(
        world.apple.SendConsumptionInformation,
        app_store_service.SendConsumptionInformationRequest(
            app=APP, transaction_id=bought, customer_consented=True, delivery_status="DELIVERY_STATUS_DELIVERED"),
        {"note": "why"})
    assert sent.HasField("sent_at")
    world.deliver()
    tests = [n for n in world.notifications.ListNotifications(
        notification_service.ListNotificationsRequest(app=APP, notification_type="TEST"), timeout=CALL_LIMIT).notifications]
    assert len(tests) == 1


def test_seats_are_associated_and_released_once(world):
    from test_idempotency import assert_once

    world.act("invitations", app=APP, productId="pro.monthly", management="DEVELOPER")
    team, member = str(uuid.uuid4()), str(uuid.uuid4())
    bought = world.act("purchases", app=APP, productId="pro.monthly", account="team", seats=3)
    contract.receipt_stub(world.channel).SubmitTransaction(
        receipt_service.SubmitTransactionRequest(
            app=APP, customer_id=team, signed_transaction=bought["signedTransactionInfo"]), timeout=CALL_LIMIT)
    purchase = {"app": APP, "original_transaction_id": bought["originalTransactionId"]}
    seat = world.apple.ClaimSeat(
        app_store_service.ClaimSeatRequest(**purchase, idempotency_key="c"), timeout=CALL_LIMIT).seat
    given = assert_once(
        world.apple.AssociateSeat,
        app_store_service.AssociateSeatRequest(**purchase, seat_id=seat.seat_id, customer_id=member, note="new colleague"),
        {"customer_id": "another"})
    assert given.seat.customer_id == member and world.check(member).entitled
    assert_once(
        world.apple.UnclaimSeat,
        app_store_service.UnclaimSeatRequest(**purchase, seat_id=seat.seat_id, note="left"), {"note": "?"})
    assert not world.check(member).entitled
    events = world.entitlements.ListTimeline(
        wire.ListTimelineRequest(app=APP, customer_id=member), timeout=CALL_LIMIT).events
    assert {evidence_of(world, e.evidence_id).note for e in events} >= {"new colleague", "left"}


def test_the_stored_response_to_a_large_merge_is_compressed(client):
    for number in range(60):
        client.buy("guest", "lifetime" if number % 2 else "pro.monthly", account=f"a{number}")
    merged = client.call("MergeCustomers", from_customer_id="guest", into_customer_id="ana", idempotency_key="m")
    size = len(merged.SerializeToString())
    assert size > 1_100
    again = client.call("MergeCustomers", from_customer_id="guest", into_customer_id="ana", idempotency_key="m")
    assert again.repeated and again.events == merged.events
    client.service.stop()
    query = "SELECT length(response) FROM idempotency WHERE length(response) > 0"
    (stored,) = stores.query(client.service.data, query)
    assert stored[0] < size * 2 / 3, (stored, size)


def test_messages_are_resent_once_for_a_key(start, tmp_path):
    from receiver import Receiver
    from test_webhooks import configured, grant

    receiver = Receiver()
    other = {"url": receiver.url, "events": ["REFUNDED"]}
    service = start(arguments=configured(
        tmp_path, {"billing": {"url": receiver.url}, "b": other, "c": other}, {"old": {"url": receiver.url}}))
    grant(service, "ana")
    receiver.wait(lambda r: len(r.accepted) == 2)
    with service.channel() as channel:
        webhooks = contract.webhook_stub(channel)
        request = webhook_service.ResendDeliveriesRequest(
            app=APP, webhook="billing", range={"first": 1}, idempotency_key="again")
        first = webhooks.ResendDeliveries(request, timeout=CALL_LIMIT)
        assert first.resent == 2 and not first.repeated and first.position
        receiver.wait(lambda r: len(r.accepted) == 4)
        again = webhooks.ResendDeliveries(request, timeout=CALL_LIMIT)
        assert again.repeated and again.resent == 2
        request.webhook = "b"
        assert rejection(lambda: webhooks.ResendDeliveries(request, timeout=CALL_LIMIT))[1] == "IDEMPOTENCY_KEY_REUSED"
        discarded = webhooks.DiscardDeliveries(
            webhook_service.DiscardDeliveriesRequest(app=APP, webhook="billing", dead_letters=True), timeout=CALL_LIMIT)
        resumed = webhooks.ResumeWebhook(
            webhook_service.ResumeWebhookRequest(app=APP, webhook="billing"), timeout=CALL_LIMIT)
        assert discarded.position and resumed.position
        # Webhooks are listed page by page, in the order of the configuration.
        names, token = [], ""
        while True:
            page = webhooks.ListWebhooks(
                webhook_service.ListWebhooksRequest(app=APP, page_size=3, page_token=token), timeout=CALL_LIMIT)
            names.append([w.name for w in page.webhooks])
            token = page.next_page_token
            if not token:
                break
        assert [len(page) for page in names] == [3, 1]
        assert sum(names, []) == [
            w.name for w in webhooks.ListWebhooks(
                webhook_service.ListWebhooksRequest(app=APP, page_size=5_000), timeout=CALL_LIMIT).webhooks]
        assert set(sum(names, [])) == {"billing", "b", "c", "old"}
    assert len(receiver.accepted) == 4
    receiver.close()


def test_a_purchase_in_another_store_reaches_webhooks_and_the_export(start, tmp_path):
    from receiver import Receiver
    from test_store_export import exported
    from test_webhooks import configured

    receiver = Receiver()
    service = start(arguments=configured(tmp_path, {"billing": {"url": receiver.url}}))
    with service.channel() as channel:
        contract.entitlement_stub(channel).Grant(
            wire.GrantRequest(
                app=APP, customer_id="ana", entitlement="pro", access_level=3, source="play", external_id="GPA.1",
                product_id="gold", revision=7), timeout=CALL_LIMIT)
    receiver.wait(lambda r: len(r.accepted) == 1)
    event = receiver.accepted[0].data
    assert event["customerId"] == "ana"
    assert (event["after"]["source"], event["after"]["externalId"], event["after"]["productId"]) == (
        "play", "GPA.1", "gold")
    (grant,) = exported(service)["grant"]
    assert (grant["source"], grant["externalId"], grant["productId"], grant["revision"]) == ("play", "GPA.1", "gold", 7)
    receiver.close()
