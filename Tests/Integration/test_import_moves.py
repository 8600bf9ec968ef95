"""`entitled import revenuecat`: App Store purchases whose rows name one customer after another."""

import json

import pytest

from test_identity import Client
from test_import import buy, check, events, line, write

CONFIG = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    ownership_policy: {policy}
    products:
      pro.monthly:
        {{type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
"""


@pytest.fixture
def client(start, tmp_path, request):
    (tmp_path / "entitled.yaml").write_text(CONFIG.format(policy=request.param))
    client = Client(start(arguments=["--config", tmp_path / "entitled.yaml"]))
    yield client
    client.channel.close()


def delivery(path, purchase, customer, day):
    """A delivery of the export in which `purchase` belongs to `customer` since a day of January."""
    return write(path, [
        line(
            rc_original_app_user_id=customer, original_store_transaction_id=purchase, entitlement_identifiers='["pro"]',
            updated_at=f"2026-01-{day} 00:00:00")])


def import_(client, *paths):
    done = client.service.command("import", "revenuecat", *paths, "--json")
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, json.loads(done.stdout)


def entitled(client, *customers):
    return [customer for customer in customers if check(client, customer).entitled]


@pytest.mark.parametrize("client", ["transfer", "keep"], indirect=True)
def test_of_several_deliveries_the_latest_row_has_the_owner(client, tmp_path):
    for earlier, later in (("mike", "ann"), ("bob", "zoe")):
        purchase = buy(client, later)
        paths = [
            delivery(tmp_path / f"{earlier}.csv", purchase, earlier, "02"),
            delivery(tmp_path / f"{later}.csv", purchase, later, "20")]
        for order in (paths, paths[::-1], paths):
            status, result = import_(client, *order)
            assert (status, result["purchases"]) == (0, 1), "what was left out needs no attention"
            left_out = [(item["reason"], item["customerId"]) for item in result["notTaken"]]
            assert left_out == [("PURCHASE_OF_ANOTHER_CUSTOMER", earlier)] and later in result["notTaken"][0]["detail"]
            assert entitled(client, earlier, later) == [later]
        assert events(client, later) == ["CLAIMED"] and events(client, earlier) == [], "a repetition changes nothing"


@pytest.mark.parametrize("client", ["transfer"], indirect=True)
def test_with_transfer_a_later_delivery_moves_the_purchase(client, tmp_path):
    purchase = buy(client, "x")
    assert import_(client, delivery(tmp_path / "1.csv", purchase, "mike", "02"))[0] == 0
    later = delivery(tmp_path / "2.csv", purchase, "zoe", "20")
    for _ in range(2):
        assert import_(client, later)[0] == 0
        assert entitled(client, "mike", "zoe") == ["zoe"]
    assert events(client, "zoe").count("TRANSFERRED") == 1


@pytest.mark.parametrize("client", ["keep"], indirect=True)
def test_with_keep_a_purchase_that_moved_later_is_listed_for_the_operator(client, tmp_path):
    purchase = buy(client, "x")
    first, second = (
        delivery(tmp_path / f"{customer}.csv", purchase, customer, day) for customer, day in (("mike", "02"), ("zoe", "20")))
    assert import_(client, first)[0] == 0
    status, result = import_(client, second)
    assert status == 3 and [(item["reason"], item["customerId"]) for item in result["notTaken"]] == [("REFUSED", "zoe")]
    assert result["notTaken"][0]["detail"].startswith(f"OWNED_BY_ANOTHER_CUSTOMER: purchase {purchase}")
    assert entitled(client, "mike", "zoe") == ["mike"]
    assert client.service.command("transfer", purchase, "mike", "zoe").returncode == 0
    assert import_(client, second)[0] == 0 and import_(client, first, second)[0] == 0
    assert entitled(client, "mike", "zoe") == ["zoe"]


@pytest.mark.parametrize("client", ["keep"], indirect=True)
def test_an_omission_has_its_file(client, tmp_path):
    paths = [write(tmp_path / name, ["too;short"]) for name in ("1.csv", "2.csv")]
    paths.append(write(tmp_path / "3.csv", [line(rc_original_app_user_id="fay", store="amazon", original_store_transaction_id="a")]))
    status, result = import_(client, *paths)
    listed = [json.loads(text) for text in (tmp_path / "1.csv.not-taken.ndjson").read_text().splitlines()]
    assert status == 3 and listed == result["notTaken"]
    assert [(item["file"], item["line"]) for item in listed] == [(str(path), 2) for path in paths]
