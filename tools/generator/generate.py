"""Generates all code from proto/: C by protoc-c, the Swift messages, tables and service protocols by this program,
and the messages and services of the clients, also of the program's own."""

import argparse
import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

import access
import c_tables
import js_client
import method_errors
import program_client
import python_client
import services
import swift

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM = pathlib.Path("/usr/include")

# The contract. The files of Google that it imports; descriptor.proto also reads the contract itself.
PROTO = ROOT / "proto"
C_TARGET = ROOT / "Sources/C/EntitledProto"
SWIFT_TARGET = ROOT / "Sources/Protocol/Wire/Generated"
SERVICES_TARGET = ROOT / "Sources/Server/Services/Generated"
PROGRAM_TARGET = ROOT / "Sources/Programs/EntitledClient/Generated"
WELL_KNOWN = [f"google/protobuf/{name}.proto" for name in ("any", "descriptor", "duration", "field_mask", "timestamp")]

CLIENT_PYTHON = ROOT / "clients/python/src/entitled"
CLIENT_JS = ROOT / "clients/js"

# The test services of gRPC and Connect, for interop-server only.
TEST_PROTO = ROOT / "tools/interop-server/proto"
TEST_C_TARGET = ROOT / "tools/interop-server/CInteropProto"
TEST_SWIFT_TARGET = ROOT / "tools/interop-server/Sources/Generated"

# An `optional` field: its type, name and number.
OPTIONAL = re.compile(r"\boptional ([\w.]+) (\w+) = (\d+);")


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def files_below(proto):
    return sorted(str(path.relative_to(proto)) for path in proto.rglob("*.proto"))


def descriptor_set(proto, folder, *options):
    path = folder / "set.pb"
    files = files_below(proto)
    run("protoc", f"-I{proto}", f"-I{SYSTEM}", f"--descriptor_set_out={path}", "--include_imports", *options, *files)
    found = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
    path.unlink()
    return found


def without_optional(proto, folder):
    """Copies the files below `proto` to `folder`, with each `optional` field as the oneof that protoc makes of it:
    protoc-c has no support for `optional`, and the encoding is the same."""
    for name in files_below(proto):
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(OPTIONAL.sub(r"oneof _\2 { \1 \2 = \3; }", (proto / name).read_text()))
    return folder


def generate_c(proto, target, module, imported=(), declared_by=(), declarations=()):
    """Writes the C structures below `target`, and returns the names that protoc-c chose."""
    include = target / "include"
    include.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        declared = without_optional(proto, pathlib.Path(folder))
        run("protoc-c", f"-I{declared}", f"-I{SYSTEM}", f"--c_out={target}", *files_below(proto), *imported)
    for header in sorted(target.rglob("*.pb-c.h")):
        moved = include / header.relative_to(target)
        moved.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(header, moved)
    headers = sorted(str(path.relative_to(include)) for path in include.rglob("*.pb-c.h"))
    names = c_tables.NamesInC(include, headers)
    (include / f"{module}.h").write_text(c_tables.umbrella(module, [*headers, *declared_by], names, declarations))
    (include / "module.modulemap").write_text(c_tables.module_map(module))
    return names


def write(target, sources):
    target.mkdir(parents=True)
    for name, text in sources:
        (target / name).write_text(text)


def generate(folder):
    """Writes all generated files below `folder`, at their paths below the root, and returns their paths."""
    def new(target):
        return folder / target.relative_to(ROOT)

    commented = descriptor_set(PROTO, folder, "--include_source_info")
    served = access.smallest(commented)
    names = generate_c(PROTO, new(C_TARGET), "CEntitledProto", imported=WELL_KNOWN, declared_by=["arena.h", "text.h"],
                       declarations=c_tables.DESCRIPTOR_SET)
    (new(C_TARGET) / "descriptor_set.c").write_text(c_tables.byte_array(served.SerializeToString(deterministic=True)))
    rules = access.Access(commented)
    write(new(SWIFT_TARGET), swift.contract_sources(commented, names, rules))
    write(new(SERVICES_TARGET), [*services.sources(commented, rules), *method_errors.sources(commented)])
    write(new(PROGRAM_TARGET), program_client.sources(commented))
    python_client.generate(PROTO, SYSTEM, commented, new(CLIENT_PYTHON))
    write(new(CLIENT_JS), js_client.sources(commented))

    tests = descriptor_set(TEST_PROTO, folder, "--include_source_info")
    names = generate_c(TEST_PROTO, new(TEST_C_TARGET), "CInteropProto")
    write(new(TEST_SWIFT_TARGET), swift.test_sources(tests, names))
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def committed():
    """The generated files of the working tree."""
    found = [C_TARGET / "descriptor_set.c"]
    for target in (SWIFT_TARGET, SERVICES_TARGET, PROGRAM_TARGET, TEST_SWIFT_TARGET):
        found += target.rglob("*.swift")
    for target in (C_TARGET, TEST_C_TARGET):
        found += target.rglob("*.pb-c.[ch]")
        found += [*target.glob("include/C*.h"), target / "include/module.modulemap"]
    found += [CLIENT_PYTHON / "services.py", *CLIENT_PYTHON.glob("v1/*.py"), *CLIENT_PYTHON.glob("v1/*.pyi")]
    found += [CLIENT_JS / "contract.d.ts", CLIENT_JS / "methods.js"]
    return {path.relative_to(ROOT) for path in found if path.exists()}


def differences(folder, paths):
    for path in sorted(committed() | set(paths)):
        old, new = ROOT / path, folder / path
        before = old.read_text().splitlines(keepends=True) if old.exists() else []
        after = new.read_text().splitlines(keepends=True) if new.exists() else []
        yield from difflib.unified_diff(before, after, f"committed/{path}", f"generated/{path}")


def main():
    parser = argparse.ArgumentParser(prog="tools/generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail with a diff if the committed files are not current")
    check = parser.parse_args().check
    missing = [tool for tool in ("protoc", "protoc-c") if shutil.which(tool) is None]
    if missing:
        sys.exit(f"tools/generate: {' and '.join(missing)} not found; tools/bootstrap installs them")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        paths = generate(folder)
        if check:
            diff = "".join(differences(folder, paths))
            sys.stdout.write(diff)
            sys.exit(1 if diff else 0)
        for stale in committed() - set(paths):
            (ROOT / stale).unlink()
        for path in paths:
            text = (folder / path).read_bytes()
            target = ROOT / path
            if not target.exists() or target.read_bytes() != text:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text)


main()
