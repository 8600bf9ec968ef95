"""Generates all code from proto/: C by protoc-c, the Swift messages, tables and service protocols by this program."""

import argparse
import difflib
import pathlib
import shutil
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

import access
import c_tables
import services
import swift

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTO = ROOT / "proto"
SYSTEM = pathlib.Path("/usr/include")
C_TARGET = ROOT / "Sources/C/EntitledProto"
SWIFT_TARGET = ROOT / "Sources/Protocol/Wire/Generated"
SERVICES_TARGET = ROOT / "Sources/Server/Services/Generated"

# The files of Google that ours import; descriptor.proto also reads the contract itself.
WELL_KNOWN = [f"google/protobuf/{name}.proto" for name in ("any", "descriptor", "duration", "timestamp")]


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def descriptor_set(files, folder, *options):
    path = folder / "set.pb"
    run("protoc", f"-I{PROTO}", f"-I{SYSTEM}", f"--descriptor_set_out={path}", "--include_imports", *options, *files)
    return descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())


def generate(folder):
    """Writes all generated files below `folder`, at their paths below the root, and returns their paths."""
    files = sorted(str(path.relative_to(PROTO)) for path in PROTO.rglob("*.proto"))
    c_folder = folder / C_TARGET.relative_to(ROOT)
    (c_folder / "include").mkdir(parents=True)
    run("protoc-c", f"-I{PROTO}", f"-I{SYSTEM}", f"--c_out={c_folder}", *files, *WELL_KNOWN)
    for header in sorted(c_folder.rglob("*.pb-c.h")):
        target = c_folder / "include" / header.relative_to(c_folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(header, target)

    commented = descriptor_set(files, folder, "--include_source_info")
    served = descriptor_set(files, folder)
    (folder / "set.pb").unlink()
    headers = sorted(str(path.relative_to(c_folder / "include")) for path in c_folder.rglob("*.pb-c.h"))
    names = c_tables.NamesInC(c_folder / "include", headers)
    (c_folder / "include/CEntitledProto.h").write_text(c_tables.umbrella(headers, names))
    (c_folder / "include/module.modulemap").write_text(c_tables.MODULE_MAP)
    served = access.smallest(served, without=swift.TEST_PACKAGES)
    (c_folder / "descriptor_set.c").write_text(c_tables.byte_array(served.SerializeToString(deterministic=True)))

    rules = access.Access(commented)
    for target, sources in ((SWIFT_TARGET, swift.sources(commented, names, rules)),
                            (SERVICES_TARGET, services.sources(commented, rules))):
        (folder / target.relative_to(ROOT)).mkdir(parents=True)
        for name, text in sources:
            (folder / target.relative_to(ROOT) / name).write_text(text)
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def committed():
    """The generated files of the working tree."""
    found = list(C_TARGET.rglob("*.pb-c.[ch]")) + list(SWIFT_TARGET.rglob("*.swift"))
    found += list(SERVICES_TARGET.rglob("*.swift"))
    found += [C_TARGET / "include/CEntitledProto.h", C_TARGET / "include/module.modulemap"]
    found += [C_TARGET / "descriptor_set.c"]
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
