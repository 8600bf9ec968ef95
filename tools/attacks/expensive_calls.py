"""The expensive calls: seven unary methods on four connections at once, and ExportReport on another one."""

import itertools
import struct
import threading
import time

from wire import (
    APP, DATA, END_STREAM, PREFACE, SERVICE, WINDOW_UPDATE, IncompleteFlood, call, connect, frame, post, read_frames, settings,
    text, varint,
)  # fmt: skip

NOTIFICATIONS = "/entitled.v1.NotificationService/"
REPORTS = "/entitled.v1.ReportService/"
REPORT = {"report": "movements", "startTime": "2025-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:00Z", "groupBy": ["REPORT_DIMENSION_STOREFRONT"]}
# The same report as an ExportReportRequest.
EXPORT = text(1, APP) + text(
    3, text(1, "movements") + text(2, b"\x08" + varint(1_735_689_600)) + text(3, b"\x08" + varint(1_767_225_600)) + text(5, b"\x03")
)


def requests():
    customer = {"app": APP, "customerId": "customer-large"}
    checks = [{"app": APP, "customerId": f"customer-{number + 1:07}", "entitlement": "pro"} for number in range(1_000)]
    return {
        "Explain": post(SERVICE + "Explain", customer | {"entitlement": "pro"}),
        "GetCustomer": post(SERVICE + "GetCustomer", customer),
        "ListTimeline": post(SERVICE + "ListTimeline", customer),
        "GetProbableFamily": post(SERVICE + "GetProbableFamily", customer),
        "CompareNotificationVersions": post(
            NOTIFICATIONS + "CompareNotificationVersions", {"app": APP, "includeEqual": True, "pageSize": 1_000}
        ),
        "QueryReport": post(REPORTS + "QueryReport", {"app": APP, "query": REPORT}),
        "BatchCheck": post(SERVICE + "BatchCheck", {"checks": checks}),
    }


def call_repeatedly(target, until, calls, answered):
    while time.monotonic() < until:
        try:
            with connect(target.http) as peer, peer.makefile("rb") as answers:
                for name, request in itertools.cycle(calls.items()):
                    peer.sendall(request)
                    if response_status(answers) == b"200":
                        answered.add(name)
                    if time.monotonic() >= until:
                        return
        except OSError:
            continue


def response_status(answers):
    """The status of a response, whose body is skipped."""
    line = answers.readline()
    status = line.split(b" ")[1] if line.startswith(b"HTTP/1.1 ") else b""
    length = 0
    while line.strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
        line = answers.readline()
    if len(answers.read(length)) != length or not length:
        raise ConnectionError
    return status


def export_repeatedly(target, until, answered):
    while time.monotonic() < until:
        try:
            with connect(target.grpc) as peer, peer.makefile("rb") as answers:
                peer.sendall(PREFACE + settings() + call(1, "ExportReport", EXPORT, REPORTS))
                for kind, flags, stream, payload in read_frames(answers):
                    if kind == DATA and payload:
                        # An error has no message.
                        answered.add("ExportReport")
                        size = struct.pack(">I", len(payload))
                        peer.sendall(frame(WINDOW_UPDATE, 0, 0, size) + frame(WINDOW_UPDATE, 0, stream, size))
                    if stream and flags & END_STREAM:
                        peer.sendall(call(stream + 2, "ExportReport", EXPORT, REPORTS))
                    if time.monotonic() >= until:
                        return
        except OSError:
            continue


def flood(target, until):
    calls, answered = requests(), set()
    threads = [threading.Thread(target=call_repeatedly, args=(target, until, calls, answered)) for _ in range(4)]
    threads.append(threading.Thread(target=export_repeatedly, args=(target, until, answered)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if missing := {*calls, "ExportReport"} - answered:
        raise IncompleteFlood(f"no answer to {', '.join(sorted(missing))}")
    return 0
