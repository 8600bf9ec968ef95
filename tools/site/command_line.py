"""The reference of the command line: the help of every command, as the built program prints it."""

import json
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(__file__).resolve().parent.parent.parent / ".build"


def program():
    """The program of ENTITLED_PROGRAM, or the one that was built last."""
    if named := os.environ.get("ENTITLED_PROGRAM"):
        return named
    built = [path for path in (BUILD / "release" / "entitled", BUILD / "debug" / "entitled") if path.exists()]
    if not built:
        sys.exit("there is no program; run `make build`, or set ENTITLED_PROGRAM")
    return max(built, key=lambda path: path.stat().st_mtime)


def spelled(argument):
    """An argument as the help spells it."""
    value = f"<{argument['valueName']}>" if argument.get("valueName") and argument["kind"] != "flag" else ""
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument.get("names") or ()]
    dots = "…" if argument.get("isRepeating") else ""
    return " ".join(filter(None, [", ".join(names), value])) + dots


def lines(command, path):
    parts = [part for part in command.get("subcommands", ()) if part["commandName"] != "help"]
    name = " ".join([*path, command["commandName"]])
    yield f"{'##' if len(path) == 1 else '###'} {name}" if path else "# Command line"
    yield command.get("abstract", "")
    if not path:
        yield "Generated from the help of the program. Most commands take the options of a connection: `--grpc`, `--token-file` and `--tls…`."
    if command.get("discussion"):
        yield command["discussion"].replace("<", "&lt;")
    arguments = [a for a in command.get("arguments", ()) if a.get("shouldDisplay") and path]
    arguments = [a for a in arguments if spelled(a) not in {"--version", "-h, --help"}]
    if arguments:
        rows = ["| argument | meaning |", "|---|---|"]
        for argument in arguments:
            text = " ".join((argument.get("abstract") or "").split()).replace("|", "\\|").replace("<", "&lt;")
            rows.append(f"| `{spelled(argument)}` | {text} |")
        yield "\n".join(rows)
    for part in parts:
        yield from lines(part, [*path, command["commandName"]])


def pages():
    dumped = subprocess.run([program(), "--experimental-dump-help"], stdout=subprocess.PIPE, check=True).stdout
    command = json.loads(dumped)["command"]
    return {"reference/command-line.md": "\n\n".join(part for part in lines(command, []) if part) + "\n"}
