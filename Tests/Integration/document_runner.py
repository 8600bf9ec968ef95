"""Runs the commands that a page shows, in order, with the files that it shows, and compares what they print.

A page prepares everything itself: a block that follows a line "`NAME`:" is the file NAME, `make run` starts the
service, and a command that ends with `&` runs until the end of the page; `%1` at the end of a command is the first of these.
A block in `sh` that is a function is defined for the commands after it.
Ports are replaced by free ones.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from harness import CALL_LIMIT, PROGRAM, ROOT, START_LIMIT, STOP_LIMIT, environment, free_port

BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"\w+\(\) \{\n")
FILE = re.compile(r"^ *`([\w/-]*\.[\w./-]+)`:\n\n *\Z", re.MULTILINE)
# Parts that differ from run to run: times, ids, hashes, tokens, durations, and numbers that depend on the order of arrival.
VARYING = [
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]\w+/\w+",
    r"\d{10,}(\.[0-9a-f]+)?…?", r"sha256:[0-9a-f]{64}", r"ent_\w{20,}",
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", r"\b\d+ ms", r"\d+\.\d\ds",
    r"evidence +\d+", r"grant-\d+", "…",
]  # fmt: skip
VARYING = [re.sub(r"\((?!\?)", "(?:", pattern) for pattern in VARYING]
SPLIT = re.compile("|".join(f"(?:{pattern})" for pattern in VARYING))
PORTS = {"grpc": 50051, "http": 8080, "sandbox": 8090}
CONSOLE, RECEIVER = 8070, 9444


# Commands that change nothing.
QUESTION = re.compile(
    r"(cat|entitled (check|timeline|customer|explain|report|purchases?|find|status|consumption list|segment customers"
    r"|apple withdrawn-consents|import disagreements|reconcile|store stats|webhooks deliveries)|entitled webhooks$)( |$)")
# A migration that takes longer than a second prints this instead of a progress bar.
PROGRESS = re.compile(r'\{"migrationId":.*"MIGRATION_STATE_RUNNING"')


class Block:
    """One fenced block of a page: its language, its text, and the name of the file that it is, if any."""

    def __init__(self, text, found):
        indent, self.language, body = found.groups()
        self.body = re.sub(f"^{indent}", "", body, flags=re.MULTILINE)
        name = FILE.search(text[: found.start()])
        self.file = name[1] if name else None


def blocks(page, since=None, until=None):
    """The fenced blocks of a page, whose path is given from the root of the repository, or of its part between two headings."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = text[text.index(f"\n## {since}\n") :] if since else text
    text = text[: text.index(f"\n## {until}\n")] if until else text
    return [Block(text, found) for found in BLOCK.finditer(text)]


def commands(block):
    """The commands of a block with the lines that each prints; indented lines and here documents continue a command."""
    found, end = [], None
    for line in block.splitlines():
        if end or found and found[-1][0].endswith(("\\", "|")):
            found[-1][0] += "\n" + line
            end = None if line == end else end
        elif line.startswith("$ "):
            found.append([line[2:], []])
            document = re.search(r"<<'?(\w+)'?$", line)
            end = document[1] if document else None
        else:
            found[-1][1].append(line)
    return found


def pattern(line, ids):
    """A regular expression for a line of output in which what varies may differ. Adds the ids in it to `ids`: one group each."""
    parts, position = [], 0
    for found in SPLIT.finditer(line):
        parts.append(re.escape(line[position : found.start()]))
        if found[0].isdigit():
            ids.append(found[0])
            parts.append(r"(\d+)")
        else:
            parts.append(".*" if "…" in found[0] else next(p for p in VARYING if re.fullmatch(p, found[0])))
        position = found.end()
    return "".join(parts) + re.escape(line[position:])


def matched(expected, lines):
    """The ids of the page with those of the run if the lines match, otherwise `None`. A line `...` of the page stands for any
    number of lines."""
    ids = []
    text = "".join("(?:.*\n)*?" if line.strip() == "..." else pattern(line, ids) + "\n" for line in expected)
    found = re.fullmatch(text, "".join(f"{line}\n" for line in lines))
    return dict(zip(ids, found.groups(), strict=True)) if found else None


def matches(expected, lines):
    """Whether lines match those of a page."""
    return matched(expected, lines) is not None


class DocumentRunner:
    """A folder with links to the repository's folders, in which the blocks of a page run."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.ports = {str(port): str(free_port()) for port in (*PORTS.values(), CONSOLE, RECEIVER)}
        programs = folder / ".programs"
        programs.mkdir()
        (programs / "entitled").symlink_to(PROGRAM)
        alone = PROGRAM.with_name("entitled-sandbox")
        if alone.exists():
            (programs / "entitled-sandbox").symlink_to(alone)
        console = f"127.0.0.1:{self.ports[str(CONSOLE)]}"
        (programs / "make").write_text(f'#!/bin/sh\n[ "$*" = run ] && exec entitled serve --console {console}\n')
        # The packages of the tests, instead of those that a page installs.
        (programs / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (programs / "pip").write_text(f'#!/bin/sh\nshift\nexec "{sys.executable}" -m pip show "$@" >/dev/null\n')
        for name in ("make", "python3", "pip"):
            (programs / name).chmod(0o755)
        for name in ("proto", "clients", ".venv", "deploy"):
            (folder / name).symlink_to(ROOT / name if name != ".venv" else pathlib.Path(sys.prefix))
        addresses = {f"ENTITLED_{name.upper()}": f"127.0.0.1:{self.ports[str(port)]}" for name, port in PORTS.items()}
        self.environment = {
            **environment(), **addresses, "PATH": f"{programs}:{os.environ['PATH']}"}  # fmt: skip
        # Folders of a machine that pages name, and those of the test that stand for them.
        self.folders = {}
        self.exports = ""
        self.ids = {}
        self.started = []
        # Seconds for a command that ends.
        self.limit = 6 * CALL_LIMIT

    def real(self, text):
        """Replaces the ports and folders that pages name, and the ids that they show, by those of this run."""
        for shown, own in self.folders.items():
            text = text.replace(shown, own)
        text = re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda found: self.ports.get(found[0], found[0]), text)
        return re.sub(r"\d{10,}", lambda found: self.ids.get(found[0], found[0]), text)

    def run(self, page, since=None, until=None):
        """Runs a page, or its part between two headings; raises an error at the first command that prints something else than
        the page shows."""
        for block in blocks(page, since, until):
            self.run_block(block)

    def run_block(self, block):
        if block.file:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.real(block.body), encoding="utf-8")
            path.chmod(0o600)
        elif block.language == "sh" and FUNCTION.match(block.body):
            self.exports += self.real(block.body)
        elif block.language == "console":
            for command, expected in commands(block.body):
                # Notifications arrive a moment after an action, so a question is asked again for some seconds.
                limit = time.monotonic() + CALL_LIMIT
                while True:
                    lines = self.execute(command, expected)
                    ids = matched(self.real("\n".join(expected)).splitlines(), lines) if expected else {}
                    if ids is not None or not QUESTION.match(command) or time.monotonic() > limit:
                        break
                    time.sleep(0.2)
                assert ids is not None, "\n".join(["$ " + command, *lines])
                self.ids.update(ids)

    def execute(self, command, expected):
        """Runs a command; returns what it prints. A command without output on the page must succeed."""
        if command.startswith("export "):
            self.exports += self.real(command) + "\n"
            return []
        script = self.exports + re.sub(r"%(\d+)$", lambda job: str(self.started[int(job[1]) - 1].pid), self.real(command))
        if command.endswith("&") or command == "make run":
            return self.start(script.removesuffix("&"), expected)
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self.limit)  # fmt: skip
        assert expected or done.returncode == 0, f"$ {command}\n{done.stdout}"
        return [line for line in done.stdout.splitlines() if not PROGRESS.match(line)]

    def start(self, script, expected):
        """Starts a command that goes on, and waits until it has printed what the page shows."""
        log = self.folder / f".output-{len(self.started)}"
        faults = log.with_suffix(".faults")
        with log.open("w") as output, faults.open("w") as errors:
            # The command of the last line replaces the shell, so that a signal reaches it.
            *before, last = script.splitlines()
            process = subprocess.Popen(
                ["bash", "-c", "\n".join([*before, f"exec {last}"])], cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=errors)  # fmt: skip
        self.started.append(process)
        expected = self.real("\n".join(expected)).splitlines()
        limit = time.monotonic() + START_LIMIT
        while time.monotonic() < limit:
            lines = log.read_text(encoding="utf-8").splitlines()
            if not expected or matches(expected, lines):
                break
            assert process.poll() is None, "\n".join(["$ " + script, *lines, faults.read_text()])
            time.sleep(0.05)
        return lines

    def written(self):
        """The files that the commands have written, relative to the folder."""
        found = []
        for folder, folders, files in os.walk(self.folder):
            if pathlib.Path(folder) == self.folder:
                folders.remove(".programs")
            paths = [pathlib.Path(folder, name).relative_to(self.folder) for name in files]
            found += [str(path) for path in paths if not str(path).startswith(".output-")]
        return found

    def close(self):
        """Stops the commands that still run, latest first."""
        for process in reversed(self.started):
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
