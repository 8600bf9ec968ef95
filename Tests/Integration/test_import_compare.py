"""`entitled import compare`: what RevenueCat's events, exports and lists state, beside the answers of a running service."""

import json

import pytest

from harness import run
from test_identity import Client
from test_import import buy, line, write


@pytest.fixture
def client(start):
    client = Client(start())
    yield client
    client.channel.close()


def event(identifier, customer, end, type_="RENEWAL", time=1_767_225_600_000, **more):
    """The body of a webhook; `end` in milliseconds since 1970."""
    return {"api_version": "1.0", "event": {
        "id": identifier, "type": type_, "event_timestamp_ms": time, "app_user_id": customer, "aliases": [customer],
        "original_app_user_id": "$RCAnonymousID:" + customer, "entitlement_ids": ["pro"], "expiration_at_ms": end,
        "environment": "SANDBOX", "store": "APP_STORE", "original_transaction_id": "of " + customer, **more}}


def compare(client, *arguments):
    done = client.service.command("import", "compare", *arguments, "--json")
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, json.loads(done.stdout)


def save(path, *events):
    path.write_text("".join(json.dumps(item) + "\n" for item in events))
    return path


def test_each_disagreement_has_the_evidence_of_both_sides_until_there_is_none(client, tmp_path):
    client.buy("ann")
    ann = client.call("Check", customer_id="ann", entitlement="pro").entitlement
    until, paid = (end.seconds * 1000 + end.nanos // 1_000_000 for end in (ann.until, ann.paid_until))
    assert until - paid == 3_600_000, "RevenueCat states the paid time, which the slack for a late renewal follows here"
    client.buy("gus")
    events = [
        event("e1", "ann", paid), event("e2", "bob", paid), event("e3", "gus", paid - 3_600_000),
        event("e4", "ida", 1_700_000_000_000, "EXPIRATION"), event("e5", "ann", until, "TEST")]
    status, result = compare(client, save(tmp_path / "events.ndjson", *events))
    assert status == 3 and (result["compared"], result["eventsWithoutAccess"]) == (4, 1)
    found = {item["customerId"]: item for item in result["disagreements"]}
    assert {name: item["disagreement"] for name, item in found.items()} == {"bob": "THEIRS_ONLY", "gus": "OTHER_END"}
    assert found["bob"]["theirs"][0]["origin"] == "RENEWAL e2" and found["bob"]["theirs"][0]["document"] == events[1]
    assert found["bob"]["ours"]["entitlement"]["reason"] == "NEVER_PURCHASED"
    assert found["gus"]["ours"]["entitlement"]["evidenceId"]

    text = client.service.command("import", "compare", tmp_path / "events.ndjson").stdout
    assert "bob pro  THEIRS_ONLY" in text and "RENEWAL e2" in text and "NEVER_PURCHASED" in text

    client.buy("bob")
    later = [*events, event("e6", "bob", 1, time=1_767_225_700_000), event("e7", "gus", until, time=1_767_225_700_000)]
    status, result = compare(client, save(tmp_path / "later.ndjson", *later))
    assert [item["disagreement"] for item in result["disagreements"]] == ["OURS_ONLY"]
    bob = client.call("Check", customer_id="bob", entitlement="pro").entitlement.until
    last = event("e8", "bob", bob.seconds * 1000, time=1_767_225_800_000)
    status, result = compare(client, save(tmp_path / "last.ndjson", *later, last), "--tolerance", "3600")
    assert (status, result["disagreements"]) == (0, [])


def test_a_merged_customer_has_the_access_of_its_merge_target(client, tmp_path):
    client.buy("new")
    paid = client.call("Check", customer_id="new", entitlement="pro").entitlement.paid_until.seconds * 1000
    path = save(tmp_path / "events.ndjson", event("e1", "old", paid))
    status, result = compare(client, path)
    assert (status, result["disagreements"][0]["disagreement"]) == (3, "THEIRS_ONLY")
    client.call("MergeCustomers", from_customer_id="old", into_customer_id="new")
    status, result = compare(client, path)
    assert (status, result["compared"], result["disagreements"]) == (0, 1, [])


def test_merged_customers_have_the_purchases_of_all_of_them(client, tmp_path):
    client.buy("new")
    paid = client.call("Check", customer_id="new", entitlement="pro").entitlement.paid_until.seconds * 1000
    client.call("MergeCustomers", from_customer_id="old", into_customer_id="new")
    # RevenueCat does not know the merge: each of its customers has a purchase, and the longer one counts here.
    for ends in ((paid, paid - 3_600_000), (paid - 3_600_000, paid)):
        events = [event(f"e-{name}", name, end) for name, end in zip(("old", "new"), ends)]
        status, result = compare(client, save(tmp_path / "events.ndjson", *events))
        assert (status, result["compared"], result["disagreements"]) == (0, 1, [])
    status, result = compare(client, save(tmp_path / "events.ndjson", event("e", "old", paid + 7_200_000)))
    assert [item["disagreement"] for item in result["disagreements"]] == ["OTHER_END"]


def test_a_purchase_has_the_customer_of_the_latest_statement(client, tmp_path):
    purchase = buy(client, "ann")
    members = dict(entitlement_identifiers='["pro"]', original_store_transaction_id=purchase)
    old = line(rc_original_app_user_id="mike", updated_at="2026-01-01 00:00:00", end_time="2099-01-01 00:00:00", **members)
    moved = event("e1", "ann", 4_073_616_000_000, original_transaction_id=purchase, aliases=["old-ann", "ann"], time=1_767_225_700_000)
    first = event("e0", "old-ann", 1_767_225_650_000, original_transaction_id=purchase, time=1_767_225_600_001)
    files = [write(tmp_path / "export.csv", [old]), save(tmp_path / "events.ndjson", moved, first)]
    for order in (files, files[::-1]):
        status, result = compare(client, *order)
        assert {item["customerId"] for item in result["disagreements"]} == {"ann"} and result["compared"] == 1


def test_an_export_agrees_after_its_import(client, tmp_path):
    purchase = buy(client, "kim")
    grant = dict(entitlement_identifiers='["premium"]', store="stripe", original_store_transaction_id="sub_1")
    path = write(tmp_path / "export.csv", [line(rc_original_app_user_id="lea", **grant)])
    status, result = compare(client, path, "--entitlement", "premium=pro")
    assert status == 3 and result["disagreements"][0]["theirs"][0]["origin"] == f"{path} line 2"
    assert client.service.command("import", "revenuecat", path, "--entitlement", "premium=pro").returncode == 0
    assert compare(client, path, "--entitlement", "premium=pro") == (
        0, {"compared": 1, "disagreements": [], "eventsWithoutAccess": 0, "unknownEntitlements": [], "notRead": []})
    status, result = compare(client, path)
    assert status == 3 and result["unknownEntitlements"] == ["premium"] and purchase


def test_purchases_of_another_environment_are_not_compared(client, tmp_path):
    production = dict(entitlement_identifiers='["pro"]', is_sandbox="false", original_store_transaction_id="1")
    path = write(tmp_path / "export.csv", [line(rc_original_app_user_id="lea", **production)])
    status, result = compare(client, path)
    assert (status, result["compared"], result["disagreements"]) == (0, 0, [])


def test_what_cannot_be_read_is_no_agreement(client, tmp_path):
    events = tmp_path / "events.json"
    events.write_text(json.dumps([event("e1", "ann", 4_073_616_000_000)]))
    status, result = compare(client, events)
    assert (status, result["compared"]) == (3, 0)
    assert [item["reason"] for item in result["notRead"]] == ["UNKNOWN_ITEM"]
    path = write(tmp_path / "export.csv", [line(rc_original_app_user_id="lea"), "lea;too;short"])
    status, result = compare(client, path)
    assert status == 3 and [(item["file"], item["line"], item["reason"]) for item in result["notRead"]] == [(str(path), 3, "MALFORMED_LINE")]
    text = client.service.command("import", "compare", path).stdout
    assert f"not read  {path} line 3: MALFORMED_LINE" in text


def test_an_event_that_cannot_be_read_ends_no_comparison(client, tmp_path):
    events = tmp_path / "events.ndjson"
    lines = [
        json.dumps(event("e0", "ann", 4_073_616_000_000))[40:], json.dumps(event("e1", "ann", 4_073_616_000_000)), "",
        '{"event": {"type": "TEST"}}', json.dumps(event("e2", "bob", 1)), '{"event": {"id": "e3", "ty']
    events.write_text("\n".join(lines))
    export = write(tmp_path / "export.csv", ["lea;too;short"])
    status, result = compare(client, events, export)
    assert (status, result["compared"]) == (3, 2)
    assert [item["customerId"] for item in result["disagreements"]] == ["ann"]
    assert {(item["file"], item["line"], item["reason"]) for item in result["notRead"]} == {
        (str(path), line, "MALFORMED_LINE") for path, line in ((events, 1), (events, 4), (events, 6), (export, 2))}


def test_a_file_that_is_neither_is_refused(client, tmp_path):
    broken = tmp_path / "events.ndjson"
    broken.write_text("nothing\n")
    done = client.service.command("import", "compare", broken)
    assert done.returncode == 1 and "no column" in done.stderr
    assert client.service.command("import", "compare", tmp_path / "missing").returncode == 1


@pytest.mark.parametrize("tolerance", ["-1", "86401", "9223372036854775807"])
def test_the_tolerance_is_at_most_a_day(tolerance):
    done = run("import", "compare", "events.ndjson", f"--tolerance={tolerance}")
    assert done.returncode == 64 and "--tolerance takes 0 to 86400 seconds" in done.stderr
