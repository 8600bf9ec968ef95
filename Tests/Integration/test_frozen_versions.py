"""The stores, configurations and contracts of earlier versions: the present program opens, verifies and upgrades them.

`tools/freeze VERSION` writes a folder of Tests/Fixtures with each release.
"""

import json
import subprocess

import pytest

from frozen_versions import FIXTURES, call, constant, freeze, tables, unpack
from harness import CALL_LIMIT, ROOT, Service, run
from test_clients import agrees

VERSIONS = sorted(path.name for path in FIXTURES.iterdir())
CHECK_CONTRACT = ROOT / "tools" / "check-contract"


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """The folder of a version; that of `present` is made by the program under test."""
    made = {}

    def folder_of(version):
        if version != "present":
            return FIXTURES / version
        if version not in made:
            made[version] = tmp_path_factory.mktemp("present")
            freeze(made[version], tmp_path_factory.mktemp("scratch"))
        return made[version]

    return folder_of


def skip_unreleased(version, reason):
    """Skips the test if the version is that of the program, which may change until it is released."""
    if version == run("--version").stdout.strip():
        pytest.skip(f"{reason}; before the release, run tools/freeze {version} again")


@pytest.mark.parametrize("version", [*VERSIONS, "present"])
def test_a_store_of_the_version_is_opened_verified_and_answers_as_before(version, folder_of, tmp_path):
    folder = folder_of(version)
    configuration = folder / "entitled.yaml"
    database = unpack(folder, tmp_path / "data")
    before = tables(database)
    arguments = ["--config", configuration]
    service = Service(tmp_path / "new", arguments)
    service.stop()
    if before != tables(tmp_path / "new" / "entitled.sqlite"):
        skip_unreleased(version, "the tables are not those of the program")
    service = Service(tmp_path / "data", arguments)
    try:
        for expected in json.loads((folder / "answers.json").read_text()):
            found = constant(call(service, expected["method"], **expected["request"]))
            assert agrees(expected["response"], found), (expected, found)
        # The store accepts what is new.
        bought = service.buy("lifetime")["signedTransactionInfo"]
        call(service, "entitled.v1.ReceiptService/SubmitTransaction", customerId="new", signedTransaction=bought)
        checked = call(service, "entitled.v1.EntitlementService/Check", customerId="new", entitlement="pro")
        assert checked["entitlement"]["entitled"]
    finally:
        service.stop()
    verified = run("store", "verify", database)
    assert verified.returncode == 0 and verified.stdout.startswith("intact"), verified.stdout + verified.stderr
    replayed = run("store", "replay", "--data", tmp_path / "data", *arguments, timeout=6 * CALL_LIMIT)
    assert replayed.returncode == 0 and "no differences" in replayed.stdout, replayed.stdout + replayed.stderr


def test_the_answers_tell_the_customers_apart(folder_of):
    answers = json.loads((folder_of(VERSIONS[0]) / "answers.json").read_text())
    reasons = {entry["response"]["entitlement"]["reason"] for entry in answers if "asOf" in entry["request"]}
    assert {
        "SUBSCRIPTION_ACTIVE", "IN_GRACE_PERIOD", "NON_CONSUMABLE_OWNED", "NON_RENEWING_ACTIVE", "GRANTED",
        "NEVER_PURCHASED"} <= reasons, reasons  # fmt: skip
    types = {event["type"] for entry in answers for event in entry["response"].get("events", [])}
    assert {"STARTED", "ENDED", "PURCHASED", "REFUNDED"} <= types, types


@pytest.mark.parametrize("version", [*VERSIONS, "present"])
def test_a_configuration_of_the_version_is_accepted(version, folder_of):
    checked = run("config", "check", folder_of(version) / "entitled.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("version", [*VERSIONS, "present"])
def test_the_contract_is_compatible_with_clients_of_the_version(version, folder_of):
    command = [CHECK_CONTRACT, "--against", folder_of(version) / "contract.binpb.gz"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=6 * CALL_LIMIT, cwd=ROOT)
    if done.returncode != 0:
        skip_unreleased(version, done.stdout.partition("\n")[0])
    assert done.returncode == 0, done.stdout + done.stderr
