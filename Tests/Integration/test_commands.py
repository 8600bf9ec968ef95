"""The commands: the API from a terminal, for people and (--json) for programs."""

import base64
import json
import os
import re
import signal
import socket
import subprocess

import pytest

from harness import CALL_LIMIT, PROGRAM, START_LIMIT, environment, post, run


def test_buy_submit_and_check_from_a_terminal(service, customer):
    bought = service.command("sandbox", "buy", "pro.monthly", "--json")
    assert bought.returncode == 0, bought.stderr
    purchase = json.loads(bought.stdout)

    submitted = service.command("submit", customer, "-", stdin=purchase["signedTransactionInfo"] + "\n")
    assert submitted.returncode == 0, submitted.stderr
    assert purchase["transactionId"] in submitted.stdout

    checked = service.command("check", customer, "pro")
    assert checked.returncode == 0, checked.stderr
    rows = dict(line.split(None, 1) for line in checked.stdout.splitlines() if not line.startswith(" "))
    assert rows["entitled"] == "yes"
    assert rows["reason"] == "SUBSCRIPTION_ACTIVE"
    assert rows["product"] == "pro.monthly"


def test_check_prints_json(service, customer):
    checked = service.command("check", customer, "pro", "--json")
    answer = json.loads(checked.stdout)
    entitlement = answer["entitlement"]
    assert (entitlement["entitled"], entitlement["reason"]) == (False, "NEVER_PURCHASED")
    assert checked.returncode == 3, "'not entitled' has a separate exit status"


def test_a_document_is_read_from_a_file(service, customer, tmp_path):
    file = tmp_path / "transaction.jws"
    file.write_text(service.buy("lifetime")["signedTransactionInfo"] + "\n")
    assert service.command("submit", customer, f"@{file}").returncode == 0
    inspected = service.command("inspect", f"@{file}", "--json")
    assert (inspected.returncode, json.loads(inspected.stdout)["verified"]) == (0, True)
    assert service.command("inspect", "hello").returncode == 3


def test_an_empty_document_is_named(service, customer, tmp_path):
    """Also an empty receipt, which a call may have for a new customer."""
    path = tmp_path / "empty"
    path.write_text("\n")
    for command in ("submit", "submit-receipt"):
        done = service.command(command, customer, f"@{path}")
        assert (done.returncode, done.stderr) == (1, f"entitled: the document '@{path}' is empty\n")


def test_inspect_reads_a_binary_file(service, tmp_path):
    order = {"app": "ocean-journal", "productId": "lifetime"}
    _, answer = post(f"http://{service.sandbox}/sandbox/v1/documents/app-receipt", order)
    file = tmp_path / "receipt"
    file.write_bytes(base64.b64decode(answer["document"]))
    inspected = service.command("inspect", f"@{file}", "--json")
    assert (inspected.returncode, json.loads(inspected.stdout)["reason"]) == (0, "VERIFIED")


def test_an_error_is_one_line_with_its_reason(service, customer):
    failed = service.command("submit", customer, "hello")
    assert failed.returncode == 1
    [line] = failed.stderr.splitlines()
    assert "not a JWS" in line


def test_health_succeeds_only_if_the_service_serves(service):
    assert service.command("health").returncode == 0
    assert service.command("health", "no.such.Service").returncode == 1
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    ended = run("health", "--grpc", f"127.0.0.1:{port}")
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        ["--help"], ["config", "demo"], ["check", "unknown", "pro"], ["audit", "--json"], ["sandbox", "buy", "lifetime"],
        ["report", "movements", "--from", "2026-01-01", "--to", "2026-01-31", "--csv"],
    ],
)  # fmt: skip
def test_output_that_cannot_be_written_is_an_error(service, command):
    """Also of a command that has another exit status."""
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        addresses = {"ENTITLED_GRPC": service.grpc, "ENTITLED_HTTP": service.http, "ENTITLED_SANDBOX": service.sandbox}
        done = subprocess.run(
            [str(PROGRAM), *command], stdout=full, stderr=subprocess.PIPE, text=True, env=environment() | addresses,
            timeout=START_LIMIT)  # fmt: skip
    finally:
        os.close(full)
    assert done.returncode == 1
    assert re.fullmatch("entitled: cannot write the standard output: (No space left on device|a part is lost)\n", done.stderr)


def test_a_reader_that_closes_the_pipe_gets_no_message():
    for preexec in (None, lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [str(PROGRAM), "config", "demo"], stdout=writer, stderr=subprocess.PIPE, env=environment(), preexec_fn=preexec)
        os.close(writer)
        assert (done.returncode, done.stderr) == (-signal.SIGPIPE if preexec is None else 0, b"")


def test_a_date_whose_end_is_no_time_is_named(service, customer):
    done = service.command("grants", "create", customer, "pro", "--until", "9999-12-31")
    assert done.returncode == 64 and "--until takes a time that ends before the year 10000" in done.stderr
    assert service.command("grants", "create", customer, "pro", "--until", "9999-12-30").returncode == 0


def test_a_document_is_read_from_a_pipe(service, customer, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    document = service.buy("lifetime")["signedTransactionInfo"]
    writer = subprocess.Popen(["sh", "-c", f"printf %s {document} > {tmp_path}/pipe"])
    assert service.command("submit", customer, f"@{tmp_path}/pipe").returncode == 0
    assert writer.wait(CALL_LIMIT) == 0


def test_help_and_version():
    assert "serve" in run("--help").stdout
    assert run("--version").stdout.strip()
    assert run("no-such-command").returncode not in (0, -6, -11)


def test_customer_shows_all_data_of_a_customer(service, customer):
    bought = service.buy("lifetime")["signedTransactionInfo"]
    assert service.command("submit", customer, bought).returncode == 0
    result = service.command("customer", customer)
    assert result.returncode == 0
    rows = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert rows["pro"].startswith("entitled") and rows["lifetime"] == "active"


def test_watch_prints_events_and_resumes_after_the_last_one(service, customer):
    granted = service.command("grants", "create", customer, "pro", "--json")
    grant = json.loads(granted.stdout)["grant"]["grantId"]
    watch = ["watch", "--customer", customer, "--count", "1"]
    first = service.command(*watch, "--from-beginning", "--json")
    assert first.returncode == 0, first.stderr
    event = json.loads(first.stdout)
    assert (event["customerId"], event["type"]) == (customer, "GRANTED")
    listed = service.command("grants", "list", customer)
    assert grant in listed.stdout and "revoked" not in listed.stdout, listed.stderr
    service.command("grants", "revoke", grant)
    assert "revoked" in service.command("grants", "list", customer).stdout
    resume = re.fullmatch(r"to resume: (--after-position) (\S+)\n", first.stderr)
    for option in (("--after", event["sequence"]), resume.groups()):
        second = service.command(*watch, *option)
        assert second.returncode == 0 and f"{customer} pro GRANT_REVOKED" in second.stdout, second.stderr
    wrong = service.command(*watch, "--after", event["sequence"], "--from-beginning")
    assert wrong.returncode == 64 and "exclude each other" in wrong.stderr
    unknown = service.command(*watch, "--after-position", "nonsense")
    assert unknown.returncode == 1 and "to resume" not in unknown.stderr
    failed = service.command("watch", "--app", "no-such-app")
    assert (failed.returncode, "no-such-app" in failed.stderr) == (1, True)


def test_segment_watch_resumes_after_the_last_event(service, customer):
    segment = f"owners-{customer}"
    assert service.command("segment", "create", segment, "--state", "lifetime").returncode == 0
    for buyer in (customer, f"{customer}-other"):
        bought = service.buy("lifetime")["signedTransactionInfo"]
        assert service.command("submit", buyer, bought).returncode == 0
    watch = ["segment", "watch", segment, "--count", "1"]
    first = service.command(*watch, "--from-beginning", "--json")
    assert first.returncode == 0, first.stderr
    event = json.loads(first.stdout)
    assert (event["customerId"], event["type"]) == (customer, "SEGMENT_ENTERED")
    resume = re.fullmatch(r"to resume: (--after-position) (\S+)\n", first.stderr)
    for option in (("--after", event["sequence"]), resume.groups()):
        second = service.command(*watch, *option)
        assert second.returncode == 0 and f"SEGMENT_ENTERED  {customer}-other" in second.stdout, second.stderr
    wrong = service.command(*watch, "--after", event["sequence"], *resume.groups())
    assert wrong.returncode == 64 and "exclude each other" in wrong.stderr
    unknown = service.command(*watch, "--after-position", "nonsense")
    assert unknown.returncode == 1 and "to resume" not in unknown.stderr
