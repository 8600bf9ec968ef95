"""Removes from a Debian root what a container with one program does not need: the package manager, Perl, tools of logins."""

import pathlib
import re
import shutil

# Beside the packages of the image and the libraries they depend on: a shell and basic commands, to look into a container.
_BASE = ("base-files", "base-passwd", "coreutils", "dash")
# Only maintainer scripts use these, although packages depend on them.
_SCRIPTS_ONLY = ("debconf", "dpkg", "openssl", "perl", "perl-base")
# Character sets of iconv, which nothing here calls, and the traces of the installation.
_UNUSED = ("usr/lib/*-linux-gnu/gconv", "var/lib/apt", "var/cache/*", "var/log/*", "tmp/*", "etc/apt", "var/lib/dpkg/*-old",
           "etc/hostname", "etc/resolv.conf", "etc/rc?.d")  # fmt: skip


def _stanzas(status: pathlib.Path):
    """The paragraphs of dpkg's status by package, each with its fields."""
    stanzas = {}
    for text in status.read_text().strip().split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", text, re.M))
        stanzas[fields["Package"]] = (text, fields)
    return stanzas


def _names(relation):
    """The packages in a relation such as `libc6 (>= 2.36), a | b`."""
    return [re.sub(r"[ :(].*", "", part.strip()) for part in re.split(r"[,|]", relation or "") if part.strip()]


def _needed(stanzas, names):
    """`names` with everything that they depend on."""
    provider = {name: name for name in stanzas}
    for name, (_, fields) in stanzas.items():
        for provided in _names(fields.get("Provides")):
            provider.setdefault(provided, name)
    needed, waiting = set(), [*names, *_BASE]
    while waiting:
        name = provider.get(waiting.pop())
        if name and name not in needed and name not in _SCRIPTS_ONLY:
            needed.add(name)
            fields = stanzas[name][1]
            waiting += _names(fields.get("Pre-Depends")) + _names(fields.get("Depends"))
    return needed


def _listed(info, name):
    """The paths of a package, without the leading slash."""
    files = [*info.glob(f"{name}.list"), *info.glob(f"{name}:*.list")]
    return {line[1:] for file in files for line in file.read_text().splitlines() if line != "/."}


def slim(root: pathlib.Path, names):
    """Removes the files of all packages but `names` and what they depend on. dpkg's status has the others afterwards, so
    that scanners see what is in the image."""
    dpkg = root / "var" / "lib" / "dpkg"
    stanzas = _stanzas(dpkg / "status")
    needed = _needed(stanzas, names)
    kept = set().union(*(_listed(dpkg / "info", name) for name in needed))
    gone = set().union(*(_listed(dpkg / "info", name) for name in stanzas.keys() - needed)) - kept
    for path in sorted((root / part for part in gone), reverse=True):
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for name in stanzas.keys() - needed:
        for file in [*(dpkg / "info").glob(f"{name}.*"), *(dpkg / "info").glob(f"{name}:*")]:
            file.unlink()
    (dpkg / "status").write_text("".join(f"{stanzas[name][0]}\n\n" for name in stanzas if name in needed))
    for pattern in _UNUSED:
        for path in root.glob(pattern):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
