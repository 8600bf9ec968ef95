"""The commands of the tutorials and of README.md run as shown, from an empty folder, and print what the pages show."""

import re
import subprocess
import uuid

import pytest

import stores
from document_runner import DocumentRunner, blocks
from harness import ROOT, SANITIZED, free_port

PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "tutorials").glob("*.md"))
REPLICAS = "docs/tutorials/replicas.md"


@pytest.fixture
def runner(tmp_path):
    runner = DocumentRunner(tmp_path)
    yield runner
    runner.close()


def assert_leaves_only_ignored_files(runner):
    """Whether the files that a page writes would be untracked in a checkout, in which its reader runs it."""
    written = runner.written()
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=ROOT, input="\0".join(written), text=True,
        stdout=subprocess.PIPE)  # fmt: skip
    assert done.returncode in (0, 1), "git cannot tell which files are ignored"
    assert not sorted(set(written) - set(done.stdout.split("\0")))


# Guides that prepare everything themselves, as tutorials do, and the heading from which on they do.
COMPLETE = {
    "docs/device-check.md": None, "docs/doctor.md": "Against the sandbox", "docs/import.md": "Side by side",
    "docs/reconciliation.md": "Try it", "docs/rehearsal.md": None, "docs/transport.md": "TLS", "docs/troubleshooting.md": None,
    "docs/webhooks.md": None}  # fmt: skip
# The heading at which the commands of such a guide end.
ENDS = {"docs/transport.md": "Limits"}


@pytest.mark.parametrize("page", ["README.md", *(page for page in PAGES if page != REPLICAS), *COMPLETE])
def test_the_commands_of_a_tutorial_print_what_it_shows(runner, page):
    if SANITIZED and page == "docs/tutorials/production-notifications.md":
        pytest.skip("the sandbox's clock is two seconds ahead, in which its refund must be shown")
    runner.run(page, since=COMPLETE.get(page), until=ENDS.get(page))
    assert_leaves_only_ignored_files(runner)


# Guides that begin with the service of `make run`, and where their commands with that preparation end.
GUIDES = {
    "docs/commands.md": None, "docs/console.md": None, "docs/events.md": None, "docs/fulfillment.md": None,
    "docs/identity.md": None, "docs/inspect.md": None,
    "docs/migration.md": "A job", "docs/minors.md": None,
    "docs/notifications.md": "Forged posts", "docs/openfeature.md": None, "docs/other-stores.md": None,
    "docs/retention.md": None,
    "docs/sandbox.md": "Pages", "docs/segments.md": None, "docs/upgrade.md": "One process",
    "docs/warehouse.md": None}  # fmt: skip
# Sections, with the heading after each, that need no more than that preparation, or start another service.
SECTIONS = [
    ("docs/sandbox.md", "State", "Actions"), ("docs/sandbox.md", "Commitments", "Families and seats"),
    ("docs/sandbox.md", "Families and seats", "Scenarios"), ("docs/sandbox.md", "Many customers", "Interfaces"),
    ("docs/sandbox.md", "Notifications", "Faults"), ("docs/migration.md", "An old backend: change the URL", None),
    ("docs/notifications.md", "Consumption requests", "Reprocessing rejected and unsupported notifications"),
]  # fmt: skip
# Pages with calls whose responses they describe in words.
CALLS = ("docs/catalog.md", "docs/customers.md", "docs/erasure.md", "docs/idempotency.md")


@pytest.mark.parametrize("page", GUIDES)
def test_the_commands_of_a_guide_print_what_it_shows(runner, page):
    runner.execute("make run", ["...", "ready …", "..."])
    runner.run(page, until=GUIDES[page])
    assert_leaves_only_ignored_files(runner)


@pytest.mark.parametrize(("page", "since", "until"), SECTIONS)
def test_the_commands_of_a_section_print_what_it_shows(runner, page, since, until):
    if not any("$ entitled serve " in block.body for block in blocks(page, since, until)):
        runner.execute("make run", ["...", "ready …", "..."])
    runner.run(page, since, until)
    assert_leaves_only_ignored_files(runner)


def test_the_commands_of_the_tutorial_about_replicas_print_what_it_shows(runner, postgres):
    """With a separate role and database in the server of the tests."""
    name = f"tutorial_{uuid.uuid4().hex}"
    server = f"--host {postgres.socket} --port {postgres.port} --username {postgres.user} --dbname postgres"
    sudo = runner.folder / ".programs" / "sudo"
    sudo.write_text(f'#!/bin/sh\n# -u postgres psql\nshift 3\nexec psql --no-psqlrc --set ON_ERROR_STOP=1 {server} "$@"\n')
    sudo.chmod(0o755)
    runner.ports |= {port: str(free_port()) for port in ("50052", "50053", "8081", "8082")}
    runner.folders = {
        "ROLE entitled": f"ROLE {name}", "DATABASE entitled OWNER entitled": f"DATABASE {name} OWNER {name}",
        "database: entitled": f"database: {name}", "user: entitled": f"user: {name}",
        "127.0.0.1:5432": f"127.0.0.1:{postgres.port}"}  # fmt: skip
    try:
        runner.run(REPLICAS)
        assert_leaves_only_ignored_files(runner)
    finally:
        runner.close()
        postgres.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        postgres.sql(f"DROP ROLE IF EXISTS {name}")


@pytest.mark.skipif(not stores.IS_SQLITE, reason="the page shows a store in the data directory")
def test_the_commands_of_deploy_readme_about_a_running_service_print_what_it_shows(runner):
    """On a store with one purchase."""
    (runner.folder / "backup").mkdir()
    runner.folders = {"/var/lib/entitled": "data", "/backup/": "backup/"}
    runner.execute("make run", ["...", "ready …", "..."])
    runner.execute("entitled sandbox buy pro.monthly > purchase.jws", [])
    runner.execute("entitled submit alice @purchase.jws", [])
    for since, until in (("Health and alerts", "Keys"), ("Data directory", "Limitations")):
        runner.run("deploy/README.md", since=since, until=until)


@pytest.mark.skipif(not stores.IS_SQLITE, reason="the page moves a store of SQLite")
def test_the_commands_that_move_a_store_print_what_postgresql_operation_md_shows(runner, postgres):
    systemctl = runner.folder / ".programs" / "systemctl"
    systemctl.write_text("#!/bin/sh\n")
    systemctl.chmod(0o755)
    runner.execute("make run", ["...", "ready …", "..."])
    runner.execute("entitled sandbox buy pro.monthly > purchase.jws", [])
    runner.execute("entitled submit alice @purchase.jws", [])
    runner.close()
    with postgres.database() as database:
        shown = "postgres://entitled@db1/entitled?password_file=/run/secrets/db-password"
        runner.folders = {shown: postgres.address(database), "/var/lib/entitled": "data"}
        runner.run("docs/postgresql-operation.md", "Moving between SQLite and PostgreSQL", "Upgrades without a gap")
        assert postgres.sql("SELECT count(*) FROM customer", database) == "1"


def test_the_configuration_of_the_debian_package_is_checked_as_install_md_shows(runner):
    runner.folders = {"/usr/share/doc/entitled/examples/": "deploy/", "/etc/entitled/": "etc/"}
    shown = [block.body for block in blocks("docs/install.md", "Debian package", "Image") if block.language == "sh"]
    steps = [line for body in shown for line in body.splitlines() if not line.startswith(("apt-get", "systemctl"))]
    assert len(steps) == 3, steps
    for step in steps[:-1]:
        runner.execute(step, [])
    (runner.folder / "etc" / "secrets.env").write_text("OCEAN_JOURNAL_SHARED_SECRET=not-a-real-one\n")
    runner.execute(steps[-1], [])


def test_the_calls_of_pages_with_the_service_of_make_run_succeed(runner):
    runner.execute("make run", ["...", "ready …", "..."])
    for customer in ("alice", "ana"):
        runner.execute(f"entitled grants create {customer} pro", ["..."])
    for page in CALLS:
        calls = [block.body for block in blocks(page) if block.language == "sh"]
        assert calls, page
        for call in calls:
            runner.execute(call.replace("curl -s", "curl -sf"), [])


@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_has_no_commands_that_the_test_does_not_run(page):
    assert not [block.body for block in blocks(page) if block.language in {"sh", "bash", "shell"} and not block.file]


def test_the_readme_has_at_most_150_lines_and_its_targets_exist():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", text)) <= targets
