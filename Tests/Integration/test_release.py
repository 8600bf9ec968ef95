"""The files of a release: the Debian package, the software bill of materials, the signatures, the image's file system. The
short form makes no package; `make test-long` makes and tries all files of the released programs."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from harness import IS_LONG, PROGRAM, ROOT, SERVICE_PROGRAM, THREAD_SANITIZED

sys.path.insert(0, str(ROOT / "tools" / "packaging"))
import debian  # noqa: E402
import image  # noqa: E402
import inventory  # noqa: E402
import manual  # noqa: E402
import programs  # noqa: E402
import signing  # noqa: E402
import trial  # noqa: E402

pytestmark = pytest.mark.skipif(bool(programs.missing_tools()), reason="needs the packages of tools/bootstrap --test")
RELEASE = ROOT / "tools" / "release"
TIME = 1_750_000_000


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)


def output(*command):
    done = run(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def version():
    return output(PROGRAM, "--version").strip()


@pytest.fixture(scope="module")
def prefix(tmp_path_factory, version):
    """The program without the sandbox, stripped and installed."""
    if not IS_LONG:
        pytest.skip("part of `make test-long`: half a minute for a program without optimization")
    return programs.installed(ROOT, SERVICE_PROGRAM, tmp_path_factory.mktemp("release") / "usr", version)


@pytest.fixture(scope="module")
def package(tmp_path_factory, prefix, version):
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(prefix, folder / "stage" / "usr", symlinks=True)
    file = folder / f"entitled_{version}_amd64.deb"
    debian.build(ROOT, folder / "stage", version, "amd64", TIME, ["-Zgzip", "-z1"], file)
    return file


def test_installed_completions_are_where_the_shells_look(prefix):
    for path in ("bash-completion/completions/entitled", "zsh/site-functions/_entitled",
                 "fish/vendor_completions.d/entitled.fish"):  # fmt: skip
        assert "compare-versions" in (prefix / "share" / path).read_text(), path


def test_the_package_has_program_units_manual_page_and_completions(package):
    listed = [line.split(None, 5) for line in output("dpkg-deb", "--contents", package).splitlines()]
    modes = {fields[5].split(" -> ")[0]: fields[0] for fields in listed}
    assert {fields[1] for fields in listed} == {"root/root"}
    for path in ("lib/systemd/system/entitled.service", "lib/systemd/system/entitled-grpc.socket",
                 "lib/systemd/system/entitled-http.socket", "usr/share/man/man1/entitled.1.gz",
                 "usr/share/bash-completion/completions/entitled", "usr/share/zsh/vendor-completions/_entitled",
                 "usr/share/fish/vendor_completions.d/entitled.fish", "usr/share/doc/entitled/examples/entitled.yaml",
                 "usr/share/doc/entitled/copyright"):  # fmt: skip
        assert modes[f"./{path}"] == "-rw-r--r--", path
    assert modes["./usr/lib/entitled/entitled"] == "-rwxr-xr-x"
    assert modes["./usr/bin/entitled"].startswith("l")
    # Nothing of the machine that built it.
    assert not [path for path in modes if re.match(r"\./(home|opt|root|tmp|usr/local)", path)]


def test_the_units_of_the_package_start_its_program(package, tmp_path):
    output("dpkg-deb", "--extract", package, tmp_path)
    unit = (tmp_path / "lib" / "systemd" / "system" / "entitled.service").read_text()
    assert "ExecStart=/usr/bin/entitled serve" in unit and "/usr/local" not in unit
    page = output("man", "--local-file", tmp_path / "usr" / "share" / "man" / "man1" / "entitled.1.gz")
    assert "entitled serve" in page and "/etc/entitled/entitled.yaml" in page
    assert "entitled sandbox" not in page


def test_a_manual_page_has_the_variables_of_its_program(version):
    pages = {name: manual.page(PROGRAM.with_name(product), version) for name, product in programs.PRODUCTS.items()}
    service, sandbox = (set(re.findall(r"ENTITLED_\w+", page.partition(".SH ENVIRONMENT")[2])) for page in pages.values())
    assert "ENTITLED_GRPC" in service - sandbox and "ENTITLED_SANDBOX" in sandbox - service


def test_the_package_names_its_version_and_the_libraries_it_needs(package, version):
    assert output("dpkg-deb", "--field", package, "Version").strip() == version
    depends = output("dpkg-deb", "--field", package, "Depends")
    for needed in ("ca-certificates", "tzdata", "libc6 (>= ", "libssl3 (>= ", "libpq5", "libcurl4", "libnghttp2-14"):
        assert needed in depends, depends


def test_lintian_has_nothing_against_the_package(package):
    # A program that was built without tools/build loads Swift's libraries from the toolchain's folder too.
    faults = [line for line in debian.faults(package) if "custom-library-search-path RUNPATH" not in line]
    assert not faults


def test_the_bill_of_materials_is_valid_and_lists_each_resolved_package(tmp_path, version):
    document = inventory.document(ROOT, {"entitled": PROGRAM}, version, TIME)
    assert document == inventory.document(ROOT, {"entitled": PROGRAM}, version, TIME)
    file = tmp_path / "entitled.spdx.json"
    file.write_text(document)
    assert inventory.problems(file) == []
    named = {package["name"]: package["versionInfo"] for package in json.loads(document)["packages"]}
    for pin in json.loads((ROOT / "Package.resolved").read_text())["pins"]:
        assert named[pin["identity"]] == pin["state"]["version"]
    assert named["entitled"] == version and "libssl3" in named
    file.write_text(document.replace('"relatedSpdxElement": "SPDXRef-swift-yams"', '"relatedSpdxElement": "SPDXRef-none"'))
    assert inventory.problems(file)


@pytest.fixture
def signed(tmp_path):
    """A folder with two signed files, signed with a key of the caller's."""
    key, folder = tmp_path / "secret.key", tmp_path / "files"
    output("minisign", "-G", "-W", "-p", tmp_path / "public", "-s", key)
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).write_text(name)
    signing.sign([folder / "one", folder / "two"], folder, key)
    assert (folder / signing.PUBLIC_KEY).read_text().splitlines()[-1] == (tmp_path / "public").read_text().splitlines()[-1]
    return folder


def test_signatures_verify_with_the_public_key_of_the_caller(signed):
    signing.verify(signed)
    assert sorted(file.name for file in signed.glob("*.minisig")) == ["SHA256SUMS.minisig", "one.minisig", "two.minisig"]


def test_an_altered_file_fails_its_checksum_and_its_signature(signed):
    (signed / "two").write_text("other")
    with pytest.raises(subprocess.CalledProcessError):
        signing.verify(signed)
    # With a checksum that fits, the signature still fails.
    sums = signed / signing.SUMS
    sums.write_text(output("sh", "-c", f"cd {signed} && sha256sum one two"))
    with pytest.raises(subprocess.CalledProcessError):
        signing.verify(signed)
    assert run("minisign", "-V", "-q", "-p", signed / signing.PUBLIC_KEY, "-m", signed / "two").returncode != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make the image's file system")
@pytest.mark.skipif(THREAD_SANITIZED, reason="the image has no file of the thread sanitizer")
def test_the_root_of_the_image_runs_the_program_without_a_package_manager(prefix, tmp_path, version):
    containerfile = ROOT / "deploy" / "container" / "Containerfile"
    base = image.debian(ROOT / ".build" / "image-base", image.packages(containerfile))
    root = image.prepared(base, containerfile, tmp_path)
    shutil.copytree(prefix, root / "usr" / "local", symlinks=True, dirs_exist_ok=True)
    assert output(*trial.inside(root, trial.USER, "/usr/local/bin/entitled", "--version")).strip() == version
    assert "uid=10001(entitled)" in output(*trial.inside(root, trial.USER, "/usr/bin/id"))
    assert not [name for name in ("apt-get", "dpkg", "perl", "bash", "su") if (root / "usr" / "bin" / name).exists()]
    assert not (root / "etc" / "resolv.conf").exists()
    status = (root / "var" / "lib" / "dpkg" / "status").read_text()
    assert "Package: libssl3\n" in status and "Package: apt\n" not in status


def test_debians_part_of_the_images_is_made_once_and_again_for_a_release(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: made.append(command))
    numbers = []
    for is_fresh in (False, False, True):
        image.debian(tmp_path / "base", ["libssl3"], is_fresh)
        numbers.append(len(made))
    assert numbers == [1, 1, 2]


@pytest.mark.parametrize("arguments, cause", [
    (["99.0.0", "--check"], "the sources have version"),
    (["0.1.0"], "--key is required"),
    (["0.1.0", "--draft", "--key", "any"], "--draft is not allowed"),
])  # fmt: skip
def test_a_release_is_refused(arguments, cause):
    done = run(RELEASE, *arguments)
    assert done.returncode != 0 and cause in done.stderr


def test_the_packages_of_the_clients_have_the_version_of_the_program(version):
    files = [*ROOT.glob("clients/*/pyproject.toml"), *ROOT.glob("clients/*/package.json")]
    found = {str(file): re.search(r'^\s*"?version"?\s*[=:]\s*"(.+?)"', file.read_text(), re.M)[1] for file in files}
    assert len(found) == 4 and set(found.values()) == {version}, found


def test_a_release_is_refused_if_the_folder_of_its_files_exists(tmp_path):
    file = tmp_path / "kept"
    file.touch()
    done = run(RELEASE, "0.1.0", "--check", "--programs", tmp_path / "none", "--output", tmp_path)
    assert done.returncode != 0 and "--output is a new folder" in done.stderr and file.exists()


@pytest.mark.skipif(not IS_LONG, reason="part of `make test-long`: minutes of compression")
@pytest.mark.skipif(os.geteuid() != 0, reason="the images need root or a range in /etc/subuid")
def test_all_files_of_a_release_are_made_and_work(tmp_path, version):
    folder = PROGRAM.parent if "debug" not in str(PROGRAM) else ROOT / ".build" / "release"
    if not all((folder / product).exists() for product in programs.PRODUCTS.values()):
        pytest.skip("the released programs are not built")
    made = subprocess.run(
        [RELEASE, version, "--check", "--draft", "--programs", folder, "--output", tmp_path / "files"],
        capture_output=True, text=True, timeout=1800)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert len(list((tmp_path / "files").glob("*.minisig"))) == 7
