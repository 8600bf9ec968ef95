"""The console behind a real identity-aware proxy: Apache with mod_auth_openidc, and an identity provider of the test."""

import http.client
import http.server
import json
import pathlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

import pytest

from certificates import Authority
from console_client import ProxiedConsole, SigningKey
from console_story import CONFIGURATION
from harness import CALL_LIMIT, free_port

APACHE = shutil.which("apache2", path="/usr/sbin:/usr/bin")
MODULES = pathlib.Path("/usr/lib/apache2/modules")
pytestmark = pytest.mark.skipif(
    APACHE is None or not (MODULES / "mod_auth_openidc.so").exists(),
    reason="no libapache2-mod-auth-openidc; run `tools/bootstrap --test`")  # fmt: skip

CALLERS = """callers:
  machines: {{roles: [admin], tokens: ["sha256:HASH"]}}
  operators: {{roles: [read, operate], subjects: [lena@example.com]}}
listeners:
  console:
    identity:
      header: OIDC_id_token
      issuer: {issuer}
      audience: console
      subject_claim: email
      keys: {{file: keys.json}}
"""
# As deploy/console/apache.conf, but without TLS.
SITE = """
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
User www-data
Group www-data
PidFile {folder}/apache.pid
ErrorLog {folder}/error.log
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule proxy_module {modules}/mod_proxy.so
LoadModule proxy_http_module {modules}/mod_proxy_http.so
LoadModule auth_openidc_module {modules}/mod_auth_openidc.so
DefaultRuntimeDir {folder}
OIDCProviderIssuer {issuer}
OIDCProviderAuthorizationEndpoint {issuer}/authorize
OIDCProviderTokenEndpoint {issuer}/token
OIDCProviderTokenEndpointAuth client_secret_post
OIDCProviderJwksUri {issuer}/keys
OIDCSSLValidateServer Off
OIDCClientID console
OIDCClientSecret secret
OIDCIDTokenSignedResponseAlg ES256
OIDCResponseType code
OIDCScope "openid email"
OIDCRedirectURI http://127.0.0.1:{port}/callback
OIDCCryptoPassphrase a-passphrase-of-the-test
OIDCRemoteUserClaim email
OIDCPassIDTokenAs serialized
<Location />
  AuthType openid-connect
  Require valid-user
  ProxyPass http://{console}/
  ProxyPreserveHost On
</Location>
"""


class Provider:
    """An OpenID Connect provider that signs in whomever `person` names."""

    def __init__(self, folder):
        self.signing, self.person, self.nonces = SigningKey(), "lena@example.com", {}
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                parts = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(parts.query))
                if parts.path == "/keys":
                    return self.json(provider.signing.jwks)
                code = f"code-{len(provider.nonces)}"
                provider.nonces[code] = query.get("nonce")
                back = urllib.parse.urlencode({"code": code, "state": query["state"]})
                self.send_response(302)
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.end_headers()

            def do_POST(self):
                form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
                now = int(time.time())
                claims = {"iss": provider.issuer, "aud": "console", "sub": "1", "email": provider.person, "iat": now,
                          "exp": now + 600, "nonce": provider.nonces.pop(form["code"])}  # fmt: skip
                token = provider.signing.sign({k: v for k, v in claims.items() if v is not None})
                self.json({"access_token": "x", "token_type": "Bearer", "id_token": token, "expires_in": 600})

            def json(self, value):
                body = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # Apache accepts no provider without TLS.
        files = Authority(folder).issue("localhost", "localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.issuer = f"https://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()


class Visitor:
    """A browser that follows redirects between the proxy and the provider, with one jar of cookies."""

    def __init__(self):
        self.cookies = {}

    def get(self, url, **headers):
        for _ in range(10):
            parts = urllib.parse.urlsplit(url)
            connection = (
                http.client.HTTPConnection(parts.netloc, timeout=CALL_LIMIT) if parts.scheme == "http"
                else http.client.HTTPSConnection(parts.netloc, timeout=CALL_LIMIT, context=ssl._create_unverified_context()))
            fields = {k.replace("_", "-") if k != "OIDC_id_token" else k: v for k, v in headers.items()}
            # Others than browsers are not sent to the provider.
            fields["Accept"] = "text/html"
            if self.cookies:
                fields["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
            connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""), headers=fields)
            response = connection.getresponse()
            response.text = response.read().decode()
            for cookie in response.headers.get_all("set-cookie") or []:
                name, _, value = cookie.split(";")[0].partition("=")
                self.cookies[name] = value
                if not value:
                    del self.cookies[name]
            if response.status not in (302, 303):
                return response
            url = urllib.parse.urljoin(url, response.getheader("location"))
        raise AssertionError("too many redirects")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proxy")
    provider, port, address = Provider(folder), free_port(), f"127.0.0.1:{free_port()}"
    console = ProxiedConsole(
        folder / "console", CONFIGURATION, CALLERS.format(issuer=provider.issuer), address, signing=provider.signing)
    apache_folder = folder / "apache"
    apache_folder.mkdir()
    (apache_folder / "site.conf").write_text(SITE.format(
        port=port, folder=apache_folder, modules=MODULES, issuer=provider.issuer, console=address))
    for parent in [apache_folder, *apache_folder.parents][:4]:
        parent.chmod(0o755)
    process = subprocess.Popen(
        [APACHE, "-f", apache_folder / "site.conf", "-DFOREGROUND"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 3 * CALL_LIMIT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline, (apache_folder / "error.log").read_text()
            time.sleep(0.05)
    console.proxy_log = apache_folder / "error.log"
    console.proxy, console.provider, console.direct = f"http://127.0.0.1:{port}", provider, f"http://{address}"
    yield console
    process.terminate()
    process.wait(CALL_LIMIT)
    console.service.stop()


def test_a_person_signs_in_at_the_provider_and_uses_the_console(site):
    visitor = Visitor()
    page = visitor.get(f"{site.proxy}/a/ocean/sandbox/customers/ada")
    assert page.status == 200, (page.text, site.proxy_log.read_text())
    assert "lena@example.com" in page.text and "/do/grant" in page.text
    entries = site.call("AuditService/ListAuditEntries", customerId="ada")["entries"]
    assert {entry["actor"] for entry in entries} == {"lena@example.com"}


def test_a_person_without_a_role_is_refused(site):
    site.provider.person = "mallory@example.com"
    page = Visitor().get(f"{site.proxy}/")
    site.provider.person = "lena@example.com"
    assert page.status == 401 and "Customers" not in page.text


def test_a_header_of_the_client_does_not_pass_the_proxy(site):
    """The token is genuine and belongs to lena, but another person has signed in."""
    now = int(time.time())
    lenas = site.provider.signing.sign({
        "iss": site.provider.issuer, "aud": "console", "email": "lena@example.com", "iat": now, "exp": now + 600})
    assert Visitor().get(f"{site.direct}/", OIDC_id_token=lenas).status == 200, "the header signs in without the proxy"
    site.provider.person = "mallory@example.com"
    page = Visitor().get(f"{site.proxy}/", OIDC_id_token=lenas)
    site.provider.person = "lena@example.com"
    assert page.status == 401 and "lena" not in page.text


def test_nothing_but_the_token_signs_in_past_the_proxy(site):
    for headers in ({}, {"X_Remote_User": "lena@example.com"}, {"Authorization": f"Bearer {site.secret}"}):
        assert Visitor().get(f"{site.direct}/", **headers).status == 401


def test_a_token_of_another_key_does_not_sign_in(site):
    now = int(time.time())
    forged = SigningKey().sign({
        "iss": site.provider.issuer, "aud": "console", "email": "lena@example.com", "iat": now, "exp": now + 600})
    assert Visitor().get(f"{site.direct}/", OIDC_id_token=forged).status == 401
