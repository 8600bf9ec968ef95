"""`POST /verifyReceipt` on the edge compared with the sandbox's own: an old backend must see no difference."""

import base64
import itertools
import json
import os
import time
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from forge import app_receipt
from harness import IS_LONG, Service, post
from random_customers import APP, SECRET, SUBSCRIPTIONS, RandomCustomers, started

# With 200 customers the test takes two minutes: ENTITLED_LIVES=200.
CUSTOMERS = int(os.environ.get("ENTITLED_LIVES", "8"))
# The long form lets yearly subscriptions renew, the short one a billing retry of 60 days end.
DAYS = 400 if IS_LONG else 84
# Fields that must differ: the request date, and the new receipt, which only Apple can sign. This service returns the
# submitted one.
REQUEST_DATE = {f"request_date{spelling}" for spelling in ("", "_ms", "_pst")}


def verify_receipt(url, receipt, **more):
    """The response of `verifyReceipt` at a URL."""
    status, answer = post(url, {"receipt-data": receipt, "password": SECRET, **more})
    assert status == 200, answer
    return answer


def comparable(answer):
    answer = {name: value for name, value in answer.items() if name != "latest_receipt"}
    if "receipt" in answer:
        answer["receipt"] = {name: value for name, value in answer["receipt"].items() if name not in REQUEST_DATE}
    return answer


def without_coins(answer):
    """Removes consumables. Only Apple has those bought or delivered after the receipt was made; and a delivered one is
    only in the receipt, whose dates have no fractions of a second."""
    answer = dict(answer)
    rest = [entry for entry in answer.pop("latest_receipt_info", []) if entry["product_id"] != "coins"]
    bought = [entry for entry in answer["receipt"]["in_app"] if entry["product_id"] != "coins"]
    answer["receipt"] = answer["receipt"] | {"in_app": bought}
    return answer | ({"latest_receipt_info": rest} if rest else {})


def differences(ours, theirs):
    """The differing entries only, because whole responses are too long to read."""
    found = []
    for name in sorted(ours.keys() | theirs.keys()):
        left, right = ours.get(name), theirs.get(name)
        if isinstance(left, list) and isinstance(right, list):
            found += [(name, pair) for pair in itertools.zip_longest(left, right) if pair[0] != pair[1]]
        elif left != right:
            found.append((name, (left, right)))
    return found


def compare(customers, urls):
    """Compares both responses for the first and latest receipt of each account; returns the number of transactions."""
    theirs, ours = urls
    transactions = 0
    for account, first in customers.receipts.items():
        expected = verify_receipt(theirs, first)
        assert expected["status"] == 0, expected
        answer = verify_receipt(ours, first)
        found = differences(without_coins(comparable(answer)), without_coins(comparable(expected)))
        assert not found, f"{account}: {found[:3]}"
        latest = expected.get("latest_receipt")
        # An account whose only purchase was a delivered consumable has an empty receipt.
        if latest is None:
            continue
        for exclude in (False, True):
            more = {"exclude-old-transactions": exclude}
            expected, answer = verify_receipt(theirs, latest, **more), verify_receipt(ours, latest, **more)
            found = differences(comparable(answer), comparable(expected))
            assert not found, f"{account}, {more}: {found[:3]}"
            assert answer["latest_receipt"] == latest
            check_latest(answer["latest_receipt_info"])
            transactions += len(answer["latest_receipt_info"])
    return transactions


def check_latest(entries):
    """The newest purchase comes first, and subscriptions name their group."""
    dates = [int(entry["purchase_date_ms"]) for entry in entries]
    assert dates == sorted(dates, reverse=True), entries
    assert all("subscription_group_identifier" in entry for entry in entries if entry["product_id"] in SUBSCRIPTIONS)


def test_responses_are_equal_after_notifications(tmp_path):
    """Data from notifications suffices: Apple cannot be called."""
    service = started(tmp_path)
    begin = time.monotonic()
    customers = RandomCustomers(service, CUSTOMERS, seed=1, notified=True)
    customers.live(days=DAYS, each_day=max(2, CUSTOMERS // 40))
    notifications = customers.delivered()
    # From here on the sandbox requires another key than the service has.
    public = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    customers.act("keys", keyId="ANOTHER", publicKey=public.decode())
    transactions = compare(customers, (f"{customers.url}/verifyReceipt", f"http://{service.http}/verifyReceipt/{APP}"))
    print(f"{CUSTOMERS} customers, {notifications} notifications, {transactions} transactions compared, "
          f"{time.monotonic() - begin:.1f} s")  # fmt: skip
    assert transactions > CUSTOMERS
    service.stop()


def test_responses_are_equal_without_notifications(tmp_path):
    """Unknown receipts are migrated by the first request; later ones use the stored data."""
    service = started(tmp_path)
    customers = RandomCustomers(service, CUSTOMERS, seed=2, notified=False)
    customers.live(days=DAYS // 2, each_day=max(2, CUSTOMERS // 20))
    urls = (f"{customers.url}/verifyReceipt", f"http://{service.http}/sandbox/verifyReceipt")
    assert compare(customers, urls) > CUSTOMERS
    assert compare(customers, urls) > CUSTOMERS
    service.stop()


class OldBackend:
    """A backend modelled on Apple's sample of WWDC20 ("Determining service entitlement on the server"): it
    uses `verifyReceipt` at two URLs and no other API."""

    def __init__(self, production, sandbox):
        self.production, self.sandbox = production, sandbox

    def entitle(self, receipt, now):
        """The sample's entitlement code of each product, and its end."""
        answer = verify_receipt(self.production, receipt)
        if answer["status"] == 21007:
            answer = verify_receipt(self.sandbox, receipt)
        assert answer["status"] == 0, answer
        latest = {}
        for entry in answer.get("latest_receipt_info", []):
            product = entry["product_id"]
            if "expires_date_ms" in entry and int(entry["expires_date_ms"]) > int(
                latest.get(product, {}).get("expires_date_ms", 0)
            ):
                latest[product] = entry
        pending = {entry["product_id"]: entry for entry in answer.get("pending_renewal_info", [])}
        return {
            product: (self.code(entry, pending.get(product, {}), now), int(entry["expires_date_ms"]))
            for product, entry in latest.items()
        }

    @staticmethod
    def code(entry, pending, now):
        substate = 0.1 if entry["is_trial_period"] == "true" else 0.2 if entry["is_in_intro_offer_period"] == "true" else 0
        if "promotional_offer_id" in entry:
            substate = 0.3
        if entry.get("is_upgraded") == "true":
            code = -6
        elif "cancellation_date_ms" in entry:
            code = -7 if entry["cancellation_reason"] == "1" else -8
        elif int(entry["expires_date_ms"]) > now:
            code = 5 if pending.get("auto_renew_status") == "1" else 4
        elif int(pending.get("grace_period_expires_date_ms", 0)) > now:
            code = 1
        elif pending.get("is_in_billing_retry_period") == "1":
            code = -1
        else:
            code = {"1": -5, "2": -2, "3": -3, "4": -4}.get(pending.get("expiration_intent"), -5)
        return round(code + substate if code > 0 else code - substate, 1)


def test_an_old_backend_needs_only_another_url(start):
    service = start()
    app, sandbox = "ocean-journal", f"http://{service.sandbox}"

    def act(action, **members):
        status, answer = post(f"{sandbox}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def now():
        return act("clock/advance", by="1s")["milliseconds"]

    act("grace-period", app=app, days=16)
    act("offers", app=app, productId="pro.monthly", id="week", type="INTRODUCTORY", mode="FREE_TRIAL", period="P1W")
    act("notification-url", app=app, url=f"http://{service.http}/notifications/{app}")
    order = {"app": app, "productId": "pro.monthly", "account": "ann", "offer": "week"}
    receipt = post(f"{sandbox}/sandbox/v1/documents/app-receipt", order)[1]["document"]
    # At Apple's URLs, then with two lines of its configuration changed.
    backends = [
        OldBackend(f"{sandbox}/verifyReceipt", f"{sandbox}/verifyReceipt"),
        OldBackend(f"http://{service.http}/production/verifyReceipt", f"http://{service.http}/sandbox/verifyReceipt"),
    ]
    line = verify_receipt(backends[0].sandbox, receipt)["latest_receipt_info"][0]["original_transaction_id"]
    steps = [
        (5.1, []),
        (5.0, [("clock/advance", {"by": "8d"})]),
        (4.0, [("auto-renew", {"transactionId": line, "enabled": False})]),
        (5.0, [("auto-renew", {"transactionId": line, "enabled": True})]),
        (1.0, [("billing", {"account": "ann", "fails": True}), ("clock/advance", {"by": "31d"})]),
        (-1.0, [("clock/advance", {"by": "17d"})]),
        (5.0, [("billing", {"account": "ann", "fails": False})]),
        (-7.0, [("refund", {"transactionId": line, "reason": "APP_ISSUE"})]),
    ]
    for code, actions in steps:
        for action, members in actions:
            if action == "refund":
                latest = verify_receipt(backends[0].sandbox, receipt)["latest_receipt_info"][0]
                members = members | {"transactionId": latest["transaction_id"]}
            act(action, **members)
        moment = now()
        apples, ours = (backend.entitle(receipt, moment) for backend in backends)
        assert ours == apples and ours["pro.monthly"][0] == code, (code, ours, apples)


def test_statuses_equal_apples(start):
    service = start()
    facade = f"http://{service.http}/verifyReceipt"
    order = {"app": "ocean-journal", "productId": "lifetime", "account": "old-timer"}
    receipt = post(f"http://{service.sandbox}/sandbox/v1/documents/app-receipt", order)[1]["document"]

    def status(url, body):
        code, answer = post(url, body)
        assert code == 200, answer
        return answer["status"]

    right = {"receipt-data": receipt}
    assert status(facade, right) == 0
    assert status(f"{facade}/ocean-journal", right) == 0
    # Old apps send line breaks.
    lines = "\r\n".join(receipt[at : at + 76] for at in range(0, len(receipt), 76))
    assert status(facade, {"receipt-data": lines}) == 0
    # Apple's two hosts.
    assert status(f"http://{service.http}/production/verifyReceipt", right) == 21007
    assert status(f"http://{service.http}/sandbox/verifyReceipt/ocean-journal", right) == 0
    for malformed in ({}, {"receipt-data": "no receipt"}, {"receipt-data": receipt[:400]}, b"[", b"", b"{}"):
        assert status(facade, malformed) == 21002, malformed
    forged = base64.b64encode(base64.b64decode(receipt)[:-1] + b"\0").decode()
    assert status(facade, {"receipt-data": forged}) == 21003
    assert post(f"{facade}/unknown", right)[0] == 404
    assert post(f"{facade}/ocean-journal/more", right)[0] == 404
    with urllib.request.urlopen(facade) as answer:
        assert json.load(answer)["status"] == 21000


def test_the_shared_secret_is_required(tmp_path):
    service = started(tmp_path)
    customers = RandomCustomers(service, 1, seed=1, notified=False)
    (receipt,) = customers.receipts.values()
    url = f"http://{service.http}/verifyReceipt"
    for body in ({}, {"password": ""}, {"password": SECRET[:-1]}, {"password": SECRET + "!"}):
        assert post(url, {"receipt-data": receipt, **body})[1]["status"] == 21004, body
    assert verify_receipt(url, receipt)["status"] == 0
    assert SECRET not in service.log
    service.stop()


def test_an_unknown_receipt_is_retryable_while_apple_is_unavailable(start):
    service = start()
    order = {"app": "ocean-journal", "productId": "pro.monthly", "account": "ann"}
    receipt = post(f"http://{service.sandbox}/sandbox/v1/documents/app-receipt", order)[1]["document"]
    public = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    keys = {"keyId": "ANOTHER", "publicKey": public.decode()}
    assert post(f"http://{service.sandbox}/sandbox/v1/keys", keys)[0] == 200
    _, answer = post(f"http://{service.http}/verifyReceipt", {"receipt-data": receipt})
    # Apple sends is_retryable with 21100 to 21199 only.
    assert (answer["status"], answer.keys() & {"is_retryable", "is-retryable"}) == (21005, set())


BOTH_ENVIRONMENTS = """\
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 4711
    environments: [Sandbox, Production]
    products: {lifetime: {type: Non-Consumable, entitlements: [pro], price: 4.99, currency: USD}}
  sandboxed:
    bundle_id: com.example.sandboxed
    environments: [Sandbox]
    products: {lifetime: {type: Non-Consumable, entitlements: [pro], price: 4.99, currency: USD}}
trusted_roots:
  - {environment: Production, certificate: data/sandbox/root.pem}
"""


def test_environments_have_their_own_receipts_and_unknown_accounts_a_status(start, tmp_path):
    start().stop()
    (tmp_path / "entitled.yaml").write_text(BOTH_ENVIRONMENTS)
    service = start(arguments=["--config", tmp_path / "entitled.yaml"])
    now = post(f"http://{service.sandbox}/sandbox/v1/clock/advance", {"by": "1s"})[1]["now"][:19] + "Z"

    def status(path, bundle="com.example.oceanjournal", **more):
        receipt = app_receipt(service, [("lifetime", "1000000123456789")], bundle, created=now, **more)
        code, answer = post(f"http://{service.http}/{path}", {"receipt-data": receipt})
        assert code == 200, answer
        return answer["status"], answer.get("environment")

    production = {"kind": "Production"}
    assert status("sandbox/verifyReceipt", **production) == (21008, "Sandbox")
    assert status("verifyReceipt", "com.example.sandboxed", **production) == (21008, "Sandbox")
    assert status("production/verifyReceipt") == (21007, "Production")
    # Without a key for production, Apple cannot be called there; the receipt's contents count.
    assert status("production/verifyReceipt", **production) == (0, "Production")
    # Apple has no such purchase (any more).
    assert status("verifyReceipt") == (21010, "Sandbox")


REAL = """\
apps:
  weeka:
    bundle_id: dev.bonzer.weeka.app
    environments: [Sandbox]
    app_store_servers: {Sandbox: "http://127.0.0.1:9"}
    products: {}
"""


def test_a_real_receipt_is_verified_and_answered_from_its_contents(service, testdata, tmp_path):
    """The receipt is rejected for another app; for its own app, its contents answer if Apple cannot be called."""
    receipt = (testdata / "genuine" / "receipt-sandbox-g5").read_text()
    assert verify_receipt(f"http://{service.http}/verifyReceipt", receipt)["status"] == 21003
    configuration = tmp_path / "weeka.yaml"
    configuration.write_text(REAL)
    own = Service(tmp_path / "data", ["--config", configuration])
    answer = verify_receipt(f"http://{own.http}/verifyReceipt", receipt)
    assert (answer["status"], answer["environment"]) == (0, "Sandbox")
    assert answer["receipt"]["receipt_type"] == "ProductionSandbox"
    assert answer["receipt"]["bundle_id"] == "dev.bonzer.weeka.app"
    bought = {entry["transaction_id"] for entry in answer["receipt"]["in_app"]}
    assert len(bought) == 2
    assert {entry["transaction_id"] for entry in answer["latest_receipt_info"]} == bought
    own.stop()
