"""The files that GitHub and contributors read: workflows, templates, the changelog."""

import re

import check_jsonschema
import pytest
import yaml

from harness import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def checked(schema, *paths):
    """Runs check-jsonschema with one of the schemas that it contains."""
    return check_jsonschema.main(["--builtin-schema", schema, *map(str, paths)], standalone_mode=False)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_matches_the_schema_of_workflows(path):
    assert not checked("vendor.github-workflows", path)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_only_commands_of_the_repository(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        targets = job.get("strategy", {}).get("matrix", {}).get("target", [])
        for step in job["steps"]:
            command = step.get("run", "")
            if command == "make ${{ matrix.target }}":
                assert targets and set(targets) <= TARGETS
            elif command.startswith("make "):
                assert command.removeprefix("make ") in TARGETS, command
            elif command:
                assert (ROOT / command).is_file(), command


def test_the_issue_templates_match_the_schemas_of_github():
    folder = GITHUB / "ISSUE_TEMPLATE"
    forms = [path for path in folder.glob("*.yml") if path.name != "config.yml"]
    assert len(forms) == 2 and not checked("vendor.github-issue-forms", *forms)
    assert not checked("vendor.github-issue-config", folder / "config.yml")


def test_the_changelog_follows_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", text, re.MULTILINE)
    assert versions[0] == ("Unreleased", "")
    for version, date in versions[1:]:
        assert re.fullmatch(r"\d+\.\d+\.\d+", version) and re.fullmatch(r"\d{4}-\d\d-\d\d", date), version
    kinds = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
