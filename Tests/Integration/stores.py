"""The stores of services under test: SQLite in the data directory, or a database of PostgreSQL for each data directory.

`ENTITLED_TEST_STORE` selects them: `sqlite` (the default), `postgres`, or `pgbouncer` for PostgreSQL through PgBouncer
in transaction mode. `SQLITE_ONLY` has the tests that PostgreSQL skips.
"""

import contextlib
import json
import os
import pathlib
import sqlite3
import uuid

KIND = os.environ.get("ENTITLED_TEST_STORE", "sqlite")
IS_SQLITE = KIND == "sqlite"

_FILES = "it is about the files of SQLite"
_SEEDED = "'store seed' writes to SQLite"
# Tests that cannot run on PostgreSQL: a file or one test, and the reason.
SQLITE_ONLY = {
    "test_console_pictures.py": "the pictures of the status page show a store in SQLite",
    "test_crash.py": "tools/crash reads the file of SQLite; tools/replicas is its counterpart",
    "test_durability.py": _FILES,
    "test_erasure.py::test_a_restored_copy_is_erased_before_its_first_answer": _FILES,
    "test_health.py::test_on_a_full_disk_notifications_get_503_and_health_fails_until_space_is_free": _FILES,
    "test_limits.py::test_memory_stays_within_the_limit_of_unread_responses":
        "requests that wait for PostgreSQL take memory besides their responses",
    "test_litestream.py": "Litestream copies SQLite; a standby copies PostgreSQL",
    "test_frozen_versions.py": _FILES,
    "test_load.py": _SEEDED,
    "test_lost_machine.py": "Litestream copies SQLite; a standby copies PostgreSQL",
    "test_replica_feed.py::test_a_position_from_after_a_backup_is_refused_by_the_restored_sqlite_store": _FILES,
    "test_store_export.py::test_memory_does_not_grow_with_the_store": _SEEDED,
    "test_store_export.py::test_a_missing_store_is_not_created": _FILES,
    "test_webhooks.py::test_no_message_is_repeated_while_the_disk_is_full": _FILES,
    "test_store_maintenance.py": _FILES + "; test_store_commands.py has PostgreSQL's part",
    "test_storage_faults.py": _FILES,
    "test_warehouse.py::test_an_export_stops_if_the_service_was_restored_and_has_other_events": _FILES,
}


def skipped(node):
    """Why PostgreSQL cannot run the test with this node id; `None` if it can."""
    name = node.rpartition("/")[2]
    file, _, test = name.partition("::")
    return SQLITE_ONLY.get(file) or SQLITE_ONLY.get(f"{file}::{test.partition('[')[0]}")


class _Databases:
    """A server of this process, started when it is needed, with a database for each data directory."""

    def __init__(self):
        self.server = None
        self.names = {}

    def name(self, data):
        if self.server is None:
            from postgres import PostgresServer

            self.server = PostgresServer("--fsync", "off", "--set", "max_connections=400")
        key = str(pathlib.Path(data).resolve())
        if key not in self.names:
            self.names[key] = f"store_{uuid.uuid4().hex}"
            self.server.sql(f"CREATE DATABASE {self.names[key]} TEMPLATE template0")
        return self.names[key]

    def address(self, data):
        name = self.name(data)
        return self.server.address(name, pooled=KIND == "pgbouncer")


_databases = _Databases()


def arguments(data):
    """Arguments of `entitled` that name the store of a data directory; none for SQLite."""
    return [] if IS_SQLITE else ["--store", _databases.address(data)]


def query(data, sql):
    """The rows of a query, as tuples of numbers, texts, bytes and `None`."""
    if IS_SQLITE:
        path = f"file:{pathlib.Path(data) / 'entitled.sqlite'}?mode=ro"
        with contextlib.closing(sqlite3.connect(path, uri=True)) as store:
            return store.execute(sql).fetchall()
    name = _databases.name(data)
    text = _databases.server.sql(f"SELECT coalesce(json_agg(to_json(found)), '[]') FROM ({sql}) AS found", name)
    return [tuple(_value(value) for value in row.values()) for row in json.loads(text)]


def execute(data, sql):
    """Runs a statement that changes the store."""
    if not IS_SQLITE:
        return _databases.server.sql(sql, _databases.name(data))
    with contextlib.closing(sqlite3.connect(pathlib.Path(data) / "entitled.sqlite", timeout=10)) as store, store:
        store.execute(sql)


def _value(value):
    """Bytes, which JSON has as hexadecimal digits; other values as they are."""
    return bytes.fromhex(value[2:]) if isinstance(value, str) and value.startswith("\\x") else value


def rows(data):
    """Every row of every table: the name of the table, and the values."""
    tables = (
        "SELECT name FROM sqlite_schema WHERE type = 'table'"
        if IS_SQLITE
        else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    )
    for (table,) in query(data, tables):
        for row in query(data, f"SELECT * FROM {table}"):
            yield table, row


def holds(data, text):
    """Whether the text is in a file of SQLite, also in free space, or in a row of PostgreSQL."""
    if IS_SQLITE:
        return any(text.encode() in file.read_bytes() for file in pathlib.Path(data).glob("entitled.sqlite*"))
    return any(
        text.encode() in (value if isinstance(value, bytes) else str(value).encode())
        for _, row in rows(data) for value in row
    )  # fmt: skip
