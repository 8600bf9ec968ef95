"""The image of the sandbox, built without a registry and without a container engine; it runs as Containerfile.sandbox specifies."""

import json
import os
import shutil
import subprocess

import pytest

from harness import IS_LONG, ROOT, STOP_LIMIT
from sandbox_clients import run, sandbox_program

pytestmark = [
    pytest.mark.skipif(not IS_LONG, reason="part of `make test-long`: minutes of unpacking"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make the image's file system"),
    pytest.mark.skipif(not (shutil.which("buildah") and shutil.which("mmdebstrap")), reason="needs buildah and mmdebstrap")]  # fmt: skip
BUILD = ROOT / "deploy" / "container" / "build-sandbox"


def test_the_image_is_built_and_its_program_serves(tmp_path):
    program = sandbox_program()
    if "sandbox" not in program.name:
        pytest.skip("entitled-sandbox is not built")
    archive = tmp_path / "sandbox.tar"
    run(BUILD, archive, env={**os.environ, "ENTITLED_PROGRAM": str(program)}, timeout=1200)
    tool = ["buildah", "--storage-driver", "vfs", "--root", tmp_path / "storage", "--runroot", tmp_path / "run"]
    name = run(*tool, "from", "--quiet", f"docker-archive:{archive}").strip()
    settings = json.loads(run(*tool, "inspect", name))["Docker"]["config"]
    assert settings["User"] == "10001:10001" and settings["Entrypoint"] == ["entitled-sandbox"]
    assert settings["Cmd"] == ["serve", "--in-memory"] and settings["Healthcheck"]["Test"][0] == "CMD"
    assert set(settings["ExposedPorts"]) == {"8090/tcp", "8443/tcp"}
    isolated = [*tool, "run", "--isolation", "chroot"]
    local = ["--env", "ENTITLED_SANDBOX=127.0.0.1:0", "--env", "ENTITLED_TLS_ADDRESS=127.0.0.1:0", name, "--"]
    command = [str(part) for part in [*isolated, *local, *settings["Entrypoint"], *settings["Cmd"]]]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = dict(part.split("=", 1) for part in server.stdout.readline().split()[1:])["sandbox"]
        health = [part.replace("127.0.0.1:8090", address) for part in settings["Healthcheck"]["Test"][1:]]
        run(*isolated, name, "--", *health)
        assert "uid=10001" in run(*isolated, name, "--", "id")
    finally:
        server.terminate()
        server.wait(STOP_LIMIT)
        server.stdout.close()
