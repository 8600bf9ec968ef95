"""The OpenAPI document: valid by openapi-spec-validator, complete, and true of a live server by schemathesis."""

import json
import re
import urllib.error
import urllib.request

import pytest

import reasons
from contract import services
from harness import CALL_LIMIT, ROOT, post


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
    request = urllib.request.Request(url, headers={"if-none-match": tag})
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(request, timeout=CALL_LIMIT)
    assert raised.value.code == 304
    assert post(url, {})[0] == 405


@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_generated_requests_get_the_documented_responses(service, document, mode):
    import generated_requests

    operations = generated_requests.operations(document, f"http://{service.http}")
    found = [failure for operation in operations for failure in generated_requests.failures_of(operation, mode)]
    assert operations and not found, "\n\n".join(found[:5]) + f"\n\n{len(found)} failures"
