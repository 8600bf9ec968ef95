"""The servers of tests: databases from templates, durability, PgBouncer, and their end with the tests."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

from postgres import PostgresServer


def test_databases_are_copies_of_their_template_and_removed(postgres):
    with postgres.database() as template:
        postgres.sql("CREATE TABLE setting (name text)", template)
        with postgres.database(template) as copy:
            assert postgres.sql("SELECT count(*) FROM setting", copy) == "0"
    names = postgres.sql("SELECT datname FROM pg_database").split()
    assert template not in names and copy not in names


def test_pgbouncer_reaches_every_database(postgres):
    with postgres.database() as name:
        address = f"host=127.0.0.1 port={postgres.pooled_port} user={postgres.user} dbname={name}"
        shown = subprocess.run(["psql", "-Atc", "SELECT current_database()", address], capture_output=True, text=True)
        assert shown.stdout.strip() == name, shown.stderr


def test_a_durable_server_has_what_was_committed_before_a_crash():
    server = PostgresServer()
    try:
        assert server.sql("SHOW fsync") == "on"
        server.sql("CREATE TABLE entry AS SELECT 1 AS id")
        server.order("crash")
        server.order("start")
        assert server.sql("SELECT count(*) FROM entry") == "1"
    finally:
        server.close()


def test_the_server_and_its_folder_end_with_its_input():
    server = PostgresServer("--fsync", "off")
    folder = pathlib.Path(server.socket)
    assert folder.exists()
    server.close()
    assert not folder.exists()


def test_the_server_ends_when_its_parent_is_killed():
    server = PostgresServer("--fsync", "off")
    process = int((pathlib.Path(server.socket) / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    deadline = time.monotonic() + 60
    while pathlib.Path(f"/proc/{process}").exists():
        assert time.monotonic() < deadline, "PostgreSQL outlives the process that started it"
        time.sleep(0.05)
    shutil.rmtree(server.socket)
