"""Requests that schemathesis generates from the OpenAPI document, and what is wrong with their responses.

Imported by the test that uses it, because schemathesis takes seconds to load in each worker.
"""

import os

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from harness import CALL_LIMIT

# Requests to each operation. `make test-long` sets more.
EXAMPLES = int(os.environ.get("ENTITLED_OPENAPI_EXAMPLES", "2"))
REASONED = {501, 503, 504}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@schemathesis.serializer("application/proto")
def as_bytes(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()


def operations(document, url):
    """All operations of the document of the service at a URL."""
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=url)
    return [result.ok() for result in schema.get_all_operations()]


def failures_of(operation, mode):
    """The failures of generated requests to one operation; the mode is `positive` or `negative`."""
    found = []

    @seed(1)
    @settings(max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
    def run(case):
        response = case.call(timeout=CALL_LIMIT)
        try:
            # A 5xx needs a reason, and only some codes may have one; `not_a_server_error` would refuse these too.
            if response.status_code in REASONED:
                answer = response.json()
                reason = answer.get("reason") or answer["details"][0]["debug"]["reason"]
                assert reason
            else:
                case.validate_response(response, checks=CHECKS)
        except (Failure, AssertionError, KeyError, BaseExceptionGroup) as failure:
            found.append(f"{case.as_curl_command()}\n{response.status_code} {response.text[:500]}\n{failure!r:.800}")

    try:
        run()
    except Unsatisfiable:
        pass  # an operation without parameters has no invalid request
    return found
