"""Calls of the sandbox's JSON interface."""

import json
import urllib.error
import urllib.request
from typing import Any

# Advancing the clock by years delivers many notifications before the call returns.
TIME_LIMIT = 120.0
# The sandbox is on this machine or in the job's network: a proxy of the environment must not be used.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class SandboxError(Exception):
    """A call that the sandbox refused, such as a purchase of an unknown product."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        #: The HTTP status.
        self.status = status
        #: The sandbox's code, such as `UNKNOWN_PRODUCT`.
        self.code = code


def call(url: str, method: str = "GET", body: object = None) -> Any:
    """Makes a call with JSON; returns the decoded response, or the text of one that is not JSON.

    Raises `SandboxError` if the sandbox refuses the call, and `OSError` if it cannot be reached.
    """
    data = None if body is None else json.dumps(body).encode()
    headers = {} if body is None else {"content-type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with _opener.open(request, timeout=TIME_LIMIT) as response:
            text = response.read().decode()
            is_json = response.headers.get("content-type", "").startswith("application/json")
            return json.loads(text) if is_json else text
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error.code, error.read().decode(errors="replace")) from None


def _refusal(status: int, text: str) -> SandboxError:
    try:
        error = json.loads(text)["error"]
        return SandboxError(status, error["code"], error["message"])
    except (ValueError, KeyError, TypeError):
        return SandboxError(status, "HTTP_ERROR", f"HTTP status {status}: {text[:200]}")
