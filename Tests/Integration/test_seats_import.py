"""Rosters of seats, and the members of a large purchase, whose answers are compared with the sandbox's truth.

There are 1,000 members with ENTITLED_LONG, which `make test-long` sets.
"""

import csv
import gzip
import io
import json
import subprocess
import urllib.request
import uuid

import pytest

from harness import CALL_LIMIT, IS_LONG, PROGRAM, START_LIMIT, Service, environment, post, wait_for

APP = "ocean-journal"
MANY = 1_000 if IS_LONG else 40
SOME = MANY // 5
FEW = MANY // 20


class Team:
    """A purchase with seats in the sandbox, and its seats in the service."""

    def __init__(self, service, seats, developer=True):
        self.service = service
        self.account = f"boss-{uuid.uuid4()}"
        self.act("invitations", app=APP, productId="pro.monthly", management="DEVELOPER" if developer else "APPLE")
        self.act("notification-url", app=APP, url=f"http://{service.http}/notifications/{APP}", version=2)
        bought = self.act("purchases", app=APP, productId="pro.monthly", account=self.account, seats=seats)
        self.number = bought["originalTransactionId"]
        self.submit(self.account, bought["signedTransactionInfo"])

    def act(self, action, **members):
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def submit(self, customer, signed):
        status, answer = self.service.json(
            "entitled.v1.ReceiptService/SubmitTransaction",
            {"app": APP, "customerId": customer, "signedTransaction": signed})
        assert status == 200, answer

    def roster(self, rows, *arguments, text=None, status=0):
        """Imports a roster of customers; returns the report."""
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(["name", "customer_id", "original_transaction_id"])
        for row in rows:
            writer.writerow(["x", row, self.number])
        done = self.service.command(
            "seats", "import", "-", "--json", *arguments, stdin=text or file.getvalue(), timeout=60 * START_LIMIT)
        assert done.returncode == status, done.stderr + done.stdout
        return json.loads(done.stdout)

    def entitled(self, customers):
        """The customers with access, by BatchCheck."""
        customers = list(customers)
        found = set()
        for start in range(0, len(customers), 1_000):
            part = customers[start : start + 1_000]
            checks = [{"app": APP, "customerId": customer, "entitlement": "pro"} for customer in part]
            status, answer = self.service.json("entitled.v1.EntitlementService/BatchCheck", {"checks": checks})
            assert status == 200 and len(answer["results"]) == len(part), answer
            for customer, result in zip(part, answer["results"]):
                if result["response"]["entitlement"].get("entitled"):
                    found.add(customer)
        return found

    def holders(self):
        """The holders by ListSeats."""
        found, token = [], ""
        while True:
            status, answer = self.service.json(
                "entitled.v1.AppStoreService/ListSeats",
                {"app": APP, "originalTransactionId": self.number, "pageSize": 1_000, "pageToken": token})
            assert status == 200, answer
            found += [seat["customerId"] for seat in answer.get("seats", [])]
            token = answer.get("nextPageToken", "")
            if not token:
                assert len(found) == len(set(found))
                return set(found)

    def claims(self):
        """Apple's ids of the claimed seats, from the sandbox."""
        done = self.service.command("apple", "seats", self.number, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout).get("assignedSeatClaimIds", [])

    def owners(self):
        """The accounts that own the purchase's product, or a seat of it, in the sandbox."""
        with urllib.request.urlopen(
                f"http://{self.service.sandbox}/sandbox/v1/owners?app={APP}", timeout=CALL_LIMIT) as answer:
            owners = json.load(answer)["owners"]
        return {owner["account"] for owner in owners if owner["owned"]}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("seats") / "data")
    yield service
    service.stop()


def counts(report):
    names = ("claimed", "released", "unchanged", "repeated", "held-back", "failed")
    return {name: report[name] for name in names if report[name]}


def test_many_members_have_the_sandboxs_truth(service):
    team = Team(service, MANY)
    members = [f"m{number}-{uuid.uuid4()}" for number in range(MANY + SOME)]
    first, second = members[:MANY], members[SOME:]
    assert counts(team.roster(first, "--dry-run")) == {"claimed": MANY} and team.holders() == set()
    assert counts(team.roster(first)) == {"claimed": MANY}
    assert team.entitled(members) == team.holders() == set(first) and len(team.claims()) == MANY
    assert counts(team.roster(first)) == {"unchanged": MANY}
    # Members of a full purchase are exchanged.
    assert counts(team.roster(second, "--dry-run")) == {"claimed": SOME, "released": SOME, "unchanged": MANY - SOME}
    assert counts(team.roster(second)) == {"claimed": SOME, "released": SOME, "unchanged": MANY - SOME}
    assert team.entitled(members) == team.holders() == set(second) and len(team.claims()) == MANY
    # Apple ends claims, and refunds seats: the earliest claims keep access.
    for _ in range(FEW):
        team.act("unclaim-seat", transactionId=team.number, seatClaimId="#1")
    team.act("deliver")
    assert len(team.claims()) == len(team.holders()) == MANY - FEW
    assert team.entitled(members) == team.holders()
    assert counts(team.roster(second)) == {"claimed": FEW, "unchanged": MANY - FEW}
    assert team.entitled(members) == set(second) and len(team.claims()) == MANY


def test_many_members_that_apple_assigns_have_the_sandboxs_truth(start):
    team = Team(start(), MANY, developer=False)
    members = [f"a{number}" for number in range(MANY)]
    for member in members:
        team.act("assign-seat", transactionId=team.number, account=member)
        [signed] = team.act("restore", app=APP, account=member, newDevice=False)["signedTransactions"]
        team.submit(member, signed)
    team.act("deliver")
    everyone = [team.account, *members]
    assert team.entitled(everyone) == team.owners() == set(everyone)
    for member in members[:FEW]:
        team.act("unclaim-seat", transactionId=team.number, account=member)
    team.act("refund-seats", transactionId=team.number, seats=SOME)
    team.act("deliver")
    assert team.entitled(everyone) == team.owners() and len(team.owners()) == MANY - SOME + 1
    report = team.roster(["new"], status=3)
    assert report["failed"] == 1 and "SEATS_ASSIGNED_BY_APPLE" in report["entries"][0]["problem"]


def test_each_row_has_one_outcome_and_errors_hold_releases_back(service):
    team = Team(service, 3)
    ann, ben, cat = (f"{name}-{uuid.uuid4()}" for name in ("ann", "ben", "cat"))
    team.roster([ann, ben])
    text = f"customer_id,original_transaction_id\n{ben},{team.number}\n,{team.number}\n{cat},{team.number}\n{ben},{team.number}\nx\n"
    report = team.roster([], text=text, status=3)
    assert counts(report) == {"claimed": 1, "unchanged": 1, "repeated": 1, "held-back": 1, "failed": 2}
    failed = {entry["row"]: entry["problem"] for entry in report["entries"] if entry["change"] == "failed"}
    assert failed == {3: "customer_id is empty", 6: "1 columns, but the header has 2"}
    assert team.holders() == {ann, ben, cat}, "no row is lost, and no seat of a customer who may be in a wrong row"
    assert counts(team.roster([ben, cat])) == {"released": 1, "unchanged": 2}
    assert counts(team.roster([ann], "--keep-others")) == {"claimed": 1} and team.holders() == {ann, ben, cat}


def test_rows_beyond_the_seats_fail_in_the_order_of_the_file(service):
    team = Team(service, 3)
    members = [f"m{number}-{uuid.uuid4()}" for number in range(4)]
    for report in (team.roster(members, "--dry-run", status=3), team.roster(members, status=3)):
        assert counts(report) == {"claimed": 3, "failed": 1}
        [failed] = [entry for entry in report["entries"] if entry["change"] == "failed"]
        assert failed["row"] == 5 and failed["problem"].startswith("NO_SEAT_LEFT")
    assert counts(team.roster([*members[:3], team.account], "--dry-run")) == {"unchanged": 4}


def test_a_customer_returns_and_the_purchaser_needs_no_seat(service):
    team = Team(service, 2)
    ann = f"ann-{uuid.uuid4()}"
    for _ in range(3):
        assert counts(team.roster([ann, team.account])) == {"claimed": 1, "unchanged": 1}
        assert team.entitled([ann]) == {ann}
        assert counts(team.roster([team.account]))["released"] == 1
        assert team.entitled([ann]) == set() and team.claims() == []


def test_a_merged_customer_keeps_the_seat_of_its_target(service):
    team = Team(service, 2)
    old, new = (f"{name}-{uuid.uuid4()}" for name in ("old", "new"))
    team.roster([old])
    done = service.command("merge", old, new)
    assert done.returncode == 0, done.stderr
    assert counts(team.roster([old], "--dry-run")) == counts(team.roster([old])) == {"unchanged": 1}
    assert team.holders() == {new}


def test_the_seat_of_an_erased_customer_is_released_for_a_member(service):
    team = Team(service, 2)
    dan, eva, fay = (f"{name}-{uuid.uuid4()}" for name in ("dan", "eva", "fay"))
    team.roster([dan, eva])
    status, answer = service.json("entitled.v1.EntitlementService/EraseCustomer", {"app": APP, "customerId": dan})
    assert status == 200, answer
    assert counts(team.roster([eva])) == {"unchanged": 1} and len(team.claims()) == 2
    expected = {"claimed": 1, "released": 1, "unchanged": 1}
    assert counts(team.roster([eva, fay], "--dry-run")) == counts(team.roster([eva, fay])) == expected
    assert team.entitled([dan, eva, fay]) == team.holders() == {eva, fay} and len(team.claims()) == 2


def test_a_claim_that_was_interrupted_after_apples_answer_is_completed_by_the_same_command(start, tmp_path):
    service = start()
    team, sandbox = Team(service, 3), f"http://{service.sandbox}/sandbox/v1"
    (tmp_path / "team.csv").write_text("customer_id\nann\nben\n")
    command = ["seats", "import", tmp_path / "team.csv", "--purchase", team.number]

    def repeated_calls():
        with urllib.request.urlopen(f"{sandbox}/calls", timeout=CALL_LIMIT) as answer:
            return json.load(answer).get("v1/transactions", {"asked": 0})["asked"] > 1

    # Apple's answers end in their middle, after their effect.
    team.act("faults", kind="truncated", count=100)
    process = subprocess.Popen(
        [str(part) for part in [PROGRAM, *command]], env=environment() | {"ENTITLED_GRPC": service.grpc})
    wait_for(repeated_calls)
    process.kill()
    process.wait()
    assert team.holders() == set()
    urllib.request.urlopen(urllib.request.Request(f"{sandbox}/faults", method="DELETE"), timeout=CALL_LIMIT).close()
    assert len(team.claims()) == 1, "Apple has the claim"
    done = service.command(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(team.claims()) == 2 and team.entitled(["ann", "ben"]) == team.holders() == {"ann", "ben"}


def test_a_release_that_was_interrupted_after_apples_answer_is_completed_by_the_same_command(service):
    team = Team(service, 2)
    ann, ben = (f"{name}-{uuid.uuid4()}" for name in ("ann", "ben"))
    team.roster([ann, ben])
    [first, second] = team.claims()
    team.act("release-seat", transactionId=team.number, seatClaimId=first)
    assert team.holders() == {ann, ben} and team.claims() == [second]
    assert counts(team.roster([ben])) == {"released": 1, "unchanged": 1}
    assert team.entitled([ann, ben]) == team.holders() == {ben} and team.claims() == [second]


def test_a_killed_service_loses_no_claim(start):
    service = start()
    team = Team(service, MANY + 1)
    members = [f"k{number}" for number in range(MANY)]
    roster = "customer_id\n" + "".join(f"{member}\n" for member in members)
    process = subprocess.Popen(
        [str(PROGRAM), "seats", "import", "-", "--purchase", team.number], stdin=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment() | {"ENTITLED_GRPC": service.grpc})
    process.stdin.write(roster)
    process.stdin.close()
    wait_for(lambda: len(team.holders()) >= FEW)
    service.kill()
    process.kill()
    process.wait()
    team.service = start()
    done = team.service.command("seats", "import", "-", "--purchase", team.number, stdin=roster, timeout=60 * START_LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert team.entitled(members) == team.holders() == set(members) and len(team.claims()) == MANY


def test_a_released_claim_of_a_merged_customer_is_not_taken_for_a_new_one(service):
    team = Team(service, 2)
    old, new = (f"{name}-{uuid.uuid4()}" for name in ("old", "new"))
    team.roster([old])
    team.roster([team.account])
    assert service.command("merge", old, new).returncode == 0
    assert counts(team.roster([old])) == {"claimed": 1}
    assert team.entitled([new]) == team.holders() == {new} and len(team.claims()) == 1


def test_wrong_files_and_purchases_are_errors(service, tmp_path):
    done = service.command("seats", "import", tmp_path / "missing.csv")
    assert done.returncode == 1 and "cannot read" in done.stderr
    done = service.command("seats", "import", "-", stdin="name\nann\n")
    assert done.returncode == 1 and "customer_id" in done.stderr
    (tmp_path / "empty.csv").touch()
    done = service.command("seats", "import", tmp_path / "empty.csv", "--purchase", "1")
    assert done.returncode == 1 and f"{tmp_path}/empty.csv: the roster is empty" in done.stderr
    (tmp_path / "wide.csv").write_bytes("customer_id\nann\n".encode("utf-16-le"))
    done = service.command("seats", "import", tmp_path / "wide.csv", "--purchase", "1")
    assert done.returncode == 1 and "iconv -f UTF-16LE -t UTF-8" in done.stderr
    (tmp_path / "roster.csv.gz").write_bytes(gzip.compress(b"customer_id\nann\n"))
    done = service.command("seats", "import", tmp_path / "roster.csv.gz", "--purchase", "1")
    assert done.returncode == 3 and "UNKNOWN_PURCHASE" in done.stdout
    done = service.command("seats", "import", "-", "--purchase", "1", stdin="customer_id\nann\n")
    assert done.returncode == 3 and "UNKNOWN_PURCHASE" in done.stdout
    team = Team(service, 2)
    done = service.command("seats", "import", "-", "--purchase", team.number, "--dry-run", stdin="customer_id\nann\n")
    assert done.returncode == 0 and "claimed\trow 2\tann" in done.stdout
    assert done.stdout.endswith("dry run: claimed 1, released 0, unchanged 0, repeated 0, held-back 0, failed 0\n")
