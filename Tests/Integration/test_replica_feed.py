"""Several processes on one PostgreSQL database: positions, changes of other processes, and a database that is away."""

import contextlib
import datetime
import json
import re
import shutil
import time
import urllib.error
import urllib.request

import grpc
import pytest

import contract
from contract import entitlement, entitlement_service, entitlement_stub
from harness import CALL_LIMIT, Service, post, run, wait_for
from postgres import PostgresServer

APP = "ocean-journal"
# A call that waits for the database takes a minute to connect; a busy machine needs some of it.
AT_ONCE = 20


def grant(service, customer, **more):
    """Grants `pro`; returns the position in the response, which its metadata has too."""
    request = entitlement_service.GrantRequest(
        app=APP, customer_id=customer, entitlement="pro", access_level=entitlement.ACCESS_LEVEL_FULL, **more
    )
    with service.channel() as channel:
        response, call = entitlement_stub(channel).Grant.with_call(request, timeout=CALL_LIMIT)
        assert dict(call.initial_metadata())["entitled-position"] == response.position
        return response.position


def check(service, customer, at_least=None, timeout=CALL_LIMIT):
    """Returns whether a customer has `pro`, and the initial metadata of the response."""
    request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
    metadata = [("entitled-at-least", at_least)] if at_least else []
    with service.channel() as channel:
        response, call = entitlement_stub(channel).Check.with_call(request, metadata=metadata, timeout=timeout)
        return response.entitlement.entitled, dict(call.initial_metadata())


def failure(body):
    """The error of a call that fails, and how long it took."""
    start = time.monotonic()
    with pytest.raises(grpc.RpcError) as caught:
        body()
    return caught.value, time.monotonic() - start


def until(condition):
    """Waits until `condition` returns something, ignoring failed calls."""
    def attempt():
        with contextlib.suppress(grpc.RpcError):
            return condition()

    return wait_for(attempt)


@contextlib.contextmanager
def replicas(address, folder, count=2):
    """Processes on one database, which share their installation's key."""
    running = []
    try:
        for number in range(count):
            data = folder / f"replica-{number}"
            data.mkdir(mode=0o700, parents=True)
            if running:
                shutil.copy(running[0].data / "entitled.key", data)
            running.append(Service(data, ["--store", address]))
        yield running
    finally:
        for service in running:
            service.kill()


@pytest.mark.parametrize("pooled", [False, True])
def test_a_write_of_one_process_is_in_the_next_answer_of_another_one_with_its_position(postgres, tmp_path, pooled):
    with (
        postgres.database() as database,
        replicas(postgres.address(database, pooled), tmp_path) as (reader, writer),
    ):
        for number in range(30):
            customer = f"customer-{number}"
            # The answer of before is cached in the other process.
            assert check(reader, customer)[0] is False
            position = grant(writer, customer)
            assert check(reader, customer, at_least=position)[0] is True
            status, answer = post(
                f"http://{reader.http}/entitled.v1.EntitlementService/Check",
                {"app": APP, "customerId": customer, "entitlement": "pro"}, {"entitled-at-least": position},
            )  # fmt: skip
            assert status == 200 and answer["entitlement"]["entitled"], answer
        # Without a position the answer follows a moment later.
        grant(writer, "later")
        until(lambda: check(reader, "later")[0])


def test_a_stream_of_another_process_has_what_one_wrote_and_its_positions_count_everywhere(postgres, tmp_path):
    with postgres.database() as database, replicas(postgres.address(database), tmp_path) as (reader, writer):
        first = grant(writer, "first")
        with reader.channel() as channel:
            request = entitlement_service.WatchRequest(app=APP, after_position=first)
            stream = entitlement_stub(channel).Watch(request, timeout=CALL_LIMIT)
            assert "entitled-position" in dict(stream.initial_metadata())
            for number in range(5):
                grant(writer, f"customer-{number}")
                message = next(stream)
                assert message.event.customer_id == f"customer-{number}"
                assert check(writer, f"customer-{number}", at_least=message.position)[0]
                assert check(reader, f"customer-{number}", at_least=message.position)[0]


def test_positions_that_no_process_can_reach_are_refused_by_name(postgres, tmp_path):
    with postgres.database() as database, replicas(postgres.address(database), tmp_path, 1) as (service,):
        position = grant(service, "ana")
        assert check(service, "ana", at_least=f"{position},{position}")[0]
        error, _ = failure(lambda: check(service, "ana", at_least="x" + position))
        assert (error.code(), contract.reason(error)) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_POSITION")
        with postgres.database() as other, replicas(postgres.address(other), tmp_path / "other", 1) as (stranger,):
            error, seconds = failure(lambda: check(stranger, "ana", at_least=position))
            assert (error.code(), contract.reason(error)) == (grpc.StatusCode.OUT_OF_RANGE, "UNKNOWN_POSITION")
            assert seconds < AT_ONCE


def test_a_position_from_after_a_backup_is_refused_by_the_restored_sqlite_store(tmp_path):
    service = Service(tmp_path / "data")
    kept = grant(service, "ana")
    backup = tmp_path / "backup.sqlite"
    assert run("store", "backup", backup, "--data", tmp_path / "data").returncode == 0
    lost = grant(service, "ben")
    assert check(service, "ben", at_least=lost)[0] and check(service, "ana", at_least=kept)[0]
    service.stop()
    restored = tmp_path / "restored"
    restored.mkdir(mode=0o700)
    shutil.copy(backup, restored / "entitled.sqlite")
    service = Service(restored)
    # As many customers as before, so that its positions are as high.
    grant(service, "cat")
    grant(service, "dan")
    assert check(service, "ana", at_least=kept)[0]
    for call in (
        lambda: check(service, "ben", at_least=lost),
        lambda: next(
            entitlement_stub(service.channel()).Watch(entitlement_service.WatchRequest(app=APP, after_position=lost))
        ),
    ):
        error, _ = failure(call)
        assert (error.code(), contract.reason(error)) == (grpc.StatusCode.OUT_OF_RANGE, "UNKNOWN_POSITION")
    service.stop()


def now():
    return datetime.datetime.now(datetime.UTC)


def test_known_customers_are_answered_while_the_database_is_away_and_unknown_ones_are_not(tmp_path):
    server = PostgresServer("--fsync", "off")
    server.sql("CREATE DATABASE away TEMPLATE template0")
    service = Service(tmp_path, ["--store", server.address("away") + "&max_staleness=PT1S&serve_stale_for=PT1H"])
    try:
        end = now() + datetime.timedelta(seconds=12)
        grant(service, "ana")
        grant(service, "ending", until=end)
        assert check(service, "ana")[0] and check(service, "ending")[0] and not check(service, "unknown")[0]
        document = {"app": APP, "productId": "lifetime"}
        _, made = post(f"http://{service.sandbox}/sandbox/v1/documents/notification", document)
        notification = json.dumps({"signedPayload": made["document"]}).encode()
        server.order("stop")
        # Within a second, writes are refused and known customers are answered, at first without a mark.
        answers = until(lambda: (found := check(service, "ana"))[1].get("entitled-stale-since") and found)
        assert answers[0] is True
        since = datetime.datetime.fromisoformat(answers[1]["entitled-stale-since"])
        assert datetime.timedelta(seconds=1) < now() - since < datetime.timedelta(seconds=60)
        for customer in ("unknown", "never-asked"):
            error, seconds = failure(lambda customer=customer: check(service, customer))
            assert error.code() == grpc.StatusCode.UNAVAILABLE and seconds < AT_ONCE, customer
            assert contract.reason(error) == "STORE_UNAVAILABLE"
        error, seconds = failure(lambda: grant(service, "ben"))
        assert error.code() == grpc.StatusCode.UNAVAILABLE and seconds < AT_ONCE
        assert contract.details(error)["RetryInfo"].retry_delay.seconds > 0
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(
                urllib.request.Request(
                    f"http://{service.http}/notifications/{APP}", notification, {"content-type": "application/json"}
                ),
                timeout=CALL_LIMIT,
            )
        assert refused.value.code == 503 and int(refused.value.headers["retry-after"]) > 0
        lines = until(lambda: [line for line in service.log.splitlines() if "POST /notifications/{app}" in line])
        assert re.search("warning .* reason=(TRY_AGAIN|STORE_UNAVAILABLE) ", lines[0]), lines
        # The service stays ready, and an expiry comes on time.
        assert service.readiness()[0] == 200
        assert check(service, "ending")[0] is (now() < end)
        time.sleep(max(0, (end - now()).total_seconds()) + 0.1)
        assert check(service, "ending")[0] is False
        batch = entitlement_service.BatchCheckRequest(
            checks=[
                entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
                for customer in ("ana", "never-asked", "ending")
            ]
        )
        with service.channel() as channel:
            response, call = entitlement_stub(channel).BatchCheck.with_call(batch, timeout=CALL_LIMIT)
        assert "entitled-stale-since" in dict(call.initial_metadata())
        ana, unknown, ending = response.results
        assert ana.response.entitlement.entitled and not ending.response.entitlement.entitled
        assert unknown.error.code == grpc.StatusCode.UNAVAILABLE.value[0]
        server.order("start")
        position = until(lambda: grant(service, "ben"))
        answer, metadata = until(lambda: check(service, "ben", at_least=position))
        assert answer and "entitled-stale-since" not in metadata
        assert not until(lambda: [check(service, "never-asked")])[0][0]
    finally:
        service.kill()
        server.close()


def test_a_service_that_may_not_answer_from_memory_is_not_ready_while_the_database_is_away(tmp_path):
    server = PostgresServer("--fsync", "off")
    server.sql("CREATE DATABASE away TEMPLATE template0")
    options = "&max_staleness=PT1S&serve_stale_for=PT2S&ready_while_stale=false"
    service = Service(tmp_path, ["--store", server.address("away") + options])
    try:
        grant(service, "ana")
        assert check(service, "ana")[0]
        server.order("stop")
        until(lambda: service.readiness()[0] == 503)

        def code():
            try:
                check(service, "ana")
            except grpc.RpcError as error:
                return error.code()

        until(lambda: code() == grpc.StatusCode.UNAVAILABLE)
        server.order("start")
        until(lambda: check(service, "ana")[0] and service.readiness()[0] == 200)
    finally:
        service.kill()
        server.close()
