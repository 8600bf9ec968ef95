"""Stores of synthetic customers, cached in .build/bench."""

import os
import pathlib
import shutil
import subprocess
import sys

from native import OUTPUT, ROOT

ENTITLED = pathlib.Path(os.environ.get("ENTITLED_PROGRAM", ROOT / ".build" / "release" / "entitled"))


def seeded_store(customers, configuration=None, only_answers=False):
    """A data directory whose store holds this many customers, seeded again if another program seeded it.

    Their answers are computed with this configuration file, or with the demo's.
    """
    kind = f"-{configuration.stem}" if configuration else "-answers" if only_answers else ""
    folder = OUTPUT / f"store-{customers}{kind}"
    done = folder / "seeded"
    status = ENTITLED.stat()
    program = f"{ENTITLED.resolve()} {status.st_size} {status.st_mtime_ns}"
    if not done.exists() or done.read_text() != program:
        print(f"seeding {customers} customers", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = [ENTITLED, "store", "seed", "--customers", str(customers), "--data", folder]
        command += ["--config", configuration] if configuration else []
        command += ["--only-answers"] if only_answers else []
        subprocess.run(command, check=True, stdout=sys.stderr)
        done.write_text(program)
    return folder
