"""The programs of a release, stripped, with completions and manual page; and their archives."""

import os
import pathlib
import platform
import shutil
import subprocess
import tarfile

import manual

# Machine to Debian's name of it. Programs are built on the machine that they are for.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MACHINE = platform.machine()
# The programs of a release, the service first, and the product that each is. `entitled` of a release has no sandbox.
PRODUCTS = {"entitled": "entitled-service", "entitled-sandbox": "entitled-sandbox"}
NAMES = tuple(PRODUCTS)


def installed(root: pathlib.Path, program: pathlib.Path, prefix: pathlib.Path, version):
    """Installs a program under `prefix` as `make install` does, stripped, with its manual page. Returns `prefix`."""
    name = next((name for name, product in PRODUCTS.items() if product == program.name), program.name)
    environment = os.environ | {"ENTITLED_PROGRAM": str(program)}
    subprocess.run([root / "tools" / "install", prefix], env=environment, check=True)
    for file in (prefix / "lib" / "entitled").iterdir():
        subprocess.run(["strip", "--strip-unneeded", "--remove-section=.comment", file], check=True)
        # A program that was built without tools/build has Swift's libraries beside it, which are not executed.
        file.chmod(0o755 if file.name == name else 0o644)
    page = prefix / "share" / "man" / "man1" / f"{name}.1"
    page.parent.mkdir(parents=True)
    page.write_text(manual.page(program, version))
    return prefix


def archive(root, prefix, name, version, epoch, preset, target):
    """Writes a compressed archive of an installed program with the license, owned by root. `preset` is that of xz."""

    def plain(member):
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = epoch
        return member

    folder = f"{name}-{version}"
    with tarfile.open(target, "w:xz", preset=preset) as tar:
        tar.add(prefix, folder, filter=plain)
        tar.add(root / "LICENSE", f"{folder}/LICENSE", filter=plain)
        if name == "entitled":
            tar.add(root / "deploy" / "entitled.yaml", f"{folder}/share/doc/entitled/entitled.yaml", filter=plain)
            tar.add(root / "deploy" / "systemd", f"{folder}/share/doc/entitled/systemd", filter=plain)


def found(folder: pathlib.Path):
    """The programs in a folder, by name.

    Raises SystemExit if one is missing.
    """
    paths = {name: folder / product for name, product in PRODUCTS.items()}
    for path in paths.values():
        if not os.access(path, os.X_OK):
            raise SystemExit(f"{path} is missing; build it with tools/build --product {path.name}")
    return paths


def missing_tools():
    """The commands that are not installed."""
    needed = ["buildah", "dpkg-deb", "dpkg-shlibdeps", "lintian", "minisign", "mmdebstrap", "objdump", "strip"]
    return [tool for tool in needed if not shutil.which(tool)]
