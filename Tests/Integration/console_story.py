"""A service with its console and a customer with a history, for tests of the pages and for their pictures."""

import datetime
import re
import time
import urllib.parse

from harness import CALL_LIMIT, Service, post

APP = "ocean"
CUSTOMER = "ada@4711"
CHARTS = ["mrr", "active", "revenue", "retention", "trials", "billing", "churn", "ltv", "storefronts", "paid-years"]
TOKEN = "7c1d8f3e-0a41-4f6f-9a55-0e5f6c0a1b22"
CONFIGURATION = """apps:
  ocean:
    bundle_id: com.example.ocean
    apple_id: 1
    environments: [Sandbox, Production]
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: [pro], period: P1M, price: 4.99, currency: USD}
      studio.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro, studio], period: P1M, price: 12.99, currency: USD}
      maps.pack: {type: Non-Consumable, entitlements: [maps], price: 9.99, currency: USD}
      shells.100: {type: Consumable, price: 0.99, currency: USD}
    webhooks:
      billing: {url: "http://127.0.0.1:9/hooks", secret: {variable: BILLING_SECRET}, retry_seconds: [1]}
"""
LINK = re.compile(r"^console=(\S+)$", re.M)


class Console:
    """A running service with a console on a free port."""

    # Of the calls of the test itself.
    headers = {}

    def __init__(self, folder, configuration=CONFIGURATION, arguments=(), address="127.0.0.1:0"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "entitled.yaml").write_text(configuration.replace(
            "{variable: BILLING_SECRET}", "{file: billing.whsec}"), encoding="utf-8")
        secret = folder / "billing.whsec"
        secret.write_text("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\n", encoding="utf-8")
        secret.chmod(0o600)
        self.folder = folder
        self.service = Service(
            folder / "data", ["--config", folder / "entitled.yaml", "--console", address, *arguments])
        found = self._announcement()
        self.link = found if found.startswith("http://") else None
        self.address = urllib.parse.urlsplit(self.link).netloc if self.link else None
        self.url = f"http://{self.address}"

    def _announcement(self):
        """The link of the line `console=`, or the address without a link. It follows the line that Service waits for."""
        deadline = time.monotonic() + CALL_LIMIT
        while not (found := LINK.search(self.service.log)):
            assert time.monotonic() < deadline, self.service.log
            time.sleep(0.02)
        return found[1]

    def new_link(self):
        """Another one-time link, from the command."""
        from harness import environment, run

        done = run(
            "console", "--console", self.address, "--data", self.folder / "data",
            "--config", self.folder / "entitled.yaml", env=environment())
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def act(self, action, **members):
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, (action, answer)
        return answer

    def advance(self, by):
        self.act("clock/advance", by=by)

    def call(self, method, **request):
        status, answer = self.service.json(f"entitled.v1.{method}", {"app": APP, **request}, **self.headers)
        assert status == 200, (method, answer)
        return answer

    def buy(self, account, product, **more):
        return self.act("purchases", app=APP, productId=product, account=account, **more)

    def submit(self, customer, purchase):
        return self.call("ReceiptService/SubmitTransaction", customerId=customer,
                         signedTransaction=purchase["signedTransactionInfo"])


def tell(console, at_new_year=False):
    """The story of one customer: a failed payment, an upgrade, a refund, a grant, a refused claim, and another failure.

    With `at_new_year`, it begins on 5 January of the next year, so that pictures of it differ in digits only."""
    service = console.service
    if at_new_year:
        year = datetime.datetime.now(datetime.UTC).year + 1
        console.act("clock/advance", to=f"{year}-01-05T09:07:00Z")
    console.act("notification-url", app=APP, url=f"http://{service.http}/notifications/{APP}")
    console.act("renewal-timing", chargeLead="0s", failureDelay="0s", staleFailures=0)
    console.act("grace-period", app=APP, days=16)
    pro = console.buy("ada", "pro.monthly", appAccountToken=TOKEN)
    console.submit(CUSTOMER, pro)
    console.advance("35d")
    console.act("billing", account="ada", fails=True)
    console.advance("50d")
    console.act("billing", account="ada", fails=False)
    console.advance("12d")
    maps = console.buy("ada", "maps.pack", appAccountToken=TOKEN)
    console.submit(CUSTOMER, maps)
    console.advance("9d")
    console.submit(CUSTOMER, console.buy("ada", "studio.monthly", appAccountToken=TOKEN))
    console.advance("35d")
    console.act("request-consumption", transactionId=maps["transactionId"], reason="UNINTENDED_PURCHASE")
    console.advance("2d")
    console.act("refund", transactionId=maps["transactionId"])
    console.advance("4d")
    console.call("EntitlementService/Grant", customerId=CUSTOMER, entitlement="maps", accessLevel="ACCESS_LEVEL_FULL",
                 until=after(console, 7), note="sorry for the trouble", actor="lena@example.com")
    refused = console.service.json("entitled.v1.ReceiptService/SubmitTransaction", {
        "app": APP, "customerId": "mallory", "signedTransaction": pro["signedTransactionInfo"]}, **console.headers)
    assert refused[0] != 200, refused
    console.call("EntitlementService/MergeCustomers", fromCustomerId="anon-81", intoCustomerId=CUSTOMER,
                 note="signed in", actor="lena@example.com")
    console.submit(CUSTOMER, console.buy("ada", "shells.100", appAccountToken=TOKEN))
    console.advance("14d")
    console.act("billing", account="ada", fails=True)
    console.advance("8d")
    console.call("CustomerService/AddNote", customerId=CUSTOMER, text="Wrote twice about maps.", actor="lena@example.com")
    console.call("CustomerService/SetCustomerAttributes", customerId=CUSTOMER,
                 attributes=[{"name": "crm", "value": "CRM-8812"}], actor="lena@example.com")
    unclaimed = console.buy("eve", "pro.monthly")
    console.submit("", unclaimed)
    asked = console.buy("bob", "maps.pack")
    console.submit("bob", asked)
    console.act("request-consumption", transactionId=asked["transactionId"])
    console.advance("1h")
    return {"pro": pro, "maps": maps, "asked": asked, "unclaimed": unclaimed}


def after(console, days):
    """The time of the sandbox some days from now."""
    now = console.call("CustomerService/DescribeCustomer", customerId=CUSTOMER)["evaluatedAt"]
    moment = datetime.datetime.fromisoformat(now.replace("Z", "+00:00")) + datetime.timedelta(days=days)
    return moment.isoformat().replace("+00:00", "Z")


def report(console, name, first, last, **more):
    """The answer of QueryReport for the days from the first to before the last one."""
    query = {"report": name, "startTime": f"{first}T00:00:00Z", "endTime": f"{last}T00:00:00Z", "granularity": "REPORT_GRANULARITY_MONTH"}
    return console.call("ReportService/QueryReport", environment="ENVIRONMENT_SANDBOX", query=query | more)


def wait_for_reports(console):
    """Waits until the worker has posted the whole story, and returns the month in which it began, such as 2027-01."""
    now = datetime.datetime.fromisoformat(
        console.call("CustomerService/DescribeCustomer", customerId=CUSTOMER)["evaluatedAt"].replace("Z", "+00:00"))
    first, last = (now - datetime.timedelta(days=400)).date(), (now + datetime.timedelta(days=1)).date()
    deadline, seen = time.monotonic() + CALL_LIMIT * 3, None
    while True:
        rows = report(console, "revenue", first, last).get("rows", [])
        # The last purchase of the story, and no change since the last look.
        if rows and rows == seen and any(row["bucket"].startswith(now.isoformat()[:7]) for row in rows):
            return rows[0]["bucket"][:7]
        assert time.monotonic() < deadline, rows
        seen = rows
        time.sleep(0.5)
