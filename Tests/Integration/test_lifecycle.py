"""Start, stop and crash: acknowledged evidence is durable."""

import concurrent.futures
import socket
import threading

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import contract
from contract import entitlement_service, receipt_service
from harness import CALL_LIMIT, FREE_PORTS, run, wait_for
from raw import Connection, framed

CHECK_REQUEST = entitlement_service.CheckRequest(app="ocean-journal", customer_id="customer", entitlement="pro")


def submit(stub, customer, jws):
    return stub.SubmitTransaction(
        receipt_service.SubmitTransactionRequest(
            app="ocean-journal", customer_id=customer, signed_transaction=jws),
        timeout=CALL_LIMIT,
    )  # fmt: skip


def check(service, customer):
    """The service's answer about a customer."""
    with service.channel() as channel:
        request = entitlement_service.CheckRequest(app="ocean-journal", customer_id=customer, entitlement="pro")
        return contract.entitlement_stub(channel).Check(request, timeout=CALL_LIMIT).entitlement


def test_sigterm_lets_a_call_in_flight_finish_and_exits_with_0(start):
    service = start()
    with Connection(service.grpc) as connection:
        call = connection.open()
        connection.send(call, framed(CHECK_REQUEST.SerializeToString())[:8])
        assert connection.receive()
        service.process.terminate()
        while connection.goaway is None:
            assert connection.receive(), "the connection ended without GOAWAY"
        assert connection.goaway.error_code == 0
        connection.send(call, framed(CHECK_REQUEST.SerializeToString())[8:], end=True)
        assert connection.answer(call).status == 0
        connection.drain()
        assert connection.closed
    service.join(0)


def test_sigterm_ends_a_watch_with_a_status(start):
    service = start()
    with service.channel() as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=30)
        assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
        service.process.terminate()
        try:
            seen = [update.status for update in watching]
        except grpc.RpcError as end:
            seen = []
            assert end.code() == grpc.StatusCode.UNAVAILABLE
        assert set(seen) <= {health_pb2.HealthCheckResponse.NOT_SERVING}
    service.join(0)


def test_idle_connections_do_not_delay_the_shutdown(start):
    service = start()
    with Connection(service.grpc) as connection, socket.create_connection(service.http.split(":")):
        connection.receive()
        service.process.terminate()
        connection.drain()
        service.join(0)


def test_a_silent_client_delays_the_shutdown_for_a_bounded_time(start):
    service = start()
    with Connection(service.grpc) as connection:
        connection.receive()
        connection.open()
        service.stop()


def test_sigint_stops_the_service(start):
    service = start()
    service.process.send_signal(2)
    service.join(0)


def test_data_survives_a_restart(start):
    first = start()
    with first.channel() as channel:
        submit(contract.receipt_stub(channel), "c", first.buy("pro.monthly")["signedTransactionInfo"])
    before = check(first, "c")
    first.stop()
    assert check(start(), "c") == before


def test_a_kill_right_after_an_acknowledgement_loses_nothing(start):
    service = start()
    answers = {}
    for round in range(3):
        customer = f"c{round}"
        purchase = service.buy("pro.monthly")
        with service.channel() as channel:
            submit(contract.receipt_stub(channel), customer, purchase["signedTransactionInfo"])
            service.kill()
        service = start(service.data)
        answers[customer] = check(service, customer)
        assert answers[customer].entitled
        assert answers[customer].transaction_id == purchase["transactionId"]
        for earlier, answer in answers.items():
            assert check(service, earlier) == answer
        assert service.buy("pro.monthly")["transactionId"] not in {a.transaction_id for a in answers.values()}


def test_a_kill_during_concurrent_submissions_loses_no_acknowledged_one(start):
    service = start()
    documents = {f"c{n}": service.buy("lifetime")["signedTransactionInfo"] for n in range(100)}
    acknowledged = {}
    enough = threading.Event()

    with service.channel() as channel:
        stub = contract.receipt_stub(channel)

        def send(customer):
            try:
                acknowledged[customer] = submit(stub, customer, documents[customer])
            except grpc.RpcError:
                return
            if len(acknowledged) > 30:
                enough.set()

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            pending = [pool.submit(send, customer) for customer in documents]
            assert enough.wait(30)
            service.kill()
            concurrent.futures.wait(pending)

    again = start(service.data)
    with again.channel() as channel:
        for customer, first in acknowledged.items():
            assert check(again, customer).entitled
            second = submit(contract.receipt_stub(channel), customer, documents[customer])
            assert (second.already_known, second.evidence_id) == (True, first.evidence_id)


def start_error(*arguments):
    """Runs a start that must fail; returns the only line of its error output."""
    ended = run("serve", *arguments)
    assert ended.returncode not in (0, -6, -11), ended
    lines = ended.stderr.strip().splitlines()
    assert len(lines) == 1, ended.stderr
    return lines[0]


@pytest.mark.parametrize("listener", ["grpc", "http", "sandbox"])
def test_a_port_in_use_is_reported_in_one_line(tmp_path, listener):
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        address = f"127.0.0.1:{occupied.getsockname()[1]}"
        flags = [part for name in ("grpc", "http", "sandbox") for part in (f"--{name}", "127.0.0.1:0")]
        flags[flags.index(f"--{listener}") + 1] = address
        line = start_error(*flags, "--data", tmp_path / "data")
    assert line == (f"entitled: cannot listen on {address}: Address already in use; "
                    "choose another address, or end the process that uses this one")  # fmt: skip


def test_an_unreachable_service_is_reported_in_one_line():
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        address = f"127.0.0.1:{occupied.getsockname()[1]}"
    done = run("health", "--grpc", address)
    assert (done.returncode, done.stderr) == (
        1, f"entitled: cannot reach {address}: Connection refused; start the service with 'entitled serve', or set --grpc\n")


def test_an_unreachable_sandbox_is_reported_in_one_line():
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        address = f"127.0.0.1:{occupied.getsockname()[1]}"
    done = run("sandbox", "buy", "pro.monthly", "--sandbox", address)
    assert (done.returncode, done.stderr) == (
        1, f"entitled: cannot reach {address}: Connection refused; start the sandbox with 'entitled serve' or 'entitled sandbox serve', "
        "or set --sandbox\n")


def test_a_command_that_calls_another_port_names_the_right_option(start):
    service = start()
    for address in (service.http, service.sandbox):
        done = run("health", "--grpc", address)
        assert done.returncode == 1 and "this port has no gRPC methods, use the gRPC port" in done.stderr, done
    for address in (service.http, service.grpc):
        done = run("sandbox", "buy", "pro.monthly", "--sandbox", address)
        assert (done.returncode, done.stderr) == (
            1, f"entitled: {address} is no sandbox (HTTP 404); set --sandbox\n")  # fmt: skip


def test_a_document_that_is_the_name_of_a_file_is_not_sent(tmp_path):
    (tmp_path / "purchase.jws").write_text("a.b.c")
    done = run("submit", "alice", tmp_path / "purchase.jws")
    assert done.returncode == 64
    assert done.stderr == f"entitled: '{tmp_path}/purchase.jws' is a file; write '@{tmp_path}/purchase.jws' to read it\n"


def test_the_service_suggests_no_product_that_the_sandbox_does_not_sell(start, tmp_path):
    file = tmp_path / "entitled.yaml"
    product = "{type: Non-Consumable, entitlements: [pro]}"
    app = f"{{bundle_id: com.example.sea, environments: [Sandbox], products: {{free: {product}, gold: GOLD}}}}"
    sold = product.replace("}", ", price: 9.99, currency: USD}")
    for gold, text in ((product, "The sandbox sells nothing"), (sold, "sandbox buy gold ")):
        file.write_text(f"apps: {{sea: {app.replace('GOLD', gold)}}}\n")
        service = start(data=tmp_path / text.split()[-1], arguments=["--config", file])
        wait_for(lambda: text in service.log)
        assert "sandbox buy free" not in service.log


def test_an_unusable_data_directory_is_reported_in_one_line(tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    line = start_error(*FREE_PORTS, "--data", file)
    assert str(file) in line and line.endswith("; let the service's user write there, or use another directory")
    assert str(file) in start_error(*FREE_PORTS, "--data", file / "below")


def test_a_second_service_on_the_same_data_is_rejected(start):
    service = start()
    assert str(service.data) in start_error(*FREE_PORTS, "--data", service.data)
    assert not check(service, "c").entitled


@pytest.mark.parametrize(
    "text, named",
    [
        ("apps: [", "entitled.yaml:"),
        ("apps:\n  a:\n    bundle_id: b\n    environments: [Sandbox]\n    products: {p: {type: Consumable}}\n    colour: blue\n", ":6"),
        ("", ""),
    ],
    ids=["no YAML", "an unknown key", "empty"],
)
def test_an_invalid_configuration_is_reported_in_one_line(tmp_path, text, named):
    file = tmp_path / "entitled.yaml"
    file.write_text(text)
    line = start_error(*FREE_PORTS, "--data", tmp_path / "data", "--config", file)
    assert str(file) in line and named in line


def test_a_missing_configuration_is_reported_in_one_line(tmp_path):
    file = tmp_path / "none.yaml"
    assert str(file) in start_error(*FREE_PORTS, "--data", tmp_path / "data", "--config", file)


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:-1"])
def test_an_invalid_address_is_quoted_in_the_error(tmp_path, address):
    ended = run("serve", "--grpc", address, "--http", "127.0.0.1:0", "--sandbox", "off", "--data", tmp_path / "data")
    assert ended.returncode != 0
    assert address in ended.stderr
