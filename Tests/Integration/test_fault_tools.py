"""What `tools/replicas` does if its cluster changes while it starts."""

import pathlib
import sys
import types

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "faults"))

import clients
import database


class Node:
    """A node of a cluster that exists in the test only."""

    def __init__(self, name):
        self.name, self.has = name, False

    def has_database(self):
        return self.has


@pytest.fixture
def cluster(monkeypatch):
    """Three nodes that are ready, and the statements that the leader got; a CREATE DATABASE reaches the first node only
    as often as `lost` says."""
    found = database.Database.__new__(database.Database)
    found.nodes = [Node(name) for name in ("db1", "db2", "db3")]
    found.statements, found.lost = [], 0
    monkeypatch.setattr(found, "wait_until_safe", lambda: None, raising=False)
    monkeypatch.setattr(found, "leader", lambda: found.nodes[0], raising=False)
    monkeypatch.setattr(found, "address_of", lambda name: name, raising=False)
    monkeypatch.setattr(database, "CREATE_TRY", 0.1)
    monkeypatch.setattr(database, "READY_LIMIT", 1)

    def query(address, statement, timeout=None):
        found.statements.append((address, statement, timeout))
        if len(found.statements) <= found.lost:
            # The next leader does not have the commit, and the former one is made like it.
            found.nodes.append(found.nodes.pop(0))
            return types.SimpleNamespace(returncode=2)
        for node in found.nodes:
            node.has = True
        return types.SimpleNamespace(returncode=0)

    monkeypatch.setattr(database, "query", query)
    return found


def test_the_database_is_created_on_the_next_leader_if_the_first_one_lost_it(cluster):
    cluster.lost = 1
    cluster.create()
    assert [statement.split()[0] for _, statement, _ in cluster.statements] == ["CREATE", "CREATE"]
    assert all(timeout for _, _, timeout in cluster.statements), "a commit without a standby would never end"


def test_a_node_that_never_gets_the_database_ends_the_tool_with_its_name(cluster):
    cluster.lost = 1_000
    with pytest.raises(SystemExit, match="the database was not created on db"):
        cluster.create()


@pytest.mark.parametrize("status, message", [
    (1, "replica a ended with status 1: database \"entitled\" does not exist"), (None, "no answers about all customers")])  # fmt: skip
def test_a_replica_that_does_not_answer_ends_the_tool(monkeypatch, status, message):
    monkeypatch.setattr(clients, "KNOWN_LIMIT", 0.1)
    replica = types.SimpleNamespace(
        name="a", answered=set(), process=types.SimpleNamespace(poll=lambda: status),
        last_line=lambda: "database \"entitled\" does not exist")
    with pytest.raises(SystemExit, match=message):
        clients.Clients.wait_until_known(types.SimpleNamespace(replicas=[replica]))
