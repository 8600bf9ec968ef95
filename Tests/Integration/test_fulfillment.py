"""Events and delivery of consumables, also across a crash of the service."""

import grpc
import pytest

import contract
from contract import StatusCode, receipt_service
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service, post

APP = "ocean-journal"
PRODUCT = "shells.100"


class Shop:
    """One service, and calls to it."""

    def __init__(self, directory):
        self.directory = directory
        self.start()

    def start(self):
        self.service = Service(self.directory)
        self.channel = self.service.channel()
        self.entitlements = contract.entitlement_stub(self.channel)

    def crash(self):
        self.channel.close()
        self.service.kill()
        self.start()

    def call(self, method, **members):
        message = getattr(wire, f"{method}Request")(app=APP, **members)
        return getattr(self.entitlements, method)(message, timeout=CALL_LIMIT)

    def submit(self, document):
        request = receipt_service.SubmitTransactionRequest(app=APP, customer_id="ana", signed_transaction=document)
        return contract.receipt_stub(self.channel).SubmitTransaction(request, timeout=CALL_LIMIT).transaction

    def act(self, action, **members):
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def due(self):
        return [(one.customer_id, one.transaction.transaction_id, one.units)
                for one in self.call("ListUnfulfilledPurchases").purchases]  # fmt: skip

    def acknowledge(self, transaction, fulfillment, **members):
        return self.call(
            "AcknowledgeFulfillment", transaction_id=transaction, fulfillment_id=fulfillment, **members)


@pytest.fixture
def shop(tmp_path):
    shop = Shop(tmp_path / "data")
    yield shop
    shop.channel.close()
    shop.service.kill()


def test_a_consumable_is_delivered_once_across_crashes_and_taken_back_after_a_refund(shop):
    bought = shop.submit(shop.service.buy(PRODUCT)["signedTransactionInfo"])
    transaction = bought.transaction_id
    assert shop.due() == [("ana", transaction, bought.quantity)]
    shop.crash()
    assert shop.due() == [("ana", transaction, bought.quantity)]
    assert shop.acknowledge(transaction, "delivery-1").units_due == 0
    shop.crash()
    assert not shop.due()
    assert shop.acknowledge(transaction, "delivery-1").fulfilled_units == bought.quantity
    with pytest.raises(grpc.RpcError) as error:
        shop.acknowledge(transaction, "delivery-2")
    assert (error.value.code(), contract.reason(error.value)) == (StatusCode.ALREADY_EXISTS, "ALREADY_FULFILLED")
    shop.act("notification-url", app=APP, url=f"http://{shop.service.http}/notifications/{APP}", version=2)
    shop.act("refund", transactionId=transaction, reason="OTHER")
    shop.act("clock/advance", by="1s")
    assert shop.due() == [("ana", transaction, -bought.quantity)]
    shop.crash()
    assert shop.due() == [("ana", transaction, -bought.quantity)]
    assert shop.acknowledge(transaction, "back-1", units=-bought.quantity).units_due == 0
    assert not shop.due()
    events = shop.call("ListTimeline", customer_id="ana").events
    assert [(event.type, event.transaction_id) for event in events] == [
        ("PURCHASED", transaction), ("REFUNDED", transaction)]  # fmt: skip
    with pytest.raises(grpc.RpcError) as error:
        shop.acknowledge("77", "delivery-2")
    assert (error.value.code(), contract.reason(error.value)) == (StatusCode.NOT_FOUND, "UNKNOWN_CONSUMABLE")


def test_a_consumable_has_events_with_product_quantity_and_price(shop):
    bought = shop.submit(shop.service.buy(PRODUCT)["signedTransactionInfo"])
    event = shop.call("ListTimeline", customer_id="ana").events[0]
    assert (event.type, event.entitlement, event.transaction_id) == ("PURCHASED", "", bought.transaction_id)
    assert (event.product_id, event.product_type, event.quantity) == (PRODUCT, bought.type, bought.quantity)
    assert event.price == bought.price and event.price.currency
    assert event.effective_at == bought.purchase_date
    assert not event.HasField("before") and not event.HasField("after")
