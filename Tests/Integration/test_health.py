"""Health with real dependencies: a failure is named, stops only the affected features, and clears when it is over."""

import os
import shutil
import signal
import subprocess
import uuid

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import contract
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service, post, wait_for
from test_callers import APPS

SERVING, NOT_SERVING = 1, 2


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 72 MiB, little more than the free space that the service requires."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=72m", "none", disk]).returncode:
        pytest.skip("a small disk requires the permission to mount")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def test_a_full_disk_stops_writes_only(small_disk):
    service = Service(small_disk / "data")
    with service.channel() as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        receipts = stub.Watch(health_pb2.HealthCheckRequest(service="entitled.v1.ReceiptService"), timeout=30)
        assert next(receipts).status == SERVING
        filler = small_disk / "filler"
        filler.write_bytes(bytes(min(shutil.disk_usage(small_disk).free - (1 << 20), 60 << 20)))
        assert next(receipts).status == NOT_SERVING
        status, body = service.readiness()
        assert (status, body["status"]) == (200, "degraded")
        [disk] = [check for check in body["checks"] if not check["ok"]]
        assert disk["name"] == "disk" and "MiB free" in disk["problem"]
        assert "entitled.v1.ReceiptService" in disk["stops"]
        for name in ("", "entitled.v1.EntitlementService"):
            request = health_pb2.HealthCheckRequest(service=name)
            assert stub.Check(request, timeout=CALL_LIMIT).status == SERVING
        assert service.command("health").returncode == 0
        assert service.command("health", "entitled.v1.ReceiptService").returncode == 1
        answer = contract.entitlement_stub(channel).Check(
            wire.CheckRequest(app="ocean-journal", customer_id="ana", entitlement="pro"), timeout=CALL_LIMIT).entitlement
        assert not answer.entitled
        filler.unlink()
        assert next(receipts).status == SERVING
        assert service.readiness()[1]["status"] == "ready"
        receipts.cancel()
    service.stop()


def deliver(service):
    """The response to an invalid notification, which the service stores."""
    status, _ = post(f"http://{service.http}/notifications/ocean-journal", {"hello": str(uuid.uuid4()) * 20_000})
    return status


def receipt_of(service, account):
    order = {"app": "ocean-journal", "productId": "lifetime", "account": account}
    status, answer = post(f"http://{service.sandbox}/sandbox/v1/documents/app-receipt", order)
    assert status == 200, answer
    return answer["document"]


def verified(service, receipt):
    """The response of verifyReceipt: the status and the number of purchases."""
    code, answer = post(f"http://{service.http}/verifyReceipt", {"receipt-data": receipt})
    assert code == 200, answer
    return answer["status"], len(answer.get("receipt", {}).get("in_app", []))


def test_on_a_full_disk_notifications_get_503_and_health_fails_until_space_is_free(small_disk):
    service = Service(small_disk / "data")
    writers = ["ReceiptService", "NotificationService", "AppStoreService"]
    with service.channel() as channel:
        stub = health_pb2_grpc.HealthStub(channel)

        def statuses(*names):
            return [stub.Check(health_pb2.HealthCheckRequest(service=f"entitled.v1.{name}"), timeout=CALL_LIMIT).status
                    for name in names]  # fmt: skip

        assert deliver(service) == 202 and statuses(*writers) == [SERVING] * 3
        known, new = receipt_of(service, "ann"), receipt_of(service, "ben")
        assert verified(service, known) == (0, 1)
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError):
            while True:
                file.write(bytes(1 << 20))
        wait_for(lambda: deliver(service) == 503)
        _, body = wait_for(lambda: (r := service.readiness())[1]["status"] == "degraded" and r)
        failing = {check["name"]: check for check in body["checks"] if not check["ok"]}
        assert "disk" in failing and "entitled.v1.NotificationService" in failing["disk"]["stops"]
        assert statuses(*writers) == [NOT_SERVING] * 3
        assert statuses("EntitlementService") == [SERVING], "reads are served"
        assert verified(service, known) == (0, 1)
        assert verified(service, new) == (21009, 0), "a receipt that cannot be stored is not answered"
        assert service.command("health", "entitled.v1.NotificationService").returncode == 1
        filler.unlink()
        wait_for(lambda: statuses(*writers) == [SERVING] * 3)
        assert service.readiness()[1]["status"] == "ready"
        wait_for(lambda: deliver(service) == 202)
        assert verified(service, new) == (0, 1)
    service.stop()


def test_a_failed_reload_is_reported_and_keeps_the_configuration(tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(APPS)
    service = Service(tmp_path / "data", ["--config", file])
    assert service.readiness()[1]["status"] == "ready"
    file.write_text(APPS.replace("bundle_id", "bundle"))
    service.process.send_signal(signal.SIGHUP)
    _, body = wait_for(lambda: (r := service.readiness())[1]["status"] == "degraded" and r)
    [check] = [check for check in body["checks"] if not check["ok"]]
    assert (check["name"], check["stops"]) == ("configuration", [])
    assert "entitled.yaml:4: " in check["problem"]
    file.write_text(APPS)
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: service.readiness()[1]["status"] == "ready")
    service.stop()
