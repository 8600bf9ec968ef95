"""HTTP/2 frame by frame, without a library that keeps to the rules."""

import socket
import ssl
import struct

import hpack

from harness import CALL_LIMIT

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM = ACK = 1
END_HEADERS, PADDED, WITH_PRIORITY = 4, 8, 32
(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR,
 REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM) = range(12)
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 3, 4, 5


def frame(kind, flags=0, stream=0, payload=b""):
    """One frame; the payload is not checked."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def number(value):
    return struct.pack(">I", value)


def settings(values=()):
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", name, value) for name, value in dict(values).items()))


def block(*fields):
    """A header block that refers to no table, so that it suits every stream."""
    return hpack.Encoder().encode([hpack.NeverIndexedHeaderTuple(*field) for field in fields])


def get(method="GET", path="/", *more):
    return block((":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost"), *more)


def headers(stream=1, fields=None, flags=END_HEADERS | END_STREAM):
    return frame(HEADERS, flags, stream, get() if fields is None else fields)


class Peer:
    """A connection after its preface."""

    def __init__(self, address, context=None, preface=PREFACE, initial=()):
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=CALL_LIMIT)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
            assert self.socket.selected_alpn_protocol() == "h2"
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self.send(preface + settings(initial))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *frames):
        try:
            self.socket.sendall(b"".join(frames))
        except ConnectionError:
            # The reason is in what the server has sent before.
            pass

    def read(self):
        """The next frame as kind, flags, stream and payload; `None` at the end of the connection."""
        while len(self._received) < 9 or len(self._received) < 9 + int.from_bytes(self._received[:3], "big"):
            try:
                data = self.socket.recv(65_536)
            except (ConnectionError, ssl.SSLError):
                return None
            if not data:
                return None
            self._received += data
        end = 9 + int.from_bytes(self._received[:3], "big")
        head, payload, self._received = self._received[:9], self._received[9:end], self._received[end:]
        return head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7FFFFFFF, payload

    def wait(self, kind, stream=None, flags=0):
        """The payload of the next frame of that kind, skipping others; fails at the end of the connection."""
        while True:
            found = self.read()
            assert found is not None, "the server closed the connection"
            assert found[0] not in (GOAWAY, RST_STREAM) or found[0] == kind, f"unexpected end: {found}"
            if found[0] == kind and stream in (None, found[2]) and found[1] & flags == flags:
                return found[3]

    def handshake(self):
        """Exchanges SETTINGS; returns those of the server."""
        payload = self.wait(SETTINGS)
        self.send(frame(SETTINGS, ACK))
        self.wait(SETTINGS, flags=ACK)
        return {struct.unpack(">H", payload[i : i + 2])[0]: int.from_bytes(payload[i + 2 : i + 6], "big")
                for i in range(0, len(payload), 6)}  # fmt: skip

    def error(self):
        """How the server ends the stream or the connection: GOAWAY or RST_STREAM with its code, or `closed`."""
        while True:
            found = self.read()
            if found is None:
                return "closed"
            kind, _, _, payload = found
            if kind == GOAWAY:
                return "GOAWAY", int.from_bytes(payload[4:8], "big")
            if kind == RST_STREAM:
                return "RST_STREAM", int.from_bytes(payload[:4], "big")

    def is_served(self):
        """Whether a ping is answered."""
        self.send(frame(PING, payload=b"question"))
        try:
            return self.wait(PING, flags=ACK) == b"question"
        except AssertionError:
            return False
