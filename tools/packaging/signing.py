"""Checksums, and minisign signatures of the files of a release."""

import contextlib
import hashlib
import pathlib
import subprocess
import tempfile

SUMS = "SHA256SUMS"
PUBLIC_KEY = "minisign.pub"


@contextlib.contextmanager
def _throwaway_key():
    with tempfile.TemporaryDirectory() as folder:
        secret, public = pathlib.Path(folder) / "key", pathlib.Path(folder) / "key.pub"
        subprocess.run(["minisign", "-G", "-W", "-p", public, "-s", secret], check=True, stdout=subprocess.DEVNULL)
        yield secret


def sign(files, output: pathlib.Path, key=None):
    """Writes the checksums of `files`, a signature of them and of each file, and the public key.

    `key` is the file of a secret key, for whose password minisign asks; without one, a key is made and thrown away.
    """
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (output / SUMS).write_text(sums)
    with contextlib.nullcontext(key) if key else _throwaway_key() as secret:
        subprocess.run(["minisign", "-R", "-p", output / PUBLIC_KEY, "-s", secret], check=True, stdout=subprocess.DEVNULL)
        # One call for all, so that minisign asks for the password once.
        signed = [*files, output / SUMS]
        subprocess.run(["minisign", "-S", "-s", secret, "-m", *signed], check=True, stdout=subprocess.DEVNULL)


def verify(output: pathlib.Path):
    """Checks all checksums and signatures as docs/install.md shows.

    Raises subprocess.CalledProcessError for a file that is not as it was signed.
    """
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", SUMS], cwd=output, check=True)
    names = [line.split("  ")[1] for line in (output / SUMS).read_text().splitlines()]
    for name in [*names, SUMS]:
        subprocess.run(["minisign", "-V", "-q", "-p", PUBLIC_KEY, "-m", name], cwd=output, check=True)
