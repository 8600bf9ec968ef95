"""Explain, GetCustomer, ListTimeline, GetProbableFamily, QueryReport and BatchCheck, on four connections at once."""

import itertools
import threading
import time

from wire import APP, SERVICE, connect, post

REPORTS = "/entitled.v1.ReportService/QueryReport"
REPORT = {"report": "movements", "startTime": "2025-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:00Z", "groupBy": ["REPORT_DIMENSION_STOREFRONT"]}


def requests():
    customer = {"app": APP, "customerId": "customer-large"}
    checks = [{"app": APP, "customerId": f"customer-{number + 1:07}", "entitlement": "pro"} for number in range(1_000)]
    return [
        post(SERVICE + "Explain", customer | {"entitlement": "pro"}),
        post(SERVICE + "GetCustomer", customer),
        post(SERVICE + "ListTimeline", customer),
        post(SERVICE + "GetProbableFamily", customer),
        post(REPORTS, {"app": APP, "query": REPORT}),
        post(SERVICE + "BatchCheck", {"checks": checks}),
    ]


def call_repeatedly(target, until, calls):
    while time.monotonic() < until:
        try:
            with connect(target.http) as peer, peer.makefile("rb") as answers:
                for request in itertools.cycle(calls):
                    peer.sendall(request)
                    skip_response(answers)
                    if time.monotonic() >= until:
                        return
        except OSError:
            continue


def skip_response(answers):
    length, line = 0, answers.readline()
    while line.strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
        line = answers.readline()
    if len(answers.read(length)) != length or not length:
        raise ConnectionError


def flood(target, until):
    calls = requests()
    threads = [threading.Thread(target=call_repeatedly, args=(target, until, calls)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 0
