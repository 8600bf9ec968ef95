"""Comparison of versions 1 and 2 of Apple's notifications: differences are reported before an operator switches."""

import json
import time
import uuid

import forge
from harness import post

APP = "ocean-journal"
NOW = int(time.time()) * 1000
MONTH = 30 * 86_400_000
SECRET = "0123456789abcdef0123456789abcdef"
CONFIG = {
    "apps": {
        APP: {
            "bundle_id": "com.example.oceanjournal", "environments": ["Sandbox"],
            "app_store_servers": {"Sandbox": "http://127.0.0.1:9"},
            "products": {
                "pro.monthly": {
                    "type": "Auto-Renewable Subscription", "group": "pro", "level": 1, "entitlements": ["pro"],
                    "period": "P1M", "price": 9.99, "currency": "USD"}},
        }
    }
}  # fmt: skip


def version_1(number, notification_type, expires):
    transaction = {
        "transaction_id": number, "original_transaction_id": number, "product_id": "pro.monthly",
        "purchase_date_ms": str(NOW), "expires_date_ms": str(expires),
    }  # fmt: skip
    return {
        "notification_type": notification_type, "password": SECRET, "environment": "Sandbox",
        "bid": "com.example.oceanjournal", "original_transaction_id": number,
        "unified_receipt": {"latest_receipt_info": [transaction], "pending_renewal_info": []},
    }  # fmt: skip


def version_2(forger, number, notification_type, expires, subtype=None):
    transaction = forger.transaction(
        transactionId=number, originalTransactionId=number, purchaseDate=NOW, originalPurchaseDate=NOW,
        expiresDate=expires, signedDate=NOW)
    payload = {
        "notificationType": notification_type, "notificationUUID": str(uuid.uuid4()), "version": "2.0",
        "signedDate": NOW,
        "data": {
            "bundleId": "com.example.oceanjournal", "environment": "Sandbox", "signedTransactionInfo": transaction,
        },
    }  # fmt: skip
    if subtype:
        payload["subtype"] = subtype
    return {"signedPayload": forge.sign(payload, forger.chain, forger.leaf_key)}


def test_differences_between_the_versions_are_reported_for_each_purchase(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    config = json.loads(json.dumps(CONFIG))
    config["apps"][APP]["shared_secret"] = {"file": str(secret)}
    file = tmp_path / "entitled.yaml"
    file.write_text(json.dumps(config))
    service = start(arguments=["--config", file])
    forger = forge.Forger(service)

    def deliver(body):
        assert post(f"http://{service.http}/notifications/{APP}", body)[0] in (200, 202)

    # One purchase is equal in both versions, one differs, and two occur in one version only.
    deliver(version_1("1001", "INITIAL_BUY", NOW + MONTH))
    deliver(version_2(forger, "1001", "SUBSCRIBED", NOW + MONTH, "INITIAL_BUY"))
    assert service.command("notifications", "compare-versions").returncode == 0
    deliver(version_1("1002", "INITIAL_BUY", NOW + MONTH))
    deliver(version_2(forger, "1002", "SUBSCRIBED", NOW + MONTH + 86_400_000, "INITIAL_BUY"))
    deliver(version_2(forger, "1002", "EXPIRED", NOW + MONTH + 86_400_000, "VOLUNTARY"))
    deliver(version_1("1003", "DID_RENEW", NOW + MONTH))
    deliver(version_2(forger, "1004", "DID_RENEW", NOW + MONTH))

    seen, token = [], ""
    while True:
        status, page = service.json(
            "entitled.v1.NotificationService/CompareNotificationVersions",
            {"app": APP, "pageSize": 2, "pageToken": token, "includeEqual": True})
        assert status == 200, page
        seen += page["comparisons"]
        token = page["nextPageToken"]
        if not token:
            break
    assert [(c["originalTransactionId"], c["differs"]) for c in seen] == [
        ("1001", False), ("1002", True), ("1003", True), ("1004", True)]  # fmt: skip
    different = seen[1]
    assert [d["field"] for d in different["differences"]] == ["expiresDate"]
    assert different["newInVersion2"] == ["EXPIRED/VOLUNTARY"]
    assert seen[2]["onlyInVersion1"] == ["DID_RENEW"] and seen[2]["version2Notifications"] == 0
    assert seen[3]["onlyInVersion2"] == ["DID_RENEW"] and seen[3]["version1Notifications"] == 0
    command = service.command("notifications", "compare-versions")
    assert command.returncode == 3
    assert "1002" in command.stdout and "expiresDate" in command.stdout and "1001" not in command.stdout
    assert SECRET not in command.stdout + service.log
