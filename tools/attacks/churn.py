"""Connections that are opened, used for one frame or none, and closed."""

import struct
import socket
import time

from wire import PREFACE, connect, settings


def flood(target, until):
    failed, number = 0, 0
    while time.monotonic() < until:
        number += 1
        try:
            with connect(target.grpc if number % 2 else target.http) as peer:
                if number % 3:
                    peer.sendall(PREFACE + settings())
                if number % 5 == 0:
                    # Closes with a reset.
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            failed += 1
    return failed
