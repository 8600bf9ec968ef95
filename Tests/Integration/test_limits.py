"""Every limit of the configuration, crossed: the one who crosses it is stopped, and the others are served."""

import socket
import struct
import time

import pytest
from grpc_reflection.v1alpha import reflection_pb2
from h2.errors import ErrorCodes
from h2.settings import SettingCodes

from contract import entitlement_service
from harness import FREE_PORTS, Service, post, run
from raw import Connection, framed
from test_http2 import OK, QUESTION, RESOURCE_EXHAUSTED
from test_reload import CATALOG

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
"""
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
WATCH = "/entitled.v1.EntitlementService/Watch"
PATIENCE = 10


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


SETTINGS, PING, CONTINUATION = frame(4), frame(6, payload=bytes(8)), 9


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """One service with small limits; it must end well."""
    folder = tmp_path_factory.mktemp("limited")
    (folder / "entitled.yaml").write_text(CATALOG.replace("ENTITLEMENTS", "pro") + LIMITS)
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    yield service
    service.stop()


@pytest.fixture(autouse=True)
def served(limited):
    """Somebody else is served before and after, and the process has not grown."""
    before = limited.memory
    yield
    with Connection(limited.grpc) as connection:
        assert connection.call(QUESTION).status == OK
    assert limited.memory - before < 100_000_000


def connect(address):
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def is_closed(peer, limit=PATIENCE):
    """Reads until the server closes; false if it has not by then."""
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


def flood(peer, data, seconds=PATIENCE):
    """Sends the same over and over until the server closes; false if it never does."""
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


def test_connections(limited):
    peers = [connect(limited.grpc) for _ in range(20)]
    try:
        with connect(limited.grpc) as refused:
            assert is_closed(refused, 1)
    finally:
        for peer in peers:
            peer.close()
    wait_for(lambda: ask(limited))


def ask(service):
    try:
        with Connection(service.grpc) as connection:
            return connection.call(QUESTION).status == OK
    except (ConnectionError, AssertionError):
        return False


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_streams(limited):
    request = framed(entitlement_service.WatchRequest(app="ocean-journal").SerializeToString())
    with Connection(limited.grpc) as connection:
        # A client that has not heard of the limit yet: what is too much is refused, and the rest goes on.
        streams = [connection.open(path=WATCH) for _ in range(15)]
        for stream in streams[:10]:
            connection.send(stream, request, end=True)
        for stream in streams[10:]:
            assert connection.answer(stream).reset == ErrorCodes.REFUSED_STREAM
        assert connection.h2.remote_settings.max_concurrent_streams == 10
        assert not any(connection.answers[stream].ended for stream in streams[:10])
        # Where one of them ends there is room for another call.
        connection.h2.reset_stream(streams[0], ErrorCodes.CANCEL)
        connection.flush()
        assert connection.call(QUESTION).status == OK
        # One that has heard of it and does not heed it is closed; others are served.
        connection.h2.remote_settings[SettingCodes.MAX_CONCURRENT_STREAMS] = 1_000
        connection.h2.remote_settings.acknowledge()
        with Connection(limited.grpc) as other:
            for _ in range(2):
                connection.open(path=WATCH)
            connection.drain()
            assert other.call(QUESTION).status == OK


def test_header_bytes(limited):
    with Connection(limited.grpc) as connection:
        answer = connection.answer(connection.open(note="x" * 5_000, end=True))
        assert answer.headers[":status"] == "431"
        assert connection.call(QUESTION).status == OK
    with connect(limited.http) as peer:
        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nNote: " + b"x" * 5_000 + b"\r\n\r\n")
        assert b" 431 " in peer.recv(65_536)


def test_message_bytes(limited):
    with Connection(limited.grpc) as connection:
        answer = connection.call(bytes(65_537))
        assert answer.status == RESOURCE_EXHAUSTED
        assert connection.call(QUESTION).status == OK


def test_body_bytes(limited):
    status, text = post(f"http://{limited.http}/entitled.v1.EntitlementService/Check", b" " * 65_537)
    assert (status, "65536" in text) == (413, True)


def is_ended_for_taking_too_much(connection):
    """Whether the server ends the connection at once, and not because something took too long."""
    begin = time.monotonic()
    try:
        connection.drain()
    except ConnectionError:
        pass
    assert time.monotonic() - begin < 0.9
    # What it says last is lost where we were still sending.
    return connection.goaway is None or connection.goaway.error_code == ErrorCodes.ENHANCE_YOUR_CALM


def test_requests_that_are_not_whole_are_held_up_to_a_limit(limited):
    # Nine requests that are each within their limit and never end; five of them are more than the connection may hold.
    with Connection(limited.grpc) as connection, Connection(limited.grpc) as other:
        connection.receive()
        try:
            for _ in range(9):
                stream = connection.open(path=WATCH.replace("Watch", "Check"))
                connection.send(stream, framed(bytes(65_000))[:60_000])
        except (ConnectionError, AssertionError):
            pass
        assert is_ended_for_taking_too_much(connection)
        assert other.call(QUESTION).status == OK


def test_answers_that_are_not_fetched_are_held_up_to_a_limit(limited):
    # Streams whose answers are never taken: each may wait, all together are too much.
    with Connection(limited.grpc) as connection, Connection(limited.grpc) as other:
        connection.receive()
        connection.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 0})
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol="entitled.v1.EntitlementService")
        question = framed(request.SerializeToString())
        try:
            for _ in range(9):
                stream = connection.open(path="/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
                connection.send(stream, question * 40)
        except (ConnectionError, AssertionError):
            pass
        assert is_ended_for_taking_too_much(connection)
        assert other.call(QUESTION).status == OK


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(PING, id="pings"),
        pytest.param(SETTINGS, id="settings"),
        pytest.param(frame(8, payload=b"\0\0\0\1"), id="window updates"),
        pytest.param(frame(2, stream=1, payload=bytes([0, 0, 0, 3, 0])), id="priorities"),
    ],
)
def test_control_frames(limited, data):
    with connect(limited.grpc) as peer:
        peer.sendall(PREFACE + SETTINGS)
        assert flood(peer, data * 500)


def test_continuations(limited):
    with connect(limited.grpc) as peer:
        # POST of a path, and then header fields without an end.
        peer.sendall(PREFACE + SETTINGS + frame(1, 0, 1, b"\x83\x86\x84"))
        assert flood(peer, frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b" * 100))


def test_an_hpack_bomb(limited):
    # One field of nearly 4 KB into the table, and then thousands of references of one byte to it.
    field = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4_000
    head = b"\x83\x86\x84\x41\x01a" + field
    with connect(limited.grpc) as peer:
        peer.sendall(PREFACE + SETTINGS + frame(1, 0, 1, head[:16_000]))
        begin = time.monotonic()
        for _ in range(6):
            peer.sendall(frame(CONTINUATION, 0, 1, b"\xbe" * 16_000))
        peer.sendall(frame(CONTINUATION, 4, 1, b"\xbe"))
        # It answers 431, or ends the connection; the memory is looked at behind each test.
        assert is_closed(peer, 5)
        assert time.monotonic() - begin < PATIENCE


def test_rapid_reset(limited):
    head = b"\x83\x86\x84\x41\x01a"
    with connect(limited.grpc) as peer:
        peer.sendall(PREFACE + SETTINGS)
        stream, closed = 1, False
        end = time.monotonic() + PATIENCE
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


def test_handshake_time(limited):
    with connect(limited.grpc) as silent, connect(limited.http) as begun:
        begun.sendall(b"P")
        assert is_closed(silent, 3)
        assert is_closed(begun, 3)


def test_request_time(limited):
    # A unary request that does not end, on a connection that goes on.
    with Connection(limited.grpc) as connection:
        stream = connection.open()
        connection.send(stream, framed(QUESTION)[:8])
        assert connection.answer(stream).status == 4
        assert connection.call(QUESTION).status == OK
    # Header fields that do not end, and a request of HTTP/1.1 that does not.
    with connect(limited.grpc) as peer:
        peer.sendall(PREFACE + SETTINGS + frame(1, 0, 1, b"\x83\x86"))
        assert is_closed(peer, 5)
    with connect(limited.http) as peer:
        peer.sendall(b"POST /notifications/ocean-journal HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{")
        assert is_closed(peer, 5)


def notification(size):
    """A request of HTTP/1.1 that delivers a notification of so many bytes, as far as its header fields."""
    return (f"POST /notifications/ocean-journal HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            f"Content-Length: {size}\r\n\r\n").encode()  # fmt: skip


def test_a_sender_that_never_stops_is_cut_all_the_same(limited):
    # Each byte is a sign of life, but a request that is not whole in its time is over.
    start = time.monotonic()
    with connect(limited.http) as peer:
        peer.sendall(notification(60_000) + b"{")
        with pytest.raises(OSError):
            while time.monotonic() - start < PATIENCE:
                peer.sendall(b" ")
                time.sleep(0.05)
                if is_closed(peer, 0.01):
                    raise ConnectionError
    assert time.monotonic() - start < 4
    # The same on HTTP/2, on a connection that goes on.
    with Connection(limited.http) as connection:
        stream = connection.open("/notifications/ocean-journal", content_type="application/json", te=None)
        connection.send(stream, b"{")
        connection.answer(stream)
        answer = connection.answers[stream]
        assert answer.reset is not None or answer.headers[":status"] == "408", answer.headers
        whole = connection.open("/notifications/ocean-journal", content_type="application/json", te=None)
        connection.send(whole, b"{}", end=True)
        assert connection.answer(whole).headers[":status"] == "202"


def test_many_slow_senders_hold_up_nobody(limited):
    slow = [connect(limited.http) for _ in range(12)]
    for peer in slow:
        peer.sendall(notification(1_000) + b"{")
    start = time.monotonic()
    assert post(f"http://{limited.http}/notifications/ocean-journal", {})[0] == 202
    assert time.monotonic() - start < 1
    assert all(is_closed(peer, 5) for peer in slow)
    for peer in slow:
        peer.close()


def test_a_notification_that_is_too_long_is_refused_without_being_kept(limited):
    with connect(limited.http) as peer:
        peer.sendall(notification(70_000) + b" " * 70_000)
        assert peer.recv(4_096).startswith(b"HTTP/1.1 413 ")
    with Connection(limited.http) as connection:
        stream = connection.open("/notifications/ocean-journal", content_type="application/json", te=None)
        connection.send(stream, b" " * 70_000, end=True)
        assert connection.answer(stream).headers[":status"] == "413"


def test_idle_time(limited):
    with Connection(limited.grpc) as connection:
        assert connection.call(QUESTION).status == OK
        connection.drain()
        assert connection.goaway.error_code == 0
    with connect(limited.http) as peer:
        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert is_closed(peer, 5)


def test_keepalive(limited):
    # Who does not answer a ping is gone; its call, too.
    with connect(limited.grpc) as peer:
        peer.sendall(PREFACE + SETTINGS)
        begin = time.monotonic()
        assert is_closed(peer, 6)
        assert time.monotonic() - begin > 0.9


def test_connection_age_lets_calls_end_and_then_does_not(limited):
    # A stream keeps the connection from being idle; at its age the client hears of it and the stream goes on.
    with Connection(limited.grpc) as connection:
        begin = time.monotonic()
        stream = connection.open(path=WATCH)
        request = entitlement_service.WatchRequest(app="ocean-journal")
        connection.send(stream, framed(request.SerializeToString()), end=True)
        while connection.goaway is None:
            assert connection.receive()
        assert time.monotonic() - begin > 3
        assert not connection.answers[stream].ended
        connection.drain()
        assert time.monotonic() - begin < 4.4 + 1 + 3


def test_stalled_answers(limited):
    # A window of nothing: the answers are never taken.
    with connect(limited.grpc) as peer:
        settings = frame(4, payload=struct.pack(">HI", 4, 0))
        peer.sendall(PREFACE + settings)
        path = b"/entitled.v1.EntitlementService/Check"
        content = b"application/grpc"
        head = b"\x83\x86\x41\x01a\x04" + bytes([len(path)]) + path
        head += b"\x0f\x10" + bytes([len(content)]) + content
        for number in range(5):
            stream = 2 * number + 1
            peer.sendall(frame(1, 4, stream, head) + frame(0, 1, stream, framed(QUESTION)))
        begin = time.monotonic()
        assert keep_answering_pings(peer)
        assert time.monotonic() - begin > 1.5


def keep_answering_pings(peer):
    """Answers pings, as a living client does, until the server closes."""
    data, end = b"", time.monotonic() + PATIENCE
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


def test_a_slow_reader_stops_its_own_calls_only(limited):
    # Pings whose answers are not read: the server does not read on, and holds little.
    with connect(limited.grpc) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        peer.sendall(PREFACE + SETTINGS)
        with Connection(limited.grpc) as other:
            flood(peer, PING * 100, 2)
            assert other.call(QUESTION).status == OK


def test_a_limit_out_of_range_is_named(tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro") + "\nlimits:\n  max_concurrent_streams: 0\n")
    ended = run("serve", *FREE_PORTS, "--config", file, "--data", tmp_path / "data")
    assert ended.returncode == 1
    assert "max_concurrent_streams of limits" in ended.stderr and "between 1 and 1000000" in ended.stderr
