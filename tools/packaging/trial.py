"""Installs what a release has, and tries it: each program is started, and called once."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess

LIMIT = 120
USER = "10001:10001"
# The exit status of `check` for an answer that is no.
NOT_ENTITLED = 3
# What the program of a release says about its sandbox.
NO_SANDBOX = "this program has no sandbox"
_SANDBOX_READY = re.compile(r"^ready sandbox=(\S+)")
_SERVICE_READY = re.compile(r"^ready grpc=(\S+) http=(\S+)")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CHROOT = """
set -e
mount --make-rprivate /
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc" 2>/dev/null || mount --rbind /proc "$1/proc"
root=$1; user=$2
shift 2
exec chroot --userspec="$user" "$root" "$@"
"""


def inside(root, user, *command):
    """The command line that runs `command` with a folder as the root of its file system, in a separate mount namespace."""
    return ["unshare", "--mount", "sh", "-c", _CHROOT, "sh", str(root), user, *map(str, command)]


def _run(command, environment, status=0):
    """Runs a command, which must end with a status; returns its output, or its errors if the status is not 0."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != status:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout or done.stderr


@contextlib.contextmanager
def _serving(command, environment, ready):
    """Runs a server until the end of the body; it must become ready, and end by itself after SIGTERM."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if found := ready.match(line):
                break
        else:
            raise SystemExit("the installed program did not start:\n" + "".join(lines))
        yield found
        process.send_signal(signal.SIGTERM)
        if (status := process.wait(LIMIT)) != 0:
            raise SystemExit(f"the installed program ended with status {status}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _has_version(run, name, version):
    if (printed := run(name, "--version").strip()) != version:
        raise SystemExit(f"{name} --version prints '{printed}', not {version}")


def service(prefix, version, data, environment=None):
    """Starts the service with its demo configuration and calls it; `prefix(*command)` is the command line of a command."""
    environment = {"PATH": _PATH, "HOME": "/nonexistent"} | (environment or {})
    environment.pop("ENTITLED_CONFIG", None)

    def run(*command, status=0):
        return _run(prefix(*command), environment, status)

    _has_version(run, "entitled", version)
    for command in (["sandbox", "buy", "any"], ["serve", "--sandbox", "127.0.0.1:0"]):
        if NO_SANDBOX not in run("entitled", *command, status=64):
            raise SystemExit(f"entitled {' '.join(command)} does not say that the program has no sandbox")
    listeners = ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", data]
    with _serving(prefix("entitled", "serve", *listeners), environment, _SERVICE_READY) as ready:
        run("entitled", "health", "--grpc", ready[1])
        check = ["check", "--grpc", ready[1], "--app", "ocean-journal", "--json", "ana", "pro"]
        answer = run("entitled", *check, status=NOT_ENTITLED)
        if '"reason"' not in answer:
            raise SystemExit(f"Check has no reason: {answer}")
        status = run("entitled", "status", "--grpc", ready[1], "--json")
        if f'"{version}"' not in status:
            raise SystemExit(f"the status of the service does not have the version {version}: {status}")


def sandbox(prefix, version, environment=None):
    """Starts the sandbox in memory and calls it."""
    environment = {"PATH": _PATH, "HOME": "/nonexistent"} | (environment or {})
    environment |= {"ENTITLED_SANDBOX": "127.0.0.1:0", "ENTITLED_TLS_ADDRESS": "127.0.0.1:0"}
    _has_version(lambda *command: _run(prefix(*command), environment), "entitled-sandbox", version)
    with _serving(prefix("entitled-sandbox", "serve", "--in-memory"), environment, _SANDBOX_READY) as ready:
        _run(prefix("entitled-sandbox", "world", "list", "--sandbox", ready[1]), environment)


def archive(file, name, version, folder: pathlib.Path):
    """Unpacks the archive of a program and tries it."""
    subprocess.run(["tar", "--extract", "--file", file, "--directory", folder], check=True)
    (top,) = folder.iterdir()

    def prefix(program, *arguments):
        return [str(top / "bin" / program), *map(str, arguments)]

    if name == "entitled":
        service(prefix, version, folder / "data")
    else:
        sandbox(prefix, version)


def debian(package, base, version, folder: pathlib.Path):
    """Installs the package in a copy of the Debian `base`, which has what it depends on, tries it, and purges it."""
    root = folder / "root"
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(root)], check=True)
    shutil.copy(package, root / "entitled.deb")
    environment = {"PATH": _PATH, "DEBIAN_FRONTEND": "noninteractive"}

    def as_root(*command):
        return _run(inside(root, "0:0", *command), environment)

    as_root("dpkg", "--install", "/entitled.deb")
    as_root("dpkg", "--verify", "entitled")
    (root / "data").mkdir()
    os.chown(root / "data", 10001, 10001)
    service(lambda *command: inside(root, USER, *command), version, "/data/store")
    listed = set(as_root("dpkg-query", "--listfiles", "entitled").split())
    as_root("dpkg", "--purge", "entitled")
    left = [path for path in listed if (root / path[1:]).is_file()]
    if left:
        raise SystemExit(f"the removal of the package leaves {left}")


def image(name, root, configuration, version):
    """Tries an image: its user, environment, entry point and program."""
    if configuration["Entrypoint"] != [name] or configuration["User"] != USER:
        raise SystemExit(f"the image {name} has another entry point or user: {configuration}")
    environment = dict(pair.split("=", 1) for pair in configuration["Env"])

    def prefix(*command):
        return inside(root, USER, *command)

    if name == "entitled":
        if (root / "usr" / "local" / "bin" / "entitled-sandbox").exists():
            raise SystemExit("the image of the service has the sandbox")
        service(prefix, version, environment["ENTITLED_DATA"], environment)
    else:
        sandbox(prefix, version, environment)
