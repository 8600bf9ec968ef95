"""Settings for Apple's libraries and other clients: the roots, the URLs, and the variables of a process."""

import pathlib
from typing import TYPE_CHECKING, Any

from .calls import call

if TYPE_CHECKING:
    from appstoreserverlibrary.api_client import AppStoreServerAPIClient
    from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

    from .process import Sandbox

# The variables with which clients trust a further root: OpenSSL and httpx, requests, curl, Node.
_TRUST = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


class AppleSettings:
    """What a client of an App Store needs."""

    sandbox: "Sandbox"
    app: str

    @property
    def path(self) -> str:
        """The path before Apple's paths."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        """The URL that replaces `https://api.storekit-sandbox.apple.com`."""
        return self.sandbox.url + self.path

    @property
    def tls_url(self) -> str:
        """The same with TLS. Raises `LookupError` if the sandbox has none, or if its address is not known."""
        if self.sandbox.tls_url is None:
            raise LookupError("the address of the sandbox with TLS is unknown; set ENTITLED_SANDBOX_TLS_URL")
        return self.sandbox.tls_url + self.path

    @property
    def root_pem(self) -> pathlib.Path:
        """The root certificate of all documents, in PEM."""
        return self.sandbox.folder() / "root.pem"

    @property
    def root_der(self) -> pathlib.Path:
        """The root certificate of all documents, as Apple's libraries take it."""
        return self.sandbox.folder() / "root.der"

    @property
    def tls_root(self) -> pathlib.Path:
        """The root certificate of TLS, in PEM. Raises `LookupError` without TLS."""
        path = self.sandbox.folder() / "tls-root.pem"
        if not path.exists():
            raise LookupError("the sandbox has no TLS; start it with --tls")
        return path

    @property
    def bundle_id(self) -> str:
        """The bundle id of the app."""
        apps: list[dict[str, Any]] = call(f"{self.url}/sandbox/v1/apps")["apps"]
        found: str = next(one["bundleId"] for one in apps if one["app"] == self.app)
        return found

    def environment(self, tls: bool = False) -> dict[str, str]:
        """The variables for the process of a backend: where the App Store is, what to trust, and which app it sells.

        With `tls` the URL is the one with TLS, and OpenSSL, requests, curl and Node trust its root.
        """
        variables = {
            "APP_STORE_URL": self.tls_url if tls else self.url, "APP_STORE_ROOT": str(self.root_der),
            "APP_STORE_BUNDLE_ID": self.bundle_id, "APP_STORE_ENVIRONMENT": "Sandbox"}  # fmt: skip
        if tls:
            variables |= dict.fromkeys(_TRUST, str(self.tls_root))
        return variables

    def verifier(self) -> "SignedDataVerifier":
        """Apple's verifier, which trusts this App Store's root. It needs `app-store-server-library`."""
        from appstoreserverlibrary.models.Environment import Environment
        from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

        return SignedDataVerifier([self.root_der.read_bytes()], False, Environment.SANDBOX, self.bundle_id, None)

    def client(self, tls: bool = False) -> "AppStoreServerAPIClient":
        """Apple's client for this App Store, with a new key. With `tls` the process must trust `tls_root`."""
        from appstoreserverlibrary.api_client import AppStoreServerAPIClient
        from appstoreserverlibrary.models.Environment import Environment

        client = AppStoreServerAPIClient(_new_key(), "TESTKEY", "issuer", self.bundle_id, Environment.SANDBOX)
        client._base_url = self.tls_url if tls else self.url
        return client


def _new_key() -> bytes:
    """A private key for P-256 in PEM; the sandbox checks signatures only of registered keys."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
