"""`MigrateReceipts` with sides of different speed: the slower one sets the pace, and no request is buffered or lost."""

import queue
import time

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


def settled(number):
    """Waits until a number has not changed for a second; returns it."""
    last, since = number(), time.monotonic()
    while time.monotonic() - since < 1:
        time.sleep(0.1)
        if (now := number()) != last:
            last, since = now, time.monotonic()
    return last


def test_a_client_that_does_not_read_stops_the_work(store):
    empty = store.receipt("newcomer")
    sent = []

    def requests():
        for number in range(RECEIPTS):
            sent.append(number)
            yield receipt_service.MigrateReceiptsRequest(
                correlation_id=f"{number} {LONG}", app=APP, customer_id=f"c{number}", receipt_base64=empty)

    def accepted():
        return value(store.service, "entitled_receipts_total", reason="TAKEN")

    before = store.service.memory
    # Limits grpcio's own buffering; otherwise it would read ahead for the application.
    options = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536)]
    channel = grpc.insecure_channel(store.service.grpc, options)
    answers = contract.receipt_stub(channel).MigrateReceipts(requests(), timeout=120)
    first = next(answers)
    # The client stops reading: the service processes only what fits the buffers, and so does the sender.
    stopped = settled(accepted)
    assert 16 <= stopped < RECEIPTS / 3, stopped
    assert len(sent) < RECEIPTS / 2 and len(sent) - stopped < 500, (len(sent), stopped)
    assert store.service.memory - before < 64 << 20
    numbers = [int(answer.correlation_id.split()[0]) for answer in (first, *answers)]
    assert sorted(numbers) == list(range(RECEIPTS)), "each receipt has one response"
    assert accepted() == RECEIPTS
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
    wait_for(lambda: value(store.service, "entitled_receipts_total", reason="CANCELLED") > 0)
    stopped = settled(lambda: value(store.service, "entitled_receipts_total"))
    assert stopped < receipts, "receipts of a cancelled stream are not started"
