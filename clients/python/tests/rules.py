"""Rules of the client that need no service: when a stream continues and a read is repeated, errors of proxies, and keys of tokens."""

import json
import logging
import pathlib
import socket
import tempfile
import threading
import time

import grpc
import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from entitled.channel import Attempts
from entitled.errors import EntitledError, error_of
from entitled.tokens import TokenVerifier
from entitled.v1.entitlement_service_pb2 import WatchRequest, WatchResponse
from entitled.v1.segment_service_pb2 import WatchSegmentRequest, WatchSegmentResponse
from entitled.watching import Watching


def raised(watching, code):
    try:
        watching.delay_after(EntitledError(code, "ended"))
    except EntitledError as error:
        return error.code
    return None


def watching(message, **start):
    return Watching(message, **({"after_sequence": None, "after_position": None, "from_beginning": False} | start))


def continues(new_request, response):
    """The rules of one kind of stream."""
    # A stream continues after an interruption, also one because the caller was slow, and not after a refusal.
    for code in ("UNAVAILABLE", "RESOURCE_EXHAUSTED", "UNKNOWN", "ABORTED"):
        stream = watching(new_request(), after_sequence=4)
        stream.received(response)
        assert raised(stream, grpc.StatusCode[code]) is None and stream.request.after_sequence == 7, code
    for code in ("NOT_FOUND", "PERMISSION_DENIED", "OUT_OF_RANGE", "INVALID_ARGUMENT"):
        stream = watching(new_request(), after_sequence=4)
        stream.received(response)
        assert raised(stream, grpc.StatusCode[code]) is grpc.StatusCode[code], code
    # A stream continues by position, unless its caller chose a sequence.
    for start in ({}, {"from_beginning": True}, {"after_position": "o"}):
        stream = watching(new_request(), **start)
        stream.received(response)
        assert stream.request.WhichOneof("start") == "after_position" and stream.request.after_position == "p", start
        # It asks for the same events again.
        stream.request.ClearField("after_position")
        assert stream.request == new_request(), start
    # Without a start it continues where the service opened it. If it did not, it is not known which event is the next.
    stream = watching(new_request())
    assert raised(stream, grpc.StatusCode.UNAVAILABLE) is grpc.StatusCode.UNAVAILABLE
    stream.opened([("entitled-position", "o")])
    assert raised(stream, grpc.StatusCode.UNAVAILABLE) is None
    assert stream.request.after_position == stream.position == "o"
    # Another start stays, because the position of the header is that of the newest event.
    for start in ({"from_beginning": True}, {"after_sequence": 4}, {"after_position": "o"}):
        stream = watching(new_request(), **start)
        before = stream.request.SerializeToString()
        stream.opened([("entitled-position", "newest")])
        assert stream.request.SerializeToString() == before, start


continues(
    lambda: WatchRequest(app="ocean-journal", customer_ids=["ann"], entitlements=["pro"]),
    WatchResponse(sequence=7, position="p"),
)
continues(
    lambda: WatchSegmentRequest(app="ocean-journal", segment="owners"), WatchSegmentResponse(sequence=7, position="p")
)


class Records(logging.Handler):
    """Keeps the messages that the client logs."""

    def __init__(self):
        super().__init__()
        self.messages = []

    def emit(self, record):
        self.messages.append((record.levelname, record.getMessage()))


# A stream that continues is logged with the cause; without a message in between it is a warning, so that a wrong address is
# noticed.
records, logger = Records(), logging.getLogger("entitled")
logger.addHandler(records)
logger.setLevel(logging.INFO)
stream = watching(WatchRequest(), after_sequence=4)
for _ in range(2):
    raised(stream, grpc.StatusCode.UNAVAILABLE)
assert [level for level, _ in records.messages] == ["INFO", "WARNING"]
for _, message in records.messages:
    assert message.startswith("stream of events ended, continuing in 0.") and "UNAVAILABLE" in message, message
logger.removeHandler(records)


class Call:
    """A call that failed at a proxy, whose trailing field has the name of the service's and another content."""

    def code(self):
        return grpc.StatusCode.UNAVAILABLE

    def details(self):
        return "upstream"

    def trailing_metadata(self):
        return (("grpc-status-details-bin", b"\xff"),)


assert (error_of(Call()).code, error_of(Call()).reason) == (grpc.StatusCode.UNAVAILABLE, "")



def delay(method, failure, timeout=60.0):
    """The delay before the next attempt of a call, or None if there is none."""
    try:
        return Attempts(method, timeout).delay_after(failure)
    except EntitledError as error:
        assert error is failure
        return None


READ, WRITE = "/entitled.v1.EntitlementService/Check", "/entitled.v1.ReceiptService/SubmitTransaction"
unavailable = EntitledError(grpc.StatusCode.UNAVAILABLE, "no")
asked = EntitledError(grpc.StatusCode.UNAVAILABLE, "no", retry_after=2.0)
# A read is repeated soon, or after the time that the service asks for; grpc.aio has names as bytes. A write is not.
for method in (READ, READ.encode()):
    assert 0.025 <= delay(method, unavailable) <= 0.05
    assert delay(method, asked) == 2.0
assert delay(WRITE, unavailable) is delay(WRITE, asked) is None
# Not after the deadline, and not after another error.
assert delay(READ, asked, timeout=2.0) is None
for code in ("RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED", "NOT_FOUND"):
    assert delay(READ, EntitledError(grpc.StatusCode[code], "no")) is None, code
# Three times, after growing delays.
attempts = Attempts(READ, 60.0)
delays = [attempts.delay_after(unavailable) for _ in range(3)]
assert 0.1 <= delays[2] <= 0.2
try:
    attempts.delay_after(unavailable)
    raise AssertionError("a fifth attempt")
except EntitledError as error:
    assert error is unavailable

key = ec.generate_private_key(ec.SECP256R1())
public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key())) | {"kid": "known"}


def token(kid, issued_in=0):
    issued = int(time.time()) + issued_in
    claims = {
        "iss": "i", "aud": "a", "sub": "alice", "app": "ocean-journal", "environment": "Sandbox", "entitlements": ["pro"],
        "iat": issued, "exp": issued + 60}  # fmt: skip
    return jwt.encode(claims, key, algorithm="ES256", headers={"kid": kid})


def refused(verifier, text):
    try:
        verifier.verify(text)
    except jwt.InvalidTokenError:
        return True
    return False


def cut_off(server):
    connection, _ = server.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"keys": [')


with tempfile.TemporaryDirectory() as folder:
    keys = pathlib.Path(folder, "jwks.json")
    # A key of an unknown kind does not affect the other keys.
    keys.write_text(json.dumps({"keys": [{"kty": "AKP", "alg": "ML-DSA-44", "kid": "new", "pub": ""}, public]}))
    verifier = TokenVerifier(keys.as_uri(), issuer="i", audience="a", refresh_interval=0)
    assert verifier.verify(token("known")).customer_id == "alice"
    # A token of another app with the same audience.
    assert refused(TokenVerifier(keys.as_uri(), issuer="i", audience="a", app="sea-journal"), token("known"))
    assert TokenVerifier(keys.as_uri(), issuer="i", audience="a", app="ocean-journal").verify(token("known"))
    # Of a service whose clock is ahead, or with an advanced sandbox; and one that has ended.
    assert verifier.verify(token("known", issued_in=86400)).customer_id == "alice"
    assert refused(verifier, token("known", issued_in=-3600))
    # A response that is not the service's: the token is not valid, and the keys at hand stay.
    for text in ("[]", '{"keys": [1]}', "{}", "<html>"):
        keys.write_text(text)
        assert refused(verifier, token("unknown"))
        assert verifier.verify(token("known")).customer_id == "alice"
    # A response that ends before all of it arrived.
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=cut_off, args=(server,))
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        assert refused(TokenVerifier(url, issuer="i", audience="a"), token("known"))
        thread.join()
    # A service that does not answer while another thread asks for an unknown key.
    asked, answered = threading.Event(), threading.Event()
    verifier._refresh = lambda: (asked.set(), answered.wait())
    thread = threading.Thread(target=lambda: verifier._key("unknown"))
    thread.start()
    asked.wait()
    assert verifier.verify(token("known")).entitlements == {"pro"}
    answered.set()
    thread.join()
