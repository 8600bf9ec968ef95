"""What must be true after each fault, and at the end."""

import time

import contract
import grpc
from contract import entitlement_service
from service import APP

SETTLE_LIMIT = 120
CALLS_IN_FLIGHT = 100


class Findings:
    """Counts of violations, with a line for each kind."""

    def __init__(self):
        self.lost = self.doubled = 0
        self.lines = []

    def add(self, text):
        self.lines.append(text)
        print(f"FAULT {text}", flush=True)


def until(condition, problem):
    """Waits until the condition returns something; `None` after a limit is the problem."""
    deadline = time.monotonic() + SETTLE_LIMIT
    while time.monotonic() < deadline:
        if condition():
            return None
        time.sleep(0.2)
    return problem


def check_inbox(database, findings):
    """Each entry that is in the inbox now gets an outcome; the load may go on."""
    last = int(database.sql("SELECT coalesce(max(id), 0) FROM inbox")[0][0])

    def waiting():
        return database.sql(f"SELECT id, kind, method FROM inbox WHERE done_at IS NULL AND id <= {last} ORDER BY id")

    if until(lambda: not waiting(), "not empty") and (entries := waiting()):
        findings.add(f"{len(entries)} entries of the inbox have no outcome after {SETTLE_LIMIT} s, such as {entries[0]}")


def check_writes(database, clients, findings):
    """The inbox empties, and then every acknowledged write is stored, and once."""
    # Before the database is read: the load goes on, and what is acknowledged afterwards may be stored afterwards.
    with clients.notifications.lock:
        acknowledged = set(clients.notifications.acknowledged)
    granted = list(clients.granted)
    check_inbox(database, findings)
    stored = [row[0] for row in database.sql("SELECT uuid FROM notification WHERE state <> 'REJECTED'")]
    if missing := acknowledged - set(stored):
        findings.lost += len(missing)
        findings.add(f"{len(missing)} acknowledged notifications are lost")
    if len(stored) != len(set(stored)):
        findings.doubled += len(stored) - len(set(stored))
        findings.add("notifications are stored twice")
    grants = {row[0]: int(row[1]) for row in database.sql(
        "SELECT customer_id, count(*) FROM line_customer WHERE line_id LIKE 'grant-%' GROUP BY customer_id")}
    if missing := [customer for customer in granted if customer not in grants]:
        findings.lost += len(missing)
        findings.add(f"{len(missing)} acknowledged grants are lost, such as {missing[0]}")
    if twice := [customer for customer, count in grants.items() if count > 1]:
        findings.doubled += len(twice)
        findings.add(f"{len(twice)} grants were carried out twice, such as {twice[0]}")
    change = "evidence_id, customer_id, entitlement, type, subject"
    if rows := database.sql(f"SELECT {change}, count(*) FROM event GROUP BY {change} HAVING count(*) > 1"):
        findings.doubled += len(rows)
        findings.add(f"{len(rows)} changes have more than one event")
    if rows := database.sql("SELECT request_id FROM audit_entry WHERE request_id <> '' GROUP BY 1 HAVING count(*) > 1"):
        findings.doubled += len(rows)
        findings.add(f"{len(rows)} calls have more than one audit entry, such as {rows[0][0]}")
    rows = database.sql("SELECT app, max(sequence), count(*) FROM event GROUP BY app HAVING max(sequence) <> count(*)")
    if rows:
        findings.lost += 1
        findings.add(f"the events have gaps: {rows}")


def last_sequence(database):
    return int(database.sql("SELECT coalesce(max(sequence), 0) FROM event")[0][0])


def check_delivery(database, clients, received, findings):
    """The webhook has every event: it was configured before the first one."""
    last = last_sequence(database)
    problem = until(lambda: received() and max(received()) >= last, "the webhook did not receive the last event")
    if problem is None:
        sequences = received()
        missing = set(range(1, last + 1)) - sequences
        problem = f"{len(missing)} events did not reach the webhook" if missing else None
    if problem:
        findings.add(problem)


def check_watchers(database, clients, findings):
    last = last_sequence(database)
    problem = until(
        lambda: all(seen and seen[-1] >= last for seen in clients.watched), "a watcher did not reach the last event")
    if problem:
        findings.add(problem)


def check_positions(clients, findings):
    """Questions with a position were answered, although not while a replica was down: without answers none is stale."""
    counts = clients.counts
    if counts.positions_answered * 4 < counts.positions_asked or not counts.positions_asked:
        findings.add(f"{counts.positions_answered} of {counts.positions_asked} questions with a position were answered")


def check_leaders(database, replicas, findings):
    """At most one replica led in each epoch, as the logs state."""
    epochs = {}
    for replica in replicas:
        for epoch in replica.epochs():
            epochs.setdefault(epoch, set()).add(replica.name)
    if not epochs:
        findings.add("no log names an epoch")
    for epoch, names in epochs.items():
        if len(names) > 1:
            findings.add(f"epoch {epoch} had several leaders: {sorted(names)}")


def check_answers(database, replicas, clients, findings):
    """All replicas answer alike about every customer, at the latest position."""
    customers = [row[0] for row in database.sql("SELECT DISTINCT customer_id FROM line_customer ORDER BY 1")]
    if clients.granted.keys() >= set(customers):
        findings.add("no customer has a purchase of a notification")
    metadata = [("entitled-at-least", clients.last_position)] if clients.last_position else []
    answers = {}
    for replica in replicas:
        with grpc.insecure_channel(replica.grpc) as channel:
            stub = contract.entitlement_stub(channel)
            for start in range(0, len(customers), CALLS_IN_FLIGHT):
                asked = customers[start : start + CALLS_IN_FLIGHT]
                requests = (entitlement_service.CheckRequest(app=APP, customer_id=c, entitlement="pro") for c in asked)
                calls = [stub.Check.future(request, timeout=10, metadata=metadata) for request in requests]
                for customer, call in zip(asked, calls, strict=True):
                    answer = call.result().entitlement
                    answers.setdefault(customer, set()).add(answer.SerializeToString(deterministic=True))
    different = [customer for customer, found in answers.items() if len(found) > 1]
    if different:
        findings.add(f"replicas answer differently about {len(different)} customers, such as {different[0]}")


def check_evidence(database, program, findings):
    """The evidence and all references are intact. The command shows its progress."""
    done = program.run("store", "verify", "--store", database.address, stderr=None)
    if done.returncode != 0:
        findings.add(f"store verify ended with status {done.returncode}: {done.stdout}")


def check_replay(database, folder, program, findings):
    """What follows from the evidence is what is stored. The command shows its progress."""
    done = program.run("store", "replay", "--config", folder / "entitled.yaml", "--data", folder / "scratch",
                       "--store", database.address, stderr=None)  # fmt: skip
    if done.returncode != 0:
        findings.add(f"store replay ended with status {done.returncode}: {done.stdout}")
