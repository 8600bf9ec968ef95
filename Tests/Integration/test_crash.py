"""The service is killed while notifications come in: tools/crash, with a few kills."""

import os
import subprocess
import sys

from harness import PROGRAM, ROOT


def test_nothing_acknowledged_is_lost_or_counted_twice_by_a_kill():
    command = [sys.executable, ROOT / "tools" / "crash", "--kills", "4", "--seed", "1"]
    env = os.environ | {"ENTITLED_PROGRAM": str(PROGRAM)}
    crash = subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)
    assert crash.returncode == 0, crash.stdout + crash.stderr
    assert "faults=0" in crash.stdout and "acknowledged=0 " not in crash.stdout, crash.stdout
