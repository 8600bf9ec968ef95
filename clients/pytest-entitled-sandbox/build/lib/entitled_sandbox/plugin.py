"""The pytest plugin: a sandbox for each pytest process, and an App Store for each test."""

import json
import os
import pathlib
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from .calls import SandboxError
from .process import Sandbox
from .store import AppStore

_store = pytest.StashKey[list[AppStore]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("entitled-sandbox", "App Store simulator")
    group.addoption(
        "--sandbox-url", help="URL of a running sandbox (default: ENTITLED_SANDBOX_URL, or the plugin starts one).")
    group.addoption("--keep-worlds", action="store_true", help="Keep the App Stores of failed tests in a running sandbox.")
    parser.addini("app_store_program", "Path of entitled-sandbox or entitled (default: ENTITLED_SANDBOX_PROGRAM, or in PATH).")
    parser.addini("app_store_config", "YAML file with the apps and products that a sandbox of the plugin sells.", type="paths")
    parser.addini("app_store_storekit", "StoreKit configuration file whose products all App Stores sell.", type="paths")
    parser.addini("app_store_bundle_id", "Bundle id of the app of app_store_storekit.")


@pytest.fixture(scope="session")
def app_store_sandbox(pytestconfig: pytest.Config) -> Iterator[Sandbox]:
    """The running sandbox: the one of ENTITLED_SANDBOX_URL, or a process that ends with the tests."""
    url = pytestconfig.getoption("--sandbox-url") or os.environ.get("ENTITLED_SANDBOX_URL")
    if url:
        sandbox = Sandbox.connect(url, os.environ.get("ENTITLED_SANDBOX_TLS_URL"))
    else:
        program = pytestconfig.getini("app_store_program") or os.environ.get("ENTITLED_SANDBOX_PROGRAM")
        files = pytestconfig.getini("app_store_config")
        try:
            sandbox = Sandbox.start(program or None, *(["--config", str(files[0])] if files else []))
        except (FileNotFoundError, RuntimeError) as error:
            pytest.exit(f"entitled-sandbox: {error}", returncode=pytest.ExitCode.USAGE_ERROR)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def app_store_products(pytestconfig: pytest.Config) -> dict[str, Any]:
    """The members with which worlds are created: the products of `app_store_storekit`, if it is set."""
    files: list[pathlib.Path] = pytestconfig.getini("app_store_storekit")
    if not files:
        return {}
    bundle_id = pytestconfig.getini("app_store_bundle_id")
    if not bundle_id:
        raise pytest.UsageError("app_store_storekit needs app_store_bundle_id, because the file does not have it")
    return {"storekit": json.loads(files[0].read_text()), "bundleId": bundle_id}


@pytest.fixture
def new_app_store(
    request: pytest.FixtureRequest, app_store_sandbox: Sandbox, app_store_products: dict[str, Any]
) -> Iterator[Callable[..., AppStore]]:
    """Creates App Stores that are removed after the test, for example with `start="2026-01-01T00:00:00Z"`."""
    created: list[AppStore] = []
    request.node.stash[_store] = created

    def create(**members: Any) -> AppStore:
        products = {} if "from" in members else app_store_products
        created.append(app_store_sandbox.create(request.node.name, **products | members))
        return created[-1]

    yield create
    if not (request.config.getoption("--keep-worlds") and getattr(request.node, "_app_store_failed", False)):
        for store in created:
            store.remove()


@pytest.fixture
def app_store(new_app_store: Callable[..., AppStore]) -> AppStore:
    """An App Store of the test's own."""
    return new_app_store()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds what happened in its App Stores to the report of a failed test."""
    report = yield
    if report.when == "call" and report.failed:
        item._app_store_failed = True  # type: ignore[attr-defined]
        for store in item.stash.get(_store, []):
            report.sections.append((f"App Store {store.url}", _story(store)))
    return report


def _story(store: AppStore) -> str:
    """The notifications of an App Store with the results of their delivery."""
    try:
        lines = [f"{one.name}: {', '.join(one.attempts) or 'not sent'}" for one in store.notifications]
    except (OSError, SandboxError) as error:
        return f"unavailable: {error}"
    return "\n".join([f"simulated time {store.now:%Y-%m-%d %H:%M:%S} UTC", *lines])
