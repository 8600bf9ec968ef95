"""A change at Apple whose response is on its way while another replica takes over: it is neither lost nor made twice."""

import base64
import concurrent.futures
import contextlib
import http.server
import json
import signal
import subprocess
import threading
import urllib.request

import grpc
import pytest

import contract
import forge
from certificates import write_key
from contract import StatusCode, app_store_service, receipt_service
from harness import CALL_LIMIT, post, response_to, wait_for
from stub import StubServer
from test_doctor import APPLE, KEY_ID
from test_notifications import period
from test_reconciliation import sandbox_alone
from test_replicas import APP, NOW, TAKEOVER_LIMIT, grant, replicas  # noqa: F401

CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    {apple}
    products:
      pro.monthly: {{type: Auto-Renewable Subscription, group: pro, entitlements: [pro], period: P1M, price: 5, currency: USD}}
callers: open
"""
DAY = 86_400
HOUR = 3_600_000  # in milliseconds, like the times of a transaction


class Apple:
    """The sandbox behind a server that keeps its responses to extensions back until it is opened."""

    def __init__(self, sandbox):
        self.identifiers, self.opened = [], threading.Event()
        apple = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_PUT(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {k: v for k, v in self.headers.items() if k.lower() in ("authorization", "content-type")}
                request = urllib.request.Request(f"http://{sandbox}{self.path}", body, headers, method="PUT")
                with response_to(request) as answer:
                    text = answer.read()
                # Apple has executed the request now.
                apple.identifiers.append(json.loads(body)["requestIdentifier"])
                apple.opened.wait()
                self.send_response_only(answer.status)
                for name, value in (("date", answer.headers["date"]), ("content-length", str(len(text)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *arguments):
                """Suppresses the access log."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()
        self.address = f"127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.opened.set()
        self.server.shutdown()
        self.server.server_close()


def act(sandbox, action, **members):
    status, answer = post(f"http://{sandbox}/sandbox/v1/{action}", members)
    assert status == 200, answer
    return answer


def extend(service, number):
    request = app_store_service.ExtendRenewalDateRequest(
        app=APP, original_transaction_id=number, extend_by_days=7, idempotency_key="once")
    with service.channel() as channel:
        return contract.app_store_stub(channel).ExtendRenewalDate(request, timeout=2 * TAKEOVER_LIMIT)


@pytest.mark.parametrize("place", ["a", "b"], ids=["leader", "follower"])
def test_a_change_at_apple_during_a_hand_over_counts_once(replicas, tmp_path, place):  # noqa: F811
    (tmp_path / "apple.yaml").write_text(CONFIGURATION.format(apple=""))
    key = tmp_path / "key.p8"
    write_key(key)
    public = subprocess.run(
        ["openssl", "pkey", "-in", key, "-pubout"], check=True, capture_output=True, text=True).stdout
    with sandbox_alone(tmp_path / "apple", tmp_path / "apple.yaml") as sandbox, Apple(sandbox) as apple:
        act(sandbox, "keys", keyId=KEY_ID, publicKey=public)
        bought = act(sandbox, "purchases", app=APP, productId="pro.monthly", account="ana")
        payload = bought["signedTransactionInfo"].split(".")[1]
        paid_until = json.loads(base64.urlsafe_b64decode(payload + "=="))["expiresDate"] // 1_000
        configuration = tmp_path / "service.yaml"
        configuration.write_text(CONFIGURATION.format(apple=APPLE.format(address=apple.address, key=key)))
        group = replicas(2, configurations={"a": configuration, "b": configuration})
        assert group.wait_for_leader() == "a"
        with concurrent.futures.ThreadPoolExecutor() as pool:
            extended = pool.submit(extend, group.services[place], bought["transactionId"])
            wait_for(lambda: apple.identifiers)
            group.services["a"].process.send_signal(signal.SIGTERM)
            assert group.wait_for_leader(besides=("a", "")) == "b"
            if place == "b":
                # The new leader executes the entry of the inbox again.
                wait_for(lambda: len(apple.identifiers) > 1)
            apple.opened.set()
            if place == "a":
                # The former leader cannot store that Apple has executed it.
                with pytest.raises(grpc.RpcError) as error:
                    extended.result()
                assert error.value.code() == StatusCode.UNAVAILABLE
                assert contract.reason(error.value) == "OUTCOME_UNKNOWN"
                done = extend(group.services["b"], bought["transactionId"])
            else:
                done = extended.result()
        group.services["a"].join(0)
        assert not done.repeated and done.effective_date.seconds == paid_until + 7 * DAY
        again = extend(group.services["b"], bought["transactionId"])
        assert again.repeated and again.effective_date == done.effective_date
        # Apple recognizes a request that is sent again by its identifier.
        assert len(set(apple.identifiers)) == 1 and len(apple.identifiers) > 1


def test_calls_that_wait_for_apple_hold_up_no_others(replicas, tmp_path):  # noqa: F811
    opened = threading.Event()

    def answer(_):
        opened.wait()
        return 404, {"errorCode": 4040010, "errorMessage": "Transaction id not found."}

    key, configuration = tmp_path / "key.p8", tmp_path / "service.yaml"
    write_key(key)
    with contextlib.closing(StubServer(answer)) as apple:
        settings = APPLE.format(address=apple.url.removeprefix("http://"), key=key)
        configuration.write_text(CONFIGURATION.format(apple=settings))
        group = replicas(2, configurations={"a": configuration, "b": configuration})
        follower = group.services[group.followers[0]]
        with follower.channel() as channel:
            refresh = contract.app_store_stub(channel).RefreshPurchase
            calls = [
                refresh.future(
                    app_store_service.RefreshPurchaseRequest(app=APP, transaction_id=str(2_000_000_000_000_000 + number)),
                    timeout=600)
                for number in range(300)
            ]
            # More than the leader executes at a time.
            wait_for(lambda: int(group.sql("SELECT count(*) FROM inbox WHERE done_at IS NULL")) > 256)
            grant(follower, "ana", timeout=CALL_LIMIT)
            opened.set()
            for call in calls:
                call.cancel()


def test_only_the_leader_calls_apple(replicas, tmp_path):  # noqa: F811
    """Each replica calls a separate App Store, which records the replica that calls."""
    key = tmp_path / "key.p8"
    write_key(key)
    callers = []

    def apple(name):
        def answer(request):
            callers.append(name)
            return 404, {"errorCode": 4040010, "errorMessage": "Transaction id not found."}

        return answer

    with contextlib.ExitStack() as stack:
        configurations = {}
        for name in "ab":
            stub = stack.enter_context(contextlib.closing(StubServer(apple(name))))
            configurations[name] = tmp_path / f"{name}.yaml"
            configurations[name].write_text(
                CONFIGURATION.format(apple=APPLE.format(address=stub.url.removeprefix("http://"), key=key)))
        group = replicas(2, configurations=configurations)
        assert group.wait_for_leader() == "a"
        forger = forge.Forger(group.services["a"])

        def submit_expired(number):
            """A subscription whose renewal is not known: the service polls Apple without anyone's call."""
            request = receipt_service.SubmitTransactionRequest(
                app=APP, customer_id="ana", signed_transaction=period(forger, number, NOW - 99 * HOUR, NOW - HOUR))
            with group.services["b"].channel() as channel:
                contract.receipt_stub(channel).SubmitTransaction(request, timeout=2 * TAKEOVER_LIMIT)

        submit_expired("1001")
        wait_for(lambda: callers)
        group.services["a"].stop()
        assert set(callers) == {"a"}
        group.wait_for_leader(besides=("a", ""))
        submit_expired("1002")
        wait_for(lambda: callers[-1] == "b")
