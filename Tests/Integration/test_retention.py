"""Apple's requests for the retention message on the Confirm Cancellation page: answered from the policy, checked by the sandbox as
Apple does, and followed until the outcome is known."""

import base64
import contextlib
import time
import urllib.request
import uuid

import grpc
import pytest
from cryptography.hazmat.primitives import serialization

import contract
import forge
import stores
from certificates import write_key
from contract import retention_messaging_service as messages
from forge import Forger
from harness import CALL_LIMIT, Service, post, wait_for
from postgres import PostgresServer
from test_app_store import APP, World
from test_replicas import replicas  # noqa: F401
from test_signing import BUNDLE, ISSUER, KEY_ID

OFFER, SWITCH, PLAIN, DEFAULT = (str(uuid.UUID(int=number)) for number in (1, 2, 3, 4))
CONFIGURATION = f"""
apps:
  ocean-journal:
    bundle_id: {BUNDLE}
    apple_id: 1234567890
    environments: [Sandbox]
    in_app_purchase_key: {{file: iap.p8, key_id: {KEY_ID}, issuer_id: {ISSUER}}}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1M, price: 4.99, currency: USD, offers: [stay]}}
      pro.yearly: {{type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1Y, price: 39.90, currency: USD, monthly_price: 4.20}}
      films.monthly: {{type: Auto-Renewable Subscription, group: films, entitlements: [films], period: P1M, price: 2.99, currency: USD}}
      news.monthly: {{type: Auto-Renewable Subscription, group: news, entitlements: [news], period: P1M, price: 1.99, currency: USD}}
    retention_messaging:
      outcome_days: 2
      rules:
        - name: long
          product_ids: [pro.monthly]
          min_tenure_days: 20
          answers: [{{message: {SWITCH}, switch_to: {{product: pro.yearly}}}}]
        - name: german
          product_ids: [pro.monthly]
          locales: [de]
          answers: [{{message: {OFFER}, offer: {{id: stay, signature: legacy}}}}]
        - name: offer
          product_ids: [pro.monthly]
          storefronts: [USA]
          answers: [{{message: {OFFER}, offer: {{id: stay}}}}]
        - {{name: plain, product_ids: [films.monthly], answers: [{{message: {PLAIN}}}]}}
        - {{name: control, product_ids: [news.monthly], answers: [{{nothing: true}}]}}
        - {{name: yearly, product_ids: [pro.yearly], answers: [{{message: {PLAIN}}}]}}
"""


class Subscribers(World):
    """A service with a policy, whose messages the sandbox has, and which asks it."""

    def __init__(self, service, key):
        super().__init__(service)
        self.retention = contract.retention_messaging_stub(self.channel)
        public = serialization.load_pem_private_key(key, None).public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        self.act("keys", keyId=KEY_ID, publicKey=public)
        self.act("offers", app=APP, productId="pro.monthly", id="stay", type="PROMOTIONAL", mode="PAY_AS_YOU_GO",
                 period="P1M", periods=3, price=2990)  # fmt: skip
        for message in (OFFER, SWITCH, PLAIN, DEFAULT):
            self.act("retention-message", app=APP, id=message, content={"header": "Stay", "body": "There is more"})
        self.url = f"http://{service.http}/retention/{APP}"
        self.act("realtime-url", app=APP, url=self.url)

    def subscribe(self, product="pro.monthly", **members):
        """Returns the original transaction id of a new customer's subscription, of which the service knows."""
        bought = self.act("purchases", app=APP, productId=product, account=f"a-{uuid.uuid4()}", **members)
        self.submit(bought["signedTransactionInfo"], members.get("appAccountToken", str(uuid.uuid4())))
        self.deliver()
        return bought["originalTransactionId"]

    def submit(self, document, customer):
        contract.receipt_stub(self.channel).SubmitTransaction(
            contract.receipt_service.SubmitTransactionRequest(app=APP, customer_id=customer, signed_transaction=document),
            timeout=CALL_LIMIT)

    def ask(self, transaction, **members):
        return self.act("realtime-message", transactionId=transaction, **members)

    def requests(self, **members):
        request = messages.ListRetentionRequestsRequest(app=APP, **members)
        return list(self.retention.ListRetentionRequests(request, timeout=CALL_LIMIT).requests)

    def report(self):
        request = messages.GetRetentionReportRequest(app=APP)
        return self.retention.GetRetentionReport(request, timeout=CALL_LIMIT)

    def decision(self, transaction):
        [request] = self.requests(original_transaction_id=transaction)
        return messages.RetentionAnswer.Name(request.answer).removeprefix("RETENTION_ANSWER_"), request.reason, request.rule

    def outcome(self, transaction, count=1):
        """The final outcome of the latest request about a subscription."""
        def final():
            found = self.requests(original_transaction_id=transaction)
            return len(found) == count and all(request.outcome_is_final for request in found)
        wait_for(final)
        found = self.requests(original_transaction_id=transaction)[0]
        return messages.RetentionOutcome.Name(found.outcome).removeprefix("RETENTION_OUTCOME_")


@pytest.fixture
def world(start, tmp_path):
    yield from subscribers(start, tmp_path, CONFIGURATION)


@pytest.fixture
def consenting(start, tmp_path):
    """A world in which a withdrawn consent ends access."""
    yield from subscribers(start, tmp_path, CONFIGURATION.replace(
        "    retention_messaging:", "    rescind_consent: end_access\n    retention_messaging:", 1))  # fmt: skip


def subscribers(start, folder, configuration):
    (folder / "entitled.yaml").write_text(configuration)
    key = write_key(folder / "iap.p8")
    world = Subscribers(start(arguments=["--config", folder / "entitled.yaml"]), key)
    yield world
    world.channel.close()


def test_an_offer_is_signed_as_apple_checks_it_and_taken(world):
    line = world.subscribe()
    asked = world.ask(line)
    assert "problem" not in asked, asked
    assert asked["shown"] == {"source": "REALTIME", "kind": "promotionalOffer", "messageIdentifier": OFFER}
    jws = asked["answer"]["promotionalOffer"]["promotionalOfferSignatureV2"]
    claims = forge.payload_of(jws)
    assert (claims["transactionId"], claims["productId"], claims["offerIdentifier"]) == (line, "pro.monthly", "stay")
    assert world.decision(line) == ("PROMOTIONAL_OFFER", "RULE", "offer")
    account = next(a for a in world.requests() if a.original_transaction_id == line)
    assert account.offer_identifier == "stay" and account.answer_microseconds > 0 and account.locale == "en-US"
    legacy = world.subscribe()
    asked = world.ask(legacy, locale="de-DE")
    assert asked["shown"]["source"] == "REALTIME", asked
    signature = asked["answer"]["promotionalOffer"]["promotionalOfferSignatureV1"]
    assert signature["keyId"] == KEY_ID and base64.b64decode(signature["encodedSignature"])
    assert world.decision(legacy) == ("PROMOTIONAL_OFFER", "RULE", "german")


def test_other_answers_and_the_messages_of_apple_without_one(world):
    films, news = world.subscribe("films.monthly"), world.subscribe("news.monthly")
    assert world.ask(films)["shown"]["messageIdentifier"] == PLAIN
    nothing = world.ask(news)
    assert (nothing["status"], nothing["problem"], nothing["shown"]) == (204, "NO_ANSWER", {"source": "NONE"})
    world.act("retention-default", app=APP, productId="news.monthly", locale="en-US", id=DEFAULT)
    assert world.ask(news)["shown"] == {"source": "DEFAULT", "kind": "message", "messageIdentifier": DEFAULT}
    assert world.ask(news, locale="fr-FR")["shown"] == {"source": "NONE"}
    assert {request.rule for request in world.requests(original_transaction_id=news)} == {"control"}
    monthly = world.subscribe()
    world.advance("21d")
    asked = world.ask(monthly)
    assert asked["shown"]["kind"] == "alternateProduct" and asked["answer"]["alternateProduct"]["productId"] == "pro.yearly"


def test_the_sandbox_rejects_what_apple_does_not_show(world):
    line = world.subscribe()
    world.act("review-retention", app=APP, id=OFFER, approved=False)
    assert world.ask(line)["problem"] == "MESSAGE_NOT_APPROVED"
    world.act("retention-message", app=APP, id=OFFER)
    assert world.ask(line)["problem"] == "UNKNOWN_MESSAGE"
    world.act("retention-image", app=APP, id="picture")
    world.act("retention-message", app=APP, id=OFFER, content={
        "header": "Stay", "body": "More", "image": {"imageIdentifier": "picture", "altText": "A wave"}})
    assert world.ask(line)["problem"] == "MESSAGE_WITH_IMAGE"
    world.act("retention-message", app=APP, id=OFFER, content={"header": "Stay", "body": "More"})
    assert "problem" not in world.ask(line)
    other = serialization.load_pem_private_key(write_key(world.service.data / "other.p8"), None).public_key()
    world.act("keys", keyId=KEY_ID, publicKey=other.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode())
    assert world.ask(line)["problem"] == "INVALID_SIGNATURE"
    assert world.ask(line)["shown"] == {"source": "NONE"}


def test_no_answer_for_members_of_a_family_commitments_refunds_and_failed_payments(world):
    world.act("shareable", app=APP, productId="pro.monthly", enabled=True)
    for account in ("owner", "child"):
        world.act("join-family", account=account, family="ours")
    world.act("purchases", app=APP, productId="pro.monthly", account="owner")
    [document] = world.act("restore", app=APP, account="child")["signedTransactions"]
    world.submit(document, "child")
    shared = forge.payload_of(document)["originalTransactionId"]
    assert world.ask(shared)["status"] == 204
    assert world.decision(shared) == ("NOTHING", "NOT_PAYER", "")
    failing = world.act("purchases", app=APP, productId="films.monthly", account="failing")
    world.submit(failing["signedTransactionInfo"], "failing")
    failing = failing["originalTransactionId"]
    world.act("billing", account="failing", fails=True)
    world.advance("32d")
    assert world.ask(failing)["status"] == 204
    assert world.decision(failing) == ("NOTHING", "PAYMENT_PROBLEM", "")
    world.act("storefront", account="committed", storefront="DEU")
    bought = world.act("purchases", app=APP, productId="pro.yearly", account="committed", billingPlanType="MONTHLY")
    world.submit(bought["signedTransactionInfo"], "committed")
    committed = bought["originalTransactionId"]
    assert world.ask(committed)["status"] == 204
    assert world.decision(committed) == ("NOTHING", "COMMITTED", "")
    films = world.subscribe("films.monthly", appAccountToken=str(uuid.uuid4()))
    world.act("request-consumption", transactionId=films)
    world.deliver()
    assert world.ask(films)["status"] == 204
    assert world.decision(films) == ("NOTHING", "OPEN_REFUND", "")
    world.act("faults", kind="drop", count=100)
    unknown = world.act("purchases", app=APP, productId="films.monthly", account="stranger")["originalTransactionId"]
    assert world.ask(unknown)["status"] == 204
    assert world.decision(unknown) == ("NOTHING", "UNKNOWN_PURCHASE", "")
    rows = {row.reason: row.requests for row in world.report().rows}
    assert rows == {"NOT_PAYER": 1, "PAYMENT_PROBLEM": 1, "COMMITTED": 1, "OPEN_REFUND": 1, "UNKNOWN_PURCHASE": 1}


def test_no_answer_after_a_withdrawn_consent(consenting):
    bought = consenting.act("purchases", app=APP, productId="films.monthly", account="child")
    consenting.submit(bought["signedTransactionInfo"], "child")
    consenting.deliver()
    line, other = bought["originalTransactionId"], consenting.subscribe("films.monthly")
    assert consenting.ask(line)["shown"]["messageIdentifier"] == PLAIN
    consenting.act("rescind-consent", app=APP, account="child")
    consenting.deliver()
    assert consenting.ask(line)["status"] == 204
    assert {request.reason for request in consenting.requests(original_transaction_id=line)} == {"RULE", "NOT_ACTIVE"}
    assert consenting.ask(other)["shown"]["messageIdentifier"] == PLAIN


def test_actions_of_subscribers_after_a_request_are_stored_and_reported(world):
    films = world.subscribe("films.monthly")
    left, stays = world.subscribe("films.monthly"), world.subscribe("films.monthly")
    taker = world.act("purchases", app=APP, productId="pro.monthly", account="taker")
    world.submit(taker["signedTransactionInfo"], "taker")
    taker = taker["originalTransactionId"]
    switcher = world.act("purchases", app=APP, productId="pro.monthly", account="switcher")
    world.submit(switcher["signedTransactionInfo"], "switcher")
    switcher = switcher["originalTransactionId"]
    jws = world.ask(taker)["answer"]["promotionalOffer"]["promotionalOfferSignatureV2"]
    for line in (films, left, stays, switcher):
        world.ask(line)
    assert {request.outcome for request in world.requests()} == {messages.RETENTION_OUTCOME_PENDING}
    assert not any(request.outcome_is_final for request in world.requests())
    world.act("purchases", app=APP, productId="pro.monthly", account="taker", offer="stay", offerSignature=jws)
    world.act("purchases", app=APP, productId="pro.yearly", account="switcher")
    for line in (left, stays):
        world.act("auto-renew", transactionId=line, enabled=False)
    world.deliver()
    world.advance("1h")
    assert world.outcome(switcher) == "SWITCHED"
    assert world.outcome(taker) == "OFFER_TAKEN"
    assert {messages.RetentionOutcome.Name(r.outcome) for r in world.requests(original_transaction_id=left)} <= {
        "RETENTION_OUTCOME_LEFT", "RETENTION_OUTCOME_PENDING"}
    world.act("auto-renew", transactionId=stays, enabled=True)
    world.deliver()
    world.advance("3d")
    assert [world.outcome(line) for line in (films, left, stays)] == ["SAVED", "LEFT", "SAVED"]
    report = world.report()
    rows = {row.rule: row for row in report.rows}
    assert (rows["plain"].requests, rows["plain"].saved, rows["plain"].left) == (3, 2, 1)
    assert rows["plain"].save_rate == pytest.approx(2 / 3)
    assert (rows["offer"].offer_taken, rows["offer"].switched, rows["offer"].offer_identifier) == (1, 1, "stay")
    assert (report.total.requests, report.total.left) == (5, 1)
    assert not world.requests(outcome=messages.RETENTION_OUTCOME_PENDING)


def signed(forger, line, **changed):
    payload = {
        "originalTransactionId": line, "appAppleId": 1234567890, "productId": "films.monthly", "userLocale": "en-US",
        "requestIdentifier": str(uuid.uuid4()), "environment": "Sandbox", "signedDate": round(1_000 * time.time()),
        **changed}  # fmt: skip
    payload = {name: value for name, value in payload.items() if value is not None}
    return forge.sign(payload, forger.chain, forger.leaf_key, "ES256")


def test_only_requests_of_apple_about_this_app_are_answered(world):
    line = world.subscribe("films.monthly")
    forger = Forger(world.service)

    def answer(payload, app=APP):
        return post(f"http://{world.service.http}/retention/{app}", {"signedPayload": payload})

    def answered_in_time():
        """An answered request. On a busy machine the service may find no answer in time, and says nothing then."""
        request = signed(forger, line)
        return answer(request) == (200, {"message": {"messageIdentifier": PLAIN}}) and request

    request = wait_for(answered_in_time)
    stored = len(world.requests(original_transaction_id=line))
    assert answer(request)[0] == 200, "a repeated request has the same answer"
    assert len(world.requests(original_transaction_id=line)) == stored, "and is stored once"
    head, body, signature = request.split(".")
    broken = f"{head}.{body}.{signature[:-4]}AAAA"
    for payload, status, reason in [
        (broken, 403, "BAD_SIGNATURE"),
        (signed(forger, line, appAppleId=7), 403, "OTHER_APP"),
        (signed(forger, line, environment="Production"), 403, "UNTRUSTED_ROOT"),
        (signed(forger, line, requestIdentifier=None), 400, "MISSING_MEMBER"),
        ("nonsense", 403, "NOT_A_JWS"),
    ]:  # fmt: skip
        found = answer(payload)
        assert found[0] == status and found[1]["reason"] == reason, found
    assert answer(request, app="other")[0] == 404
    world.advance("2d")
    assert answer(signed(forger, line))[1]["reason"] == "TOO_OLD", "it may be a copy"
    assert post(f"http://{world.service.http}/retention/{APP}", {})[0] == 400
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(f"http://{world.service.http}/retention/{APP}", timeout=CALL_LIMIT)
    assert error.value.code == 405


def test_an_end_of_the_service_loses_no_request(world):
    line = world.subscribe("films.monthly")
    forger = Forger(world.service)
    count = 40
    for _ in range(count):
        assert post(f"http://{world.service.http}/retention/{APP}", {"signedPayload": signed(forger, line)})[0] in (200, 204)
    world.service.stop()
    assert stores.query(world.service.data, "SELECT count(*) FROM retention_request") == [(count,)]


@pytest.mark.skipif(not stores.IS_SQLITE, reason="the test starts its own database")
def test_nothing_is_answered_at_once_while_the_database_is_away(tmp_path):
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION)
    key = write_key(tmp_path / "iap.p8")
    server = PostgresServer("--fsync", "off")
    server.sql("CREATE DATABASE away TEMPLATE template0")
    service = Service(tmp_path, ["--config", tmp_path / "entitled.yaml", "--store", server.address("away")])
    try:
        world = Subscribers(service, key)
        line = world.subscribe("films.monthly")
        wait_for(lambda: world.ask(line)["status"] == 200)
        server.order("stop")
        answers = [world.ask(line) for _ in range(20)]
        assert {(asked["status"], asked["problem"]) for asked in answers} == {(204, "NO_ANSWER")}
        # Most: the machine of a test may be busy.
        assert sorted(asked["milliseconds"] for asked in answers)[10] < 700
        server.order("start")
        wait_for(lambda: world.ask(line)["status"] == 200)

        def stored():
            with contextlib.suppress(grpc.RpcError):
                return [one.reason for one in world.requests(original_transaction_id=line)]

        reasons = wait_for(lambda: (found := stored()) and len(found) >= 22 and found)
        assert set(reasons) <= {"RULE", "LATE", "STORE_UNAVAILABLE"} and reasons.count("RULE") >= 2
        assert len(set(reasons)) > 1
        world.channel.close()
    finally:
        service.kill()
        server.close()


def test_a_follower_answers_and_the_leader_stores_the_request(replicas, tmp_path):
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(CONFIGURATION)
    key = write_key(tmp_path / "iap.p8")
    group = replicas(2, configurations=dict.fromkeys("ab", configuration))
    leader = group.wait_for_leader()
    world = Subscribers(group.services[leader], key)
    line = world.subscribe("films.monthly")
    follower = group.services[group.followers[0]]
    forger = Forger(group.services[leader])

    def answered():
        """Whether the follower, which learns of the purchase a little later, answers a new request with the message."""
        status, answer = post(f"http://{follower.http}/retention/{APP}", {"signedPayload": signed(forger, line)})
        return status == 200 and answer == {"message": {"messageIdentifier": PLAIN}}

    wait_for(answered)
    with follower.channel() as channel:
        stub = contract.retention_messaging_stub(channel)
        found = stub.ListRetentionRequests(messages.ListRetentionRequestsRequest(app=APP), timeout=CALL_LIMIT).requests
    assert (line, "plain") in [(one.original_transaction_id, one.rule) for one in found]
    world.channel.close()


def test_requests_are_answered_while_the_leader_is_replaced(replicas, tmp_path):
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(CONFIGURATION)
    key = write_key(tmp_path / "iap.p8")
    group = replicas(2, configurations=dict.fromkeys("ab", configuration))
    leader = group.wait_for_leader()
    world = Subscribers(group.services[leader], key)
    line = world.subscribe("films.monthly")
    [name] = group.followers
    follower, forger = group.services[name], Forger(group.services[leader])

    def answer():
        return post(f"http://{follower.http}/retention/{APP}", {"signedPayload": signed(forger, line)})

    expected = (200, {"message": {"messageIdentifier": PLAIN}})
    wait_for(lambda: answer() == expected)
    world.channel.close()
    group.services[leader].kill()
    answers = []
    while group.leader != name or len(answers) < 20:
        answers.append(answer())
        # A busy machine may exceed the time limit of a read, and nothing else may stop an answer.
        assert answers[-1] in (expected, (204, "")), f"request {len(answers)} after the leader ended"
    # Reads that need a leader would all be late.
    assert expected in answers, answers
    with urllib.request.urlopen(f"http://{follower.http}/metrics", timeout=CALL_LIMIT) as page:
        counts = [line for line in page.read().decode().splitlines() if line.startswith("entitled_retention_requests_total{")]
    assert counts and not [line for line in counts if 'reason="STORE_UNAVAILABLE"' in line], counts
