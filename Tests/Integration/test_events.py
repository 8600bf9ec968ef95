"""Events after commit: Watch and ListTimeline."""

import grpc
import pytest

import contract
from contract import StatusCode, entitlement_service, receipt_service
from harness import CALL_LIMIT, Service

APP = "ocean-journal"
# A stream is open while other calls are made.
STREAM_LIMIT = 6 * CALL_LIMIT


@pytest.fixture
def own(tmp_path):
    """A service for one test alone."""
    service = Service(tmp_path / "data")
    yield service
    service.kill()


def watch(channel, **changed):
    members = {"app": APP, "heartbeat_interval": {"nanos": 200_000_000}} | changed
    return contract.entitlement_stub(channel).Watch(
        entitlement_service.WatchRequest(**members), timeout=STREAM_LIMIT)


def submit(channel, service, customer, product="pro.monthly"):
    document = service.buy(product)["signedTransactionInfo"]
    return contract.receipt_stub(channel).SubmitTransaction(
        receipt_service.SubmitTransactionRequest(app=APP, customer_id=customer, signed_transaction=document),
        timeout=CALL_LIMIT,
    )  # fmt: skip


def events(stream, count):
    """The next `count` events of a stream, without heartbeats."""
    found = []
    while len(found) < count:
        message = next(stream)
        if message.WhichOneof("content") == "event":
            assert message.sequence == message.event.sequence
            found.append(message.event)
    return found


def test_an_event_has_the_state_before_and_after(own):
    with own.channel() as channel:
        stream = watch(channel)
        assert next(stream).WhichOneof("content") == "heartbeat"
        submitted = submit(channel, own, "ana")
        (event,) = events(stream, 1)
        assert (event.customer_id, event.entitlement, event.type) == ("ana", "pro", "STARTED")
        assert (event.before.entitled, event.after.entitled) == (False, True)
        assert event.evidence_id == submitted.evidence_id
        assert event.explanation and event.transaction_id and event.recorded_at.seconds
        stream.cancel()


def test_filters_pass_only_matching_events(own):
    with own.channel() as channel:
        stream = watch(channel, customer_ids=["ben"], entitlements=["pro"])
        next(stream)
        submit(channel, own, "ana")
        submit(channel, own, "ben")
        assert events(stream, 1)[0].customer_id == "ben"
        stream.cancel()


def test_watch_resumes_without_gap_or_duplicate(own):
    with own.channel() as channel:
        for number in range(5):
            submit(channel, own, f"c{number}")
        stream = watch(channel, from_beginning=True)
        first = events(stream, 2)
        stream.cancel()
        submit(channel, own, "c5")
        rest = events(watch(channel, after_sequence=first[-1].sequence), 4)
        assert [event.customer_id for event in first + rest] == [f"c{number}" for number in range(6)]
        assert [event.sequence for event in first + rest] == list(range(1, 7))


def test_a_stream_starts_after_the_position_of_a_write(own):
    with own.channel() as channel:
        submit(channel, own, "ana")
        position = submit(channel, own, "ben").position
        submit(channel, own, "cleo")
        stream = watch(channel, after_position=position)
        message = next(stream)
        assert (message.event.customer_id, message.sequence) == ("cleo", 3)
        assert message.position not in ("", position)
        stream.cancel()


def test_watch_resumes_after_a_kill(tmp_path):
    service = Service(tmp_path / "data")
    with service.channel() as channel:
        submit(channel, service, "ana")
        last = events(watch(channel, from_beginning=True), 1)[0].sequence
        submit(channel, service, "ben")
    service.kill()
    service = Service(tmp_path / "data")
    with service.channel() as channel:
        submit(channel, service, "cleo")
        found = events(watch(channel, after_sequence=last), 2)
        assert [event.customer_id for event in found] == ["ben", "cleo"]
        assert [event.sequence for event in found] == [last + 1, last + 2]
    service.kill()


def test_heartbeats_carry_the_resume_token(own):
    with own.channel() as channel:
        submit(channel, own, "ana")
        stream = watch(channel)
        beat = next(stream)
        assert beat.WhichOneof("content") == "heartbeat" and beat.sequence == 1
        stream.cancel()


@pytest.mark.parametrize(
    "changed, code",
    [
        ({"app": ""}, StatusCode.INVALID_ARGUMENT),
        ({"app": "no-such-app"}, StatusCode.NOT_FOUND),
        ({"entitlements": ["gold"]}, StatusCode.NOT_FOUND),
        ({"after_sequence": 1_000_000}, StatusCode.OUT_OF_RANGE),
        ({"after_sequence": -1}, StatusCode.INVALID_ARGUMENT),
        ({"after_position": "AAAA"}, StatusCode.INVALID_ARGUMENT),
        ({"from_beginning": False}, StatusCode.INVALID_ARGUMENT),
        ({"heartbeat_interval": {"nanos": 1}}, StatusCode.INVALID_ARGUMENT),
    ],
)
def test_an_invalid_watch_is_rejected(channel, changed, code):
    with pytest.raises(grpc.RpcError) as error:
        next(watch(channel, **changed))
    assert error.value.code() == code


def test_a_shutdown_sends_watchers_the_resume_token(tmp_path):
    service = Service(tmp_path / "data")
    with service.channel() as channel:
        submit(channel, service, "ana")
        stream = watch(channel)
        next(stream)
        service.stop()
        with pytest.raises(grpc.RpcError) as end:
            for _ in stream:
                pass
        assert end.value.code() == StatusCode.UNAVAILABLE
        assert contract.details(end.value)["ErrorInfo"].metadata["resumeAfterSequence"] == "1"


def test_hundreds_of_watchers_get_every_event(own):
    with own.channel() as channel:
        # A second between heartbeats, because the client reads the streams one after the other.
        streams = [
            watch(channel, customer_ids=[f"c{number % 10}"], heartbeat_interval={"seconds": 1}) for number in range(300)]
        for stream in streams:
            next(stream)
        for number in range(10):
            submit(channel, own, f"c{number}")
        for number, stream in enumerate(streams):
            assert events(stream, 1)[0].customer_id == f"c{number % 10}"
            stream.cancel()


def test_a_timeline_is_paged(own):
    with own.channel() as channel:
        stub = contract.entitlement_stub(channel)
        for _ in range(3):
            grant = stub.Grant(
                entitlement_service.GrantRequest(
                    app=APP, customer_id="ana", entitlement="pro", access_level="ACCESS_LEVEL_FULL", actor="support"),
                timeout=CALL_LIMIT).grant  # fmt: skip
            stub.RevokeGrant(
                entitlement_service.RevokeGrantRequest(app=APP, grant_id=grant.grant_id), timeout=CALL_LIMIT)
        found, token = [], ""
        while True:
            page = stub.ListTimeline(
                entitlement_service.ListTimelineRequest(
                    app=APP, customer_id="ana", page_size=4, page_token=token), timeout=CALL_LIMIT)
            found += page.events
            token = page.next_page_token
            if not token:
                break
        assert [event.type for event in found] == ["GRANTED", "GRANT_REVOKED"] * 3
        assert found[0].actor == "support"
        customer = stub.GetCustomer(
            entitlement_service.GetCustomerRequest(app=APP, customer_id="ana"), timeout=CALL_LIMIT)
        assert customer.sequence == found[-1].sequence


def test_a_page_token_works_for_its_own_request_only(own):
    with own.channel() as channel:
        stub = contract.entitlement_stub(channel)
        for customer in ("ana", "ben"):
            for _ in range(2):
                grant = stub.Grant(
                    entitlement_service.GrantRequest(
                        app=APP, customer_id=customer, entitlement="pro", access_level="ACCESS_LEVEL_FULL"),
                    timeout=CALL_LIMIT).grant  # fmt: skip
                stub.RevokeGrant(
                    entitlement_service.RevokeGrantRequest(app=APP, grant_id=grant.grant_id), timeout=CALL_LIMIT)

        def page(**members):
            members = {"app": APP, "customer_id": "ana", "page_size": 1} | members
            return stub.ListTimeline(entitlement_service.ListTimelineRequest(**members), timeout=CALL_LIMIT)

        token = page().next_page_token
        assert page(page_token=token).events[0].sequence > page().events[0].sequence
        assert page(page_token=token, page_size=2).events
        for changed in ({"customer_id": "ben"}, {"include_notifications": True}, {"page_token": "1"},
                        {"page_token": token[:-1]}):
            with pytest.raises(grpc.RpcError) as error:
                page(**({"page_token": token} | changed))
            assert error.value.code() == StatusCode.INVALID_ARGUMENT
            assert contract.reason(error.value) == "INVALID_PAGE_TOKEN"
        with pytest.raises(grpc.RpcError) as error:
            stub.ListUnclaimedPurchases(
                entitlement_service.ListUnclaimedPurchasesRequest(app=APP, page_token=token), timeout=CALL_LIMIT)
        assert error.value.code() == StatusCode.INVALID_ARGUMENT
