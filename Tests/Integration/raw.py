"""An HTTP/2 client that sends frames no gRPC library would send."""

import socket
import struct

import h2.config
import h2.connection
import h2.events

from harness import CALL_LIMIT

CHECK = "/entitled.v1.EntitlementService/Check"


def framed(message, compressed=False):
    """A gRPC message with its five-byte prefix."""
    return struct.pack(">BI", compressed, len(message)) + message


def unframed(data):
    """The messages of a body, each with its compression flag."""
    while data:
        compressed, length = struct.unpack(">BI", data[:5])
        yield bool(compressed), data[5 : 5 + length]
        data = data[5 + length :]


class Answer:
    """The response on one stream."""

    def __init__(self):
        self.headers = {}
        self.trailers = {}
        self.data = b""
        self.header_blocks = 0
        self.data_frames = 0
        self.ended = False
        self.reset = None

    @property
    def status(self):
        """The gRPC status, as a number."""
        return int(self.trailers.get("grpc-status", self.headers.get("grpc-status", -1)))

    @property
    def message(self):
        """The gRPC message's bytes without prefix."""
        return self.data[5:]


class Connection:
    """One cleartext HTTP/2 connection with prior knowledge, closed at the end of its `with` block."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=CALL_LIMIT)
        # Otherwise data after the headers waits for their acknowledgement, which takes 40 ms.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        configuration = h2.config.H2Configuration(
            client_side=True, header_encoding="utf-8", validate_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(configuration)
        self.h2.initiate_connection()
        self.answers = {}
        self.goaway = None
        self._received = b""
        self.closed = False
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def open(self, path=CHECK, method="POST", end=False, **headers):
        """Sends the headers of a gRPC call; `grpc_timeout="1S"` adds a header, `te=None` removes one."""
        fields = {
            ":method": method, ":scheme": "http", ":path": path, ":authority": "localhost",
            "te": "trailers", "content-type": "application/grpc",
        } | {name.replace("_", "-"): value for name, value in headers.items()}  # fmt: skip
        stream = self.h2.get_next_available_stream_id()
        self.answers[stream] = Answer()
        self.h2.send_headers(stream, [(k, v) for k, v in fields.items() if v is not None], end_stream=end)
        self.flush()
        return stream

    def send(self, stream, data, end=False, piece=16_384):
        """Sends a body in DATA frames of at most `piece` bytes, waiting for the window where needed."""
        while data:
            window = min(piece, self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if window == 0:
                assert self.receive(), "the server closed the connection"
                if self.answers[stream].ended:
                    return
                continue
            part, data = data[:window], data[window:]
            self.h2.send_data(stream, part, end_stream=end and not data)
            self.flush()

    def call(self, message=b"", path=CHECK, piece=16_384, body=None, **headers):
        """Makes one unary call; `body` replaces the framed message."""
        stream = self.open(path, **headers)
        self.send(stream, framed(message) if body is None else body, end=True, piece=piece)
        return self.answer(stream)

    def answer(self, stream):
        """Waits for a stream to end."""
        answer = self.answers[stream]
        while not answer.ended:
            assert self.receive(), f"the connection ended before stream {stream}"
        return answer

    def receive(self):
        """Receives available data; returns false when the server has closed the connection."""
        data = self.socket.recv(65_536)
        if not data:
            self.closed = True
            return False
        self._received += data
        while len(self._received) >= 9 + (length := int.from_bytes(self._received[:3], "big")):
            frame, self._received = self._received[: 9 + length], self._received[9 + length :]
            # One frame at a time, because h2 discards unsent data at a GOAWAY.
            for event in self.h2.receive_data(frame):
                self._note(event)
            self.flush()
        return True

    def drain(self):
        """Receives until the server closes the connection."""
        try:
            while self.receive():
                pass
        except ConnectionResetError:
            self.closed = True

    def _note(self, event):
        if isinstance(event, h2.events.ConnectionTerminated):
            self.goaway = event
            # h2 would now reject sends, although open streams may continue (RFC 9113, section 6.8).
            self.h2.state_machine.state = h2.connection.ConnectionState.CLIENT_OPEN
            return
        answer = self.answers.get(getattr(event, "stream_id", None))
        if answer is None:
            return
        if isinstance(event, h2.events.ResponseReceived):
            answer.headers = dict(event.headers)
            answer.header_blocks += 1
        elif isinstance(event, h2.events.TrailersReceived):
            answer.trailers = dict(event.headers)
            answer.header_blocks += 1
        elif isinstance(event, h2.events.DataReceived):
            answer.data += event.data
            answer.data_frames += 1
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            answer.ended = True
        elif isinstance(event, h2.events.StreamReset):
            answer.ended = True
            answer.reset = event.error_code
