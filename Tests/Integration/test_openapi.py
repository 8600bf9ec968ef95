"""The OpenAPI document: valid by openapi-spec-validator, complete, and true of a live server by schemathesis."""

import json
import re
import urllib.request

import pytest
from jsonschema import Draft202012Validator

import reasons
from contract import services
from harness import CALL_LIMIT, ROOT, Service, post, response_to
from raw import Connection
from test_callers import APP, APPS, OTHER, caller, token


@pytest.fixture(scope="module")
def document(service):
    with urllib.request.urlopen(f"http://{service.http}/openapi.json", timeout=CALL_LIMIT) as answer:
        assert answer.headers["content-type"] == "application/json"
        return json.load(answer)


def test_the_document_is_valid_openapi_3_1(document):
    from openapi_spec_validator import OpenAPIV31SpecValidator

    assert document["openapi"] == "3.1.0"
    assert [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_the_document_has_every_unary_method_with_its_errors_and_comments(document):
    for service in services.values():
        for method in service.methods:
            path = f"/{service.full_name}/{method.name}"
            if method.server_streaming or method.client_streaming:
                assert path not in document["paths"]
                continue
            item = document["paths"][path]
            post_ = item["post"]
            assert {"200", "400", "401", "403", "404", "409", "429", "500", "501", "503", "504"} <= set(post_["responses"])
            assert len(post_["description"]) > 20, path
            content = post_["requestBody"]["content"]
            assert content["application/json"]["schema"]["$ref"].endswith(f"/{method.input_type.full_name}")
            assert "application/proto" in content
            options = method.GetOptions()
            assert ("get" in item) == (options.idempotency_level == options.NO_SIDE_EFFECTS)
    check = document["paths"]["/entitled.v1.EntitlementService/Check"]["post"]
    assert check["description"].endswith("The caller needs the role `read`.")
    identifiers = [op["operationId"] for item in document["paths"].values() for op in item.values()]
    assert len(set(identifiers)) == len(identifiers)


def reasons_of(document, response):
    """The reasons that a response of the document may have; those with `*` as prefixes."""
    response = document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    schema = response["content"].get("application/json", {}).get("schema", {})
    if "allOf" not in schema:
        return set()
    forms = schema["allOf"][1]["properties"]["details"]["contains"]["properties"]["debug"]["properties"]["reason"]["anyOf"]
    patterns = {form["pattern"].removeprefix("^") + "*" for form in forms if "pattern" in form}
    found = patterns | {reason for form in forms for reason in form.get("enum", ())}
    assert all(f"`{reason}`" in response["description"] for reason in found)
    return found


def test_the_document_has_every_reason_of_every_method(document):
    for service in services.values():
        for method in service.methods:
            if method.server_streaming or method.client_streaming:
                continue
            for operation in document["paths"][f"/{service.full_name}/{method.name}"].values():
                references = [response for status, response in operation["responses"].items() if status != "200"]
                found = set().union(*(reasons_of(document, response) for response in references))
                assert found == reasons.of(service.full_name, method.name), method.name
    check = document["paths"]["/entitled.v1.EntitlementService/Check"]["post"]["responses"]["404"]
    assert reasons_of(document, check) == {"UNKNOWN_APP", "UNKNOWN_ENTITLEMENT"}


def test_every_reason_in_the_code_of_the_methods_is_in_the_contract():
    """The reasons of other routes are in other tables: docs/device-sync.md, docs/openfeature.md."""
    listed = set().union(*(reasons.of(s.full_name, m.name) for s in services.values() for m in s.methods))
    sources = [*ROOT.glob("Sources/Server/Services/**/*.swift"), *ROOT.glob("Sources/Protocol/RPC/**/*.swift")]
    literals = {
        reason for file in sources if "DeviceSync" not in file.parts and "Flags" not in file.parts
        for reason in re.findall(r'\breason: "([A-Z0-9_]+)"', file.read_text())
    }
    # The verdicts of Inspect, which are no errors, and the one reason of a flag.
    assert literals - listed == {"VERIFIED", "NOT_SIGNED"} - listed, literals - listed


def test_the_expensive_calls_of_the_page_are_those_of_the_contract():
    listed = {
        method.name for service in services.values() for method in service.methods
        if "TOO_MANY_EXPENSIVE_CALLS" in reasons.of(service.full_name, method.name)
    }
    section = (ROOT / "docs" / "callers.md").read_text().partition("\n## Expensive calls\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"`([A-Z][a-z]\w+)`", section)) == listed


def test_the_schema_of_a_message_has_every_field_in_json_names(document):
    request = services["EntitlementService"].methods_by_name["Check"].input_type
    schema = document["components"]["schemas"][request.full_name]
    assert list(schema["properties"]) == [field.json_name for field in request.fields]
    assert schema["additionalProperties"] is False


def test_an_unchanged_document_is_not_sent_again(service):
    url = f"http://{service.http}/openapi.json"
    with urllib.request.urlopen(url, timeout=CALL_LIMIT) as answer:
        tag = answer.headers["etag"]
    for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        with response_to(urllib.request.Request(url, headers={"if-none-match": known})) as answer:
            assert answer.status == 304
    with Connection(service.http) as connection:
        stream = connection.open("/openapi.json", "GET", end=True, content_type=None, te=None, if_none_match=tag)
        while not connection.answers[stream].ended:
            assert connection.receive()
        headers = connection.answers[stream].headers
    # It would be the length of the document.
    assert headers[":status"] == "304" and headers["etag"] == tag and "content-length" not in headers
    assert post(url, {})[0] == 405


def problems(document, path, method, status, kind, body):
    """What is wrong with a response, by the document."""
    operation = document["paths"][path].get(method.lower(), {"responses": {}})
    declared = operation["responses"].get(str(status))
    if declared is None:
        return [f"{status} is not declared"]
    if "$ref" in declared:
        declared = document["components"]["responses"][declared["$ref"].rsplit("/", 1)[1]]
    content = declared.get("content", {})
    media = (kind or "").partition(";")[0]
    if media not in content:
        return [] if not content and not body else [f"{media} is not in {list(content)}"]
    if not media.endswith("json"):
        return []
    schema = content[media]["schema"] | {"components": document["components"]}
    return [error.message for error in Draft202012Validator(schema).iter_errors(json.loads(body))]


def test_errors_are_as_documented(document, tmp_path):
    rate = {"per_second": 1, "burst": 1}
    callers = caller("reader", "read") + caller("writer", "submit") + caller("half", "read", apps=[APP])
    callers += caller("slow", "read", rate_limit=rate)
    (tmp_path / "entitled.yaml").write_text(
        APPS + "callers:\n" + callers + "listeners: {http: {subscriber_api: true}}\nlimits: {body_bytes: 100000}\n")
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    json_type = {"content-type": "application/json"}
    subscriber, flag, flags = "/v1/subscribers/{customer}", "/ofrep/v1/evaluate/flags/{key}", "/ofrep/v1/evaluate/flags"
    context = json.dumps({"context": {"targetingKey": "x", "app": APP}}).encode()
    check, body = "/entitled.v1.EntitlementService/Check", json.dumps({"app": APP, "customerId": "x", "entitlement": "pro"}).encode()
    grant, large = "/entitled.v1.EntitlementService/Grant", b" " * 200_000
    page = {"origin": "https://example.com"}
    requests = [
        (subscriber, f"x?app={APP}", None, "reader", {}, [200]), (subscriber, "x", None, "reader", {}, [400]),
        (subscriber, "J%FCrgen", None, "half", {}, [400]), (subscriber, "x", None, None, {}, [401]),
        (subscriber, f"x?app={APP}", None, "writer", {}, [403]), (subscriber, f"x?app={OTHER}", None, "half", {}, [403]),
        (subscriber, "x?app=other", None, "reader", {}, [404]), (subscriber, "x", b"{}", "reader", json_type, [405]),
        (subscriber, f"x?app={APP}", None, "slow", {}, [200, 429, 429]),
        (flag, "pro", context, "reader", json_type, [200]), (flag, "other", context, "reader", json_type, [404]),
        (flag, "pro", b"{", "reader", json_type, [400]), (flag, "pro", context, None, json_type, [401]),
        (flag, "pro", context, "writer", json_type, [403]), (flag, "pro", context, "reader", {"content-type": "text/plain"}, [415]),
        (flag, "pro", context, None, {"content-type": "text/plain"}, [415]), (flag, "pro", context, "reader", json_type | page, [403]),
        (flag, "pro", large, "reader", json_type, [413]), (flag, "pro", None, "reader", {}, [405]),
        (flags, "", context, "reader", json_type | {"if-none-match": "*"}, [304]),
        ("/metrics", "", None, "reader", {}, [200]), ("/metrics", "", None, "reader", {"accept": "application/openmetrics-text"}, [200]),
        ("/metrics", "", None, None, {}, [401]), ("/metrics", "", None, "writer", {}, [403]),
        ("/metrics", "", None, "slow", {}, [429]), ("/metrics", "", b"", "reader", {}, [405]),
        (check, "", body, None, json_type, [401]), (check, "", body, "writer", json_type, [403]),
        (check, "", body, "reader", json_type | page, [403]), (check, "", body, None, {"content-type": "text/plain"}, [415]),
        (check, "", body, "reader", {"content-type": "text/plain"}, [415]), (check, "", large, "reader", json_type, [413]),
        (check, "", b"{", "reader", json_type, [400]), (grant, "", body, "reader", json_type, [403]),
        ("/notifications/{app}", APP, b"{}", None, json_type, [202]), ("/notifications/{app}", "other", b"{}", None, json_type, [404]),
        ("/notifications/{app}", APP, b"{}", None, {"content-type": "text/plain"}, [415]),
        ("/notifications/{app}", APP, large, None, json_type, [413]),
        ("/retention/{app}", APP, b"{}", None, json_type, [400]), ("/retention/{app}", "other", b"{}", None, json_type, [404]),
        ("/import/revenuecat/{app}", APP, b"{}", None, json_type, [404]),
        ("/app/v1/{app}/sync", APP, b"{}", None, json_type, [404]), ("/app/v1/{app}/sync", APP, large, None, json_type, [413]),
        ("/verifyReceipt", "", b"{}", None, {}, [200]), ("/verifyReceipt", "", b"{}", None, page, [403]),
        ("/healthz", "", b"", None, {}, [405]), ("/readyz", "", None, None, {}, [200]),
        ("/.well-known/jwks.json", "", None, None, {}, [200]), ("/openapi.json", "", None, None, {"x-large": "x" * 20_000}, [431]),
    ]  # fmt: skip
    found = []
    try:
        for path, name, sent, who, headers, expected in requests:
            url = f"http://{service.http}{re.sub('{.*}', name, path) if '{' in path else path + name}"
            headers = headers | ({"authorization": f"Bearer {token(who)}"} if who else {})
            method = "POST" if sent is not None else "GET"
            declared = method if method.lower() in document["paths"][path] else next(iter(document["paths"][path]))
            for status in expected:
                # A second after the last call the caller is not over its limit.
                for _ in range(50 if status == 429 else 1):
                    with response_to(urllib.request.Request(url, sent, headers, method=method)) as answer:
                        content = answer.read()
                    if answer.status == status:
                        break
                assert answer.status == status, (path, name, who, headers, answer.status, content)
                problem = problems(document, path, declared, status, answer.headers["content-type"], content)
                found += [(path, name, who, status, text) for text in problem]
    finally:
        service.stop()
    assert not found


def test_a_page_of_another_name_is_refused_as_documented(service, document):
    for path, method in (("/openapi.json", "get"), ("/entitled.v1.EntitlementService/Check", "post")):
        body = b"{}" if method == "post" else None
        request = urllib.request.Request(f"http://{service.http}{path}", body, {"host": "rebound.example"}, method=method.upper())
        with response_to(request) as answer:
            assert answer.status == 421
            assert not problems(document, path, method, 421, answer.headers["content-type"], answer.read())


@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_generated_requests_get_the_documented_responses(service, document, mode):
    import generated_requests

    operations = generated_requests.operations(document, f"http://{service.http}")
    found = [failure for operation in operations for failure in generated_requests.failures_of(operation, mode)]
    assert operations and not found, "\n\n".join(found[:5]) + f"\n\n{len(found)} failures"
