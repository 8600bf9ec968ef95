"""The pytest plugin `entitled-sandbox` as its users get it: the wheel in a new virtual environment, with Apple's library."""

import json
import os
import sys
import urllib.request
import zipfile

import pytest

from harness import CALL_LIMIT, environment
from sandbox_clients import PLUGIN, build_wheel, in_path, run, sandbox_program, variables
from sandbox_clients import pytest as run_pytest
from test_sandbox_worlds import STOREKIT, Sandbox

PASSING = "def test_it(app_store):\n    app_store.buy('pro.monthly')\n"
FAILING = PASSING + "    assert False\n"


def test_the_wheel_has_its_types_and_registers_the_plugin(tmp_path):
    with zipfile.ZipFile(build_wheel(tmp_path)) as archive:
        names = set(archive.namelist())
        information = {name.rsplit("/")[-1]: archive.read(name).decode() for name in names if "dist-info/" in name}
    assert {"entitled_sandbox/py.typed", "entitled_sandbox/plugin.py", "entitled_sandbox/store.py"} <= names
    assert not [name for name in names if not name.startswith(("entitled_sandbox/", "entitled_sandbox-"))]
    assert "entitled_sandbox = entitled_sandbox.plugin" in information["entry_points.txt"]
    assert "Provides-Extra: apple" in information["METADATA"]


def test_the_plugin_passes_strict_type_checks(tmp_path):
    run(sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir", tmp_path,
        "--explicit-package-bases", PLUGIN / "src" / "entitled_sandbox", env=variables(MYPYPATH=str(PLUGIN / "src")))  # fmt: skip


def test_the_tests_of_the_plugin_pass_in_parallel():
    output = run_pytest("-q", "-n", "2", "tests", folder=PLUGIN)
    assert " passed" in output and "skipped" not in output, output


@pytest.fixture
def sandbox():
    program = sandbox_program()
    command = ("serve",) if "sandbox" in program.name else ("sandbox", "serve")
    sandbox = Sandbox("--tls", "127.0.0.1:0", program=program, command=command)
    yield sandbox
    sandbox.stop()


def test_a_running_sandbox_serves_the_tests_and_keeps_nothing_of_them(sandbox):
    url = {"ENTITLED_SANDBOX_URL": sandbox.url(""), "ENTITLED_SANDBOX_TLS_URL": f"https://{sandbox.ready['tls']}"}
    output = run_pytest("-q", "-n", "2", "tests", folder=PLUGIN, env=environment() | url)
    assert " passed" in output and "skipped" not in output, output
    assert sandbox.get("worlds") == {"worlds": []}


def test_a_failed_test_reports_its_notifications_and_can_keep_its_world(sandbox, tmp_path):
    (tmp_path / "test_it.py").write_text(FAILING)
    option = f"--sandbox-url={sandbox.url('')}"
    output = run_pytest("-q", option, folder=tmp_path, status=1)
    assert f"App Store {sandbox.url('')}/w/test_it-" in output and "SUBSCRIBED/INITIAL_BUY: not sent" in output
    assert sandbox.get("worlds") == {"worlds": []}
    run_pytest("-q", option, "--keep-worlds", folder=tmp_path, status=1)
    (kept,) = sandbox.get("worlds")["worlds"]
    with urllib.request.urlopen(sandbox.url("/apps/ocean-journal/accounts", kept["world"]), timeout=CALL_LIMIT) as page:
        assert "customer" in page.read().decode()


def test_worlds_sell_the_products_of_a_storekit_file(tmp_path):
    (tmp_path / "Products.storekit").write_text(json.dumps(STOREKIT))
    ini = "[pytest]\napp_store_storekit = Products.storekit\n"
    (tmp_path / "test_it.py").write_text(
        "def test_it(app_store):\n    assert app_store.bundle_id == 'com.example.shop'\n    app_store.buy('coins')\n"
        "    app_store.copy().remove()\n")
    (tmp_path / "pytest.ini").write_text(ini)
    assert "app_store_bundle_id" in run_pytest("-q", folder=tmp_path, status=1)
    (tmp_path / "pytest.ini").write_text(ini + "app_store_bundle_id = com.example.shop\n")
    assert "1 passed" in run_pytest("-q", folder=tmp_path)


def test_the_plugin_sells_the_products_of_a_configuration(tmp_path):
    (tmp_path / "shop.yaml").write_text(
        "apps: {shop: {bundle_id: com.example.shop, environments: [Sandbox], products: {\n"
        "  tea: {type: Consumable, entitlements: [], price: 1, currency: USD}}}}\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\napp_store_config = shop.yaml\n")
    (tmp_path / "test_it.py").write_text("def test_it(app_store):\n    assert app_store.buy('tea').status is None\n")
    assert "1 passed" in run_pytest("-q", folder=tmp_path)


def test_the_program_is_found_in_the_path_and_its_absence_is_explained(tmp_path):
    (tmp_path / "test_it.py").write_text(PASSING)
    user = {name: value for name, value in variables().items() if name != "ENTITLED_SANDBOX_PROGRAM"}
    assert "1 passed" in run_pytest("-q", folder=tmp_path, env=user | {"PATH": in_path(sandbox_program())})
    output = run_pytest("-q", folder=tmp_path, env=user | {"ENTITLED_SANDBOX_PROGRAM": "absent"}, status=4)
    assert "absent is not in PATH" in output and "ENTITLED_SANDBOX_URL" in output
    (tmp_path / "entitled-sandbox").write_text("#!/bin/sh\necho 'no port is free' >&2\nexit 1\n")
    (tmp_path / "entitled-sandbox").chmod(0o755)
    broken = user | {"ENTITLED_SANDBOX_PROGRAM": str(tmp_path / "entitled-sandbox")}
    assert "did not start: no port is free" in run_pytest("-q", folder=tmp_path, env=broken, status=4)


def test_the_sandbox_of_the_plugin_ends_with_the_tests(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import pathlib\n\ndef test_it(app_store_sandbox):\n"
        "    pathlib.Path('pid').write_text(str(app_store_sandbox._process.pid))\n")
    run_pytest("-q", folder=tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
