"""`MigrateReceipts` with sides of different speed: the slower one sets the pace, and no request is buffered or lost."""

import queue

import grpc
import pytest

import contract
from contract import receipt_service
from harness import wait_for
from test_metrics import value
from test_migration_job import get
from test_migration_receipt import APP, Store

RECEIPTS = 400
# Long enough that outcomes fill the transport's window and a buffer in the service.
LONG = "x" * 4_000


@pytest.fixture
def store(start):
    store = Store(start())
    yield store
    store.channel.close()


def test_a_client_that_does_not_read_stops_the_work(store):
    empty = store.receipt("newcomer")
    sent = []

    def request(number, name="other", note=""):
        return receipt_service.MigrateReceiptsRequest(
            correlation_id=f"{number} {note}", app=APP, customer_id=f"{name}-{number}", receipt_base64=empty)

    def requests():
        for number in range(RECEIPTS):
            sent.append(number)
            yield request(number, "c", LONG)

    def accepted():
        return value(store.service, "entitled_receipts_total", reason="TAKEN")

    before = store.service.memory
    # Limits grpcio's own buffering; otherwise it would read ahead for the application.
    options = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536)]
    channel = grpc.insecure_channel(store.service.grpc, options)
    answers = contract.receipt_stub(channel).MigrateReceipts(requests(), timeout=300)
    first = next(answers)
    # The client stops reading: the service processes only what fits the buffers, and so does the sender. In the time for
    # the receipts of a client that reads it would process as many of these.
    others = list(store.receipts.MigrateReceipts(map(request, range(RECEIPTS // 4)), timeout=300))
    assert len(others) == RECEIPTS // 4
    wait_for(lambda: accepted() - len(others) >= 16)
    stopped = accepted() - len(others)
    assert stopped < RECEIPTS / 3 and len(sent) < RECEIPTS / 2, (stopped, len(sent))
    assert store.service.memory - before < 64 << 20
    numbers = [int(answer.correlation_id.split()[0]) for answer in (first, *answers)]
    assert sorted(numbers) == list(range(RECEIPTS)), "each receipt has one response"
    assert accepted() == RECEIPTS + len(others)
    assert store.service.memory - before < 64 << 20
    channel.close()


def test_a_slow_sender_gets_each_response_at_once(store):
    store.buy("ann")
    waiting = queue.SimpleQueue()
    requests = iter(waiting.get, None)
    answers = store.receipts.MigrateReceipts(requests, timeout=60)
    for number, (customer, receipt) in enumerate([("ann", store.receipt("ann")), ("ben", store.receipt("newcomer"))]):
        waiting.put(receipt_service.MigrateReceiptsRequest(
            correlation_id=str(number), app=APP, customer_id=customer, receipt_base64=receipt))  # fmt: skip
        # The stream stays open; the next receipt is sent only after the response to this one.
        assert next(answers).correlation_id == str(number)
    assert store.check("ann").entitled
    waiting.put(None)
    assert not list(answers)


def test_a_cancelled_stream_cancels_its_work(store):
    receipts = 40
    for number in range(receipts):
        store.buy(f"a{number}")
    waiting = queue.SimpleQueue()
    answers = store.receipts.MigrateReceipts(iter(waiting.get, None), timeout=60)

    def send(number):
        waiting.put(receipt_service.MigrateReceiptsRequest(
            correlation_id=str(number), app=APP, customer_id=f"a{number}", receipt_base64=store.receipt(f"a{number}")))

    send(0)
    next(answers)
    # From now on Apple takes longer than this test.
    faults = 1_000_000
    store.act("faults", kind="slow", count=faults, by="60s")
    for number in range(1, receipts):
        send(number)
    wait_for(lambda: get(f"http://{store.service.sandbox}/sandbox/v1/faults")["slow"] < faults)
    answers.cancel()
    waiting.put(None)
    cancelled = lambda: value(store.service, "entitled_receipts_total", reason="CANCELLED")  # noqa: E731
    wait_for(lambda: cancelled() > 0)
    # The service is done with another stream meanwhile.
    answers = store.receipts.MigrateReceipts(iter([receipt_service.MigrateReceiptsRequest(
        correlation_id="later", app=APP, customer_id="later", receipt_base64=store.receipt("newcomer"))]), timeout=60)
    assert [answer.correlation_id for answer in answers] == ["later"]
    assert cancelled() < receipts - 1, "receipts of a cancelled stream are not started"
