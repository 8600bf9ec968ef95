"""The Node helper `entitled-sandbox`: its tests with node:test, its types, and what its package has."""

import json
import re
import shutil
import signal
import subprocess
import urllib.error
import urllib.request

import pytest

from harness import CALL_LIMIT, ROOT, wait_for
from sandbox_clients import in_path, run, sandbox_program, variables
from test_sandbox_worlds import Sandbox

JS = ROOT / "clients" / "js-sandbox"
PROGRAM = "import { sandbox } from 'entitled-sandbox'; console.log((await sandbox()).url);"


def node_test(folder, **options):
    """Runs node:test in a folder; none of its tests may fail or be skipped."""
    output = run("node", "--test", cwd=folder, **options)
    assert re.search(r"^# fail 0$", output, re.MULTILINE) and re.search(r"^# skipped 0$", output, re.MULTILINE), output
    assert int(re.search(r"^# pass (\d+)$", output, re.MULTILINE)[1]) >= 5, output


def test_the_tests_of_the_helper_pass():
    node_test(JS)


def test_a_running_sandbox_serves_the_helper_and_keeps_nothing_of_its_tests():
    program = sandbox_program()
    command = ("serve",) if "sandbox" in program.name else ("sandbox", "serve")
    sandbox = Sandbox("--tls", "127.0.0.1:0", program=program, command=command)
    try:
        url = {"ENTITLED_SANDBOX_URL": sandbox.url(""), "ENTITLED_SANDBOX_TLS_URL": f"https://{sandbox.ready['tls']}"}
        node_test(JS, env=variables(**url))
        assert sandbox.get("worlds") == {"worlds": []}
    finally:
        sandbox.stop()


def test_the_types_of_the_helper_are_strict(tmp_path):
    options = {
        "strict": True, "noEmit": True, "exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True,
        "target": "es2022", "module": "node16", "lib": ["es2022", "dom"], "types": []}  # fmt: skip
    configuration = tmp_path / "tsconfig.json"
    configuration.write_text(json.dumps({"compilerOptions": options, "files": [str(JS / "test" / "types.ts")]}))
    run("tsc", "--project", configuration)


def test_the_types_name_every_method_of_an_app_store():
    declared = (JS / "sandbox.d.ts").read_text()
    for name in re.findall(r"^  (?:async )?(\w+)\(.*\) \{$", (JS / "app-store.js").read_text(), re.MULTILINE):
        assert name == "constructor" or f"  {name}(" in declared, name


def test_the_package_works_when_installed(tmp_path):
    package = json.loads((JS / "package.json").read_text())
    needed = {path[2:] for path in package["exports"]["."].values()}
    for file in package["files"]:
        needed |= {f"{module}.js" for module in re.findall(r'from "\./([\w-]+)\.js"', (JS / file).read_text())}
    assert needed == set(package["files"]) and "dependencies" not in package
    module = tmp_path / "node_modules" / "entitled-sandbox"
    module.mkdir(parents=True)
    for file in [*package["files"], "package.json"]:
        shutil.copy(JS / file, module)
    assert run("node", "--input-type=module", "-e", PROGRAM, cwd=tmp_path).startswith("http://127.0.0.1:")


@pytest.mark.parametrize("program, message", [
    ("absent", "absent is not in PATH"), ("false", "false did not start"), (None, None)])
def test_the_program_is_found_in_the_path_and_its_absence_is_explained(program, message):
    user = {name: value for name, value in variables().items() if name != "ENTITLED_SANDBOX_PROGRAM"}
    user = user | ({"ENTITLED_SANDBOX_PROGRAM": program} if program else {"PATH": in_path(sandbox_program())})
    output = run("node", "--input-type=module", "-e", PROGRAM, cwd=JS, env=user, status=1 if message else 0)
    assert (message or "http://127.0.0.1:") in output


def test_the_sandbox_ends_with_a_process_that_a_signal_ends():
    waiting = PROGRAM + "setInterval(() => {}, 1000);"
    process = subprocess.Popen(
        ["node", "--input-type=module", "-e", waiting], cwd=JS, env=variables(), stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    assert urllib.request.urlopen(f"{url}/sandbox/v1/clock").status == 200
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=CALL_LIMIT) == -signal.SIGTERM

    def is_gone():
        try:
            return urllib.request.urlopen(f"{url}/sandbox/v1/clock") is None
        except urllib.error.URLError:
            return True

    wait_for(is_gone)
