"""The GitHub Action of the sandbox: checked by linters, and its shell steps executed as a runner does."""

import contextlib
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import urllib.request

import check_jsonschema
import pytest
import yaml

from harness import CALL_LIMIT, ROOT, START_LIMIT
from sandbox_clients import in_path, sandbox_program
from test_sandbox_worlds import STOREKIT

FOLDER = ROOT / ".github" / "actions" / "sandbox"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text())
EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")
# What a step finds when it runs with an image: `docker run` with the options that follow, as the process of the image.
DOCKER = """#!/usr/bin/env python3
import os, sys
words = iter(sys.argv[2:])
for word in words:
    if word == "--env":
        name, value = next(words).split("=", 1)
        os.environ[name] = value
    elif word in ("--network", "--volume"):
        print(word, next(words), file=sys.stderr)
    elif not word.startswith("--"):
        break
assert sys.argv[1] == "run" and word == "registry.test/entitled-sandbox:1", sys.argv
os.execv(os.environ["SANDBOX"], [os.environ["SANDBOX"], *words])
"""


def test_the_action_matches_the_schema_of_actions():
    assert not check_jsonschema.main(
        ["--builtin-schema", "vendor.github-actions", str(FOLDER / "action.yml")], standalone_mode=False)


def test_linters_accept_the_action_and_its_script():
    tools = pathlib.Path(sys.executable).parent
    for command in ([tools / "zizmor", "--offline", "--persona", "pedantic", FOLDER], ["shellcheck", FOLDER / "start"]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=START_LIMIT)
        assert done.returncode == 0, done.stdout + done.stderr


def pairs(path):
    """The lines NAME=VALUE that a step wrote."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


class Runner:
    """Runs the steps of the action, as the runner of a job does."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {"GITHUB_OUTPUT": folder / "output", "GITHUB_ENV": folder / "env"}

    def run(self, status=0, more=None, **inputs):
        """Runs the action with inputs (`tls_port` is `tls-port`); returns its output, and its outputs by name."""
        values = {f"inputs.{name}": one["default"] for name, one in ACTION["inputs"].items()}
        values |= {f"inputs.{name.replace('_', '-')}": str(value) for name, value in inputs.items()}
        assert len(values) == len(ACTION["inputs"])
        for step in ACTION["runs"]["steps"]:
            assert step["shell"] == "bash"
            for path in self.files.values():
                path.write_text("")
            script = self.folder / "step.sh"
            script.write_text(EXPRESSION.sub(lambda found: values[found[1]], step["run"]))
            env = {name: EXPRESSION.sub(lambda found: values[found[1]], text) for name, text in step["env"].items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.folder, text=True, timeout=2 * START_LIMIT,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={"PATH": os.environ["PATH"], "RUNNER_TEMP": str(self.folder), "GITHUB_ACTION_PATH": str(FOLDER),
                     **{name: str(path) for name, path in self.files.items()}, **env, **(more or {})})  # fmt: skip
            assert done.returncode == status, done.stdout
            written = pairs(self.files["GITHUB_OUTPUT"])
            values |= {f"steps.{step['id']}.outputs.{name}": value for name, value in written.items()}
        outputs = ACTION["outputs"].items()
        return done.stdout, {n: EXPRESSION.sub(lambda found: values.get(found[1], ""), o["value"]) for n, o in outputs}

    def close(self):
        """Ends the processes that the steps left, as the runner does at the end of a job."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                # The log of the sandbox is its standard output.
                if os.readlink(entry / "fd" / "1").startswith(str(self.folder)):
                    os.kill(int(entry.name), signal.SIGTERM)


@pytest.fixture
def runner(tmp_path):
    runner = Runner(tmp_path)
    yield runner
    runner.close()


def get(url, **options):
    with urllib.request.urlopen(url, timeout=CALL_LIMIT, **options) as answer:
        return json.load(answer)


def test_the_sandbox_of_the_action_serves_later_steps(runner):
    output, outputs = runner.run(program=sandbox_program())
    assert f"The App Store sandbox is at {outputs['url']}" in output and all(outputs.values())
    assert pairs(runner.files["GITHUB_ENV"]) == {
        "ENTITLED_SANDBOX_URL": outputs["url"], "ENTITLED_SANDBOX_TLS_URL": outputs["tls-url"]}
    assert get(f"{outputs['url']}/sandbox/v1/worlds") == {"worlds": []}
    context = ssl.create_default_context(cafile=outputs["tls-root"])
    assert get(f"{outputs['tls-url']}/sandbox/v1/apps", context=context)["apps"]
    pem = pathlib.Path(outputs["root"]).read_text()
    assert ssl.PEM_cert_to_DER_cert(pem) == pathlib.Path(outputs["root-der"]).read_bytes()


def test_the_program_of_the_path_sells_the_products_of_a_storekit_file(runner, tmp_path):
    (tmp_path / "Products.storekit").write_text(json.dumps(STOREKIT))
    _, outputs = runner.run(
        program=sandbox_program().name, storekit="Products.storekit", bundle_id="com.example.shop",
        more={"PATH": in_path(sandbox_program())})  # fmt: skip
    assert [app["bundleId"] for app in get(f"{outputs['url']}/sandbox/v1/apps")["apps"]] == ["com.example.shop"]


def test_docker_runs_an_image_with_the_network_of_the_host(runner, tmp_path):
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    (tmp_path / "shop.yaml").write_text("apps: {}\n")
    program = sandbox_program()
    if "sandbox" not in program.name:
        pytest.skip("entitled-sandbox is not built")
    _, outputs = runner.run(image="registry.test/entitled-sandbox:1", more={
        "PATH": in_path(docker), "SANDBOX": str(program)})  # fmt: skip
    assert get(f"{outputs['url']}/sandbox/v1/apps")["apps"]
    assert "--network host" in pathlib.Path(outputs["log"]).read_text()
    runner.close()
    output, _ = runner.run(image="registry.test/entitled-sandbox:1", config="shop.yaml", status=1, more={
        "PATH": in_path(docker), "SANDBOX": str(program)})  # fmt: skip
    assert "/etc/entitled.yaml" in output, "the file exists only in the image"


@pytest.mark.parametrize("inputs, message", [
    ({"program": "absent"}, "'absent' does not exist"), ({"program": "false"}, "it did not start"),
    ({"port": "80; exit"}, "a port is a number"), ({"config": "absent.yaml"}, "absent.yaml")])
def test_an_error_is_an_annotation_of_the_job(runner, inputs, message):
    output, outputs = runner.run(**{"program": sandbox_program(), **inputs}, status=1)
    assert re.search(rf"^::error title=App Store sandbox::.*{re.escape(message)}", output, re.MULTILINE), output
    assert not any(outputs.values())
