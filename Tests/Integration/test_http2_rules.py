"""The rules of RFC 9113 and RFC 7541, one broken or kept by each test, on every port.

The cases are those of h2spec (github.com/summerwind/h2spec). A stream error may end the whole connection instead
(RFC 9113, section 5.4.1).
"""

import ssl
import struct

import pytest

import interop_client
from certificates import Authority
from frames import (
    ACK, COMPRESSION_ERROR, CONTINUATION, DATA, END_HEADERS, END_STREAM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, GOAWAY,
    HEADERS, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, MAX_FRAME_SIZE, PADDED, PING, PREFACE, PRIORITY,
    PROTOCOL_ERROR, PUSH_PROMISE, REFUSED_STREAM, RST_STREAM, SETTINGS, STREAM_CLOSED, WINDOW_UPDATE, WITH_PRIORITY,
    Peer, block, frame, get, headers, number, settings,
)  # fmt: skip
from harness import Service
from test_reload import CATALOG

POST = get("POST")
OPEN = END_HEADERS
CONNECTION, STREAM = ("GOAWAY",), ("RST_STREAM", "GOAWAY")
CANCEL = number(8)
PAIRS = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "localhost")]


def without(name):
    return block(*(pair for pair in PAIRS if pair[0] != name))


def request(*more):
    return headers(fields=block(*PAIRS, *more))


# What the client sends after the handshake, where the error belongs, and the allowed codes.
BROKEN = {
    # 4.2, 4.3: frames and header blocks
    "DATA over the maximum size": (headers(fields=POST, flags=OPEN) + frame(DATA, END_STREAM, 1, bytes(16_385)), STREAM, [FRAME_SIZE_ERROR]),
    "HEADERS over the maximum size": (headers(fields=get() + b"\0\1a\x7f\x81\x80\1" + bytes(16_385)), CONNECTION, [FRAME_SIZE_ERROR]),
    "an invalid header block": (headers(fields=b"\x40"), CONNECTION, [COMPRESSION_ERROR]),
    "PRIORITY within a header block": (headers(flags=END_STREAM) + frame(PRIORITY, 0, 1, bytes(5)), CONNECTION, [PROTOCOL_ERROR]),
    "HEADERS of another stream within a header block": (headers(flags=END_STREAM) + headers(3), CONNECTION, [PROTOCOL_ERROR]),
    # 5.1: stream states
    "DATA on an idle stream": (frame(DATA, END_STREAM, 1, b"test"), CONNECTION, [PROTOCOL_ERROR]),
    "RST_STREAM on an idle stream": (frame(RST_STREAM, 0, 1, CANCEL), CONNECTION, [PROTOCOL_ERROR]),
    "WINDOW_UPDATE on an idle stream": (frame(WINDOW_UPDATE, 0, 1, number(100)), CONNECTION, [PROTOCOL_ERROR]),
    "CONTINUATION on an idle stream": (frame(CONTINUATION, END_HEADERS, 1, get()), CONNECTION, [PROTOCOL_ERROR]),
    "DATA on a half-closed stream": (headers() + frame(DATA, END_STREAM, 1, b"test"), STREAM, [STREAM_CLOSED]),
    "HEADERS on a half-closed stream": (headers() + headers(), STREAM, [STREAM_CLOSED]),
    "CONTINUATION on a half-closed stream": (headers() + frame(CONTINUATION, END_HEADERS, 1, get()), STREAM, [STREAM_CLOSED, PROTOCOL_ERROR]),
    "DATA after RST_STREAM": (headers(flags=OPEN) + frame(RST_STREAM, 0, 1, CANCEL) + frame(DATA, END_STREAM, 1, b"test"), STREAM, [STREAM_CLOSED]),
    "HEADERS after RST_STREAM": (headers(flags=OPEN) + frame(RST_STREAM, 0, 1, CANCEL) + headers(), STREAM, [STREAM_CLOSED]),
    "CONTINUATION after RST_STREAM": (headers(flags=OPEN) + frame(RST_STREAM, 0, 1, CANCEL) + frame(CONTINUATION, END_HEADERS, 1, get()), STREAM, [STREAM_CLOSED, PROTOCOL_ERROR]),
    # 5.1.1, 5.3.1: identifiers, dependencies
    "a stream with an even number": (headers(2), CONNECTION, [PROTOCOL_ERROR]),
    "a stream with a smaller number": (headers(5) + headers(3), CONNECTION, [PROTOCOL_ERROR]),
    "HEADERS that depend on themselves": (headers(fields=number(1) + b"\xff" + get(), flags=END_HEADERS | END_STREAM | WITH_PRIORITY), STREAM, [PROTOCOL_ERROR]),
    "PRIORITY that depends on itself": (frame(PRIORITY, 0, 1, number(1) + b"\xff"), STREAM, [PROTOCOL_ERROR]),
    # 5.5: extensions
    "an unknown frame within a header block": (headers(flags=END_STREAM) + frame(0x16, 0, 0, bytes(8)), CONNECTION, [PROTOCOL_ERROR]),
    # 6.1 to 6.4
    "DATA on stream 0": (frame(DATA, END_STREAM, 0, b"test"), CONNECTION, [PROTOCOL_ERROR]),
    "DATA with too much padding": (headers(fields=POST, flags=OPEN) + frame(DATA, END_STREAM | PADDED, 1, b"\x06test"), CONNECTION, [PROTOCOL_ERROR]),
    "HEADERS on stream 0": (headers(0), CONNECTION, [PROTOCOL_ERROR]),
    "HEADERS with too much padding": (headers(fields=b"\xff" + get(), flags=END_HEADERS | END_STREAM | PADDED), CONNECTION, [PROTOCOL_ERROR]),
    "PRIORITY on stream 0": (frame(PRIORITY, 0, 0, bytes(5)), CONNECTION, [PROTOCOL_ERROR]),
    "PRIORITY of four bytes": (headers(flags=OPEN) + frame(PRIORITY, 0, 1, bytes(4)), STREAM, [FRAME_SIZE_ERROR]),
    "RST_STREAM on stream 0": (frame(RST_STREAM, 0, 0, CANCEL), CONNECTION, [PROTOCOL_ERROR]),
    "RST_STREAM of three bytes": (headers(flags=OPEN) + frame(RST_STREAM, 0, 1, bytes(3)), CONNECTION, [FRAME_SIZE_ERROR]),
    # 6.5: SETTINGS
    "SETTINGS ACK with a payload": (frame(SETTINGS, ACK, 0, bytes(6)), CONNECTION, [FRAME_SIZE_ERROR]),
    "SETTINGS on a stream": (frame(SETTINGS, 0, 1, struct.pack(">HI", 3, 100)), CONNECTION, [PROTOCOL_ERROR]),
    "SETTINGS of three bytes": (frame(SETTINGS, 0, 0, bytes(3)), CONNECTION, [FRAME_SIZE_ERROR]),
    "ENABLE_PUSH of two": (settings({2: 2}), CONNECTION, [PROTOCOL_ERROR]),
    "INITIAL_WINDOW_SIZE over the maximum": (settings({INITIAL_WINDOW_SIZE: 1 << 31}), CONNECTION, [FLOW_CONTROL_ERROR]),
    "MAX_FRAME_SIZE below the minimum": (settings({MAX_FRAME_SIZE: 16_383}), CONNECTION, [PROTOCOL_ERROR]),
    "MAX_FRAME_SIZE over the maximum": (settings({MAX_FRAME_SIZE: 1 << 24}), CONNECTION, [PROTOCOL_ERROR]),
    # 6.7 to 6.9
    "PING on a stream": (frame(PING, 0, 1, bytes(8)), CONNECTION, [PROTOCOL_ERROR]),
    "PING of six bytes": (frame(PING, 0, 0, bytes(6)), CONNECTION, [FRAME_SIZE_ERROR]),
    "GOAWAY on a stream": (frame(GOAWAY, 0, 1, bytes(8)), CONNECTION, [PROTOCOL_ERROR]),
    "WINDOW_UPDATE by zero": (frame(WINDOW_UPDATE, 0, 0, number(0)), CONNECTION, [PROTOCOL_ERROR]),
    "WINDOW_UPDATE by zero on a stream": (headers(fields=POST, flags=OPEN) + frame(WINDOW_UPDATE, 0, 1, number(0)), STREAM, [PROTOCOL_ERROR]),
    "WINDOW_UPDATE of three bytes": (frame(WINDOW_UPDATE, 0, 0, bytes(3)), CONNECTION, [FRAME_SIZE_ERROR]),
    "a window over the maximum": (frame(WINDOW_UPDATE, 0, 0, number((1 << 31) - 1)) * 2, CONNECTION, [FLOW_CONTROL_ERROR]),
    "a stream's window over the maximum": (headers(fields=POST, flags=OPEN) + frame(WINDOW_UPDATE, 0, 1, number((1 << 31) - 1)) * 2, STREAM, [FLOW_CONTROL_ERROR]),
    # 6.10: CONTINUATION
    "PRIORITY between CONTINUATION frames": (headers(flags=END_STREAM) + frame(CONTINUATION, 0, 1, b"") + frame(PRIORITY, 0, 1, bytes(5)), CONNECTION, [PROTOCOL_ERROR]),
    "CONTINUATION on stream 0": (headers(flags=END_STREAM) + frame(CONTINUATION, END_HEADERS, 0, b""), CONNECTION, [PROTOCOL_ERROR]),
    "CONTINUATION after the end of HEADERS": (headers(fields=POST, flags=OPEN) + frame(CONTINUATION, END_HEADERS, 1, get()), CONNECTION, [PROTOCOL_ERROR]),
    "CONTINUATION after the end of CONTINUATION": (headers(fields=POST, flags=0) + frame(CONTINUATION, END_HEADERS, 1, b"") * 2, CONNECTION, [PROTOCOL_ERROR]),
    "CONTINUATION after DATA": (headers(fields=POST, flags=OPEN) + frame(DATA, 0, 1, b"test") + frame(CONTINUATION, END_HEADERS, 1, get()), CONNECTION, [PROTOCOL_ERROR]),
    # 8: messages
    "a second HEADERS without END_STREAM": (headers(fields=POST, flags=OPEN) + headers(fields=block(("x", "y")), flags=OPEN), STREAM, [PROTOCOL_ERROR]),
    "an uppercase field": (request(("X-Test", "ok")), STREAM, [PROTOCOL_ERROR]),
    "an unknown pseudo-header field": (request((":test", "ok")), STREAM, [PROTOCOL_ERROR]),
    "a pseudo-header field of responses": (request((":status", "200")), STREAM, [PROTOCOL_ERROR]),
    "a pseudo-header field in trailers": (headers(fields=POST, flags=OPEN) + headers(fields=block((":method", "200"))), STREAM, [PROTOCOL_ERROR]),
    "a pseudo-header field after others": (headers(fields=block(("x-test", "ok"), *PAIRS)), STREAM, [PROTOCOL_ERROR]),
    "a connection field": (request(("connection", "keep-alive")), STREAM, [PROTOCOL_ERROR]),
    "TE without trailers": (request(("te", "trailers, deflate")), STREAM, [PROTOCOL_ERROR]),
    "an empty path": (headers(fields=get("GET", "")), STREAM, [PROTOCOL_ERROR]),
    "no method": (headers(fields=without(":method")), STREAM, [PROTOCOL_ERROR]),
    "no scheme": (headers(fields=without(":scheme")), STREAM, [PROTOCOL_ERROR]),
    "no path": (headers(fields=without(":path")), STREAM, [PROTOCOL_ERROR]),
    "two methods": (request((":method", "GET")), STREAM, [PROTOCOL_ERROR]),
    "two schemes": (request((":scheme", "http")), STREAM, [PROTOCOL_ERROR]),
    "two paths": (request((":path", "/")), STREAM, [PROTOCOL_ERROR]),
    "a content-length unlike one DATA": (headers(fields=get("POST", "/", ("content-length", "1")), flags=OPEN) + frame(DATA, END_STREAM, 1, b"test"), STREAM, [PROTOCOL_ERROR]),
    "a content-length unlike two DATA": (headers(fields=get("POST", "/", ("content-length", "1")), flags=OPEN) + frame(DATA, 0, 1, b"test") + frame(DATA, END_STREAM, 1, b"test"), STREAM, [PROTOCOL_ERROR]),
    "a content-length without DATA": (headers(fields=get("POST", "/", ("content-length", "1"))), STREAM, [PROTOCOL_ERROR]),
    "a content-length over the DATA": (headers(fields=get("POST", "/", ("content-length", "5")), flags=OPEN) + frame(DATA, END_STREAM, 1, b"test"), STREAM, [PROTOCOL_ERROR]),
    "a content-length unlike the DATA before trailers": (headers(fields=get("POST", "/", ("content-length", "1")), flags=OPEN) + frame(DATA, 0, 1, b"") + headers(fields=block(("x", "y"))), STREAM, [PROTOCOL_ERROR]),
    "two content-lengths": (headers(fields=get("POST", "/", ("content-length", "4"), ("content-length", "4")), flags=OPEN) + frame(DATA, END_STREAM, 1, b"test"), STREAM, [PROTOCOL_ERROR]),
    "a list of content-lengths": (headers(fields=get("POST", "/", ("content-length", "4, 4")), flags=OPEN) + frame(DATA, END_STREAM, 1, b"test"), STREAM, [PROTOCOL_ERROR]),
    "a content-length with a sign": (headers(fields=get("POST", "/", ("content-length", "+4")), flags=OPEN) + frame(DATA, END_STREAM, 1, b"test"), STREAM, [PROTOCOL_ERROR]),
    "transfer-encoding": (request(("transfer-encoding", "chunked")), STREAM, [PROTOCOL_ERROR]),
    "upgrade": (request(("upgrade", "h2c")), STREAM, [PROTOCOL_ERROR]),
    "keep-alive": (request(("keep-alive", "timeout=5")), STREAM, [PROTOCOL_ERROR]),
    "proxy-connection": (request(("proxy-connection", "close")), STREAM, [PROTOCOL_ERROR]),
    "a connection field in trailers": (headers(fields=POST, flags=OPEN) + headers(fields=block(("transfer-encoding", "chunked"))), STREAM, [PROTOCOL_ERROR]),
    "an uppercase field in trailers": (headers(fields=POST, flags=OPEN) + headers(fields=block(("X-Test", "ok"))), STREAM, [PROTOCOL_ERROR]),
    "two authorities": (request((":authority", "localhost")), STREAM, [PROTOCOL_ERROR]),
    "two hosts": (request(("host", "localhost"), ("host", "localhost")), STREAM, [PROTOCOL_ERROR]),
    "a path without a slash": (headers(fields=get("GET", "a")), STREAM, [PROTOCOL_ERROR]),
    "all resources without OPTIONS": (headers(fields=get("GET", "*")), STREAM, [PROTOCOL_ERROR]),
    "CONNECT with a path": (headers(fields=get("CONNECT")), STREAM, [PROTOCOL_ERROR]),
    "CONNECT for a protocol": (headers(fields=get("CONNECT", "/", (":protocol", "websocket"))), STREAM, [PROTOCOL_ERROR]),
    "an empty field name": (request(("", "a")), STREAM, [PROTOCOL_ERROR]),
    "a space in a field name": (request(("x y", "a")), STREAM, [PROTOCOL_ERROR]),
    "a colon in a field name": (request(("x:y", "a")), STREAM, [PROTOCOL_ERROR]),
    "a field value with a space at its start": (request(("x", " a")), STREAM, [PROTOCOL_ERROR]),
    "a field value with a tab at its end": (request(("x", "a\t")), STREAM, [PROTOCOL_ERROR]),
    "a line end in a field value": (request(("x", "a\r\nhost: b")), STREAM, [PROTOCOL_ERROR]),
    "a line end in the path": (headers(fields=get("GET", "/ HTTP/1.1\r\nx: y")), STREAM, [PROTOCOL_ERROR]),
    "a space in the method": (headers(fields=get("GET / HTTP/1.1")), STREAM, [PROTOCOL_ERROR]),
    "PUSH_PROMISE of a client": (headers(flags=OPEN) + frame(PUSH_PROMISE, END_HEADERS, 1, number(2) + get()), CONNECTION, [PROTOCOL_ERROR]),
    # RFC 7541
    "an index beyond the tables": (headers(fields=get() + b"\xc6"), CONNECTION, [COMPRESSION_ERROR]),
    "a literal whose name is beyond the tables": (headers(fields=get() + b"\x7f\x07\x01a"), CONNECTION, [COMPRESSION_ERROR]),
    "index zero": (headers(fields=get() + b"\x80"), CONNECTION, [COMPRESSION_ERROR]),
    "a size update at the end of a block": (headers(fields=get() + b"\x20"), CONNECTION, [COMPRESSION_ERROR]),
    "a size update over the limit": (headers(fields=b"\x3f\xe2\x1f" + get()), CONNECTION, [COMPRESSION_ERROR]),
    "Huffman padding of a byte": (headers(fields=get() + b"\0\x85\xf2\xb2\x4a\x84\xff\x84\x49\x50\x9f\xff"), CONNECTION, [COMPRESSION_ERROR]),
    "Huffman padding with zeros": (headers(fields=get() + b"\0\x85\xf2\xb2\x4a\x84\xff\x83\x49\x50\x90"), CONNECTION, [COMPRESSION_ERROR]),
    "Huffman EOS": (headers(fields=get() + b"\0\x85\xf2\xb2\x4a\x84\xff\x87\x49\x51\xff\xff\xff\xfa\x7f"), CONNECTION, [COMPRESSION_ERROR]),
}  # fmt: skip

# What the client sends and the server accepts.
KEPT = {
    "PRIORITY on an idle stream": frame(PRIORITY, 0, 1, bytes(4) + b"\xff") + headers(),
    "PRIORITY on a half-closed stream": headers() + frame(PRIORITY, 0, 1, bytes(4) + b"\xff"),
    "WINDOW_UPDATE on a half-closed stream": headers() + frame(WINDOW_UPDATE, 0, 1, number(100)),
    "WINDOW_UPDATE of the connection": frame(WINDOW_UPDATE, 0, 0, number(1)) + headers(),
    "WINDOW_UPDATE on an open stream": headers(fields=POST, flags=OPEN) + frame(WINDOW_UPDATE, 0, 1, number(1)) + frame(DATA, END_STREAM, 1, b""),
    "RST_STREAM on a half-closed stream": headers(3) + frame(RST_STREAM, 0, 3, CANCEL) + headers(5),
    "PRIORITY with the weight 256, exclusive": frame(PRIORITY, 0, 1, number(1 << 31) + b"\xff") + headers(),
    "a lower stream after PRIORITY": frame(PRIORITY, 0, 3, bytes(4) + b"\xff") + headers(),
    "a dependency on another stream": frame(PRIORITY, 0, 1, number(5) + b"\x80") + headers(),
    "HEADERS with padding": headers(fields=b"\x04" + get() + bytes(4), flags=END_HEADERS | END_STREAM | PADDED),
    "HEADERS with priority": headers(fields=bytes(4) + b"\xff" + get(), flags=END_HEADERS | END_STREAM | WITH_PRIORITY),
    "DATA with padding": headers(fields=POST, flags=OPEN) + frame(DATA, END_STREAM | PADDED, 1, b"\x02test\0\0"),
    "two DATA": headers(fields=POST, flags=OPEN) + frame(DATA, 0, 1, b"te") + frame(DATA, END_STREAM, 1, b"st"),
    "trailers": headers(fields=POST, flags=OPEN) + frame(DATA, 0, 1, b"test") + headers(fields=block(("x-test", "ok"))),
    "CONTINUATION": headers(fields=get()[:5], flags=END_STREAM) + frame(CONTINUATION, 0, 1, get()[5:9]) + frame(CONTINUATION, END_HEADERS, 1, get()[9:]),
    "an unknown frame": frame(0x16, 0xFF, 0, bytes(8)) + headers(),
    "an unknown flag": frame(PING, 0x16, 0, bytes(8)) + headers(),
    "a reserved bit": frame(PING, 0, 1 << 31, bytes(8)) + headers(),
    "an unknown setting": settings({0xFF: 1}) + headers(),
    "an unsolicited PING ACK": frame(PING, ACK, 0, b"invalid!") + headers(),
    "RST_STREAM with an unknown code": headers(flags=OPEN) + frame(RST_STREAM, 0, 1, number(0xFF)) + headers(3),
    "RST_STREAM with NO_ERROR": headers(flags=OPEN) + frame(RST_STREAM, 0, 1, number(0)) + headers(3),
    "DATA of the maximum size": headers(fields=POST, flags=OPEN) + frame(DATA, END_STREAM, 1, bytes(16_384)),
    "padding of the maximum size": headers(fields=POST, flags=OPEN) + frame(DATA, END_STREAM | PADDED, 1, b"\xff" + bytes(255)),
    "empty CONTINUATION": headers(flags=END_STREAM) + frame(CONTINUATION, 0, 1, b"") * 3 + frame(CONTINUATION, END_HEADERS, 1, b""),
    "empty SETTINGS": settings() + headers(),
    "a PING with a reserved stream bit and other flags": frame(PING, 0xFE, 1 << 31, bytes(8)) + headers(),
    "all settings": settings({1: 4_096, 2: 1, 3: 100, 4: 65_535, 5: 16_384, 6: 4_000}) + headers(),
    "a content-length": headers(fields=get("POST", "/", ("content-length", "4")), flags=OPEN) + frame(DATA, 0, 1, b"te") + frame(DATA, END_STREAM | PADDED, 1, b"\1st\0"),
    "many DATA of a byte": headers(fields=POST, flags=OPEN) + frame(DATA, 0, 1, b"x") * 5_000 + frame(DATA, END_STREAM, 1, b""),
    "te: trailers": request(("te", "trailers")),
    "all resources": headers(fields=get("OPTIONS", "*")),
    "CONNECT": headers(fields=block((":method", "CONNECT"), (":authority", "localhost:443"))),
    "HEAD": headers(fields=get("HEAD")),
    "a dynamic field": headers(fields=get() + b"\x40\x01a\x01b\xbe"),
    "a literal that is never indexed": headers(fields=get() + b"\x10\x01a\x01b"),
    "a literal that is not indexed": headers(fields=get() + b"\0\x01a\x01b"),
    # user-agent is the entry 58 of the static table.
    "an indexed name": headers(fields=get() + b"\x7a\x01b"),
    "an indexed name that is not indexed": headers(fields=get() + b"\x0f\x2b\x01b"),
    "an indexed name that is never indexed": headers(fields=get() + b"\x1f\x2b\x01b"),
    # "a" is 00011 in Huffman's code, and ones fill the byte.
    "a Huffman name": headers(fields=get() + b"\x40\x81\x1f\x01b"),
    "a Huffman value": headers(fields=get() + b"\x40\x01a\x81\x1f"),
    "an empty value": headers(fields=get() + b"\x40\x01a\0"),
    # But content-length, host and transfer-encoding, which must not be empty.
    "the fields of the static table": headers(fields=get() + bytes({*range(0x90, 0xBE)} - {0x9C, 0xA6, 0xB9})),
    "a field that the table evicts": headers(fields=get() + b"\x40\x01a\x7f\xa9\x1e" + bytes([98]) * 4_008 + b"\x40\x01c\x01d\xbe"),
    "a table of size zero": headers(fields=b"\x20" + get() + b"\x40\x01a\x01b"),
    "two size updates": headers(fields=b"\x20\x3f\xe1\x1f" + get()),
}  # fmt: skip

TARGETS = ["grpc", "edge", "interop", "grpc-tls", "edge-tls", "interop-tls"]


@pytest.fixture(scope="module")
def ports(tmp_path_factory):
    """The address and TLS context of every port."""
    folder = tmp_path_factory.mktemp("rules")
    authority = Authority(folder)
    files = authority.issue("server", "localhost")
    (folder / "entitled.yaml").write_text(CATALOG.replace("ENTITLEMENTS", "pro"))
    tls = "{tls: {certificate: server.crt, key: server.key}}"
    (folder / "secure.yaml").write_text(
        CATALOG.replace("ENTITLEMENTS", "pro") + f"\nlisteners:\n  grpc: {tls}\n  http: {tls}\n")
    plain = Service(folder / "plain", ["--config", folder / "entitled.yaml"])
    secure = Service(folder / "secure", ["--config", folder / "secure.yaml"])
    servers = [interop_client.InteropServer(), interop_client.InteropServer(
        "--use_tls=true", "--tls_cert", files.certificate, "--tls_key", files.key)]  # fmt: skip
    context = ssl.create_default_context(cafile=authority.file)
    context.set_alpn_protocols(["h2"])
    yield {
        "grpc": (plain.grpc, None), "edge": (plain.http, None), "interop": (servers[0].address, None),
        "grpc-tls": (secure.grpc, context), "edge-tls": (secure.http, context),
        "interop-tls": (servers[1].address, context),
    }  # fmt: skip
    for server in [plain, secure, *servers]:
        server.stop()


@pytest.fixture(params=TARGETS)
def connect(ports, request):
    """Opens a connection to one of the ports, with its SETTINGS exchanged."""
    def open_peer(initial=()):
        peer = Peer(*ports[request.param], initial=initial)
        peer.settings = peer.handshake()
        return peer
    return open_peer


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_is_an_error(connect, case):
    sent, concerned, codes = BROKEN[case]
    with connect() as peer:
        peer.send(sent)
        error = peer.error()
        # A server may also close the connection without a reason, but this one always has one.
        assert error[0] in concerned and error[1] in codes, error


@pytest.mark.parametrize("case", KEPT)
def test_a_kept_rule_is_no_error(connect, case):
    with connect() as peer:
        peer.send(KEPT[case])
        # The request whose response is expected.
        stream = {"RST_STREAM with an unknown code": 3, "RST_STREAM with NO_ERROR": 3, "RST_STREAM on a half-closed stream": 5}
        wait_for_response(peer, stream.get(case, 1))
        assert peer.is_served()


def wait_for_response(peer, stream):
    found = peer.read()
    while found[:1] + found[2:3] != (HEADERS, stream):
        # A stream that the client has reset may still be answered or reset.
        assert found[0] != GOAWAY and (found[0], found[2]) != (RST_STREAM, stream), found
        found = peer.read()


@pytest.mark.parametrize("code", [0, 0xFF])
def test_a_goaway_of_the_client_ends_no_stream(connect, code):
    with connect() as peer:
        peer.send(headers(fields=POST, flags=OPEN), frame(GOAWAY, payload=number(0) + number(code)))
        peer.send(frame(DATA, END_STREAM, 1, b"test"))
        peer.wait(HEADERS, 1)


def test_priority_on_a_closed_stream_is_no_error(connect):
    with connect() as peer:
        peer.send(headers())
        peer.wait(DATA, 1, flags=END_STREAM)
        peer.send(frame(PRIORITY, 0, 1, bytes(4) + b"\x10"), frame(WINDOW_UPDATE, 0, 1, number(1)), headers(3))
        peer.wait(HEADERS, 3)
        assert peer.is_served()


def test_the_reason_of_a_connection_error_arrives_before_the_end(connect):
    with connect() as peer:
        peer.send(frame(PING, 0, 0, bytes(7)))
        assert peer.error() == ("GOAWAY", FRAME_SIZE_ERROR)
        assert peer.error() == "closed"


@pytest.mark.parametrize(
    "late, codes",
    [
        (frame(DATA, END_STREAM, 1, b"test"), [STREAM_CLOSED]),
        (headers(), [STREAM_CLOSED]),
        (frame(CONTINUATION, END_HEADERS, 1, get()), [STREAM_CLOSED, PROTOCOL_ERROR]),
    ],
    ids=["DATA", "HEADERS", "CONTINUATION"],
)
def test_a_frame_on_a_closed_stream_ends_the_connection(connect, late, codes):
    with connect() as peer:
        peer.send(headers())
        peer.wait(DATA, 1, flags=END_STREAM)
        peer.send(late)
        error = peer.error()
        assert error[0] == "GOAWAY" and error[1] in codes, error


def test_a_reset_stream_leaves_the_connection_open(connect):
    with connect() as peer:
        peer.send(BROKEN["DATA after RST_STREAM"][0], headers(3))
        assert peer.error() == ("RST_STREAM", STREAM_CLOSED)
        peer.wait(HEADERS, 3)


def test_a_stream_over_the_limit_is_refused(connect):
    with connect(initial={INITIAL_WINDOW_SIZE: 0}) as peer:
        limit = peer.settings[MAX_CONCURRENT_STREAMS]
        for first in range(0, limit + 1, 100):
            peer.send(*(headers(2 * n + 1) for n in range(first, min(first + 100, limit + 1))))
        assert peer.error() in (("RST_STREAM", REFUSED_STREAM), ("RST_STREAM", PROTOCOL_ERROR))


def test_a_response_waits_for_its_window(connect):
    with connect(initial={INITIAL_WINDOW_SIZE: 3}) as peer:
        peer.send(headers())
        assert len(peer.wait(DATA, 1)) == 3
        peer.send(settings({INITIAL_WINDOW_SIZE: 2}))
        peer.wait(SETTINGS, flags=ACK)
        peer.send(frame(WINDOW_UPDATE, 0, 1, number(2)))
        assert len(peer.wait(DATA, 1)) == 1
        # The last of several values of one SETTINGS counts.
        peer.send(frame(SETTINGS, payload=struct.pack(">HIHI", 4, 100, 4, 3)))
        assert len(peer.wait(DATA, 1)) == 1


@pytest.mark.parametrize("priority", [b"", frame(PRIORITY, 0, 1, bytes(4) + b"\xff")], ids=["", "after PRIORITY"])
def test_a_window_update_of_a_half_closed_stream_sends_its_response(connect, priority):
    with connect(initial={INITIAL_WINDOW_SIZE: 0}) as peer:
        peer.send(headers(), priority, frame(WINDOW_UPDATE, 0, 1, number(1)))
        assert len(peer.wait(DATA, 1)) == 1


def test_a_larger_initial_window_opens_those_of_open_streams(connect):
    with connect(initial={INITIAL_WINDOW_SIZE: 0}) as peer:
        peer.send(headers())
        peer.wait(HEADERS, 1)
        peer.send(settings({INITIAL_WINDOW_SIZE: 1}))
        assert len(peer.wait(DATA, 1)) == 1


def test_settings_are_the_first_frame_of_the_server(ports):
    for target in TARGETS:
        with Peer(*ports[target]) as peer:
            assert peer.read()[:3] == (SETTINGS, 0, 0)


def test_the_smallest_header_limit_of_a_client_is_accepted(connect):
    with connect() as peer:
        peer.send(settings({6: 100}))
        peer.wait(SETTINGS, flags=ACK)
        assert peer.is_served()


def test_a_ping_and_settings_are_acknowledged(connect):
    with connect() as peer:
        assert peer.is_served()
        peer.send(settings({MAX_CONCURRENT_STREAMS: 7}))
        peer.wait(SETTINGS, flags=ACK)


@pytest.mark.parametrize("preface", [b"INVALID CONNECTION PREFACE\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_another_preface_after_alpn_closes_the_connection(ports, preface):
    for target in TARGETS[3:]:
        with Peer(*ports[target], preface=preface) as peer:
            error = peer.error()
            assert error == "closed" or error[0] == "GOAWAY", error


def test_an_invalid_preface_closes_the_connection(ports):
    for target in TARGETS[:3]:
        for preface in (PREFACE[:-6] + b"XX\r\n\r\n", b"INVALID CONNECTION PREFACE\r\n\r\n"):
            with Peer(ports[target][0], preface=preface) as peer:
                while peer.socket.recv(65_536):
                    pass
