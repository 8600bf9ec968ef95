"""Entitlements as flags: with OpenFeature's own OFREP provider from PyPI, and by the protocol's requests and errors."""

import json
import urllib.request

import pytest
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import (
    ErrorCode,
    FlagNotFoundError,
    GeneralError,
    InvalidContextError,
    OpenFeatureError,
    TargetingKeyMissingError,
)

from harness import post, response_to
from test_callers import APP, APPS, OTHER, caller, token

FLAGS = "/ofrep/v1/evaluate/flags"


@pytest.fixture
def entitled(service, customer):
    """A customer with the entitlement `pro`."""
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    request = {"app": APP, "customerId": customer, "signedTransaction": document}
    status, answer = service.json("entitled.v1.ReceiptService/SubmitTransaction", request)
    assert status == 200, answer
    return customer


@pytest.fixture
def provider(service):
    return OFREPProvider(f"http://{service.http}")


def context(customer, **members):
    return {"context": {"targetingKey": customer, **members}}


def test_the_provider_evaluates_an_entitlement(service, provider, entitled):
    found = provider.resolve_boolean_details("pro", False, EvaluationContext(entitled))
    assert (found.value, found.variant, found.reason) == (True, "full", "TARGETING_MATCH")
    assert found.flag_metadata["reason"] == "SUBSCRIPTION_ACTIVE"
    assert found.flag_metadata["until"].endswith("Z") and found.flag_metadata["productId"] == "pro.monthly"
    found = provider.resolve_boolean_details("pro", True, EvaluationContext("other-" + entitled))
    assert (found.value, found.variant, found.flag_metadata["reason"]) == (False, "none", "NEVER_PURCHASED")
    assert "until" not in found.flag_metadata


def test_the_context_may_name_app_and_environment(provider, entitled):
    named = EvaluationContext(entitled, {"app": APP, "environment": "Sandbox", "plan": 7, "nested": {"a": [1]}})
    assert provider.resolve_boolean_details("pro", False, named).value is True


def test_the_provider_gets_the_errors_of_the_protocol(provider, customer):
    with pytest.raises(FlagNotFoundError):
        provider.resolve_boolean_details("no-such-flag", False, EvaluationContext(customer))
    for empty in (EvaluationContext(), None):
        with pytest.raises(TargetingKeyMissingError):
            provider.resolve_boolean_details("pro", False, empty)
    with pytest.raises(InvalidContextError):
        provider.resolve_boolean_details("pro", False, EvaluationContext(customer, {"app": "no-such-app"}))


@pytest.mark.parametrize("body, code", [
    (b"{", "PARSE_ERROR"), (b"[]", "PARSE_ERROR"), (b"", "PARSE_ERROR"), (b"{}", "TARGETING_KEY_MISSING"),
    (b'{"context":7}', "INVALID_CONTEXT"), (b'{"context":{"targetingKey":7}}', "INVALID_CONTEXT"),
    (b'{"context":{"targetingKey":""}}', "TARGETING_KEY_MISSING"),
    (b'{"context":{"targetingKey":"a\\u0000b"}}', "INVALID_CONTEXT"),
    (b'{"context":{"targetingKey":"' + b"x" * 257 + b'"}}', "INVALID_CONTEXT"),
    (b'{"context":{"targetingKey":"a","app":["x"]}}', "INVALID_CONTEXT"),
    (b'{"context":{"targetingKey":"a","environment":"Moon"}}', "INVALID_CONTEXT"),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("path", [FLAGS, FLAGS + "/pro"])
def test_an_invalid_request_has_the_code_of_the_protocol(service, path, body, code):
    status, answer = post(f"http://{service.http}{path}", body)
    assert (status, answer["errorCode"]) == (400, code), answer
    assert answer["errorDetails"] and answer.get("key") == ("pro" if path.endswith("pro") else None)


def bulk(service, body, **headers):
    """The status, entity tag and decoded body of a bulk evaluation."""
    request = urllib.request.Request(
        f"http://{service.http}{FLAGS}", json.dumps(body).encode(), {"content-type": "application/json", **headers})
    with response_to(request) as answer:
        text = answer.read()
        return answer.status, answer.headers["etag"], json.loads(text) if text else None


def test_the_bulk_form_evaluates_all_entitlements_and_changes_its_tag_with_the_answer(service, customer):
    status, tag, answer = bulk(service, context(customer))
    assert status == 200
    flags = {flag["key"]: flag for flag in answer["flags"]}
    assert flags["pro"]["value"] is False and all("variant" in flag for flag in flags.values())
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        assert bulk(service, context(customer), **{"if-none-match": known}) == (304, tag, None)
    document = service.buy("pro.monthly")["signedTransactionInfo"]
    request = {"app": APP, "customerId": customer, "signedTransaction": document}
    assert service.json("entitled.v1.ReceiptService/SubmitTransaction", request)[0] == 200
    status, changed, answer = bulk(service, context(customer), **{"if-none-match": tag})
    assert (status, changed != tag) == (200, True)
    assert {flag["key"]: flag["value"] for flag in answer["flags"]}["pro"] is True


@pytest.fixture
def guarded(start, tmp_path):
    callers = caller("reader", "read") + caller("submitter", "submit") + caller("half", "read", apps=[APP])
    callers += caller("slow", "read", rate_limit={"per_second": 1, "burst": 1})
    (tmp_path / "entitled.yaml").write_text(f"{APPS}callers:\n{callers}")
    return start(arguments=["--config", tmp_path / "entitled.yaml"])


def test_flags_need_the_role_read_and_access_to_the_app(guarded):
    def evaluate(name, **members):
        headers = {"authorization": f"Bearer {token(name)}"} if name else {}
        return post(f"http://{guarded.http}{FLAGS}/pro", context("ana", **members), headers)

    assert evaluate(None, app=APP)[0] == 401
    assert evaluate("submitter", app=APP)[0] == 403
    assert [evaluate("half", app=app)[0] for app in (APP, OTHER)] == [200, 403]
    assert [evaluate("reader", app=app)[0] for app in (APP, OTHER)] == [200, 200]
    status, answer = evaluate("reader")
    assert (status, answer["errorCode"]) == (400, "INVALID_CONTEXT"), "there are two apps, and none is named"
    assert APP in answer["errorDetails"] and OTHER in answer["errorDetails"]
    # A caller of one app needs not name it, and learns of no other.
    assert evaluate("half")[0] == 200
    for app in (OTHER, "x"):
        status, answer = evaluate("half", app=app)
        assert status == 403 and (app == OTHER or OTHER not in json.dumps(answer))
    status, answer = evaluate("reader", app="x")
    assert (status, answer["errorCode"], answer["reason"]) == (400, "INVALID_CONTEXT", "UNKNOWN_APP")


def test_the_provider_waits_after_too_many_requests(guarded):
    bearer = {"authorization": f"Bearer {token('slow')}"}
    provider = OFREPProvider(f"http://{guarded.http}", headers_factory=lambda: bearer)
    found = EvaluationContext("ana", {"app": APP})
    with pytest.raises(GeneralError, match="Rate limited, retry after: [1-9]"):
        for _ in range(100):
            provider.resolve_boolean_details("pro", False, found)
    assert provider.retry_after


def test_the_provider_reports_a_missing_token(guarded):
    with pytest.raises(OpenFeatureError) as raised:
        OFREPProvider(f"http://{guarded.http}").resolve_boolean_details("pro", False, EvaluationContext("ana"))
    assert (raised.value.error_code, raised.value.error_message) == (ErrorCode.GENERAL, "unauthorized")
