"""A client of the console without scripts, and the signature of an identity-aware proxy, for tests of the pages."""

import base64
import hashlib
import html
import http.client
import json
import re
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

import console_story
from harness import CALL_LIMIT, free_port


class Browser:
    """A client with one cookie, as a browser without scripts."""

    # Seconds for a request. A piece of a long list takes some on a busy machine.
    limit = 4 * CALL_LIMIT

    def __init__(self, address, headers=None):
        self.address, self.cookie, self.headers = address, None, headers or {}

    def request(self, method, path, body=None, **headers):
        host, _, port = self.address.rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=self.limit)
        fields = {"Host": self.address} | self.headers | {k.replace("_", "-"): v for k, v in headers.items()}
        if self.cookie:
            fields["Cookie"] = self.cookie
        if body is not None:
            fields = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{self.address}"} | fields
            body = urllib.parse.urlencode(body, doseq=True) if isinstance(body, dict) else body
        connection.putrequest(method, path, skip_host=True)
        for name, value in fields.items():
            if value is not None:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body or "")))
        connection.endheaders((body or "").encode())
        response = connection.getresponse()
        response.text = response.read().decode()
        return response

    def get(self, path, **headers):
        return self.request("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.request("POST", path, body, **headers)

    def csv(self, path, reason="ticket 1"):
        """Downloads a list, as the form below it does."""
        return self.post(path, {"note": reason})

    def sign_in(self, link, name="lena@example.com"):
        parts = urllib.parse.urlsplit(link)
        code = urllib.parse.parse_qs(parts.query)["code"][0]
        response = self.post(parts.path, {"code": code, "name": name})
        if response.status == 303:
            self.cookie = response.getheader("set-cookie").split(";")[0]
        return response


def hidden(text):
    """The hidden fields of the last form of a page; one that occurs several times has a list."""
    form = text[text.rindex("<form"):]
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form, re.S)
    values = {}
    for name, value in found:
        values.setdefault(html.unescape(name), []).append(html.unescape(value))
    return {name: items[0] if len(items) == 1 else items for name, items in values.items()}


def text(data):
    """Base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class SigningKey:
    """The key with which a proxy or an identity provider signs tokens."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def jwks(self):
        numbers = self.key.public_key().public_numbers()
        return {"keys": [{
            "kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256", "use": "sig",
            "x": text(numbers.x.to_bytes(32, "big")), "y": text(numbers.y.to_bytes(32, "big"))}]}  # fmt: skip

    def sign(self, claims, algorithm="ES256"):
        body = text(json.dumps({"alg": algorithm, "kid": "one"}).encode()) + "." + text(json.dumps(claims).encode())
        if algorithm == "none":
            return body + "."
        r, s = utils.decode_dss_signature(self.key.sign(body.encode(), ec.ECDSA(hashes.SHA256())))
        return body + "." + text(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


CALLERS = """callers:
  machines: {roles: [admin], tokens: ["sha256:HASH"]}
  support: {roles: [read], subjects: [lena@example.com]}
  operators: {roles: [read, submit, operate, audit], subjects: [otto@example.com]}
  admins: {roles: [admin], subjects: [alma@example.com]}
listeners:
  console:
    identity:
      header: X-Proxy-JWT
      issuer: https://proxy.example.com
      audience: console
      subject_claim: email
      roles_claim: groups
      keys: {file: keys.json}
"""
READER, OPERATOR, ADMIN = "lena@example.com", "otto@example.com", "alma@example.com"


class ProxiedConsole(console_story.Console):
    """A console behind a proxy that signs people in. The test itself is the proxy: it adds the signed header."""

    def __init__(
        self, folder, configuration=console_story.CONFIGURATION, callers=CALLERS, address=None, signing=None, **more
    ):
        self.signing, self.secret = signing or SigningKey(), "ent_" + "a" * 43
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "keys.json").write_text(json.dumps(self.signing.jwks), encoding="utf-8")
        callers = callers.replace("HASH", hashlib.sha256(self.secret.encode()).hexdigest())
        address = address or f"127.0.0.1:{free_port()}"
        super().__init__(folder, configuration + callers, address=address, **more)
        self.address, self.url = address, f"http://{address}"
        self.headers = {"authorization": f"Bearer {self.secret}"}

    def token(self, email, key=None, algorithm="ES256", **more):
        claims = {"iss": "https://proxy.example.com", "aud": "console", "email": email, "exp": time.time() + 600} | more
        return (key or self.signing).sign(claims, algorithm)

    def browser(self, email):
        return Browser(self.address, {"X-Proxy-JWT": self.token(email)})
