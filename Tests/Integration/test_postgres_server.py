"""The servers of tests: databases from templates, durability, PgBouncer, and their end with the tests."""

import importlib.machinery
import importlib.util
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import time

from postgres import TOOL, PostgresServer


def tool():
    """The module of tools/postgres-server."""
    loader = importlib.machinery.SourceFileLoader("postgres_server", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


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


def test_both_servers_take_other_ports_if_theirs_are_taken(postgres, monkeypatch, capfd):
    """Between the choice of a port and its use, another program may take it, and accept connections."""
    module = tool()
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        ports = [module.free_port() for _ in range(2)]
        queue = [taken, taken, *ports]
        monkeypatch.setattr(module, "free_port", lambda: queue.pop(0))
        servers = module.Servers("off", [])
        try:
            servers.prepare()
            servers.start()
            assert [servers.port, servers.pooled_port] == ports
            address = f"host=127.0.0.1 port={servers.pooled_port} user={module.USER} dbname=postgres"
            shown = subprocess.run(["psql", "-Atc", "SELECT 1", address], capture_output=True, text=True)
            assert shown.stdout == "1\n", shown.stderr
            servers.pooler.kill()
            deadline = time.monotonic() + 60
            reported = ""
            while "PgBouncer ended with status -9" not in reported:
                assert time.monotonic() < deadline, "the end of PgBouncer is not reported"
                time.sleep(0.02)
                reported += capfd.readouterr().err
            assert "listening on 127.0.0.1" in reported
        finally:
            servers.close()


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


def test_the_server_keeps_no_descriptor_of_its_parent_open(postgres):
    reading, writing = os.pipe()
    arguments = [TOOL, "--fsync", "off"]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[writing]
    ) as server, open(reading, "rb") as pipe:
        assert server.stdout.readline()
        os.close(writing)
        assert select.select([pipe], [], [], 0)[0], "the pipe is still open"
        assert pipe.read() == b""
        server.stdin.close()


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
