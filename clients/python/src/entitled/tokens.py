"""Offline verification of the tokens of `IssueToken`. Needs the extra `tokens` (PyJWT and cryptography)."""

from __future__ import annotations

import dataclasses
import datetime
import http.client
import json
import threading
import time
import urllib.request

import jwt

_ALGORITHMS = ["ES256"]


@dataclasses.dataclass(frozen=True)
class Claims:
    """What a valid token states: `customer_id` has exactly `entitlements` in `app` until `expires_at`."""

    customer_id: str
    app: str
    environment: str
    entitlements: frozenset[str]
    expires_at: datetime.datetime


class TokenVerifier:
    """Verifies tokens with the service's public keys, which it fetches from `jwks_url` and keeps.

    Keys are fetched when a token names an unknown one, at most once in `refresh_interval` seconds; while the service
    cannot be reached, the keys at hand stay valid. `issuer` and `audience` must be those of the token, and so must
    `app` if it is given: a verifier of one app gives it, because callers of every app may name this audience. Threads
    can share a verifier.
    """

    def __init__(
        self, jwks_url: str, *, issuer: str, audience: str, app: str | None = None, leeway: float = 5.0,
        refresh_interval: float = 30.0,
    ) -> None:
        self._url = jwks_url
        self._issuer = issuer
        self._audience = audience
        self._app = app
        self._leeway = leeway
        self._refresh_interval = refresh_interval
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = float("-inf")
        self._lock = threading.Lock()

    def verify(self, token: str) -> Claims:
        """Returns the claims. Raises `jwt.InvalidTokenError` if the token is not valid now."""
        key_id = jwt.get_unverified_header(token).get("kid")
        key = self._key(key_id) if isinstance(key_id, str) else None
        if key is None:
            raise jwt.InvalidTokenError("the key of the token is not among the service's keys")
        claims = jwt.decode(
            token, key.key, algorithms=_ALGORITHMS, issuer=self._issuer, audience=self._audience, leeway=self._leeway,
            # `iat` is not compared with the time, because the service's clock may be ahead of this one.
            options={
                "require": ["exp", "iat", "iss", "aud", "sub", "app", "environment", "entitlements"], "verify_iat": False},
        )
        if self._app is not None and claims["app"] != self._app:
            raise jwt.InvalidTokenError("the token is for another app")
        return Claims(
            claims["sub"], claims["app"], claims["environment"], frozenset(claims["entitlements"]),
            datetime.datetime.fromtimestamp(claims["exp"], datetime.timezone.utc),
        )

    def _key(self, key_id: str) -> jwt.PyJWK | None:
        # Without the lock, which another thread holds while the service is slow to answer.
        if (key := self._keys.get(key_id)) is not None:
            return key
        with self._lock:
            if key_id not in self._keys and time.monotonic() - self._fetched_at >= self._refresh_interval:
                self._fetched_at = time.monotonic()
                self._refresh()
            return self._keys.get(key_id)

    def _refresh(self) -> None:
        try:
            with urllib.request.urlopen(self._url, timeout=5) as response:
                keys = json.load(response)["keys"]
            usable = (key for key in keys if "kid" in key and (key.get("kty"), key.get("crv")) == ("EC", "P-256"))
            self._keys = {key["kid"]: jwt.PyJWK(key) for key in usable}
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, jwt.PyJWTError):
            # The keys at hand stay valid; the next token with an unknown key tries again. HTTPException: a response that
            # ends early; TypeError: JSON of a proxy instead of the keys.
            return
