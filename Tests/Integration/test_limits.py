"""Each configured limit, exceeded: the offending client is stopped, and other clients are served."""

import base64
import contextlib
import gzip
import os
import re
import socket
import struct
import sys
import threading
import time
import urllib.request

import hpack
import pytest
from google.protobuf import json_format
from grpc_reflection.v1alpha import reflection_pb2
from h2.errors import ErrorCodes
from h2.settings import SettingCodes

import contract
import frames
from contract import entitlement_service
from forge import header_of
from frames import PREFACE, Peer, frame, get, headers
from harness import FREE_PORTS, LARGE_CALL_LIMIT, ROOT, SANITIZED, Service, free_port, post, run, wait_for
from raw import CHECK, Connection, framed
from test_http2 import OK, CHECK_REQUEST, RESOURCE_EXHAUSTED, UNAVAILABLE
from test_reload import CATALOG

sys.path.append(str(ROOT / "tools" / "attacks"))

import receipts  # noqa: E402  the path is set above

LIMITS = """
limits:
  max_connections: 20
  max_concurrent_streams: 10
  header_bytes: 4096
  message_bytes: 65536
  body_bytes: 65536
  connection_backlog_bytes: 262144
  control_frames_per_second: 1000
  handshake_timeout_seconds: 1
  request_timeout_seconds: 1
  idle_timeout_seconds: 2
  max_connection_age_seconds: 4
  max_connection_age_grace_seconds: 1
  keepalive_interval_seconds: 1
  keepalive_timeout_seconds: 1
  stall_timeout_seconds: 2
log: {level: debug}
"""
# The log's line about a connection that is closed because it costs too much, by this service or by nghttp2.
TOO_COSTLY = re.compile("closing connection (over its limits|after a protocol error)")
APP = "ocean-journal"
WATCH = "/entitled.v1.EntitlementService/Watch"
TIMEOUT = 10


SETTINGS, PING, CONTINUATION = frame(4), frame(6, payload=bytes(8)), 9


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """One service with small limits; it must exit with status 0."""
    folder = tmp_path_factory.mktemp("limited")
    (folder / "entitled.yaml").write_text(CATALOG.replace("ENTITLEMENTS", "pro") + LIMITS)
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    yield service
    service.stop()


@pytest.fixture(autouse=True)
def served(limited):
    """Another client is served before and after the test, and the process has not grown."""
    before = limited.memory
    yield
    with Connection(limited.grpc) as connection:
        assert connection.call(CHECK_REQUEST).status == OK
    assert limited.memory - before < 100_000_000


@contextlib.contextmanager
def closed_for_its_costs(service):
    """The block makes the service close a connection. Timeouts would close it too, so the reason in the log counts."""
    before = len(TOO_COSTLY.findall(service.log))
    yield
    wait_for(lambda: len(TOO_COSTLY.findall(service.log)) > before)


def connect(address, receive=None):
    """A connection; `receive` is the size of its buffer for responses, which the kernel would otherwise let grow to megabytes."""
    host, _, port = address.rpartition(":")
    peer = socket.socket()
    if receive:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    peer.settimeout(TIMEOUT)
    peer.connect((host, int(port)))
    return peer


def is_closed(peer, limit=TIMEOUT):
    """Reads until the server closes; returns false if it has not closed within the limit."""
    end = time.monotonic() + limit
    try:
        while time.monotonic() < end:
            peer.settimeout(max(end - time.monotonic(), 0.01))
            if not peer.recv(65_536):
                return True
    except ConnectionError:
        return True
    except TimeoutError:
        pass
    return False


def flood(peer, data, seconds=TIMEOUT):
    """Sends the same data repeatedly until the server closes; returns false if it never does."""
    end = time.monotonic() + seconds
    peer.settimeout(1)
    try:
        while time.monotonic() < end:
            peer.sendall(data)
    except TimeoutError:
        return is_closed(peer)
    except ConnectionError:
        return True
    return False


def test_the_connection_limit_closes_excess_connections(limited):
    peers = [connect(limited.grpc) for _ in range(20)]
    try:
        with connect(limited.grpc) as excess:
            assert is_closed(excess, 1)
    finally:
        for peer in peers:
            peer.close()
    wait_for(lambda: is_served(limited))


def is_served(service):
    try:
        with Connection(service.grpc) as connection:
            return connection.call(CHECK_REQUEST).status == OK
    except (ConnectionError, AssertionError):
        return False


def test_the_stream_limit_rejects_excess_streams(limited):
    request = framed(entitlement_service.WatchRequest(app="ocean-journal").SerializeToString())
    with Connection(limited.grpc) as connection:
        # A client that has not received the limit yet: excess streams are rejected, the others continue.
        streams = [connection.open(path=WATCH) for _ in range(15)]
        for stream in streams[:10]:
            connection.send(stream, request, end=True)
        for stream in streams[10:]:
            assert connection.answer(stream).reset == ErrorCodes.REFUSED_STREAM
        assert connection.h2.remote_settings.max_concurrent_streams == 10
        assert not any(connection.answers[stream].ended for stream in streams[:10])
        # Each finished stream makes room for another call.
        connection.h2.reset_stream(streams[0], ErrorCodes.CANCEL)
        connection.flush()
        assert connection.call(CHECK_REQUEST).status == OK
        # The same for a client that ignores the limit: the open streams continue.
        connection.h2.remote_settings[SettingCodes.MAX_CONCURRENT_STREAMS] = 1_000
        connection.h2.remote_settings.acknowledge()
        more = [connection.open(path=WATCH) for _ in range(3)]
        connection.send(more[0], request, end=True)
        for stream in more[1:]:
            assert connection.answer(stream).reset == ErrorCodes.REFUSED_STREAM
        assert not any(connection.answers[stream].ended for stream in [*streams[1:10], more[0]])
        assert connection.goaway is None


def test_the_header_limit_rejects_large_headers(limited):
    with Connection(limited.grpc) as connection:
        answer = connection.answer(connection.open(note="x" * 5_000, end=True))
        assert answer.status == RESOURCE_EXHAUSTED
        answer = connection.answer(connection.open(note="x" * 5_000, content_type=None, end=True))
        assert answer.headers[":status"] == "431"
        assert connection.call(CHECK_REQUEST).status == OK
    with connect(limited.http) as peer:
        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nNote: " + b"x" * 5_000 + b"\r\n\r\n")
        assert b" 431 " in peer.recv(65_536)
    # Fields without an end are read up to eight times the limit.
    with connect(limited.http) as peer:
        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + b"Note: %s\r\n" % (b"x" * 3_000) * 12)
        assert b" 400 " in peer.recv(65_536)
        assert is_closed(peer)


def test_the_message_limit_rejects_large_messages(limited):
    with Connection(limited.grpc) as connection:
        answer = connection.call(bytes(65_537))
        assert answer.status == RESOURCE_EXHAUSTED
        packed = framed(gzip.compress(bytes(65_537)), compressed=True)
        assert connection.call(body=packed, grpc_encoding="gzip").status == RESOURCE_EXHAUSTED
        # One within the limit that is decompressed on another thread.
        large = batch(900).SerializeToString()
        assert 16_384 < len(large) < 65_536
        packed = framed(gzip.compress(large), compressed=True)
        assert connection.call(path=BATCH_CHECK, body=packed, grpc_encoding="gzip").status == OK
        assert connection.call(CHECK_REQUEST).status == OK


def test_a_check_of_more_than_16_kib_is_refused_before_it_is_decoded(limited):
    with Connection(limited.grpc) as connection:
        for body in (framed(bytes(16_385)), framed(gzip.compress(bytes(16_385)), compressed=True)):
            answer = connection.call(body=body, grpc_encoding="gzip")
            assert answer.status == RESOURCE_EXHAUSTED
            assert "16384" in answer.headers["grpc-message"]
        answer = connection.call(path="/grpc.health.v1.Health/Check", body=framed(bytes(16_385)))
        assert answer.status == RESOURCE_EXHAUSTED
        assert connection.call(CHECK_REQUEST).status == OK


@pytest.mark.parametrize("damaged", [False, True])
def test_messages_that_decompress_for_nothing_close_the_connection(limited, damaged):
    """They decompress beyond their limit, or have another checksum. Each costs the service a hundred times what it costs its
    sender."""
    packed = gzip.compress(bytes(16_000))[:-8] + bytes(8) if damaged else gzip.compress(bytes(1_000_000))
    bomb = framed(packed, compressed=True)
    fields = get("POST", "/entitled.v1.EntitlementService/Check", ("content-type", "application/grpc"),
                 ("te", "trailers"), ("grpc-encoding", "gzip"))  # fmt: skip
    with Peer(limited.grpc) as peer, closed_for_its_costs(limited):
        peer.handshake()
        # Some are refused, because ten may be open.
        for stream in range(1, 401, 2):
            peer.send(headers(stream, fields, flags=frames.END_HEADERS), frame(0, 1, stream, bomb))
        while peer.read():
            pass


@pytest.mark.parametrize("method", ["Check", "BatchCheck"])
def test_refused_and_large_requests_wait_and_are_all_answered(service, method):
    """They are more than a connection may send at once: 4 MB of calls that are refused, or 6 MB of batches."""
    one = entitlement_service.CheckRequest(app="x" * 15_000)
    message = one.SerializeToString() if method == "Check" else batch(500).SerializeToString()
    body = framed(message)
    parts = [body[start : start + 16_000] for start in range(0, len(body), 16_000)]
    fields = get("POST", f"/entitled.v1.EntitlementService/{method}", ("content-type", "application/grpc"), ("te", "trailers"))
    with Peer(service.grpc, initial={frames.INITIAL_WINDOW_SIZE: 1 << 20}) as peer, Connection(service.grpc) as other:
        for client in (peer, other):
            client.socket.settimeout(LARGE_CALL_LIMIT)
        peer.handshake()
        peer.send(frame(frames.WINDOW_UPDATE, 0, 0, frames.number(1 << 30)))
        streams = range(1, 601, 2)
        sender = threading.Thread(
            target=lambda: [
                peer.send(headers(stream, fields, flags=frames.END_HEADERS),
                          *[frame(0, int(part is parts[-1]), stream, part) for part in parts])
                for stream in streams],
            daemon=True)  # fmt: skip
        sender.start()
        ended = set()
        while len(ended) < len(streams):
            kind, flags, stream, _ = peer.read()
            assert kind != frames.GOAWAY
            if kind == frames.HEADERS and flags & frames.END_STREAM:
                ended.add(stream)
        sender.join()
        assert other.call(CHECK_REQUEST).status == OK


def test_a_large_body_over_http_1_arrives_in_parts(service):
    # It waits several times.
    body = json_format.MessageToJson(batch(50)).encode() + b" " * 3_000_000
    for _ in range(2):
        status, answer = post(f"http://{service.http}{BATCH_CHECK}", body)
        assert status == 200 and len(answer["results"]) == 50


def test_the_body_limit_rejects_large_bodies(limited):
    status, text = post(f"http://{limited.http}/entitled.v1.EntitlementService/Check", b" " * 65_537)
    assert (status, "65536" in text) == (413, True)


def test_incomplete_requests_are_buffered_up_to_a_limit(limited):
    # Nine incomplete requests, each within its limit; five of them exceed the limit of the connection.
    with Connection(limited.grpc) as connection, Connection(limited.grpc) as other:
        connection.receive()
        with closed_for_its_costs(limited), contextlib.suppress(ConnectionError, AssertionError):
            for _ in range(9):
                stream = connection.open(path=BATCH_CHECK)
                connection.send(stream, framed(bytes(65_000))[:60_000])
        assert other.call(CHECK_REQUEST).status == OK


def test_unread_responses_are_buffered_up_to_a_limit(limited):
    # Streams whose responses are never read: each may wait, all together exceed the limit.
    with Connection(limited.grpc) as connection, Connection(limited.grpc) as other:
        connection.receive()
        connection.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 0})
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol="entitled.v1.EntitlementService")
        message_frame = framed(request.SerializeToString())
        with closed_for_its_costs(limited), contextlib.suppress(ConnectionError, AssertionError):
            for _ in range(9):
                stream = connection.open(path="/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
                connection.send(stream, message_frame * 40)
        assert other.call(CHECK_REQUEST).status == OK


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(PING, id="pings"),
        pytest.param(SETTINGS, id="settings"),
        pytest.param(frame(8, payload=b"\0\0\0\1"), id="window updates"),
        pytest.param(frame(2, stream=1, payload=bytes([0, 0, 0, 3, 0])), id="priorities"),
        pytest.param(frame(0x16, payload=bytes(8)), id="unknown frames"),
    ],
)
def test_excess_control_frames_close_the_connection(limited, data):
    with connect(limited.grpc) as peer, closed_for_its_costs(limited):
        peer.sendall(PREFACE + SETTINGS)
        assert flood(peer, data * 500)


@pytest.mark.parametrize("kind", [frames.PING, frames.SETTINGS])
def test_a_burst_within_the_limit_is_acknowledged(service, kind):
    # The default limit permits 10,000 frames a second.
    payloads = [struct.pack(">Q", count) if kind == frames.PING else b"" for count in range(9_000)]
    with Peer(service.grpc) as peer:
        peer.handshake()
        peer.send(*(frame(kind, payload=payload) for payload in payloads))
        assert [peer.wait(kind, flags=frames.ACK) for _ in payloads] == payloads
        assert peer.is_served()
        peer.send(headers(1))
        peer.wait(frames.DATA, 1, flags=frames.END_STREAM)


def test_the_window_updates_of_a_busy_client_are_no_flood(tmp_path):
    """gRPC's C core sends a few of them for each response and each event of a stream."""
    (tmp_path / "entitled.yaml").write_text(
        CATALOG.replace("ENTITLEMENTS", "pro") + "limits: {control_frames_per_second: 100}\n")
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    with service.channel() as channel:
        stub = contract.entitlement_stub(channel)

        def call(method, request, count):
            for answer in [method.future(request(number), timeout=LARGE_CALL_LIMIT) for number in range(count)]:
                answer.result()

        call(stub.Grant, lambda number: entitlement_service.GrantRequest(
            app=APP, customer_id=f"c{number}", entitlement="pro", access_level="ACCESS_LEVEL_FULL"), 500)
        call(stub.Check, lambda number: entitlement_service.CheckRequest(
            app=APP, customer_id=f"c{number}", entitlement="pro"), 900)
        stream = stub.Watch(
            entitlement_service.WatchRequest(app=APP, from_beginning=True), timeout=LARGE_CALL_LIMIT)
        events = (message.event for message in stream if message.WhichOneof("content") == "event")
        assert {next(events).customer_id for _ in range(500)} == {f"c{number}" for number in range(500)}
        stream.cancel()
    service.stop()


GET = b"\x82\x86\x84\x01\x01a"


@pytest.mark.parametrize(
    "data, count",
    [
        # On a closed stream, where HTTP/2 libraries ignore them.
        pytest.param(frame(2, stream=1, payload=bytes([0, 0, 0, 3, 0])), 101, id="priorities"),
        pytest.param(frame(8, stream=1, payload=b"\0\0\0\1"), 3_003, id="window updates"),
        pytest.param(frame(0, 8, 3, b"\1\0"), 3_003, id="padding"),
        pytest.param(frame(0, 0, 3), 3_003, id="empty data"),
    ],
)
def test_a_peer_that_only_costs_is_told_to_calm_down(limited, data, count):
    with Peer(limited.grpc) as peer, closed_for_its_costs(limited):
        peer.handshake()
        peer.send(headers(1))
        peer.wait(frames.DATA, 1, flags=frames.END_STREAM)
        peer.send(headers(3, flags=frames.END_HEADERS), data * count)
        assert peer.error() == ("GOAWAY", ErrorCodes.ENHANCE_YOUR_CALM)


def test_resets_that_a_peer_provokes_close_the_connection(limited):
    """CVE-2025-8671: invalid frames make the server reset streams whose calls it has begun."""
    with Peer(limited.grpc) as peer, closed_for_its_costs(limited):
        peer.handshake()
        fields = frames.get("POST", "/", ("content-length", "1"))
        # Most are refused, because ten may be open; the others are reset for their peer's fault.
        for stream in range(1, 4_001, 2):
            peer.send(headers(stream, fields, flags=frames.END_HEADERS), frame(0, 0, stream, b"test"))
        while peer.read():
            pass


def test_references_to_one_large_field_close_the_connection(limited):
    # The largest field that fits into the table, whose 4,096 bytes include 32 for each entry, and then a block of
    # references of one byte to it: 61 MB in 15 KB. Without the field in the table they were a COMPRESSION_ERROR.
    field = b"\x40\x01a\x7f\xe0\x1e" + b"x" * (4_096 - 32 - 1)
    with Peer(limited.grpc) as peer, closed_for_its_costs(limited):
        peer.handshake()
        peer.send(headers(1, GET + field))
        # Twenty at once; the first one ends the connection.
        peer.send(*(headers(stream, GET + b"\xbe" * 15_000) for stream in range(3, 43, 2)))
        assert peer.error() == ("GOAWAY", ErrorCodes.ENHANCE_YOUR_CALM)


def test_a_continuation_flood_closes_the_connection(limited):
    with connect(limited.grpc) as peer, closed_for_its_costs(limited):
        # POST of a path, and then header fields without an end.
        peer.sendall(PREFACE + SETTINGS + frame(1, 0, 1, b"\x83\x86\x84"))
        assert flood(peer, frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b" * 100))


def test_an_hpack_bomb_is_rejected(limited):
    # One field of nearly 4 KB into the table, and then thousands of references of one byte to it.
    field = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4_000
    head = b"\x83\x86\x84\x41\x01a" + field
    with connect(limited.grpc) as peer:
        peer.sendall(PREFACE + SETTINGS + frame(1, 0, 1, head[:16_000]))
        begin = time.monotonic()
        for _ in range(6):
            peer.sendall(frame(CONTINUATION, 0, 1, b"\xbe" * 16_000))
        peer.sendall(frame(CONTINUATION, 4, 1, b"\xbe"))
        # The server answers 431 or closes the connection; the fixture checks the memory after each test.
        assert is_closed(peer, 5)
        assert time.monotonic() - begin < TIMEOUT


def test_rapid_reset_closes_the_connection(limited):
    head = b"\x83\x86\x84\x41\x01a"
    with connect(limited.grpc) as peer, closed_for_its_costs(limited):
        peer.sendall(PREFACE + SETTINGS)
        stream, closed = 1, False
        end = time.monotonic() + TIMEOUT
        try:
            while not closed and time.monotonic() < end:
                batch = b""
                for _ in range(500):
                    batch += frame(1, 4, stream, head) + frame(3, 0, stream, b"\0\0\0\x08")
                    stream += 2
                peer.sendall(batch)
        except (ConnectionError, TimeoutError):
            closed = True
        assert closed


def test_the_handshake_timeout_closes_silent_connections(limited):
    with connect(limited.grpc) as silent, connect(limited.http) as incomplete:
        incomplete.sendall(b"P")
        assert is_closed(silent, 3)
        assert is_closed(incomplete, 3)


def test_the_request_timeout_ends_incomplete_requests(limited):
    # A unary request that does not end, on a connection that stays open.
    with Connection(limited.grpc) as connection:
        stream = connection.open()
        connection.send(stream, framed(CHECK_REQUEST)[:8])
        assert connection.answer(stream).status == 4
        assert connection.call(CHECK_REQUEST).status == OK
    # Header fields that do not end, and an HTTP/1.1 request that does not.
    with connect(limited.grpc) as peer:
        peer.sendall(PREFACE + SETTINGS + frame(1, 0, 1, b"\x83\x86"))
        assert is_closed(peer, 5)
    with connect(limited.http) as peer:
        peer.sendall(b"POST /notifications/ocean-journal HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{")
        assert is_closed(peer, 5)


def notification(size):
    """An HTTP/1.1 request that delivers a notification of `size` bytes, up to its header fields."""
    return (f"POST /notifications/ocean-journal HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            f"Content-Length: {size}\r\n\r\n").encode()  # fmt: skip


def test_a_request_that_never_ends_is_cut_off(limited):
    # Every byte restarts the idle timer, but not the request timer.
    start = time.monotonic()
    with connect(limited.http) as peer:
        peer.sendall(notification(60_000) + b"{")
        with pytest.raises(OSError):
            while time.monotonic() - start < TIMEOUT:
                peer.sendall(b" ")
                time.sleep(0.05)
                if is_closed(peer, 0.01):
                    raise ConnectionError
    assert time.monotonic() - start < 4
    # The same on HTTP/2, on a connection that stays open.
    with Connection(limited.http) as connection:
        stream = connection.open("/notifications/ocean-journal", content_type="application/json", te=None)
        connection.send(stream, b"{")
        connection.answer(stream)
        answer = connection.answers[stream]
        assert answer.reset is not None or answer.headers[":status"] == "408", answer.headers
        complete = connection.open("/notifications/ocean-journal", content_type="application/json", te=None)
        connection.send(complete, b"{}", end=True)
        assert connection.answer(complete).headers[":status"] == "202"


def test_many_slow_senders_do_not_block_others(limited):
    slow = [connect(limited.http) for _ in range(12)]
    for peer in slow:
        peer.sendall(notification(1_000) + b"{")
    start = time.monotonic()
    assert post(f"http://{limited.http}/notifications/ocean-journal", {})[0] == 202
    assert time.monotonic() - start < 1
    assert all(is_closed(peer, 5) for peer in slow)
    for peer in slow:
        peer.close()


def test_an_oversized_notification_is_rejected_and_not_stored(limited):
    with connect(limited.http) as peer:
        peer.sendall(notification(70_000) + b" " * 70_000)
        assert peer.recv(4_096).startswith(b"HTTP/1.1 413 ")
    with Connection(limited.http) as connection:
        stream = connection.open("/notifications/ocean-journal", content_type="application/json", te=None)
        connection.send(stream, b" " * 70_000, end=True)
        assert connection.answer(stream).headers[":status"] == "413"


def test_the_idle_timeout_closes_idle_connections(limited):
    with Connection(limited.grpc) as connection:
        assert connection.call(CHECK_REQUEST).status == OK
        connection.drain()
        assert connection.goaway.error_code == 0
    with connect(limited.http) as peer:
        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert is_closed(peer, 5)


def test_a_connection_with_short_calls_only_is_not_idle(limited):
    fields = get("POST", CHECK, ("content-type", "application/grpc"), ("te", "trailers"))
    with Peer(limited.grpc) as peer:
        peer.handshake()
        peer.send(frame(frames.WINDOW_UPDATE, 0, 0, frames.number(1 << 30)))
        begin, stream, kind = time.monotonic(), -1, None
        while kind != frames.GOAWAY:
            # In one segment, so that no stream is open when the timeouts are checked.
            stream += 2
            peer.send(headers(stream, fields, flags=frames.END_HEADERS), frame(0, 1, stream, framed(CHECK_REQUEST)))
            kind = flags = None
            while kind != frames.GOAWAY and not (kind == frames.HEADERS and flags & frames.END_STREAM):
                kind, flags, _, _ = peer.read()
        # The age, and not the idle timeout of 2 s, which is checked each second.
        assert time.monotonic() - begin > 3.5


def test_unanswered_keepalive_pings_close_the_connection(limited):
    # A client that does not answer a ping is disconnected, and its call is cancelled.
    with connect(limited.grpc) as peer:
        peer.sendall(PREFACE + SETTINGS)
        begin = time.monotonic()
        assert is_closed(peer, 6)
        assert time.monotonic() - begin > 0.9


def test_connection_age_lets_calls_finish_within_a_grace_period(limited):
    # A stream keeps the connection busy; at the age limit the client gets a GOAWAY and the stream continues.
    with Connection(limited.grpc) as connection:
        begin = time.monotonic()
        stream = connection.open(path="/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
        while connection.goaway is None:
            assert connection.receive()
        assert time.monotonic() - begin > 3
        assert not connection.answers[stream].ended
        connection.drain()
        assert time.monotonic() - begin < 4.4 + 1 + 3
        assert connection.goaway.error_code == ErrorCodes.NO_ERROR


def test_watch_ends_at_the_connection_age_with_a_sequence_to_resume_after(limited):
    with Connection(limited.grpc) as connection:
        stream = connection.open(path=WATCH)
        request = entitlement_service.WatchRequest(app="ocean-journal")
        connection.send(stream, framed(request.SerializeToString()), end=True)
        answer = connection.answer(stream)
        assert answer.status == UNAVAILABLE
        details = answer.trailers["grpc-status-details-bin"]
        assert b"resumeAfterSequence" in base64.b64decode(details + "=" * (-len(details) % 4))
        connection.drain()
        assert connection.goaway.error_code == ErrorCodes.NO_ERROR


def test_a_watch_between_the_two_goaways_ends_with_a_sequence_to_resume_after(start, tmp_path):
    file = tmp_path / "entitled.yaml"
    times = "  max_connection_age_seconds: 1\n  max_connection_age_grace_seconds: 5\n"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n" + times)
    service = start(arguments=["--config", file])
    request = entitlement_service.WatchRequest(app="ocean-journal").SerializeToString()
    fields = get("POST", WATCH, ("content-type", "application/grpc"), ("te", "trailers"))
    with Peer(service.grpc) as peer:
        peer.handshake()
        # The ping after the first GOAWAY is not answered, so the second one comes a second later.
        assert int.from_bytes(peer.wait(frames.GOAWAY)[:4], "big") == 0x7FFFFFFF
        peer.send(headers(1, fields, flags=frames.END_HEADERS), frame(0, 1, 1, framed(request)))
        decoder, answer, flags = hpack.Decoder(), {}, 0
        while not flags & frames.END_STREAM:
            kind, flags, stream, payload = peer.read() or pytest.fail("the stream had no end")
            if kind == frames.HEADERS and stream == 1:
                answer |= dict(decoder.decode(payload))
            else:
                flags = 0
    assert answer["grpc-status"] == str(UNAVAILABLE)
    details = answer["grpc-status-details-bin"]
    assert b"resumeAfterSequence" in base64.b64decode(details + "=" * (-len(details) % 4))


def batch(size):
    checks = [{"app": "ocean-journal", "customer_id": f"customer-{n}", "entitlement": "pro"} for n in range(size)]
    return entitlement_service.BatchCheckRequest(checks=checks)


BATCH_CHECK = "/entitled.v1.EntitlementService/BatchCheck"


def call_unread(peer, stream, body, content_type):
    """Makes a call whose response exceeds the window; waits for the header fields of the response."""
    fields = get("POST", BATCH_CHECK, ("content-type", content_type), ("te", "trailers"))
    parts = [body[start : start + 16_000] for start in range(0, len(body), 16_000)]
    data = [frame(0, int(part is parts[-1]), stream, part) for part in parts]
    peer.send(headers(stream, fields, flags=frames.END_HEADERS), *data)
    peer.wait(frames.HEADERS, stream)


@pytest.mark.parametrize("port, content_type, body", [
    ("grpc", "application/grpc", framed(batch(500).SerializeToString())),
    ("http", "application/json", json_format.MessageToJson(batch(50)).encode()),
], ids=["gRPC", "JSON"])  # fmt: skip
def test_over_all_connections_the_most_unread_responses_are_reset_first(start, tmp_path, port, content_type, body):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_unread_response_bytes: 1048576\n")
    service = start(arguments=["--config", file])
    peers = []
    while (metrics := service.metrics())["entitled_unread_connections_reset_total"] == 0:
        assert len(peers) < 200 and metrics["entitled_unread_response_bytes"] < 1_200_000
        peer = Peer(getattr(service, port), initial={frames.INITIAL_WINDOW_SIZE: 0})
        peer.handshake()
        # The first connection has twice as much unread as the others.
        for stream in (1, 3) if not peers else (1,):
            call_unread(peer, stream, body, content_type)
        peers.append(peer)
    assert len(peers) > 5
    assert peers[0].error() == ("GOAWAY", ErrorCodes.ENHANCE_YOUR_CALM)
    assert all(peer.is_served() for peer in peers[1:-1])
    for peer in peers:
        peer.socket.close()
    wait_for(lambda: service.metrics()["entitled_unread_response_bytes"] == 0)


class Sender:
    """A client of HTTP/1.1 that never ends its request."""

    def __init__(self, address, size):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=TIMEOUT)
        head = f"POST {BATCH_CHECK} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n"
        self.socket.sendall(head.encode() + b" " * size)

    def is_closed(self):
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


def incomplete(service, port, size):
    """A connection with the beginnings of requests of `size` bytes together."""
    if port == "HTTP/1.1":
        return Sender(service.http, size)
    peer = Peer(getattr(service, port))
    peer.handshake()
    content_type = "application/grpc" if port == "grpc" else "application/json"
    fields = get("POST", BATCH_CHECK, ("content-type", content_type), ("te", "trailers"))
    # The prefix of a message of a megabyte, or spaces before a document.
    start = b"\0" + (1 << 20).to_bytes(4, "big") if port == "grpc" else b""
    for number in range(size // 30_000):
        stream = 2 * number + 1
        parts = [start + b" " * 10_000, b" " * 10_000, b" " * 10_000]
        peer.send(headers(stream, fields, flags=frames.END_HEADERS), *[frame(0, 0, stream, part) for part in parts])
    return peer


@pytest.mark.parametrize("port", ["grpc", "http", "HTTP/1.1", "sandbox", "console"])
def test_over_all_connections_the_most_incomplete_requests_are_reset_first(start, tmp_path, port):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_incomplete_request_bytes: 1048576\n")
    console = f"127.0.0.1:{free_port()}"
    service = start(arguments=["--config", file, "--console", console])
    service.console = console
    peers = []
    while (metrics := service.metrics())["entitled_incomplete_connections_reset_total"] == 0:
        assert len(peers) < 30 and metrics["entitled_incomplete_request_bytes"] < 1_200_000
        # The first connection has twice as much as the others.
        peers.append(incomplete(service, port, 60_000 if peers else 120_000))
    assert len(peers) > 10
    if port == "HTTP/1.1":
        assert peers[0].is_closed()
    else:
        assert peers[0].error() == ("GOAWAY", ErrorCodes.ENHANCE_YOUR_CALM)
        assert all(peer.is_served() for peer in peers[1:-1])
    for peer in peers:
        peer.socket.close()
    wait_for(lambda: service.metrics()["entitled_incomplete_request_bytes"] == 0)


@pytest.mark.parametrize("port", ["grpc", "http"])
def test_header_fields_count_until_their_request_is_complete(start, tmp_path, port):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_incomplete_request_bytes: 1048576\n")
    service = start(arguments=["--config", file])
    fields = get("POST", BATCH_CHECK, ("content-type", "application/grpc" if port == "grpc" else "application/json"),
                 ("te", "trailers"), ("note", "x" * 8_000))  # fmt: skip
    peers = []
    while service.metrics()["entitled_incomplete_connections_reset_total"] == 0:
        assert len(peers) < 30
        peers.append(Peer(getattr(service, port)))
        peers[-1].handshake()
        for stream in range(1, 21 if len(peers) > 1 else 41, 2):
            peers[-1].send(headers(stream, fields, flags=frames.END_HEADERS))
    assert peers[0].error() == ("GOAWAY", ErrorCodes.ENHANCE_YOUR_CALM)
    for peer in peers:
        peer.socket.close()
    wait_for(lambda: service.metrics()["entitled_incomplete_request_bytes"] == 0)


@pytest.mark.parametrize("head", [
    b"GET / HTTP/1.1\r\nhost: localhost\r\n",
    b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
], ids=["fields", "trailers"])  # fmt: skip
def test_fields_of_http_1_count_until_their_end(start, tmp_path, head):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_incomplete_request_bytes: 1048576\n")
    service = start(arguments=["--config", file])
    peers = []
    while service.metrics()["entitled_incomplete_connections_reset_total"] == 0:
        assert len(peers) < 30
        peers.append(connect(service.http))
        # The first connection has twice as much as the others.
        peers[-1].sendall(head + b"note: " + b"x" * 50_000 + b"\r\n" + (b"" if peers[1:] else b"more: " + b"x" * 50_000))
    assert len(peers) > 10
    assert is_closed(peers[0])
    for peer in peers:
        peer.close()
    wait_for(lambda: service.metrics()["entitled_incomplete_request_bytes"] == 0)


@pytest.mark.parametrize("port", ["grpc", "http"])
def test_a_connection_with_many_header_fields_of_incomplete_requests_ends(start, port):
    """Freeing the streams of a connection at once takes time that its neighbours notice."""
    service = start()
    fields = get("POST", BATCH_CHECK, ("content-type", "application/grpc" if port == "grpc" else "application/json"),
                 ("te", "trailers"), ("note", "x" * 12_000))  # fmt: skip
    with Peer(getattr(service, port)) as peer, Peer(getattr(service, port)) as other:
        other.handshake()
        peer.handshake()
        for stream in range(1, 601, 2):
            peer.send(headers(stream, fields, flags=frames.END_HEADERS))
        assert peer.is_served()
        for stream in range(601, 801, 2):
            peer.send(headers(stream, fields, flags=frames.END_HEADERS))
        assert peer.error() == ("GOAWAY", ErrorCodes.ENHANCE_YOUR_CALM)
        assert other.is_served()


def test_health_watches_count_while_they_are_open(start, tmp_path):
    """Anyone can open them, and nothing else ends them."""
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_incomplete_request_bytes: 1048576\n")
    service = start(arguments=["--config", file])
    fields = get("POST", "/grpc.health.v1.Health/Watch", ("content-type", "application/grpc"), ("te", "trailers"))
    peers = []
    while service.metrics()["entitled_incomplete_connections_reset_total"] == 0:
        assert len(peers) < 30
        peers.append(Peer(service.grpc))
        peers[-1].handshake()
        for stream in range(1, 41 if len(peers) > 1 else 81, 2):
            peers[-1].send(headers(stream, fields, flags=frames.END_HEADERS), frame(0, 1, stream, framed(b"")))
        peers[-1].wait(frames.HEADERS, stream)
    assert len(peers) > 10
    assert peers[0].error() == ("GOAWAY", ErrorCodes.ENHANCE_YOUR_CALM)
    for peer in peers:
        peer.socket.close()
    wait_for(lambda: service.metrics()["entitled_incomplete_request_bytes"] == 0)


def test_requests_that_wait_for_a_thread_are_bounded(start, tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_incomplete_request_bytes: 1048576\n")
    cores = os.sched_getaffinity(0)
    # On one core, the threads that handle requests yield to those that read them.
    os.sched_setaffinity(0, {min(cores)})
    try:
        service = start(arguments=["--config", file])
    finally:
        os.sched_setaffinity(0, cores)
    fields = get("POST", f"/notifications/{APP}", ("note", "x" * 8_000))
    with Peer(service.http) as peer:
        peer.handshake()

        def statuses(streams):
            body = b'{"signedPayload":"' + b"x" * 4_000 + b'"}'
            peer.send(*[headers(stream, fields, flags=frames.END_HEADERS) + frame(0, 1, stream, body) for stream in streams])
            return [dict(decoder.decode(peer.wait(frames.HEADERS))) for _ in streams]

        decoder = hpack.Decoder()
        answers = statuses(range(1, 601, 2))
        refused = [answer for answer in answers if answer[":status"] == "503"]
        # A megabyte is that of 49 requests, whose fields count twice.
        assert 0 < len(refused) <= 251 and all(answer["retry-after"] == "1" for answer in refused)
        assert statuses([601])[0][":status"] == "202"


@pytest.mark.skipif(SANITIZED, reason="compares times")
def test_receipts_with_many_digest_algorithms_delay_no_other_request(service):
    """Hashing the content of one for each of them takes seconds."""
    chain = [base64.b64decode(text) for text in header_of(service.buy("pro.monthly")["signedTransactionInfo"])["x5c"]]

    def seconds(algorithms):
        """Until such receipts, one for each thread, and another request are answered."""
        receipt = base64.b64encode(receipts.receipt(chain, algorithms, size=1_000_000)).decode()
        start = time.monotonic()
        with contextlib.ExitStack() as ending:
            peers = [ending.enter_context(connect(service.http)) for _ in os.sched_getaffinity(0)]
            for peer in peers:
                peer.sendall(receipts.post("/verifyReceipt", {"receipt-data": receipt}))
            with urllib.request.urlopen(f"http://{service.http}/openapi.json", timeout=TIMEOUT) as answer:
                assert answer.status == 200
            assert all(b'"status":21003' in peer.recv(65_536) for peer in peers)
        return time.monotonic() - start

    assert seconds(800) < 5 * seconds(1) + 1


def test_a_complete_request_does_not_count_as_incomplete_while_its_call_lasts(start):
    service = start()
    with Peer(service.http, initial={frames.INITIAL_WINDOW_SIZE: 0}) as peer:
        peer.handshake()
        body = json_format.MessageToJson(batch(50)).encode() + b" " * 30_000
        fields = get("POST", BATCH_CHECK, ("content-type", "application/json"))
        peer.send(headers(1, fields, flags=frames.END_HEADERS), frame(0, 0, 1, body[:16_000]))
        wait_for(lambda: service.metrics()["entitled_incomplete_request_bytes"] > 16_000)
        rest = [body[start : start + 16_000] for start in range(16_000, len(body), 16_000)]
        peer.send(*[frame(0, int(part is rest[-1]), 1, part) for part in rest])
        # The stream stays open, because the peer allows no byte of the response.
        peer.wait(frames.HEADERS, 1)
        wait_for(lambda: service.metrics()["entitled_incomplete_request_bytes"] == 0)


def test_memory_stays_within_the_limit_of_unread_responses(start, tmp_path):
    # 60 MB of requests, which take several times as much once they are decoded, and 25 MB of responses.
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_unread_response_bytes: 16777216\n")
    service = start(arguments=["--config", file])
    large, small = (framed(batch(size).SerializeToString()) for size in (1_000, 64))
    before, highest = service.memory, 0
    with contextlib.ExitStack() as peers:
        for _ in range(20):
            peer = peers.enter_context(Peer(service.grpc, initial={frames.INITIAL_WINDOW_SIZE: 0}))
            peer.handshake()
            fields = get("POST", BATCH_CHECK, ("content-type", "application/grpc"), ("te", "trailers"))
            try:
                for stream in range(1, 301, 2):
                    body = large if stream % 4 == 1 else small
                    parts = [body[start : start + 16_000] for start in range(0, len(body), 16_000)]
                    data = [frame(0, int(part is parts[-1]), stream, part) for part in parts]
                    peer.send(headers(stream, fields, flags=frames.END_HEADERS), *data)
            except OSError:
                pass  # one of those with the most unread bytes
            highest = max(highest, service.memory)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            assert service.metrics()["entitled_unread_response_bytes"] < 2 * 16_777_216
            highest = max(highest, service.memory)
            time.sleep(0.1)
    # The responses once, a copy in the buffers of the sockets, and what 20 connections need besides, with the requests that
    # are being read: more of them on a busy machine.
    assert highest - before < 2 * 16_777_216 + (64 << 20)


def test_a_connection_holds_no_memory_of_earlier_header_fields(start):
    service = start()
    # A field of 4,000 bytes into the table, and three references of one byte to it in each of 128 requests.
    field = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4_000
    streams = range(3, 259, 2)
    with contextlib.ExitStack() as peers:
        for number in range(25):
            if number == 5:
                # The first connections also cost memory that is allocated once.
                before = service.memory
            peer = peers.enter_context(Peer(service.grpc))
            peer.handshake()
            peer.send(headers(1, GET + field, flags=frames.END_HEADERS))
            peer.send(*[headers(stream, GET + b"\xbe" * 3, flags=frames.END_HEADERS) for stream in streams])
            peer.send(*[frame(3, 0, stream, (8).to_bytes(4, "big")) for stream in streams])
            assert peer.is_served()
        # Their 20 times 128 requests had 30 MiB of header fields.
        assert service.memory - before < 15 << 20


def test_an_unread_response_holds_no_memory_of_the_requests_header_fields(start):
    service = start()
    field = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4_000
    call = (("content-type", "application/grpc"), ("te", "trailers"))
    requests = [
        (service.http, get(path="/healthz"), b""),
        (service.grpc, get("POST", "/grpc.health.v1.Health/Check", *call), framed(b"")),
    ]
    streams = range(3, 259, 2)
    for address, fields, body in requests:
        with contextlib.ExitStack() as peers:
            for number in range(25):
                if number == 5:
                    # The first connections also cost memory that is allocated once.
                    before = service.memory
                peer = peers.enter_context(Peer(address, initial={frames.INITIAL_WINDOW_SIZE: 0}))
                peer.handshake()
                peer.send(headers(1, get() + field))
                flags = frames.END_HEADERS if body else frames.END_HEADERS | frames.END_STREAM
                for stream in streams:
                    data = [frame(frames.DATA, frames.END_STREAM, stream, body)] if body else []
                    peer.send(headers(stream, fields + b"\xbe" * 3, flags=flags), *data)
                unanswered = set(streams)
                while unanswered:
                    kind, _, stream, _ = peer.read()
                    unanswered -= {stream} if kind == frames.HEADERS else set()
            # The 20 times 128 requests had 30 MiB of header fields, and the service allocates as much again.
            assert service.memory - before < 20 << 20
            # What the streams themselves occupy counts as unread.
            assert service.metrics()["entitled_unread_response_bytes"] > 25 * 128 * 1_024


def test_a_connection_holds_no_memory_of_pipelined_requests(start):
    """Requests behind a response that the peer does not read wait as bytes."""
    service = start()
    large = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20
    small = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 1_700
    # After it, the service reads as much as it can at once.
    upload = b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 300000\r\n\r\n" + bytes(300_000)

    def growth(peers, requests):
        before = service.memory
        for _ in range(30):
            peer = peers.enter_context(connect(service.http, receive=8_192))
            peer.sendall(upload)
            assert peer.recv(65_536).startswith(b"HTTP/1.1 404 ")
            unread = service.metrics()["entitled_unread_response_bytes"]
            peer.sendall(requests)
            wait_for(lambda: service.metrics()["entitled_unread_response_bytes"] > unread)
        return service.memory - before

    with contextlib.ExitStack() as peers:
        growth(peers, large)
        alone = growth(peers, large)
        # 51,000 requests, each of which would take most of a kilobyte.
        assert (more := growth(peers, large + small)) - alone < 20 << 20, (alone, more)


def test_a_connection_over_a_limit_leaves_no_memory(start, tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_incomplete_request_bytes: 1048576\n")
    service = start(arguments=["--config", file])
    # Of 20 KB: 500 requests without an end, each with three references to a field of 4,000 bytes.
    field = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4_000
    opening = headers(1, GET + field, flags=frames.END_HEADERS)
    opening += b"".join(headers(stream, GET + b"\xbe" * 3, flags=frames.END_HEADERS) for stream in range(3, 1_003, 2))
    before = service.memory
    for _ in range(30):
        with Peer(service.grpc) as peer:
            peer.handshake()
            peer.send(opening)
            assert peer.error() == ("GOAWAY", ErrorCodes.ENHANCE_YOUR_CALM)
    # Each of them made the service hold 8 MB.
    assert service.memory - before < 100 << 20


def test_connections_without_a_call_wait_to_be_accepted(start, tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_unused_connections_per_second: 1\n")
    service = start(arguments=["--config", file])
    begin = time.monotonic()
    for _ in range(40):
        # At least 12 seconds, if they counted.
        with Connection(service.grpc) as connection:
            assert connection.call(CHECK_REQUEST).status == OK
        check = {"app": "ocean-journal", "customerId": "customer", "entitlement": "pro"}
        assert post(f"http://{service.http}/entitled.v1.EntitlementService/Check", check)[0] == 200
    assert time.monotonic() - begin < 30
    begin = time.monotonic()
    unused = [connect(service.grpc) for _ in range(2)]
    # Anyone can call it, so it says nothing about a peer: with the two others, these take three seconds.
    for _ in range(2):
        with Connection(service.grpc) as connection:
            assert connection.call(path="/grpc.health.v1.Health/Check").status == OK
    assert time.monotonic() - begin > 2
    begin = time.monotonic()
    for path in ("/healthz", "/.well-known/jwks.json", "/healthz", "/.well-known/jwks.json"):
        with connect(service.http) as peer:
            peer.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert b" 200 " in peer.recv(65_536)
    assert time.monotonic() - begin > 2
    for peer in unused:
        peer.close()


def test_pipelined_requests_wait_until_their_responses_are_read(service):
    # 120 responses of about 50 KB, more than sockets hold: neither buffered nor lost.
    count = 120
    body = json_format.MessageToJson(batch(50)).encode()
    head = f"POST {BATCH_CHECK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    before = service.memory
    with connect(service.http, receive=65_536) as peer:
        peer.settimeout(300)
        sender = threading.Thread(target=peer.sendall, args=(request * count,), daemon=True)
        sender.start()
        wait_for(lambda: service.metrics()["entitled_unread_response_bytes"] > 0)
        # As many responses of another client, which the service has the time for meanwhile, would be 1.5 MB here.
        for _ in range(30):
            assert post(f"http://{service.http}{BATCH_CHECK}", body)[0] == 200
            assert service.metrics()["entitled_unread_response_bytes"] < 1_000_000
        with peer.makefile("rb") as answers:
            for _ in range(count):
                assert b" 200 " in answers.readline()
                length = 0
                while (line := answers.readline()) != b"\r\n":
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                assert len(answers.read(length)) == length > 10_000
        sender.join()
    assert service.memory - before < 50_000_000


def test_stalled_responses_are_cancelled(limited):
    # A window of zero: the responses are never read.
    with connect(limited.grpc) as peer:
        settings = frame(4, payload=struct.pack(">HI", 4, 0))
        peer.sendall(PREFACE + settings)
        path = b"/entitled.v1.EntitlementService/Check"
        content = b"application/grpc"
        head = b"\x83\x86\x41\x01a\x04" + bytes([len(path)]) + path
        head += b"\x0f\x10" + bytes([len(content)]) + content
        for number in range(5):
            stream = 2 * number + 1
            peer.sendall(frame(1, 4, stream, head) + frame(0, 1, stream, framed(CHECK_REQUEST)))
        begin = time.monotonic()
        assert keep_answering_pings(peer)
        assert time.monotonic() - begin > 1.5


def keep_answering_pings(peer):
    """Answers pings, as a live client does, until the server closes."""
    data, end = b"", time.monotonic() + TIMEOUT
    try:
        while time.monotonic() < end:
            more = peer.recv(65_536)
            if not more:
                return True
            data += more
            while len(data) >= 9 + (length := int.from_bytes(data[:3], "big")):
                kind, flags, payload = data[3], data[4], data[9 : 9 + length]
                if kind == 6 and not flags & 1:
                    peer.sendall(frame(6, 1, payload=payload))
                data = data[9 + length :]
    except ConnectionError:
        return True
    return False


def test_a_slow_reader_stalls_only_its_own_calls(limited):
    # Pings whose acknowledgements are not read: the server stops reading and buffers little.
    with connect(limited.grpc) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        peer.sendall(PREFACE + SETTINGS)
        with Connection(limited.grpc) as other:
            flood(peer, PING * 100, 2)
            assert other.call(CHECK_REQUEST).status == OK


def test_a_limit_out_of_range_is_named(tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_concurrent_streams: 0\n")
    ended = run("serve", *FREE_PORTS, "--config", file, "--data", tmp_path / "data")
    assert ended.returncode == 1
    assert "max_concurrent_streams of limits" in ended.stderr and "between 1 and 1000000" in ended.stderr
