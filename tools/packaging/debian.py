"""The Debian package: program, completions, manual page, systemd units and an example of the configuration."""

import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

MAINTAINER = "The entitled project <entitled@example.com>"
UNITS = ("entitled.service", "entitled-grpc.socket", "entitled-http.socket")
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: entitled

Files: *
Copyright: {year} the entitled project
License: Apache-2.0
 On Debian systems, the full text of the license is in
 /usr/share/common-licenses/Apache-2.0.
"""
CONTROL = """Package: entitled
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: {depends}
Recommends: systemd
Section: net
Priority: optional
Description: App Store entitlement service
 Verifies purchases of the App Store, stores them as evidence and answers
 who is entitled to what, over gRPC and HTTP. Apple's notifications,
 receipts and signed transactions are its input; webhooks and events its
 output.
 .
 The installation starts nothing, because the service needs a configuration
 first: /usr/share/doc/entitled/examples/entitled.yaml is an example.
"""
# What debhelper's dh_installsystemd writes with --no-enable --no-start, for units of this package.
POSTINST = """#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
    if [ -n "$2" ]; then
        # The sockets stay open: calls wait for the new program.
        deb-systemd-invoke try-restart entitled.service >/dev/null || true
    fi
fi
"""
PRERM = """#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop entitled-grpc.socket entitled-http.socket entitled.service >/dev/null || true
fi
"""
# The data in /var/lib/entitled is the operator's, and stays.
POSTRM = """#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ] && command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper purge entitled.service entitled-grpc.socket entitled-http.socket >/dev/null || true
fi
"""
OVERRIDES = """# Swift's and Foundation's libraries are linked statically; they contain parts of these.
entitled: embedded-library *
"""


def _write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def _compressed(path, data, epoch):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=epoch) as file:
        file.write(data)
    path.chmod(0o644)


def dependencies(program: pathlib.Path):
    """The Debian packages that a program needs, with the oldest versions that have what it uses."""
    with tempfile.TemporaryDirectory() as folder:
        control = pathlib.Path(folder) / "debian" / "control"
        control.parent.mkdir()
        control.write_text("Source: entitled\n\nPackage: entitled\nArchitecture: any\n")
        command = ["dpkg-shlibdeps", "-O", f"-l{program.parent}", "--ignore-missing-info", f"-e{program}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"dpkg-shlibdeps failed:\n{done.stderr}")
    listed = done.stdout.strip().removeprefix("shlibs:Depends=").split(", ")
    # Roots of TLS servers, and the time zones of reports.
    return sorted([*listed, "ca-certificates", "tzdata"])


def _documents(root, stage, version, epoch):
    folder = stage / "usr" / "share" / "doc" / "entitled"
    _write(folder / "examples" / "entitled.yaml", (root / "deploy" / "entitled.yaml").read_text())
    _write(folder / "copyright", COPYRIGHT.format(year=time.gmtime(epoch).tm_year))
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(epoch))
    entry = f"entitled ({version}) unstable; urgency=medium\n\n  * Release {version}: see CHANGELOG.md.gz.\n\n"
    _compressed(folder / "changelog.gz", f"{entry} -- {MAINTAINER}  {date}\n".encode(), epoch)
    _compressed(folder / "CHANGELOG.md.gz", (root / "CHANGELOG.md").read_bytes(), epoch)


def _place(stage):
    """Moves what tools/install made to where Debian has it."""
    for page in (stage / "usr" / "share" / "man" / "man1").iterdir():
        subprocess.run(["gzip", "-9n", page], check=True)
    for script in (stage / "usr" / "share" / "bash-completion" / "completions").iterdir():
        # The script is read, not executed.
        script.write_text(script.read_text().removeprefix("#!/bin/bash\n"))
    zsh = stage / "usr" / "share" / "zsh"
    (zsh / "site-functions").rename(zsh / "vendor-completions")


def build(root, stage, version, architecture, epoch, compression, target):
    """Makes `target` from `stage`, a folder with usr/ as tools/install makes it. `compression` are options of dpkg-deb."""
    depends = dependencies(stage / "usr" / "lib" / "entitled" / "entitled")
    _place(stage)
    _documents(root, stage, version, epoch)
    for name in UNITS:
        unit = (root / "deploy" / "systemd" / name).read_text().replace("/usr/local/bin/", "/usr/bin/")
        _write(stage / "lib" / "systemd" / "system" / name, unit)
    _write(stage / "usr" / "share" / "lintian" / "overrides" / "entitled", OVERRIDES)
    files = sorted(path for path in stage.rglob("*") if path.is_file() and not path.is_symlink())
    size = sum(path.stat().st_size for path in files) // 1024
    sums = "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(stage)}\n" for path in files)
    control = CONTROL.format(
        version=version, architecture=architecture, maintainer=MAINTAINER, size=size, depends=", ".join(depends))  # fmt: skip
    _write(stage / "DEBIAN" / "control", control)
    _write(stage / "DEBIAN" / "md5sums", sums)
    for name, script in (("postinst", POSTINST), ("prerm", PRERM), ("postrm", POSTRM)):
        _write(stage / "DEBIAN" / name, script, 0o755)
    for path in [stage, *stage.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", *compression, "--build", str(stage), str(target)], check=True,
        stdout=subprocess.DEVNULL, env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)},
    )  # fmt: skip
    shutil.rmtree(stage)


def faults(package: pathlib.Path):
    """The errors and warnings of lintian."""
    done = subprocess.run(["lintian", "--allow-root", "--tag-display-limit", "0", str(package)], capture_output=True, text=True)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("E:", "W:"))]
