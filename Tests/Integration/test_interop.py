"""gRPC's interoperability tests against interop-server: the transport and RPC layers of `entitled`."""

import grpc
import pytest

import certificates
import interop_client as interop
from contract import interop_services


@pytest.fixture(scope="module")
def server():
    server = interop.InteropServer()
    yield server
    server.stop()


@pytest.mark.parametrize("case", interop.CASES)
def test_interoperability_in_cleartext(server, case):
    with grpc.insecure_channel(server.address) as channel:
        interop.CASES[case](interop_services.TestServiceStub(channel), server.address)


# Cases that open a separate connection use cleartext.
OVER_TLS = sorted(set(interop.CASES) - {
    "server_compressed_unary", "client_compressed_streaming", "server_compressed_streaming",
    "unimplemented_service", "channel_soak",
})  # fmt: skip


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    authority = certificates.Authority(tmp_path_factory.mktemp("interop"))
    files = authority.issue("server", "foo.test.google.fr", "localhost")
    server = interop.InteropServer("--use_tls=true", "--tls_cert", files.certificate, "--tls_key", files.key)
    yield server, authority
    server.stop()


@pytest.mark.parametrize("case", OVER_TLS)
def test_interoperability_over_tls(secure, case):
    server, authority = secure
    credentials = grpc.ssl_channel_credentials(authority.file.read_bytes())
    # Equals --server_host_override of an interop client.
    options = [("grpc.ssl_target_name_override", "foo.test.google.fr")]
    with grpc.secure_channel(server.address, credentials, options=options) as channel:
        interop.CASES[case](interop_services.TestServiceStub(channel), server.address)
