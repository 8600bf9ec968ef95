"""TLS on both ports: versions, suites, ALPN, reload of certificates, client certificates."""

import json
import signal
import socket
import ssl
import subprocess
import urllib.request

import grpc
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from grpc_health.v1 import health_pb2, health_pb2_grpc

import contract
from certificates import Authority
from contract import entitlement_service
from harness import CALL_LIMIT, FREE_PORTS, Service, run, wait_for
from test_doctor import tls_server
from test_reload import CATALOG

CHECK_REQUEST = entitlement_service.CheckRequest(app="ocean-journal", customer_id="ana", entitlement="pro")
ROLES = """
callers:
  billing:
    roles: [read]
    certificate_names: ["spiffe://example.com/billing"]
"""


class SecureService:
    """A service with TLS on both ports and a certificate of a private authority."""

    def __init__(self, folder, more=""):
        self.authority = Authority(folder)
        self.files = self.authority.issue("server", "localhost", addresses=["127.0.0.1"])
        tls = f"{{tls: {{certificate: server.crt, key: server.key, client_ca: {self.authority.file.name}}}}}"
        listeners = f"\nlisteners:\n  grpc: {tls}\n  http: {tls}\n"
        (folder / "entitled.yaml").write_text(CATALOG.replace("ENTITLEMENTS", "pro") + listeners + more)
        self.service = Service(folder / "data", ["--config", folder / "entitled.yaml"])

    def channel(self, files=None):
        root = self.authority.file.read_bytes()
        own = (files.key.read_bytes(), files.certificate.read_bytes()) if files else (None, None)
        options = [("grpc.ssl_target_name_override", "localhost"), ("grpc.use_local_subchannel_pool", 1)]
        return grpc.secure_channel(self.service.grpc, grpc.ssl_channel_credentials(root, *own), options=options)

    def context(self):
        return ssl.create_default_context(cafile=self.authority.file)

    def handshake(self, address, context):
        """Performs a handshake; returns the protocol, the suite, ALPN's choice and the certificate's serial number."""
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=CALL_LIMIT) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as secure:
                number = secure.getpeercert()["serialNumber"]
                return secure.version(), secure.cipher()[0], secure.selected_alpn_protocol(), number


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    secure = SecureService(tmp_path_factory.mktemp("tls"))
    yield secure
    secure.service.stop()


def test_calls_over_tls(secure):
    with secure.channel() as channel:
        assert contract.entitlement_stub(channel).Check(CHECK_REQUEST, timeout=CALL_LIMIT).entitlement.reason == "NEVER_PURCHASED"


def test_the_edge_over_tls_in_both_versions_of_http(secure):
    url = f"https://localhost:{secure.service.http.rpartition(':')[2]}/healthz"
    with urllib.request.urlopen(url, context=secure.context(), timeout=CALL_LIMIT) as answer:
        assert answer.read() == b"alive\n"
    for version, shown in {"--http1.1": "HTTP/1.1 200", "--http2": "HTTP/2 200"}.items():
        command = ["curl", "--silent", "--include", version, "--cacert", str(secure.authority.file), url]
        assert subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.startswith(shown)


def test_the_commands_over_tls(secure):
    for host in ("localhost", "127.0.0.1"):
        address = secure.service.grpc.replace("127.0.0.1", host)
        result = run("check", "ana", "pro", "--grpc", address, "--tls-ca", secure.authority.file)
        assert (result.returncode, "NEVER_PURCHASED" in result.stdout) == (3, True), result.stderr


def test_the_first_calls_that_the_service_prints_are_over_tls(secure):
    wait_for(lambda: f" https://{secure.service.http}\n" in secure.service.log)
    wait_for(lambda: f"--grpc {secure.service.grpc} --tls-ca AUTHORITIES.pem" in secure.service.log)


def test_the_link_of_a_console_with_tls_is_https(secure):
    folder = secure.service.data.parent
    listener = "  console: {tls: {certificate: server.crt, key: server.key}}\n"
    (folder / "console.yaml").write_text((folder / "entitled.yaml").read_text() + listener)
    for name, scheme in (("console", "https"), ("entitled", "http")):
        done = run("console", "--data", secure.service.data, "--config", folder / f"{name}.yaml")
        assert done.stdout.startswith(f"{scheme}://127.0.0.1:8070/session/once?code="), done


@pytest.mark.parametrize(
    "options, reason",
    [
        ((), "the server requires TLS; set --tls"),
        (("--tls",), "the server's certificate is not valid for the trusted authorities; set --tls-ca"),
    ],
)
def test_a_command_with_wrong_tls_options_names_the_right_one(secure, options, reason):
    address = secure.service.grpc
    done = run("health", "--grpc", address, *options)
    assert (done.returncode, done.stderr) == (1, f"entitled: the connection to {address} was lost: {reason}\n")


def test_a_command_names_a_certificate_for_another_host(secure):
    with tls_server(secure.authority.issue("other", "other.example.com")) as port:
        done = run("health", "--grpc", f"localhost:{port}", "--tls-ca", secure.authority.file)
    assert done.returncode == 1 and "was lost: the server's certificate is for another host name" in done.stderr


def test_a_command_with_tls_names_a_server_without(start):
    done = run("health", "--grpc", start().grpc, "--tls")
    assert done.returncode == 1 and "was lost: the server does not use TLS; leave out --tls" in done.stderr


@pytest.mark.parametrize(
    "options, status, error",
    [
        (("--tls-ca", "nowhere.pem"), 1, "entitled: cannot read 'nowhere.pem': No such file or directory\n"),
        (("--tls-ca", "/etc/hostname"), 1, "entitled: '/etc/hostname' has no certificate in PEM\n"),
        (("--tls-certificate", "a.pem"), 64, "entitled: --tls-certificate and --tls-key belong together; set both\n"),
        (("--tls-key", "a.pem"), 64, "entitled: --tls-certificate and --tls-key belong together; set both\n"),
    ],
)  # fmt: skip
def test_a_wrong_tls_file_of_a_command_is_named(options, status, error):
    # Without it, the command would call the server: no server has this port.
    done = run("health", "--grpc", "127.0.0.1:1", *options)
    assert (done.returncode, done.stderr) == (status, error)


@pytest.mark.parametrize("port", ["grpc", "http"])
def test_versions_suites_and_alpn(secure, port):
    address = getattr(secure.service, port)
    context = secure.context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    version, _, alpn, _ = secure.handshake(address, context)
    assert (version, alpn) == ("TLSv1.3", "h2")
    context.set_alpn_protocols(["http/1.1"])
    assert secure.handshake(address, context)[2] == "http/1.1"
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    version, suite, _, _ = secure.handshake(address, context)
    assert (version, suite[:5]) == ("TLSv1.2", "ECDHE")
    assert "GCM" in suite or "CHACHA20" in suite


@pytest.mark.parametrize(
    "version, suites",
    [
        pytest.param(ssl.TLSVersion.TLSv1_1, "ALL:@SECLEVEL=0", id="TLS 1.1"),
        pytest.param(ssl.TLSVersion.TLSv1_2, "ECDHE+AES+SHA:@SECLEVEL=0", id="CBC"),
        pytest.param(ssl.TLSVersion.TLSv1_2, "RSA+AESGCM:@SECLEVEL=0", id="no forward secrecy"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
def test_weak_versions_and_suites_are_rejected(secure, version, suites):
    context = secure.context()
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = version
    context.set_ciphers(suites)
    with pytest.raises((ssl.SSLError, ConnectionError)):
        secure.handshake(secure.service.grpc, context)


REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def connect(secure, context, session=None):
    """Sends a request; returns whether the session resumed, and the one for the next connection."""
    with socket.create_connection(tuple(secure.service.http.rsplit(":", 1)), timeout=CALL_LIMIT) as plain:
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as connection:
            connection.sendall(REQUEST)
            while connection.recv(65_536):
                pass
            return connection.session_reused, connection.session


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_session_resumes_until_the_certificate_is_replaced(secure, version):
    context = secure.context()
    context.maximum_version = version
    first = connect(secure, context)
    assert not first[0] and connect(secure, context, first[1])[0]
    reload(secure, "certificate reloaded")
    assert not connect(secure, context, first[1])[0]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_certificate_is_verified_on_each_connection(secure, version):
    context = secure.context()
    context.maximum_version = version
    lasting = secure.authority.issue("lasting", uris=["spiffe://example.com/billing"])
    context.load_cert_chain(lasting.certificate, lasting.key)
    _, session = connect(secure, context)
    # A resumed session would be that of the certificate even after its expiry.
    assert session and not connect(secure, context, session)[0]


def test_a_client_cannot_renegotiate(secure):
    command = ["openssl", "s_client", "-tls1_2", "-connect", secure.service.http, "-CAfile", secure.authority.file]
    client = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
    # The client reads commands after it has printed the session.
    for line in client.stdout:
        if "Extended master secret" in line:
            break
    output, _ = client.communicate("R\n", timeout=30)
    assert "no renegotiation" in output and client.returncode != 0


def test_a_response_larger_than_a_record_arrives_whole(secure):
    with socket.create_connection(tuple(secure.service.http.rsplit(":", 1)), timeout=CALL_LIMIT) as plain:
        with secure.context().wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(REQUEST.replace(b"/healthz", b"/openapi.json"))
            answer = b""
            while part := connection.recv(65_536):
                answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"200 OK" in head and json.loads(body)["openapi"].startswith("3.1") and len(body) > 100_000


def test_a_client_that_negotiated_http_1_1_cannot_speak_http_2(secure):
    context = secure.context()
    context.set_alpn_protocols(["http/1.1"])
    host, _, number = secure.service.http.rpartition(":")
    with socket.create_connection((host, int(number)), timeout=CALL_LIMIT) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
            try:
                assert connection.recv(65_536) == b""
            except ConnectionError:
                pass


@pytest.mark.parametrize("port", ["grpc", "http"])
@pytest.mark.parametrize(
    "first", [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"])
def test_a_client_that_negotiated_http_2_must_speak_it(secure, port, first):
    context = secure.context()
    context.set_alpn_protocols(["h2"])
    host, _, number = getattr(secure.service, port).rpartition(":")
    with socket.create_connection((host, int(number)), timeout=CALL_LIMIT) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(first)
            try:
                assert connection.recv(65_536) == b""
            except ConnectionError:
                pass


@pytest.mark.parametrize("port", ["grpc", "http"])
def test_a_request_in_plain_http_is_told_to_use_https(secure, port):
    address = getattr(secure.service, port)
    with socket.create_connection(tuple(address.rsplit(":", 1)), timeout=CALL_LIMIT) as connection:
        connection.sendall(b"POST /notifications/ocean-journal HTTP/1.1\r\nHost: localhost\r\n\r\n" + bytes(100_000))
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.endswith(b"\r\n\r\nplain HTTP on a port with TLS: use https\n")


@pytest.mark.parametrize("first", [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\0\1\2 no TLS", b"x" * 100])
def test_input_that_is_neither_tls_nor_plain_http_gets_no_response(secure, first):
    with socket.create_connection(tuple(secure.service.http.rsplit(":", 1)), timeout=CALL_LIMIT) as connection:
        connection.sendall(first)
        answer = b""
        try:
            while part := connection.recv(65_536):
                answer += part
        except ConnectionError:
            pass
    # TLS may end with an alert.
    assert b"HTTP" not in answer


def test_cleartext_connections_are_closed(secure):
    with secure.service.channel() as channel, pytest.raises(grpc.RpcError) as error:
        contract.entitlement_stub(channel).Check(CHECK_REQUEST, timeout=2)
    assert error.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def test_sighup_replaces_the_certificate_and_keeps_open_streams(secure):
    with secure.channel() as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=60)
        next(watching)
        before = secure.handshake(secure.service.grpc, secure.context())[3]
        # A malformed file changes nothing.
        good = secure.files.certificate.read_bytes()
        secure.files.certificate.write_text("nothing")
        reload(secure, "reload of certificate failed")
        assert secure.handshake(secure.service.grpc, secure.context())[3] == before
        secure.files.certificate.write_bytes(good)
        secure.authority.issue("server", "localhost", addresses=["127.0.0.1"])
        reload(secure, "certificate reloaded")
        assert secure.handshake(secure.service.grpc, secure.context())[3] != before
        assert secure.handshake(secure.service.http, secure.context())[3] != before
        assert contract.entitlement_stub(channel).Check(CHECK_REQUEST, timeout=CALL_LIMIT).entitlement.reason
        watching.cancel()


def reload(secure, line):
    """Sends SIGHUP and waits until both ports have logged the result."""
    known = secure.service.log.count(line)
    secure.service.process.send_signal(signal.SIGHUP)
    for _ in range(CALL_LIMIT * 20):
        if secure.service.log.count(line) == known + 2:
            return
        signal.sigtimedwait([], 0.05)
    raise AssertionError(secure.service.log)


def test_a_caller_is_identified_by_its_certificate(tmp_path):
    secure = SecureService(tmp_path, ROLES)
    billing = secure.authority.issue("billing", uris=["spiffe://example.com/billing"])
    other = secure.authority.issue("other", uris=["spiffe://example.com/other"])
    (tmp_path / "foreign").mkdir()
    stranger = Authority(tmp_path / "foreign").issue("stranger", uris=["spiffe://example.com/billing"])
    try:
        assert check(secure, billing) is None
        assert check(secure, other) == grpc.StatusCode.UNAUTHENTICATED
        assert check(secure, None) == grpc.StatusCode.UNAUTHENTICATED
        assert check(secure, stranger) == grpc.StatusCode.UNAVAILABLE
        assert edge(secure, billing) == "NEVER_PURCHASED"
    finally:
        secure.service.stop()


def check(secure, files):
    try:
        with secure.channel(files) as channel:
            contract.entitlement_stub(channel).Check(CHECK_REQUEST, timeout=CALL_LIMIT)
    except grpc.RpcError as error:
        return error.code()
    return None


def edge(secure, files):
    context = secure.context()
    context.load_cert_chain(files.certificate, files.key)
    url = f"https://localhost:{secure.service.http.rpartition(':')[2]}/entitled.v1.EntitlementService/Check"
    body = json.dumps({"app": "ocean-journal", "customerId": "ana", "entitlement": "pro"}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, context=context, timeout=CALL_LIMIT) as answer:
        return json.load(answer)["entitlement"]["reason"]


def test_a_public_port_requires_tls_or_an_explicit_setting(tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\ncallers: open\n")
    ended = run("serve", *FREE_PORTS, "--config", file, "--data", tmp_path / "data", "--grpc", "0.0.0.0:0")
    assert ended.returncode == 1
    assert "listeners.grpc.cleartext" in ended.stderr
    file.write_text(file.read_text() + "listeners:\n  grpc: {cleartext: true}\n")
    Service(tmp_path / "data", ["--config", file, "--grpc", "0.0.0.0:0"]).stop()


@pytest.mark.parametrize("other_type", [False, True], ids=["same type", "other type"])
def test_a_key_of_another_certificate_is_named_at_the_start(tmp_path, other_type):
    authority = Authority(tmp_path)
    certificate = authority.issue("one", "localhost").certificate
    key = authority.issue("two", "localhost").key
    if other_type:
        key.write_bytes(
            ed25519.Ed25519PrivateKey.generate().private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    listeners = f"\nlisteners:\n  grpc: {{tls: {{certificate: {certificate}, key: {key}}}}}\n"
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + listeners)
    ended = run("serve", *FREE_PORTS, "--config", file, "--data", tmp_path / "data")
    assert ended.returncode == 1
    assert "one.crt and its key" in ended.stderr, ended.stderr


@pytest.mark.parametrize(
    "names, error",
    [
        (("text.pem", "one.key"), "text.pem for TLS: it is no certificate in PEM"),
        (("missing.pem", "one.key"), "missing.pem for TLS: No such file or directory"),
        (("one.crt", "text.pem"), "text.pem for TLS: it is no private key in PEM without a passphrase"),
    ],
    ids=["text", "missing", "key"],
)  # fmt: skip
def test_a_tls_file_that_cannot_be_used_is_named_with_the_reason(tmp_path, names, error):
    Authority(tmp_path).issue("one", "localhost")
    (tmp_path / "text.pem").write_text("no PEM\n")
    certificate, key = names
    file = tmp_path / "entitled.yaml"
    file.write_text(
        CATALOG.replace("ENTITLEMENTS", "pro") + f"\nlisteners:\n  grpc: {{tls: {{certificate: {certificate}, key: {key}}}}}\n")
    ended = run("serve", *FREE_PORTS, "--config", file, "--data", tmp_path / "data")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1) and error in ended.stderr, ended.stderr


def scrape(secure, files=None, version="--http1.1"):
    """The HTTP status and the text of a scrape with this client certificate."""
    url = f"https://localhost:{secure.service.http.rpartition(':')[2]}/metrics"
    own = ["--cert", str(files.certificate), "--key", str(files.key)] if files else []
    command = ["curl", "--silent", version, "--cacert", str(secure.authority.file), *own, "--write-out", "%{http_code}", url]
    text = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    return text[-3:], text[:-3]


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_a_client_certificate_with_the_role_reads_the_metrics(tmp_path, version):
    secure = SecureService(tmp_path, ROLES + """
  writer:
    roles: [submit]
    certificate_names: ["spiffe://example.com/writer"]
""")
    try:
        billing = secure.authority.issue("billing", uris=["spiffe://example.com/billing"])
        writer = secure.authority.issue("writer", uris=["spiffe://example.com/writer"])
        stranger = secure.authority.issue("stranger", uris=["spiffe://example.com/stranger"])
        status, text = scrape(secure, billing, version)
        assert status == "200" and "entitled_ready 1" in text
        assert [scrape(secure, files, version)[0] for files in (writer, stranger, None)] == ["403", "401", "401"]
    finally:
        secure.service.stop()


@pytest.mark.parametrize("port", ["grpc", "http"])
def test_http_2_in_plain_text_is_told_to_use_tls(secure, port):
    address = getattr(secure.service, port)
    with socket.create_connection(tuple(address.rsplit(":", 1)), timeout=CALL_LIMIT) as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(100_000))
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    assert answer == bytes([21, 3, 1, 0, 2, 2, 70]), "a fatal alert, protocol_version, which no reset overtakes"
