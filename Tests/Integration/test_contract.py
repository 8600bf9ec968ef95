"""The contract of the clients: buf finds changes that break them, and every method declares what it does."""

import shutil
import subprocess

import contract
import pytest
from google.protobuf.descriptor_pb2 import MethodOptions
from harness import CALL_LIMIT, ROOT

CHECK = [ROOT / "tools" / "check-contract"]


def run(*arguments, cwd=ROOT):
    command = [str(part) for part in (*CHECK, *arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=CALL_LIMIT, cwd=cwd)


def test_the_contract_follows_the_rules_and_is_compatible_with_itself(tmp_path):
    baseline = tmp_path / "baseline.binpb"
    subprocess.run([ROOT / ".venv/bin/buf", "build", "--output", baseline], check=True, cwd=ROOT, timeout=CALL_LIMIT)
    done = run("--against", baseline)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "before, after",
    [
        ("  bool entitled = 2;", "  bool entitled = 62;"),
        ("  string product_id = 12;", "  string product = 12;"),
        ("  ACCESS_LEVEL_LIMITED = 2;", "  ACCESS_LEVEL_PARTIAL = 2;"),
    ],
)
def test_a_change_that_breaks_clients_is_found(tmp_path, before, after):
    other = tmp_path / "other"
    shutil.copytree(ROOT / "proto", other / "proto")
    shutil.copy(ROOT / "buf.yaml", other)
    file = other / "proto/entitled/v1/entitlement.proto"
    text = file.read_text()
    assert text.count(before) == 1
    file.write_text(text.replace(before, after))
    baseline = tmp_path / "baseline.binpb"
    subprocess.run([ROOT / ".venv/bin/buf", "build", "--output", baseline], check=True, cwd=other, timeout=CALL_LIMIT)
    done = run("--against", baseline)
    assert done.returncode != 0 and "entitlement.proto" in done.stdout + done.stderr


def test_exactly_the_methods_that_change_nothing_have_no_side_effects():
    access = contract.access.DESCRIPTOR.extensions_by_name["access"]
    for service in contract.services.values():
        for method in service.methods:
            options = method.GetOptions()
            is_read = options.idempotency_level == MethodOptions.NO_SIDE_EFFECTS
            assert is_read != options.Extensions[access].mutates, method.full_name


def test_the_files_have_the_options_of_every_language():
    for service in contract.services.values():
        options = service.file.GetOptions()
        assert (options.go_package, options.java_package, options.java_multiple_files) == (
            "entitled/v1;entitledv1", "entitled.v1", True)  # fmt: skip
        assert (options.csharp_namespace, options.objc_class_prefix) == ("Entitled.V1", "ENT")
        assert (options.swift_prefix, options.ruby_package) == ("Entitled_V1_", "Entitled::V1")
