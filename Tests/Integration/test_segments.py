"""Segments equal the sandbox's tables at any time, and their events lead to the same members."""

import collections
import random

import grpc
import pytest

import contract
from contract import entitlement, segment_service
from harness import CALL_LIMIT, IS_LONG, run
from receiver import Receiver
from report_lives import APP, CONFIGURATION, DAY, Lives, eventually, read
from test_idempotency import assert_once

DAYS = 90
# Days between two comparisons.
STEP = 2 if IS_LONG else 5
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"
STATES = entitlement.EntitlementState
# The conditions of each segment, and the rows of the sandbox's tables that meet them.
SEGMENTS = {
    "renewing": (
        {"states": [STATES.ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_ON]},
        lambda line, now: line["state"] == "active" and line["renews"],
    ),
    "at-risk": (
        {"states": [STATES.ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_OFF]},
        lambda line, now: line["state"] == "active" and not line["renews"],
    ),
    "ending": (
        {"states": [1, 2], "ends_within_days": 3},
        lambda line, now: line["state"] == "active" and now < line["expires"] <= now + 3 * DAY,
    ),
    "grace": ({"states": [STATES.ENTITLEMENT_STATE_GRACE_PERIOD]}, lambda line, now: line["state"] == "grace"),
    "retry": ({"states": [STATES.ENTITLEMENT_STATE_BILLING_RETRY]}, lambda line, now: line["state"] == "retry"),
    "weekly-usa": (
        {"product_ids": ["weekly"], "storefronts": ["USA"], "states": [1, 2]},
        lambda line, now: line["state"] == "active" and (line["product_id"], line["storefront"]) == ("weekly", "USA"),
    ),
    "bought": ({"states": [1, 2], "in_app_ownership_types": [1]}, lambda line, now: line["state"] == "active"),
}


class Segments:
    def __init__(self, service):
        self.service = service
        self.stub = contract.segment_stub(service.channel())

    def list(self, page_size=0, **selection):
        """All rows, page by page."""
        request = segment_service.ListCustomersRequest(app=APP, page_size=page_size, count=True, **selection)
        rows = []
        while True:
            page = self.stub.ListCustomers(request, timeout=CALL_LIMIT)
            rows += page.rows
            assert page.total >= len(rows)
            if not page.next_page_token:
                return rows, page
            request.page_token = page.next_page_token

    def lines(self, **selection):
        return collections.Counter(row.original_transaction_id for row in self.list(**selection)[0])

    def replay(self, name):
        """The members that the events of a saved segment leave, from the first event on."""
        members = set()
        last = self.list(segment=name)[1].sequence
        request = segment_service.WatchSegmentRequest(
            app=APP, segment=name, from_beginning=True, heartbeat_interval={"nanos": 200_000_000})
        for response in (stream := self.stub.WatchSegment(request, timeout=CALL_LIMIT)):
            if response.HasField("heartbeat"):
                if response.sequence >= last:
                    stream.cancel()
                    return members
                continue
            event = response.event
            assert event.segment == name
            if event.type == "SEGMENT_ENTERED":
                assert event.original_transaction_id not in members
                members.add(event.original_transaction_id)
            else:
                assert event.type == "SEGMENT_LEFT"
                members.remove(event.original_transaction_id)


def expected(service, name, now):
    """The purchases of the sandbox that are in a segment."""
    latest, paid = {}, {}
    for row in read(service, "SELECT * FROM purchase WHERE ownership = 'PURCHASED' ORDER BY purchase_date"):
        # Apple renews up to a day early.
        paid[row["original_transaction_id"]] = row["expires_date"]
        if row["purchase_date"] <= now:
            latest[row["original_transaction_id"]] = row
    found = collections.Counter()
    for line in read(service, "SELECT * FROM subscription WHERE ownership = 'PURCHASED'"):
        period = latest.get(line["original_transaction_id"])
        if period and SEGMENTS[name][1](period | line | {"expires": paid[line["original_transaction_id"]]}, now):
            found[str(line["original_transaction_id"])] += 1
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    from harness import Service

    receiver = Receiver()
    directory = tmp_path_factory.mktemp("segments")
    (directory / "hook.secret").write_text(SECRET)
    (directory / "hook.secret").chmod(0o600)
    configuration = CONFIGURATION + f"""    webhooks:
      hook: {{url: "{receiver.url}", secret: {{file: hook.secret}}, events: [SEGMENT_ENTERED, SEGMENT_LEFT]}}
    segments:
      configured: {{states: [CANCELLED, EXPIRED_BILLING], max_days_in_state: 10}}
"""
    (directory / "entitled.yaml").write_text(configuration)
    service = Service(directory / "data", ["--config", directory / "entitled.yaml"])
    lives, segments = Lives(service), Segments(service)
    for name, (filter, _) in SEGMENTS.items():
        segments.stub.CreateSegment(
            segment_service.CreateSegmentRequest(app=APP, name=name, filter=filter), timeout=CALL_LIMIT)
    yield service, lives, segments, receiver
    service.stop()
    receiver.close()


def test_segments_equal_the_tables_of_the_sandbox_at_the_end_of_each_day(world):
    service, lives, segments, receiver = world
    entered = collections.Counter()
    dice = random.Random(2)
    for _ in range(DAYS // STEP):
        lives.live(STEP)
        lives.first = lives.end
        now = lives.now()
        for name, (filter, _) in SEGMENTS.items():
            wanted = expected(service, name, now)

            def check():
                assert segments.lines(filter=filter, page_size=dice.choice([0, 1, 2, 1000])) == wanted, name
                assert segments.lines(segment=name) == wanted, name

            eventually(check)
            entered[name] += len(wanted)
    for name in SEGMENTS:
        assert segments.replay(name) == set(segments.lines(segment=name)), name
    assert all(entered[name] for name in ("renewing", "at-risk", "ending")), entered
    assert entered["grace"] + entered["retry"], entered
    receiver.wait(lambda self: len({request.data["type"] for request in self.accepted}) == 2)
    assert {request.data["type"] for request in receiver.accepted} == {"SEGMENT_ENTERED", "SEGMENT_LEFT"}
    assert all(request.data["segment"] for request in receiver.accepted)


def test_a_segment_that_the_configuration_defines_cannot_be_deleted_and_others_can(world):
    segments = world[2]
    listed = segments.stub.ListSegments(
        segment_service.ListSegmentsRequest(app=APP, count=True, page_size=3), timeout=CALL_LIMIT)
    assert len(listed.segments) == 3 and listed.next_page_token
    assert [s.name for s in listed.segments] == sorted([*SEGMENTS, "configured"])[:3]
    limited = segments.stub.ListSegments(
        segment_service.ListSegmentsRequest(app=APP, count=True, page_size=3, count_limit=1), timeout=CALL_LIMIT)
    assert [s.total for s in limited.segments] == [min(1, s.total) for s in listed.segments]
    counted = segment_service.ListCustomersRequest(app=APP, filter={}, count=True, count_limit=2)
    assert segments.stub.ListCustomers(counted, timeout=CALL_LIMIT).total == 2
    counted.count_limit = -1
    with pytest.raises(grpc.RpcError) as error:
        segments.stub.ListCustomers(counted, timeout=CALL_LIMIT)
    assert contract.reason(error.value) == "INVALID_FIELD"

    def code(name):
        with pytest.raises(grpc.RpcError) as error:
            segments.stub.DeleteSegment(
                segment_service.DeleteSegmentRequest(app=APP, name=name), timeout=CALL_LIMIT)
        return error.value.code(), contract.reason(error.value)

    assert code("configured") == (grpc.StatusCode.FAILED_PRECONDITION, "CONFIGURED_SEGMENT")
    assert code("nothing") == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_SEGMENT")
    create = segment_service.CreateSegmentRequest(app=APP, name="short", filter={"unclaimed": True})
    first = segments.stub.CreateSegment(create, timeout=CALL_LIMIT)
    assert first.position and segments.stub.CreateSegment(create, timeout=CALL_LIMIT).segment == first.segment
    create.filter.unclaimed = False
    with pytest.raises(grpc.RpcError) as error:
        segments.stub.CreateSegment(create, timeout=CALL_LIMIT)
    assert error.value.code() == grpc.StatusCode.ALREADY_EXISTS
    delete = segment_service.DeleteSegmentRequest(app=APP, name="short")
    segments.stub.DeleteSegment(delete, timeout=CALL_LIMIT)
    assert code("short") == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_SEGMENT")
    # With a key, the response to a repeated call does not depend on what happened since.
    created = assert_once(segments.stub.CreateSegment, create, {"note": "why"})
    assert_once(segments.stub.DeleteSegment, delete, {"note": "why"})
    assert segments.stub.CreateSegment(create, timeout=CALL_LIMIT).segment == created.segment
    assert code("short") == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_SEGMENT")


def test_the_events_of_a_deleted_segment_end_also_if_another_one_has_its_name(world):
    stub = world[2].stub
    create = segment_service.CreateSegmentRequest(app=APP, name="again", filter={"unclaimed": True})
    stub.CreateSegment(create, timeout=CALL_LIMIT)
    listed = stub.ListCustomers(segment_service.ListCustomersRequest(app=APP, segment="again"), timeout=CALL_LIMIT)

    def watch():
        request = segment_service.WatchSegmentRequest(app=APP, segment="again", after_sequence=listed.sequence)
        return stub.WatchSegment(request, timeout=CALL_LIMIT)

    live = watch()
    live.initial_metadata()  # it watches
    stub.DeleteSegment(segment_service.DeleteSegmentRequest(app=APP, name="again"), timeout=CALL_LIMIT)
    types = []
    with pytest.raises(grpc.RpcError) as ended:
        for response in live:
            types += [response.event.type] if response.HasField("event") else []
    assert ended.value.code() == grpc.StatusCode.NOT_FOUND and contract.reason(ended.value) == "UNKNOWN_SEGMENT"
    assert types[-1] == "SEGMENT_REDEFINED" and "SEGMENT_REDEFINED" not in types[:-1]
    create.filter.unclaimed = False
    stub.CreateSegment(create, timeout=CALL_LIMIT)
    stream = watch()
    resumed = next(response.event for response in stream if response.HasField("event"))
    assert (resumed.type, resumed.segment, resumed.customer_id) == ("SEGMENT_REDEFINED", "again", "")
    stream.cancel()
    stub.DeleteSegment(segment_service.DeleteSegmentRequest(app=APP, name="again"), timeout=CALL_LIMIT)


@pytest.mark.parametrize(("filter", "field"), [
    ({"states": [7]}, "filter.states"), ({"max_days_in_state": 0}, "filter.max_days_in_state"),
    ({"min_paid_days": 40_000}, "filter.min_paid_days"), ({"payment_modes": [9]}, "filter.payment_modes"),
    ({"in_app_ownership_types": [0]}, "filter.in_app_ownership_types"),
])  # fmt: skip
def test_a_condition_out_of_range_is_refused(world, filter, field):
    with pytest.raises(grpc.RpcError) as error:
        world[2].list(filter=filter)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    details = contract.rpc_status.from_call(error.value)
    assert any(field.encode() in detail.value for detail in details.details)


def test_the_command_prints_the_rows_as_csv(world):
    service, _, segments, _ = world
    output = run("segment", "customers", "renewing", "--csv", "--grpc", service.grpc).stdout.splitlines()
    rows = segments.list(segment="renewing")[0]
    assert output[0].startswith("customer_id,original_transaction_id,product_id,state,")
    assert {line.split(",")[1] for line in output[1:]} == {row.original_transaction_id for row in rows}
