"""The service with its store in PostgreSQL: directly, through PgBouncer, after a restart, and refused addresses."""

import base64
import concurrent.futures
import contextlib
import shutil
import signal
import threading
import time

import grpc
import pytest

import link
from contract import entitlement, entitlement_service, entitlement_stub, receipt_service, receipt_stub
from harness import CALL_LIMIT, FREE_PORTS, Service, run, wait_for


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


def address_through(relay, postgres, database, folder):
    password = folder / "password"
    password.touch(mode=0o600)
    password.write_text(postgres.password)
    return f"postgres://{postgres.user}@127.0.0.1:{relay.port}/{database}?sslmode=disable&password_file={password}"


def code(call):
    """The status code of a call."""
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@contextlib.contextmanager
def reads_without_deadlines(service, threads=8):
    """Reads a timeline again and again, with more clients than the service has sessions for reads."""
    is_over = threading.Event()
    request = entitlement_service.ListTimelineRequest(app="ocean-journal", customer_id="alice")
    with concurrent.futures.ThreadPoolExecutor(threads) as pool, service.channel() as channel:

        def read():
            while not is_over.is_set():
                code(lambda: entitlement_stub(channel).ListTimeline(request))

        for _ in range(threads):
            pool.submit(read)
        try:
            yield
        finally:
            # The end of the channel ends calls that still wait.
            is_over.set()


def test_sessions_that_are_lost_without_an_end_are_replaced(postgres, tmp_path):
    """The link drops the packets of all open sessions; those that begin later work."""
    with postgres.database() as database, link.Link(postgres.port) as relay:
        address = address_through(relay, postgres, database, tmp_path)
        service = Service(tmp_path / "data", ["--store", address, "--replica", "a"])
        wait_for(lambda: code(lambda: grant(service, "alice")) == grpc.StatusCode.OK)
        with reads_without_deadlines(service):
            time.sleep(1)
            relay.lose()
            wait_for(lambda: code(lambda: grant(service, "bob")) == grpc.StatusCode.OK)
        request = entitlement_service.ListTimelineRequest(app="ocean-journal", customer_id="alice")
        with service.channel() as channel:
            timeline = entitlement_stub(channel).ListTimeline
            for _ in range(20):
                wait_for(lambda: code(lambda: timeline(request, timeout=CALL_LIMIT)) == grpc.StatusCode.OK)
        # Others see the replica, so that commands for a stopped store are refused.
        since = postgres.sql("SELECT clock_timestamp()", database)
        wait_for(lambda: postgres.sql(f"SELECT count(*) FROM replica WHERE seen_at > '{since}'", database) == "1")
        for command in (["copy", address, f"sqlite:{tmp_path / 'copy'}"], ["rebuild-reports", "--store", address]):
            answer = run("store", *command)
            assert answer.returncode == 1 and "replicas use the store: a;" in answer.stderr, command
        service.stop()
        assert postgres.sql("SELECT count(*) FROM replica", database) == "0"


def test_a_process_ends_and_answers_while_the_database_is_silent(postgres, tmp_path):
    with postgres.database() as database, link.Link(postgres.port) as relay:
        address = address_through(relay, postgres, database, tmp_path) + "&ready_while_stale=false"
        service = Service(tmp_path / "data", ["--store", address, "--replica", "a"])
        wait_for(lambda: code(lambda: grant(service, "alice")) == grpc.StatusCode.OK)
        assert is_granted(service, "alice")

        def upload():
            with service.channel() as channel:
                request = receipt_service.UploadMigrationInputRequest(app="ocean-journal", upload_id="u", data=b"x")
                return code(lambda: receipt_stub(channel).UploadMigrationInput(request, timeout=CALL_LIMIT))

        assert upload() == grpc.StatusCode.OK
        relay.cut()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            start = time.monotonic()
            uploads = [pool.submit(upload) for _ in range(8)]
            assert {each.result() for each in uploads} == {grpc.StatusCode.UNAVAILABLE}
            # A second until the silence is noticed, and what a busy machine adds; one after the other took longer.
            assert time.monotonic() - start < 8

        def failed():
            return {check["name"] for check in service.readiness()[1]["checks"] if not check["ok"]}

        wait_for(lambda: {"store_readable", "store_writable"} <= failed())
        assert service.readiness()[0] == 503
        assert is_granted(service, "alice")
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(30) == 0


def test_texts_of_statements_have_no_escapes_whatever_the_database_sets(postgres, tmp_path):
    with postgres.database() as database:
        postgres.sql(f"ALTER DATABASE {database} SET standard_conforming_strings = off")
        service = Service(tmp_path / "data", ["--store", postgres.address(database)])
        grant(service, "alice")
        request = {"app": "ocean-journal", "customerId": "alice"}
        assert service.json("entitled.v1.EntitlementService/EraseCustomer", request)[0] == 200
        assert not is_granted(service, "alice")
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
