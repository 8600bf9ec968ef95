"""Every RPC of the contract has a command, and every command has `--json`, help in one style, and an answer for an
empty list. A new RPC without a command fails here."""

import contextlib
import datetime
import importlib
import json
import re
import subprocess
import urllib.request
import uuid

import pytest

import contract
from certificates import write_key
from harness import Service, command_tree, environment, post, run, wait_for
from receiver import Receiver
from test_sandbox_api import PNG

APP = "ocean-journal"
# RPCs that only programs call, and why.
PROGRAMS_ONLY = {
    "EntitlementService/BatchCheck": "a person asks one question at a time: entitled check",
    "ReceiptService/MigrateReceipts": "a stream for programs; people start a job: entitled migrate",
}
# Commands that make no call, so their JSON is tested elsewhere or makes no sense.
WITHOUT_JSON = {
    "serve": "runs until a signal; its ready line is for programs",
    "sandbox serve": "runs until a signal; its ready line is for programs",
    "completion": "prints a script",
    "console": "prints one link",
    "help": "is the parser's own",
    "store seed": "is hidden, for benchmarks",
}
CONFIGURATION = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox]
    in_app_purchase_key: {{file: key.p8, key_id: ABCDE12345, issuer_id: 57246542-96fe-1a63-e053-0824d011072a}}
    device_check: {{trial_once_per_device: bit1}}
    status_polling: false
    gap_repair: false
    webhooks:
      hook: {{url: "{hook}", secret: {{file: hook.secret}}}}
    products:
      pro.monthly:
        {{type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro], period: P1M, price: 4.99, currency: USD}}
      lifetime: {{type: Non-Consumable, entitlements: [pro], price: 99.99, currency: USD}}
      shells.100: {{type: Consumable, price: 0.99, currency: USD}}
tokens: {{issuer: "https://entitled.example.com", keys: tokens}}
"""

OWN = """
apps:
  lake-journal:
    bundle_id: com.example.lake
    apple_id: 7
    environments: [Production, Sandbox]
    products:
      coins: {type: Consumable, price: 0.99, currency: USD}
      always: {type: Non-Consumable, entitlements: [vip], price: 99.99, currency: USD}
      gold: {type: Auto-Renewable Subscription, group: all, entitlements: [vip], period: P1M, price: 5, currency: USD}
"""


def methods():
    """The RPCs of the contract, as Service/Method."""
    for path in sorted((contract.ROOT / "proto/entitled/v1").glob("*_service.proto")):
        file = importlib.import_module(f"entitled.v1.{path.stem}_pb2").DESCRIPTOR
        for service in file.services_by_name.values():
            yield from (f"{service.name}/{method.name}" for method in service.methods)


class Caller:
    """Runs commands against a service with data, and reads which RPCs they called."""

    def __init__(self, service, folder, receiver):
        self.service, self.folder, self.receiver = service, folder, receiver
        self.seen = set()

    def act(self, action, **members):
        status, answer = post(f"http://{self.service.sandbox}/sandbox/v1/{action}", members)
        assert status == 200, answer
        return answer

    def jws(self, product, **more):
        answer = self.service.buy(product, **more)
        return answer["signedTransactionInfo"], answer["originalTransactionId"]

    def submit(self, customer, product, **more):
        jws, number = self.jws(product, **more)
        assert self.service.command("submit", customer, jws).returncode == 0
        return number

    def calls(self):
        """The number of calls of each RPC so far."""
        with urllib.request.urlopen(f"http://{self.service.http}/metrics") as page:
            text = page.read().decode()
        found = re.findall(r'entitled_grpc_calls_total\{[^}]*method="/?entitled\.v1\.(\w+/\w+)"[^}]*\} (\d+)', text)
        counts = {}
        for name, count in found:
            counts[name] = counts.get(name, 0) + int(count)
        return counts

    def run(self, *arguments, stdin=None):
        """Runs a command with --json; returns its exit status and its documents."""
        done = self.service.command(*arguments, "--json", stdin=stdin)
        assert "Usage:" not in done.stderr and "unexpected argument" not in done.stderr, done.stderr
        return done.returncode, documents(done.stdout), done.stderr


def documents(text):
    """The JSON documents that a command printed, one after the other."""
    decoder, found, text = json.JSONDecoder(), [], text.strip()
    while text:
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:].lstrip()
    return found


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    receiver = Receiver(answer=lambda request: 500)
    write_key(folder / "key.p8")
    (folder / "tokens").mkdir()
    write_key(folder / "tokens" / "one.pem")
    (folder / "hook.secret").write_text("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n")
    (folder / "hook.secret").chmod(0o600)
    (folder / "entitled.yaml").write_text(CONFIGURATION.format(hook=receiver.url))
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    caller = Caller(service, folder, receiver)
    caller.act("notification-url", app=APP, url=f"http://{service.http}/notifications/{APP}")
    yield caller
    service.stop()
    receiver.close()


def receipt(caller):
    return caller.act("documents/app-receipt", app=APP, productId="lifetime")["document"]


def notification(caller):
    return json.dumps({"signedPayload": caller.act("documents/notification", app=APP, productId="lifetime")["document"]})


def commands(caller):
    """The command of each RPC, with the exit statuses that show that it did its work. A status of 1 is Apple's or the
    service's refusal of this example, for commands that need more than the sandbox's data."""
    token = str(uuid.uuid4())
    caller.service.command("segment", "create", "everyone")
    purchase = caller.submit("ada", "pro.monthly")
    caller.submit("bob", "lifetime")
    caller.submit("zoe", "lifetime")
    shells = caller.submit("ada", "shells.100")
    waiting = caller.jws("lifetime")[0]
    unclaimed = json.loads(caller.service.command("submit", "", waiting, "--json").stdout)
    unclaimed = unclaimed["transaction"]["originalTransactionId"]
    grant = json.loads(caller.service.command("grants", "create", "ada", "pro", "--json").stdout)
    note = json.loads(caller.service.command("notes", "add", "ada", "hello", "--json").stdout)["note"]["noteId"]
    lines = caller.folder / "in.ndjson"
    lines.write_text(json.dumps({"customer_id": "mia", "receipt": receipt(caller)}) + "\n"
                     + json.dumps({"customer_id": "max", "receipt": "?"}) + "\n")  # fmt: skip
    caller.service.command("migrate", "--input", lines, "--failures", caller.folder / "failed")
    job = json.loads(caller.service.command("migrate", "list", "--json").stdout)["migrations"][0]["migrationId"]
    test = json.loads(caller.service.command("notifications", "test", "--json").stdout)["testNotificationToken"]
    moved = json.loads(caller.service.command("transfer", purchase, "ada", "dan", "--json").stdout)["transferId"]
    (caller.folder / "more.ndjson").write_text(lines.read_text())
    two = [caller.jws("lifetime")[0], caller.jws("shells.100")[0]]
    today = datetime.datetime.now(datetime.UTC).date()
    # Long enough to contain the purchases, also if a day of UTC begins while the test runs.
    dates = ["--from", str(today - datetime.timedelta(days=30)), "--to", str(today + datetime.timedelta(days=1))]
    # The last day that is over in Apple's time zone too.
    day = today - datetime.timedelta(days=2)
    sales = caller.folder / f"sales-{day}.txt.gz"
    with urllib.request.urlopen(f"http://{caller.service.sandbox}/sandbox/v1/reports/sales?date={day}") as answer:
        sales.write_bytes(answer.read())
    image, message, report = (str(uuid.uuid4()) for _ in range(3))
    picture = caller.folder / "picture.png"
    picture.write_bytes(PNG)
    return {
        "AppStoreService/GetRefundHistory": (["apple", "refunds", purchase], {0}),
        "AppStoreService/LookUpOrder": (["apple", "order", "MK5TTTVWJH"], {0, 1, 3}),
        "AppStoreService/RefreshPurchase": (["apple", "refresh", purchase], {0}),
        "AppStoreService/GetTransactionInfo": (["apple", "transaction", purchase], {0}),
        "AppStoreService/GetAppTransactionInfo": (["apple", "app-transaction", purchase, "--customer", "ada"], {0}),
        "AppStoreService/FinishTransaction": (["apple", "finish", shells], {0}),
        "AppStoreService/GetCustomerGroups": (["apple", "groups", purchase], {0}),
        "AppStoreService/ListGroupMembers": (["apple", "group-members", "900000000000000000"], {0, 1}),
        "AppStoreService/GetSeatInfo": (["apple", "seats", purchase], {0, 1}),
        "AppStoreService/SendAdvancedCommerceRequest": (["apple", "advanced-commerce", purchase, "cancel"], {0}),
        "AppStoreService/ListExternalPurchaseTokens": (["apple", "external-tokens", "--all"], {0}),
        "AppStoreService/ListConsentWithdrawals": (["apple", "withdrawn-consents", "--all"], {0}),
        "AppStoreService/SettleConsentWithdrawal": (["apple", "settle-consent", "1", "--note", "none"], {1}),
        "AppStoreService/SendExternalPurchaseReport": (
            ["apple", "report-external", '{"externalPurchaseId": "SANDBOX_1", "status": "NO_LINE_ITEM"}',
             "--request", report], {0}),
        "AppStoreService/GetExternalPurchaseReport": (["apple", "show-external", report], {0}),
        "AppStoreService/SendConsumptionInformationV1": (
            ["consumption", "answer-v1", shells, "--consented", "--delivery", "0"], {0}),
        "RetentionMessagingService/UploadRetentionImage": (["retention", "upload-image", image, f"@{picture}"], {0}),
        "RetentionMessagingService/GetRetentionImages": (["retention", "images"], {0}),
        "RetentionMessagingService/UploadRetentionMessage": (
            ["retention", "upload-message", message, "--header", "Stay", "--text", "There is more to come"], {0}),
        "RetentionMessagingService/GetRetentionMessages": (["retention", "messages"], {0}),
        "RetentionMessagingService/SetDefaultRetentionMessage": (
            ["retention", "set-default", "pro.monthly", "en-US", message], {0}),
        "RetentionMessagingService/GetDefaultRetentionMessage": (["retention", "default", "pro.monthly", "en-US"], {0}),
        "RetentionMessagingService/DeleteDefaultRetentionMessage": (
            ["retention", "delete-default", "pro.monthly", "en-US"], {0}),
        "RetentionMessagingService/SetRetentionUrl": (["retention", "set-url", "https://127.0.0.1:1/retention"], {0}),
        "RetentionMessagingService/GetRetentionUrl": (["retention", "url"], {0}),
        "RetentionMessagingService/StartRetentionPerformanceTest": (["retention", "test", purchase], {0}),
        "RetentionMessagingService/GetRetentionPerformanceTest": (
            ["retention", "test-result", str(uuid.uuid4())], {1}),
        "RetentionMessagingService/DeleteRetentionUrl": (["retention", "delete-url"], {0}),
        "RetentionMessagingService/DeleteRetentionMessage": (["retention", "delete-message", message], {0}),
        "RetentionMessagingService/DeleteRetentionImage": (["retention", "delete-image", image], {0}),
        "RetentionMessagingService/ListRetentionRequests": (["retention", "requests", "--outcome", "left"], {0}),
        "RetentionMessagingService/GetRetentionReport": (["retention", "report", "--from", "2026-01-01"], {0}),
        "DeviceCheckService/ValidateDeviceToken": (["device-check", "validate", "cGhvbmU="], {0}),
        "DeviceCheckService/QueryDeviceBits": (["device-check", "bits", "cGhvbmU="], {0}),
        "DeviceCheckService/UpdateDeviceBits": (["device-check", "set-bits", "cGhvbmU=", "--bit0", "true"], {0}),
        "DeviceCheckService/GetDeviceTrial": (["device-check", "trial", "cGhvbmU="], {0, 3}),
        "DeviceCheckService/UseDeviceTrial": (["device-check", "use-trial", "cGhvbmU=", "--customer", "ada"], {0}),
        "AppStoreService/ExtendRenewalDate": (["apple", "extend", purchase, "3", "--reason", "service-issue"], {0}),
        "AppStoreService/MassExtendRenewalDate": (["apple", "mass-extend", "pro.monthly", "3"], {0}),
        "AppStoreService/GetMassExtensionStatus": (
            ["apple", "mass-extension", "pro.monthly", str(uuid.uuid4())], {0, 1}),
        "AppStoreService/SetAppAccountToken": (["apple", "account-token", purchase, token], {0, 1}),
        "AppStoreService/SendConsumptionInformation": (
            ["consumption", "answer", shells, "--consented", "--delivery", "delivered", "--refund", "decline"], {0, 1}),
        "AppStoreService/ListConsumptionRequests": (["consumption", "list"], {0}),
        "AppStoreService/SetConsumptionConsent": (["consumption", "consent", "ada"], {0}),
        "NotificationService/GetTestNotificationStatus": (["notifications", "test-status", test], {0, 1}),
        "AppStoreService/ListSeats": (["seats", "list", purchase], {0, 1}),
        "AppStoreService/ClaimSeat": (["seats", "claim", purchase, "eva"], {0, 1}),
        "AppStoreService/AssociateSeat": (["seats", "associate", purchase, "seat-1", "eva"], {0, 1}),
        "AppStoreService/UnclaimSeat": (["seats", "unclaim", purchase, "seat-1"], {0, 1}),
        "AuditService/ListAuditEntries": (["audit"], {0}),
        "CatalogService/GetCatalog": (["catalog"], {0}),
        "CustomerService/FindCustomers": (["find", "ada"], {0}),
        "CustomerService/DescribeCustomer": (["describe", "ada"], {0}),
        "CustomerService/GetPurchase": (["purchase", purchase], {0}),
        "CustomerService/GetCustomerHistory": (["history", "ada", "--from", "2026-01-01"], {0}),
        "CustomerService/GetEvidence": (["evidence", "1"], {0}),
        "CustomerService/GetEvent": (["event", "1"], {0}),
        "CustomerService/AddNote": (["notes", "add", "ada", "hello"], {0}),
        "CustomerService/ListNotes": (["notes", "list", "ada"], {0}),
        "CustomerService/DeleteNote": (["notes", "delete", note], {0}),
        "CustomerService/SetCustomerAttributes": (["attributes", "ada", "plan=gold"], {0}),
        "CustomerService/GetCustomerAttributes": (["attributes", "ada"], {0}),
        "CustomerService/ListContradictions": (["contradictions"], {0}),
        "EntitlementService/Check": (["check", "ada", "pro"], {0, 3}),
        "EntitlementService/GetCustomer": (["customer", "ada"], {0}),
        "EntitlementService/Explain": (["explain", "ada", "pro", "--as-of", "2026-01-31"], {0}),
        "EntitlementService/Watch": (["watch", "--from-beginning", "--count", "1"], {0}),
        "EntitlementService/ListTimeline": (["timeline", "ada"], {0}),
        "EntitlementService/LinkPurchase": (["link", "eva", unclaimed], {0}),
        "EntitlementService/RegisterAppAccountToken": (["claims", "register", "ida", token], {0}),
        "EntitlementService/MergeCustomers": (["merge", "bob", "ben"], {0}),
        "EntitlementService/TransferPurchase": (["transfer", unclaimed, "eva", "gil"], {0}),
        "EntitlementService/UndoTransfer": (["undo", moved], {0}),
        "EntitlementService/ListUnclaimedPurchases": (["claims", "list"], {0}),
        "EntitlementService/ListUnfulfilledPurchases": (["fulfillment", "list"], {0}),
        "EntitlementService/AcknowledgeFulfillment": (["fulfillment", "acknowledge", shells, "delivery-1"], {0}),
        "EntitlementService/GetProbableFamily": (["family", "ada"], {0}),
        "EntitlementService/Grant": (["grants", "create", "ada", "pro", "--until", str(today + datetime.timedelta(days=60))], {0}),
        "EntitlementService/RevokeGrant": (["grants", "revoke", grant["grant"]["grantId"]], {0}),
        "EntitlementService/ListGrants": (["grants", "list", "ada"], {0}),
        "EntitlementService/IssueToken": (["token", "issue", "ada"], {0}),
        "EntitlementService/EraseCustomer": (["erase", "zoe", "--yes"], {0}),
        "ReportService/ListReports": (["report"], {0}),
        "ReportService/QueryReport": (["report", "movements", *dates], {0}),
        "ReportService/ExportReport": (["report", "revenue", *dates, "--ndjson"], {0}),
        "ReportService/ListPostings": (["export", str(caller.folder / "warehouse")], {0}),
        "ReportService/ListReportPurchases": (["report", "movements", *dates, "--behind", "started_paid"], {0}),
        "ReportService/RecordReconciliation": (["reconcile", "--record", str(sales)], {0}),
        "ReportService/GetReconciliation": (["report", "--reconciliation", *dates], {0}),
        "NotificationService/IngestNotification": (["notifications", "submit", notification(caller)], {0}),
        "NotificationService/ListNotifications": (["notifications", "list"], {0}),
        "NotificationService/ReprocessNotifications": (["notifications", "reprocess"], {0}),
        "NotificationService/BackfillNotifications": (["notifications", "backfill"], {0}),
        "NotificationService/ListRepairs": (["notifications", "repairs"], {0}),
        "NotificationService/GetDriftReport": (["notifications", "drift"], {0}),
        "NotificationService/RequestTestNotification": (["notifications", "test"], {0}),
        "NotificationService/CompareNotificationVersions": (["notifications", "compare-versions"], {0, 3}),
        "ReceiptService/SubmitTransaction": (["submit", "ada", two[0]], {0}),
        "ReceiptService/SubmitTransactions": (["submit", "kim", *(caller.jws("lifetime")[0] for _ in range(2))], {0}),
        "ReceiptService/SubmitReceipt": (["submit-receipt", "lea", receipt(caller)], {0}),
        "ReceiptService/Inspect": (["inspect", two[1]], {0}),
        "ReceiptService/StartMigration": (
            ["migrate", "--input", str(lines), "--force", "--failures", str(caller.folder / "f")], {3}),
        "ReceiptService/UploadMigrationInput": (
            ["migrate", "--input", str(lines), "--dry-run", "--failures", str(caller.folder / "g")], {0, 3}),
        "ReceiptService/GetMigration": (["migrate", "status", job], {0}),
        "ReceiptService/ListMigrations": (["migrate", "list"], {0}),
        "ReceiptService/ListMigrationFailures": (["migrate", "failures", job], {0}),
        "ReceiptService/CompareWithApple": (["migrate", "compare"], {0, 3}),
        "ReceiptService/ListDisagreements": (["import", "disagreements"], {0}),
        "ReceiptService/CancelMigration": (["migrate", "cancel", job], {0}),
        "ReceiptService/PurgeMigration": (["migrate", "purge", job], {0}),
        "ReceiptService/SignOffer": (
            ["sign-offer", "ada", "pro.monthly", "--offer", "stay50", "--skip-eligibility-check"], {0}),
        "StatusService/WhoAmI": (["whoami"], {0}),
        "StatusService/GetStatus": (["status"], {0}),
        "StatusService/GetConfiguration": (["config", "show"], {0}),
        "SegmentService/CreateSegment": (["segment", "create", "renewing", "--state", "active-auto-renew-on"], {0}),
        "SegmentService/ListSegments": (["segment", "list", "--count"], {0}),
        "SegmentService/ListCustomers": (["segment", "customers", "renewing"], {0}),
        "SegmentService/WatchSegment": (["segment", "watch", "everyone", "--from-beginning", "--count", "1"], {0}),
        "SegmentService/DeleteSegment": (["segment", "delete", "renewing"], {0}),
        "WebhookService/ListWebhooks": (["webhooks", "list"], {0}),
        "WebhookService/ListDeliveries": (["webhooks", "deliveries", "hook"], {0}),
        "WebhookService/GetDelivery": (["webhooks", "show", "hook", "1"], {0}),
        "WebhookService/ResendDeliveries": (["webhooks", "resend", "hook", "--from", "1"], {0}),
        "WebhookService/DiscardDeliveries": (["webhooks", "discard", "hook", "--dead-letters"], {0}),
        "WebhookService/ResumeWebhook": (["webhooks", "resume", "hook"], {0, 1}),
    }  # fmt: skip


def test_every_rpc_has_a_command_that_calls_it_and_prints_json(caller):
    expected = set(methods())
    table = commands(caller)
    assert set(table) | set(PROGRAMS_ONLY) == expected, "a new RPC needs a command, or a reason in PROGRAMS_ONLY"
    assert not set(table) & set(PROGRAMS_ONLY)
    faults, before = [], caller.calls()
    for name, (arguments, statuses) in table.items():
        status, printed, errors = caller.run(*arguments)
        if status not in statuses:
            faults.append(f"{name}: {' '.join(arguments)[:80]}: exit status {status}: {errors}")
        elif status == 0 and not printed:
            faults.append(f"{name}: {' '.join(arguments)[:80]}: no JSON")
    assert not faults, "\n".join(faults)

    def called():
        counts = caller.calls()
        return {name for name in table if counts.get(name, 0) > before.get(name, 0)}

    # A stream is counted shortly after its end.
    with contextlib.suppress(AssertionError):
        wait_for(lambda: called() == set(table))
    assert called() == set(table)


def test_the_document_of_commands_names_every_rpc_with_its_command_and_role(tree):
    text = (contract.ROOT / "docs" / "commands.md").read_text()
    rows = {name: cells for name, *cells in re.findall(r"^\| `(\w+/\w+)` \| (.*) \| (?:`(\w+)`|any) \|$", text, re.M)}
    assert set(rows) == set(methods())
    known = {name for name, _ in leaves(tree)} | {part["commandName"] for part in tree["subcommands"]}
    for name, (cell, role) in rows.items():
        assert role == contract.role(name), name
        words = re.search(r"`([a-z0-9 -]+?)(?: --input FILE)?`", cell)[1]
        assert words in known, f"{name}: no command '{words}'"


def leaves(command, path=()):
    """The commands without subcommands, with the words that name them and their description."""
    parts = [part for part in command.get("subcommands", ()) if part["commandName"] != "help"]
    if not parts:
        yield " ".join(path), command
    for part in parts:
        yield from leaves(part, (*path, part["commandName"]))


@pytest.fixture(scope="module")
def tree():
    return command_tree()


def names(command):
    return {name["name"] for argument in command.get("arguments", ()) for name in argument.get("names") or ()}


def test_every_command_has_json_output(tree):
    found = dict(leaves(tree))
    assert {name for name, command in found.items() if "json" not in names(command)} <= set(WITHOUT_JSON)


def test_every_command_about_one_app_has_the_option_app(tree):
    # No app: the whole service, or files of this machine.
    general = {"status", "whoami", "health", "config show", "doctor", "conformance"}
    for name, command in leaves(tree):
        if "grpc" in names(command) and name not in general | {"serve"}:
            assert "app" in names(command), name


def test_the_help_of_every_command_is_one_sentence_of_at_most_60_characters(tree):
    for name, command in leaves(tree):
        abstract = command["abstract"]
        assert abstract.endswith(".") and "(default)" not in abstract and len(abstract) <= 60, f"{name}: {abstract}"


def test_the_help_of_an_end_that_includes_a_day_says_so(tree):
    ends = [
        (name, argument["abstract"]) for name, command in leaves(tree) for argument in command.get("arguments", ())
        if {"to", "until"} & names({"arguments": [argument]}) and "RFC 3339" in argument["abstract"]]  # fmt: skip
    assert len(ends) > 5 and not [end for end in ends if not re.search(r"RFC 3339, or (the|their) last day ", end[1])]


def test_the_help_of_every_option_has_its_default_once(tree):
    """The parser appends a default that it knows."""
    for name, command in leaves(tree):
        for argument in command.get("arguments", ()):
            if argument.get("defaultValue"):
                assert "(default" not in argument.get("abstract", ""), f"{name}: {argument['abstract']}"


def described(command, path=()):
    """The commands with their words, those with subcommands too."""
    yield path, command
    for part in command.get("subcommands", ()):
        if part["commandName"] != "help":
            yield from described(part, (*path, part["commandName"]))


def test_the_documents_name_commands_and_options_that_exist(tree):
    """A command in a document begins with `entitled` after a backtick, a prompt or a shell's sign."""
    known = dict(described(tree))
    pages = [*contract.ROOT.glob("*.md"), *(page for name in ("docs", "deploy", "clients", "conformance")
             for page in (contract.ROOT / name).rglob("*.md"))]  # fmt: skip
    faults, count = [], 0
    for page in pages:
        text = re.sub(r"\\\n\s*", " ", page.read_text(encoding="utf-8"))
        for found in re.findall(r"(?:[`;(]|\$ |\| )entitled ([a-z][a-z0-9-]*(?: [^`\n]*)?)", text):
            words, path = re.split(r"[|;&>`]| #|\$\(", found)[0].split(), ()
            while words and (*path, words[0]) in known:
                path = (*path, words.pop(0))
            if not path:
                faults.append(f"{page.name}: no command '{found}'")
                continue
            count += 1
            subcommands = known[path].get("subcommands", ())
            options = names(known[path]).union(*map(names, subcommands)) | {"help", "version"}
            named = [word[2:].split("=")[0] for word in words if word.startswith("--")]
            faults += [f"{page.name}: no option '--{name}' in '{found}'" for name in named if name not in options]
    assert not faults, "\n".join(faults)
    assert count > 300


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "--limit", "0"), ("watch", "--count", "0"), ("segment", "customers", "--limit", "0"),
        ("segment", "watch", "trial", "--count", "0"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_number_of_rows_is_positive(arguments):
    done = run(*arguments)
    assert done.returncode == 64
    assert f"{arguments[-2]} takes a positive number" in done.stderr


EMPTY = [
    ["grants", "list", "unknown-1"], ["notes", "list", "unknown-1"], ["attributes", "unknown-1"],
    ["timeline", "unknown-1"], ["claims", "list"], ["fulfillment", "list"], ["consumption", "list"],
    ["notifications", "list"], ["notifications", "repairs"], ["notifications", "compare-versions"],
    ["migrate", "list"], ["webhooks", "list"], ["find", "unknown-1"], ["family", "unknown-1"],
    ["report", "mrr", "--from", "2020-01-01", "--to", "2020-01-02"], ["audit", "--method", "NoSuchMethod"],
    ["contradictions"], ["segment", "list"], ["apple", "external-tokens"], ["apple", "withdrawn-consents"],
    ["retention", "requests"], ["import", "disagreements"],
]  # fmt: skip


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("empty") / "data")
    yield service
    service.stop()


@pytest.mark.parametrize("arguments", EMPTY, ids=" ".join)
def test_an_empty_list_says_so_and_is_an_empty_list_in_json(empty, arguments):
    done = empty.command(*arguments)
    assert done.returncode == 0, done.stderr
    assert re.match(r"no(thing)? ", done.stdout), done.stdout
    (document,) = documents(empty.command(*arguments, "--json").stdout)
    assert any(value == [] for value in document.values()), document


def test_without_the_option_the_only_app_of_the_server_is_used(empty, start, tmp_path):
    assert empty.command("check", "ada", "pro").returncode == 3
    sea = "  sea:\n    bundle_id: com.example.sea\n    environments: [Sandbox]\n    products: {one: {type: Consumable}}\n"
    (tmp_path / "two.yaml").write_text(OWN + sea)
    service = start(arguments=["--config", tmp_path / "two.yaml"])
    failed = service.command("customer", "ada")
    assert (failed.returncode, failed.stderr.count("\n")) == (64, 1)
    assert "lake-journal, sea" in failed.stderr and "--app" in failed.stderr
    env = environment() | {"ENTITLED_GRPC": service.grpc, "ENTITLED_APP": "sea"}
    assert "sea" not in run("customer", "ada", env=env).stderr


def test_a_date_stands_for_a_day_in_utc(caller):
    granted = caller.run("grants", "create", "day", "pro", "--since", "2026-01-31", "--until", "2027-01-31")[1][0]
    assert granted["grant"]["since"] == "2026-01-31T00:00:00Z"
    assert granted["grant"]["until"] == "2027-02-01T00:00:00Z", "the last day counts"
    failed = caller.service.command("grants", "create", "day", "pro", "--until", "31.1.2027")
    assert failed.returncode == 64 and "2026-01-31" in failed.stderr
    failed = caller.service.command("grants", "create", "day", "pro", "--until", "2027-02-31")
    assert failed.returncode == 64


def test_several_transactions_are_submitted_in_one_call(caller):
    good = caller.jws("lifetime")[0]
    done = caller.service.command("submit", "una", good, good[:-4] + "AAAA")
    assert done.returncode == 3 and "rejected: " in done.stdout and "pro " in done.stdout


def test_an_erasure_needs_a_confirmation(caller):
    caller.submit("tom", "lifetime")
    refused = caller.service.command("erase", "tom")
    assert refused.returncode == 64
    assert caller.service.command("erase", "tom", "--dry-run").returncode == 0
    assert caller.service.command("check", "tom", "pro").returncode == 0
    assert caller.service.command("erase", "tom", "--yes").returncode == 0
    assert caller.service.command("check", "tom", "pro").returncode == 3


@pytest.mark.parametrize("shell, marker", [("bash", "complete "), ("zsh", "#compdef entitled"), ("fish", "complete -c")])
def test_completion_prints_a_script_that_the_shell_accepts(tmp_path, shell, marker):
    done = run("completion", shell)
    assert done.returncode == 0 and marker in done.stdout and "compare-versions" in done.stdout
    if shell == "bash":
        script = tmp_path / "entitled"
        script.write_text(done.stdout)
        subprocess.run(["bash", "-n", script], check=True)
        typed = f'source {script}; COMP_WORDS=(entitled webh); COMP_CWORD=1; COMP_LINE="entitled webh"; ' \
                "COMP_POINT=13; _entitled; echo ${COMPREPLY[@]}"
        completed = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, check=True)
        assert "webhooks" in completed.stdout


def test_the_lines_after_the_start_come_from_the_configuration(start, tmp_path):
    (tmp_path / "own.yaml").write_text(OWN)
    service = start(arguments=["--config", tmp_path / "own.yaml"])
    line = next(line for line in service.log.splitlines() if "$entitled sandbox buy" in line)
    assert "buy gold " in line and "pro" not in line.replace("--grpc", "")
    check = next(line for line in service.log.splitlines() if "$entitled check" in line)
    assert "check alice vip --environment Sandbox" in check
    script = "\n".join(
        line.strip() for line in service.log.splitlines()
        if line.startswith("  ") and ("entitled=" in line or "$entitled" in line))
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0 and "entitled     " in done.stdout, done.stderr + done.stdout
