"""Shared fixtures: a running service, unique customer ids, third-party test data."""

import itertools
import os

import pytest

import contract
import harness
import reasons
import stores
from console_browser import ARGUMENTS, CHROMIUM, LAUNCH_TIMEOUT
from console_client import Browser
from console_story import Console, tell
from forge import Forger
from harness import PROGRAM, TESTDATA, Service
from postgres import PostgresServer

_numbers = itertools.count(1)
harness.error_checks.append(reasons.check_json)
harness.interceptors.append(reasons.Interceptor())


@pytest.fixture(autouse=True)
def reasons_are_listed():
    """The contract lists the reason of each error that the test has seen."""
    yield
    found, reasons.unlisted = reasons.unlisted, set()
    assert not found, f"the contract does not list these errors: {sorted(found)}"


# The modules with the longest tests, longest first.
SLOW = [
    "test_two_years", "test_conformance_kit", "test_console_matrix", "test_attack", "test_verify_receipt",
    "test_every_command", "test_sandbox_pages", "test_image", "test_reports", "test_console_browser", "test_crash",
    "test_openapi", "test_segments", "test_store_maintenance", "test_migration_job", "test_tutorials", "test_reconcile",
    "test_site", "test_replica_apple",
]  # fmt: skip
# Those whose tests share no service, so that several workers can run them.
DIVISIBLE = {"test_two_years", "test_verify_receipt"}


def slow_first(items):
    """The tests in another order: each worker begins with some of the slow modules, because one that began late would go
    on alone at the end. Workers get equal shares, and an idle one takes over tests of another (`--dist worksteal`)."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    slow = []
    for name in SLOW:
        module = [item for item in items if item.path.stem == name]
        slow += [[item] for item in module] if name in DIVISIBLE else [module]
    others = [item for item in items if item.path.stem not in SLOW]
    ordered = []
    for worker in range(workers):
        # The share that pytest-xdist gives this worker.
        share = (len(items) - len(ordered)) // (workers - worker)
        first = [item for tests in slow[worker::workers] for item in tests]
        count = max(0, share - len(first))
        ordered += first + others[:count]
        del others[:count]
    return ordered


def pytest_collection_modifyitems(items):
    items[:] = slow_first(items)
    for item in items if not stores.IS_SQLITE else ():
        if reason := stores.skipped(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_sessionstart():
    if not PROGRAM.exists():
        pytest.exit(f"{PROGRAM} does not exist; run `make build` first", returncode=2)


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """One service for all read-only tests; it must exit with status 0 and must not have logged a secret."""
    service = Service(tmp_path_factory.mktemp("shared"))
    yield service
    service.stop()
    assert "eyJ" not in service.log, "the log holds a part of a signed document"


@pytest.fixture
def start(tmp_path):
    """Starts services private to the test and stops at the end those that still run."""
    started = []

    def start(data=tmp_path / "data", arguments=()):
        started.append(Service(data, arguments))
        return started[-1]

    yield start
    for service in started:
        if service.process.poll() is None:
            service.stop()


@pytest.fixture(scope="session")
def channel(service):
    with service.channel() as channel:
        yield channel


@pytest.fixture(scope="session")
def entitlements(channel):
    return contract.entitlement_stub(channel)


@pytest.fixture(scope="session")
def receipts(channel):
    return contract.receipt_stub(channel)


@pytest.fixture
def customer():
    """A customer id that no other test uses."""
    return f"customer-{next(_numbers)}"


@pytest.fixture(scope="session")
def forger(service):
    return Forger(service)


@pytest.fixture(scope="session")
def postgres():
    """One PostgreSQL server for all tests that leave it running, without durability; each makes its own database."""
    server = PostgresServer("--fsync", "off")
    yield server
    server.close()


@pytest.fixture(scope="module")
def chromium():
    """A browser; skips with a message if it is missing."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no chromium; run `tools/bootstrap --test`")
    with playwright.sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=LAUNCH_TIMEOUT)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """A console with the story of a customer; `ids` has its purchases. Modules with another console define their own."""
    console = Console(tmp_path_factory.mktemp("console"))
    console.ids = tell(console)
    yield console
    console.service.stop()


@pytest.fixture(scope="module")
def lena(console):
    """An operator who has signed in to the console of the module."""
    browser = Browser(console.address)
    assert browser.sign_in(console.new_link()).status == 303
    return browser


@pytest.fixture
def testdata():
    """The folder of third-party test data; skips with a message if it is missing."""
    if not TESTDATA.exists():
        pytest.skip(f"no third-party test data at {TESTDATA}; set ENTITLED_TESTDATA")
    return TESTDATA
