"""`POST /verifyReceipt` on the edge, beside the sandbox's own: an old backend must see no difference."""

import base64
import itertools
import json
import os
import time
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from forge import app_receipt
from harness import Service, post
from random_customers import APP, SECRET, RandomCustomers, started

# The lives of 200 customers take two minutes: ENTITLED_LIVES=200.
CUSTOMERS = int(os.environ.get("ENTITLED_LIVES", "25"))
# What cannot be the same: when was asked, and that only Apple can sign a new receipt. Here the one that was sent comes
# back.
MOMENT = {f"request_date{spelling}" for spelling in ("", "_ms", "_pst")}


def asked(url, receipt, **more):
    """What `verifyReceipt` at a URL answers."""
    status, answer = post(url, {"receipt-data": receipt, "password": SECRET, **more})
    assert status == 200, answer
    return answer


def comparable(answer):
    answer = {name: value for name, value in answer.items() if name != "latest_receipt"}
    if "receipt" in answer:
        answer["receipt"] = {name: value for name, value in answer["receipt"].items() if name not in MOMENT}
    return answer


def without_coins(answer):
    """Leaves out consumables. Which were bought, or delivered, since the receipt was made nobody but Apple knows; and of
    one that is delivered only the receipt tells, whose dates have no fractions of a second."""
    answer = dict(answer)
    rest = [entry for entry in answer.pop("latest_receipt_info", []) if entry["product_id"] != "coins"]
    bought = [entry for entry in answer["receipt"]["in_app"] if entry["product_id"] != "coins"]
    answer["receipt"] = answer["receipt"] | {"in_app": bought}
    return answer | ({"latest_receipt_info": rest} if rest else {})


def differences(ours, theirs):
    """Only what is not the same, entry by entry: whole answers are too long to be looked at."""
    found = []
    for name in sorted(ours.keys() | theirs.keys()):
        left, right = ours.get(name), theirs.get(name)
        if isinstance(left, list) and isinstance(right, list):
            found += [(name, pair) for pair in itertools.zip_longest(left, right) if pair[0] != pair[1]]
        elif left != right:
            found.append((name, (left, right)))
    return found


def compare(lives, urls):
    """Asks both about the first and the latest receipt of everybody; returns how many transactions they told of."""
    theirs, ours = urls
    transactions = 0
    for account, first in lives.receipts.items():
        expected = asked(theirs, first)
        assert expected["status"] == 0, expected
        answer = asked(ours, first)
        found = differences(without_coins(comparable(answer)), without_coins(comparable(expected)))
        assert not found, f"{account}: {found[:3]}"
        latest = expected.get("latest_receipt")
        # Somebody whose only purchase was a consumable that is delivered has nothing in a receipt any more.
        if latest is None:
            continue
        for exclude in (False, True):
            more = {"exclude-old-transactions": exclude}
            expected, answer = asked(theirs, latest, **more), asked(ours, latest, **more)
            found = differences(comparable(answer), comparable(expected))
            assert not found, f"{account}, {more}: {found[:3]}"
            assert answer["latest_receipt"] == latest
            transactions += len(answer["latest_receipt_info"])
    return transactions


def test_lives_that_were_told_of(tmp_path):
    """What notifications told is enough: Apple cannot even be asked."""
    service = started(tmp_path)
    begin = time.monotonic()
    lives = RandomCustomers(service, CUSTOMERS, seed=1, notified=True)
    lives.live(days=400, each_day=max(1, CUSTOMERS // 40))
    told = lives.delivered()
    # From here on the sandbox knows the developer's key, and it is not the one that the service has.
    public = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    lives.act("keys", keyId="ANOTHER", publicKey=public.decode())
    transactions = compare(lives, (f"{lives.url}/verifyReceipt", f"http://{service.http}/verifyReceipt/{APP}"))
    print(f"{CUSTOMERS} customers, {told} notifications, {transactions} transactions told, "
          f"{time.monotonic() - begin:.1f} s")  # fmt: skip
    assert transactions > CUSTOMERS
    service.stop()


def test_lives_that_nobody_told_of(tmp_path):
    """Unknown receipts are migrated on the way, once: then what is known suffices."""
    service = started(tmp_path)
    lives = RandomCustomers(service, CUSTOMERS, seed=2, notified=False)
    lives.live(days=200, each_day=max(1, CUSTOMERS // 20))
    urls = (f"{lives.url}/verifyReceipt", f"http://{service.http}/sandbox/verifyReceipt")
    assert compare(lives, urls) > CUSTOMERS
    assert compare(lives, urls) > CUSTOMERS
    service.stop()


class OldBackend:
    """A backend in the manner of Apple's sample of WWDC20 ("Determining service entitlement on the server"): it
    knows `verifyReceipt` at two URLs, and nothing else."""

    def __init__(self, production, sandbox):
        self.production, self.sandbox = production, sandbox

    def entitle(self, receipt, now):
        """The sample's entitlement code of each product, and when it ends."""
        answer = asked(self.production, receipt)
        if answer["status"] == 21007:
            answer = asked(self.sandbox, receipt)
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


def test_an_old_backend_changes_only_the_url(start):
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
    # At Apple's, and with two lines of its configuration changed.
    backends = [
        OldBackend(f"{sandbox}/verifyReceipt", f"{sandbox}/verifyReceipt"),
        OldBackend(f"http://{service.http}/production/verifyReceipt", f"http://{service.http}/sandbox/verifyReceipt"),
    ]
    line = asked(backends[0].sandbox, receipt)["latest_receipt_info"][0]["original_transaction_id"]
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
                latest = asked(backends[0].sandbox, receipt)["latest_receipt_info"][0]
                members = members | {"transactionId": latest["transaction_id"]}
            act(action, **members)
        moment = now()
        apples, ours = (backend.entitle(receipt, moment) for backend in backends)
        assert ours == apples and ours["pro.monthly"][0] == code, (code, ours, apples)


def test_statuses(start):
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
    # Old apps break lines.
    lines = "\r\n".join(receipt[at : at + 76] for at in range(0, len(receipt), 76))
    assert status(facade, {"receipt-data": lines}) == 0
    # The two hosts of Apple's.
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


def test_the_shared_secret_is_asked_for(tmp_path):
    service = started(tmp_path)
    lives = RandomCustomers(service, 1, seed=1, notified=False)
    (receipt,) = lives.receipts.values()
    url = f"http://{service.http}/verifyReceipt"
    for body in ({}, {"password": ""}, {"password": SECRET[:-1]}, {"password": SECRET + "!"}):
        assert post(url, {"receipt-data": receipt, **body})[1]["status"] == 21004, body
    assert asked(url, receipt)["status"] == 0
    assert SECRET not in service.log
    service.stop()


def test_without_apple_what_is_unknown_is_to_be_asked_again(start):
    service = start()
    order = {"app": "ocean-journal", "productId": "pro.monthly", "account": "ann"}
    receipt = post(f"http://{service.sandbox}/sandbox/v1/documents/app-receipt", order)[1]["document"]
    public = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    keys = {"keyId": "ANOTHER", "publicKey": public.decode()}
    assert post(f"http://{service.sandbox}/sandbox/v1/keys", keys)[0] == 200
    _, answer = post(f"http://{service.http}/verifyReceipt", {"receipt-data": receipt})
    assert (answer["status"], answer["is_retryable"], answer["is-retryable"]) == (21005, True, True)


BOTH_WORLDS = """\
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


def test_each_world_has_its_receipts_and_an_account_may_be_gone(start, tmp_path):
    start().stop()
    (tmp_path / "entitled.yaml").write_text(BOTH_WORLDS)
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
    # There is no key to ask Apple with in production, and the receipt's own word is all there is.
    assert status("production/verifyReceipt", **production) == (0, "Production")
    # Apple knows of no such purchase (any more).
    assert status("verifyReceipt") == (21010, "Sandbox")


GENUINE = """\
apps:
  weeka:
    bundle_id: dev.bonzer.weeka.app
    environments: [Sandbox]
    app_store_servers: {Sandbox: "http://127.0.0.1:9"}
    products: {}
"""


def test_the_genuine_receipt(service, testdata, tmp_path):
    """Of another app it is refused; of its own it is told as it is, where Apple cannot be asked for more."""
    receipt = (testdata / "genuine" / "receipt-sandbox-g5").read_text()
    assert asked(f"http://{service.http}/verifyReceipt", receipt)["status"] == 21003
    configuration = tmp_path / "weeka.yaml"
    configuration.write_text(GENUINE)
    own = Service(tmp_path / "data", ["--config", configuration])
    answer = asked(f"http://{own.http}/verifyReceipt", receipt)
    assert (answer["status"], answer["environment"]) == (0, "Sandbox")
    assert answer["receipt"]["receipt_type"] == "ProductionSandbox"
    assert answer["receipt"]["bundle_id"] == "dev.bonzer.weeka.app"
    bought = {entry["transaction_id"] for entry in answer["receipt"]["in_app"]}
    assert len(bought) == 2
    assert {entry["transaction_id"] for entry in answer["latest_receipt_info"]} == bought
    own.stop()
