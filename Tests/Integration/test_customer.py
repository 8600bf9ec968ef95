"""Customer view and explanations of answers."""

import datetime
import uuid

import grpc
import pytest

import forge
from contract import entitlement_service, product, receipt_service
from forge import payload_of
from harness import CALL_LIMIT
from test_main_job import submit

DAY = datetime.timedelta(days=1)
APP = "ocean-journal"


def get(entitlements, customer):
    request = entitlement_service.GetCustomerRequest(app=APP, customer_id=customer)
    return entitlements.GetCustomer(request, timeout=CALL_LIMIT)


def explain(entitlements, customer, **more):
    request = entitlement_service.ExplainRequest(app=APP, customer_id=customer, entitlement="pro", **more)
    return entitlements.Explain(request, timeout=CALL_LIMIT)


def today():
    return datetime.datetime.now(datetime.timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)


def test_a_customer_without_purchases_is_new_in_every_view(entitlements, customer):
    answer = get(entitlements, customer)
    assert [e.name for e in answer.entitlements] == ["pro"]
    assert {p.state for p in answer.products} == {product.PRODUCT_STATE_NEW}
    assert [g.state for g in answer.subscription_groups] == [product.PRODUCT_STATE_NEW]
    assert answer.subscription_groups[0].eligible_for_introductory_offer
    assert not answer.subscription_groups[0].eligible_for_promotional_offers


def test_a_read_mask_selects_members(entitlements, customer):
    request = entitlement_service.GetCustomerRequest(app=APP, customer_id=customer)
    request.read_mask.paths.extend(["customer_id", "entitlements"])
    answer = entitlements.GetCustomer(request, timeout=CALL_LIMIT)
    assert {field.name for field, _ in answer.ListFields()} == {"customer_id", "entitlements"}
    request.read_mask.paths.append("entitlements.reason")
    with pytest.raises(grpc.RpcError) as error:
        entitlements.GetCustomer(request, timeout=CALL_LIMIT)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_a_page_size_above_the_limit_is_capped(entitlements, customer):
    request = entitlement_service.ListTimelineRequest(app=APP, customer_id=customer, page_size=1_000_000)
    assert not entitlements.ListTimeline(request, timeout=CALL_LIMIT).events


def test_the_customer_view_lists_a_subscription_and_a_consumable(service, receipts, entitlements, customer):
    purchase = service.buy("pro.monthly")
    submit(receipts, customer, purchase)
    submit(receipts, customer, service.buy("shells.100"))
    answer = get(entitlements, customer)
    states = {p.product_id: p.state for p in answer.products}
    assert states["pro.monthly"] == product.PRODUCT_STATE_ACTIVE
    assert states["pro.yearly"] == product.PRODUCT_STATE_NEW
    monthly = next(p for p in answer.products if p.product_id == "pro.monthly")
    bought = payload_of(purchase["signedTransactionInfo"])
    assert monthly.latest_transaction.transaction_id == bought["transactionId"]
    assert monthly.latest_transaction.price.milliunits == bought["price"]
    assert monthly.latest_transaction.bundle_id == bought["bundleId"]
    assert monthly.renewal_info.will_auto_renew
    group = answer.subscription_groups[0]
    assert (group.subscription_group, group.product_id) == ("pro", "pro.monthly")
    assert group.eligible_for_promotional_offers
    assert [(c.product_id, c.purchased, c.refunded) for c in answer.consumables] == [("shells.100", 1, 0)]


def test_an_answer_names_the_next_change(service, receipts, entitlements, customer):
    purchase = service.buy("pro.monthly")
    submit(receipts, customer, purchase)
    answer = get(entitlements, customer).entitlements[0]
    bought = payload_of(purchase["signedTransactionInfo"])
    assert answer.since.ToMilliseconds() == bought["purchaseDate"]
    assert answer.app_store_codes.status == 1
    assert answer.app_store_codes.state_code == "5.0"
    assert answer.auto_renew_product_id == "pro.monthly"
    assert list(answer.advice) == []


def test_an_explanation_names_the_deciding_fact(service, receipts, entitlements, customer):
    purchase = service.buy("pro.monthly")
    submitted = submit(receipts, customer, purchase)
    bought = payload_of(purchase["signedTransactionInfo"])
    now = explain(entitlements, customer)
    assert now.entitlement.entitled
    decisive = [step for step in now.steps if step.decisive]
    assert [step.rule for step in decisive] == ["PERIOD_COVERS_INSTANT"]
    assert decisive[0].transaction_id == bought["transactionId"]
    assert decisive[0].evidence_id == submitted.evidence_id > 0
    assert list(now.contradictions) == []

    request = entitlement_service.ExplainRequest(app=APP, customer_id=customer, entitlement="pro")
    request.as_of.FromMilliseconds(bought["purchaseDate"] - 1)
    before = entitlements.Explain(request, timeout=CALL_LIMIT)
    assert before.entitlement.reason == "NEVER_PURCHASED"
    # The document arrived after the purchase: it changed the answer about that time, and is named.
    request.as_of.FromMilliseconds(bought["purchaseDate"])
    late = entitlements.Explain(request, timeout=CALL_LIMIT)
    assert late.entitlement.entitled
    assert [(change.kind, change.evidence_id) for change in late.later_changes] == [
        ("SIGNED_TRANSACTION", submitted.evidence_id)]
    assert late.later_changes[0].recorded_at.ToMilliseconds() > bought["purchaseDate"]
    request.as_of.FromMilliseconds(bought["expiresDate"])
    awaiting = entitlements.Explain(request, timeout=CALL_LIMIT).entitlement
    assert (awaiting.entitled, awaiting.reason) == (True, "AWAITING_RENEWAL")
    request.as_of.FromMilliseconds(bought["expiresDate"] + 3_600_000)
    assert not entitlements.Explain(request, timeout=CALL_LIMIT).entitlement.entitled


def test_the_past_has_a_billing_retry_that_was_reported_before_the_end_of_the_period(forger, receipts, entitlements, customer):
    """Apple charges within the last 24 hours of a period. This customer then turned auto-renew off in billing retry."""
    hour = 3_600_000
    now, line = forger.payload["signedDate"], f"3{uuid.uuid4().int % 10**15:015}"
    end = now - 10 * hour

    def info(signed, **changed):
        """A signed renewal info."""
        members = {
            "originalTransactionId": line, "productId": "pro.monthly", "autoRenewProductId": "pro.monthly", "renewalDate": end,
            "environment": forger.payload["environment"], "signedDate": signed} | changed  # fmt: skip
        return forge.sign(members, forger.chain, forger.leaf_key)

    sold = forger.transaction(
        transactionId=line, originalTransactionId=line, purchaseDate=now - 20 * hour, originalPurchaseDate=now - 20 * hour,
        expiresDate=end, signedDate=now - 20 * hour)  # fmt: skip
    failed = info(end - hour, autoRenewStatus=1, isInBillingRetryPeriod=True, expirationIntent=2)
    for renewal in (failed, info(now - hour, autoRenewStatus=0, expirationIntent=1)):
        receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=customer, signed_transaction=sold, signed_renewal_info=renewal), timeout=CALL_LIMIT)  # fmt: skip
    reasons = []
    for hours in (5, 0.5):
        request = entitlement_service.ExplainRequest(app=APP, customer_id=customer, entitlement="pro")
        request.as_of.FromMilliseconds(now - int(hours * hour))
        reasons.append(entitlements.Explain(request, timeout=CALL_LIMIT).entitlement.reason)
    assert reasons == ["BILLING_RETRY", "CANCELLED"]


def test_an_upgraded_period_ends_when_apple_reported_the_upgrade_until_that_arrives(forger, receipts, entitlements, customer):
    day, now, line = 86_400_000, forger.payload["signedDate"], f"4{uuid.uuid4().int % 10**15:015}"
    bought = {"originalTransactionId": line, "originalPurchaseDate": now - 20 * day}

    def put(number, **members):
        signed = forger.transaction(transactionId=f"{line}{number}", **bought | members)
        submit(receipts, customer, {"signedTransactionInfo": signed})

    def past(days):
        request = entitlement_service.ExplainRequest(app=APP, customer_id=customer, entitlement="pro")
        request.as_of.FromMilliseconds(now - days * day)
        return entitlements.Explain(request, timeout=CALL_LIMIT).entitlement

    period = {"purchaseDate": now - 20 * day, "expiresDate": now + 10 * day, "productId": "pro.monthly"}
    put(1, **period, signedDate=now - 20 * day)
    put(1, **period, isUpgraded=True, signedDate=now - 2 * day)
    put(1, **period, isUpgraded=True, signedDate=now - day)
    answers = [past(days) for days in (19, 3, 1)]
    assert [answer.reason for answer in answers] == ["SUBSCRIPTION_ACTIVE", "SUBSCRIPTION_ACTIVE", "UPGRADED"]
    assert answers[2].until.ToMilliseconds() == now - 2 * day
    assert not get(entitlements, customer).subscription_groups[0].eligible_for_introductory_offer
    put(2, productId="pro.yearly", purchaseDate=now - 5 * day, expiresDate=now + 360 * day, signedDate=now)
    assert [past(days).product_id for days in (6, 3, 1)] == ["pro.monthly", "pro.yearly", "pro.yearly"]


@pytest.mark.parametrize("named, kind, expires, expected", [
    ("lifetime", "Auto-Renewable Subscription", True, (product.PRODUCT_TYPE_AUTO_RENEWABLE_SUBSCRIPTION, True, 1)),
    ("pro.monthly", "Non-Consumable", False, (product.PRODUCT_TYPE_NON_CONSUMABLE, None, None)),
])  # fmt: skip
def test_the_type_that_apple_sold_decides_the_members_of_an_answer(
    forger, receipts, entitlements, customer, named, kind, expires, expected
):
    line, now = f"5{uuid.uuid4().int % 10**15:015}", forger.payload["signedDate"]
    submit(receipts, customer, {"signedTransactionInfo": forger.transaction(
        transactionId=line, originalTransactionId=line, productId=named, type=kind, purchaseDate=now,
        expiresDate=now + 86_400_000 if expires else None)})  # fmt: skip
    for _ in range(2):
        request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
        answer = entitlements.Check(request, timeout=CALL_LIMIT).entitlement
        will_renew = answer.will_renew if answer.HasField("will_renew") else None
        status = answer.app_store_codes.status if answer.app_store_codes.HasField("status") else None
        assert (answer.product_type, will_renew, status) == expected


def deciding_evidence(entitlements, customer):
    """The evidence that every view names for `pro`; it must be the same one."""
    request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
    batch = entitlements.BatchCheck(
        entitlement_service.BatchCheckRequest(checks=[request]), timeout=CALL_LIMIT)
    explained = explain(entitlements, customer)
    ids = {entitlements.Check(request, timeout=CALL_LIMIT).entitlement.evidence_id for _ in range(2)}
    ids.add(batch.results[0].response.entitlement.evidence_id)
    ids.add(get(entitlements, customer).entitlements[0].evidence_id)
    ids.add(explained.entitlement.evidence_id)
    ids.update(step.evidence_id for step in explained.steps if step.decisive)
    assert len(ids) == 1, ids
    return ids.pop()


def test_every_answer_names_its_evidence(service, forger, receipts, entitlements, customer):
    assert deciding_evidence(entitlements, customer) == 0
    ended = int((today() - 90 * DAY).timestamp() * 1000)
    expired = submit(receipts, customer, service.buy("pro.monthly", purchaseDate=ended))
    assert deciding_evidence(entitlements, customer) == expired.evidence_id > 0
    bought = service.buy("lifetime")
    granted = submit(receipts, customer, bought)
    assert deciding_evidence(entitlements, customer) == granted.evidence_id > expired.evidence_id
    original = payload_of(bought["signedTransactionInfo"])
    refund = dict.fromkeys(forger.payload) | original | {
        "signedDate": original["signedDate"] + 1, "revocationDate": original["signedDate"], "revocationReason": 0}
    refunded = submit(receipts, customer, {"signedTransactionInfo": forger.transaction(**refund)})
    assert deciding_evidence(entitlements, customer) == refunded.evidence_id > granted.evidence_id
    timeline = entitlements.ListTimeline(
        entitlement_service.ListTimelineRequest(app=APP, customer_id=customer), timeout=CALL_LIMIT)
    assert {expired.evidence_id, granted.evidence_id, refunded.evidence_id} >= {
        event.evidence_id for event in timeline.events} > {refunded.evidence_id}  # fmt: skip


def test_an_answer_names_the_latest_document_also_if_the_refund_before_it_arrives_later(
    service, forger, receipts, entitlements, customer
):
    original = payload_of(service.buy("lifetime")["signedTransactionInfo"])

    def signed(milliseconds, **changed):
        """The transaction as Apple signs it some time after the purchase."""
        members = original | {"signedDate": original["signedDate"] + milliseconds} | changed
        return {"signedTransactionInfo": forger.transaction(**dict.fromkeys(forger.payload) | members)}

    restored = submit(receipts, customer, signed(2))
    late = submit(receipts, customer, signed(1, revocationDate=original["signedDate"], revocationReason=0))
    assert late.evidence_id > restored.evidence_id
    assert deciding_evidence(entitlements, customer) == restored.evidence_id


def test_the_pages_of_an_explanation_have_all_steps_in_order(service, receipts, entitlements, customer):
    for _ in range(5):
        submit(receipts, customer, service.buy("shells.100"))
    whole = explain(entitlements, customer)
    assert len(whole.steps) > 5 and not whole.next_page_token
    steps, token, pages = [], "", 0
    while pages == 0 or token:
        page = explain(entitlements, customer, page_size=2, page_token=token)
        assert len(page.steps) <= 2 and page.entitlement.reason == whole.entitlement.reason
        steps, token, pages = steps + list(page.steps), page.next_page_token, pages + 1
    assert steps == list(whole.steps) and pages == (len(steps) + 1) // 2


@pytest.mark.parametrize("field", [{"page_size": -1}, {"page_token": "1"}, {"page_token": "x"}])
def test_an_explanation_rejects_a_bad_page(entitlements, customer, field):
    with pytest.raises(grpc.RpcError) as error:
        explain(entitlements, customer, **field)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_a_flood_of_expensive_calls_is_rejected_beyond_the_queue_of_its_caller(entitlements, customer):
    request = entitlement_service.ExplainRequest(app=APP, customer_id=customer, entitlement="pro")
    calls = [entitlements.Explain.future(request, timeout=CALL_LIMIT) for _ in range(1_000)]
    codes = {call.code() for call in calls}
    assert codes <= {grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert calls[0].code() == grpc.StatusCode.OK
