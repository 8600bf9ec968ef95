"""Invalid receipts in a migration job: report and metrics count each by reason, and the job continues."""

import base64
import json

import pytest

from forge import app_receipt
from harness import Service
from test_metrics import value
from test_migration_job import migrate, numbers, write
from test_migration_receipt import APP, Store

CONFIGURATION = """apps:
  ocean-journal: &app
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    products: &products
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 4.99, currency: USD}
      lifetime: {type: Non-Consumable, entitlements: [pro], price: 99, currency: USD}
  other: {bundle_id: com.example.other, environments: [Sandbox], products: *products}
  live: {bundle_id: com.example.live, apple_id: 77, environments: [Production], products: *products}
  lenient: {bundle_id: com.example.lenient, environments: [Sandbox], products: *products, receipts: {look_up_unverified: true}}
""".replace(" &app", "")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rejections")
    (folder / "entitled.yaml").write_text(CONFIGURATION)
    store = Store(Service(folder / "data", ["--config", folder / "entitled.yaml"]))
    yield store
    store.channel.close()
    store.service.stop()


def now(store):
    """The App Store's time, in whole seconds."""
    return store.act("clock/advance", by="1s")["now"][:19] + "Z"


def receipt(store, account, app=APP):
    """The app receipt of an account with a purchase."""
    return store.act("documents/app-receipt", app=app, productId="lifetime", account=account)["document"]


BAD = {
    "not base64": "NOT_BASE64",
    "truncated": "NOT_A_RECEIPT",
    "forged": "BAD_SIGNATURE",
    "of another app": "WRONG_BUNDLE",
    "of Xcode": "XCODE_NOT_ALLOWED",
    "number 0": "TRANSACTION_ID_ZERO",
    "receipt numbered 0": "TRANSACTION_ID_ZERO",
    "before iOS 7": "NOT_VERIFIABLE",
    "unknown number": "UNKNOWN_TO_APPLE",
    "nothing": "EMPTY_DOCUMENT",
    "another customer's": "OWNED_BY_ANOTHER_CUSTOMER",
}


def bad_record(store, kind, testdata, valid):
    document = bytearray(base64.b64decode(valid))
    match kind:
        case "not base64":
            return {"receipt": valid[:40] + "é" + valid[40:]}
        case "truncated":
            return {"receipt": base64.b64encode(document[: len(document) // 2]).decode()}
        case "forged":
            document[-1] ^= 1
            return {"receipt": base64.b64encode(document).decode()}
        case "of another app":
            return {"receipt": receipt(store, "elsewhere", "other")}
        case "of Xcode":
            return {"receipt": (testdata / "apple-asl" / "xcode" / "xcode-app-receipt-with-transaction").read_text().strip()}
        case "number 0":
            return {"original_transaction_id": "0"}
        case "receipt numbered 0":
            # Numbered like purchases of StoreKit testing, but signed as the App Store signs.
            return {"receipt": app_receipt(store.service, [("lifetime", "0"), ("pro.monthly", "0")], created=now(store))}
        case "before iOS 7":
            order = {"app": APP, "productId": "lifetime", "account": "old-timer"}
            return {"receipt": store.act("documents/transaction-receipt", **order)["document"]}
        case "unknown number":
            return {"original_transaction_id": "1000000123456789"}
        case "nothing":
            return {"receipt": ""}
        case _:
            return {"receipt": valid}


@pytest.mark.parametrize("kind", BAD)
def test_an_invalid_receipt_has_its_reason_in_report_and_metrics(store, tmp_path, testdata, kind):
    valid = receipt(store, f"valid {kind}")
    first, last = f"first {kind}", f"last {kind}"
    path = write(tmp_path / "in.ndjson", [
        {"customer_id": first, "receipt": valid},
        {"customer_id": f"bad {kind}", **bad_record(store, kind, testdata, valid)},
        {"customer_id": last, "receipt": receipt(store, last)}])  # fmt: skip
    counted = "entitled_migrated_receipts_total"
    before = value(store.service, counted, reason=BAD[kind])
    status, report = migrate(store.service, "--app", APP, "--input", path, "--concurrency", "1")
    assert status == 3 and [(r["reason"], r["count"]) for r in report["reasons"]] == [(BAD[kind], "1")]
    assert numbers(report) == {"doneLines": 3, "migrated": 2, "rejected": 1}
    assert value(store.service, counted, reason=BAD[kind]) == before + 1
    assert store.check(first).entitled and store.check(last).entitled and not store.check(f"bad {kind}").entitled
    (failure,) = (tmp_path / "in.ndjson.failures.ndjson").read_text().splitlines()
    assert json.loads(failure)["reason"] == BAD[kind] and json.loads(failure)["explanation"]


def test_a_receipt_of_another_environment_is_rejected(store, tmp_path):
    path = write(tmp_path / "in.ndjson", [{"customer_id": "ann", "receipt": receipt(store, "ann", "live")}])
    status, report = migrate(store.service, "--app", "live", "--input", path)
    assert (status, [r["reason"] for r in report["reasons"]]) == (3, ["WRONG_ENVIRONMENT"])
    assert value(store.service, "entitled_migrated_receipts_total", reason="WRONG_ENVIRONMENT") == 1
    assert value(store.service, "entitled_receipts_total", reason="WRONG_ENVIRONMENT") == 1


def test_a_receipt_from_before_ios_7_is_looked_up_if_allowed_and_stays_unclaimed(store, tmp_path):
    order = {"app": "lenient", "productId": "lifetime", "account": "old"}
    old = store.act("documents/transaction-receipt", **order)["document"]
    path = write(tmp_path / "in.ndjson", [{"customer_id": "lena", "receipt": old}])
    status, report = migrate(store.service, "--app", "lenient", "--input", path)
    assert (status, numbers(report)) == (0, {"doneLines": 1, "migrated": 1})
    # Apple's response is stored, and stays unclaimed; also with vouching, which covers transaction ids only.
    status, _ = migrate(store.service, "--app", "lenient", "--input", path, "--force")
    assert status == 0
    lines = store.query(
        "SELECT customer_id FROM evidence WHERE app = 'lenient' AND kind = 'SIGNED_TRANSACTION' AND rejection = ''")
    assert lines and {customer for (customer,) in lines} == {""}
    body = store.service.json(
        "entitled.v1.EntitlementService/GetCustomer", {"app": "lenient", "customerId": "lena"})[1]
    assert not any(p.get("latestTransaction") for p in body.get("products", [])), body
