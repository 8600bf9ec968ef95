"""`entitled import`: made-up exports of RevenueCat and other tables become customers, purchases, grants and attributes."""

import gzip
import json
import re

import pytest

import contract
from contract import customer_service
from harness import CALL_LIMIT, post
from test_identity import APP, Client

HEADER = (
    "rc_original_app_user_id;rc_last_seen_app_user_id_alias;country;product_identifier;start_time;end_time;store;"
    "is_auto_renewable;is_sandbox;store_transaction_id;original_store_transaction_id;refunded_at;"
    "entitlement_identifiers;updated_at;reserved_subscriber_attributes;custom_subscriber_attributes"
).split(";")


@pytest.fixture
def client(start):
    client = Client(start())
    yield client
    client.channel.close()


def buy(client, account):
    status, answer = post(
        f"http://{client.service.sandbox}/sandbox/v1/purchases",
        {"app": APP, "productId": "pro.monthly", "account": account})
    assert status == 200, answer
    return re.search(r'"originalTransactionId": "(\d+)"', json.dumps(answer))[1]


def line(**values):
    """One line of an export; JSON values are quoted as in a table."""
    base = {
        "product_identifier": "pro.monthly", "store": "app_store", "is_sandbox": "true", "is_auto_renewable": "true",
        "start_time": "2026-01-01 00:00:00", "end_time": "2099-01-01 00:00:00", "updated_at": "2026-01-02 00:00:00"}
    merged = {**base, **values}
    merged.setdefault("rc_last_seen_app_user_id_alias", merged["rc_original_app_user_id"])
    cells = [merged.get(name, "") for name in HEADER]
    return ";".join('"' + cell.replace('"', '""') + '"' if '"' in cell or ";" in cell else cell for cell in cells)


def write(path, lines):
    path.write_bytes(gzip.compress("\n".join([";".join(HEADER), *lines, ""]).encode()))
    return path


def check(client, customer):
    return client.call("Check", customer_id=customer, entitlement="pro").entitlement


def events(client, customer):
    return [event.type for event in client.call("ListTimeline", customer_id=customer).events]


def attributes(client, customer):
    stub = contract.customer_stub(client.channel)
    request = customer_service.GetCustomerAttributesRequest(app=APP, customer_id=customer)
    return {a.name: a.value for a in stub.GetCustomerAttributes(request, timeout=CALL_LIMIT).attributes}


def export(client, folder):
    """An export with each kind of line; returns its path and Apple's purchase of ann."""
    purchase = buy(client, "ann")
    lines = [
        line(
            rc_original_app_user_id="$RCAnonymousID:a1", rc_last_seen_app_user_id_alias="ann",
            original_store_transaction_id=purchase, store_transaction_id=purchase, entitlement_identifiers='["pro"]',
            reserved_subscriber_attributes='{"$email":{"value":"ann@example.com","updated_at_ms":5}}',
            custom_subscriber_attributes='{"cohort":{"value":"A","updated_at_ms":5}}'),
        line(
            rc_original_app_user_id="cleo", store="promotional", store_transaction_id="rc_promo_1",
            product_identifier="rc_promo_pro_custom", entitlement_identifiers='["pro"]'),
        line(
            rc_original_app_user_id="dora", store="play_store", store_transaction_id="GPA.1..0",
            original_store_transaction_id="GPA.1", entitlement_identifiers='["pro"]'),
        line(
            rc_original_app_user_id="eve", store="stripe", original_store_transaction_id="sub_1",
            refunded_at="2026-02-01 00:00:00", entitlement_identifiers='["pro"]'),
        line(rc_original_app_user_id="fay", store="amazon", original_store_transaction_id="a1", product_identifier="coins"),
        line(rc_original_app_user_id="gil", is_sandbox="false", original_store_transaction_id="1"),
        line(rc_original_app_user_id="hal", store="roku", original_store_transaction_id="r1", entitlement_identifiers='["x"]'),
        line(rc_original_app_user_id="ida", original_store_transaction_id="99"),
    ]
    return write(folder / "transactions.csv.gz", lines), purchase


def test_an_export_becomes_customers_purchases_grants_and_attributes(client, tmp_path):
    path, purchase = export(client, tmp_path)
    done = client.service.command("import", "revenuecat", path, "--json", "--actor", "ops")
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert (result["rows"], result["merged"], result["migrated"], result["grants"]) == (8, 1, 1, 3)
    assert result["grantsChanged"] >= 2
    left_out = {(o["reason"], o["customerId"]) for o in result["notTaken"]}
    assert left_out == {
        ("NO_ENTITLEMENT", "fay"), ("OTHER_ENVIRONMENT", "gil"), ("UNKNOWN_ENTITLEMENT", "hal"), ("REFUSED", "ida")}
    listed = [json.loads(text) for text in (tmp_path / "transactions.csv.gz.not-taken.ndjson").read_text().splitlines()]
    assert listed == result["notTaken"]
    assert any("UNKNOWN_TO_APPLE" in o["detail"] and "99" in o["detail"] for o in listed)

    answer = check(client, "ann")
    assert answer.entitled and answer.source == "app_store" and answer.original_transaction_id == purchase
    assert attributes(client, "ann") == {"rc:email": "ann@example.com", "cohort": "A"}
    cleo, dora, eve = (check(client, customer) for customer in ("cleo", "dora", "eve"))
    assert cleo.entitled and (cleo.source, cleo.external_id) == ("promotional", "rc_promo_1")
    assert dora.entitled and (dora.source, dora.external_id) == ("play", "GPA.1")
    assert not eve.entitled and eve.reason == "EXTERNAL_PURCHASE_REFUNDED"


def test_what_was_not_taken_is_written_through_a_link_and_never_to_a_file_of_the_export(client, tmp_path):
    names = [f"{name}.csv" for name in "ab"]
    for name in names:
        write(tmp_path / name, [line(rc_original_app_user_id="gil", is_sandbox="false", original_store_transaction_id="1")])
    old = (tmp_path / "b.csv").read_bytes()
    command = ["import", "revenuecat", *(tmp_path / name for name in names), "--not-taken"]
    (tmp_path / "link").symlink_to("target")
    client.service.command(*command, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and "OTHER_ENVIRONMENT" in (tmp_path / "target").read_text()
    done = client.service.command(*command, tmp_path / "b.csv")
    assert done.returncode == 64 and "is the input; name another file" in done.stderr, done.stderr
    assert (tmp_path / "b.csv").read_bytes() == old


def test_an_import_can_be_repeated_and_a_later_export_continues_it(client, tmp_path):
    path, _ = export(client, tmp_path)
    client.service.command("import", "revenuecat", path)
    before = {customer: events(client, customer) for customer in ("ann", "cleo", "dora", "eve")}
    again = json.loads(client.service.command("import", "revenuecat", path, "--json").stdout)
    assert (again["merged"], again["migrated"], again["unchanged"], again["grantsChanged"]) == (0, 0, 1, 0)
    assert {customer: events(client, customer) for customer in before} == before

    later = write(tmp_path / "later.csv", [
        line(
            rc_original_app_user_id="dora", store="play_store", original_store_transaction_id="GPA.1",
            entitlement_identifiers='["pro"]', end_time="2026-03-01 00:00:00", updated_at="2026-03-02 00:00:00")])
    assert client.service.command("import", "revenuecat", later).returncode == 0
    assert check(client, "dora").reason == "EXTERNAL_PURCHASE_ENDED"


CONFIG = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    products:
      studio: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro, plus], period: P1M, price: 4.99, currency: USD}
"""


def test_later_exports_of_changed_lines_keep_what_earlier_ones_gave(start, tmp_path):
    (tmp_path / "entitled.yaml").write_text(CONFIG)
    client = Client(start(arguments=["--config", tmp_path / "entitled.yaml"]))

    def deliver(entitlements, updated, begin="2026-10-01", end="2099-01-01", refund="", customer="dora"):
        path = write(tmp_path / "changed.csv", [
            line(
                rc_original_app_user_id=customer, store="stripe", original_store_transaction_id=f"sub_{customer}",
                start_time=begin, end_time=end, refunded_at=refund, entitlement_identifiers=json.dumps(entitlements),
                updated_at=updated)])
        done = client.service.command("import", "revenuecat", path, "--json")
        assert done.returncode == 0, done.stderr + done.stdout
        grants = client.call("ListGrants", customer_id="dora").grants
        names = {name for name in ("pro", "plus") if client.call("Check", customer_id="dora", entitlement=name).entitlement.entitled}
        return json.loads(done.stdout)["grantsChanged"], {grant.external_id: grant.entitlement for grant in grants}, names

    assert deliver(["pro"], "2026-10-01") == (1, {"sub_dora": "pro"}, {"pro"})
    both = {"sub_dora": "pro", "sub_dora#plus": "plus"}
    assert deliver(["plus", "pro"], "2026-10-02")[1:] == (both, {"pro", "plus"})
    assert deliver(["pro"], "2026-11-01", customer="gil")[1:] == (both, {"pro", "plus"}), "another purchase"
    earlier = {"begin": "2026-09-01", "end": "2026-10-01", "refund": "2026-11-01"}
    assert deliver(["pro"], "2026-11-02", **earlier) == (0, both, {"pro", "plus"}), "an earlier period was refunded"
    assert deliver(["pro"], "2026-11-03") == (1, both, {"pro"}), "the product no longer grants plus"
    assert deliver(["pro"], "2026-11-03") == (0, both, {"pro"})
    assert deliver(["pro"], "2026-11-04", end="2026-11-01")[1:] == (both, set()), "the period was shortened"
    client.channel.close()


def test_a_later_export_with_another_last_id_keeps_the_customer(client, tmp_path):
    purchase = buy(client, "ann")
    for customer in ("$RCAnonymousID:9", "ann", "bob", "ann"):
        path = write(tmp_path / "e.csv", [
            line(
                rc_original_app_user_id="$RCAnonymousID:9", rc_last_seen_app_user_id_alias=customer,
                original_store_transaction_id=purchase, entitlement_identifiers='["pro"]')])
        assert client.service.command("import", "revenuecat", path).returncode == 0
    assert check(client, "ann").entitled and not check(client, "bob").entitled, "bob is another id of ann"
    described = json.loads(client.service.command("describe", "bob", "--json").stdout)
    assert described["customerId"] == "ann"


def test_a_later_export_sets_an_attribute_back_to_its_earlier_value(client, tmp_path):
    for number, cohort in enumerate(["A", "B", "A"]):
        path = write(tmp_path / f"{number}.csv", [
            line(
                rc_original_app_user_id="lou", store="stripe", original_store_transaction_id="sub_9",
                entitlement_identifiers='["pro"]', custom_subscriber_attributes=json.dumps({"cohort": {"value": cohort}}))])
        assert client.service.command("import", "revenuecat", path).returncode == 0
        assert attributes(client, "lou") == {"cohort": cohort}


def test_a_dry_run_prints_the_plan_and_changes_nothing(client, tmp_path):
    path, purchase = export(client, tmp_path)
    done = client.service.command("import", "revenuecat", path, "--dry-run", "--entitlement", "x=pro")
    assert done.returncode == 0, done.stderr
    for text in (
        "would merge  $RCAnonymousID:a1 into ann", f"would fetch  {purchase} for ann", "would set    cohort of ann",
        "would grant  dora pro from play GPA.1", "would grant  hal pro from roku r1",
        f"not taken    {path} line 6: NO_ENTITLEMENT fay"):
        assert text in done.stdout, done.stdout
    assert not check(client, "dora").entitled and not check(client, "ann").entitled
    assert not list(tmp_path.glob("*.ndjson"))


def test_lists_of_the_api_are_imported_by_any_transaction_id(client, tmp_path):
    purchase = buy(client, "bea")
    items = {"object": "list", "items": [{"object": "entitlement", "id": "entl1", "lookup_key": "pro"}]}
    subscription = {
        "object": "subscription", "customer_id": "bea", "store": "app_store", "environment": "sandbox",
        "store_subscription_identifier": purchase, "gives_access": True, "starts_at": 1, "entitlements": items}
    lists = [
        {"object": "list", "url": "/v2/projects/p/customers", "items": [{"object": "customer", "id": "bea"}]},
        {"object": "list", "url": "/v2/projects/p/customers/bea/aliases", "items": [
            {"object": "customer.alias", "id": "$RCAnonymousID:b"}]},
        {"object": "list", "url": "/v2/projects/p/customers/bea/attributes", "items": [
            {"object": "customer.attribute", "name": "$email", "value": "b@example.com", "updated_at": 9}]},
        {"object": "list", "url": "/v2/projects/p/customers/bea/subscriptions", "items": [subscription]},
        {"object": "list", "url": "/v2/projects/p/customers/zoe/active_entitlements", "items": [
            {"object": "customer.active_entitlement", "entitlement_id": "entl1", "expires_at": None}]},
    ]
    path = tmp_path / "customers.ndjson"
    path.write_text("\n".join(json.dumps(item) for item in lists))
    done = client.service.command("import", "revenuecat", path, "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 3 and [o["reason"] for o in result["notTaken"]] == ["ENTITLEMENT_WITHOUT_PURCHASE"]
    assert result["merged"] == 1 and check(client, "bea").original_transaction_id == purchase
    assert attributes(client, "bea") == {"rc:email": "b@example.com"}


def test_any_table_is_imported_by_a_mapping(client, tmp_path):
    purchase = buy(client, "kim")
    (tmp_path / "map.yaml").write_text("""
columns: {customer_id: user, store: shop, purchase_id: order, entitlements: rights, until: end, revision: version}
attributes: {plan: plan_name}
stores: {itunes: app_store, google: play}
entitlements: {premium: pro}
""")
    table = tmp_path / "users.csv"
    table.write_text(
        f"user,shop,order,rights,end,version,plan_name\nkim,itunes,{purchase},premium,,,gold\n"
        "lea,google,GPA.9,premium,2099-01-01,4,\n")
    done = client.service.command("import", "csv", table, "--mapping", tmp_path / "map.yaml", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert check(client, "kim").original_transaction_id == purchase and attributes(client, "kim") == {"plan": "gold"}
    lea = check(client, "lea")
    assert lea.entitled and (lea.source, lea.external_id) == ("play", "GPA.9")
    grants = client.call("ListGrants", customer_id="lea").grants
    assert [grant.revision for grant in grants] == [4]

    wrong = client.service.command("import", "csv", table, "--mapping", table)
    assert wrong.returncode == 1 and "users.csv" in wrong.stderr
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    refused = client.service.command("import", "csv", other, "--mapping", tmp_path / "map.yaml")
    assert refused.returncode == 1 and "no column user" in refused.stderr


def test_an_export_in_parts_is_whole_and_one_in_another_encoding_is_refused(client, tmp_path):
    lines = [
        line(
            rc_original_app_user_id=customer, store="play_store", original_store_transaction_id=f"GPA.{customer}",
            entitlement_identifiers='["pro"]') for customer in ("mia", "n\u00f6r")]  # fmt: skip
    text = "\n".join([";".join(HEADER), *lines, ""])
    parts = tmp_path / "parts.csv.gz"
    parts.write_bytes(b"".join(gzip.compress((part + "\n").encode()) for part in text.split("\n")))
    done = client.service.command("import", "revenuecat", parts, "--dry-run")
    assert done.returncode == 0 and "mia pro from play GPA.mia" in done.stdout, done.stderr
    assert "n\u00f6r pro from play" in done.stdout
    latin = tmp_path / "latin.csv"
    latin.write_bytes(text.encode("latin-1"))
    refused = client.service.command("import", "revenuecat", latin)
    assert refused.returncode == 1 and "line 3 is not UTF-8" in refused.stderr, refused.stderr
    for encoding in ("UTF-16LE", "UTF-16BE", "UTF-16"):
        wide = tmp_path / f"{encoding}.csv"
        wide.write_bytes(text.encode(encoding))
        refused = client.service.command("import", "revenuecat", wide)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert f"{encoding}; convert it to UTF-8, for example with iconv -f {encoding} -t UTF-8" in refused.stderr
    (tmp_path / "empty.csv").touch()
    refused = client.service.command("import", "revenuecat", tmp_path / "empty.csv")
    assert refused.returncode == 1 and f"{tmp_path}/empty.csv: the file is empty" in refused.stderr
    assert not check(client, "mia").entitled
