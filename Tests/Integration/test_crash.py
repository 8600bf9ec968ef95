"""Crash test: tools/crash with a few kills while notifications arrive."""

import os
import subprocess
import sys

import pytest

from harness import PROGRAM, ROOT, SANITIZED


def crash(kills, notifications):
    """Runs tools/crash; returns its output."""
    command = [sys.executable, ROOT / "tools" / "crash", "--kills", kills, "--notifications", notifications, "--seed", 1]
    env = os.environ | {"ENTITLED_PROGRAM": str(PROGRAM)}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"RESULT kills={kills} " in done.stdout and " faults=0" in done.stdout, done.stdout
    assert " acknowledged=0 " not in done.stdout, done.stdout


def test_kills_neither_lose_nor_duplicate_acknowledged_notifications():
    crash(kills=3, notifications=300)


@pytest.mark.skipif(SANITIZED, reason="the program is killed before it has acknowledged anything")
def test_kills_go_on_with_new_notifications_after_the_last_acknowledgement():
    crash(kills=4, notifications=10)
