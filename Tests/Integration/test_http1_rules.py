"""The rules of RFC 9112 and RFC 9110, one broken or kept by each test: no request is served whose end or host is in doubt."""

import re
import socket

import pytest

from harness import CALL_LIMIT
from raw import Connection
from test_protocol import exchange

CHECK = b"POST /entitled.v1.EntitlementService/Check HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
CLOSE = b"Connection: close\r\n"
BODY = b'{"app": "ocean-journal", "customerId": "ana", "entitlement": "pro"}'
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
HEAD = CHECK + HOST + JSON + CLOSE
GET = b"GET /healthz HTTP/1.1\r\n"
UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
SMUGGLED = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


def statuses(service, *parts):
    """The status codes of all responses, interim ones included."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", exchange(service.http, b"".join(parts)))]


# Requests and their only response; what follows them is not served.
REFUSED = {
    "content-length and transfer-encoding": (HEAD + b"Content-Length: 5\r\n" + CHUNKED + b"\r\n0\r\n\r\n" + SMUGGLED, 400),
    "transfer-encoding and content-length": (HEAD + CHUNKED + b"Content-Length: 5\r\n\r\n0\r\n\r\n" + SMUGGLED, 400),
    "two lengths": (HEAD + b"Content-Length: 4\r\n" + LENGTH + b"\r\n" + BODY, 400),
    "a list of lengths": (HEAD + b"Content-Length: 4, 4\r\n\r\n" + BODY, 400),
    "a signed length": (HEAD + b"Content-Length: +4\r\n\r\n" + BODY, 400),
    "a negative length": (HEAD + b"Content-Length: -1\r\n\r\n" + BODY, 400),
    "a hexadecimal length": (HEAD + b"Content-Length: 0x4\r\n\r\n" + BODY, 400),
    "an overflowing length": (HEAD + b"Content-Length: 99999999999999999999\r\n\r\n" + BODY, 400),
    "a space before the colon": (HEAD + b"Content-Length : 4\r\n\r\n" + BODY, 400),
    "an unknown coding": (HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNK, 501),
    "chunked before another coding": (HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400),
    "a coding before chunked": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, 501),
    "chunked twice": (HEAD + CHUNKED + CHUNKED + b"\r\n0\r\n\r\n", 400),
    "a coding in HTTP/1.0": (CHECK.replace(b"1.1", b"1.0") + HOST + JSON + b"Connection: keep-alive\r\n" + CHUNKED + b"\r\n0\r\n\r\n" + SMUGGLED, 400),
    "an overflowing chunk": (HEAD + CHUNKED + b"\r\n10000000000000005\r\nabcde\r\n0\r\n\r\n", 400),
    "a negative chunk": (HEAD + CHUNKED + b"\r\n-5\r\nabcde\r\n0\r\n\r\n", 400),
    "a chunk without its end": (HEAD + CHUNKED + b"\r\n5\r\nabcdeXX0\r\n\r\n", 400),
    "chunks with line feeds only": (HEAD + CHUNKED + b"\r\n5\nabcde\n0\n\n", 400),
    "a folded field": (HEAD + b"X-A: b\r\n c\r\n" + LENGTH + b"\r\n" + BODY, 400),
    "line feeds only": (b"GET /healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n", 400),
    "NUL in a field": (GET + HOST + b"X: a\0b\r\n\r\n", 400),
    "CR in a field": (GET + HOST + b"X: a\rb\r\n\r\n", 400),
    "a space in a name": (GET + HOST + b"X A: b\r\n\r\n", 400),
    "a host with a space": (GET + b"Host: a b\r\n\r\n" + SMUGGLED, 400),
    "a host with a path": (GET + b"Host: a/b\r\n\r\n" + SMUGGLED, 400),
    "a host with a user": (GET + b"Host: localhost:80@evil.example\r\n\r\n" + SMUGGLED, 400),
    "a target with a user": (b"GET http://localhost@evil.example/healthz HTTP/1.1\r\n" + HOST + b"\r\n" + SMUGGLED, 400),
    "a length without digits": (HEAD + b"Content-Length:\r\n\r\n" + SMUGGLED, 400),
    "a length with a space": (HEAD + b"Content-Length: 4 4\r\n\r\n" + BODY, 400),
    "a coding after a vertical tab": (HEAD + b"Transfer-Encoding:\x0bchunked\r\n" + LENGTH + b"\r\n" + BODY, 400),
    "a coding with a space before the colon": (HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, 400),
    "no coding": (HEAD + b"Transfer-Encoding:\r\n" + LENGTH + b"\r\n" + BODY, 501),
    "chunked, and then none": (HEAD + CHUNKED + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n" + SMUGGLED, 400),
    "a chunk in C's notation": (HEAD + CHUNKED + b"\r\n0x5\r\nabcde\r\n0\r\n\r\n", 400),
    "a chunk with a sign": (HEAD + CHUNKED + b"\r\n+5\r\nabcde\r\n0\r\n\r\n", 400),
    "a chunk after a space": (HEAD + CHUNKED + b"\r\n 5\r\nabcde\r\n0\r\n\r\n", 400),
    "a chunk without a size": (HEAD + CHUNKED + b"\r\n;a=b\r\nabcde\r\n0\r\n\r\n", 400),
    "a line feed in an extension": (HEAD + CHUNKED + b"\r\n5;a\nabcde\r\n0\r\n\r\n" + SMUGGLED, 400),
    "a carriage return in an extension": (HEAD + CHUNKED + b"\r\n5;a\rb\r\nabcde\r\n0\r\n\r\n" + SMUGGLED, 400),
    "a last chunk with a line feed": (HEAD + CHUNKED + b"\r\n0\n\r\n" + SMUGGLED, 400),
    "a length in the trailers": (HEAD + CHUNKED + b"\r\n" + CHUNK + b"0\r\nContent-Length: 1\r\n\r\n", 400),
    "a folded trailer": (HEAD + CHUNKED + b"\r\n0\r\nX: a\r\n b\r\n\r\n" + SMUGGLED, 400),
    "a trailer without a colon": (HEAD + CHUNKED + b"\r\n0\r\nX\r\n\r\n" + SMUGGLED, 400),
    "a line without a colon": (GET + HOST + b"X\r\n\r\n", 400),
    "a field without a name": (GET + HOST + b": a\r\n\r\n", 400),
    "a name beyond ASCII": (GET + HOST + "ü: a\r\n\r\n".encode(), 400),
    "a space before the first field": (GET + b" " + HOST + b"\r\n", 400),
    "a method in lower case": (GET.replace(b"GET", b"get") + HOST + b"\r\n", 400),
    "a carriage return in the target": (b"GET /a\rb HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "a space in the target": (b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "a protocol in lower case": (GET.replace(b"HTTP", b"http") + HOST + b"\r\n", 400),
    "HTTP/2 without its preface": (GET.replace(b"1.1", b"2.0") + HOST + b"\r\n", 400),
    "a tunnel": (b"CONNECT localhost:443 HTTP/1.1\r\n" + HOST + b"\r\n" + SMUGGLED, 405),
    "a version to come": (b"GET /healthz HTTP/3.0\r\n" + HOST + b"\r\n", 400),
    "no version": (b"GET /healthz\r\n\r\n", 400),
    "an announced body over the limit": (HEAD + b"Expect: 100-continue\r\nContent-Length: 50000000\r\n\r\n", 413),
    "a body over the limit, before it arrives": (HEAD + b"Content-Length: 50000000\r\n\r\n", 413),
    "chunks over the limit, before their end": (HEAD + CHUNKED + b"\r\n" + b"100000\r\n%s\r\n" % (b" " * (1 << 20)) * 9, 413),
}  # fmt: skip

SERVED = {
    "a length": (HEAD + LENGTH + b"\r\n" + BODY, [200]),
    "chunks": (HEAD + CHUNKED + b"\r\n" + CHUNK + b"0\r\n\r\n", [200]),
    "many chunks of a byte": (HEAD + CHUNKED + b"\r\n" + CHUNK + b"1\r\n \r\n" * 5_000 + b"0\r\n\r\n", [200]),
    "many chunks of a byte, then a request": (CHECK + HOST + JSON + CHUNKED + b"\r\n" + CHUNK + b"1\r\n \r\n" * 30_000 + b"0\r\n\r\n" + GET + HOST + CLOSE + b"\r\n", [200, 200]),
    "an extension of a chunk": (HEAD + CHUNKED + b"\r\n" + CHUNK.replace(b"\r\n{", b";a=b\r\n{") + b"0\r\n\r\n", [200]),
    "trailers": (HEAD + CHUNKED + b"\r\n" + CHUNK + b"0\r\nX: y\r\n\r\n", [200]),
    "an expectation": (HEAD + b"Expect: 100-continue\r\n" + LENGTH + b"\r\n" + BODY, [100, 200]),
    "an expectation of HTTP/1.0": (CHECK.replace(b"1.1", b"1.0") + HOST + JSON + b"Expect: 100-continue\r\n" + LENGTH + b"\r\n" + BODY, [200]),
    "a whole URL": (b"GET http://localhost:8080/healthz HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", [200]),
    "a whole URL without a path": (b"GET HTTP://localhost?a HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", [404]),
    "an empty host": (GET + b"Host:\r\n" + CLOSE + b"\r\n", [200]),
    "an address of IPv6": (GET + b"Host: [::1]:80\r\n" + CLOSE + b"\r\n", [200]),
    "empty lines before the request": (b"\r\n\r\n" + GET + HOST + CLOSE + b"\r\n", [200]),
    "three requests at once": ((GET + HOST + b"\r\n") * 2 + GET + HOST + CLOSE + b"\r\n", [200, 200, 200]),
    "a request after the last one": (GET + HOST + CLOSE + b"\r\n" + SMUGGLED, [200]),
    "garbage after the last request": (HEAD + LENGTH + b"\r\n" + BODY + b"\0\0\r\n\r\n", [200]),
    "garbage after a request of HTTP/1.0": (GET.replace(b"1.1", b"1.0") + HOST + b"\r\n" + b"\0\0\r\n\r\n", [200]),
    "garbage after chunks": (HEAD + CHUNKED + b"\r\n" + CHUNK + b"0\r\n\r\n" + b"\0\0\r\n\r\n", [200]),
    "garbage instead of another request": (GET + HOST + b"\r\n" + b"\0\0\r\n\r\n", [200, 400]),
    "chunked in capitals": (HEAD + b"Transfer-Encoding:\tCHUNKED \r\n\r\n" + CHUNK + b"0\r\n\r\n", [200]),
    "a chunk with leading zeros": (HEAD + CHUNKED + b"\r\n000000" + CHUNK + b"000\r\n\r\n", [200]),
    "a host in the trailers": (HEAD + CHUNKED + b"\r\n" + CHUNK + b"0\r\nHost: a b\r\n\r\n", [200]),
    "space around a value": (GET + b"Host: \t localhost \t\r\n" + CLOSE + b"\r\n", [200]),
    "all resources": (b"OPTIONS * HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", [404]),
    "an upgrade before another request": (GET + HOST + UPGRADE + b"\r\n" + SMUGGLED, [200]),
    "an upgrade with a body": (CHECK + HOST + JSON + UPGRADE + LENGTH + b"\r\n" + BODY + SMUGGLED, [200]),
    "an upgrade that is not asked for": (GET + HOST + b"Upgrade: h2c\r\n\r\n" + GET + HOST + CLOSE + b"\r\n", [200, 200]),
    "a body in a body": (GET + HOST + b"Content-Length: %d\r\n\r\n" % len(SMUGGLED) + SMUGGLED + GET + HOST + CLOSE + b"\r\n", [200, 200]),
    "an upgrade": (GET + HOST + b"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", [200]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_broken_rule_ends_the_connection(service, case):
    request, status = REFUSED[case]
    assert statuses(service, request) == [status]


@pytest.mark.parametrize("case", SERVED)
def test_a_kept_rule_is_served(service, case):
    request, expected = SERVED[case]
    assert statuses(service, request) == expected


@pytest.mark.parametrize("case", ["a chunk with a sign", "a folded field", "HTTP/2 without its preface"])
def test_the_response_to_an_invalid_request_arrives_before_the_rest_is_read(service, case):
    # More than a read: closing the connection at once would reset it.
    assert statuses(service, REFUSED[case][0], bytes(300_000)) == [400]


@pytest.mark.parametrize("head", [GET + HOST + UPGRADE + b"\r\n", REFUSED["a tunnel"][0]], ids=["upgrade", "CONNECT"])
def test_input_for_another_protocol_is_not_kept(service, head):
    host, _, port = service.http.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=CALL_LIMIT) as peer:
        peer.sendall(head)
        with pytest.raises(ConnectionError):
            for _ in range(1_000):
                peer.sendall(bytes(65_536))


def test_the_host_of_the_target_counts(service):
    """A web page under a rebound name cannot hide it behind another Host."""
    def check(target, host):
        return statuses(service, CHECK.replace(b"/", target, 1), b"Host: ", host, b"\r\n", JSON, CLOSE, LENGTH, b"\r\n", BODY)

    assert check(b"http://evil.example/", b"localhost") == [421]
    assert check(b"http://localhost/", b"evil.example") == [200]


@pytest.mark.parametrize(
    "authority, host, expected",
    [("localhost", None, "200"), (None, "localhost", "200"), ("localhost", "LOCALHOST", "200"),
     ("localhost", "evil.example", "400"), ("evil.example", "localhost", "400"), ("a@localhost", None, "400")],
)  # fmt: skip
def test_authority_and_host_of_http_2_name_one_host(service, authority, host, expected):
    with Connection(service.http) as connection:
        fields = {":authority": authority, "host": host}
        stream = connection.open(path="/healthz", method="GET", te=None, content_type=None, end=True, **fields)
        assert connection.answer(stream).headers[":status"] == expected


@pytest.mark.parametrize(
    "authority, host, expected",
    [("localhost", None, "200"), ("localhost", "LOCALHOST", "200"), ("localhost", "evil.example", "400"),
     ("evil.example", "localhost", "400")],
)  # fmt: skip
def test_authority_and_host_of_a_grpc_call_name_one_host(service, authority, host, expected):
    with Connection(service.grpc) as connection:
        answer = connection.call(**{":authority": authority, "host": host})
        assert answer.headers[":status"] == expected
