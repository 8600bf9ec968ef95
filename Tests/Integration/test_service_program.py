"""`entitled-service`, the program of a release: the service without the sandbox, which names `entitled-sandbox` instead."""

import json
import mmap
import os
import subprocess

import pytest

from harness import (
    FREE_PORTS, PROGRAM, READY, ROOT, SERVICE_PROGRAM, START_LIMIT, STOP_LIMIT, command_tree, environment,
)

WITHOUT_SANDBOX = FREE_PORTS[: FREE_PORTS.index("--sandbox")]


def run(*arguments, **variables):
    command = [str(SERVICE_PROGRAM), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=START_LIMIT, env=environment() | variables)


def names(program):
    """The commands in the help of a program."""
    return {part["commandName"]: part.get("shouldDisplay", True) for part in command_tree(program)["subcommands"]}


def contains(program, name):
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(name) >= 0


def test_the_two_programs_differ_in_the_sandbox_only():
    service, both = names(SERVICE_PROGRAM), names(PROGRAM)
    assert set(service) == set(both) and both["sandbox"] and not service["sandbox"]
    assert "entitled-sandbox" not in run("--help").stdout


@pytest.mark.parametrize(
    "program, words", [("entitled", ["entitled", "sandbox"]), ("entitled-sandbox", ["entitled-sandbox"])])
def test_the_examples_of_the_sandbox_name_the_program_that_runs(program, words):
    path = PROGRAM.with_name(program)
    if not path.exists():
        pytest.skip("the program is not built (tools/build --product entitled-sandbox)")
    shown = subprocess.check_output([path, *words[1:], "advance", "--help"], text=True, env=environment())
    assert f"Example: {' '.join(words)} advance 35d\n" in shown


def test_the_program_without_the_sandbox_has_no_code_of_it():
    for name in (b"AppStoreSimulator", b"SandboxWorlds"):
        assert contains(PROGRAM, name) and not contains(SERVICE_PROGRAM, name)


def test_the_program_depends_on_no_module_of_the_sandbox_but_its_client():
    manifest = json.loads(subprocess.check_output(["swift", "package", "dump-package"], cwd=ROOT))
    targets = {
        target["name"]: {name for part in target["dependencies"] for name in [(part.get("byName") or ["", None])[0]] if name}
        for target in manifest["targets"]
    }
    reached, new = set(), {"entitled-service"}
    while new:
        reached |= new
        new = {name for target in new for name in targets.get(target, ())} - reached
    assert {name for name in reached if name.startswith("Sandbox")} == {"SandboxClient", "SandboxPaths"}


@pytest.mark.parametrize("arguments", [["buy", "pro.monthly", "--json"], []])
def test_a_command_of_the_sandbox_names_its_program(arguments):
    done = run("sandbox", *arguments)
    assert done.returncode == 64 and not done.stdout
    command = " ".join(["entitled-sandbox", *arguments])
    assert done.stderr == f"entitled: this program has no sandbox; use the program entitled-sandbox: {command}\n"


def test_serve_refuses_the_address_of_a_sandbox(tmp_path):
    for options, variables in ((["--sandbox", "127.0.0.1:0"], {}), ([], {"ENTITLED_SANDBOX": "127.0.0.1:0"})):
        done = run("serve", *WITHOUT_SANDBOX, "--data", tmp_path / "data", *options, **variables)
        assert done.returncode == 64 and "run the program entitled-sandbox" in done.stderr
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("options", [[], ["--sandbox", "off"]])
def test_the_program_serves_without_a_sandbox(options, tmp_path):
    command = [SERVICE_PROGRAM, "serve", *WITHOUT_SANDBOX, "--data", tmp_path / "data", *options]
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True, env=environment())
    try:
        ready = READY.match(process.stdout.readline())
        assert ready and ready[3] == "off"
        assert run("health", "--grpc", ready[1]).returncode == 0
        process.terminate()
        assert process.wait(STOP_LIMIT) == 0
    finally:
        process.kill()
        process.wait()
