"""Shared by the tests of the sandbox's clients: the program, and an environment with the plugin as its users install it."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

from harness import PROGRAM, ROOT, environment

PLUGIN = ROOT / "clients" / "pytest-entitled-sandbox"
DJANGO = ROOT / "clients" / "examples" / "django"
# Made once, because its packages come from a network.
ENVIRONMENT = ROOT / ".build" / "sandbox-plugin"
TIME_LIMIT = 300


def sandbox_program():
    """The program without the service, or `entitled` if only that is built."""
    program = PROGRAM.with_name("entitled-sandbox")
    return program if program.exists() else PROGRAM


def variables(**more):
    """The environment of a user: the program's path, and no settings of these tests."""
    kept = {name: value for name, value in environment().items() if not name.startswith(("PYTEST_", "PYTHONPATH"))}
    return {**kept, "ENTITLED_SANDBOX_PROGRAM": str(sandbox_program()), "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(*command, status=0, **options):
    """Runs a command until it exits with a status; returns its output."""
    options = {"env": variables(), "timeout": TIME_LIMIT, **options}
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)  # fmt: skip
    assert done.returncode == status, done.stdout
    return done.stdout


def build_wheel(folder):
    """Builds the wheel of the plugin from a copy, because setuptools writes beside the sources."""
    source = shutil.copytree(PLUGIN, folder / "source", dirs_exist_ok=True)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source)
    return next(folder.glob("*.whl"))


def installed_plugin():
    """The `bin` folder of an environment with the plugin's wheel and the packages of the example with Django."""
    sources = [*sorted(PLUGIN.rglob("*.py")), PLUGIN / "pyproject.toml", DJANGO / "requirements.txt"]
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp, python = ENVIRONMENT / "stamp", ENVIRONMENT / "venv" / "bin" / "python"
    ENVIRONMENT.parent.mkdir(exist_ok=True)
    # One pytest worker makes it, and the others wait.
    with ENVIRONMENT.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (stamp.exists() and stamp.read_text() == wanted):
            shutil.rmtree(ENVIRONMENT, ignore_errors=True)
            run(sys.executable, "-m", "venv", ENVIRONMENT / "venv")
            wheel = build_wheel(ENVIRONMENT)
            constraints = ROOT / "tools" / "requirements.txt"
            run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[apple]",
                "--requirement", DJANGO / "requirements.txt", "--constraint", constraints)  # fmt: skip
            stamp.write_text(wanted)
    return python.parent


def pytest(*arguments, folder, **options):
    """Runs the installed pytest in a folder; returns its output."""
    command = [installed_plugin() / "python", "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return run(*command, cwd=folder, **options)


def in_path(*programs):
    """A PATH that begins with the folders of these programs."""
    return os.pathsep.join([*(str(program.parent) for program in programs), os.environ["PATH"]])
