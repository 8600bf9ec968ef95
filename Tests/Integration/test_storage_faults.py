"""A lost, removed or doubly opened store, limits that are too low at the start, forged posts, and keys read on SIGHUP."""

import base64
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

import stores
from certificates import write_key
from harness import (
    CALL_LIMIT, FREE_PORTS, LARGE_CALL_LIMIT, PROGRAM, SANITIZED, Service, environment, post, run, wait_for,
)  # fmt: skip
from test_signing import ISSUER, KEY_ID, sign

APP = "ocean-journal"


def serve(data, *limits):
    """Runs `serve` under limits of the shell until it exits, which it must; returns the completed process."""
    script = "".join(f"ulimit {limit} && " for limit in limits) + 'exec "$@"'
    command = ["sh", "-c", script, "sh", PROGRAM, "serve", *FREE_PORTS, "--data", data]
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=CALL_LIMIT, env=environment())


def grant(service, customer):
    request = {"app": APP, "customerId": customer, "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL"}
    return service.json("entitled.v1.EntitlementService/Grant", request)


@pytest.mark.parametrize("loss", ["missing", "empty"])
def test_a_lost_database_stops_the_start_with_instructions(start, tmp_path, loss):
    service = start()
    assert grant(service, "ana")[0] == 200
    service.stop()
    database, marker = service.data / "entitled.sqlite", service.data / "store.marker"
    copy = tmp_path / "copy.sqlite"
    shutil.copyfile(database, copy)
    for file in service.data.glob("entitled.sqlite*"):
        file.unlink()
    if loss == "empty":
        database.touch()
    done = serve(service.data)
    assert done.returncode == 1
    assert done.stderr == (
        f"entitled: the store in {database} is missing or empty, although '{marker}' states that one was made here; "
        f"restore a backup to {database}, or delete '{marker}' to start with an empty store\n")
    shutil.copyfile(copy, database)
    start(service.data).stop()
    for file in [*service.data.glob("entitled.sqlite*"), marker]:
        file.unlink()
    start(service.data).stop()
    assert marker.exists()


def test_a_store_deleted_under_the_running_service_ends_readiness_and_refuses_writes(start):
    service = start()
    assert grant(service, "ana")[0] == 200 and service.readiness()[0] == 200
    for file in service.data.glob("entitled.sqlite*"):
        file.unlink()
    status, answer = grant(service, "ben")
    assert status == 503, answer
    wait_for(lambda: service.readiness()[0] != 200)
    service.stop()


def test_deleted_lock_files_and_a_second_directory_admit_no_second_process(start, tmp_path):
    service = start()
    for file in service.data.iterdir():
        if "lock" in file.name or file.name == "store.marker":
            file.unlink()
    assert "in use by another process" in serve(service.data).stderr
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    os.link(service.data / "entitled.sqlite", other / "entitled.sqlite")
    assert "in use by another process" in serve(other).stderr
    assert grant(service, "ana")[0] == 200


@pytest.mark.parametrize(
    "limit, named",
    [("-n 4", "open files"), ("-n 5", "open files"), ("-n 12", "open files"), ("-n 20", "open files"), ("-n 40", "open files"),
     ("-v 250000", "ulimit -v"), ("-v 500000", "ulimit -v"), ("-d 60000", "ulimit -d"), ("-d 120000", "ulimit -d")])  # fmt: skip
def test_limits_too_low_for_a_start_end_it_with_one_line(tmp_path, limit, named):
    # With less than 42 MiB of data, the size of the writable segment of the release program, the kernel does not execute it.
    if limit.startswith(("-v", "-d")) and SANITIZED:
        pytest.skip("sanitizers reserve terabytes of address space")
    done = serve(tmp_path / "data", limit)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1 and named in done.stderr and "raise it to at least" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="running as a user without processes requires root")
def test_a_limit_of_threads_that_is_too_low_ends_the_start_with_one_line(tmp_path):
    # The limit counts the processes of the user, and root has none.
    command = [PROGRAM, "serve", *FREE_PORTS, "--data", tmp_path / "data"]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=CALL_LIMIT, env=environment(), cwd="/",
        user=54_321, group=54_321, extra_groups=[],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (12, 12)))  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert re.fullmatch(
        r"entitled: cannot create \d+ threads; raise the limit of processes "
        r"\(ulimit -u, TasksMax= of systemd, pids\.max of the container\)\n", done.stderr), done.stderr  # fmt: skip
    assert not (tmp_path / "data").exists()


def test_a_container_with_too_little_memory_ends_the_start_with_one_line(tmp_path):
    mount = "mount -t tmpfs tmpfs /sys/fs/cgroup && echo 33554432 > /sys/fs/cgroup/memory.max"
    if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode != 0:
        pytest.skip("mounting a control group requires root")
    command = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh", PROGRAM, "serve", *FREE_PORTS, "--data", tmp_path]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=CALL_LIMIT, env=environment())
    assert done.returncode == 1
    assert done.stderr == (
        "entitled: the container's memory limit of 32 MiB is too low; raise it to at least 64 MiB\n")


def forged(service, number, size):
    """Posts a body of `size` bytes that does not verify; returns the response."""
    filler = os.urandom(size // 2).hex()
    body = json.dumps({"signedPayload": f"eyJhbGciOiJFUzI1NiJ9.{filler}.{number}"}).encode()
    return post(f"http://{service.http}/notifications/{APP}", body)


def store_bytes(service):
    return sum(file.stat().st_size for file in service.data.glob("entitled.sqlite*"))


@pytest.fixture
def limited(tmp_path):
    """Starts a service with limits of rejected posts."""
    started = []

    def limited(limits, **members):
        file = tmp_path / "entitled.yaml"
        file.write_text(json.dumps({
            "apps": {APP: {
                "bundle_id": "com.example.oceanjournal", "environments": ["Sandbox"], **members,
                "products": {"lifetime": {
                    "type": "Non-Consumable", "entitlements": ["pro"], "price": 99.99, "currency": "USD"},
                    "monthly": {"type": "Auto-Renewable Subscription", "group": "pro", "entitlements": ["pro"]}}}},
            "limits": limits}))  # fmt: skip
        started.append(Service(tmp_path / "data", ["--config", file]))
        return started[-1]

    yield limited
    for service in started:
        service.stop()


def test_forged_posts_fill_neither_the_disk_nor_other_apps(limited):
    service = limited({"max_rejected_bytes_per_day": 512 << 10})
    before = store_bytes(service)
    for number in range(60):
        status, answer = forged(service, number, 225_000)
        assert status == 202, answer
    # The bodies are different, so each is stored or dropped.
    query = "SELECT count(*), count(body) FROM evidence WHERE rejection <> ''"
    ((posts, kept),) = stores.query(service.data, query)
    page = urllib.request.urlopen(f"http://{service.http}/metrics", timeout=CALL_LIMIT).read().decode()
    dropped = re.search(rf'^entitled_rejected_bodies_dropped_total\{{app="{APP}"\}} (\d+)$', page, re.M)
    assert (posts, kept + int(dropped[1])) == (60, 60) and 0 < kept < 60
    # The log of SQLite holds each body until a checkpoint.
    assert (service.data / "entitled.sqlite").stat().st_size - before < 10 << 20
    service.stop()
    stats = run("store", "stats", "--data", service.data).stdout
    assert int(re.search(r"stored bytes +(\d+)", stats)[1]) <= 512 << 10
    assert (service.data / "entitled.sqlite").stat().st_size < 8 << 20


def test_uploads_of_an_app_do_not_fill_the_disk(limited):
    service = limited({"max_upload_bytes": 1 << 20})

    def upload(name, size):
        piece = {"app": APP, "uploadId": name, "data": base64.b64encode(b" " * size).decode()}
        return post(f"http://{service.http}/entitled.v1.ReceiptService/UploadMigrationInput", piece)

    assert upload("a", 1 << 20)[0] == 200
    status, answer = upload("b", 1)
    assert status == 429 and "limits.max_upload_bytes" in str(answer), answer
    assert [file.name for file in (service.data / "import").iterdir()] == [f"upload-a@{APP}"]


def test_forged_posts_of_one_address_are_limited_and_apples_posts_are_not(limited):
    service = limited({"max_rejected_posts_per_second": 1})
    statuses = [forged(service, number, 100)[0] for number in range(100)]
    assert statuses[:60] == [202] * 60 and statuses.count(429) >= 10
    assert post(f"http://{service.http}/notifications/unknown", b"no document")[0] == 404
    url = f"http://{service.http}/notifications/{APP}"
    assert post(f"http://{service.sandbox}/sandbox/v1/notification-url", {"app": APP, "url": url})[0] == 200
    service.buy("lifetime")

    def applied():
        request = {"app": APP, "state": "NOTIFICATION_STATE_APPLIED"}
        status, answer = service.json("entitled.v1.NotificationService/ListNotifications", request)
        assert status == 200, answer
        return answer["notifications"]

    wait_for(applied)
    metrics = urllib.request.urlopen(f"http://{service.http}/metrics", timeout=CALL_LIMIT).read().decode()
    assert re.search(r'entitled_edge_requests_total\{.*status="429"\} [1-9]', metrics)


def test_receipts_of_one_address_are_limited_unless_they_have_the_shared_secret(limited, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("right")
    secret.chmod(0o600)
    service = limited({"max_verify_receipts_per_second": 1}, shared_secret={"file": "secret"})
    url = f"http://{service.http}/verifyReceipt"
    order = {"app": APP, "productId": "lifetime", "account": "ann"}
    receipt = post(f"http://{service.sandbox}/sandbox/v1/documents/app-receipt", order)[1]["document"]
    answers = [post(url, b"{}") for _ in range(100)]
    assert [(status, answer["status"]) for status, answer in answers[:60]] == [(200, 21002)] * 60
    assert [status for status, _ in answers].count(429) >= 10
    assert answers[-1] == (429, {"status": 21005})
    for password in ("wrong", ""):
        assert post(url, {"receipt-data": receipt, "password": password})[0] == 429, password
    for _ in range(100):
        status, answer = post(url, {"receipt-data": receipt, "password": "right"})
        assert (status, answer["status"]) == (200, 0)


def test_a_large_receipt_without_the_shared_secret_counts_as_many(limited):
    service = limited({"max_verify_receipts_per_second": 1})
    url = f"http://{service.http}/verifyReceipt"
    status, answer = post(url, b'{"receipt-data": "' + b"A" * 4_000_000 + b'"}', timeout=LARGE_CALL_LIMIT)
    assert (status, answer["status"]) == (200, 21002)
    assert post(url, b"{}") == (429, {"status": 21005})


def test_sighup_reads_the_shared_secret_again(limited, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("first")
    secret.chmod(0o600)
    service = limited({}, shared_secret={"file": "secret"})

    def reason(password):
        body = {"notification_type": "DID_RENEW", "password": password, "environment": "Sandbox",
                "bid": "com.example.oceanjournal", "n": time.monotonic_ns()}  # fmt: skip
        return post(f"http://{service.http}/notifications/{APP}", json.dumps(body).encode())[1]["reason"]

    assert reason("second") == "WRONG_SHARED_SECRET" and reason("first") == "NO_PURCHASE"
    secret.write_text("second")
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "in-app purchase keys and shared secrets reloaded" in service.log)
    assert reason("first") == "WRONG_SHARED_SECRET" and reason("second") == "NO_PURCHASE"
    secret.write_text("")
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "keeping the current ones" in service.log)
    assert reason("second") == "NO_PURCHASE"


def test_sighup_reads_the_in_app_purchase_key_again(limited, tmp_path):
    file = tmp_path / "key.p8"
    first = write_key(file)
    service = limited({}, in_app_purchase_key={"file": "key.p8", "key_id": KEY_ID, "issuer_id": ISSUER})

    def is_signed_with(pem):
        signature = sign(
            service, "PROMOTIONAL_JWS", productId="monthly", offerIdentifier="offer", skipEligibilityCheck=True
        )["signature"]  # fmt: skip
        key = serialization.load_pem_private_key(pem, None).public_key()
        with contextlib.suppress(jwt.InvalidSignatureError):
            jwt.decode(signature, key, algorithms=["ES256"], options={"verify_aud": False, "verify_iat": False})
            return True
        return False

    assert is_signed_with(first)
    second = write_key(file)
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "in-app purchase keys and shared secrets reloaded" in service.log)
    assert is_signed_with(second) and not is_signed_with(first)
