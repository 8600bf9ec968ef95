"""Calls for people who help customers: search, description, notes and attributes."""

import json
import uuid

import grpc
import pytest

import contract
import stores
from contract import StatusCode, customer_service, entitlement, environment, status_service
from contract import entitlement_service as wire
from forge import payload_of
from harness import CALL_LIMIT
from test_app_store import World
from test_main_job import submit

APP = "ocean-journal"
KIND = customer_service.CustomerHitKind


@pytest.fixture(scope="module")
def customers(channel):
    return contract.customer_stub(channel)


def find(customers, query, **more):
    request = customer_service.FindCustomersRequest(query=query, **more)
    return customers.FindCustomers(request, timeout=CALL_LIMIT)


def kinds(customers, query, **more):
    """The kinds of the hits with their customers."""
    return {
        (KIND.Name(hit.kind).removeprefix("CUSTOMER_HIT_KIND_"), tuple(hit.customer_ids))
        for hit in find(customers, query, **more).hits
    }


def rejection(call, request):
    with pytest.raises(grpc.RpcError) as error:
        call(request, timeout=CALL_LIMIT)
    return error.value.code(), contract.reason(error.value)


def grant(entitlements, customer, **more):
    request = wire.GrantRequest(
        app=APP, customer_id=customer, entitlement="pro", access_level=entitlement.ACCESS_LEVEL_FULL, **more)
    return entitlements.Grant(request, timeout=CALL_LIMIT)


def test_a_purchase_is_found_by_each_of_its_ids(service, receipts, customers, customer):
    purchase = service.buy("pro.monthly")
    submitted = submit(receipts, customer, purchase)
    bought = payload_of(purchase["signedTransactionInfo"])
    assert ("PURCHASE", (customer,)) in kinds(customers, bought["originalTransactionId"])
    assert ("WEB_ORDER_LINE_ITEM", (customer,)) in kinds(customers, bought["webOrderLineItemId"])
    assert ("APP_TRANSACTION", (customer,)) in kinds(customers, bought["appTransactionId"])
    assert ("EVIDENCE", (customer,)) in kinds(customers, f"evidence {submitted.evidence_id}")
    hit = find(customers, bought["originalTransactionId"]).hits[0]
    assert (hit.app, hit.environment, hit.product_id) == (APP, environment.ENVIRONMENT_SANDBOX, "pro.monthly")
    assert hit.original_transaction_id == bought["originalTransactionId"]
    assert customer in hit.explanation and "Sandbox" in hit.explanation


def test_a_renewal_is_found_by_its_transaction_id(forger, receipts, customers, customer):
    number = str(uuid.uuid4().int % 10**15)
    document = forger.transaction(transactionId="7" + number, originalTransactionId="6" + number)
    submit(receipts, customer, {"signedTransactionInfo": document})
    assert kinds(customers, "7" + number) >= {("TRANSACTION", (customer,)), ("WEB_ORDER_LINE_ITEM", (customer,))}
    assert find(customers, "7" + number).hits[0].original_transaction_id == "6" + number


def test_an_unclaimed_purchase_is_found_by_its_token(service, receipts, customers, entitlements, customer):
    token = str(uuid.uuid4())
    purchase = service.buy("shells.100", appAccountToken=token)
    submit(receipts, "", purchase)
    assert kinds(customers, token.upper()) == {("APP_ACCOUNT_TOKEN", ())}
    request = wire.RegisterAppAccountTokenRequest(app=APP, customer_id=customer, app_account_token=token)
    entitlements.RegisterAppAccountToken(request, timeout=CALL_LIMIT)
    assert ("APP_ACCOUNT_TOKEN", (customer,)) in kinds(customers, token)


def test_grants_events_and_merges_are_found(customers, entitlements, customer):
    granted = grant(entitlements, customer)
    assert ("GRANT", (customer,)) in kinds(customers, granted.grant.grant_id)
    timeline = entitlements.ListTimeline(wire.ListTimelineRequest(app=APP, customer_id=customer), timeout=CALL_LIMIT)
    sequence = timeline.events[-1].sequence
    for query in (f"#{sequence}", f"event {sequence}", str(sequence)):
        assert ("EVENT", (customer,)) in kinds(customers, query)
    merge = wire.MergeCustomersRequest(app=APP, from_customer_id=customer, into_customer_id=f"{customer}-new")
    merged = entitlements.MergeCustomers(merge, timeout=CALL_LIMIT)
    assert {kind for kind, _ in kinds(customers, merged.transfer_id)} == {"TRANSFER"}
    assert not kinds(customers, f"transfer-{timeline.events[-1].evidence_id}"), "a grant is no transfer"
    hit = find(customers, customer).hits[0]
    assert hit.kind == KIND.Value("CUSTOMER_HIT_KIND_MERGED_CUSTOMER")
    assert hit.merged_into_customer_id == f"{customer}-new"


def test_a_beginning_of_an_id_finds_customers_page_by_page(customers, entitlements, customer):
    for number in range(5):
        grant(entitlements, f"{customer}/é{number}")
    found = find(customers, f"{customer}/é", page_size=3)
    assert [hit.customer_ids[0] for hit in found.hits] == [f"{customer}/é{number}" for number in range(3)]
    rest = find(customers, f"{customer}/é", page_size=3, page_token=found.next_page_token)
    assert [hit.customer_ids[0] for hit in rest.hits] == [f"{customer}/é3", f"{customer}/é4"]
    assert not rest.next_page_token and not find(customers, f"{customer}/é", page_size=5).next_page_token
    other = customer_service.FindCustomersRequest(query=f"{customer}/", page_token=found.next_page_token)
    assert rejection(customers.FindCustomers, other)[1] == "INVALID_PAGE_TOKEN"
    assert not find(customers, f"{customer}/é", environment=environment.ENVIRONMENT_PRODUCTION).hits
    assert not find(customers, f"{customer}/x").hits
    assert rejection(customers.FindCustomers, customer_service.FindCustomersRequest(query=" "))[1] == "MISSING_FIELD"
    assert rejection(customers.FindCustomers, customer_service.FindCustomersRequest(query="x" * 257))[0] == StatusCode.INVALID_ARGUMENT


def test_a_notification_is_found_by_its_uuid(start):
    world = World(start())
    customer = str(uuid.uuid4())
    world.buy(customer)
    world.deliver()
    customers = contract.customer_stub(world.channel)
    notification = world.notifications.ListNotifications(
        contract.notification_service.ListNotificationsRequest(app=APP), timeout=CALL_LIMIT).notifications[0]
    assert ("NOTIFICATION", (customer,)) in kinds(customers, notification.notification_uuid.upper())
    status = contract.status_stub(world.channel).GetStatus(status_service.GetStatusRequest(), timeout=CALL_LIMIT)
    assert status.ready and status.version and all(not check.error for check in status.checks)
    sandbox = next(app for app in status.apps if app.app == APP)
    assert sandbox.last_notification_at.seconds > 0
    assert status.store.size_bytes > 0 and status.store.last_evidence_id >= notification.evidence_id
    assert sandbox.last_sequence > 0
    world.channel.close()


def test_an_erased_customer_is_found_as_such(start, customer):
    service = start()
    with service.channel() as channel:
        customers, entitlements = contract.customer_stub(channel), contract.entitlement_stub(channel)
        grant(entitlements, customer)
        note = customers.AddNote(
            customer_service.AddNoteRequest(app=APP, customer_id=customer, text="called twice"), timeout=CALL_LIMIT).note
        set_attributes(customers, customer, phone="555-0100")
        erased = entitlements.EraseCustomer(
            wire.EraseCustomerRequest(app=APP, customer_id=customer), timeout=CALL_LIMIT)
        assert kinds(customers, customer) == {("ERASED_CUSTOMER", (erased.pseudonym,))}
        assert not find(customers, "555-0100").hits
        for id in (customer, erased.pseudonym):
            assert not notes(customers, id)
        request = customer_service.DeleteNoteRequest(app=APP, note_id=note.note_id)
        customers.DeleteNote(request, timeout=CALL_LIMIT)
    service.stop()
    assert not stores.holds(service.data, "called twice") and not stores.holds(service.data, "555-0100")


def notes(customers, customer, **more):
    request = customer_service.ListNotesRequest(app=APP, customer_id=customer, **more)
    return customers.ListNotes(request, timeout=CALL_LIMIT).notes


def test_notes_are_listed_newest_first_and_deleted(customers, entitlements, customer):
    def add(text, about=customer):
        request = customer_service.AddNoteRequest(app=APP, customer_id=about, text=text, actor="lena")
        return customers.AddNote(request, timeout=CALL_LIMIT).note

    first, second = add("paid twice"), add("called again\nwill send the order number")
    assert [note.text for note in notes(customers, customer)] == [second.text, first.text]
    assert (first.actor, first.customer_id, first.evidence_id > 0) == ("lena", customer, True)
    page = customers.ListNotes(
        customer_service.ListNotesRequest(app=APP, customer_id=customer, page_size=1), timeout=CALL_LIMIT)
    rest = customers.ListNotes(
        customer_service.ListNotesRequest(app=APP, customer_id=customer, page_token=page.next_page_token),
        timeout=CALL_LIMIT)
    assert [n.note_id for n in [*page.notes, *rest.notes]] == [second.note_id, first.note_id]
    for _ in range(2):
        customers.DeleteNote(customer_service.DeleteNoteRequest(app=APP, note_id=first.note_id), timeout=CALL_LIMIT)
    assert [note.note_id for note in notes(customers, customer)] == [second.note_id]
    for id in ("note-999999", "x", f"note-{first.evidence_id + 100_000}"):
        request = customer_service.DeleteNoteRequest(app=APP, note_id=id)
        assert rejection(customers.DeleteNote, request) == (StatusCode.NOT_FOUND, "UNKNOWN_NOTE")
    # A merge keeps the notes of both.
    other = f"{customer}-old"
    add("from the old account", other)
    merge = wire.MergeCustomersRequest(app=APP, from_customer_id=other, into_customer_id=customer)
    entitlements.MergeCustomers(merge, timeout=CALL_LIMIT)
    assert {note.customer_id for note in notes(customers, customer)} == {customer, other}
    assert add("later", other).customer_id == customer


def set_attributes(customers, customer, **values):
    attributes = [customer_service.CustomerAttribute(name=n, value=v) for n, v in values.items()]
    request = customer_service.SetCustomerAttributesRequest(app=APP, customer_id=customer, attributes=attributes)
    return {a.name: a.value for a in customers.SetCustomerAttributes(request, timeout=CALL_LIMIT).attributes}


def test_attributes_are_set_removed_and_searched(customers, customer):
    email = f"{customer}@example.com"
    assert set_attributes(customers, customer, email=email, plan="beta") == {"email": email, "plan": "beta"}
    assert set_attributes(customers, customer, plan="") == {"email": email}
    assert kinds(customers, email) >= {("ATTRIBUTE", (customer,))}
    assert kinds(customers, f"email={email}") == {("ATTRIBUTE", (customer,))}
    assert not find(customers, f"phone={email}").hits
    read = customers.GetCustomerAttributes(
        customer_service.GetCustomerAttributesRequest(app=APP, customer_id=customer), timeout=CALL_LIMIT)
    assert [(a.name, a.value) for a in read.attributes] == [("email", email)]
    many = {f"k{number}": "v" for number in range(63)}
    assert len(set_attributes(customers, customer, **many)) == 64
    for bad in ({"k64": "v"}, {"a b": "v"}, {"x" * 65: "v"}):
        request = customer_service.SetCustomerAttributesRequest(
            app=APP, customer_id=customer,
            attributes=[customer_service.CustomerAttribute(name=n, value=v) for n, v in bad.items()])
        assert rejection(customers.SetCustomerAttributes, request) == (StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")


def describe(customers, customer):
    request = customer_service.DescribeCustomerRequest(app=APP, customer_id=customer)
    return customers.DescribeCustomer(request, timeout=CALL_LIMIT)


def test_a_description_says_what_to_tell_and_what_to_do(start):
    world = World(start())
    customer = str(uuid.uuid4())
    bought = world.buy(customer)
    customers = contract.customer_stub(world.channel)
    active = describe(customers, customer)
    assert f"{customer} has pro" in active.summary
    assert active.entitlements[0].customer_sentence == "Your subscription is active."
    assert "pro.monthly" in active.entitlements[0].support_sentence
    world.act("billing", account=f"account-{customer}", fails=True)
    world.advance("32d")
    failed = describe(customers, customer).entitlements[0]
    assert "update your payment details" in failed.customer_sentence
    assert failed.actions and failed.url and failed.deadline.seconds > 0
    world.act("refund", transactionId=bought, reason="OTHER")
    world.advance("90d")
    other = str(uuid.uuid4())
    refunded_transaction = world.buy(other)
    world.act("refund", transactionId=refunded_transaction, reason="OTHER")
    world.deliver()
    refunded = describe(customers, other).entitlements[0]
    assert (refunded.entitled, refunded.reason) == (False, "REFUNDED")
    assert "Apple gave your money back" in refunded.customer_sentence
    assert any("reportaproblem" in action for action in refunded.actions)
    world.channel.close()


def test_a_description_has_what_was_paid_and_who_was_merged(start):
    world = World(start())
    customer = str(uuid.uuid4())
    bought = world.buy(customer)
    customers = contract.customer_stub(world.channel)
    paid = describe(customers, customer).paid
    price = paid[0].total.milliunits
    assert [each.total.currency for each in paid] == ["USD"] and price > 0
    assert (paid[0].charged.milliunits, paid[0].refunded.milliunits) == (price, 0)
    world.advance("1d")
    before = describe(customers, customer).evaluated_at
    world.advance("1d")
    world.act("refund", transactionId=bought, reason="OTHER")
    world.deliver()
    for merged, into in (("anon-1", "anon-2"), ("anon-2", customer)):
        world.entitlements.MergeCustomers(
            wire.MergeCustomersRequest(app=APP, from_customer_id=merged, into_customer_id=into), timeout=CALL_LIMIT)
    described = describe(customers, customer)
    total = described.paid[0]
    assert [each.milliunits for each in (total.total, total.charged, total.refunded)] == [0, price, price]
    assert described.purchases_without_price == 0
    assert list(described.merged_customer_ids) == ["anon-1", "anon-2"]
    assert describe(customers, "anon-1").paid == described.paid
    history = customer_service.GetCustomerHistoryRequest(app=APP, customer_id=customer, as_of=before)
    then = customers.GetCustomerHistory(history, timeout=CALL_LIMIT)
    assert [each.total.milliunits for each in then.paid] == [price]
    out = world.service.command("describe", customer, "--app", APP).stdout
    assert "anon-1, anon-2" in out and f"{price / 1000} USD refunded" in out, out
    world.channel.close()


def test_an_unknown_customer_differs_from_one_without_purchases(customers, customer):
    request = customer_service.DescribeCustomerRequest(app=APP, customer_id=customer)
    assert rejection(customers.DescribeCustomer, request) == (StatusCode.NOT_FOUND, "UNKNOWN_CUSTOMER")
    set_attributes(customers, customer, plan="beta")
    described = describe(customers, customer)
    assert "no purchase" in described.summary
    assert described.entitlements[0].reason == "NEVER_PURCHASED"


def test_the_commands_of_support(service, customers, entitlements, customer):
    grant(entitlements, customer)
    found = service.command("find", customer)
    assert found.returncode == 0 and "is a customer" in found.stdout, found.stderr
    assert json.loads(service.command("find", customer, "--json").stdout)["hits"]
    assert "nothing found" in service.command("find", f"{customer}-unknown").stdout
    assert "We gave you access" in service.command("describe", customer, "--app", APP).stdout
    added = json.loads(service.command("notes", "add", customer, "wrote a letter", "--app", APP, "--json").stdout)
    assert "wrote a letter" in service.command("notes", "list", customer, "--app", APP).stdout
    assert service.command("notes", "delete", added["note"]["noteId"], "--app", APP).returncode == 0
    assert "no notes" in service.command("notes", "list", customer, "--app", APP).stdout
    assert "tier  gold" in service.command("attributes", customer, "tier=gold", "--app", APP).stdout
    assert "tier  gold" in service.command("attributes", customer, "--app", APP).stdout
    history = service.command("history", customer, "--app", APP)
    assert "access pro" in history.stdout and "GRANTED" in history.stdout, history.stderr
    listed = json.loads(service.command("timeline", customer, "--app", APP, "--json").stdout)["events"]
    assert listed[0]["type"] in service.command("event", listed[0]["sequence"], "--app", APP).stdout
    assert "GRANT" in service.command("evidence", listed[0]["evidenceId"], "--app", APP).stdout
    assert "GetCustomerHistory" in service.command("audit", "--customer", customer).stdout
    assert "store_writable" in service.command("status").stdout
    assert "admin" in service.command("whoami").stdout
    assert "com.example.oceanjournal" in service.command("config", "show").stdout


def test_a_purchase_shows_its_transactions_owners_and_refused_claims(service, receipts, customers, entitlements, customer):
    bought = service.buy("pro.monthly")
    submitted = submit(receipts, customer, bought)
    number = payload_of(bought["signedTransactionInfo"])["originalTransactionId"]
    with pytest.raises(grpc.RpcError):
        submit(receipts, f"{customer}-thief", bought)
    move = wire.TransferPurchaseRequest(
        app=APP, original_transaction_id=number, from_customer_id=customer, to_customer_id=f"{customer}-2", actor="sam")
    entitlements.TransferPurchase(move, timeout=CALL_LIMIT)
    request = customer_service.GetPurchaseRequest(app=APP, original_transaction_id=number)
    purchase = customers.GetPurchase(request, timeout=CALL_LIMIT)
    assert list(purchase.customer_ids) == [f"{customer}-2"]
    assert [(t.transaction.product_id, t.evidence_id) for t in purchase.transactions] == [
        ("pro.monthly", submitted.evidence_id)]
    assert purchase.renewal_info.will_auto_renew
    assert [(c.customer_id, c.linked, c.kind) for c in purchase.ownership_changes] == [
        (customer, True, "SIGNED_TRANSACTION"), (customer, False, "MOVE"), (f"{customer}-2", True, "MOVE")]
    assert purchase.ownership_changes[2].actor == "sam"
    refused = [event for event in purchase.events if event.type == "CLAIMED_BY_ANOTHER"]
    assert refused and refused[0].other_customer_id == f"{customer}-thief"
    unknown = customer_service.GetPurchaseRequest(app=APP, original_transaction_id="404")
    assert rejection(customers.GetPurchase, unknown) == (StatusCode.NOT_FOUND, "UNKNOWN_PURCHASE")


def test_evidence_is_decoded_with_its_events(service, receipts, customers, entitlements, customer):
    bought = service.buy("pro.monthly")
    submitted = submit(receipts, customer, bought)

    def evidence(id, **more):
        return customers.GetEvidence(
            customer_service.GetEvidenceRequest(app=APP, evidence_id=id, **more), timeout=CALL_LIMIT)

    found = evidence(submitted.evidence_id)
    payload = payload_of(bought["signedTransactionInfo"])
    assert (found.kind, found.source, found.rejection_reason) == ("SIGNED_TRANSACTION", "SUBMISSION", "")
    assert found.document.verified and json.loads(found.document.payload_json)["transactionId"] == payload["transactionId"]
    assert [t.transaction_id for t in found.transactions] == [payload["transactionId"]]
    assert list(found.customer_ids) == [customer]
    assert {event.type for event in found.events} >= {"STARTED"}
    assert found.has_body and not found.body
    assert evidence(submitted.evidence_id, include_body=True).body.decode() == bought["signedTransactionInfo"]
    granted = grant(entitlements, customer, note="a gift", actor="lena")
    timeline = entitlements.ListTimeline(wire.ListTimelineRequest(app=APP, customer_id=customer), timeout=CALL_LIMIT)
    event = next(event for event in timeline.events if event.actor == "lena")
    command = evidence(event.evidence_id)
    assert (command.kind, command.actor, command.note) == ("GRANT", "lena", "a gift")
    assert json.loads(command.command_json)["grant"]["id"] == granted.grant.grant_id
    one = customers.GetEvent(customer_service.GetEventRequest(app=APP, sequence=event.sequence), timeout=CALL_LIMIT)
    assert one.event == event
    for call, request, reason in [
        (customers.GetEvidence, customer_service.GetEvidenceRequest(app=APP, evidence_id=10**9), "UNKNOWN_EVIDENCE"),
        (customers.GetEvent, customer_service.GetEventRequest(app=APP, sequence=10**9), "UNKNOWN_EVENT"),
        (customers.GetEvent, customer_service.GetEventRequest(app=APP), "UNKNOWN_EVENT"),
    ]:
        assert rejection(call, request) == (StatusCode.NOT_FOUND, reason)


def test_evidence_has_the_events_of_former_owners(start):
    world = World(start())
    ana = str(uuid.uuid4())
    bought = world.buy(ana)
    world.advance("32d")
    renewed = next(e for e in timeline(world.entitlements, ana, newest_first=True).events if e.type == "RENEWED")
    world.entitlements.TransferPurchase(
        wire.TransferPurchaseRequest(
            app=APP, original_transaction_id=bought, from_customer_id=ana, to_customer_id="ben"), timeout=CALL_LIMIT)
    found = contract.customer_stub(world.channel).GetEvidence(
        customer_service.GetEvidenceRequest(app=APP, evidence_id=renewed.evidence_id), timeout=CALL_LIMIT)
    assert list(found.customer_ids) == ["ben"]
    assert (ana, "RENEWED") in [(event.customer_id, event.type) for event in found.events]
    world.channel.close()


def test_the_lanes_of_a_history_say_what_explain_says(start):
    world = World(start())
    ana = str(uuid.uuid4())
    world.buy(ana)
    world.act("billing", account=f"account-{ana}", fails=True)
    world.advance("33d")
    world.act("billing", account=f"account-{ana}", fails=False)
    world.advance("40d")
    customers = contract.customer_stub(world.channel)
    entitlements = contract.entitlement_stub(world.channel)
    grant(entitlements, ana, note="sorry")
    history = customers.GetCustomerHistory(
        customer_service.GetCustomerHistoryRequest(app=APP, customer_id=ana), timeout=CALL_LIMIT)
    lanes = {(customer_service.HistoryLaneKind.Name(lane.kind).removeprefix("HISTORY_LANE_KIND_"), lane.name): lane
             for lane in history.lanes}
    access = lanes[("ACCESS", "pro")]
    assert len(access.segments) > 3
    for segment in access.segments:
        request = wire.ExplainRequest(app=APP, customer_id=ana, entitlement="pro", as_of=segment.since)
        answer = entitlements.Explain(request, timeout=CALL_LIMIT).entitlement
        assert (answer.reason, answer.access_level) == (segment.reason, segment.access_level)
    purchase = next(lane for (kind, _), lane in lanes.items() if kind == "PURCHASE")
    assert [s.price.milliunits for s in purchase.segments if s.reason == "SUBSCRIPTION_ACTIVE"]
    assert purchase.marks[0].type == "PURCHASED"
    apple = lanes[("APPLE", "")]
    assert any(mark.type.startswith("DID_FAIL_TO_RENEW") for mark in apple.marks)
    assert any(kind == "GRANT" for kind, _ in lanes)
    known = customer_service.GetCustomerHistoryRequest(app=APP, customer_id=ana, known_at=access.segments[1].since)
    then = customers.GetCustomerHistory(known, timeout=CALL_LIMIT)
    assert len(then.lanes[0].segments) <= len(access.segments)
    world.channel.close()


def timeline(stub, customer, **more):
    request = wire.ListTimelineRequest(app=APP, customer_id=customer, **more)
    return stub.ListTimeline(request, timeout=CALL_LIMIT)


def test_a_timeline_is_listed_newest_first_and_filtered(service, receipts, entitlements, customer):
    for number in range(4):
        granted = grant(entitlements, customer, note=f"{number}")
        entitlements.RevokeGrant(
            wire.RevokeGrantRequest(app=APP, grant_id=granted.grant.grant_id), timeout=CALL_LIMIT)
    submit(receipts, customer, service.buy("shells.100"))
    oldest = [event.sequence for event in timeline(entitlements, customer).events]
    assert len(oldest) > 6 and oldest == sorted(oldest)
    found, token = [], ""
    while True:
        page = timeline(entitlements, customer, newest_first=True, page_size=3, page_token=token)
        found += [event.sequence for event in page.events]
        token = page.next_page_token
        if not token:
            break
    assert found == oldest[::-1]
    every = timeline(entitlements, customer).events
    kind = every[0].type
    of_type = [event.sequence for event in every if event.type == kind]
    assert [e.sequence for e in timeline(entitlements, customer, types=[kind]).events] == of_type
    paged, token = [], ""
    while True:
        page = timeline(entitlements, customer, types=[kind], page_size=1, page_token=token)
        paged += [event.sequence for event in page.events]
        token = page.next_page_token
        if not token:
            break
    assert paged == of_type
    only = timeline(entitlements, customer, entitlements=["pro"]).events
    assert 0 < len(only) < len(every) and {event.entitlement for event in only} == {"pro"}
    assert not timeline(entitlements, customer, types=["NO_SUCH_TYPE"]).events
    listed = service.command("timeline", customer, "--app", APP, "--newest-first").stdout.split()
    assert int(listed[0]) == oldest[-1]


def test_the_notifications_of_newest_first_pages_are_those_of_the_other_direction(start):
    world = World(start())
    ana = str(uuid.uuid4())
    world.buy(ana)
    for _ in range(3):
        world.advance("32d")

    def notifications(**more):
        found, token = [], ""
        while True:
            page = timeline(
                world.entitlements, ana, include_notifications=True, page_size=2, page_token=token, **more)
            found += [n.evidence_id for n in page.notifications]
            token = page.next_page_token
            if not token:
                return found

    oldest, newest = notifications(), notifications(newest_first=True)
    assert len(oldest) >= 4 and sorted(set(newest)) == sorted(set(oldest))
    assert newest == sorted(newest, reverse=True)
    world.channel.close()


def get_customer(entitlements, customer, **more):
    return entitlements.GetCustomer(wire.GetCustomerRequest(app=APP, customer_id=customer, **more), timeout=CALL_LIMIT)


def test_an_unclaimed_purchase_has_candidates(service, receipts, entitlements, customer):
    account = f"account-{customer}"
    submit(receipts, customer, service.buy("shells.100", account=account))
    loose = service.buy("shells.100", account=account)
    submit(receipts, "", loose)
    number = payload_of(loose["signedTransactionInfo"])["originalTransactionId"]
    listed = entitlements.ListUnclaimedPurchases(
        wire.ListUnclaimedPurchasesRequest(app=APP, page_size=1000), timeout=CALL_LIMIT)
    assert [(c.customer_id, c.reason) for c in listed.candidates if c.original_transaction_id == number] == [
        (customer, "SAME_APP_ACCOUNT")]


def test_a_customer_view_says_whether_the_id_is_known(entitlements, customers, customer):
    assert not get_customer(entitlements, customer).known
    set_attributes(customers, customer, plan="beta")
    view = get_customer(entitlements, customer)
    assert view.known and not view.active_in_environments
