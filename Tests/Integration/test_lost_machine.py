"""Lost machine: tools/lost-machine destroys a data directory under load and restores it."""

import os
import re
import subprocess
import sys

from harness import PROGRAM, ROOT


def test_a_lost_data_directory_is_restored_without_missing_facts_of_apples():
    command = [sys.executable, ROOT / "tools" / "lost-machine", "--seconds", "3", "--seed", "1", "--stated", "15"]
    env = os.environ | {"ENTITLED_PROGRAM": str(PROGRAM)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"RESULT apple_facts_lost=0 commands_lost_s=[\d.]+ .*commands_not_listed=0", done.stdout)
    assert "sold=0 " not in done.stdout
