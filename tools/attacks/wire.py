"""Frames, header fields and requests as bytes, without a library that keeps to the rules."""

import json
import select
import socket
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
INITIAL_WINDOW_SIZE = 4
SERVICE = "/entitled.v1.EntitlementService/"
APP = "ocean-journal"
# GET http://a/ in HPACK, without an entry in the table.
GET = b"\x82\x86\x84\x01\x01a"


class IncompleteFlood(Exception):
    """The flood was smaller than it claims, so that its figures mean nothing."""


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(**values):
    names = {"window": INITIAL_WINDOW_SIZE}
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", names[name], value) for name, value in values.items()))


def varint(value):
    """A number in the encoding of protobuf."""
    encoded = b""
    while value > 127:
        encoded, value = encoded + bytes([value & 127 | 128]), value >> 7
    return encoded + bytes([value])


def text(number, value):
    """A string field of protobuf, or a message."""
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + varint(len(value)) + value


def literal(name, value):
    """A field of HPACK that enters no table; both parts are shorter than 127 bytes."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def call(stream, method, message, service=SERVICE):
    """A unary gRPC call."""
    head = b"\x83\x86\x01\x01a" + literal(":path", service + method)
    head += literal("content-type", "application/grpc") + literal("te", "trailers")
    body = struct.pack(">BI", 0, len(message)) + message
    parts = [body[start : start + 16_384] for start in range(0, len(body), 16_384)]
    data = [frame(DATA, END_STREAM if part is parts[-1] else 0, stream, part) for part in parts]
    return frame(HEADERS, END_HEADERS, stream, head) + b"".join(data)


def check(customer):
    """A CheckRequest."""
    return text(1, APP) + text(2, customer) + text(3, "pro")


def batch(size):
    """A BatchCheckRequest."""
    return b"".join(text(1, check(f"customer-{number + 1:07}")) for number in range(size))


def post(path, body, content_type="application/json"):
    """An HTTP/1.1 request."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def connect(address, timeout=5):
    connection = socket.create_connection(address, timeout=timeout)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def flood_connection(address, until, opening, chunks):
    """Sends `opening` and then the chunks of `chunks()`, on a new connection whenever the server closes one.

    Reads and discards responses where there are any. Returns the number of connections that the server closed.
    """
    closed = 0
    while time.monotonic() < until:
        try:
            with connect(address) as peer:
                peer.sendall(opening)
                for chunk in chunks():
                    send(peer, chunk, until)
                    if time.monotonic() >= until:
                        return closed
        except TimeoutError:
            continue
        except OSError:
            closed += 1
    return closed


def send(peer, data, until):
    """Sends everything, and reads and discards meanwhile, so that a GOAWAY is seen while the server reads nothing."""
    rest = memoryview(data)
    while rest:
        readable, writable, _ = select.select([peer], [peer], [], max(until - time.monotonic(), 0.01))
        if readable:
            discard(peer)
        elif writable:
            rest = rest[peer.send(rest) :]
        else:
            raise TimeoutError
    discard(peer)


def hold_connections(address, until, opening, count):
    """Keeps `count` connections that have sent `opening`, and replaces each that the server closes. Returns their number."""
    closed, peers = 0, []
    while time.monotonic() < until:
        if len(peers) == count:
            time.sleep(0.05)
        else:
            try:
                peer = connect(address, max(until - time.monotonic(), 0.01))
                peer.sendall(opening)
                peers.append(peer)
            except OSError:
                closed += 1
        for peer in list(peers):
            try:
                discard(peer)
            except OSError:
                closed += 1
                peers.remove(peer)
    return closed


def discard(peer):
    """Reads all bytes that have arrived; fails if the server has closed the connection."""
    peer.setblocking(False)
    try:
        while data := peer.recv(1 << 18):
            if goaway(data):
                raise ConnectionError
        raise ConnectionError
    except BlockingIOError:
        pass


def read_frames(stream):
    """The frames that arrive, each as its kind, flags, stream and payload, until the connection ends."""
    while len(head := stream.read(9)) == 9:
        yield head[3], head[4], int.from_bytes(head[5:], "big"), stream.read(int.from_bytes(head[:3], "big"))


def goaway(data):
    """Whether these are frames with a GOAWAY; wrong guesses only cost the attacker a connection."""
    while len(data) >= 9:
        if data[3] == GOAWAY:
            return True
        data = data[9 + int.from_bytes(data[:3], "big") :]
    return False


def hold(address, count, until, opening):
    """Opens connections, sends `opening` on each, and holds them. Fails if they are not all open in time."""
    peers = []
    while len(peers) < count:
        if time.monotonic() >= until:
            raise IncompleteFlood(f"{len(peers):,} of {count:,} connections were open when the time was up")
        try:
            peer = connect(address, max(until - time.monotonic(), 0.01))
            peer.sendall(opening)
            peers.append(peer)
        except TimeoutError:
            continue
        except OSError as error:
            raise IncompleteFlood(f"{len(peers):,} of {count:,} connections are open: {error}") from error
    return peers


def wait(until):
    time.sleep(max(until - time.monotonic(), 0))


def count_closed(peers):
    """The number of connections that the server has closed."""
    closed = 0
    for peer in peers:
        try:
            discard(peer)
        except OSError:
            closed += 1
    return closed
