"""Metrics: the scrape, its reference in docs/metrics.md, the dashboard and the alert rules."""

import json
import re
import subprocess
import time
import urllib.error
import urllib.request

import promql_parser
import pytest
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_prometheus

import contract
import stores
from contract import entitlement_service as wire
from harness import CALL_LIMIT, PROGRAM, ROOT, Service, post, wait_for
from test_callers import APPS, CALLERS, token

APP = "ocean-journal"
BOARDS = ("entitled.json", "business.json")
ROW = re.compile(r"^\| `(\w+)` \| (counter|gauge|histogram) \| (.*?) \| (.+?) \|$", re.M)


def scrape(service, accept=None, **headers):
    fields = {**headers, **({"accept": accept} if accept else {})}
    request = urllib.request.Request(f"http://{service.http}/metrics", headers=fields)
    with urllib.request.urlopen(request, timeout=CALL_LIMIT) as answer:
        return answer.headers["content-type"], answer.read().decode()


def samples(service):
    return [sample for family in parse_prometheus(scrape(service)[1]) for sample in family.samples]


def value(service, name, **labels):
    """The sum of the samples of this name with these labels."""
    return sum(s.value for s in samples(service)
               if s.name == name and labels.items() <= s.labels.items())  # fmt: skip


@pytest.fixture(scope="module")
def documented():
    """The metrics of docs/metrics.md: name to type and labels."""
    rows = ROW.findall((ROOT / "docs" / "metrics.md").read_text())
    assert rows
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels, _ in rows}


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A service that has used most of its features."""
    service = Service(tmp_path_factory.mktemp("busy"))
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    service.json("entitled.v1.ReceiptService/SubmitTransaction",
                 {"app": APP, "customerId": "ana", "signedTransaction": document})  # fmt: skip
    service.json("entitled.v1.ReceiptService/SubmitTransaction",
                 {"app": APP, "customerId": "ana", "signedTransaction": document[:-8] + "AAAAAAAA"})  # fmt: skip
    with service.channel() as channel:
        stub = contract.entitlement_stub(channel)
        for customer in ("ana", "ben", "ana"):
            stub.Check(wire.CheckRequest(app=APP, customer_id=customer, entitlement="pro"), timeout=CALL_LIMIT)
    post(f"http://{service.http}/notifications/{APP}", {"signedPayload": "a.b.c"})
    post(f"http://{service.http}/app/v1/{APP}/sync", {})
    yield service
    service.stop()


def test_the_scrape_is_valid_and_matches_the_documentation(busy, documented):
    kind, text = scrape(busy)
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    assert types == {name: kind for name, (kind, _) in documented.items()}
    for family in parse_prometheus(text):
        for sample in family.samples:
            base = re.sub(r"_(bucket|sum|count)$", "", sample.name) if family.type == "histogram" else sample.name
            assert set(sample.labels) - {"le"} == documented[base][1], sample


def test_every_name_is_exported_from_the_start(start, documented):
    types = re.findall(r"^# TYPE (\w+) \w+$", scrape(start())[1], re.M)
    assert not set(documented) - set(types)


def test_the_scrape_is_openmetrics_on_request(busy, documented):
    kind, text = scrape(busy, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert kind.startswith("application/openmetrics-text; version=1.0.0")
    families = {family.name: family.type for family in parse_openmetrics(text)}
    expected = {}
    for name, (kind, _) in documented.items():
        stem = re.sub("_total$", "", name)
        expected |= {name: "unknown"} if stem != name and stem in documented else {stem: kind}
    assert families == expected


def test_every_metric_of_the_sources_is_documented(documented):
    counted = set()
    for file in (ROOT / "Sources").rglob("*.swift"):
        counted |= set(re.findall(r'label:\s+"(entitled_\w+)"', file.read_text()))
    assert counted and counted <= set(documented), counted - set(documented)


def test_calls_are_counted_and_timed_by_method_and_code(busy):
    check = "/entitled.v1.EntitlementService/Check"
    assert value(busy, "entitled_grpc_calls_total", method=check, code="OK") == 3
    assert value(busy, "entitled_grpc_call_seconds_count", method=check) == 3
    assert 0 < value(busy, "entitled_grpc_call_seconds_sum", method=check) < 3
    submit = "/entitled.v1.ReceiptService/SubmitTransaction"
    assert value(busy, "entitled_grpc_calls_total", method=submit, code="OK") == 1
    assert value(busy, "entitled_grpc_calls_total", method=submit, code="PERMISSION_DENIED") == 1
    with busy.channel() as channel:
        stub = contract.entitlement_stub(channel)
        stream = stub.Watch(wire.WatchRequest(app=APP, from_beginning=True), timeout=CALL_LIMIT)
        next(stream)
        stream.cancel()
    watch = "/entitled.v1.EntitlementService/Watch"
    wait_for(lambda: value(busy, "entitled_grpc_calls_total", method=watch, code="CANCELLED") == 1)


def test_rejections_are_counted_by_reason(busy):
    assert value(busy, "entitled_verification_failures_total", reason="BAD_SIGNATURE") == 1
    assert value(busy, "entitled_notifications_total", state="REJECTED") == 1
    route = "/notifications/{app}"
    assert value(busy, "entitled_edge_requests_total", route=route, status="202") == 1


def test_store_and_process_metrics_are_exported(busy):
    assert value(busy, "entitled_store_commit_seconds_count") >= 2
    assert value(busy, "entitled_store_commit_writes_sum") >= value(busy, "entitled_store_commit_seconds_count")
    assert value(busy, "entitled_store_writable") == 1
    # The files of a database are its server's.
    assert (value(busy, "entitled_store_bytes") > 4_096) == stores.IS_SQLITE
    assert value(busy, "entitled_disk_free_bytes") > 0
    assert value(busy, "process_resident_memory_bytes") > 1 << 20
    assert value(busy, "process_cpu_seconds_total") > 0
    assert value(busy, "process_open_fds") > 5
    assert abs(value(busy, "process_start_time_seconds") - busy_start(busy)) < 60
    assert value(busy, "entitled_ready") == 1
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    assert value(busy, "entitled_build_info") == value(busy, "entitled_build_info", version=version) == 1
    assert value(busy, "entitled_log_lines_lost_total") == 0


def busy_start(service):
    """The kernel's start time of a service's process."""
    stat = open(f"/proc/{service.process.pid}/stat").read().rsplit(")", 1)[1].split()
    uptime = float(open("/proc/uptime").read().split()[0])
    return time.time() - uptime + int(stat[19]) / 100


def test_the_scrape_requires_a_reader_where_callers_are_configured(tmp_path):
    (tmp_path / "entitled.yaml").write_text(APPS + CALLERS)
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    for bearer, status in ((None, 401), ("submit", 403), ("read", 200)):
        fields = {"authorization": f"Bearer {token(bearer)}"} if bearer else {}
        try:
            assert scrape(service, **fields)[0].startswith("text/plain") and status == 200
        except urllib.error.HTTPError as error:
            assert error.code == status
    service.stop()


def queries():
    """Every expression of the dashboards and of the alert rules, with its location."""
    for name in BOARDS:
        board = json.loads((ROOT / "deploy" / "grafana" / name).read_text())
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                yield f"panel {panel['title']} of {name}", target["expr"]
    rules = yaml.safe_load((ROOT / "deploy" / "prometheus" / "entitled.rules.yaml").read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            if "record" in rule:
                # Its name has colons, unlike a metric of the program, and no `entitled_`.
                assert re.fullmatch(r"job:(?!entitled_)\w+:\w+", rule["record"]) and rule.keys() == {"record", "expr"}
                yield f"record {rule['record']}", rule["expr"]
                continue
            assert {"alert", "expr", "labels", "annotations"} <= set(rule) <= {
                "alert", "expr", "for", "labels", "annotations"}  # fmt: skip
            yield f"alert {rule['alert']}", rule["expr"]


def test_the_dashboard_and_the_alerts_use_existing_metrics(documented):
    given_by_prometheus = {"up": set()}
    seen = set()
    for location, query in queries():
        query = query.replace("$__rate_interval", "5m")
        for variable in ("$job", "$app", "$environment"):
            query = query.replace(variable, "entitled")
        text = promql_parser.parse(query).prettify()
        used = set(re.findall(r"\b((?:entitled|process)_\w+|up)\b", text)) - {"entitled"}
        assert used or re.search(r"\bjob:\w+:\w+", text), location
        for name in used:
            base = name if name in documented else re.sub(r"_(bucket|sum|count)$", "", name)
            assert base in documented or base in given_by_prometheus, f"{location}: there is no {name}"
            seen.add(base)
            for labels in re.findall(name + r"\{(.*?)\}", text):
                used_labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", labels)) - {"job", "le"}
                assert used_labels <= documented.get(base, (0, set()))[1], f"{location}: {used_labels}"
        for labels in re.findall(r"by\s*\((.*?)\)", text):
            known = set().union(*(documented.get(re.sub(r"_(bucket|sum|count)$", "", n), (0, set()))[1] for n in used))
            used_labels = {label.strip() for label in labels.split(",")} - {"le", "instance", "job"}
            assert used_labels <= known, f"{location}: {used_labels - known}"
    assert len(seen) > 20


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_fits_its_grid(name):
    board = json.loads((ROOT / "deploy" / "grafana" / name).read_text())
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    occupied = set()
    for panel in board["panels"]:
        grid = panel["gridPos"]
        cells = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"])
                 for y in range(grid["y"], grid["y"] + grid["h"])}  # fmt: skip
        assert grid["x"] + grid["w"] <= 24 and not cells & occupied, panel["title"]
        occupied |= cells


def test_connections_and_open_calls_are_counted(busy):
    before = value(busy, "entitled_connections", listener="grpc")
    with busy.channel() as channel:
        stream = contract.entitlement_stub(channel).Watch(wire.WatchRequest(app=APP), timeout=CALL_LIMIT)
        wait_for(lambda: value(busy, "entitled_streams", listener="grpc") == 1)
        assert value(busy, "entitled_connections", listener="grpc") == before + 1
        stream.cancel()
    wait_for(lambda: value(busy, "entitled_connections", listener="grpc") == before)
    wait_for(lambda: value(busy, "entitled_streams", listener="grpc") == 0)
    # The connection of the scrape itself.
    assert value(busy, "entitled_connections", listener="http") >= 1


def test_apples_remaining_rate_limit_is_exported(busy):
    bought = busy.buy("shells.100")["transactionId"]
    body = {"app": APP, "environment": "ENVIRONMENT_SANDBOX", "transactionId": bought}
    assert busy.json("entitled.v1.AppStoreService/GetRefundHistory", body)[0] == 200
    assert value(busy, "entitled_app_store_rate_limit_calls", app=APP, endpoint="refundHistory") > 0
