"""tools/attack: each flood leaves the service ready, and the result names all floods."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import resource
import subprocess
import sys

from harness import PROGRAM, ROOT


def attack(*arguments, files=None):
    """Runs the program, with a limit of open files if there is one."""
    limit = files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    env = os.environ | {"ENTITLED_PROGRAM": str(PROGRAM)}
    command = [sys.executable, ROOT / "tools" / "attack", "--quick", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300, preexec_fn=limit)


def test_floods_are_measured_beside_a_busy_loop():
    # The ratio depends on the machine, so it is no part of the test.
    shown = attack("--once", "--only", "priority", "--only", "header_references")
    assert re.search(r"^RESULT floods=2 within_2x=[012] rss_mb=\d+$", shown.stdout, re.M), shown.stdout + shown.stderr


def test_a_flood_with_too_few_connections_fails():
    shown = attack("--once", "--only", "idle", files=2_000)
    assert re.search(r"^tools/attack: idle: [\d,]+ of 2,500 connections are open: .*Too many open files$", shown.stderr, re.M), (
        shown.stdout + shown.stderr
    )
    assert shown.returncode == 1 and re.search(r"^RESULT floods=1 within_2x=0 ", shown.stdout, re.M), shown.stdout


def test_each_file_of_the_folder_is_a_flood():
    loader = importlib.machinery.SourceFileLoader("attack", str(ROOT / "tools" / "attack"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("attack", loader))
    loader.exec_module(module)
    files = {file.stem for file in pathlib.Path(ROOT / "tools" / "attacks").glob("*.py")}
    assert files - {"wire", "notifications"} == set(module.FLOODS)
    documented = (pathlib.Path(ROOT) / "docs" / "transport.md").read_text().split("### Attacks")[1].split("\n## ")[0]
    assert [flood for flood in module.FLOODS if f"`{flood}`" not in documented] == []
