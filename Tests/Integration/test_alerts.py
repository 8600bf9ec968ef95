"""The alert rules: each has a section of the runbook, and promtool accepts them and their tests."""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from harness import ROOT, command_tree, post, run, wait_for
from test_every_command import leaves

FOLDER = ROOT / "deploy" / "prometheus"
RUNBOOK = (ROOT / "deploy" / "runbook.md").read_text(encoding="utf-8")
ALERTS = [
    rule
    for group in yaml.safe_load((FOLDER / "entitled.rules.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
    if "alert" in rule
]
PROMTOOL = shutil.which("promtool", path=os.pathsep.join([os.environ["PATH"], "/usr/bin"]))


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_links_to_its_section_of_the_runbook(alert):
    name = alert["alert"]
    assert alert["annotations"]["runbook"] == f"deploy/runbook.md#{name.lower()}"
    section = re.search(rf"^### {name}\n(.+?)(?=^##|\Z)", RUNBOOK, re.M | re.S)
    assert section, f"the runbook has no section {name}"
    assert section[1].startswith(f"**{alert['labels']['severity'].capitalize()}.** ")
    assert re.search(r"^1\. ", section[1], re.M), "the section has no steps"


def test_every_section_of_the_runbook_has_an_alert():
    assert set(re.findall(r"^### (\w+)$", RUNBOOK, re.M)) == {alert["alert"] for alert in ALERTS}


def test_every_command_in_the_runbook_exists():
    known = {name for name, _ in leaves(command_tree())}
    named = re.findall(r"`entitled ([a-z][a-z -]*?)(?: [A-Z]+)?(?: --\w.*?)?`", RUNBOOK)
    assert set(named) <= known and len(named) > 10, set(named) - known


def test_the_command_for_the_log_leaves_out_routine_lines_only(start, tmp_path):
    """The first step of each page, on lines of both formats: the journal passes each as it is (`-o cat`)."""
    [pattern] = re.findall(r"^journalctl -u entitled -o cat .*\| (grep -Ev '.*')$", RUNBOOK, re.M)
    for form in ("text", "json"):
        folder = tmp_path / form
        folder.mkdir()
        (folder / "entitled.yaml").write_text(run("config", "demo").stdout + f"log: {{format: {form}}}\n")
        service = start(folder / "data", ["--config", folder / "entitled.yaml"])
        grant = {"app": "ocean-journal", "customerId": "ana", "entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL"}
        assert service.json("entitled.v1.EntitlementService/Grant", grant)[0] == 200
        assert post(f"http://{service.http}/notifications/ocean-journal", {"signedPayload": "a.b.c"})[0] == 202
        wait_for(lambda service=service: "request refused" in service.log)
        # A fault at the start has neither format.
        log = service.log + "entitled: cannot read 'entitled.yaml'\n"
        assert "entitled.audit" in log
        shown = subprocess.run(["sh", "-c", pattern], input=log, capture_output=True, text=True, check=True).stdout
        assert "request refused" in shown and "cannot read" in shown, shown
        assert "entitled.audit" not in shown and "started" not in shown, shown


def test_every_alert_has_a_test_of_its_rule():
    files = FOLDER.glob("entitled.rules.*test.yaml")
    tests = [test for file in files for test in yaml.safe_load(file.read_text(encoding="utf-8"))["tests"]]
    tested = {rule["alertname"] for test in tests for rule in test["alert_rule_test"] if rule["exp_alerts"]}
    assert tested == {alert["alert"] for alert in ALERTS}


def test_the_example_of_prometheus_has_the_rules_and_the_job_that_they_name():
    example = yaml.safe_load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))
    assert example["rule_files"] == ["entitled.rules.yaml"]
    (job,) = [job["job_name"] for job in example["scrape_configs"]]
    expressions = " ".join(alert["expr"] for alert in ALERTS)
    assert set(re.findall(r'job="([^"]+)"', expressions)) == {job}


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian's package prometheus)")
@pytest.mark.parametrize("command", [
    "check rules entitled.rules.yaml", "check config --syntax-only prometheus.yaml",
    "test rules entitled.rules.test.yaml entitled.rules.long.test.yaml"])  # fmt: skip
def test_promtool_accepts(command):
    done = subprocess.run([PROMTOOL, *command.split()], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
