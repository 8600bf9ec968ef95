"""Withdrawn consents of parents or guardians: records with deadlines, in lists, metrics, commands and the console."""

import json
import signal

import pytest

import contract
from contract import StatusCode, app_store_service, report_service
from harness import CALL_LIMIT, wait_for
from test_apple_api import scraped
from test_app_store import APP, World, commands

STATE = app_store_service.ConsentWithdrawalState
DAY = 86_400


@pytest.fixture
def world(start, tmp_path):
    path = tmp_path / "entitled.yaml"
    product = {
        "type": "Auto-Renewable Subscription", "group": "pro", "entitlements": ["pro"], "period": "P1M",
        "price": 4.99, "currency": "USD",
    }  # fmt: skip
    path.write_text(json.dumps({
        "apps": {
            APP: {
                "bundle_id": "com.example.oceanjournal", "environments": ["Sandbox"],
                "products": {"pro.monthly": product}, "rescind_consent": "end_access", "rescind_consent_days": 10,
            }
        }
    }))  # fmt: skip
    world = World(start(arguments=("--config", path)))
    yield world
    world.channel.close()


def call(world, method, **members):
    request = getattr(app_store_service, f"{method}Request")(app=APP, **members)
    return getattr(world.apple, method)(request, timeout=CALL_LIMIT)


def consents(world, **filters):
    """The listed withdrawals: customers, state."""
    found = call(world, "ListConsentWithdrawals", **filters).withdrawals
    return [(list(one.customer_ids), STATE.Name(one.state).rsplit("_", 1)[-1]) for one in found]


def withdraw(world, customer):
    world.act("rescind-consent", app=APP, account=f"account-{customer}")
    world.deliver()


def reported(world, withdrawn_at):
    """The sums of the report of withdrawals in the 60 days from one on."""
    query = report_service.ReportQuery(report="consents")
    day = withdrawn_at.seconds // DAY * DAY
    query.start_time.FromSeconds(day)
    query.end_time.FromSeconds(day + 60 * DAY)
    request = report_service.QueryReportRequest(app=APP, query=query)
    answer = contract.report_stub(world.channel).QueryReport(request, timeout=CALL_LIMIT)
    sums = [sum(values) for values in zip(*(row.values for row in answer.rows))]
    return dict(zip((column.name for column in answer.columns), sums))


KID = "0c7b7c1e-5b8e-4c55-8a7e-000000000001"
OTHER = "0c7b7c1e-5b8e-4c55-8a7e-000000000002"


def test_a_withdrawn_consent_is_open_until_it_is_settled(world):
    world.buy(KID)
    world.buy(OTHER)
    assert consents(world) == []
    withdraw(world, KID)
    wait_for(lambda: consents(world) == [([KID], "OPEN")])
    assert not world.check(KID).entitled and world.check(OTHER).entitled
    [one] = call(world, "ListConsentWithdrawals").withdrawals
    assert one.settle_by.seconds - one.withdrawn_at.seconds == 10 * DAY and one.ends_access and one.evidence_id
    wait_for(lambda: scraped(world, "entitled_consent_withdrawals_open") == 1)
    wait_for(lambda: scraped(world, "entitled_consent_withdrawal_deadline_seconds") == one.settle_by.seconds)
    assert consents(world, customer_id=KID) and not consents(world, customer_id=OTHER)
    listed = world.service.command("apple", "withdrawn-consents", "--app", APP).stdout
    assert one.app_transaction_id in listed and KID in listed and "open" in listed
    wait_for(lambda: reported(world, one.withdrawn_at) == {"withdrawn": 1, "settled": 0, "overdue": 0, "open": 1})
    world.advance("11d")
    assert consents(world) == [([KID], "OVERDUE")]
    wait_for(lambda: reported(world, one.withdrawn_at) == {"withdrawn": 1, "settled": 0, "overdue": 1, "open": 1})
    settled = call(
        world, "SettleConsentWithdrawal", app_transaction_id=one.app_transaction_id, actor="support/lena",
        note="account closed", idempotency_key="one")
    assert settled.settlement_evidence_id and not settled.already_settled
    again = call(
        world, "SettleConsentWithdrawal", app_transaction_id=one.app_transaction_id, actor="support/lena",
        note="account closed", idempotency_key="one")
    assert again.repeated and again.settlement_evidence_id == settled.settlement_evidence_id
    assert call(world, "SettleConsentWithdrawal", app_transaction_id=one.app_transaction_id).already_settled
    assert consents(world) == [] and consents(world, include_settled=True) == [([KID], "SETTLED")]
    wait_for(lambda: scraped(world, "entitled_consent_withdrawals_open") == 0)
    [command] = commands(world)
    assert (command["command"], command["actor"]) == ("SETTLE_CONSENT", "support/lena")
    # A parent who withdraws the consent again opens the record again.
    world.advance("1d")
    withdraw(world, KID)
    wait_for(lambda: consents(world) == [([KID], "OPEN")])
    wait_for(lambda: reported(world, one.withdrawn_at) == {"withdrawn": 2, "settled": 1, "overdue": 1, "open": 1})


def test_the_withdrawals_of_a_merged_customer_are_those_of_its_target(world):
    world.buy(KID)
    withdraw(world, KID)
    wait_for(lambda: consents(world) == [([KID], "OPEN")])
    merge = contract.entitlement_service.MergeCustomersRequest(app=APP, from_customer_id=KID, into_customer_id="kim")
    world.entitlements.MergeCustomers(merge, timeout=CALL_LIMIT)
    assert consents(world, customer_id="kim") == consents(world, customer_id=KID) == [(["kim"], "OPEN")]


def test_an_app_install_without_a_withdrawal_cannot_be_settled(world):
    with pytest.raises(contract.RpcError) as error:
        call(world, "SettleConsentWithdrawal", app_transaction_id="1")
    assert (error.value.code(), contract.reason(error.value)) == (StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")


def test_withdrawals_are_listed_page_by_page(world):
    customers = [f"0c7b7c1e-5b8e-4c55-8a7e-00000000000{number}" for number in range(3)]
    for customer in customers:
        world.buy(customer)
        withdraw(world, customer)
        world.advance("1h")
    wait_for(lambda: len(consents(world)) == 3)
    first = call(world, "ListConsentWithdrawals", page_size=2)
    rest = call(world, "ListConsentWithdrawals", page_size=2, page_token=first.next_page_token)
    found = [list(one.customer_ids) for page in (first, rest) for one in page.withdrawals]
    assert found == [[customer] for customer in customers] and not rest.next_page_token


def test_the_gauges_of_an_app_that_a_reload_removes_become_zero(world, tmp_path):
    world.buy(KID)
    withdraw(world, KID)
    wait_for(lambda: scraped(world, "entitled_consent_withdrawals_open") == 1)
    path = tmp_path / "entitled.yaml"
    apps = json.loads(path.read_text())["apps"]
    path.write_text(json.dumps({"apps": {"other": apps[APP] | {"bundle_id": "com.example.other"}}}))
    world.service.process.send_signal(signal.SIGHUP)
    for name in ("entitled_consent_withdrawals_open", "entitled_consent_withdrawal_deadline_seconds"):
        wait_for(lambda name=name: scraped(world, name) == 0)
