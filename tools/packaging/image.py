"""The container images as OCI archives: a small Debian made by mmdebstrap, and the program, put together by buildah.

Both work without a registry, without a daemon and without root (tools/release enters a user namespace).
"""

import fcntl
import json
import pathlib
import re
import shutil
import subprocess

import slim

# Files of Debian that no program in the image reads; the licenses of its packages stay.
_EXCLUDED = ["/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*", "/usr/share/lintian/*"]
_INCLUDED = ["/usr/share/doc/*/copyright"]
RELEASE = "bookworm"


def last_stage(containerfile: pathlib.Path):
    """The part of a Containerfile that specifies the image itself; the one before it compiles the program."""
    return containerfile.read_text().split("\nFROM ")[-1]


def packages(containerfile):
    """The Debian packages that the image installs."""
    (listed,) = re.findall(r"--no-install-recommends \\\s+(.+?) \\\n", last_stage(containerfile))
    return listed.split()


def debian(folder: pathlib.Path, names, is_fresh=False):
    """A Debian with these packages, made once for a list of them in `folder`. Returns its root.

    `is_fresh` makes it again, with the versions that Debian has now.
    """
    stamp, wanted = folder / "packages", "\n".join([RELEASE, *names])
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_fresh or not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            options = [f"--dpkgopt=path-exclude={path}" for path in _EXCLUDED]
            options += [f"--dpkgopt=path-include={path}" for path in _INCLUDED]
            made = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={','.join(names)}", *options]
            subprocess.run([*made, RELEASE, folder / "root"], check=True)
            stamp.write_text(wanted)
    return folder / "root"


def prepared(base, containerfile, folder):
    """A copy of `base` after the commands that the Containerfile runs once the packages are installed, with nothing else."""
    root = folder / "debian"
    subprocess.run(["cp", "-a", "--reflink=auto", base, root], check=True)
    (run,) = re.findall(r"^RUN (.+?)(?<!\\)\n", last_stage(containerfile), re.M | re.S)
    commands = [part.strip() for part in run.replace("\\\n", " ").split("&&")]
    for command in commands:
        if not command.startswith(("apt-get ", "rm ")):
            subprocess.run(["chroot", root, "/bin/sh", "-ec", command], check=True)
    slim.slim(root, packages(containerfile))
    return root


def build(base, prefix, containerfile, name, version, epoch, folder: pathlib.Path, target):
    """Makes the OCI archive `target` of the last stage of a Containerfile, with Debian's part from `base` and the program
    that is installed in `prefix`. `folder` is a new folder for the work."""
    storage = ["--storage-driver", "vfs", "--root", str(folder / "storage"), "--runroot", str(folder / "run")]
    root = prepared(base, containerfile, folder)
    tar = ["tar", "--create", "--numeric-owner", "--sort=name", f"--mtime=@{epoch}", "--exclude=./dev/*", "--exclude=./proc/*",
           "--exclude=./sys/*", "--file", folder / "debian.tar", "--directory", root, "."]  # fmt: skip
    subprocess.run(tar, check=True)
    shutil.rmtree(root)
    shutil.copytree(prefix, folder / "installed", symlinks=True)
    rest = last_stage(containerfile).split("COPY --from=build")[1].split("\n", 1)[1]
    # OCI images have no health check; deploy/ sets those of the orchestrators.
    rest = re.sub(r"^HEALTHCHECK .*\\\n.*\n", "", rest, flags=re.M)
    specification = f"FROM scratch\nADD debian.tar /\nCOPY --chown=0:0 installed /usr/local\n{rest}"
    (folder / "Containerfile").write_text(specification)
    labels = {"version": version, "title": name, "licenses": "Apache-2.0"}
    options = [part for key, value in labels.items() for part in ("--label", f"org.opencontainers.image.{key}={value}")]
    made = ["buildah", *storage, "build", "--quiet", "--format", "oci", "--timestamp", str(epoch), *options,
            "--file", folder / "Containerfile", folder]  # fmt: skip
    made_id = subprocess.run(made, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    pushed = ["buildah", *storage, "push", "--quiet", "--compression-format", "gzip", "--compression-level", "9", made_id,
              f"oci-archive:{target}:{name}:{version}"]  # fmt: skip
    subprocess.run(pushed, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(folder)


def unpacked(archive, folder: pathlib.Path):
    """The root folder of an image, and its configuration."""
    layout = folder / "layout"
    layout.mkdir()
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", layout], check=True)

    def blob(digest):
        return layout / "blobs" / digest.replace(":", "/")

    index = json.loads((layout / "index.json").read_text())
    manifest = json.loads(blob(index["manifests"][0]["digest"]).read_text())
    configuration = json.loads(blob(manifest["config"]["digest"]).read_text())["config"]
    root = folder / "root"
    root.mkdir()
    for layer in manifest["layers"]:
        subprocess.run(["tar", "--extract", "--numeric-owner", "--file", blob(layer["digest"]), "--directory", root], check=True)
    return root, configuration
