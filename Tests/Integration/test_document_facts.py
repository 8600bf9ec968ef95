"""Everything that the documents name exists: metrics, variables, codes, types, targets of make, tools, options, keys of the configuration."""

import json
import re
import textwrap

import jsonschema
import pytest
import yaml

from harness import ROOT, command_tree

PAGES = [*ROOT.glob("*.md"), *(page for name in ("docs", "deploy", "conformance") for page in (ROOT / name).rglob("*.md"))]
FOLDERS = ("Sources", "proto", "tools", "Tests/Integration", "clients", "deploy", "docs/configuration.schema.json")
SUFFIXES = {"", ".json", ".mjs", ".proto", ".py", ".swift", ".yaml", ".yml"}
MADE = {".build", "node_modules", "__pycache__"}
FILES = [
    path for name in FOLDERS for path in (ROOT / name, *(ROOT / name).rglob("*"))
    if path.suffix in SUFFIXES and not MADE & set(path.relative_to(ROOT).parts) and path.is_file()]  # fmt: skip
SOURCES = "\n".join(path.read_text(encoding="utf-8", errors="ignore") for path in FILES)
SCHEMA = json.loads((ROOT / "docs/configuration.schema.json").read_text())


def unknown(pattern, known):
    """Each name in a document that matches the pattern and is not known, with its page."""
    found = {(str(page.relative_to(ROOT)), name) for page in PAGES for name in re.findall(pattern, page.read_text(), re.MULTILINE)}
    assert found
    return sorted((page, name) for page, name in found if not known(name))


def test_the_metrics_in_documents_are_those_of_metrics_md():
    metrics = set(re.findall(r"^\| `(\w+)`", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE))
    suffix = re.compile("_(bucket|sum|count)$")
    assert not unknown(
        r"`(entitled_[a-z0-9_]+?)(?:\{|`)", lambda name: {name, suffix.sub("", name)} & metrics or f'"{name}"' in SOURCES)


def test_the_environment_variables_in_documents_are_read_somewhere():
    flags = set(re.findall(r'ServerOption\(flag: "(\w+)"', SOURCES))
    assert not unknown(
        r"\b(ENTITLED_[A-Z_]+)\b", lambda name: name in SOURCES or name.removeprefix("ENTITLED_").lower() in flags)


def test_the_targets_of_make_in_documents_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert not unknown(r"(?:`|^\$ |^)make ([a-z-]+)", targets.__contains__)


def test_the_tools_in_documents_exist():
    assert not unknown(r"\btools/([a-z][\w/.-]*\w)", lambda name: (ROOT / "tools" / name).exists())


def test_the_codes_in_documents_exist():
    """Reasons, types of events, values of enumerations: as they are written, or as the case of an enumeration."""

    def known(code):
        first, *others = code.lower().split("_")
        return code in SOURCES or f"case {first}{''.join(map(str.title, others))}" in SOURCES

    assert not unknown(r"`(?!ENTITLED_)([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)`", known)


def test_the_names_of_methods_messages_and_types_in_documents_exist():
    stems = {path.stem for path in FILES}
    assert not unknown(r"`([A-Z][a-z]+[A-Z]\w+)`", lambda name: name in SOURCES or name in stems)


def test_the_benchmarks_of_performance_md_exist():
    page = (ROOT / "docs/performance.md").read_text()
    table = page[page.index("| part | measures |") : page.index("\n\n", page.index("| part | measures |"))]
    parts = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    assert len(parts) > 5 and not [part for part in parts if not (ROOT / "tools/bench" / part).exists()]


def test_the_table_of_flags_in_deploy_readme_has_every_option_of_serve():
    page = (ROOT / "deploy/README.md").read_text()
    shown = set(re.findall(r"^\| `--([a-z-]+)[ `]", page, re.MULTILINE))
    (serve,) = [part for part in command_tree()["subcommands"] if part["commandName"] == "serve"]
    options = {name["name"] for argument in serve["arguments"] for name in argument["names"] if len(name["name"]) > 1}
    assert shown == options - {"help", "version"}


class Loader(yaml.SafeLoader):
    """Reads times without quotes as texts, as the program does."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}  # fmt: skip


def parts_of_a_configuration():
    for page in PAGES:
        for number, (_, body) in enumerate(re.findall(r"^( *)```yaml\n(.*?)^\1```", page.read_text(), re.MULTILINE | re.DOTALL)):
            content = yaml.load(textwrap.dedent(body), Loader)
            if isinstance(content, dict) and content and set(content) <= set(SCHEMA["properties"]):
                yield pytest.param(content, id=f"{page.relative_to(ROOT)}:{number}")


def relaxed(schema):
    """The schema without what is required: documents show parts of a configuration, with hashes and ids cut short. A part
    may match several alternatives."""
    if isinstance(schema, dict):
        return {"anyOf" if key == "oneOf" else key: relaxed(value) for key, value in schema.items()
                if key not in {"required", "pattern"} or isinstance(value, dict)}  # fmt: skip
    return [relaxed(value) for value in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("content", list(parts_of_a_configuration()))
def test_a_part_of_a_configuration_in_a_document_has_the_names_and_types_of_the_schema(content):
    unfit = [
        f"{list(error.path)}: {error.message}"
        for error in jsonschema.Draft202012Validator(relaxed(SCHEMA)).iter_errors(content)]  # fmt: skip
    assert not unfit
