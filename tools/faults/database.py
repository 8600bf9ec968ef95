"""PostgreSQL with a synchronous standby: three nodes under Patroni, with etcd."""

import base64
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

READY_LIMIT = 300
CREATE_TRY = 20


def program(name):
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    path = str(found[-1]) if found else shutil.which(name)
    if path is None:
        sys.exit(f"{name} is not installed; run tools/bootstrap --test")
    return path


class Etcd:
    """One node of etcd, which has the lock of the database's leader."""

    def __init__(self, network, folder):
        self.machine = network.machine("etcd")
        own = f"http://{self.machine.address}"
        arguments = [
            program("etcd"), "--data-dir", folder / "etcd", "--listen-client-urls", f"{own}:2379",
            "--advertise-client-urls", f"{own}:2379", "--listen-peer-urls", f"{own}:2380",
            "--initial-advertise-peer-urls", f"{own}:2380", "--initial-cluster", f"default={own}:2380",
            "--unsafe-no-fsync",
        ]  # fmt: skip
        self.process = self.machine.start(arguments, folder / "etcd.log")

    def value(self, key):
        """The JSON value of a key; `None` if there is none."""
        body = json.dumps({"key": base64.b64encode(key.encode()).decode()}).encode()
        with urllib.request.urlopen(f"http://{self.machine.address}:2379/v3/kv/range", body, timeout=5) as answer:
            found = json.load(answer).get("kvs")
        return json.loads(base64.b64decode(found[0]["value"])) if found else None


class Node:
    """A machine with PostgreSQL and Patroni."""

    def __init__(self, network, name, folder, etcd, ttl):
        self.machine, self.name, self.folder, self.ttl = network.machine(name), name, folder / name, ttl
        # The seconds from one turn of Patroni to the next.
        self.turn = ttl // 5
        self.folder.mkdir()
        self.log = folder / f"{name}.log"
        self.log.touch()
        self.file = self.folder / "patroni.json"  # JSON is YAML
        self.file.write_text(json.dumps(self.settings(etcd.machine.address)))
        user = pwd.getpwnam("postgres")
        for path in (self.folder, self.file, self.log):
            os.chown(path, user.pw_uid, user.pw_gid)
        self.process = None

    def settings(self, etcd):
        address = self.machine.address
        credentials = {
            role: {"username": role, "password": "patroni"} for role in ("superuser", "replication")
        }  # fmt: skip
        credentials["superuser"]["username"] = "postgres"
        return {
            "scope": "entitled", "name": self.name, "etcd3": {"host": f"{etcd}:2379"},
            "restapi": {"listen": f"{address}:8008", "connect_address": f"{address}:8008"},
            "bootstrap": {
                "dcs": {
                    "ttl": self.ttl, "loop_wait": self.turn, "retry_timeout": self.ttl * 3 // 10, "maximum_lag_on_failover": 1 << 20,
                    # A commit that no standby has is not acknowledged.
                    "synchronous_mode": True, "synchronous_mode_strict": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": {
                        "max_connections": 200, "shared_buffers": "64MB", "wal_log_hints": "on", "wal_keep_size": "256MB",
                        # No commit before a standby follows a new leader. Its first attempt is too early for its slot.
                        "wal_retrieve_retry_interval": "500ms",
                    }},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"{address}:5432", "connect_address": f"{address}:5432",
                "data_dir": str(self.folder / "data"), "bin_dir": str(pathlib.Path(program("postgres")).parent),
                "pgpass": str(self.folder / "pgpass"), "authentication": credentials,
                "pg_hba": ["local all all trust", "host all all 10.77.0.0/24 trust", "host replication all 10.77.0.0/24 trust"],
                "parameters": {"unix_socket_directories": str(self.folder)},
            },
        }  # fmt: skip

    def start(self):
        user = pwd.getpwnam("postgres")
        command = [
            "setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", program("patroni"), self.file]
        self.process = self.machine.start(command, self.log, cwd=self.folder)

    def kill(self):
        """Ends Patroni and PostgreSQL without any chance to finish."""
        for id in self.machine.processes():
            try:
                os.kill(id, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def role(self):
        """`primary`, `sync_standby`, `replica`, or `None` if the node does not answer."""
        try:
            with urllib.request.urlopen(f"http://{self.machine.address}:8008/patroni", timeout=1) as answer:
                state = json.load(answer)
        except urllib.error.HTTPError as error:
            state = json.load(error)
        except (OSError, ValueError):
            return None
        if state.get("state") != "running":
            return None
        if state.get("sync_standby"):
            return "sync_standby"
        role = state.get("role")
        return "primary" if role == "master" else role  # before Patroni 4

    def has_database(self):
        """Whether the node itself has the database of the replicas."""
        address = f"postgres://postgres@{self.machine.address}/postgres?connect_timeout=2"
        return query(address, "SELECT 1 FROM pg_database WHERE datname = 'entitled'", CREATE_TRY).stdout.strip() == "1"


def query(address, statement, timeout=None):
    """The end of psql with a statement; one that takes longer than `timeout` failed as a lost connection does."""
    command = ["psql", "--no-psqlrc", "-qAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", statement]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 2, "", f"no end within {timeout} s")


class Database:
    """The cluster, which replaces a lost leader after `ttl` seconds."""

    def __init__(self, network, folder, ttl):
        self.etcd = Etcd(network, folder)
        self.nodes = [Node(network, f"db{number}", folder, self.etcd, ttl) for number in (1, 2, 3)]
        for node in self.nodes:
            node.start()
        self.create()

    def create(self):
        """Creates the database when the cluster is synchronous, and waits until each node has it.

        A leader that is replaced may lose it, and a program that meets a node without it ends, whichever node leads.
        """
        deadline = time.monotonic() + READY_LIMIT
        while time.monotonic() < deadline:
            self.wait_until_safe()
            leader = self.leader()
            if leader and not leader.has_database():
                # A failure shows below: the leader may be another node by now, or have created it before it was lost.
                query(self.address_of("postgres"), "CREATE DATABASE entitled TEMPLATE template0", CREATE_TRY)
            until = time.monotonic() + CREATE_TRY
            while missing := [node.name for node in self.nodes if not node.has_database()]:
                if time.monotonic() > until:
                    break
                time.sleep(0.2)
            else:
                return
        sys.exit(f"the database was not created on {', '.join(missing)} within {READY_LIMIT} s; see their logs")

    def leader(self):
        return next((node for node in self.nodes if node.role() == "primary"), None)

    def wait_until_safe(self):
        """Waits for a leader with a synchronous standby that may replace it, and for all nodes.

        A node says what it knew at its last turn. A leader that has just restarted still has its standby by that, and then
        withdraws it until it follows again; lost in that moment, no other node may take over. So the state must last
        longer than a turn.
        """
        deadline, since = time.monotonic() + READY_LIMIT, None
        while time.monotonic() < deadline:
            roles = {node.name: str(node.role()) for node in self.nodes}
            if self.is_safe(roles):
                since = since or time.monotonic()
                if time.monotonic() - since > self.nodes[0].turn + 1:
                    return
            else:
                since = None
            time.sleep(0.2)
        sys.exit(f"the database is not ready: {roles}; see its logs")

    def is_safe(self, roles):
        """Whether the nodes have their roles, and the lock's keeper agrees who may replace the leader."""
        names = {role: name for name, role in roles.items()}
        if sorted(roles.values()) != ["primary", "replica", "sync_standby"]:
            return False
        eligible = self.etcd.value("/service/entitled/sync")
        return eligible == {"leader": names["primary"], "sync_standby": names["sync_standby"]}

    @property
    def address(self):
        hosts = ",".join(node.machine.address for node in self.nodes)
        return f"postgres://postgres@{hosts}/entitled?sslmode=disable"

    def address_of(self, database):
        """The address of a database on the node that leads."""
        hosts = ",".join(node.machine.address for node in self.nodes)
        return f"postgres://postgres@{hosts}/{database}?target_session_attrs=read-write&connect_timeout=2"

    def sql(self, statement):
        """The rows of a statement, each a list of texts; waits while the database has no leader."""
        deadline = time.monotonic() + READY_LIMIT
        while True:
            done = query(self.address_of("entitled"), statement)
            if done.returncode == 0:
                return [line.split("\t") for line in done.stdout.splitlines()]
            # 2: the connection failed or was lost.
            if done.returncode != 2 or time.monotonic() > deadline:
                raise RuntimeError(done.stderr)
            time.sleep(0.5)
