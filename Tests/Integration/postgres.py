"""PostgreSQL servers with PgBouncer for tests, run by tools/postgres-server until the tests end."""

import contextlib
import json
import os
import pathlib
import subprocess
import urllib.parse
import uuid

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "postgres-server"
MISSING = 3  # the tool's exit status if a program is not installed


class PostgresServer:
    """A separate server, with PgBouncer in transaction mode in front of it."""

    def __init__(self, *arguments):
        # Its standard input ends with this process, however it ends, and the servers with it.
        self.process = subprocess.Popen(
            [TOOL, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        line = self.process.stdout.readline()
        if not line:
            if self.process.wait() == MISSING and "CI" not in os.environ:
                pytest.skip("PostgreSQL 15 or PgBouncer is not installed; run tools/bootstrap --test")
            raise RuntimeError("tools/postgres-server failed")
        addresses = json.loads(line)
        self.socket, self.port, self.pooled_port = addresses["socket"], addresses["port"], addresses["pooled_port"]
        self.user, self.password, self.root = addresses["user"], addresses["password"], addresses["root"]

    def order(self, command):
        """Sends `stop`, `crash` or `start`, and waits until it is done."""
        self.process.stdin.write(command + "\n")
        assert self.process.stdout.readline() == "done\n"

    def address(self, database, pooled=False):
        """The address of a database for --store: through the Unix socket, or through PgBouncer.

        A busy machine may accept a connection late, and answer late.
        """
        options = "connect_timeout=60&answer_timeout=PT4S"
        if pooled:
            place = f"127.0.0.1:{self.pooled_port}"
            return f"postgres://{self.user}@{place}/{database}?sslmode=disable&pooling=transaction&{options}"
        return f"postgres://{self.user}@/{database}?host={urllib.parse.quote(self.socket)}:{self.port}&{options}"

    def sql(self, statement, database="postgres"):
        """Runs a statement with psql, through the Unix socket; returns its unformatted output."""
        command = [*self.psql(database), "--command", statement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def psql(self, database):
        """The command line of psql, through the Unix socket, for unformatted output."""
        options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"]
        address = ["--host", self.socket, "--port", str(self.port), "--username", self.user, "--dbname", database]
        return ["psql", *options, *address]

    @contextlib.contextmanager
    def session(self, database):
        """A function that runs statements in another session, which ends with the context."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(self.psql(database), **pipes, text=True, bufsize=1) as process:

            def execute(statements):
                process.stdin.write(statements + ";\n\\echo done\n")
                line = process.stdout.readline()
                while line.strip() != "done":
                    assert line, "psql ended"
                    line = process.stdout.readline()

            yield execute

    @contextlib.contextmanager
    def database(self, template="template0"):
        """The name of a new database, a copy of `template`, which is removed afterwards."""
        name = f"test_{uuid.uuid4().hex}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield name
        finally:
            self.sql(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
