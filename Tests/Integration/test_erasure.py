"""Erasure: what stays of a customer in the files, in restored copies, in events and in logs."""

import base64
import contextlib
import json
import re
import shutil
import urllib.request
import uuid

import grpc
import pytest

import stores
from contract import StatusCode, receipt_service, segment_service, segment_stub
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service, post
from receiver import Receiver
from test_identity import APP, Client, rejection

ANA = "ana.person@example.com"
TOKEN = "8f2f9e3a-5a10-4b0a-9a63-0d3ac1a0e0aa"
CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    customer_from_app_account_token: false
    receipts: {retain: true}
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M,
        price: 4.99, currency: USD}
      coins: {type: Consumable, price: 0.99, currency: USD}
"""


@pytest.fixture
def client(tmp_path):
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION)
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    client = Client(service)
    yield client
    client.channel.close()
    client.service.kill()


def restart(client, folder=None, **more):
    """Starts another service on the data directory, or on `folder`."""
    client.channel.close()
    config = client.service.data.parent / "entitled.yaml"
    return Client(Service(folder or client.service.data, ["--config", config], **more))


def live(client):
    """Everything that the service stores about a customer: purchases, grants, notes, keys, receipts, rejections."""
    line = client.buy(ANA, account="ann", appAccountToken=TOKEN)
    client.call("Grant", customer_id=ANA, entitlement="pro", access_level="ACCESS_LEVEL_FULL", actor=f"app/{ANA}", note=f"{ANA} called", idempotency_key=f"gift-{ANA}")
    client.call("RegisterAppAccountToken", customer_id=ANA, app_account_token=str(uuid.uuid4()))
    client.call("MergeCustomers", from_customer_id="phone-" + ANA, into_customer_id=ANA, actor=ANA)
    client.call("TransferPurchase", original_transaction_id=line, from_customer_id=ANA, to_customer_id="cleo", actor=f"app/{ANA}")
    client.call("TransferPurchase", original_transaction_id=line, from_customer_id="cleo", to_customer_id=ANA, actor=f"app/{ANA}")
    coins = client.service.buy("coins", account="ann", appAccountToken=TOKEN)
    client.receipts.SubmitTransaction(
        receipt_service.SubmitTransactionRequest(
            app=APP, customer_id=ANA, signed_transaction=coins["signedTransactionInfo"]), timeout=CALL_LIMIT)
    client.call("AcknowledgeFulfillment", transaction_id=coins["transactionId"], fulfillment_id=f"coins-{ANA}")
    url = f"http://{client.service.sandbox}/sandbox/v1/accounts/ann/receipt?app={APP}"
    with urllib.request.urlopen(url, timeout=CALL_LIMIT) as answer:
        receipt = json.load(answer)["receipt"]
    client.receipts.SubmitReceipt(
        receipt_service.SubmitReceiptRequest(app=APP, customer_id=ANA, receipt_base64=receipt), timeout=CALL_LIMIT)
    with pytest.raises(grpc.RpcError):
        document = client.documents[line]
        client.receipts.SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=ANA, signed_transaction=document[:-4] + "AAAA"), timeout=CALL_LIMIT)
    # A forged notification names the customer inside, and is indexed under no customer.
    forged = {"notification_type": "INITIAL_BUY", "password": "x", "app_account_token": TOKEN, "note": ANA}
    post(f"http://{client.service.http}/notifications/{APP}", forged)
    payload = base64.urlsafe_b64encode(json.dumps({"data": {"appAccountToken": TOKEN}}).encode()).decode().rstrip("=")
    post(f"http://{client.service.http}/notifications/{APP}", {"signedPayload": f"eyJhbGciOiJFUzI1NiJ9.{payload}.AAAA"})
    return line


def texts(value, depth=0):
    """A value of the store as text, with the JSON of signed documents inside."""
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    yield text
    if depth < 5:
        for part in re.findall(r"[A-Za-z0-9_-]{24,}", text):
            with contextlib.suppress(ValueError):
                yield from texts(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)), depth + 1)


def leaks(service, *names):
    """Where one of `names` is: files of the data directory, bytes of the export, rows of the database."""
    found = []
    needles = [name.lower() for name in names]
    for file in service.data.rglob("*"):
        # The sandbox plays the App Store: it is no part of the service's data.
        if file.is_file() and "sandbox" not in file.relative_to(service.data).parts:
            text = file.read_bytes().decode("latin-1").lower()
            found += [(file.name, needle) for needle in needles if needle in text]
    for table, row in stores.rows(service.data):
        for value in row:
            found += [(table, n) for text in texts(value) for n in needles if n in text.lower()]
    export = service.command("store", "export", "--data", service.data)
    assert export.returncode == 0, export.stderr
    for line in export.stdout.splitlines():
        for value in json.loads(line).values():
            if isinstance(value, str):
                found += [("export", n) for text in texts(value) for n in needles if n in text.lower()]
    return sorted(set(found))


def test_after_an_erasure_no_file_contains_the_person(client):
    line = live(client)
    assert leaks(client.service, ANA, TOKEN)
    erased = client.call("EraseCustomer", customer_id=ANA, actor="privacy")
    assert erased.erased_rows > 10 and erased.pseudonym.startswith("erased-")
    # Without a stop: the log is checkpointed and truncated at once. A worker may have begun to write a new one.
    assert leaks(client.service, ANA, TOKEN, "deviceVerification") == []
    assert not client.call("ListTimeline", customer_id=ANA).events
    assert client.unclaimed()[0] == line
    tokens = {t.app_account_token for t in client.call("ListUnclaimedPurchases").transactions}
    assert len(tokens) == 1 and tokens != {TOKEN} and uuid.UUID(tokens.pop()).version == 8
    client.service.stop()
    assert leaks(client.service, ANA, TOKEN) == []
    config = client.service.data.parent / "entitled.yaml"
    for command in (["verify"], ["replay", "--config", config]):
        done = client.service.command("store", *command, "--data", client.service.data)
        assert done.returncode == 0, done.stdout + done.stderr


def test_erasing_twice_succeeds_and_a_stranger_is_not_found(client):
    client.buy(ANA)
    first = client.call("EraseCustomer", customer_id=ANA, actor=ANA)
    second = client.call("EraseCustomer", customer_id=ANA, actor=f"app/{ANA}")
    events = client.call("ListTimeline", customer_id=first.pseudonym).events
    assert [event.actor for event in events][-2:] == [first.pseudonym, f"app/{first.pseudonym}"]
    assert second.erased_rows == 0 and second.pseudonym == first.pseudonym and second.erased_at.seconds
    assert rejection(lambda: client.call("EraseCustomer", customer_id="stranger")) == (
        StatusCode.NOT_FOUND, "UNKNOWN_CUSTOMER")
    # The id would be that of a new customer with the history of the erased one.
    for method, more in (("Grant", {"entitlement": "pro", "access_level": "ACCESS_LEVEL_FULL"}), ("EraseCustomer", {})):
        assert rejection(lambda: client.call(method, customer_id=first.pseudonym, **more)) == (
            StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    # A customer who comes back is a new one, and can be erased again.
    client.buy(ANA)
    third = client.call("EraseCustomer", customer_id=ANA)
    assert third.erased_rows > 0 and third.pseudonym != first.pseudonym
    assert leaks(client.service, ANA) == []


def test_a_restored_copy_is_erased_before_its_first_answer(client):
    live(client)
    client.buy("ben")
    copy = client.service.data.parent / "backup.sqlite"
    assert client.service.command("store", "backup", "--data", client.service.data, copy).returncode == 0
    client.call("EraseCustomer", customer_id=ANA)
    client.service.stop()
    for suffix in ("", "-wal", "-shm"):
        (client.service.data / f"entitled.sqlite{suffix}").unlink(missing_ok=True)
    shutil.copy(copy, client.service.data / "entitled.sqlite")
    restored = restart(client)
    try:
        assert "erasures applied" in restored.service.log
        assert not restored.is_entitled(ANA) and restored.is_entitled("ben")
        assert leaks(restored.service, ANA, TOKEN) == []
        restored.buy(ANA)
        restored.service.stop()
        again = restart(restored)
        assert again.is_entitled(ANA), "an erasure applies to a copy once"
        again.service.stop()
    finally:
        restored.service.kill()


def test_an_erasure_that_a_crash_kept_from_the_list_is_added(client):
    client.buy(ANA)
    client.call("EraseCustomer", customer_id=ANA)
    client.service.stop()
    listed = (client.service.data / "entitled.erasures").read_text()
    (client.service.data / "entitled.erasures").write_text(listed.splitlines()[0] + "\nbegun")
    again = restart(client)
    assert (again.service.data / "entitled.erasures").read_text() == listed
    assert ANA not in listed and len(listed.splitlines()) == 2
    again.service.stop()


def test_a_list_of_another_key_stops_the_start(client):
    client.service.stop()
    (client.service.data / "entitled.key").unlink()
    done = client.service.command(
        "serve", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--sandbox", "off", "--data", client.service.data)
    assert done.returncode == 1 and "another key" in done.stderr


def test_list_and_key_can_be_elsewhere(client, tmp_path):
    client.service.stop()
    key = tmp_path / "key"
    key.write_text(base64.b64encode(bytes(range(32))).decode())
    key.chmod(0o600)
    with (tmp_path / "entitled.yaml").open("a") as file:
        file.write("erasures: {list: list, key: key}\n")
    moved = restart(client, tmp_path / "other")
    moved.buy(ANA)
    moved.call("EraseCustomer", customer_id=ANA)
    moved.service.stop()
    assert len((tmp_path / "list").read_text().splitlines()) == 2
    assert not (tmp_path / "other" / "entitled.key").exists()


def configure(folder, receiver, **more):
    """Writes a configuration with a webhook."""
    secret = folder / "secret"
    secret.write_text("whsec_" + base64.b64encode(bytes(32)).decode())
    secret.chmod(0o600)
    webhook = {"url": receiver.url, "allow_http": True, "secret": {"file": "secret"}, **more}
    (folder / "entitled.yaml").write_text(
        CONFIGURATION.rstrip() + f"\n    webhooks: {json.dumps({'crm': webhook})}\n")


def test_receivers_are_told_and_later_messages_have_the_pseudonym(tmp_path):
    with contextlib.closing(Receiver()) as receiver:
        configure(tmp_path, receiver)
        client = Client(Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"]))
        try:
            client.buy(ANA)
            watch = client.entitlements.Watch(
                wire.WatchRequest(app=APP, heartbeat_interval={"nanos": 200_000_000}), timeout=CALL_LIMIT)
            next(watch)
            pseudonym = client.call("EraseCustomer", customer_id=ANA).pseudonym
            erased = last(watch, "CUSTOMER_ERASED")
            assert (erased.type, erased.customer_id, erased.erased_customer_id) == ("CUSTOMER_ERASED", pseudonym, ANA)
            (message,) = erasures(receiver, 1)
            assert message["data"]["customerId"] == pseudonym and message["data"]["erasedCustomerId"] == ANA
            # A receiver that missed it learns the id from another call.
            client.call("EraseCustomer", customer_id=ANA)
            assert erasures(receiver, 2)[1]["data"]["erasedCustomerId"] == ANA
            client.service.stop()
            assert leaks(client.service, ANA) == []
        finally:
            client.service.kill()


def test_filtered_streams_are_told(client):
    client.buy(ANA)
    client.buy("ben")
    segments = segment_stub(client.channel)
    segments.CreateSegment(
        segment_service.CreateSegmentRequest(app=APP, name="all", filter={"unclaimed": False}), timeout=CALL_LIMIT)
    beat = {"nanos": 200_000_000}
    streams = {
        "customer": client.entitlements.Watch(
            wire.WatchRequest(app=APP, customer_ids=["x", ANA], heartbeat_interval=beat), timeout=CALL_LIMIT),
        "entitlement": client.entitlements.Watch(
            wire.WatchRequest(app=APP, entitlements=["pro"], heartbeat_interval=beat), timeout=CALL_LIMIT),
        "segment": segments.WatchSegment(
            segment_service.WatchSegmentRequest(app=APP, segment="all", heartbeat_interval=beat), timeout=CALL_LIMIT),
        "other": client.entitlements.Watch(
            wire.WatchRequest(app=APP, customer_ids=["ben"], heartbeat_interval=beat), timeout=CALL_LIMIT),
    }
    for stream in streams.values():
        next(stream)
    pseudonym = client.call("EraseCustomer", customer_id=ANA).pseudonym
    other = streams.pop("other")
    for name, stream in streams.items():
        erased = last(stream, "CUSTOMER_ERASED")
        assert (erased.customer_id, erased.erased_customer_id) == (pseudonym, ANA), name
    client.call("EraseCustomer", customer_id="ben")
    assert last(other, "CUSTOMER_ERASED").erased_customer_id == "ben"


def erasures(receiver, count):
    """The messages about erasures, once there are `count` of them."""

    def found(receiver):
        bodies = [json.loads(request.body) for request in receiver.accepted]
        return [body for body in bodies if body["type"] == "entitlement.customer_erased"]

    receiver.wait(lambda receiver: len(found(receiver)) >= count)
    return found(receiver)


def last(watch, kind):
    """The first event of this type."""
    while True:
        message = next(watch)
        if message.WhichOneof("content") == "event" and message.event.type == kind:
            return message.event


def test_dead_letters_and_pending_messages_name_the_pseudonym(tmp_path):
    with contextlib.closing(Receiver(lambda request: 500)) as receiver:
        configure(tmp_path, receiver, retry_seconds=[1])
        client = Client(Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"]))
        try:
            client.buy(ANA)
            receiver.wait(lambda receiver: receiver.requests)
            client.call("EraseCustomer", customer_id=ANA)
            assert leaks(client.service, ANA) == []
        finally:
            client.service.kill()


def test_the_log_of_an_erasure_has_an_alias(client):
    client.buy("ben")
    client.call("EraseCustomer", customer_id="ben", actor="ben")
    # The line may be printed after the response; the log has it once the service has stopped.
    client.service.stop()
    (record,) = [line for line in client.service.log.splitlines() if "EraseCustomer" in line]
    assert "customer-" in record and "ben" not in record


def test_with_aliases_no_log_line_names_a_customer(client, tmp_path):
    client.service.stop()
    with (tmp_path / "entitled.yaml").open("a") as file:
        file.write("log: {customers: alias}\n")
    other = restart(client)
    live(other)
    other.call("EraseCustomer", customer_id=ANA, actor=ANA)
    other.service.stop()
    assert "EraseCustomer" in other.service.log
    assert re.search("token of another customer actor=app/customer-", other.service.log)
    assert ANA not in other.service.log and TOKEN not in other.service.log


def test_an_upload_loses_the_lines_of_the_customer(client):
    client.buy(ANA)
    lines = [{"customer": name, "receipt": "x" * 30} for name in (ANA, "ben", "x" + ANA)]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    client.receipts.UploadMigrationInput(
        receipt_service.UploadMigrationInputRequest(app=APP, upload_id="u", data=data), timeout=CALL_LIMIT)
    client.call("EraseCustomer", customer_id=ANA)
    if stores.IS_SQLITE:
        (upload,) = (client.service.data / "import").glob("upload-*")
        left = upload.read_bytes()
    else:
        left = b"".join(row[0] for row in stores.query(client.service.data, "SELECT data FROM upload ORDER BY position"))
    assert len(left) == len(data) and json.dumps(lines[1]).encode() in left and json.dumps(lines[2]).encode() in left
    assert left.splitlines()[0].strip() == b""
