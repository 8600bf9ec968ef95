"""A running sandbox: a new process, or one that already runs."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import uuid
from typing import Any

from .calls import SandboxError, call
from .store import AppStore

# The program answers within a second; a busy machine takes longer.
START_LIMIT = 60.0
STOP_LIMIT = 30.0
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


class Sandbox:
    """An App Store simulator with any number of independent worlds."""

    def __init__(self, url: str, tls_url: str | None = None, process: "subprocess.Popen[str] | None" = None) -> None:
        #: The URL without TLS, without a slash at its end.
        self.url = url.rstrip("/")
        #: The URL with TLS; `None` if it is unknown.
        self.tls_url = tls_url.rstrip("/") if tls_url else None
        self._process = process
        self._folder: pathlib.Path | None = None

    @classmethod
    def start(cls, program: str | None = None, *arguments: str) -> "Sandbox":
        """Starts the program on free ports of this machine, with the state in memory.

        `program` is the path of `entitled-sandbox` or `entitled`; without it, the one in PATH. `arguments` are further
        options of `serve`. Raises `FileNotFoundError` without a program, and `RuntimeError` if it does not start.
        """
        command = [*find_program(program), "serve", "--in-memory", "--sandbox", "127.0.0.1:0", "--tls", "127.0.0.1:0", *arguments]
        # Settings of another sandbox must not apply to this one.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ENTITLED_")}
        with tempfile.TemporaryFile("w+") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line.startswith("ready "):
                process.kill()
                process.wait(STOP_LIMIT)
                log.seek(0)
                raise RuntimeError(f"{' '.join(command)} did not start: {log.read().strip()}")
        ready = dict(part.split("=", 1) for part in line.split()[1:])
        return cls(f"http://{ready['sandbox']}", f"https://{ready['tls']}", process)

    @classmethod
    def connect(cls, url: str, tls_url: str | None = None) -> "Sandbox":
        """Uses a sandbox that runs already. Raises `OSError` if it cannot be reached."""
        sandbox = cls(url, tls_url)
        call(f"{sandbox.url}/sandbox/v1/worlds")
        return sandbox

    def create(self, name: str = "test", **members: Any) -> AppStore:
        """Creates a world whose name begins with `name`.

        `members` are those of `POST /sandbox/v1/worlds`: `start`, `from`, `storekit` with `bundleId` and `app`.
        """
        fit = _UNFIT.sub("-", name)[:40].strip("-") or "test"
        world = f"{fit}-{uuid.uuid4().hex[:12]}"
        created = call(f"{self.url}/sandbox/v1/worlds", "POST", {"name": world, **members})
        return AppStore(self, world, created["apps"][0])

    @property
    def default(self) -> AppStore:
        """The world at `/`, for clients that cannot be given a path. Tests that use it must not run in parallel."""
        apps = call(f"{self.url}/sandbox/v1/apps")["apps"]
        return AppStore(self, "", apps[0]["app"])

    def folder(self) -> pathlib.Path:
        """A folder with `root.pem` and `root.der`, the root of all documents, and with TLS `tls-root.pem`."""
        if self._folder is None:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="entitled-sandbox-"))
            pem = call(f"{self.url}/sandbox/v1/root")
            (folder / "root.pem").write_text(pem)
            (folder / "root.der").write_bytes(der(pem))
            try:
                (folder / "tls-root.pem").write_text(call(f"{self.url}/sandbox/v1/tls-root"))
            except SandboxError as error:
                if error.status != 404:
                    raise
            self._folder = folder
        return self._folder

    def close(self) -> None:
        """Ends the process, if this object started it, and removes its folder."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def find_program(program: str | None) -> list[str]:
    """The command before `serve`. Raises `FileNotFoundError` if there is no program."""
    for name in [program] if program else ["entitled-sandbox", "entitled"]:
        if path := shutil.which(name):
            return [path] if "sandbox" in pathlib.Path(path).name else [path, "sandbox"]
    raise FileNotFoundError(
        f"{program or 'entitled-sandbox'} is not in PATH; install it, set ENTITLED_SANDBOX_PROGRAM to its path, or "
        "ENTITLED_SANDBOX_URL to the address of a running sandbox")


def der(pem: str) -> bytes:
    """The bytes of a certificate in PEM."""
    import ssl

    return ssl.PEM_cert_to_DER_cert(pem)
