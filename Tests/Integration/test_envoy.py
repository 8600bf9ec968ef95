"""deploy/envoy/envoy.yaml in a real Envoy in front of the service: TLS, HTTP/1.1, gRPC and gRPC-Web."""

import datetime
import json
import pathlib
import ssl
import struct
import subprocess
import sys
import urllib.error
import urllib.request

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import contract
import stores
from forge import payload_of
from harness import CALL_LIMIT, ROOT, Service, free_port, post
from stub import StubServer
from test_restart import Load

ENVOY = pathlib.Path(sys.executable).parent / "envoy"
START_LIMIT = 30


def write_certificate(directory):
    """Writes a key and a self-signed certificate for localhost."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    (directory / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (directory / "key.pem").write_bytes(private)


# What Apple and RevenueCat call, and the public keys: at the port for the internet.
PUBLIC = ("/notifications/", "/retention/", "/import/revenuecat/", "/.well-known/jwks.json")


class Edge:
    """Envoy with this repository's file, adapted to the test's names and ports.

    `replicas` are the addresses of further servers of the edge, beside the service, and `unready` the number of them that
    are not ready.
    """

    def __init__(self, directory, service, *replicas, unready=0):
        write_certificate(directory)
        self.public, self.port, admin = free_port(), free_port(), free_port()
        text = (ROOT / "deploy" / "envoy" / "envoy.yaml").read_text()
        for written, here in {
            "address: 0.0.0.0, port_value: 8443": f"address: 127.0.0.1, port_value: {self.public}",
            "address: 0.0.0.0, port_value: 8444": f"address: 127.0.0.1, port_value: {self.port}",
            "port_value: 9901": f"port_value: {admin}",
            "address: entitled, port_value: 8080": self.address(service.http),
            "address: entitled, port_value: 50051": self.address(service.grpc),
            "/etc/envoy/tls": str(directory),
        }.items():
            assert written in text
            text = text.replace(written, here)
        (line,) = [line for line in text.splitlines(keepends=True) if self.address(service.http) in line]
        others = [line.replace(self.address(service.http), self.address(replica)) for replica in replicas]
        text = text.replace(line, "".join([line, *others]))
        self.hosts, self.unready = 2 + len(replicas), unready
        self.file = directory / "envoy.yaml"
        self.file.write_text(text)
        self.admin = f"http://127.0.0.1:{admin}"
        self.certificate = (directory / "certificate.pem").read_bytes()
        self.tls = ssl.create_default_context(cadata=self.certificate.decode())
        self.log = open(directory / "envoy.log", "w+")

    @staticmethod
    def address(text):
        host, port = text.split(":")
        return f"address: {host}, port_value: {port}"

    def start(self):
        command = [str(ENVOY), "--config-path", str(self.file), "--concurrency", "1", "--disable-hot-restart"]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        deadline = datetime.datetime.now() + datetime.timedelta(seconds=START_LIMIT)
        while not self.all_are_checked():
            assert self.process.poll() is None and datetime.datetime.now() < deadline, self.output()

    def all_are_checked(self):
        """Whether Envoy has checked the health of all hosts, and all but the unready ones are healthy."""
        try:
            with urllib.request.urlopen(f"{self.admin}/clusters?format=json", timeout=1) as answer:
                clusters = json.load(answer)["cluster_statuses"]
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
        hosts = [host["health_status"] for cluster in clusters for host in cluster.get("host_statuses", [])]
        failed = [host for host in hosts if host.get("failed_active_health_check")]
        pending = [host for host in hosts if host.get("pending_active_hc")]
        known = all(host.get("eds_health_status") == "HEALTHY" for host in hosts)
        return len(hosts) == self.hosts and len(failed) == self.unready and not pending and known

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def request(self, path, body=None, port=None, **headers):
        """Makes one HTTP/1.1 request over TLS, to the port of the path unless `port` is another one; returns status, headers,
        body."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        port = port or (self.public if path.startswith(PUBLIC) else self.port)
        request = urllib.request.Request(f"https://localhost:{port}{path}", body, named)
        try:
            answer = urllib.request.urlopen(request, timeout=10, context=self.tls)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.headers, answer.read()


@pytest.fixture(scope="module")
def edge(service, tmp_path_factory):
    edge = Edge(tmp_path_factory.mktemp("envoy"), service)
    edge.start()
    yield edge
    edge.process.terminate()
    edge.process.wait(START_LIMIT)


def check_request(customer):
    return contract.entitlement_service.CheckRequest(
        app="ocean-journal", customer_id=customer, entitlement="pro", environment="ENVIRONMENT_SANDBOX"
    )


def test_grpc_over_tls(edge, customer):
    credentials = grpc.ssl_channel_credentials(edge.certificate)
    with grpc.secure_channel(f"localhost:{edge.port}", credentials) as channel:
        answer = contract.entitlement_stub(channel).Check(check_request(customer), timeout=10).entitlement
    assert answer.reason == "NEVER_PURCHASED"


def test_a_stream_over_tls(edge, service, receipts, customer):
    credentials = grpc.ssl_channel_credentials(edge.certificate)
    with grpc.secure_channel(f"localhost:{edge.port}", credentials) as channel:
        request = contract.entitlement_service.WatchRequest(
            app="ocean-journal", customer_ids=[customer], heartbeat_interval={"nanos": 200_000_000}
        )
        stream = contract.entitlement_stub(channel).Watch(request, timeout=30)
        assert next(stream).WhichOneof("content") == "heartbeat"
        bought = service.buy("lifetime")["signedTransactionInfo"]
        receipts.SubmitTransaction(
            contract.receipt_service.SubmitTransactionRequest(
                app="ocean-journal", customer_id=customer, signed_transaction=bought
            )
        )
        seen = next(message.event for message in stream if message.WhichOneof("content") == "event")
        assert (seen.customer_id, seen.type) == (customer, "PURCHASED")
        stream.cancel()


def test_grpc_web_over_http1(edge, customer):
    message = check_request(customer).SerializeToString()
    status, headers, body = edge.request(
        "/entitled.v1.EntitlementService/Check", struct.pack(">BI", 0, len(message)) + message,
        content_type="application/grpc-web+proto", x_grpc_web="1",
    )  # fmt: skip
    assert (status, headers["content-type"]) == (200, "application/grpc-web+proto")
    flags, length = struct.unpack_from(">BI", body)
    answer = contract.entitlement_service.CheckResponse.FromString(body[5 : 5 + length])
    assert (flags, answer.entitlement.reason) == (0, "NEVER_PURCHASED")
    # The trailers are the last frame.
    assert body[5 + length] == 0x80 and b"grpc-status:0" in body[5 + length :].replace(b" ", b"")


def test_json_over_http1(edge, customer):
    order = {"app": "ocean-journal", "customerId": customer, "entitlement": "pro"}
    path = "/entitled.v1.EntitlementService/Check"
    status, _, body = edge.request(path, json.dumps(order).encode(), content_type="application/json")
    assert (status, json.loads(body)["entitlement"]["reason"]) == (200, "NEVER_PURCHASED")


def new_notification(service):
    """The body of a notification that the service does not have."""
    order = {"app": "ocean-journal", "productId": "pro.monthly"}
    _, notification = post(f"http://{service.sandbox}/sandbox/v1/documents/notification", order)
    return json.dumps({"signedPayload": notification["document"]}).encode()


def post_notification(edge, body):
    """The status and the reason of the response to Apple."""
    status, _, answer = edge.request("/notifications/ocean-journal", body, content_type="application/json")
    return status, json.loads(answer)["reason"]


def test_apple_posts_a_notification(edge, service):
    assert post_notification(edge, new_notification(service)) == (200, "APPLIED")


class FailingReplica:
    """Ready, as a replica is that answers from memory, but it takes no write.

    It forwards a write to `taken_by`, if there is one, before it fails, like one whose connection breaks too late.
    It closes the connection instead of a response if it `disconnects`.
    """

    def __init__(self, taken_by=None, disconnects=False):
        self.failed = []
        self.taken_by = taken_by
        self.disconnects = disconnects
        self.server = StubServer(self.answer)
        self.address = self.server.url.removeprefix("http://")

    def answer(self, request):
        if request.path == "/readyz":
            return 200, {"status": "ready"}
        self.failed.append(request.path)
        if self.taken_by:
            status, _ = post(f"http://{self.taken_by}{request.path}", json.loads(request.body))
            assert status == 200
        if self.disconnects:
            raise ConnectionError("this replica disconnects")
        return 503, {"reason": "TRY_AGAIN"}


@pytest.fixture
def beside(service, tmp_path):
    """Starts Envoy in front of the service and a failing replica."""
    started = []

    def start(replica):
        edge = Edge(tmp_path, service, replica.address)
        started.append((edge, replica))
        edge.start()
        return edge

    yield start
    for edge, replica in started:
        edge.process.terminate()
        edge.process.wait(START_LIMIT)
        replica.server.close()


# The hosts take turns, so of several requests some begin at the failing replica.
SEVERAL = 6


@pytest.mark.parametrize("padding", [0, 500_000], ids=["small", "large"])
def test_a_notification_goes_to_another_replica_after_503(beside, service, padding):
    failing = FailingReplica()
    edge = beside(failing)
    results = [post_notification(edge, new_notification(service) + b" " * padding) for _ in range(SEVERAL)]
    assert results == [(200, "APPLIED")] * SEVERAL
    # Each repetition was at the other one.
    assert 0 < len(failing.failed) <= SEVERAL


@pytest.mark.parametrize("disconnects", [False, True], ids=["503", "disconnect"])
def test_a_repeated_notification_that_was_taken_is_stored_once(beside, service, disconnects):
    failing = FailingReplica(service.http, disconnects)
    edge = beside(failing)
    bodies = [new_notification(service) for _ in range(SEVERAL)]
    assert [post_notification(edge, body) for body in bodies] == [(200, "APPLIED")] * SEVERAL
    assert failing.failed
    sent = {payload_of(json.loads(body)["signedPayload"])["notificationUUID"] for body in bodies}
    url = f"http://{service.http}/entitled.v1.NotificationService/ListNotifications"
    _, newest = post(url, {"app": "ocean-journal", "pageSize": 2 * SEVERAL})
    stored = [notification["notificationUuid"] for notification in newest["notifications"]]
    assert [stored.count(uuid) for uuid in sent] == [1] * SEVERAL


def test_a_write_that_may_have_been_executed_is_not_repeated(beside):
    failing = FailingReplica()
    edge = beside(failing)
    path = "/entitled.v1.EntitlementService/Grant"
    statuses = [edge.request(path, b"{}", content_type="application/json")[0] for _ in range(SEVERAL)]
    assert statuses.count(503) == len(failing.failed) > 0


@pytest.mark.parametrize("path", ["/metrics", "/healthz", "/readyz", "/sandbox/v1/purchases", "/"])
def test_operator_endpoints_are_not_exposed(edge, path):
    assert [edge.request(path, port=port)[0] for port in (edge.public, edge.port)] == [404, 404]


CHECK = json.dumps({"app": "ocean-journal", "customerId": "ana", "entitlement": "pro"}).encode()
RECEIPTS = ["/verifyReceipt", "/production/verifyReceipt", "/sandbox/verifyReceipt/ocean-journal"]


@pytest.mark.parametrize("path", ["/entitled.v1.EntitlementService/Check", *RECEIPTS])
def test_the_port_for_the_internet_has_nothing_for_callers(edge, path):
    assert edge.request(path, CHECK, port=edge.public, content_type="application/json")[0] == 404
    assert edge.request(path, CHECK, content_type="application/json")[0] == 200


@pytest.mark.parametrize("path", [path + "ocean-journal" for path in PUBLIC if path.endswith("/")])
def test_the_port_for_callers_has_nothing_for_the_internet(edge, path):
    assert edge.request(path, b"{}", port=edge.port, content_type="application/json")[0] == 404


def test_a_majority_that_is_not_ready_gets_no_calls(service, tmp_path):
    """By default Envoy would use all hosts if less than half of them were healthy."""
    starting = [StubServer(lambda request: (503, {"status": "not ready"})) for _ in range(2)]
    edge = Edge(tmp_path, service, *(server.url.removeprefix("http://") for server in starting), unready=len(starting))
    edge.start()
    path = "/entitled.v1.EntitlementService/Check"
    try:
        assert {edge.request(path, CHECK, content_type="application/json")[0] for _ in range(3 * SEVERAL)} == {200}
    finally:
        edge.process.terminate()
        edge.process.wait(START_LIMIT)
        for server in starting:
            server.close()


def test_no_call_is_lost_when_the_service_restarts(tmp_path):
    service = Service(tmp_path / "data")
    edge = Edge(tmp_path, service)
    edge.start()
    body = json.dumps({"app": "ocean-journal", "customerId": "ana", "entitlement": "pro"}).encode()

    def json_call():
        answer = edge.request("/entitled.v1.EntitlementService/Check", body, content_type="application/json")
        assert answer[0] == 200, answer

    credentials = grpc.ssl_channel_credentials(edge.certificate)
    notification = new_notification(service)

    def notify():
        status, reason = post_notification(edge, notification)
        # A replica on PostgreSQL that does not lead again yet accepts it for the next leader.
        assert status == 200 and reason in ({"APPLIED"} if stores.IS_SQLITE else {"APPLIED", "ACCEPTED"})

    with grpc.secure_channel(f"localhost:{edge.port}", credentials) as channel:
        stub = contract.entitlement_stub(channel)
        calls = [lambda: stub.Check(check_request("ana"), timeout=CALL_LIMIT)] * 4 + [json_call] * 2 + [notify]
        with Load(*calls) as load:
            for _ in range(2):
                load.wait_for_calls()
                service.stop()
                service = Service(service.data, ["--grpc", service.grpc, "--http", service.http])
            load.wait_for_calls()
        assert load.failures == []
    edge.process.terminate()
    edge.process.wait(START_LIMIT)
    service.stop()
