"""Purchases in other stores: Check, timeline, Explain, lists, webhooks' events, and the command line."""

import pytest

import contract
from contract import StatusCode, customer_service, receipt_service
from contract import entitlement_service as wire
from harness import CALL_LIMIT, post
from test_identity import APP, Client, rejection

PURCHASE = {"entitlement": "pro", "access_level": 3, "source": "play", "external_id": "GPA.1", "product_id": "gold"}


@pytest.fixture
def client(start):
    client = Client(start())
    yield client
    client.channel.close()


def report(client, customer, revision, since=None, until=None, refunded_at=None, **more):
    """Reports a state of the purchase; times are seconds since 1970."""
    request = wire.GrantRequest(app=APP, customer_id=customer, revision=revision, **{**PURCHASE, **more})
    for field, time in (("since", since), ("until", until), ("refunded_at", refunded_at)):
        if time is not None:
            getattr(request, field).FromSeconds(time)
    return client.entitlements.Grant(request, timeout=CALL_LIMIT)


def check(client, customer):
    return client.call("Check", customer_id=customer, entitlement="pro").entitlement


def seconds(client):
    """The time of the service, in seconds since 1970."""
    return client.call("Check", customer_id="clock", entitlement="pro").evaluated_at.seconds


def test_check_answers_from_another_store_and_names_it(client):
    now = seconds(client)
    assert not check(client, "ana").source
    started = report(client, "ana", 1, since=now - 100, until=now + 1_000)
    assert [event.type for event in started.events] == ["STARTED"] and not started.superseded
    answer = check(client, "ana")
    assert answer.entitled and answer.reason == "EXTERNAL_PURCHASE_ACTIVE" and answer.app_store_codes.state_code == "2.0"
    assert (answer.source, answer.external_id, answer.product_id) == ("play", "GPA.1", "gold")
    assert answer.until.seconds == answer.paid_until.seconds == now + 1_000
    renewed = report(client, "ana", 2, until=now + 5_000)
    assert renewed.grant.grant_id == started.grant.grant_id and renewed.grant.since == started.grant.since
    assert check(client, "ana").until.seconds == now + 5_000

    late = report(client, "ana", 1, since=now - 100, until=now + 1_000)
    assert late.superseded and late.grant.revision == 2 and not late.events
    refunded = report(client, "ana", 3, until=now + 5_000, refunded_at=now - 1)
    assert not refunded.entitlement.entitled and refunded.entitlement.reason == "EXTERNAL_PURCHASE_REFUNDED"
    types = [event.type for event in client.call("ListTimeline", customer_id="ana").events]
    assert types == ["STARTED", "RENEWED", "REFUNDED"]
    assert client.call("ListTimeline", customer_id="ana").events[0].after.source == "play"


def test_texts_and_flags_name_the_product_of_the_other_store(client):
    now = seconds(client)
    grant = report(client, "ana", 1, since=now - 100, until=now + 1_000).grant
    customers = contract.customer_stub(client.channel)
    described = customers.DescribeCustomer(
        customer_service.DescribeCustomerRequest(app=APP, customer_id="ana"), timeout=CALL_LIMIT)
    pro = next(one for one in described.entitlements if one.entitlement == "pro")
    assert pro.entitled and pro.product_id == "gold" and "Product: gold." in pro.support_sentence
    lanes = customers.GetCustomerHistory(
        customer_service.GetCustomerHistoryRequest(app=APP, customer_id="ana"), timeout=CALL_LIMIT).lanes
    for name in ("pro", grant.grant_id):
        segment = next(lane for lane in lanes if lane.name == name).segments[-1]
        assert (segment.reason, segment.product_id) == ("EXTERNAL_PURCHASE_ACTIVE", "gold")
    status, flag = post(
        f"http://{client.service.http}/ofrep/v1/evaluate/flags/pro", {"context": {"targetingKey": "ana", "app": APP}})
    assert (status, flag["value"], flag["metadata"]["productId"]) == (200, True, "gold"), flag


def test_a_late_revision_is_named_and_changes_nothing(client):
    now = seconds(client)
    report(client, "ana", 7, since=now - 10, until=now + 1_000)
    late = report(client, "ana", 6, since=now - 10, until=now - 5)
    assert late.superseded and [event.type for event in late.events] == ["OLDER_REVISION_RECEIVED"]
    assert check(client, "ana").until.seconds == now + 1_000
    explained = client.call("Explain", customer_id="ana", entitlement="pro")
    decisive = next(step for step in explained.steps if step.decisive)
    assert decisive.rule == "EXTERNAL_PURCHASE_COVERS_INSTANT" and decisive.evidence_id == 1
    assert "play purchase GPA.1, revision 7" in decisive.explanation


def test_the_past_is_explained_with_the_revision_of_that_time(client):
    now = seconds(client)
    report(client, "ana", 1, since=now - 1_000, until=now - 500, product_id="silver")
    report(client, "ana", 2, since=now - 100, until=now + 100)
    for offset, entitled, product in ((-700, True, "silver"), (-300, False, "silver"), (-50, True, "gold")):
        request = wire.ExplainRequest(app=APP, customer_id="ana", entitlement="pro")
        request.as_of.FromSeconds(now + offset)
        request.known_at.FromSeconds(now + 60)
        answer = client.entitlements.Explain(request, timeout=CALL_LIMIT).entitlement
        assert (answer.entitled, answer.product_id) == (entitled, product), offset


def test_apple_and_another_store_decide_alike(client):
    client.buy("ana")
    assert check(client, "ana").source == "app_store"
    now = seconds(client)
    report(client, "ana", 1, until=now + 400 * 86_400)
    assert check(client, "ana").source == "play"
    report(client, "ana", 2, until=now + 400 * 86_400, refunded_at=now)
    assert check(client, "ana").entitled and check(client, "ana").source == "app_store"
    client.call("Grant", customer_id="ben", entitlement="pro", access_level=3)
    assert check(client, "ben").source == "operator"


@pytest.mark.parametrize("changes, expected", [
    ({"source": "Play"}, (StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")),
    ({"source": "app_store"}, (StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")),
    ({"external_id": ""}, (StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")),
    ({"source": ""}, (StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")),
    ({"revision": 0}, (StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")),
    ({"revision": -1}, (StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")),
])  # fmt: skip
def test_an_incomplete_purchase_is_rejected(client, changes, expected):
    request = {**PURCHASE, "customer_id": "ana", "revision": 1, **changes}
    assert rejection(lambda: client.call("Grant", **request)) == expected


def test_another_state_of_a_revision_and_a_revocation_are_rejected(client):
    grant = report(client, "ana", 1).grant
    assert rejection(lambda: report(client, "ana", 1, product_id="silver")) == (
        StatusCode.ALREADY_EXISTS, "REVISION_CONFLICT")
    assert rejection(lambda: client.call("RevokeGrant", grant_id=grant.grant_id)) == (
        StatusCode.FAILED_PRECONDITION, "EXTERNAL_GRANT")


def test_grants_are_listed_by_page_customer_and_source(client):
    for number in range(5):
        client.call("Grant", customer_id=f"c{number}", entitlement="pro", access_level=3)
    report(client, "c0", 1)
    listed, token = [], ""
    while True:
        page = client.call("ListGrants", page_size=2, page_token=token)
        assert len(page.grants) <= 2
        listed += page.grants
        token = page.next_page_token
        if not token:
            break
    assert sorted(g.customer_id for g in listed) == ["c0", "c0", "c1", "c2", "c3", "c4"]
    assert [g.source for g in client.call("ListGrants", customer_id="c0").grants].count("play") == 1
    play = client.call("ListGrants", source="play").grants
    assert [(g.customer_id, g.external_id, g.product_id, g.revision) for g in play] == [("c0", "GPA.1", "gold", 1)]
    customer = client.call("GetCustomer", customer_id="c0")
    assert sorted(g.source for g in customer.grants) == ["", "play"]


def test_migrations_are_listed_latest_first(client):
    started = []
    for number in range(3):
        client.receipts.UploadMigrationInput(
            receipt_service.UploadMigrationInputRequest(
                app=APP, upload_id=f"u{number}", data=b'{"customer_id": "c"}'),
            timeout=CALL_LIMIT)
        started.append(client.receipts.StartMigration(
            receipt_service.StartMigrationRequest(app=APP, upload_id=f"u{number}"),
            timeout=CALL_LIMIT).migration.migration_id)
    first = client.receipts.ListMigrations(
        receipt_service.ListMigrationsRequest(app=APP, page_size=2), timeout=CALL_LIMIT)
    second = client.receipts.ListMigrations(
        receipt_service.ListMigrationsRequest(app=APP, page_size=2, page_token=first.next_page_token),
        timeout=CALL_LIMIT)
    assert [m.migration_id for m in [*first.migrations, *second.migrations]] == started[::-1]
    assert not second.next_page_token
    assert started[0] in client.service.command("migrate", "list").stdout


def test_replay_and_export_know_purchases_of_other_stores(client):
    now = seconds(client)
    report(client, "ana", 2, since=now - 10)
    report(client, "ana", 1, since=now - 100, until=now - 50)
    client.call("MergeCustomers", from_customer_id="ana", into_customer_id="ben")
    report(client, "cleo", 3)
    client.call("EraseCustomer", customer_id="cleo")
    service = client.service
    service.stop()
    replay = service.command("store", "replay", "--data", service.data)
    assert replay.returncode == 0 and "no differences" in replay.stdout, replay.stdout + replay.stderr


def test_the_command_line_reports_purchases_of_other_stores(client):
    options = ["--source", "stripe", "--external-id", "sub_1", "--product-id", "pro", "--until", "2090-01-01T00:00:00Z"]
    created = client.service.command("grants", "create", "ana", "pro", *options, "--revision", "2")
    assert created.returncode == 0, created.stderr
    late = client.service.command("grants", "create", "ana", "pro", *options, "--revision", "1")
    assert "superseded" in late.stdout
    listed = client.service.command("grants", "list", "--source", "stripe")
    assert "ana pro" in listed.stdout and "stripe sub_1 revision 2" in listed.stdout
