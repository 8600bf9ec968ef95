"""docs/sandbox-tests.md: its commands run as shown, in an empty folder, and print what the page shows."""

import os
import re
import shlex
import shutil
import subprocess

import check_jsonschema
import pytest
import yaml

from document_runner import DocumentRunner, blocks
from harness import CALL_LIMIT, IS_LONG, PROGRAM, ROOT, environment, free_port
from sandbox_clients import PLUGIN, TIME_LIMIT, in_path, installed_plugin

PAGE = "docs/sandbox-tests.md"
TEXT = (ROOT / PAGE).read_text()


@pytest.fixture
def runner(tmp_path):
    runner = DocumentRunner(tmp_path)
    runner.limit = TIME_LIMIT
    runner.ports |= {port: str(free_port()) for port in ("8091", "8092", "8443")}
    # pip writes beside the sources of a package.
    (tmp_path / "clients").unlink()
    for name in (PLUGIN.name, "js-sandbox"):
        shutil.copytree(ROOT / "clients" / name, tmp_path / "clients" / name)
    yield runner
    runner.close()


def test_the_commands_of_the_page_print_what_it_shows(runner):
    if not PROGRAM.with_name("entitled-sandbox").exists():
        pytest.skip("entitled-sandbox is not built")
    for block in blocks(PAGE):
        if "python3 -m venv" in block.body and not IS_LONG:
            # A minute on a busy machine: the environment of the other tests, which is made in the same way.
            (runner.folder / "tests").symlink_to(installed_plugin().parent)
        # Java is not needed for anything else.
        elif "keytool" not in block.body or shutil.which("keytool"):
            runner.run_block(block)


def test_the_page_has_one_block_of_commands_that_another_test_runs():
    assert len([block for block in blocks(PAGE) if block.language in {"sh", "bash", "shell"} and not block.file]) == 1


def test_the_workflow_matches_its_schema_and_names_inputs_of_the_action(tmp_path):
    (text,) = [block.body for block in blocks(PAGE) if block.file == ".github/workflows/test.yml"]
    path = tmp_path / "test.yml"
    path.write_text(text)
    assert not check_jsonschema.main(["--builtin-schema", "vendor.github-workflows", str(path)], standalone_mode=False)
    action = yaml.safe_load((ROOT / ".github/actions/sandbox/action.yml").read_text())
    (step,) = [one for one in yaml.safe_load(text)["jobs"]["test"]["steps"] if "actions/sandbox" in one.get("uses", "")]
    assert set(step["with"]) <= set(action["inputs"])
    assert set(re.findall(r"outputs\.([\w-]+)", text)) <= set(action["outputs"])
    section = TEXT[TEXT.index("## GitHub Actions") : TEXT.index("## Programs and image")]
    for name in [*action["inputs"], *action["outputs"]]:
        assert f"`{name}`" in section, name


def test_every_fixture_method_and_setting_of_the_plugin_is_on_the_page():
    source = PLUGIN / "src" / "entitled_sandbox"
    plugin = (source / "plugin.py").read_text()
    names = set(re.findall(r'addini\("(\w+)"', plugin)) | {"app_store", "new_app_store", "app_store_sandbox"}
    for file in ("store.py", "apple.py"):
        text = (source / file).read_text()
        names |= set(re.findall(r"^    def ([a-z]\w*)\(self", text[text.index("class AppStore") if file == "store.py" else 0 :], re.MULTILINE))
    for name in names - {"path", "remove", "deliver"}:
        assert re.search(rf"\b{name}\b", TEXT), name


CLIENT = """
import sys
from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from entitled_sandbox import Sandbox
from entitled_sandbox.apple import _new_key
bought = Sandbox.connect(sys.argv[1]).default.buy("lifetime")
client = AppStoreServerAPIClient(_new_key(), "KEY", "issuer", "com.example.oceanjournal", Environment.SANDBOX)
assert client.get_transaction_info(bought.transaction_id).signedTransactionInfo.startswith("eyJ")
print("found", bought.product_id)
"""


def test_a_client_without_a_setting_for_the_url_reaches_the_sandbox(tmp_path):
    """Runs in private namespaces, so that port 443 and /etc/hosts of the machine do not change."""
    if os.geteuid() != 0:
        pytest.skip("only root can make namespaces")
    (commands,) = [block.body for block in blocks(PAGE) if block.language == "sh"]
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n")
    python = shlex.quote(str(installed_plugin() / "python"))
    script = f"""
set -e
mount --make-rprivate /
mount --bind hosts /etc/hosts
ip link set lo up
{commands}
until [ -s tls-root.pem ] && curl -s --cacert tls-root.pem https://api.storekit-sandbox.apple.com/sandbox/v1/clock; do
  sleep 0.1
done
{python} client.py http://127.0.0.1:8090
"""
    (tmp_path / "client.py").write_text(CLIENT)
    (tmp_path / "entitled").symlink_to(PROGRAM)
    # libdispatch ends a process that does not find its threads in /proc.
    command = [
        "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", script,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=6 * CALL_LIMIT,
            env=environment() | {"PATH": in_path(tmp_path / "entitled")})  # fmt: skip
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"the client did not end: {(late.output or b'').decode()}")
    assert "found lifetime" in done.stdout, done.stdout
