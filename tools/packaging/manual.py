"""The manual page of a program, generated from its help."""

import json
import re
import subprocess

# What each program reads, besides the files of TLS and the bounds of a process.
ENVIRONMENT = {
    "entitled": {
        "ENTITLED_CONFIG": "The configuration file.",
        "ENTITLED_DATA": "The data directory.",
        "ENTITLED_GRPC": "The gRPC address of the service, also for commands that call it.",
        "ENTITLED_HTTP": "The HTTP address of the service.",
        "ENTITLED_TOKEN": "The bearer token of commands that call the service.",
        "ENTITLED_APP": "The app of commands that are about one.",
        "ENTITLED_STORE": "The address of the store, such as postgres://USER@HOST/DATABASE.",
        "ENTITLED_LOG_FORMAT, ENTITLED_LOG_LEVEL": "The format and level of the log; they override the configuration.",
    },
    "entitled-sandbox": {
        "ENTITLED_CONFIG": "The configuration file of serve.",
        "ENTITLED_DATA": "The data directory.",
        "ENTITLED_SANDBOX": "The address of the sandbox, also for commands that call it.",
        "ENTITLED_SANDBOX_WORLD": "The world of commands that call the sandbox.",
        "ENTITLED_APP": "The app of commands that are about one.",
    },
}


def _escaped(text):
    """Text as roff: no character that begins a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^([.\\])", r"\\&\1", " ".join(text.split()))


def _synopsis(argument):
    value = f" {argument['valueName']}" if argument.get("valueName") and argument["kind"] == "option" else ""
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument.get("names") or ()]
    if argument["kind"] == "positional":
        return argument["valueName"].upper()
    return ", ".join(names) + value


def _arguments(command):
    for argument in command.get("arguments", ()):
        if argument.get("shouldDisplay") and _synopsis(argument) not in ("--version", "-h, --help"):
            yield ".TP"
            yield f".B {_escaped(_synopsis(argument))}"
            yield _escaped(argument.get("abstract") or "See above.")


def _commands(command, path):
    for part in command.get("subcommands", ()):
        if part["commandName"] == "help" or not part.get("shouldDisplay", True):
            continue
        name = f"{path} {part['commandName']}"
        yield f".SS {_escaped(name)}"
        yield _escaped(part.get("abstract", ""))
        if part.get("discussion"):
            yield ".PP"
            yield _escaped(part["discussion"])
        yield from _arguments(part)
        yield from _commands(part, name)


def page(program, version):
    """The page of section 1 as text."""
    dumped = subprocess.run([str(program), "--experimental-dump-help"], stdout=subprocess.PIPE, check=True).stdout
    command = json.loads(dumped)["command"]
    name = command["commandName"]
    lines = [
        f'.TH {name.upper()} 1 "" "{name} {version}" "User Commands"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(command.get('abstract', '').rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_escaped(name)}",
        ".I command",
        "[options]",
        ".SH DESCRIPTION",
        _escaped(command.get("discussion") or command.get("abstract", "")),
        ".PP",
        "Each command prints its help with \\fB\\-\\-help\\fR.",
        ".SH COMMANDS",
        *_commands(command, name),
        ".SH ENVIRONMENT",
    ]
    for variable, meaning in ENVIRONMENT[name].items():
        lines += [".TP", f".B {_escaped(variable)}", _escaped(meaning)]
    if name == "entitled":
        lines += [".SH FILES", ".TP", ".I /etc/entitled/entitled.yaml", "The configuration of the systemd unit."]
        lines += [".TP", ".I /var/lib/entitled", "The data of the systemd unit."]
    return "\n".join(lines) + "\n"
