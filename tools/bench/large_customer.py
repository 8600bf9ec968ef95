"""A service with a customer who has thousands of transactions, for `large-customers` and `expensive-calls`."""

import http.client
import json

from posting import APP, CONFIGURATION

PRODUCTS = """      shells.100: {type: Consumable}
    customer_from_app_account_token: true
"""


def configuration(folder, more=""):
    """The configuration of `ingest` with a consumable, customers named by their tokens, and `more`."""
    file = folder / "large.yaml"
    head, roots = CONFIGURATION.split("trusted_roots:")
    file.write_text(f"{head}{PRODUCTS}trusted_roots:{roots}{more}")
    return file


def token(customer):
    """The customer id of the ingest program's customer with this number."""
    return f"00000000-0000-4000-8000-{customer:012d}"


class Calls:
    """JSON calls over one connection."""

    def __init__(self, port, authorization=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.headers = {"content-type": "application/json"} | ({"authorization": authorization} if authorization else {})

    def call(self, method, **request):
        """The body of the response, which must be a success."""
        body = json.dumps({"app": APP, **request})
        self.connection.request("POST", f"/entitled.v1.EntitlementService/{method}", body, self.headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise SystemExit(f"{method}: {response.status} {answer[:300]}")
        return answer
