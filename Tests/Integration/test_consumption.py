"""Consumption requests: Apple's question after a refund request is answered by the operator's policy, only with the
customer's consent, within Apple's 12 hours."""

import json
import urllib.request
import uuid

import pytest

import contract
from contract import app_store_service, entitlement_service
from harness import CALL_LIMIT, wait_for
from test_app_store import APP, World, timeline

CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    shared_secret: {file: secret}
    status_polling: false
    gap_repair: false
    consumption_requests:
      answer: ANSWER
      refund_preference: DECLINE
      sample_content_provided: true
      by_reason: {FULFILLMENT_ISSUE: {refund_preference: GRANT_FULL}, LEGAL: {answer: manual}}
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M, price: 4.99, currency: USD}
      season: {type: Non-Renewing Subscription, duration: P30D, entitlements: [pro], price: 4.99, currency: USD}
      coins: {type: Consumable, price: 0.99, currency: USD}
"""
STATE = app_store_service.ConsumptionRequestState


class Shop(World):
    """A sandbox in which customers request refunds."""

    def consent(self, customer, consented=True):
        return self.apple.SetConsumptionConsent(
            app_store_service.SetConsumptionConsentRequest(
                app=APP, customer_id=customer, consented=consented, actor="app", note="asked at sign-up"),
            timeout=CALL_LIMIT).consent

    def request_refund(self, transaction, reason="OTHER"):
        self.act("request-consumption", transactionId=transaction, reason=reason)
        self.deliver()

    def requests(self, **filters):
        return self.apple.ListConsumptionRequests(
            app_store_service.ListConsumptionRequestsRequest(app=APP, **filters), timeout=CALL_LIMIT).requests

    def settled(self):
        """The only request, once it is no longer open."""
        return wait_for(lambda: [one for one in self.requests() if one.state != STATE.CONSUMPTION_REQUEST_STATE_OPEN])[0]

    def pending(self, problem):
        """The only request, once it is pending for this reason."""
        return wait_for(lambda: [one for one in self.requests(state="CONSUMPTION_REQUEST_STATE_OPEN")
                                 if one.state_reason == problem])[0]

    def sent(self):
        """The consumption information that the App Store received."""
        with urllib.request.urlopen(f"http://{self.service.sandbox}/sandbox/v1/consumption") as answer:
            return json.load(answer)["consumption"]

    def open(self):
        """The number of open requests in the metrics."""
        name = f'entitled_consumption_requests_open{{app="{APP}",environment="Sandbox"}} '
        return wait_for(lambda: [int(line.removeprefix(name)) for line in self.scrape().splitlines()
                                 if line.startswith(name)])[0]

    def scrape(self):
        with urllib.request.urlopen(f"http://{self.service.http}/metrics") as answer:
            return answer.read().decode()


@pytest.fixture
def shop(start, tmp_path):
    """Starts a shop; a second call restarts it on the same data."""
    shops = []

    def shop(answer="automatic", version=2):
        secret = tmp_path / "secret"
        secret.write_text("a secret of ours")
        secret.chmod(0o600)
        file = tmp_path / "entitled.yaml"
        file.write_text(CONFIGURATION.replace("ANSWER", answer))
        shops.append(Shop(start(arguments=["--config", file]), version))
        return shops[-1]

    yield shop
    for one in shops:
        one.channel.close()


def test_consumption_is_sent_by_policy_with_consent(shop):
    shop, ana = shop(), str(uuid.uuid4())
    bought = shop.buy(ana)
    consent = shop.consent(ana)
    assert consent.consented and consent.evidence_id > 0
    assert shop.consent(ana) == consent, "repeating the consent changes nothing"
    customer = shop.entitlements.GetCustomer(
        entitlement_service.GetCustomerRequest(app=APP, customer_id=ana), timeout=CALL_LIMIT)
    assert customer.consumption_consent == consent
    shop.advance("15d")
    shop.request_refund(bought, "FULFILLMENT_ISSUE")
    request = shop.settled()
    assert (STATE.Name(request.state), request.customer_id, request.reason, request.state_reason) == (
        "CONSUMPTION_REQUEST_STATE_ANSWERED", ana, "FULFILLMENT_ISSUE", "")
    assert request.answer_by.seconds - request.requested_at.seconds == 12 * 3600
    sent, = shop.sent()
    # Apple computes the consumed share of subscriptions itself.
    assert (sent["transactionId"], sent["version"], sent["information"]) == (
        bought, "v2",
        {"customerConsented": True, "deliveryStatus": "DELIVERED", "sampleContentProvided": True,
         "refundPreference": "GRANT_FULL"})
    kinds = [(event.type, event.actor) for event in timeline(shop, ana)]
    assert kinds[-4:] == [("CONSENT_GIVEN", "app"), ("RENEWAL_TURNED_OFF", ""), ("REFUND_REQUESTED", ""),
                          ("APP_STORE_CALLED", "policy")]  # fmt: skip
    assert f'requests_settled_total{{app="{APP}",environment="Sandbox",outcome="ANSWERED"}} 1' in shop.scrape()
    # A notification delivered twice makes one request.
    shop.act("faults", kind="duplicate", count=5)
    shop.deliver()
    assert len(shop.requests()) == len(shop.sent()) == 1


def test_the_consumed_share_of_a_non_renewing_subscription_is_sent(shop):
    shop, ana = shop(), str(uuid.uuid4())
    bought = shop.buy(ana, "season")
    shop.consent(ana)
    shop.advance("15d")
    shop.request_refund(bought)
    assert STATE.Name(shop.settled().state) == "CONSUMPTION_REQUEST_STATE_ANSWERED"
    sent, = shop.sent()
    assert 46_000 < sent["information"]["consumptionPercentage"] < 54_000, "half of a month"


def test_apple_computes_the_consumed_share_of_a_subscription(shop):
    shop, ana = shop("manual"), str(uuid.uuid4())
    bought = shop.buy(ana)
    answer = app_store_service.SendConsumptionInformationRequest(
        app=APP, transaction_id=bought, customer_consented=True, delivery_status="DELIVERY_STATUS_DELIVERED",
        consumption_percentage=50_000)
    with pytest.raises(contract.RpcError) as error:
        shop.apple.SendConsumptionInformation(answer, timeout=CALL_LIMIT)
    assert contract.reason(error.value) == "INVALID_FIELD" and not shop.sent()
    answer.ClearField("consumption_percentage")
    shop.apple.SendConsumptionInformation(answer, timeout=CALL_LIMIT)
    assert [one["transactionId"] for one in shop.sent()] == [bought]


def test_no_consumption_percentage_is_sent_for_a_consumable(shop):
    shop, ana = shop(), str(uuid.uuid4())
    bought = shop.buy(ana, "coins")
    shop.consent(ana)
    shop.request_refund(bought)
    assert shop.settled().product_id == "coins"
    assert "consumptionPercentage" not in shop.sent()[0]["information"]
    assert shop.sent()[0]["information"]["refundPreference"] == "DECLINE"


def test_a_prorated_refund_needs_the_consumed_share(shop):
    shop, ana = shop("manual"), str(uuid.uuid4())
    coins = shop.buy(ana, "coins")
    answer = app_store_service.SendConsumptionInformationRequest(
        app=APP, transaction_id=coins, customer_consented=True, delivery_status="DELIVERY_STATUS_DELIVERED",
        refund_preference="REFUND_PREFERENCE_GRANT_PRORATED")
    with pytest.raises(contract.RpcError) as error:
        shop.apple.SendConsumptionInformation(answer, timeout=CALL_LIMIT)
    assert contract.reason(error.value) == "INVALID_FIELD" and "prorated" in error.value.details() and not shop.sent()
    answer.consumption_percentage = 50_000
    shop.apple.SendConsumptionInformation(answer, timeout=CALL_LIMIT)
    assert [one["transactionId"] for one in shop.sent()] == [coins]


def test_an_open_request_has_the_computed_share(shop):
    shop, ana = shop("manual"), str(uuid.uuid4())
    season, coins = shop.buy(ana, "season"), shop.buy(ana, "coins")
    shop.advance("15d")
    shop.request_refund(season)
    shop.request_refund(coins)
    found = wait_for(lambda: len(found := shop.requests()) == 2 and found)
    requests = {one.transaction_id: one for one in found}
    assert 46_000 < requests[season].consumption_percentage < 54_000, "half of a month"
    assert not requests[coins].HasField("consumption_percentage"), "nothing is known of the use of a consumable"
    shop.advance("13h")
    missed = wait_for(lambda: len(found := shop.requests(state="CONSUMPTION_REQUEST_STATE_MISSED")) == 2 and found)
    assert not any(one.HasField("consumption_percentage") for one in missed)


def test_open_requests_are_listed_by_their_deadlines(shop):
    shop, bought = shop("manual"), []
    for _ in range(3):
        bought.append(shop.buy(str(uuid.uuid4())))
        shop.request_refund(bought[-1])
        wait_for(lambda: len(shop.requests()) == len(bought))
        shop.advance("1h")
    assert [one.transaction_id for one in shop.requests()] == bought[::-1], "newest first"
    request = app_store_service.ListConsumptionRequestsRequest(
        app=APP, state=STATE.CONSUMPTION_REQUEST_STATE_OPEN, page_size=1)
    listed = []
    while not listed or request.page_token:
        page = shop.apple.ListConsumptionRequests(request, timeout=CALL_LIMIT)
        listed += [one.transaction_id for one in page.requests]
        request.page_token = page.next_page_token
    assert listed == bought, "a page for each, the one whose time ends first at the front"


def test_the_requests_of_a_merged_customer_are_listed_under_both_ids(shop):
    shop, old, account = shop("manual"), str(uuid.uuid4()), "ana"
    bought = shop.buy(old)
    shop.entitlements.MergeCustomers(
        entitlement_service.MergeCustomersRequest(app=APP, from_customer_id=old, into_customer_id=account),
        timeout=CALL_LIMIT)
    shop.request_refund(bought)
    wait_for(lambda: shop.requests())
    for customer in (old, account):
        for environment in ("ENVIRONMENT_UNSPECIFIED", "ENVIRONMENT_SANDBOX"):
            found = shop.requests(customer_id=customer, environment=environment)
            assert [(one.transaction_id, one.customer_id) for one in found] == [(bought, account)]
    assert not shop.requests(customer_id="ben")


def test_a_request_without_consent_is_listed_and_not_answered(shop):
    shop, ana, ben = shop(), str(uuid.uuid4()), str(uuid.uuid4())
    of_ana, of_ben = shop.buy(ana), shop.buy(ben)
    shop.consent(ben)
    assert not shop.consent(ben, consented=False).consented
    shop.request_refund(of_ana)
    shop.request_refund(of_ben)
    wait_for(lambda: {one.state_reason for one in shop.requests()} == {"NO_CONSENT"})
    wait_for(lambda: shop.open() == 2)
    # Consent given before the deadline is in time.
    shop.consent(ana)
    wait_for(lambda: [one.state for one in shop.requests(customer_id=ana)] == [STATE.CONSUMPTION_REQUEST_STATE_ANSWERED])
    with pytest.raises(contract.RpcError) as error:
        shop.apple.SendConsumptionInformation(
            app_store_service.SendConsumptionInformationRequest(
                app=APP, transaction_id=of_ben, customer_consented=True, delivery_status="DELIVERY_STATUS_DELIVERED"),
            timeout=CALL_LIMIT)
    assert contract.reason(error.value) == "CONSENT_WITHDRAWN"
    shop.advance("13h")
    missed = wait_for(lambda: shop.requests(state="CONSUMPTION_REQUEST_STATE_MISSED"))[0]
    assert (missed.customer_id, missed.state_reason) == (ben, "NO_CONSENT") and missed.HasField("settled_at")
    assert [one["transactionId"] for one in shop.sent()] == [of_ana]
    assert 'outcome="MISSED"} 1' in shop.scrape()
    wait_for(lambda: shop.open() == 0)
    sent = [event for event in timeline(shop, ben) if event.type == "REFUND_REQUEST_MISSED"]
    assert [(event.effective_at, event.evidence_id, event.actor) for event in sent] == [(missed.answer_by, 0, "")]
    assert not [event for event in timeline(shop, ana) if event.type == "REFUND_REQUEST_MISSED"]


def test_an_open_request_survives_kill_9(shop):
    first, ana = shop(), str(uuid.uuid4())
    bought = first.buy(ana)
    first.consent(ana)
    first.deliver()
    first.act("faults", kind="server-error", count=10_000)
    first.request_refund(bought)
    pending = first.pending("APP_STORE_UNAVAILABLE")
    assert pending.attempts >= 1 and not first.sent()
    first.service.kill()
    # The injected faults end with the process; the sandbox's state survives.
    again = shop()
    again.advance("20m")
    assert again.settled().evidence_id == pending.evidence_id
    assert [one["transactionId"] for one in again.sent()] == [bought]


def test_a_request_past_its_deadline_is_a_dead_letter_and_counted(shop):
    shop, ana = shop(), str(uuid.uuid4())
    bought = shop.buy(ana)
    shop.consent(ana)
    shop.deliver()
    shop.act("faults", kind="server-error", count=10_000)
    shop.request_refund(bought)
    shop.pending("APP_STORE_UNAVAILABLE")
    shop.advance("6h")
    assert shop.requests()[0].state == STATE.CONSUMPTION_REQUEST_STATE_OPEN
    shop.advance("6h")
    missed = shop.settled()
    assert (STATE.Name(missed.state), missed.state_reason) == (
        "CONSUMPTION_REQUEST_STATE_MISSED", "APP_STORE_UNAVAILABLE")
    assert 'outcome="MISSED"} 1' in shop.scrape()


def test_the_manual_policy_waits_for_an_operator(shop):
    shop, ana = shop("manual"), str(uuid.uuid4())
    bought = shop.buy(ana)
    shop.consent(ana)
    shop.request_refund(bought)
    shop.pending("MANUAL")
    listed = shop.service.command("consumption", "list", "--open").stdout
    assert bought in listed and "MANUAL" in listed
    shop.apple.SendConsumptionInformation(
        app_store_service.SendConsumptionInformationRequest(
            app=APP, transaction_id=bought, customer_consented=True, delivery_status="DELIVERY_STATUS_UNDELIVERED_OTHER",
            refund_preference="REFUND_PREFERENCE_GRANT_PRORATED", actor="eve"), timeout=CALL_LIMIT)
    assert STATE.Name(shop.settled().state) == "CONSUMPTION_REQUEST_STATE_ANSWERED"
    assert shop.sent()[0]["information"]["refundPreference"] == "GRANT_PRORATED"


def test_a_reason_can_be_manual(shop):
    shop, ana = shop(), str(uuid.uuid4())
    bought = shop.buy(ana)
    shop.consent(ana)
    shop.request_refund(bought, "LEGAL")
    shop.pending("MANUAL")
    assert not shop.sent()


def test_a_request_for_an_unclaimed_purchase_waits_for_a_customer(shop):
    shop = shop()
    bought = shop.act("purchases", app=APP, productId="pro.monthly", account="customer")["transactionId"]
    shop.request_refund(bought)
    assert shop.pending("NO_CUSTOMER").customer_id == ""


def test_a_purchase_claimed_shortly_before_the_deadline_is_answered(shop):
    shop, ana = shop(), "ana"
    bought = shop.act("purchases", app=APP, productId="pro.monthly", account="customer")
    shop.consent(ana)
    shop.request_refund(bought["transactionId"])
    shop.pending("NO_CUSTOMER")
    shop.advance("11h")
    shop.advance("50m")
    contract.receipt_stub(shop.channel).SubmitTransaction(
        contract.receipt_service.SubmitTransactionRequest(
            app=APP, customer_id=ana, signed_transaction=bought["signedTransactionInfo"]), timeout=CALL_LIMIT)
    assert shop.settled().state == STATE.CONSUMPTION_REQUEST_STATE_ANSWERED


def test_the_last_check_is_before_the_deadline(shop):
    first, ana = shop("manual"), str(uuid.uuid4())
    bought = first.buy(ana)
    first.consent(ana)
    first.request_refund(bought)
    first.pending("MANUAL")
    first.advance("11h")
    first.advance("50m")
    # The configuration has an answer now; a new configuration makes no request due.
    first.service.stop()
    again = shop()
    again.advance("9m")
    assert again.settled().state == STATE.CONSUMPTION_REQUEST_STATE_ANSWERED


def test_version_1_notifications_open_requests(shop):
    shop, ana = shop(version=1), str(uuid.uuid4())
    # Apple's sandbox does not send this type of version 1, and Production sends it for consumables only.
    shop.act("delivery", app=APP, rules="PRODUCTION")
    shop.act("shared-secret", app=APP, password="a secret of ours")
    bought = shop.buy(ana, "coins")
    shop.consent(ana)
    shop.request_refund(bought)
    assert shop.settled().transaction_id == bought
    assert [one["transactionId"] for one in shop.sent()] == [bought]


def test_erasing_a_customer_deletes_the_consent(shop):
    shop, ana = shop(), str(uuid.uuid4())
    shop.request_refund(shop.buy(ana))
    shop.consent(ana)
    shop.settled()
    shop.entitlements.EraseCustomer(
        entitlement_service.EraseCustomerRequest(app=APP, customer_id=ana), timeout=CALL_LIMIT)
    customer = shop.entitlements.GetCustomer(
        entitlement_service.GetCustomerRequest(app=APP, customer_id=ana), timeout=CALL_LIMIT)
    assert not customer.HasField("consumption_consent")
    shop.service.stop()
    replayed = shop.service.command(
        "store", "replay", "--data", shop.service.data, "--config", shop.service.process.args[-1])
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
