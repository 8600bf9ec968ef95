"""Family Sharing and group purchases over gRPC, with the sandbox App Store's notifications."""

import concurrent.futures
import json
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer

import grpc
import pytest

import contract
import forge
from certificates import write_key
from contract import StatusCode, app_store_service, entitlement_service, receipt_service
from harness import CALL_LIMIT, post
from test_signing import CONFIGURATION

APP = "ocean-journal"
NOW = int(time.time() * 1000)
DAY = 86_400_000


class Family:
    """A service, its sandbox, and the accounts that share there; the customer id equals the account name."""

    def __init__(self, service):
        self.service = service
        self.channel = service.channel()
        self.entitlements = contract.entitlement_stub(self.channel)
        self.receipts = contract.receipt_stub(self.channel)
        self.apple = contract.app_store_stub(self.channel)
        self.act("notification-url", app=APP, url=f"http://{service.http}/notifications/{APP}", version=2)
        self.act("shareable", app=APP, productId="pro.monthly", enabled=True)

    def act(self, action, **members):
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def deliver(self):
        """Waits for all pending notifications by advancing the clock."""
        self.act("clock/advance", by="1s")

    def submit(self, customer, jws):
        return self.receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(app=APP, customer_id=customer, signed_transaction=jws),
            timeout=CALL_LIMIT)

    def buy(self, account):
        bought = self.act("purchases", app=APP, productId="pro.monthly", account=account)
        self.submit(account, bought["signedTransactionInfo"])
        return bought["transactionId"]

    def open_app(self, account):
        """The account's app submits the transactions that the App Store returns."""
        for jws in self.act("restore", app=APP, account=account)["signedTransactions"]:
            self.submit(account, jws)

    def check(self, customer):
        return self.entitlements.Check(
            entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro"),
            timeout=CALL_LIMIT).entitlement

    def probable(self, customer):
        return self.entitlements.GetProbableFamily(
            entitlement_service.GetProbableFamilyRequest(app=APP, customer_id=customer), timeout=CALL_LIMIT
        ).members


@pytest.fixture
def family(start):
    family = Family(start())
    yield family
    family.channel.close()


def test_family_sharing_entitles_members_until_it_ends(family):
    bought = family.buy("anna")
    for account in ["anna", "ben", "cem"]:
        family.act("join-family", account=account, family="f")
    family.deliver()
    for account in ["ben", "cem"]:
        assert not family.check(account).entitled, "no submission has named the customer yet"
        family.open_app(account)
        has = family.check(account)
        assert has.entitled and has.in_app_ownership_type == contract.product.IN_APP_OWNERSHIP_TYPE_FAMILY_SHARED
        assert has.original_transaction_id != bought
        assert not has.advice and not has.HasField("renewal_price")
    assert family.check("anna").HasField("renewal_price")

    family.act("leave-family", account="cem")
    family.deliver()
    assert family.check("cem").reason == "FAMILY_SHARING_ENDED"
    assert family.check("ben").entitled and family.check("anna").entitled

    family.act("refund", transactionId=bought)
    family.deliver()
    assert [family.check(name).entitled for name in ["anna", "ben"]] == [False, False]
    family.act("reverse-refund", transactionId=bought)
    family.deliver()
    family.open_app("ben")
    assert [family.check(name).entitled for name in ["anna", "ben", "cem"]] == [True, True, False]

    family.act("join-family", account="cem", family="f")
    family.deliver()
    family.open_app("cem")
    assert family.check("cem").entitled
    family.act("stop-sharing", transactionId=bought)
    family.deliver()
    assert [family.check(name).entitled for name in ["anna", "ben", "cem"]] == [True, False, False]


def test_an_own_purchase_outlasts_family_sharing(family):
    family.buy("anna")
    for account in ["anna", "ben"]:
        family.act("join-family", account=account, family="f")
    family.deliver()
    family.open_app("ben")
    family.buy("ben")
    assert family.check("ben").in_app_ownership_type == contract.product.IN_APP_OWNERSHIP_TYPE_PURCHASED
    family.act("leave-family", account="ben")
    family.deliver()
    assert family.check("ben").entitled


def test_seats_assigned_by_apple_are_the_members_transactions(family):
    bought = family.act("purchases", app=APP, productId="pro.monthly", account="boss", seats=2)
    family.submit("boss", bought["signedTransactionInfo"])
    for account in ["dan", "eva"]:
        family.act("assign-seat", transactionId=bought["transactionId"], account=account)
        family.deliver()
        family.open_app(account)
        has = family.check(account)
        assert has.entitled and has.in_app_ownership_type == contract.product.IN_APP_OWNERSHIP_TYPE_ASSIGNED
        assert not has.advice
    family.act("unclaim-seat", transactionId=bought["transactionId"], account="eva")
    family.deliver()
    assert [family.check(name).entitled for name in ["boss", "dan", "eva"]] == [True, True, False]
    family.act("refund-seats", transactionId=bought["transactionId"], seats=1)
    family.deliver()
    assert family.check("boss").entitled


def test_support_sees_probable_family_members(family):
    family.buy("anna")
    for account in ["anna", "ben", "cem"]:
        family.act("join-family", account=account, family="f")
    family.deliver()
    for account in ["ben", "cem"]:
        family.open_app(account)
    family.buy("stranger")
    found = family.probable("ben")
    assert {member.customer_id for member in found} == {"anna", "cem"}
    assert all(0.5 < member.confidence < 1 and member.grounds for member in found)
    assert {member.customer_id for member in family.probable("anna")} == {"ben", "cem"}
    assert not family.probable("stranger") and not family.probable("newcomer")


class Team:
    """A purchase with seats to which the developer invites members."""

    def __init__(self, service, forger, seats, number=None):
        self.channel = service.channel()
        self.apple = contract.app_store_stub(self.channel)
        self.number = number or str(uuid.uuid4().int % 10**15)
        self.customer = f"boss-{self.number}"
        self.forger = forger
        self.bought(seats)

    def bought(self, seats, signed_at=NOW, **more):
        signed = self.forger.transaction(
            transactionId=self.number, originalTransactionId=self.number, productId="pro.monthly",
            type="Auto-Renewable Subscription", inAppOwnershipType="PURCHASED", purchaseDate=NOW - DAY,
            originalPurchaseDate=NOW - DAY, expiresDate=NOW + 30 * DAY, signedDate=signed_at, quantity=seats,
            multiSeatInfo={"invitationManagement": "DEVELOPER", **more})
        contract.receipt_stub(self.channel).SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=self.customer, signed_transaction=signed), timeout=CALL_LIMIT)

    def claim(self, customer="", request=None):
        return self.apple.ClaimSeat(
            app_store_service.ClaimSeatRequest(
                app=APP, original_transaction_id=self.number, customer_id=customer,
                request_identifier=request or str(uuid.uuid4())), timeout=CALL_LIMIT).seat

    def list(self, **page):
        return self.apple.ListSeats(
            app_store_service.ListSeatsRequest(app=APP, original_transaction_id=self.number, **page),
            timeout=CALL_LIMIT)

    def unclaim(self, seat):
        return self.apple.UnclaimSeat(
            app_store_service.UnclaimSeatRequest(
                app=APP, original_transaction_id=self.number, seat_id=seat.seat_id), timeout=CALL_LIMIT)


@pytest.fixture
def team(service, forger):
    team = Team(service, forger, 3)
    yield team
    team.channel.close()


def is_entitled(entitlements, customer):
    request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
    return entitlements.Check(request, timeout=CALL_LIMIT).entitlement.entitled


def test_a_seat_is_claimed_released_and_claimed_again(team, entitlements, customer):
    request = str(uuid.uuid4())
    seat = team.claim(customer, request)
    assert seat.customer_id == customer and seat.claimed_at.seconds
    assert team.claim(customer, request) == seat
    assert is_entitled(entitlements, customer) and is_entitled(entitlements, team.customer)
    released = team.unclaim(seat).seat
    assert (released.seat_id, released.customer_id, released.HasField("claimed_at")) == (seat.seat_id, "", False)
    assert team.unclaim(seat).seat == released
    assert not is_entitled(entitlements, customer) and is_entitled(entitlements, team.customer)
    assert team.claim(customer).seat_id != seat.seat_id
    assert is_entitled(entitlements, customer)


def test_concurrent_claims_never_exceed_the_seats_bought(team):
    def attempt(number):
        try:
            return team.claim(f"{team.number}-{number}").seat_id
        except grpc.RpcError as error:
            assert error.code() == StatusCode.FAILED_PRECONDITION
            assert contract.reason(error) == "NO_SEAT_LEFT"
            assert "3 bought, 3 claimed" in error.details()

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        seats = [seat for seat in pool.map(attempt, range(40)) if seat]
    assert len(set(seats)) == 3
    first = team.list(page_size=2)
    rest = team.list(page_size=2, page_token=first.next_page_token)
    assert first.purchased == 3 and not rest.next_page_token
    assert {seat.seat_id for seat in [*first.seats, *rest.seats]} == set(seats)


def test_a_seat_without_a_customer_is_claimed_later(team, entitlements, customer):
    seat = team.claim()
    assert not seat.customer_id
    request = app_store_service.AssociateSeatRequest(
        app=APP, original_transaction_id=team.number, seat_id=seat.seat_id, customer_id=customer)
    assert team.apple.AssociateSeat(request, timeout=CALL_LIMIT).seat.customer_id == customer
    assert is_entitled(entitlements, customer)
    request.customer_id = "another"
    with pytest.raises(grpc.RpcError) as error:
        team.apple.AssociateSeat(request, timeout=CALL_LIMIT)
    assert contract.reason(error.value) == "SEAT_TAKEN"


def test_refunded_seats_end_the_last_claim_and_not_the_purchasers_access(team, entitlements):
    members = [f"{team.number}-{number}" for number in range(3)]
    for member in members:
        team.claim(member)
    team.bought(3, signed_at=NOW + 1, revokedSeatQuantity=1)
    assert [is_entitled(entitlements, member) for member in members] == [True, True, False]
    assert is_entitled(entitlements, team.customer)
    assert team.list().purchased == 2


def test_events_of_seats_have_the_price_of_one_seat_their_number_and_that_of_the_refunded_ones(family):
    bought = family.act("purchases", app=APP, productId="pro.monthly", account="boss", seats=3)
    submitted = family.submit("boss", bought["signedTransactionInfo"]).transaction
    family.act("refund-seats", transactionId=bought["transactionId"], seats=1)
    family.deliver()
    events = family.entitlements.ListTimeline(
        entitlement_service.ListTimelineRequest(app=APP, customer_id="boss"), timeout=CALL_LIMIT).events
    assert [event.type for event in events] == ["STARTED", "REFUNDED"]
    payload = forge.payload_of(bought["signedTransactionInfo"])
    tiers = payload["multiSeatInfo"]["priceTiers"]
    for event, refunded in zip(events, [0, 1]):
        assert event.transaction_id == bought["transactionId"]
        assert (event.quantity, event.revoked_seat_quantity) == (3, refunded)
        assert event.price.milliunits == payload["price"]
        assert event.price.milliunits * event.quantity == sum(tier["tierPrice"] * tier["tierQuantity"] for tier in tiers)
    assert events[1].after.entitled, "two seats are left"
    assert (submitted.price.milliunits, submitted.quantity, submitted.revoked_seat_quantity) == (payload["price"], 3, 0)


@pytest.mark.parametrize(
    "management, code", [("APPLE", "SEATS_ASSIGNED_BY_APPLE"), (None, "NO_SEATS")], ids=["Apple's", "none"])
def test_seat_claims_on_other_purchases_are_rejected(team, management, code):
    team.bought(1, signed_at=NOW + 1, invitationManagement=management)
    with pytest.raises(grpc.RpcError) as error:
        team.claim("customer")
    assert error.value.code() == StatusCode.FAILED_PRECONDITION
    assert contract.reason(error.value) == code


@pytest.mark.parametrize("ownership", ["FAMILY_SHARED", "ASSIGNED"])
def test_calls_reserved_for_purchasers_are_rejected_for_members(start, ownership):
    family = Family(start())
    forger = forge.Forger(family.service)
    number = str(uuid.uuid4().int % 10**15)
    family.submit("ben", forger.transaction(
        transactionId=number, originalTransactionId=number, inAppOwnershipType=ownership))
    calls = [
        (family.apple.ExtendRenewalDate, "4030007" if ownership == "FAMILY_SHARED" else "4030028",
         app_store_service.ExtendRenewalDateRequest(
             app=APP, original_transaction_id=number, extend_by_days=7, request_identifier="r")),
        (family.apple.SendConsumptionInformation, "4000185" if ownership == "FAMILY_SHARED" else "4000227",
         app_store_service.SendConsumptionInformationRequest(
             app=APP, transaction_id=number, customer_consented=True, delivery_status="DELIVERY_STATUS_DELIVERED")),
    ]  # fmt: skip
    for call, named, request in calls:
        with pytest.raises(grpc.RpcError) as error:
            call(request, timeout=CALL_LIMIT)
        assert error.value.code() == StatusCode.FAILED_PRECONDITION
        assert contract.reason(error.value) == "NOT_THE_PURCHASER" and named in error.value.details()
    family.channel.close()


class Apple(HTTPServer):
    """Apple's seat endpoints (API 1.23), as far as a claim needs them; it may have no seat left."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), AppleHandler)
        self.seen = []
        self.error_response = None
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()


class AppleHandler(BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.command, self.path, json.loads(body or "{}")))
        status, answer = self.server.error_response or (200, {"seatClaimId": "claim-of-apple"})
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


@pytest.fixture
def apple():
    apple = Apple()
    yield apple
    apple.shutdown()
    apple.server_close()


def test_a_seat_counts_only_after_apple_confirms_it(start, tmp_path, apple):
    servers = f"app_store_servers: {{Sandbox: http://127.0.0.1:{apple.server_port}}}"
    (tmp_path / "entitled.yaml").write_text(
        CONFIGURATION.split("tokens:")[0].replace("    products:", f"    {servers}\n    products:"))
    write_key(tmp_path / "iap.p8")
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    team = Team(service, forge.Forger(service), 2)
    seats = f"/groups/v1/transactions/{team.number}/seats"
    seat = team.claim("dan", "request-1")
    assert team.claim("dan", "request-1") == seat
    assert apple.seen == [("POST", seats, {"requestIdentifier": "request-1"})]
    team.unclaim(seat)
    assert apple.seen[1:] == [("DELETE", f"{seats}/claim-of-apple", {})]
    apple.error_response = (400, {"errorCode": 4000000, "errorMessage": "No seats are available."})
    with pytest.raises(grpc.RpcError):
        team.claim("eva")
    assert not team.list().seats, "a claim that Apple rejects does not count"
    team.channel.close()
