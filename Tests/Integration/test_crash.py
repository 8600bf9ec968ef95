"""Crash test: tools/crash with a few kills while notifications arrive."""

import os
import subprocess
import sys

from harness import PROGRAM, ROOT


def test_kills_neither_lose_nor_duplicate_acknowledged_notifications():
    command = [sys.executable, ROOT / "tools" / "crash", "--kills", "3", "--notifications", "300", "--seed", "1"]
    env = os.environ | {"ENTITLED_PROGRAM": str(PROGRAM)}
    crash = subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)
    assert crash.returncode == 0, crash.stdout + crash.stderr
    assert "faults=0" in crash.stdout and "acknowledged=0 " not in crash.stdout, crash.stdout
