"""The service with its store in PostgreSQL: directly, through PgBouncer, after a restart, and refused addresses."""

import base64
import shutil

import pytest

from contract import entitlement, entitlement_service, entitlement_stub
from harness import FREE_PORTS, Service, run


def grant(service, customer):
    request = entitlement_service.GrantRequest(
        app="ocean-journal", customer_id=customer, entitlement="pro", access_level=entitlement.ACCESS_LEVEL_FULL
    )
    with service.channel() as channel:
        entitlement_stub(channel).Grant(request)


def is_granted(service, customer):
    with service.channel() as channel:
        request = entitlement_service.CheckRequest(app="ocean-journal", customer_id=customer, entitlement="pro")
        return entitlement_stub(channel).Check(request).entitlement.entitled


@pytest.mark.parametrize("pooled", [False, True])
def test_a_grant_is_stored_in_postgresql_and_survives_a_restart(postgres, tmp_path, pooled):
    with postgres.database() as database:
        address = postgres.address(database, pooled)
        service = Service(tmp_path / "data", ["--store", address])
        grant(service, "alice")
        assert is_granted(service, "alice")
        service.kill()
        # Another process of the same database and installation, with another data directory.
        (tmp_path / "other").mkdir(mode=0o700)
        shutil.copy(tmp_path / "data" / "entitled.key", tmp_path / "other")
        service = Service(tmp_path / "other", ["--store", address])
        assert is_granted(service, "alice") and not is_granted(service, "bob")
        service.stop()
        assert not list(tmp_path.glob("*/entitled.sqlite"))
        assert int(postgres.sql("SELECT count(*) FROM customer", database)) > 0


def test_a_restored_database_is_erased_before_its_first_answer(postgres, tmp_path):
    with postgres.database() as database:
        service = Service(tmp_path / "data", ["--store", postgres.address(database)])
        for customer in ("ana", "ben"):
            grant(service, customer)
        lines = [f'{{"customer_id": "{customer}", "receipt": "AAAA"}}\n' for customer in ("ana", "ben", "cleo")]
        upload = {"app": "ocean-journal", "uploadId": "u", "data": base64.b64encode("".join(lines).encode()).decode()}
        assert service.json("entitled.v1.ReceiptService/UploadMigrationInput", upload)[0] == 200
        service.stop()
        with postgres.database(template=database) as copy:
            service = Service(tmp_path / "data", ["--store", postgres.address(database)])
            # Only the upload names Cleo.
            for customer, status in (("ana", 200), ("cleo", 404)):
                request = {"app": "ocean-journal", "customerId": customer}
                assert service.json("entitled.v1.EntitlementService/EraseCustomer", request)[0] == status
            service.stop()
            uploaded = "SELECT convert_from(data, 'UTF8') FROM upload"
            assert "cleo" in postgres.sql(uploaded, copy) and "cleo" not in postgres.sql(uploaded, database)
            restored = Service(tmp_path / "data", ["--store", postgres.address(copy)])
            assert not is_granted(restored, "ana") and is_granted(restored, "ben")
            assert restored.log.index("erasures applied") < restored.log.index("started")
            left = postgres.sql(uploaded, copy)
            assert "ben" in left and "ana" not in left and "cleo" not in left
            restored.stop()


def test_a_process_with_another_installation_key_is_refused(postgres, tmp_path):
    with postgres.database() as database:
        store = ["--store", postgres.address(database)]
        service = Service(tmp_path / "data", store)
        answer = run("serve", *FREE_PORTS, "--data", tmp_path / "other", *store)
        assert answer.returncode == 1 and "erasures.key" in answer.stderr
        service.stop()


def test_a_configured_sqlite_path_is_not_the_data_directory(tmp_path):
    service = Service(tmp_path / "data", ["--store", f"sqlite:{tmp_path / 'store'}"])
    grant(service, "alice")
    service.stop()
    assert (tmp_path / "store" / "entitled.sqlite").exists() and not (tmp_path / "data" / "entitled.sqlite").exists()


def test_an_invalid_address_is_refused_with_the_name_of_the_option():
    answer = run("serve", "--store", "postgres://me:hidden@db/entitled")
    assert answer.returncode == 64
    assert "--store (ENTITLED_STORE): must not contain a password" in answer.stderr and "hidden" not in answer.stderr


def test_a_database_that_cannot_be_reached_ends_the_start(tmp_path):
    answer = run("serve", "--data", tmp_path, "--store", "postgres://me@/entitled?host=/nonexistent")
    assert answer.returncode == 1 and "/nonexistent" in answer.stderr
