"""DeviceCheck: the bits of devices at Apple, and the policy that a device has one free trial."""

import base64
import concurrent.futures
import json
import pathlib
import signal
import time
import uuid

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

import contract
from certificates import write_key
from contract import StatusCode, audit_service, device_check_service
from harness import CALL_LIMIT, post, wait_for
from stub import StubServer
from test_app_store import APP, World, commands

TEAM = "TEAM000001"
KEY_ID = "KEY0000001"


def token(device):
    """A new token of a device, as the sandbox reads it."""
    return base64.b64encode(f"{device}/{uuid.uuid4()}".encode()).decode()


class Devices(World):
    def __init__(self, service):
        super().__init__(service)
        self.devices = contract.device_check_stub(self.channel)

    def ask(self, method, device, **members):
        request = getattr(device_check_service, f"{method}Request")(app=APP, device_token=device, **members)
        return getattr(self.devices, method)(request, timeout=CALL_LIMIT)

    def error(self, method, device, **members):
        with pytest.raises(contract.RpcError) as error:
            self.ask(method, device, **members)
        return error.value.code(), contract.reason(error.value)


def configuration(folder, key=True, **device_check):
    if key:
        device_check = {"file": "device.p8", "key_id": KEY_ID, "team_id": TEAM, **device_check}
    document = {
        "apps": {
            APP: {
                "bundle_id": "com.example.oceanjournal", "environments": ["Sandbox"], "status_polling": False,
                "gap_repair": False,
                "products": {
                    "pro.monthly": {
                        "type": "Auto-Renewable Subscription", "group": "pro", "entitlements": ["pro"],
                        "period": "P1M", "price": 4.99, "currency": "USD",
                    }
                },
                **({"device_check": device_check} if device_check else {}),
            }
        }
    }  # fmt: skip
    path = folder / "entitled.yaml"
    path.write_text(json.dumps(document))
    return str(path)


@pytest.fixture
def world(start, tmp_path):
    world = Devices(start(arguments=("--config", configuration(tmp_path, key=False, trial_once_per_device="bit1"))))
    yield world
    world.channel.close()


def test_bits_are_read_and_set_one_by_one(world):
    phone = "phone-of-ana"
    assert not world.ask("QueryDeviceBits", token(phone)).HasField("bits")
    set_first = world.ask("UpdateDeviceBits", token(phone), bit0=True)
    assert set_first.bits.bit0 and not set_first.bits.bit1 and set_first.HasField("accepted_at")
    world.ask("UpdateDeviceBits", token(phone), bit1=True)
    bits = world.ask("QueryDeviceBits", token(phone)).bits
    assert bits.bit0 and bits.bit1 and len(bits.last_update) == len("2026-11")
    world.ask("UpdateDeviceBits", token(phone), bit0=False)
    bits = world.ask("QueryDeviceBits", token(phone)).bits
    assert not bits.bit0 and bits.bit1
    assert not world.ask("QueryDeviceBits", token("another")).HasField("bits")
    assert world.error("UpdateDeviceBits", token(phone)) == (StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")


def test_a_token_that_apple_rejects_is_not_valid(world):
    assert world.ask("ValidateDeviceToken", token("phone")).valid
    answer = world.ask("ValidateDeviceToken", "not a token")
    assert not answer.valid and "device token" in answer.error
    expected = (StatusCode.INVALID_ARGUMENT, "DEVICE_TOKEN_REJECTED")
    for method in ["QueryDeviceBits", "GetDeviceTrial", "UseDeviceTrial"]:
        assert world.error(method, "not a token") == expected
    assert world.error("UpdateDeviceBits", "not a token", bit0=True, bit1=True) == expected
    assert world.error("QueryDeviceBits", "") == (StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")
    [refused] = [command for command in commands(world) if command["call"]["method"] == "UpdateDeviceBits"]
    assert refused["call"]["answer"]["errorCode"] == 400


def test_a_device_has_one_trial_also_after_a_reinstallation(world):
    phone = "phone-of-ben"
    world.act("device-bits", device=phone, bit0=True)
    first = world.ask("GetDeviceTrial", token(phone))
    assert first.may_offer and first.last_update
    used = world.ask(
        "UseDeviceTrial", token(phone), customer_id="ben", actor="shop", note="trial began", idempotency_key="one")
    assert not used.already_used and used.HasField("accepted_at") and not used.repeated
    # Another install of the app has other tokens, and another customer.
    assert not world.ask("GetDeviceTrial", token(phone)).may_offer
    again = world.ask("UseDeviceTrial", token(phone), customer_id="ben2", idempotency_key="two")
    assert again.already_used and not again.HasField("accepted_at")
    bits = world.ask("QueryDeviceBits", token(phone)).bits
    assert bits.bit0 and bits.bit1, "the policy changes its own bit alone"
    assert world.ask("GetDeviceTrial", token("tablet-of-ben")).may_offer


def test_of_requests_for_one_device_at_once_one_gets_the_trial(world):
    def use(number):
        # Each install and each request has another token.
        return world.ask(
            "UseDeviceTrial", token("phone-of-dan"), customer_id=f"dan{number}", idempotency_key=f"key-{number}")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(use, range(8)))
    assert [answer.already_used for answer in answers].count(False) == 1
    assert len(commands(world)) == 1

    def set_bit(name):
        return world.ask("UpdateDeviceBits", token("phone-of-eva"), **{name: True})

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(set_bit, ["bit0", "bit1"]))
    bits = world.ask("QueryDeviceBits", token("phone-of-eva")).bits
    assert bits.bit0 and bits.bit1, "no change is lost"


def test_a_used_trial_is_evidence_without_the_token_and_in_the_audit_log(world):
    phone = token("phone-of-cleo")
    first = world.ask("UseDeviceTrial", phone, customer_id="cleo", actor="shop", idempotency_key="one")
    second = world.ask("UseDeviceTrial", phone, customer_id="cleo", actor="shop", idempotency_key="one")
    assert second.repeated and second.accepted_at == first.accepted_at and not second.already_used
    [command] = commands(world)
    call = command["call"]
    assert (command["actor"], call["method"]) == ("shop", "UseDeviceTrial")
    assert call["target"] == "POST /v1/update_two_bits" and call["request"]["bit1"] is True
    assert phone not in json.dumps(command) and len(call["request"]["device_token_sha256"]) == 64
    audit = contract.audit_stub(world.channel)
    request = audit_service.ListAuditEntriesRequest(app=APP, page_size=1000)

    def audited():
        entries = audit.ListAuditEntries(request, timeout=CALL_LIMIT).entries
        return [list(entry.customer_ids) for entry in entries if entry.method.endswith("/UseDeviceTrial")]

    wait_for(lambda: ["cleo"] in audited())


def test_without_a_policy_no_trial_is_decided(start, tmp_path):
    world = Devices(start(arguments=("--config", configuration(tmp_path, key=False))))
    expected = (StatusCode.FAILED_PRECONDITION, "NO_TRIAL_POLICY")
    assert world.error("GetDeviceTrial", token("phone")) == expected
    assert world.error("UseDeviceTrial", token("phone")) == expected
    assert not world.ask("QueryDeviceBits", token("phone")).HasField("bits")
    world.channel.close()


def public(pem):
    key = serialization.load_pem_private_key(pem, None).public_key()
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


def test_the_key_signs_and_is_read_again_on_sighup(start, tmp_path):
    first = write_key(tmp_path / "device.p8")
    world = Devices(start(arguments=("--config", configuration(tmp_path, trial_once_per_device="bit0"))))
    world.act("keys", keyId=KEY_ID, publicKey=public(first))
    assert world.ask("ValidateDeviceToken", token("phone")).valid
    second = write_key(tmp_path / "device.p8")
    world.act("keys", keyId=KEY_ID, publicKey=public(second))
    expected = (StatusCode.FAILED_PRECONDITION, "DEVICE_CHECK_KEY_REJECTED")
    assert world.error("ValidateDeviceToken", token("phone")) == expected
    world.service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "in-app purchase keys and shared secrets reloaded" in world.service.log)
    assert world.ask("ValidateDeviceToken", token("phone")).valid
    world.channel.close()


def test_failures_of_apple_are_retried_or_reported(world):
    world.act("faults", kind="server-error", count=2)
    assert world.ask("ValidateDeviceToken", token("phone")).valid
    world.act("faults", kind="rate-limit", count=1, by="1h")
    assert world.error("QueryDeviceBits", token("phone")) == (StatusCode.RESOURCE_EXHAUSTED, "APP_STORE_RATE_LIMIT")


@pytest.fixture
def apple(start, tmp_path):
    """A service whose DeviceCheck is a stub for one device, with the statuses of the stub."""
    world = Devices.__new__(Devices)

    def answer(request):
        if request.path.endswith("query_two_bits"):
            return world.query, world.bits or "Failed to find bit state"
        if world.sets:
            world.bits = json.loads(request.body)
        if world.status != 200:
            world.query = world.later
        return world.status, ""

    server = StubServer(answer)
    document = json.loads(pathlib.Path(configuration(tmp_path, trial_once_per_device="bit0")).read_text())
    document["apps"][APP]["app_store_servers"] = {"Sandbox": server.url}
    write_key(tmp_path / "device.p8")
    (tmp_path / "stub.yaml").write_text(json.dumps(document))
    # `later` is the status of reads after a failed change.
    world.bits, world.query, world.later, world.status, world.sets = None, 200, 200, 200, True
    with start(arguments=("--config", tmp_path / "stub.yaml")).channel() as channel:
        world.devices = contract.device_check_stub(channel)
        yield world
    server.close()


def use(world, key):
    return world.ask("UseDeviceTrial", f"token of {key}", customer_id=key, idempotency_key=key)


@pytest.mark.parametrize("status", [403, 503])
def test_a_failed_change_leaves_the_trial_to_the_next_call(apple, status):
    apple.status, apple.sets = status, False
    with pytest.raises(contract.RpcError):
        use(apple, "ana")
    apple.status, apple.sets = 200, True
    assert not use(apple, "ben").already_used
    assert use(apple, "ana").already_used, "one call gets the trial"


def test_a_change_whose_response_was_lost_got_the_trial(apple):
    apple.status = 503
    assert not use(apple, "ana").already_used, "the bit is set"
    assert use(apple, "ana").repeated and use(apple, "ben").already_used


def test_an_unknown_result_is_kept_for_the_same_key(apple):
    apple.status = apple.later = 403
    with pytest.raises(contract.RpcError):
        use(apple, "ana")
    apple.status = apple.query = 200
    assert use(apple, "ben").already_used and not use(apple, "ana").already_used


def test_the_sandbox_answers_as_documented(world, tmp_path):
    key = write_key(tmp_path / "any.p8")

    def send(path, claims=None, headers=None, **members):
        claims = {"iss": TEAM, "iat": int(time.time())} if claims is None else claims
        bearer = jwt.encode(claims, key, "ES256", {"kid": KEY_ID} if headers is None else headers)
        body = {"device_token": token("tv"), "transaction_id": "1", "timestamp": int(time.time() * 1000), **members}
        body = {name: value for name, value in body.items() if value is not None}
        return post(f"http://{world.service.sandbox}/v1/{path}", body, {"authorization": f"Bearer {bearer}"})

    assert send("validate_device_token") == (200, "")
    assert send("query_two_bits") == (200, "Failed to find bit state")
    assert send("update_two_bits", bit0=True) == (200, "")
    status, bits = send("query_two_bits")
    assert status == 200 and bits["bit0"] is True and bits["bit1"] is False
    unauthorized = (401, "Unable to verify authorization token")
    assert send("query_two_bits", {"iss": TEAM}) == unauthorized
    assert send("query_two_bits", {"iss": "x", "iat": int(time.time())}) == unauthorized
    assert send("query_two_bits", {"iss": TEAM, "iat": int(time.time()) - 90_000}) == unauthorized
    assert send("query_two_bits", headers={}) == unauthorized
    missing = (400, "Missing or incorrectly formatted device token payload")
    assert send("query_two_bits", device_token=None) == missing
    assert send("query_two_bits", device_token="%%%") == missing
    assert send("query_two_bits", transaction_id=None) == missing
    assert send("query_two_bits", timestamp=None) == (400, "Missing or incorrectly formatted time stamp")
    assert send("query_two_bits", timestamp=1) == (400, "Missing or incorrectly formatted time stamp")
    assert send("update_two_bits") == (400, "Missing or incorrectly formatted bits")
    assert send("update_two_bits", bit0="yes") == (400, "Missing or incorrectly formatted bits")
