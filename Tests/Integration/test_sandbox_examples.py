"""The backends of clients/examples that verify Apple's documents themselves, tested with the sandbox's helpers."""

from harness import ROOT
from sandbox_clients import pytest as run_pytest
from sandbox_clients import variables
from test_clients import SWIFT, require
from test_sandbox_js import node_test

EXAMPLES = ROOT / "clients" / "examples"


def test_the_backend_with_django_passes_its_tests_in_parallel():
    assert " passed" in run_pytest("-q", "-n", "2", folder=EXAMPLES / "django")


def test_the_backend_with_node_passes_its_tests_in_parallel():
    node_test(EXAMPLES / "node")


def test_the_backend_with_hummingbird_passes_its_tests_in_parallel():
    require(SWIFT / "shop")
    output = run_pytest("-q", "-n", "2", folder=EXAMPLES / "hummingbird-shop", env=variables(SHOP=str(SWIFT / "shop")))
    assert " passed" in output
