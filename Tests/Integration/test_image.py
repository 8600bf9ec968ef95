"""The image of deploy/container/Containerfile without a container engine: its file system, made by mmdebstrap, contains
all that the program needs, and the program runs in it as the image specifies: not as root, only its data writable. The short
form compares the libraries of the program with the packages that the image installs."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

from harness import IS_LONG, READY, ROOT, SERVICE_PROGRAM, STOP_LIMIT, THREAD_SANITIZED

sys.path.insert(0, str(ROOT / "tools" / "packaging"))
from image import debian, packages  # noqa: E402

CONTAINERFILE = ROOT / "deploy" / "container" / "Containerfile"
# Debian's part is always the same, and takes a minute to make. One pytest worker does, and the others wait for it.
BASE = ROOT / ".build" / "image-base"
RUN = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount --bind "$2" "$1/var/lib/entitled"
mount --bind "$3" "$1/etc/entitled"
mount -t proc proc "$1/proc"
mount -o remount,bind,ro "$1"
shift 3
exec chroot --userspec=10001:10001 "$@"
"""


def last_stage():
    return CONTAINERFILE.read_text().split("\nFROM ")[-1]


def image_settings():
    return dict(re.findall(r"(ENTITLED_\w+)=(\S+)", last_stage()))


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The root directory of the image."""
    if not IS_LONG:
        pytest.skip("part of `make test-long`: the image takes a minute of a core")
    if THREAD_SANITIZED:
        pytest.skip("the image has no file of the thread sanitizer")
    if os.geteuid() != 0:
        pytest.skip("only root can make the image's file system")
    base = debian(BASE, packages(CONTAINERFILE))
    root = tmp_path_factory.mktemp("image") / "root"
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(root)], check=True)
    installed = subprocess.run(
        [ROOT / "tools" / "install", root / "usr" / "local"],
        env=os.environ | {"ENTITLED_PROGRAM": str(SERVICE_PROGRAM)}, capture_output=True, text=True,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr
    for directory in ("var/lib/entitled", "etc/entitled"):
        (root / directory).mkdir(parents=True)
    return root


class Container:
    """The image's program in its own mount namespace, as the image's user."""

    def __init__(self, image, data, configuration):
        self.prefix = ["unshare", "--mount", "sh", "-c", RUN, "sh", str(image), str(data), str(configuration), str(image)]

    def environment(self, **changed):
        brought = {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin", "OCEAN_JOURNAL_SHARED_SECRET": "not-a-real-one"}
        sanitizer = {name: value for name, value in os.environ.items() if name == "ASAN_OPTIONS"}
        return brought | sanitizer | image_settings() | changed

    def run(self, *command, **changed):
        """Runs a command in the image until it exits."""
        return subprocess.run(
            [*self.prefix, *command], env=self.environment(**changed), capture_output=True, text=True, timeout=60
        )

    def serve(self, **changed):
        return subprocess.Popen(
            [*self.prefix, "entitled", "serve"], env=self.environment(**changed),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip


@pytest.fixture
def container(image, tmp_path):
    data, configuration = tmp_path / "data", tmp_path / "configuration"
    data.mkdir(mode=0o700)
    os.chown(data, 10001, 10001)
    configuration.mkdir()
    shutil.copy(ROOT / "deploy" / "entitled.yaml", configuration)
    return Container(image, data, configuration)


def needed(file):
    """The files of the libraries that a program or library names itself."""
    listed = subprocess.check_output(["objdump", "-p", file], text=True)
    loaded = dict(re.findall(r"(\S+) => (/\S+)", subprocess.check_output(["ldd", file], text=True)))
    return {loaded[name] for name in re.findall(r"NEEDED +(\S+)", listed) if name in loaded}


def test_each_library_is_in_a_package_that_the_image_installs():
    libraries, new = set(), {str(SERVICE_PROGRAM)}
    while new:
        libraries |= new
        # Libraries of the toolchain are installed beside the program; those of Debian bring what they need.
        new = {each for file in new if not file.startswith("/lib/") for each in needed(file)} - libraries
    # Debian's packages have some of them under /lib and others under /usr/lib, which is the same folder.
    debians = [f"*{os.path.realpath(file).removeprefix('/usr')}" for file in libraries if file.startswith("/lib/")]
    owners = {line.partition(":")[0] for line in subprocess.check_output(["dpkg", "-S", *debians], text=True).splitlines()}
    assert "libnghttp2-14" in owners and owners <= {"libc6", "libgcc-s1", *packages(CONTAINERFILE)}


def test_no_library_of_the_toolchain_is_missing(container):
    done = container.run("ldd", "/usr/local/lib/entitled/entitled")
    assert done.returncode == 0 and "not found" not in done.stdout, done.stdout + done.stderr


def test_the_image_runs_and_its_health_check_succeeds(container):
    here = {"ENTITLED_GRPC": "127.0.0.1:0", "ENTITLED_HTTP": "127.0.0.1:0"}
    process = container.serve(**here)
    try:
        lines = []
        while not (lines and READY.match(lines[-1])):
            lines.append(process.stdout.readline())
            assert lines[-1], "".join(lines)
        ready = READY.match(lines[-1])
        health = re.search(r'HEALTHCHECK.*?CMD \[(.+?)\]', last_stage(), re.DOTALL)[1]
        command = [part.strip(' "') for part in health.split(",")]
        command[command.index("--grpc") + 1] = ready[1]
        assert container.run(*command).returncode == 0
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        assert re.search(r"Uid:\s+10001\s+10001", status) and re.search(r"CapEff:\s+0+\n", status)
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_LIMIT) == 0
        assert container.run(*command).returncode != 0
    finally:
        process.kill()
        process.wait()


def test_only_the_data_directory_is_writable(container):
    assert container.run("touch", "/var/lib/entitled/mine").returncode == 0
    for path in ("/usr/local/lib/entitled/entitled", "/etc/entitled/entitled.yaml", "/var/tmp/mine", "/mine"):
        assert container.run("touch", path).returncode != 0, path


def test_a_secret_readable_by_the_group_is_accepted(container, tmp_path):
    secret = tmp_path / "configuration" / "shared-secret"
    secret.write_text("not-a-real-secret")
    os.chown(secret, 0, 10001)
    file = tmp_path / "configuration" / "entitled.yaml"
    file.write_text(file.read_text().replace("variable: OCEAN_JOURNAL_SHARED_SECRET", "file: shared-secret"))
    assert "shared-secret" in file.read_text()
    for mode, accepted in ((0o440, True), (0o444, False)):
        secret.chmod(mode)
        done = container.run("entitled", "config", "check", "/etc/entitled/entitled.yaml")
        assert (done.returncode == 0) == accepted, (oct(mode), done.stdout, done.stderr)
