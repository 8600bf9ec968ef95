"""The clients of clients/ perform the steps of clients/scenario.json against a running service."""

import concurrent.futures
import json
import os
import select
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

import contract
from certificates import write_key
from contract import entitlement_service
from harness import CALL_LIMIT, IS_LONG, ROOT, Service, post, wait_for
from link import Link
from test_metrics import value

CLIENTS = ROOT / "clients"
# A stream is open while other calls are made.
STREAM_LIMIT = 6 * CALL_LIMIT
STEPS = json.loads((CLIENTS / "scenario.json").read_text())
PYTHON = {**os.environ, "PYTHONPATH": str(CLIENTS / "python" / "src")}
SETTINGS = {"app": "ocean-journal", "issuer": "https://entitled.example.com", "audience": "reader"}
# Built by clients/swift/test, because its packages take minutes.
SWIFT = CLIENTS / "swift" / ".build" / "debug"
DRIVERS = {
    "python": [sys.executable, CLIENTS / "python" / "tests" / "driver.py", "sync"],
    "python-asyncio": [sys.executable, CLIENTS / "python" / "tests" / "driver.py", "async"],
    "javascript": ["node", CLIENTS / "js" / "scenario" / "driver.js"],
    "swift": [SWIFT / "scenario"],
}
# The steps that a client cannot perform: the JavaScript client has no streams.
MISSING = {"javascript": {"watch", "follow", "followed"}}


def require(program):
    """Skips the test without the program, unless clients/swift/test has built it."""
    if shutil.which(str(program)) is None:
        assert "ENTITLED_SWIFT_CLIENT" not in os.environ, f"{program} does not exist"
        pytest.skip(f"{program} does not exist; clients/swift/test builds it")


class Driver:
    """A client's program that performs one step for each line."""

    def __init__(self, name, settings):
        command = [*map(str, DRIVERS[name]), json.dumps(settings)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=PYTHON)

    def perform(self, step, limit=STREAM_LIMIT):
        print(json.dumps(step), file=self.process.stdin, flush=True)
        assert select.select([self.process.stdout], [], [], limit)[0], f"no result in time: {step}"
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        assert self.process.wait(CALL_LIMIT) == 0


CONFIGURATION = f"""
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
      lifetime: {{type: Non-Consumable, entitlements: [pro], price: 4.99, currency: USD}}
    segments:
      owners: {{states: [LIFETIME]}}
tokens: {{issuer: "{SETTINGS['issuer']}", keys: keys, lifetime_seconds: 300}}
"""


@pytest.fixture
def configuration(tmp_path):
    """A configuration with a key for entitlement tokens."""
    keys = tmp_path / "keys"
    keys.mkdir()
    write_key(keys / "1.pem")
    path = tmp_path / "entitled.yaml"
    path.write_text(CONFIGURATION)
    return path


def agrees(expected, found):
    """Whether `found` has everything that is expected; lists agree element by element."""
    if isinstance(expected, dict):
        return all(key in found and agrees(value, found[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(agrees, expected, found))
    return expected == found


def filled(value, known):
    """`value` with the names of earlier results replaced: `$name`, or `$name.field`."""
    for name, result in known.items():
        if isinstance(result, dict):
            for key, part in result.items():
                value = value.replace(f"${name}.{key}", str(part))
        else:
            value = value.replace(f"${name}", result)
    return value


def restarted(data, same_ports):
    """Starts again. A connection of another test may have one of the ports for a moment."""
    end = time.monotonic() + CALL_LIMIT
    while True:
        try:
            return Service(data, same_ports)
        except AssertionError as error:
            if "Address already in use" not in str(error) or time.monotonic() > end:
                raise


@pytest.mark.parametrize("name", DRIVERS)
def test_a_client_performs_the_scenario(name, tmp_path, configuration):
    require(DRIVERS[name][0])
    arguments = ["--config", configuration]
    service = Service(tmp_path / "data", arguments)
    same_ports = [*arguments, "--grpc", service.grpc, "--http", service.http, "--sandbox", service.sandbox]
    driver = Driver(name, {**SETTINGS, "grpc": service.grpc, "http": service.http})
    known, streams = {}, 0
    for step in STEPS:
        if "buy" in step:
            known[step["as"]] = service.buy(step["buy"])["signedTransactionInfo"]
        elif "restart" in step:
            # All streams are open, so that they continue after it and do not begin then.
            wait_for(lambda: value(service, "entitled_streams", listener="grpc") == streams)
            service.stop()
            service = restarted(tmp_path / "data", same_ports)
        elif step["do"] not in MISSING.get(name, ()):
            expected = step["expect"]
            streams += step["do"] == "follow"
            found = driver.perform({k: filled(v, known) if isinstance(v, str) else v for k, v in step.items()})
            assert agrees(expected, found), (step, found)
            assert "error" in expected or "error" not in found, (step, found)
            if "as" in step:
                known[step["as"]] = found
    driver.stop()
    service.stop()


# Longer than the clients' pings take to find it out: 30 and 20 seconds.
FOUND_OUT = 50 + 6 * CALL_LIMIT


@pytest.mark.skipif(
    not IS_LONG and "ENTITLED_SWIFT_CLIENT" not in os.environ, reason="part of `make test-long`: takes a minute")
@pytest.mark.parametrize("name", [name for name in DRIVERS if name not in MISSING])
def test_a_stream_continues_after_its_connection_died_silently(name, tmp_path, start, configuration):
    require(DRIVERS[name][0])
    service = start(arguments=["--config", configuration])
    with Link(int(service.grpc.rsplit(":", 1)[1])) as link:
        driver = Driver(name, {**SETTINGS, "grpc": f"127.0.0.1:{link.port}", "http": service.http})
        driver.perform({"do": "follow", "stream": "s", "after": 0, "count": 1})
        wait_for(lambda: value(service, "entitled_streams", listener="grpc") == 1)
        link.lose()
        document = service.buy("lifetime")["signedTransactionInfo"]
        request = {"app": "ocean-journal", "customerId": "ann", "signedTransaction": document}
        assert service.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0] == 200
        found = driver.perform({"do": "followed", "stream": "s"}, limit=FOUND_OUT)
        assert agrees({"events": [{"sequence": 1, "customer": "ann"}]}, found), found
        driver.stop()


class RefusingService:
    """Fails a `Check` with UNAVAILABLE and each of `delays` (seconds) in turn, and then answers; not before the call ends if
    the delay is None. `times` has the times of the calls."""

    def __init__(self, delays):
        self.delays, self.times = delays, []
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
        check = grpc.unary_unary_rpc_method_handler(
            self._check, entitlement_service.CheckRequest.FromString, entitlement_service.CheckResponse.SerializeToString)
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler("entitled.v1.EntitlementService", {"Check": check})])
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def _check(self, _, context):
        self.times.append(time.monotonic())
        delay = self.delays.pop(0) if self.delays else 0
        if delay is None:
            ended = threading.Event()
            # False: the call has ended.
            if context.add_callback(ended.set):
                ended.wait()
        elif delay:
            retry = error_details_pb2.RetryInfo()
            retry.retry_delay.FromNanoseconds(int(delay * 1e9))
            status = status_pb2.Status(code=grpc.StatusCode.UNAVAILABLE.value[0], message="no")
            status.details.add().Pack(retry)
            context.abort_with_status(rpc_status.to_status(status))
        response = entitlement_service.CheckResponse()
        response.entitlement.entitled = True
        return response

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop(None).wait()


# The JavaScript client calls over HTTP; its own tests have these rules.
@pytest.mark.parametrize("name", [name for name in DRIVERS if name not in MISSING])
def test_a_read_is_repeated_after_the_time_that_the_service_asks_for(name):
    require(DRIVERS[name][0])
    check = {"do": "check", "customer": "ann", "entitlement": "pro"}
    with RefusingService(delays=[0.3]) as service:
        driver = Driver(name, {**SETTINGS, "grpc": service.address, "http": service.address})
        assert driver.perform(check).get("entitled"), service.times
        first, second = service.times
        assert second - first >= 0.3
        # Not if that is after the call's deadline, not more than three times, and not beyond the deadline of all.
        for delays, code, calls in (
            ([60], "UNAVAILABLE", 1), ([0.001] * 5, "UNAVAILABLE", 4), ([0.001, None], "DEADLINE_EXCEEDED", 2),
        ):
            service.times.clear()
            service.delays[:] = delays
            assert driver.perform(check)["error"]["code"] == code
            assert len(service.times) == calls
        driver.stop()


EXAMPLES = {
    "python": (sys.executable, CLIENTS / "examples" / "backend.py", "{grpc}", "0"),
    "node": ("node", CLIENTS / "examples" / "backend.mjs", "http://{http}", "0"),
    "hummingbird": (SWIFT / "backend", "{grpc}", "0"),
}


def test_the_python_client_follows_its_rules():
    done = subprocess.run(
        [sys.executable, CLIENTS / "python" / "tests" / "rules.py"], capture_output=True, text=True, env=PYTHON, timeout=CALL_LIMIT)
    assert done.returncode == 0, done.stderr


# Takes the first event, waits for a line, and takes the others.
PAUSING = """
import itertools, json, sys
from entitled import Client, channel
options = channel.options
channel.options = lambda: [*options(), *map(tuple, json.loads(sys.argv[3]))]
with Client(sys.argv[1], app="ocean-journal") as client, client.watch(after_sequence=0) as events:
    print(next(events).sequence, flush=True)
    sys.stdin.readline()
    print(*(event.sequence for event in itertools.islice(events, int(sys.argv[2]) - 1)), flush=True)
"""


# Each purchase grants as many entitlements and is as many events: one is more than a stream keeps unsent (128 KiB) and a
# client's window; the others are more than its buffer (4,096 events).
GRANTED, PURCHASES = 850, 6
EVENTS = 1 + GRANTED * PURCHASES
UNSENT = 128 << 10
# Limits grpc's own buffering; otherwise it would read ahead for the application.
WINDOW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536)]


def test_a_consumer_that_stops_reading_is_ended_and_resumes_without_a_gap(start, tmp_path):
    names = ", ".join(f"e{number}" for number in range(GRANTED))
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(
        "apps:\n  ocean-journal:\n    bundle_id: com.example.oceanjournal\n    environments: [Sandbox]\n    products:\n"
        "      one: {type: Non-Consumable, entitlements: [e0], price: 4.99, currency: USD}\n"
        f"      many: {{type: Non-Consumable, entitlements: [{names}], price: 4.99, currency: USD}}\n")
    service = start(arguments=["--config", configuration])

    def buy(product, number):
        document = service.buy(product)["signedTransactionInfo"]
        request = {"app": "ocean-journal", "customerId": f"customer-{number}", "signedTransaction": document}
        status, answer = service.json("entitled.v1.ReceiptService/SubmitTransaction", request)
        assert status == 200, answer

    # One consumer is grpc itself; the other one is the client.
    channel = grpc.insecure_channel(service.grpc, WINDOW)
    watch = contract.entitlement_stub(channel).Watch
    stream = watch(entitlement_service.WatchRequest(app="ocean-journal", after_sequence=0), timeout=STREAM_LIMIT)
    command = [sys.executable, "-c", PAUSING, service.grpc, str(EVENTS), json.dumps(WINDOW)]
    client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=PYTHON)
    try:
        buy("one", 0)
        received = [next(stream).sequence]
        assert client.stdout.readline() == "1\n"
        # Both have caught up, and neither reads.
        buy("many", 1)
        wait_for(lambda: value(service, "entitled_unread_response_bytes") >= 2 * UNSENT)
        for number in range(1, PURCHASES):
            buy("many", 1 + number)
        with pytest.raises(grpc.RpcError) as ended:
            for message in stream:
                received.append(message.sequence)
        assert ended.value.code() == grpc.StatusCode.ABORTED
        info = contract.details(ended.value)["ErrorInfo"]
        assert info.reason == "WATCHER_FELL_BEHIND"
        assert info.metadata["resumeAfterSequence"] == str(received[-1]) and len(received) < EVENTS
        resumed = entitlement_service.WatchRequest(
            app="ocean-journal", after_position=info.metadata["resumeAfterPosition"])
        stream = watch(resumed, timeout=STREAM_LIMIT)
        while len(received) < EVENTS:
            received.append(next(stream).sequence)
        stream.cancel()
        assert received == list(range(1, EVENTS + 1))
        found, _ = client.communicate("go on\n", timeout=STREAM_LIMIT)
    finally:
        client.kill()
        channel.close()
    assert client.wait() == 0
    assert [int(number) for number in found.split()] == list(range(2, EVENTS + 1))
    ends = {"method": "/entitled.v1.EntitlementService/Watch", "code": "ABORTED"}
    assert value(service, "entitled_grpc_calls_total", **ends) == 2, "the client fell behind, too"


# Print the events of a segment, and the error that ends them.
SEGMENTS = {
    "python": """
import sys
from entitled import Client, EntitledError
with Client(sys.argv[1], app="ocean-journal") as client:
    try:
        for event in client.watch_segment("subscribers", from_beginning=True):
            print(event.type, event.customer_id, flush=True)
    except EntitledError as error:
        print(error.code.name, error.reason, flush=True)
""",
    "python-asyncio": """
import asyncio, sys
from entitled import AsyncClient, EntitledError
async def main():
    async with AsyncClient(sys.argv[1], app="ocean-journal") as client:
        try:
            async for event in client.watch_segment("subscribers", from_beginning=True):
                print(event.type, event.customer_id, flush=True)
        except EntitledError as error:
            print(error.code.name, error.reason, flush=True)
asyncio.run(main())
""",
}


@pytest.mark.parametrize("name", SEGMENTS)
def test_the_events_of_a_deleted_segment_end_with_an_error(name, start):
    service = start()

    def call(method, **request):
        status, answer = service.json(f"entitled.v1.{method}", {"app": "ocean-journal", **request})
        assert status == 200, answer

    call("SegmentService/CreateSegment", name="subscribers", filter={"states": ["ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_ON"]})
    client = subprocess.Popen(
        [sys.executable, "-c", SEGMENTS[name], service.grpc], stdout=subprocess.PIPE, text=True, env=PYTHON)
    try:
        document = service.buy("pro.monthly")["signedTransactionInfo"]
        call("ReceiptService/SubmitTransaction", customerId="ann", signedTransaction=document)
        assert client.stdout.readline() == "SEGMENT_ENTERED ann\n"
        call("SegmentService/DeleteSegment", name="subscribers")
        # The client ends by itself, because the service would refuse another stream.
        found, _ = client.communicate(timeout=6 * CALL_LIMIT)
    finally:
        client.kill()
    assert client.wait() == 0
    assert found.splitlines() == ["SEGMENT_REDEFINED ", "NOT_FOUND UNKNOWN_SEGMENT"]


# Closes a stream for which another thread waits, and then the connection of another one.
CLOSING = """
import sys, threading, time
from entitled import Client, EntitledError
def opened(client):
    events = client.watch(customer_ids=["zoe"])
    def receive():
        try:
            print([*events], flush=True)
        except EntitledError as error:
            print(error.code.name, flush=True)
    thread = threading.Thread(target=receive)
    thread.start()
    while not events.position:
        time.sleep(0.01)
    return events, thread
with Client(sys.argv[1], app="ocean-journal") as client:
    events, thread = opened(client)
    events.close()
    thread.join()
    print([*events], flush=True)
    _, thread = opened(client)
thread.join()
"""


def test_another_thread_closes_a_stream_that_waits(service):
    done = subprocess.run(
        [sys.executable, "-c", CLOSING, service.grpc], capture_output=True, text=True, env=PYTHON, timeout=6 * CALL_LIMIT)
    assert (done.stdout.splitlines(), done.returncode) == (["[]", "[]", "CANCELLED"], 0), done.stderr


# Closes a stream for which another task waits; a cancelled task stays cancelled.
CLOSING_TASK = """
import asyncio, sys
from entitled import AsyncClient
async def main():
    async with AsyncClient(sys.argv[1], app="ocean-journal") as client:
        async def receive(events):
            return [event async for event in events]
        async def opened():
            events = client.watch(customer_ids=["zoe"])
            task = asyncio.create_task(receive(events))
            while not events.position:
                await asyncio.sleep(0.01)
            return events, task
        events, task = await opened()
        await events.aclose()
        print(await task, await receive(events), flush=True)
        _, task = await opened()
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            print("cancelled", flush=True)
asyncio.run(main())
"""


def test_another_task_closes_a_stream_that_waits(service):
    done = subprocess.run(
        [sys.executable, "-c", CLOSING_TASK, service.grpc], capture_output=True, text=True, env=PYTHON, timeout=6 * CALL_LIMIT)
    assert (done.stdout.splitlines(), done.returncode) == (["[] []", "cancelled"], 0), done.stderr


# Waits for an event with a timeout, again and again; a failed stream raises the error of the client.
WAITING = """
import asyncio, sys
from entitled import AsyncClient, Client, EntitledError
from entitled.v1.entitlement_pb2 import ACCESS_LEVEL_FULL
from entitled.v1.entitlement_service_pb2 import GrantRequest
from entitled.v1.report_service_pb2 import ExportReportRequest
async def main():
    async with AsyncClient(sys.argv[1], app="ocean-journal") as client:
        events = client.watch(customer_ids=["zoe"])
        async def received(timeout):
            try:
                return (await asyncio.wait_for(anext(events), timeout)).type
            except asyncio.TimeoutError:
                return "timeout"
        first = await received(0.1)
        while not events.position:
            await received(0.1)
        print(first, bool(events.position), await received(0.1))
        grant = dict(app="ocean-journal", customer_id="zoe", entitlement="pro", access_level=ACCESS_LEVEL_FULL)
        await client.entitlement.Grant(GrantRequest(**grant))
        print(await received(30), await received(0.5), flush=True)
        await events.aclose()
        try:
            [part async for part in client.report.ExportReport(ExportReportRequest(app="none"))]
        except EntitledError as error:
            print(error.reason)
asyncio.run(main())
with Client(sys.argv[1], app="ocean-journal") as client:
    try:
        [*client.report.ExportReport(ExportReportRequest(app="none"))]
    except EntitledError as error:
        print(error.reason)
"""


def test_a_stream_continues_after_a_wait_that_was_given_up(start):
    done = subprocess.run(
        [sys.executable, "-c", WAITING, start().grpc], capture_output=True, text=True, env=PYTHON, timeout=6 * CALL_LIMIT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["timeout True timeout", "GRANTED timeout", "UNKNOWN_APP", "UNKNOWN_APP"]


def entitlement(url, name, user):
    """The status and the response of a backend."""
    try:
        request = urllib.request.Request(f"{url}/entitlements/{name}", headers=user)
        with urllib.request.urlopen(request, timeout=CALL_LIMIT) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_backend_submits_and_answers(name, start, customer):
    require(EXAMPLES[name][0])
    service = start()
    command = [str(part).format(grpc=service.grpc, http=service.http) for part in EXAMPLES[name]]
    backend = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=PYTHON)
    try:
        url = f"http://127.0.0.1:{backend.stdout.readline().split()[-1]}"
        user = {"x-user": customer}
        assert entitlement(url, "pro", user) == (200, {"entitled": False, "reason": "NEVER_PURCHASED"})
        assert entitlement(url, "prp", user) == (404, {"reason": "UNKNOWN_ENTITLEMENT"})
        assert post(f"{url}/purchases", {"signedTransaction": "none"}, user) == (422, {"reason": "NOT_A_RECEIPT"})
        assert post(f"{url}/purchases", {"signedTransaction": "none"})[0] == 401
        assert post(f"{url}/purchases", b"{", user)[0] == 400
        document = service.buy("pro.monthly")["signedTransactionInfo"]
        for _ in range(2):  # a restore submits again
            assert post(f"{url}/purchases", {"signedTransaction": document}, user) == (200, {})
        other = {"x-user": f"{customer}-other"}
        assert post(f"{url}/purchases", {"signedTransaction": document}, other) == (
            422, {"reason": "OWNED_BY_ANOTHER_CUSTOMER"})  # fmt: skip
        assert entitlement(url, "pro", user) == (200, {"entitled": True, "reason": "SUBSCRIPTION_ACTIVE"})
        assert entitlement(url, "pro", other)[1]["entitled"] is False
        service.stop()
        # The app asks and submits again; it must not take an outage for an answer.
        assert entitlement(url, "pro", user)[0] == 503
        assert post(f"{url}/purchases", {"signedTransaction": document}, user)[0] == 503
    finally:
        backend.kill()
        backend.wait()


def test_the_swift_file_for_apps_is_type_correct():
    subprocess.run([CLIENTS / "swift" / "ios" / "type-check"], check=True)
