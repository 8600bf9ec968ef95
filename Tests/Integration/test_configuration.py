"""The configuration: output of the check; schema, documentation and program agree on the keys."""

import copy
import functools
import json
import operator
import os
import re

import jsonschema
import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import NoEncryption, PrivateFormat

from certificates import PEM
from harness import ROOT, run

SCHEMA = json.loads((ROOT / "docs" / "configuration.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# One of everything, so that each mapping of the schema occurs once.
HASH = "sha256:" + "0a" * 32
MESSAGE = "5f0c1f0e-6d0a-4d0c-9a43-0d8b6a3f5a01"
RETENTION = {
    "default_message": MESSAGE,
    "offer_pause_days": 90,
    "outcome_days": 5,
    "rules": [
        {
            "name": "half-price",
            "product_ids": ["pro.monthly"],
            "storefronts": ["USA"],
            "locales": ["en"],
            "min_tenure_days": 60,
            "max_tenure_days": 600,
            "min_paid_days": 30,
            "segments": ["retry"],
            "answers": [
                {"weight": 3, "message": MESSAGE, "offer": {"id": "stay_half"}},
                {"weight": 1, "nothing": True},
                {"weight": 1, "message": MESSAGE, "switch_to": {"product": "pro.yearly"}},
            ],
        }
    ],
}
FULL = {
    "apps": {
        "sea": {
            "bundle_id": "com.example.sea",
            "apple_id": 7,
            "environments": ["Sandbox"],
            "operator_grace": {"days": 3, "access": "limited"},
            "bought_before_version": {"version": "3.0", "entitlements": ["pro"]},
            "in_app_purchase_key": {"file": "key.p8", "key_id": "ABCDE12345", "issuer_id": "x"},
            "shared_secret": {"variable": "SECRET"},
            "receipts": {"verify": "both"},
            "device_check": {
                "file": "check.p8", "key_id": "ABCDE12345", "team_id": "TEAM000001", "trial_once_per_device": "bit0",
            },
            "rescind_consent": "end_access",
            "rescind_consent_days": 14,
            "retention_messaging": RETENTION,
            "revenuecat_events": {
                "authorization": {"variable": "REVENUECAT"}, "entitlements": {"premium": "pro"}, "tolerance_seconds": 5,
                "retention_days": 90,
            },
            "reports": {"close_after": "PT3H"},
            "consumption_requests": {"answer": "automatic", "by_reason": {"LEGAL": {"answer": "manual"}}},
            "segments": {"retry": {
                "states": ["BILLING_RETRY"], "min_days_in_state": 5, "in_app_ownership_types": ["PURCHASED"]}},
            "webhooks": {"crm": {"url": "https://crm.example.com/x", "secret": {"variable": "CRM"}}},
            "forward_notifications": {"old": {"url": "https://old.example.com/x"}},
            "products": {
                "pro": {"type": "Non-Consumable", "entitlements": ["pro"]},
                "pro.monthly": {"type": "Auto-Renewable Subscription", "group": "pro", "offers": ["stay_half"]},
                "pro.yearly": {"type": "Auto-Renewable Subscription", "group": "pro", "offers": ["stay_half"]},
            },
        }
    },
    "callers": {"billing": {"roles": ["read"], "tokens": [HASH], "rate_limit": {"per_second": 5}}},
    "limits": {"max_concurrent_streams": 100},
    "listeners": {
        "grpc": {"tls": {"certificate": "c.pem", "key": "k.pem"}},
        "http": {"cleartext": True, "allowed_hosts": ["api.example.com"], "subscriber_api": True},
        "console": {
            "allowed_hosts": ["support.example.com"],
            "identity": {"header": "X-Identity", "issuer": "https://x", "audience": "a", "keys": {"file": "proxy.json"}},
        },
        "sandbox": {"allowed_hosts": ["sandbox.example.com"], "allowed_targets": ["backend.test:8080"]},
    },
    "public_url": "https://entitled.example.com",
    "backup": {"path": "backups", "max_age_hours": 48},
    "erasures": {"list": "erasures", "key": "key"},
    "log": {"format": "json", "level": "debug", "customers": "alias"},
    "retention": {"rejected": 90},
    "store": {"sqlite": {"path": "store"}},
    "token_issuer": {"issuer": "i", "audience": "a", "keys": {"file": "jwks.json"}},
    "tokens": {"issuer": "https://x", "keys": "keys"},
    "traces": {
        "endpoint": "https://collector.example.com/v1/traces", "sample_ratio": 0.5, "follow_parent": False,
        "headers_file": "headers", "service_name": "shop", "max_queued_spans": 1000,
    },
    "trusted_roots": [{"environment": "Sandbox", "certificate": "root.pem"}],
}
# And the alternatives.
POSTGRES = {
    "hosts": ["db1.example.com", "db2.example.com:5433"],
    "database": "entitled",
    "user": "entitled",
    "password_file": "password",
    "tls": {"mode": "verify-full", "root": "root.pem"},
    "pooling": "transaction",
}
WITH_POSTGRES = {**FULL, "store": {"postgres": POSTGRES}}


def check(tmp_path, configuration):
    file = tmp_path / "entitled.yaml"
    text = configuration if isinstance(configuration, str) else yaml.safe_dump(configuration, sort_keys=False)
    file.write_text(text)
    return run("config", "check", file)


def resolved(node):
    while "$ref" in node:
        path = node["$ref"].split("/")[1:]
        node = functools.reduce(operator.getitem, path, SCHEMA)
    return node


def mappings(schema, value, path=()):
    """Every mapping with fixed keys that the schema describes and FULL contains: its path and its schema."""
    schema = resolved(schema)
    for part in schema.get("oneOf", ()):
        if VALIDATOR.evolve(schema=part).is_valid(value):
            yield from mappings(part, value, path)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from mappings(schema.get("items", {}), item, (*path, index))
    if not isinstance(value, dict):
        return
    if "properties" in schema:
        assert schema["additionalProperties"] is False, path
        yield path, schema
    for name, item in value.items():
        inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if isinstance(inner, dict):
            yield from mappings(inner, item, (*path, name))


def described():
    """Every mapping with fixed keys that the schema describes, by its keys."""
    definitions = SCHEMA["$defs"]
    answer = definitions["retentionAnswer"]["properties"]
    inner = [definitions["tokenIssuer"]["properties"]["keys"], definitions["consoleListener"]["properties"]["identity"], answer["switch_to"], answer["offer"]]
    found = [SCHEMA, *definitions.values(), *inner]
    return {tuple(sorted(schema["properties"])) for schema in found if "properties" in schema}


def test_the_schema_and_the_program_have_the_same_keys(tmp_path):
    VALIDATOR.check_schema(SCHEMA)
    seen = set()
    for full, path, schema in [(full, *found) for full in (FULL, WITH_POSTGRES) for found in mappings(SCHEMA, full)]:
        VALIDATOR.validate(full)
        broken = copy.deepcopy(full)
        target = broken
        for part in path:
            target = target[part]
        target["no_such_name"] = 1
        assert not VALIDATOR.is_valid(broken)
        answer = check(tmp_path, broken)
        assert answer.returncode == 1, path
        known = re.search(r"unknown key 'no_such_name'; known: (.*)", answer.stderr)
        assert known, (path, answer.stderr)
        assert set(known[1].split(", ")) == set(schema["properties"]), path
        seen.add(tuple(sorted(schema["properties"])))
    assert seen == described(), "FULL has no example of some mapping of the schema"


def test_every_key_is_documented():
    text = (ROOT / "docs" / "configuration.md").read_text()
    for names in described():
        for name in names:
            assert f"`{name}`" in text, name


def test_the_demo_configuration_is_valid_with_its_comments_enabled(tmp_path):
    demo = run("config", "demo").stdout
    VALIDATOR.validate(yaml.safe_load(demo))
    assert check(tmp_path, demo).returncode == 0
    # A commented-out YAML line starts with a lower-case key and a colon, or continues such a line.
    shown = re.sub(r"^( *)# ((?:  )*(?:- )?[a-z_]+:(?: .*)?)$", r"\1\2", demo, flags=re.M)
    VALIDATOR.validate(yaml.safe_load(shown))
    assert shown.count("#") < demo.count("#") - 15


@pytest.mark.parametrize(
    "wrong, schema_rejects",
    [
        ({"apps": {}}, True),
        ({"apps": {"sea": {**FULL["apps"]["sea"], "environments": []}}}, True),
        ({"apps": {"sea": {**FULL["apps"]["sea"], "ownership_policy": "steal"}}}, True),
        ({**FULL, "callers": "closed"}, True),
        ({**FULL, "callers": {"x": {"roles": ["read"]}}}, True),
        ({**FULL, "log": {"format": "xml"}}, True),
        ({**FULL, "store": {}}, True),
        ({**FULL, "store": {"sqlite": {}, "postgres": POSTGRES}}, True),
        ({**FULL, "store": {"postgres": {**POSTGRES, "service": "entitled"}}}, True),
        ({**FULL, "store": {"postgres": {**POSTGRES, "tls": {"mode": "prefer"}}}}, True),
        ({**FULL, "store": {"postgres": {**POSTGRES, "password": "secret"}}}, True),
        ({**FULL, "store": {"postgres": {**POSTGRES, "hosts": ["db:x"]}}}, False),
        ({**FULL, "store": {"postgres": {**POSTGRES, "tls": {"mode": "require", "root": "root.pem"}}}}, False),
        ({**FULL, "tokens": {"issuer": "x", "keys": "k", "lifetime_seconds": 0}}, True),
        ({**FULL, "callers": {"x": {"roles": ["read"], "tokens": [HASH], "apps": ["lake"]}}}, False),
    ],
)
def test_the_program_rejects_what_the_schema_rejects(tmp_path, wrong, schema_rejects):
    assert VALIDATOR.is_valid(wrong) is not schema_rejects
    assert check(tmp_path, wrong).returncode == 1


def test_the_check_reports_every_error_with_its_line(tmp_path):
    answer = check(tmp_path, """
apps:
  sea: {bundle_id: com.example.sea, environments: [Sandbox], products: {}, colour: blue}
  lake: {bundle_id: com.example.lake, environments: [Staging], products: {}}
  pond: {bundle_id: com.example.pond, environments: [Sandbox], products: {}}
callers:
  billing: {roles: [reed], tokens: [x]}
  support: {roles: [read]}
""")
    assert answer.returncode == 1
    lines = re.findall(r"entitled\.yaml:(\d+): (.*)", answer.stderr)
    assert [int(line) for line, _ in lines] == [3, 4, 7, 7, 8]
    assert "unknown key 'colour'" in lines[0][1] and "'Staging'" in lines[1][1]
    assert "unknown role 'reed'" in answer.stderr and "tokens of caller billing" in answer.stderr


def test_the_check_names_the_line_that_is_no_text_and_a_file_that_is_a_pipe(tmp_path):
    path = tmp_path / "entitled.yaml"
    path.write_bytes(b"apps:\n  s\xc3\xa9a: {}\n  l\xe4ke: {}\n")
    assert run("config", "check", path).stderr == f"entitled: {path}:3: the line is not UTF-8\n"
    path.unlink()
    os.mkfifo(path)
    assert run("config", "check", path).stderr == f"entitled: cannot read '{path}': it is not a regular file\n"


def test_the_check_reads_referenced_files(tmp_path):
    answer = check(tmp_path, {**FULL, "tokens": {"issuer": "https://x", "keys": "nowhere"}})
    assert answer.returncode == 1
    for part in ("key.p8", "root.pem", "jwks.json", "variable CRM", "c.pem", "proxy.json", f"{tmp_path}/key:"):
        assert part in answer.stderr, part
    # Each problem has the line that names its file or variable.
    lines = (tmp_path / "entitled.yaml").read_text().splitlines()
    problems = re.findall(r"entitled\.yaml:(\d+): (.*)", answer.stderr)
    assert len(problems) == len(answer.stderr.splitlines()), answer.stderr
    for line, problem in problems:
        value = lines[int(line) - 1].split(": ")[-1]
        assert value in problem, (line, problem)
    good = {"apps": {"sea": {"bundle_id": "b", "environments": ["Sandbox"], "products": {}}}}
    answer = check(tmp_path, good)
    assert (answer.returncode, answer.stdout.strip()) == (
        0, f"{tmp_path}/entitled.yaml: valid: 1 app, 0 products, open to this machine")  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("mode, is_valid", [(0o444, True), (0o644, True), (0o664, False), (0o666, False)])
def test_the_check_accepts_a_password_file_that_another_user_lets_all_read(tmp_path, mode, is_valid):
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / "password").chmod(mode)
    os.chown(tmp_path / "password", 10_001, 10_001)
    app = {"bundle_id": "b", "environments": ["Sandbox"], "products": {}}
    database = {
        "hosts": ["db1"], "database": "entitled", "user": "entitled", "password_file": "password",
        "tls": {"mode": "disable"}}  # fmt: skip
    answer = check(tmp_path, {"apps": {"sea": app}, "store": {"postgres": database}})
    assert answer.returncode == (0 if is_valid else 1), answer.stderr
    assert is_valid or f"has mode 0{mode:o}, which permits access by others" in answer.stderr


def test_the_service_does_not_start_with_a_password_file_that_others_may_read(tmp_path):
    password = tmp_path / "password"
    password.write_text("secret\n")
    password.chmod(0o644)
    address = f"postgres://entitled@127.0.0.1:1/entitled?sslmode=disable&password_file={password}"
    done = run("serve", "--data", tmp_path / "data", "--store", address)
    assert done.returncode == 1 and "has mode 0644, which permits access by others" in done.stderr


def test_the_check_reports_the_errors_of_the_file_and_of_what_it_refers_to_together(tmp_path):
    (tmp_path / "open.p8").write_text("a key\n")
    (tmp_path / "open.p8").chmod(0o644)
    (tmp_path / "text.p8").write_text("no key\n")
    (tmp_path / "text.p8").chmod(0o600)
    (tmp_path / "short.whsec").write_text("whsec_AAAA\n")
    (tmp_path / "short.whsec").chmod(0o600)
    text = """
apps:
  sea:
    bundle_id: com.example.sea
    environments: [Sandbox]
    online_checks: sometimes
    in_app_purchase_key: {file: open.p8, key_id: ABCDE12345, issuer_id: x}
    device_check: {file: text.p8, key_id: ABCDE12345, team_id: TEAM000001}
    shared_secret: {variable: NO_SUCH_SECRET}
    webhooks:
      crm: {url: 'https://crm.example.com/x', secret: [{file: short.whsec}, {file: gone.whsec}]}
    products: {}
listeners:
  grpc: {tls: {certificate: c.pem, key: k.pem, client_ca: ca.pem}}
trusted_roots:
  - {environment: Sandbox, certificate: root.pem}
erasures: {list: nowhere/erasures}
"""
    answer = check(tmp_path, text)
    assert answer.returncode == 1
    problems = re.findall(r"entitled\.yaml:(\d+): (.*)", answer.stderr)
    assert len(problems) == len(answer.stderr.splitlines()), answer.stderr
    # The line, the subject and the remedy of each.
    expected = [
        (6, "online_checks of app sea", "is not one of off, soft, hard"), (7, "open.p8", "run chmod 600"),
        (8, "text.p8", "use the file as it was downloaded"), (9, "NO_SUCH_SECRET", "set it where the service is started"),
        (11, "short.whsec", "openssl rand -base64 32"), (11, "gone.whsec", "correct the path"), (14, "c.pem", "No such file"),
        (14, "k.pem", "No such file"), (14, "ca.pem", "No such file"), (16, "root.pem", "correct the path"),
        (17, "nowhere/erasures", "make its folder")]  # fmt: skip
    assert len(problems) == len(expected), answer.stderr
    for line, subject, remedy in expected:
        assert any(int(found) == line and subject in text and remedy in text for found, text in problems), (subject, problems)


def test_the_check_names_the_remedy_for_a_key_that_is_not_on_the_curve_of_apples(tmp_path):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (tmp_path / "rsa.p8").write_bytes(key.private_bytes(PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "rsa.p8").chmod(0o600)
    answer = check(tmp_path, """
apps:
  sea:
    bundle_id: com.example.sea
    environments: [Sandbox]
    in_app_purchase_key: {file: rsa.p8, key_id: ABCDE12345, issuer_id: x}
    products: {}
""")
    assert answer.returncode == 1 and re.search(r"entitled\.yaml:6: .*rsa\.p8 cannot be used", answer.stderr)
    assert "not a private key on P-256; use the file as it was downloaded" in answer.stderr


def test_serve_reports_all_errors_of_its_configuration(tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text("apps: {sea: {environments: [Sandbox], products: {}, colour: blue}}\nlog: {level: loud}\n")
    ended = run("serve", "--config", file, "--data", tmp_path / "data")
    assert ended.returncode == 1 and len(ended.stderr.splitlines()) == 3, ended.stderr
    assert all(text in ended.stderr for text in ("no bundle_id", "'colour'", "level of log"))


def test_the_check_requires_a_file():
    assert run("config", "check").returncode == 64
    assert "no/such/file" in run("config", "check", "no/such/file").stderr
