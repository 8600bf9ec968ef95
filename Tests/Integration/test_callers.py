"""Authentication and authorization: tokens, roles, apps, rate limits, JWTs of an identity provider, the audit log."""

import base64
import hashlib
import http.server
import json
import re
import signal
import threading
import time
import urllib.request

import grpc
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

import contract
import link
from contract import StatusCode
from contract import entitlement_service as wire
from contract import receipt_service as receipts
from harness import CALL_LIMIT, ROOT, Service, post, response_to, run, wait_for
from raw import Connection

APP, OTHER = "ocean-journal", "sea-journal"
ROLES = ("read", "submit", "operate", "admin", "reports", "audit")

APPS = """
apps:
  ocean-journal: &app
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro],
        period: P1M, price: 4.99, currency: USD}
  sea-journal:
    bundle_id: com.example.seajournal
    environments: [Sandbox]
    products:
      pro.sea: {type: Non-Consumable, entitlements: [pro], price: 4.99, currency: USD}
"""


def token(name):
    return f"ent_{name}_{hashlib.sha256(name.encode()).hexdigest()}"


def digest(name):
    return "sha256:" + hashlib.sha256(token(name).encode()).hexdigest()


def caller(name, *roles, **more):
    members = {"roles": list(roles), "tokens": [digest(name)], **more}
    return f"  {name}: {json.dumps(members)}\n"


CALLERS = "callers:\n" + "".join(caller(role, role) for role in ROLES)
CALLERS += caller("half", "read", "operate", apps=[APP])
for slow in ("slow", "slow-json", "slow-retried"):
    CALLERS += caller(slow, "read", rate_limit={"per_second": 1, "burst": 3})


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("callers")
    (folder / "entitled.yaml").write_text(APPS + CALLERS)
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    yield service
    service.stop()
    for name in (*ROLES, "half", "slow", "slow-json", "wrong"):
        assert token(name) not in service.log
    assert "eyJ" not in service.log


def call(service, path, message=b"", bearer=None, metadata=()):
    """Makes a unary call with bytes; returns the bytes of the response."""
    fields = [*metadata, *([("authorization", f"Bearer {bearer}")] if bearer else [])]
    with service.channel() as channel:
        return channel.unary_unary(path)(message, metadata=fields, timeout=CALL_LIMIT)


def rejected(service, path, message=b"", bearer=None, metadata=()):
    with pytest.raises(grpc.RpcError) as error:
        call(service, path, message, bearer, metadata)
    return error.value


def outcomes(service, bearer):
    """The status codes of calls of all methods with an empty message."""
    codes = {}
    with service.channel() as channel:
        for method in METHODS:
            try:
                channel.unary_unary(method)(
                    b"", metadata=[("authorization", f"Bearer {bearer}")], timeout=CALL_LIMIT)
                codes[method] = StatusCode.OK
            except grpc.RpcError as error:
                codes[method] = error.code()
    return codes


METHODS = [
    f"/{service.full_name}/{method.name}"
    for service in contract.services.values()
    for method in service.methods
]
CHECK = "/entitled.v1.EntitlementService/Check"
WHO_AM_I = "/entitled.v1.StatusService/WhoAmI"
GRANT = "/entitled.v1.EntitlementService/Grant"
METRICS = "/entitled.v1.ReportService/QueryReport"
ERASE = "/entitled.v1.EntitlementService/EraseCustomer"
SUBMIT = "/entitled.v1.ReceiptService/SubmitTransaction"


def check(app=APP):
    return wire.CheckRequest(app=app, customer_id="ana", entitlement="pro").SerializeToString()


def grant(app=APP, actor="sam"):
    return wire.GrantRequest(
        app=app, customer_id="ana", entitlement="pro", access_level="ACCESS_LEVEL_FULL", actor=actor
    ).SerializeToString()


def test_no_method_can_be_called_without_a_token(guarded):
    for method in METHODS:
        error = rejected(guarded, method)
        assert (error.code(), contract.reason(error)) == (StatusCode.UNAUTHENTICATED, "NO_CREDENTIAL"), method


def test_exactly_the_routes_of_the_page_need_no_token(tmp_path):
    (tmp_path / "entitled.yaml").write_text(APPS + CALLERS + "listeners: {http: {subscriber_api: true}}\n")
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    try:
        with response_to(f"http://{service.http}/openapi.json") as answer:
            paths = json.load(answer)["paths"]
        names = {"{app}": APP, "{key}": "pro", "{customer}": "ana"}
        for path, item in paths.items():
            real = re.sub(r"\{\w+\}", lambda found: names[found[0]], path)
            for method, operation in item.items():
                body = b"{}" if method == "post" else None
                request = urllib.request.Request(
                    f"http://{service.http}{real}", body, {"content-type": "application/json"}, method=method.upper())
                with response_to(request) as answer:
                    assert (answer.status != 401) == (operation.get("security") == [{}]), (path, method, answer.status)
        public = {path for path, item in paths.items() if all(one.get("security") == [{}] for one in item.values())}
    finally:
        service.stop()
    assert set(re.findall("`(/[^`]+)`", "".join(line.split(" | ")[0] for line in rows_of_page("The edge")))) == public


def rows_of_page(section):
    """The rows of the table in a section of docs/callers.md."""
    text = (ROOT / "docs" / "callers.md").read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return [line for line in text.splitlines() if line.startswith("| `")]


def test_the_page_names_methods_beside_the_role_that_they_need():
    needed = {method.name: contract.role(f"{name}/{method.name}")
              for name, service in contract.services.items() for method in service.methods}  # fmt: skip
    shown = {row.split("`")[1]: set(re.findall("`([A-Z][A-Za-z]+)`", row)) for row in rows_of_page("The list of callers")}
    assert set(shown) == set(ROLES)
    assert {role: {name for name in found if needed[name] != role} for role, found in shown.items()} == {
        role: set() for role in ROLES}  # fmt: skip
    for role in ("submit", "reports", "audit"):  # without "such as"
        assert shown[role] == {name for name, other in needed.items() if other == role}


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (f"Bearer {token('wrong')}", "UNKNOWN_TOKEN"),
        (f"Bearer {token('read')[:-1]}", "UNKNOWN_TOKEN"),
        (f"Basic {token('read')}", "NOT_A_BEARER_TOKEN"),
        (token("read"), "NOT_A_BEARER_TOKEN"),
        (f"Bearer {digest('read')}", "UNKNOWN_TOKEN"),
        ("", "NOT_A_BEARER_TOKEN"),
        ("Bearer " + "x" * 8_000, "UNKNOWN_TOKEN"),
    ],
)
def test_an_invalid_token_is_rejected(guarded, field, reason):
    error = rejected(guarded, CHECK, check(), metadata=[("authorization", field)])
    assert (error.code(), contract.reason(error)) == (StatusCode.UNAUTHENTICATED, reason)
    assert token("read")[8:] not in error.details()


def test_each_role_allows_exactly_its_methods(guarded):
    with_role = {
        role: {m for m, code in outcomes(guarded, token(role)).items() if code != StatusCode.PERMISSION_DENIED}
        for role in ROLES
    }
    assert with_role["admin"] == set(METHODS)
    for one in ROLES[:3] + ROLES[5:]:
        for other in ROLES[:3] + ROLES[5:]:
            assert one == other or with_role[one] & with_role[other] == {WHO_AM_I}
    assert METRICS in with_role["reports"] < with_role["read"]
    assert CHECK in with_role["read"] and SUBMIT in with_role["submit"] and GRANT in with_role["operate"]
    assert ERASE not in with_role["read"] | with_role["submit"] | with_role["operate"]
    error = rejected(guarded, GRANT, grant(), bearer=token("read"))
    info = contract.details(error)["ErrorInfo"]
    assert (info.reason, dict(info.metadata)) == ("ROLE_MISSING", {"caller": "read", "role": "operate"})


def test_a_caller_is_restricted_to_its_apps(guarded):
    half = token("half")
    call(guarded, CHECK, check(), half)
    for message in (check(OTHER), check() + check(OTHER), check(OTHER) + check()):
        error = rejected(guarded, CHECK, message, half)
        assert contract.reason(error) == "APP_NOT_ALLOWED"
    batch = wire.BatchCheckRequest(checks=[
        wire.CheckRequest(app=app, customer_id="ana", entitlement="pro") for app in (APP, OTHER)])  # fmt: skip
    error = rejected(guarded, "/entitled.v1.EntitlementService/BatchCheck", batch.SerializeToString(), half)
    assert contract.details(error)["ErrorInfo"].metadata["app"] == OTHER
    error = rejected(guarded, "/entitled.v1.ReceiptService/GetMigration", bearer=half)
    assert contract.reason(error) == "APP_SCOPE_REQUIRED"
    with guarded.channel() as channel:
        stream = contract.entitlement_stub(channel).Watch(
            wire.WatchRequest(app=OTHER), metadata=[("authorization", f"Bearer {half}")], timeout=CALL_LIMIT)
        with pytest.raises(grpc.RpcError) as error:
            next(stream)
        assert error.value.code() == StatusCode.PERMISSION_DENIED


def test_a_caller_of_one_app_migrates_only_inputs_of_that_app(guarded):
    imports = guarded.data / "import"
    for folder in (imports, imports / APP, imports / OTHER):
        folder.mkdir(exist_ok=True)
        (folder / "in.ndjson").write_text("{}\n")

    def start(bearer, path):
        request = receipts.StartMigrationRequest(app=APP, input_path=path)
        return call(guarded, "/entitled.v1.ReceiptService/StartMigration", request.SerializeToString(), token(bearer))

    for path in ("in.ndjson", f"{OTHER}/in.ndjson", f"{APP}/../in.ndjson"):
        with pytest.raises(grpc.RpcError) as error:
            start("half", path)
        assert contract.reason(error.value) == "INPUT_PATH_NOT_ALLOWED"
        start("operate", path)
    start("half", f"{APP}/in.ndjson")


def test_every_caller_learns_its_name_roles_and_apps(guarded):
    def who(bearer):
        return contract.status_service.WhoAmIResponse.FromString(call(guarded, WHO_AM_I, bearer=token(bearer)))

    half, admin = who("half"), who("admin")
    assert (half.caller, list(half.apps), half.all_apps) == ("half", [APP], False)
    assert {"read", "operate"} <= set(half.roles) and not {"submit", "admin"} & set(half.roles)
    assert (admin.caller, sorted(admin.apps), admin.all_apps) == ("admin", sorted([APP, OTHER]), True)
    assert set(ROLES) <= set(admin.roles)
    assert list(who("submit").roles) == ["submit"]


def test_only_a_caller_of_all_apps_sees_the_cause_of_a_failed_check(tmp_path):
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(APPS + CALLERS)
    service = Service(tmp_path / "data", ["--config", configuration])
    try:
        configuration.write_text(APPS.replace("environments: [Sandbox]", "environments: [Production]") + CALLERS)
        service.process.send_signal(signal.SIGHUP)

        def errors(name):
            answer = call(service, "/entitled.v1.StatusService/GetStatus", bearer=token(name))
            found = [check.error for check in contract.status_service.GetStatusResponse.FromString(answer).checks]
            return [error for error in found if error]

        assert "apple_id" in wait_for(lambda: errors("admin"))[0]
        assert errors("half") == ["the check failed; the log of the service has the cause"]
        failing = [check for check in service.readiness()[1]["checks"] if not check["ok"]]
        assert failing == [{"name": "configuration", "ok": False, "stops": []}], "probes have no credential"
    finally:
        service.stop()


def test_a_caller_of_some_apps_sees_their_pending_settings_only(tmp_path):
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(APPS + CALLERS)
    service = Service(tmp_path / "data", ["--config", configuration])
    try:
        apps = re.sub(r"( +)environments:.*\n", r"\g<0>\1online_checks: soft\n", APPS)
        configuration.write_text(apps + CALLERS + "limits: {message_bytes: 1024}\n")
        service.process.send_signal(signal.SIGHUP)

        def pending(name):
            answer = call(service, "/entitled.v1.StatusService/GetConfiguration", bearer=token(name))
            return list(contract.status_service.GetConfigurationResponse.FromString(answer).pending_restart)

        wait_for(lambda: pending("admin") == [f"apps.{APP}.online_checks", f"apps.{OTHER}.online_checks", "limits"])
        assert pending("half") == [f"apps.{APP}.online_checks"]
    finally:
        service.stop()


def test_a_search_covers_only_the_apps_of_the_caller(guarded):
    path = "/entitled.v1.CustomerService/FindCustomers"

    def found(bearer, app=""):
        request = contract.customer_service.FindCustomersRequest(query="cora", app=app)
        answer = call(guarded, path, request.SerializeToString(), token(bearer))
        return sorted(hit.app for hit in contract.customer_service.FindCustomersResponse.FromString(answer).hits)

    for app in (APP, OTHER):
        request = wire.GrantRequest(
            app=app, customer_id="cora", entitlement="pro", access_level=contract.entitlement.ACCESS_LEVEL_FULL)
        call(guarded, GRANT, request.SerializeToString(), token("operate"))
    assert found("read") == [APP, OTHER]
    assert found("half") == [APP]
    assert found("read", OTHER) == [OTHER]
    error = rejected(
        guarded, path, contract.customer_service.FindCustomersRequest(query="cora", app=OTHER).SerializeToString(),
        token("half"))
    assert contract.reason(error) == "APP_NOT_ALLOWED"


def test_roles_decide_which_parts_of_a_response_a_caller_gets(guarded):
    def ask(method, name, **members):
        return guarded.json(f"entitled.v1.{method}", {"app": APP, **members}, authorization=f"Bearer {token(name)}")

    def refused(method, name, **members):
        status, answer = ask(method, name, **members)
        assert status == 403 and answer["details"][0]["debug"]["reason"] == "ROLE_MISSING", answer
        return answer["details"][0]["debug"]["metadata"]["role"]

    document = guarded.buy("pro.monthly")["signedTransactionInfo"]
    status, submitted = ask("ReceiptService/SubmitTransaction", "submit", customerId="owner", signedTransaction=document)
    assert status == 200, submitted
    assert ask("ReceiptService/SubmitTransaction", "submit", customerId="other", signedTransaction=document)[0] == 400

    def owner(name):
        """The owner of the purchase, as the timeline of the refused customer shows it."""
        status, timeline = ask("EntitlementService/ListTimeline", name, customerId="other")
        assert status == 200, timeline
        [event] = [event for event in timeline["events"] if event["type"] == "CLAIM_REFUSED"]
        return event.get("otherCustomerId", "")

    def claimants(name):
        """The customers of the refused claim, as its evidence has them."""
        status, timeline = ask("EntitlementService/ListTimeline", name, customerId="owner")
        assert status == 200, timeline
        [event] = [event for event in timeline["events"] if event["type"] == "CLAIMED_BY_ANOTHER"]
        assert not event.get("otherCustomerId")
        status, evidence = ask("CustomerService/GetEvidence", name, evidenceId=event["evidenceId"])
        assert status == 200, evidence
        return evidence["customerIds"]

    assert (owner("read"), owner("half")) == ("", "owner"), "the second one has the role operate, too"
    assert sorted(claimants("read")) == ["other", "owner"], "the role read may look at every customer"
    assert refused("EntitlementService/ListTimeline", "read", customerId="other", includeWebhooks=True) == "operate"
    body = {"evidenceId": submitted["evidenceId"], "includeBody": True}
    assert refused("CustomerService/GetEvidence", "half", **body) == "admin"
    status, evidence = ask("CustomerService/GetEvidence", "admin", **body)
    assert status == 200 and base64.b64decode(evidence["body"]).decode() == document


def test_the_configuration_shows_no_secret_and_a_restricted_caller_only_its_apps(guarded):
    def shown(bearer):
        answer = call(guarded, "/entitled.v1.StatusService/GetConfiguration", bearer=token(bearer))
        return contract.status_service.GetConfigurationResponse.FromString(answer)

    whole = shown("operate")
    assert whole.path.endswith("entitled.yaml") and whole.loaded_at.seconds > 0
    content = json.loads(whole.configuration_json)
    assert content["callers"]["read"]["roles"] == ["read"]
    assert "sha256:" not in whole.configuration_json
    assert content["callers"]["read"]["tokens"] == "(secret)"
    half = json.loads(shown("half").configuration_json)
    assert (list(half), list(half["apps"])) == (["apps"], [APP])
    status = call(guarded, "/entitled.v1.StatusService/GetStatus", bearer=token("half"))
    status = contract.status_service.GetStatusResponse.FromString(status)
    assert [app.app for app in status.apps] == [APP] and not status.HasField("store")


def test_the_rate_limit_rejects_with_a_retry_delay(guarded):
    bearer = token("slow")
    for _ in range(3):
        call(guarded, CHECK, check(), bearer)
    with guarded.channel() as channel, pytest.raises(grpc.RpcError) as limited:
        for _ in range(200):  # the bucket refills by one call a second meanwhile
            channel.unary_unary(CHECK)(check(), metadata=[("authorization", f"Bearer {bearer}")], timeout=CALL_LIMIT)
    error = limited.value
    assert (error.code(), contract.reason(error)) == (StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMIT")
    wait = contract.details(error)["RetryInfo"].retry_delay
    assert 0 < wait.seconds + wait.nanos / 1e9 <= 1
    call(guarded, CHECK, check(), token("read"))
    time.sleep(wait.seconds + wait.nanos / 1e9)
    call(guarded, CHECK, check(), bearer)


def test_the_retries_of_grpc_wait_as_long_as_the_service_says(guarded):
    """gRFC A6, "Pushback": without it, all attempts of this policy would be made within a fifth of a second."""
    fields = [("authorization", f"Bearer {token('slow-retried')}")]
    policy = {
        "maxAttempts": 5, "initialBackoff": "0.05s", "maxBackoff": "0.05s", "backoffMultiplier": 1,
        "retryableStatusCodes": ["RESOURCE_EXHAUSTED"],
    }  # fmt: skip
    configuration = json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": policy}]})
    with grpc.insecure_channel(guarded.grpc, options=[("grpc.service_config", configuration)]) as channel:
        for _ in range(5):
            channel.unary_unary(CHECK)(check(), metadata=fields, timeout=CALL_LIMIT)
    with Connection(guarded.grpc) as connection:
        for _ in range(200):
            answer = connection.call(check(), path=CHECK, authorization=fields[0][1])
            if answer.status:
                break
    trailers = answer.headers | answer.trailers
    details = trailers["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(base64.b64decode(details + "=" * (-len(details) % 4)))
    retry = next(info for detail in status.details if detail.Unpack(info := error_details_pb2.RetryInfo()))
    assert int(trailers["grpc-retry-pushback-ms"]) == retry.retry_delay.ToMilliseconds() > 0


def test_a_json_call_counts_once_and_before_its_body_is_read(guarded):
    bearer = {"authorization": f"Bearer {token('slow-json')}"}
    request = {"app": APP, "customerId": "ana", "entitlement": "pro"}
    for _ in range(3):
        assert guarded.json("entitled.v1.EntitlementService/Check", request, **bearer)[0] == 200
    for _ in range(200):  # the bucket refills by one call a second meanwhile
        status, answer = guarded.json("entitled.v1.EntitlementService/Check", b"{" * 100, **bearer)
        if status == 429:
            break
        assert status == 400
    assert answer["details"][0]["debug"]["reason"] == "RATE_LIMIT"


def test_the_edge_requires_tokens_for_the_api_only(guarded):
    request = {"app": APP, "customerId": "ana", "entitlement": "pro"}
    status, answer = guarded.json("entitled.v1.EntitlementService/Check", request)
    assert (status, answer["details"][0]["debug"]["reason"]) == (401, "NO_CREDENTIAL")
    bearer = {"authorization": f"Bearer {token('read')}"}
    status, answer = guarded.json("entitled.v1.EntitlementService/Check", request, **bearer)
    assert (status, answer["entitlement"]["entitled"]) == (200, False)
    del request["entitlement"]
    status, answer = guarded.json("entitled.v1.EntitlementService/EraseCustomer", request, **bearer)
    assert (status, answer["details"][0]["debug"]["reason"]) == (403, "ROLE_MISSING")
    for path in ("/healthz", "/readyz", "/.well-known/jwks.json"):
        assert urllib.request.urlopen(f"http://{guarded.http}{path}", timeout=CALL_LIMIT).status == 200
    # Apple's notifications are authenticated by their signature.
    status, answer = post(f"http://{guarded.http}/notifications/{APP}", {"signedPayload": "a.b.c"})
    assert (status, "reason" in answer) == (202, True)


def test_health_and_reflection_need_no_token(guarded):
    with guarded.channel() as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        assert stub.Check(health_pb2.HealthCheckRequest(), timeout=CALL_LIMIT).status == 1
    assert guarded.command("health").returncode == 0


def audit(service):
    return [line for line in service.log.splitlines() if "entitled.audit" in line]


def test_changes_and_rejected_changes_are_audited(guarded):
    call(guarded, GRANT, grant(actor="sue"), token("operate"))
    rejected(guarded, GRANT, grant(actor="eve"), token("read"))
    rejected(guarded, GRANT, grant(actor="mallory"))
    call(guarded, CHECK, check(), token("read"))
    wait_for(lambda: [line for line in audit(guarded) if "mallory" in line])
    lines = [line for line in audit(guarded) if GRANT in line]
    [done] = [line for line in lines if "actor=sue" in line]
    for part in ("caller=operate", "ana", f"app={APP}", "outcome=OK"):
        assert part in done
    [denied] = [line for line in lines if "actor=eve" in line]
    assert "caller=read" in denied and "outcome=PERMISSION_DENIED" in denied
    [unknown] = [line for line in lines if "actor=mallory" in line]
    assert "caller=-" in unknown and "outcome=UNAUTHENTICATED" in unknown
    assert not [line for line in audit(guarded) if CHECK in line]


def test_an_actor_cannot_write_another_audit_record(guarded):
    rejected(guarded, GRANT, grant(actor="eve outcome=OK\n2026 info entitled.audit: forged"), token("read"))
    wait_for(lambda: "forged" in guarded.log)
    [line] = [line for line in guarded.log.splitlines() if "forged" in line]
    assert r'actor="eve outcome=OK\n2026 info entitled.audit: forged"' in line
    assert "outcome=PERMISSION_DENIED" in line


def test_evidence_names_the_caller_and_the_actor(guarded):
    with guarded.channel() as channel:
        stub, metadata = contract.entitlement_stub(channel), [("authorization", f"Bearer {token('admin')}")]
        stub.Grant(wire.GrantRequest(app=APP, customer_id="cleo", entitlement="pro", access_level="ACCESS_LEVEL_FULL", actor="sam"),
                   metadata=metadata, timeout=CALL_LIMIT)  # fmt: skip
        timeline = stub.ListTimeline(wire.ListTimelineRequest(app=APP, customer_id="cleo"),
                                     metadata=metadata, timeout=CALL_LIMIT)  # fmt: skip
    assert "admin/sam" in {event.actor for event in timeline.events}


def test_a_call_without_a_caller_logs_its_address_and_reason(guarded):
    def watch():
        with guarded.channel() as channel, pytest.raises(grpc.RpcError):
            next(channel.unary_stream("/entitled.v1.EntitlementService/Watch")(b"", timeout=CALL_LIMIT))

    ways = {
        (CHECK, "UNKNOWN_TOKEN"): lambda: rejected(guarded, CHECK, check(), token("wrong")),
        (WHO_AM_I, "NO_CREDENTIAL"): lambda: rejected(guarded, WHO_AM_I),
        ("/entitled.v1.EntitlementService/Watch", "NO_CREDENTIAL"): watch,
        (GRANT, "NOT_A_BEARER_TOKEN"): lambda: guarded.json(GRANT[1:], {}, authorization="Basic eA=="),
    }
    for (method, reason), refuse in ways.items():
        line = f"warning entitled.refusals: request refused address=127.0.0.1( left_out=\\d+)? method={method} reason={reason}"

        def logged(refuse=refuse, line=line):
            refuse()
            return re.search(f"^\\S+ {line}$", guarded.log, re.MULTILINE)

        # Another call may have had the line of this second.
        wait_for(logged)


def test_a_flood_of_refused_calls_writes_few_lines(guarded):
    def count():
        return len(re.findall("request refused .*reason=NO_CREDENTIAL", guarded.log))

    before, begin = count(), time.monotonic()
    with guarded.channel() as channel:
        method = channel.unary_unary(CHECK)
        for made in [method.future(b"", timeout=CALL_LIMIT) for _ in range(500)]:
            assert made.code() == StatusCode.UNAUTHENTICATED
    assert count() - before <= time.monotonic() - begin + 2


def test_the_commands_read_a_token_from_the_environment_or_a_file(guarded, tmp_path):
    assert guarded.command("check", "ana", "pro").returncode == 1
    file = tmp_path / "token"
    file.write_text(token("read") + "\n")
    file.chmod(0o600)
    answer = guarded.command("check", "newcomer", "pro", "--app", "ocean-journal", "--token-file", file)
    assert answer.returncode == 3, answer.stderr
    file.chmod(0o644)
    assert "0644" in guarded.command("check", "newcomer", "pro", "--app", "ocean-journal", "--token-file", file).stderr


def test_a_new_token_is_valid_once_its_hash_is_configured(tmp_path):
    made = dict(line.split() for line in run("token", "create").stdout.splitlines())
    assert made["token"].startswith("ent_") and made["hash"].startswith("sha256:")
    assert run("token", "hash", stdin=made["token"]).stdout.strip() == made["hash"]
    assert run("token", "hash", stdin="short").returncode == 64
    file = tmp_path / "entitled.yaml"
    file.write_text(APPS + CALLERS)
    service = Service(tmp_path / "data", ["--config", file])
    assert contract.reason(rejected(service, CHECK, check(), made["token"])) == "UNKNOWN_TOKEN"
    file.write_text(APPS + CALLERS + f"  new: {{roles: [read], tokens: ['{made['hash']}']}}\n")
    reload(service, "callers reloaded")
    call(service, CHECK, check(), made["token"])
    file.write_text(APPS + CALLERS.replace("roles", "rules"))
    reload(service, "reload of the configuration failed")
    assert "unknown key 'rules'" in service.log
    call(service, CHECK, check(), made["token"])
    file.write_text(APPS + CALLERS)
    reload(service, "callers reloaded")
    assert contract.reason(rejected(service, CHECK, check(), made["token"])) == "UNKNOWN_TOKEN"
    service.stop()


@pytest.mark.parametrize(
    "change, reason", [("role", "ROLE_MISSING"), ("removal", "UNKNOWN_TOKEN"), ("app", "APP_NOT_ALLOWED")])
def test_watch_ends_when_its_caller_loses_the_permission(tmp_path, change, reason):
    file = tmp_path / "entitled.yaml"
    file.write_text(APPS + CALLERS)
    service = Service(tmp_path / "data", ["--config", file])
    with service.channel() as channel:
        def watch(name):
            request = wire.WatchRequest(app=APP)
            watch = contract.entitlement_stub(channel).Watch(
                request, metadata=[("authorization", f"Bearer {token(name)}")], timeout=6 * CALL_LIMIT)
            watch.initial_metadata()
            return watch

        lost, kept = watch("read"), watch("operate")
        without = "".join(caller(role, role) for role in ROLES if role != "read")
        file.write_text(APPS + "callers:\n" + without.replace('["operate"]', '["operate", "read"]') + {
            "role": caller("read", "submit"), "removal": "", "app": caller("read", "read", apps=[OTHER])}[change])
        reload(service, "callers reloaded")
        with pytest.raises(grpc.RpcError) as error:
            next(iter(lost))
        assert (error.value.code(), contract.reason(error.value)) == (StatusCode.PERMISSION_DENIED, reason)
        kept.cancel()
    service.stop()


@pytest.mark.parametrize("fields, reason", [((), "NO_CREDENTIAL"), ((("authorization", "Basic eA=="),), "NOT_A_BEARER_TOKEN")])
def test_watch_without_a_credential_ends_when_the_configuration_gets_callers(start, tmp_path, fields, reason):
    file = tmp_path / "entitled.yaml"
    file.write_text(APPS)
    service = start(arguments=["--config", file])
    with service.channel() as channel:
        watch = contract.entitlement_stub(channel).Watch(
            wire.WatchRequest(app=APP), metadata=fields, timeout=6 * CALL_LIMIT)
        watch.initial_metadata()
        file.write_text(APPS + CALLERS)
        reload(service, "callers reloaded")
        with pytest.raises(grpc.RpcError) as error:
            next(watch)
        assert (error.value.code(), contract.reason(error.value)) == (StatusCode.PERMISSION_DENIED, reason)


def reload(service, message):
    """Sends SIGHUP and waits until the log contains these words one more time."""
    seen = service.log.count(message)
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: service.log.count(message) > seen)


def test_a_public_address_requires_callers_or_the_open_setting(tmp_path):
    file = tmp_path / "entitled.yaml"
    arguments = ["serve", "--http", "127.0.0.1:0", "--sandbox", "off", "--config", file]
    public = ["--grpc", "0.0.0.0:0"]
    file.write_text(APPS)
    answer = run(*arguments, *public, "--data", tmp_path / "one")
    assert answer.returncode == 1 and "callers: open" in answer.stderr
    file.write_text(APPS + "callers: open\n")
    service = Service(tmp_path / "two", ["--config", file, "--cleartext", *public])
    service.grpc = service.grpc.replace("0.0.0.0", "127.0.0.1")
    call(service, CHECK, check())
    service.stop()


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value):
    return encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class Provider:
    """An identity provider with one key for each algorithm."""

    names = {"ES256": "ec", "RS256": "rsa"}

    def __init__(self):
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.rsa = rsa.generate_private_key(65537, 2048)

    def keys(self):
        point, public = self.ec.public_key().public_numbers(), self.rsa.public_key().public_numbers()
        return {"keys": [
            {"kty": "EC", "crv": "P-256", "kid": self.names["ES256"], "use": "sig", "alg": "ES256",
             "x": encoded(point.x.to_bytes(32, "big")), "y": encoded(point.y.to_bytes(32, "big"))},
            {"kty": "RSA", "kid": self.names["RS256"], "n": number(public.n), "e": number(public.e)},
            {"kty": "OKP", "crv": "Ed25519", "kid": "other", "x": "AAAA"},
        ]}  # fmt: skip

    def token(self, algorithm, **claims):
        claims = {"iss": "https://id.example.com", "aud": ["entitled"], "sub": "svc",
                  "exp": int(time.time()) + 300, **claims}  # fmt: skip
        header = {"alg": algorithm, "kid": self.names[algorithm]}
        message = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        if algorithm == "ES256":
            r, s = decode_dss_signature(self.ec.sign(message.encode(), ec.ECDSA(hashes.SHA256())))
            signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
        else:
            signature = self.rsa.sign(message.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{message}.{encoded(signature)}"


class KeyServer(http.server.ThreadingHTTPServer):
    """The JWKS endpoint of an identity provider."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), KeyServer.Handler)
        self.status, self.keys = 200, {"keys": []}
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(self.server.keys).encode()
            self.send_response(self.server.status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass


def test_jwks_keys_are_fetched_and_refreshed_at_run_time(tmp_path):
    old, new = Provider(), Provider()
    new.names = {"ES256": "ec2", "RS256": "rsa2"}
    with KeyServer() as server:
        broken = {"kty": "EC", "crv": "P-256", "kid": "broken", "x": "AAAA", "y": "AAAA"}
        server.keys = {"keys": [broken, *old.keys()["keys"]]}
        (tmp_path / "entitled.yaml").write_text(APPS + f"""
callers:
  billing: {{roles: [read], subjects: [svc]}}
token_issuer:
  issuer: https://id.example.com
  audience: entitled
  keys: {{url: "http://127.0.0.1:{server.server_port}/keys"}}
""")
        service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
        wait_until_accepted(service, old)
        wait_for(lambda: re.search("JWKS key skipped.*broken", service.log))
        # The JWKS endpoint fails: tokens with an unknown key are rejected, cached keys stay valid.
        server.status = 500
        assert contract.reason(rejected(service, CHECK, check(), new.token("ES256"))) == "INVALID_TOKEN"
        wait_for(lambda: "JWKS refresh failed" in service.log)
        call(service, CHECK, check(), old.token("ES256"))
        # A reload of the configuration keeps them too.
        reload(service, "callers reloaded")
        call(service, CHECK, check(), old.token("ES256"))
        # The endpoint serves other keys again: the first token with a new key triggers a refresh.
        with service.channel() as channel:
            lost = watch(channel, old.token("ES256"))
            expiring = old.token("RS256", exp=int(time.time()) - 28)
            kept = watch(channel, expiring)
            wait_for(lambda: not is_accepted(service, expiring))
            server.status, server.keys = 200, {"keys": new.keys()["keys"] + old.keys()["keys"][1:]}
            wait_until_accepted(service, new)
            # A stream ends with the key of its token, but not with the token.
            with pytest.raises(grpc.RpcError) as error:
                next(lost)
            assert error.value.code() == StatusCode.PERMISSION_DENIED
            assert kept.is_active()
            kept.cancel()
        assert contract.reason(rejected(service, CHECK, check(), old.token("ES256"))) == "INVALID_TOKEN"
        server.shutdown()
    service.stop()


def watch(channel, bearer):
    stream = contract.entitlement_stub(channel).Watch(
        wire.WatchRequest(app=APP), metadata=[("authorization", f"Bearer {bearer}")], timeout=3 * CALL_LIMIT)
    stream.initial_metadata()
    return stream


def is_accepted(service, bearer):
    try:
        call(service, CHECK, check(), bearer)
    except grpc.RpcError as error:
        assert error.code() == StatusCode.UNAUTHENTICATED
        return False
    return True


def wait_until_accepted(service, provider):
    wait_for(lambda: is_accepted(service, provider.token("ES256")))


def test_json_of_unauthenticated_callers_is_not_parsed(guarded):
    url = f"http://{guarded.http}{CHECK}"
    status, answer = post(url, b"{ this is no JSON")
    assert (status, answer["code"]) == (401, "unauthenticated")
    status, answer = post(url, b"{ this is no JSON", {"authorization": f"Bearer {token('submit')}"})
    assert (status, answer["code"]) == (403, "permission_denied")
    assert post(url, b"{ this is no JSON", {"authorization": f"Bearer {token('read')}"})[0] == 400


def test_jwts_of_an_identity_provider_are_accepted(tmp_path):
    provider, stranger = Provider(), Provider()
    (tmp_path / "jwks.json").write_text(json.dumps(provider.keys()))
    (tmp_path / "entitled.yaml").write_text(APPS + """
callers:
  billing: {roles: [read], subjects: [svc]}
token_issuer:
  issuer: https://id.example.com
  audience: entitled
  keys: {file: jwks.json}
  roles_claim: entitled_roles
""")
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    for algorithm in ("ES256", "RS256"):
        for _ in range(2):
            call(service, CHECK, check(), provider.token(algorithm))
        error = rejected(service, GRANT, grant(), provider.token(algorithm))
        assert contract.details(error)["ErrorInfo"].metadata["caller"] == "billing"
        call(service, GRANT, grant(), provider.token(algorithm, sub="jo", entitled_roles=["operate"]))
        for wrong in (
            stranger.token(algorithm), provider.token(algorithm, aud="others"),
            provider.token(algorithm, exp=int(time.time()) - 60), provider.token(algorithm)[:-8],
        ):  # fmt: skip
            assert contract.reason(rejected(service, CHECK, check(), wrong)) == "INVALID_TOKEN"
    assert re.search(r"caller=subject:jo\b", service.log)
    service.stop()
    assert "eyJ" not in service.log


def samples(service, bearer):
    request = urllib.request.Request(f"http://{service.http}/metrics", headers={"authorization": f"Bearer {bearer}"})
    with urllib.request.urlopen(request, timeout=CALL_LIMIT) as answer:
        return [line for line in answer.read().decode().splitlines() if not line.startswith("#")]


def test_a_caller_of_one_app_sees_only_that_apps_metrics(guarded):
    own, other = f'app="{APP}"', f'app="{OTHER}"'
    whole = samples(guarded, token("read"))
    assert any(own in line for line in whole) and any(other in line for line in whole)
    assert any("app=" not in line for line in whole)
    half = samples(guarded, token("half"))
    assert half and all(own in line for line in half)
    names = {line.partition("{")[0] for line in half}
    assert names == {line.partition("{")[0] for line in whole if own in line}


@pytest.fixture
def two_streams(tmp_path):
    """A service that allows each caller two streams, and its configuration."""
    file = tmp_path / "entitled.yaml"
    limits = {"max_watch_streams_per_caller": 2, "keepalive_interval_seconds": 1, "keepalive_timeout_seconds": 5}
    file.write_text(APPS + CALLERS + f"limits: {json.dumps(limits)}\n")
    service = Service(tmp_path / "data", ["--config", file])
    yield service, file
    service.kill()


def watch_if_allowed(channel, name):
    """A stream of the caller, which ends with the last reference to it; `None` if the caller has too many."""
    stream = watch(channel, token(name))
    if any(field == "entitled-position" for field, _ in stream.initial_metadata()):
        return stream
    with pytest.raises(grpc.RpcError) as error:
        next(stream)
    assert_too_many_streams(error.value)
    return None


def assert_too_many_streams(error):
    assert error.code() == StatusCode.RESOURCE_EXHAUSTED and contract.reason(error) == "TOO_MANY_STREAMS"
    assert "max_watch_streams_per_caller" in error.details()


def test_a_caller_has_a_limited_number_of_streams_over_all_connections(two_streams):
    service, _ = two_streams
    with service.channel() as channel, service.channel() as other:
        streams = [watch_if_allowed(channel, "read"), watch_if_allowed(other, "read")]
        assert all(streams)
        for _ in range(3):
            assert not watch_if_allowed(other, "read")
        # Another caller, and another method of the same one.
        assert watch_if_allowed(channel, "admin")
        call(service, CHECK, check(), token("read"))
        # A stream that its client cancels makes room for another one.
        streams[0].cancel()
        streams[0] = wait_for(lambda: watch_if_allowed(other, "read"))
        assert not watch_if_allowed(channel, "read")


def test_a_retry_delay_beyond_the_deadline_does_not_hide_the_failure(two_streams):
    """gRPC's own retries would wait for the ten seconds until the deadline, and then report the deadline."""
    service, _ = two_streams
    policy = {
        "maxAttempts": 2, "initialBackoff": "0.05s", "maxBackoff": "0.05s", "backoffMultiplier": 1,
        "retryableStatusCodes": ["RESOURCE_EXHAUSTED"],
    }  # fmt: skip
    configuration = json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": policy}]})
    options = [("grpc.service_config", configuration)]
    with service.channel() as channel, grpc.insecure_channel(service.grpc, options=options) as retrying:
        streams = [watch_if_allowed(channel, "read") for _ in range(2)]
        assert all(streams)
        stream = contract.entitlement_stub(retrying).Watch(
            wire.WatchRequest(app=APP), metadata=[("authorization", f"Bearer {token('read')}")], timeout=9)
        with pytest.raises(grpc.RpcError) as error:
            next(stream)
        assert_too_many_streams(error.value)


def test_watches_of_segments_count_too(two_streams):
    service, _ = two_streams
    with service.channel() as channel:
        streams = [watch_if_allowed(channel, "read") for _ in range(2)]
        assert all(streams)
        stream = contract.segment_stub(channel).WatchSegment(
            contract.segment_service.WatchSegmentRequest(app=APP, segment="lost"),
            metadata=[("authorization", f"Bearer {token('read')}")], timeout=CALL_LIMIT)
        with pytest.raises(grpc.RpcError) as error:
            next(stream)
        assert_too_many_streams(error.value)


def test_the_streams_of_a_lost_connection_make_room(two_streams):
    service, _ = two_streams
    port = int(service.grpc.rsplit(":", 1)[1])
    with link.Link(port) as lost, service.channel() as channel, grpc.insecure_channel(f"127.0.0.1:{lost.port}") as far:
        streams = [watch_if_allowed(far, "read") for _ in range(2)]
        assert all(streams) and not watch_if_allowed(channel, "read")
        # The service learns of it by its keepalive.
        lost.lose()
        assert wait_for(lambda: watch_if_allowed(channel, "read"))


def test_the_streams_of_a_lost_permission_make_room(two_streams):
    service, file = two_streams
    allowed = file.read_text()
    with service.channel() as channel:
        streams = [watch_if_allowed(channel, "read") for _ in range(2)]
        assert all(streams) and not watch_if_allowed(channel, "read")
        file.write_text(allowed.replace(caller("read", "read"), caller("read", "submit")))
        reload(service, "callers reloaded")
        for stream in streams:
            with pytest.raises(grpc.RpcError) as error:
                next(stream)
            assert error.value.code() == StatusCode.PERMISSION_DENIED
        file.write_text(allowed)
        reload(service, "callers reloaded")
        streams = [watch_if_allowed(channel, "read") for _ in range(2)]
        assert all(streams) and not watch_if_allowed(channel, "read")
