"""Codes that are enums of the program with a sentence each: reasons of answers and types of events."""

import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent / "Sources" / "Domain" / "Entitlements"
REASONS = SOURCES / "Evaluation" / "EntitlementReason.swift"
EVENTS = SOURCES / "Changes" / "EntitlementChange.swift"
CODE = re.compile(r'^ *case (\w+) = "([A-Z_]+)"$', re.MULTILINE)
SENTENCE = re.compile(r'case \.(\w+):\s+"((?:[^"\\]|\\.)*)"')


def table(path, heading):
    """The table of the codes of a source file; fails if a code has no sentence."""
    text = path.read_text("utf-8")
    sentences = dict(SENTENCE.findall(text))
    rows = [f"| `{code}` | {sentences[name]} |" for name, code in CODE.findall(text)]
    return "\n".join([f"| {heading} | sentence |", "|---|---|", *rows])


def event_types():
    return "\n\n".join([
        "# Event types",
        "Generated from the program. [Events](../events.md) explains the fields and when each type occurs. New types may appear in a minor version"
        " ([versioning](../versioning.md)).",
        table(EVENTS, "type")]) + "\n"  # fmt: skip
