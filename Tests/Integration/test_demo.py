"""`make demo`: the service with a sandbox that has a past, and customers who behave as those of a business.

ENTITLED_DEMO_CUSTOMERS and ENTITLED_DEMO_DAYS are the size of the demo. `make test-long` sets those of `make demo` and
shows the seconds until the demo was ready.
"""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

from harness import CALL_LIMIT, PROGRAM, ROOT, STOP_LIMIT, post

CUSTOMERS = int(os.environ.get("ENTITLED_DEMO_CUSTOMERS", "40"))
DAYS = int(os.environ.get("ENTITLED_DEMO_DAYS", "120"))


def test_the_demo_shows_customers_with_a_past_and_removes_its_data(tmp_path):
    ports = [option for name in ("grpc", "http", "sandbox", "console") for option in (f"--{name}", "127.0.0.1:0")]
    command = [sys.executable, ROOT / "tools" / "demo", "--program", PROGRAM, *ports]
    command += ["--customers", str(CUSTOMERS), "--days", str(DAYS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(tmp_path)}) as demo:
        try:
            lines = []
            for line in demo.stdout:
                lines.append(line)
                if line.startswith("Ctrl-C"):
                    break
            text = "".join(lines)
            duration = re.search(r"^\d+ notifications in \d+ s$", text, re.M).group()
            print(f"{CUSTOMERS} customers, {DAYS} days: {duration}")
            link = re.search(r"^console +(\S+)", text, re.M).group(1)
            page = urllib.request.urlopen(link, timeout=CALL_LIMIT)
            assert page.status == 200 and b"Sign in" in page.read()
            sandbox = re.search(r"^sandbox +(http://[^/]+)", text, re.M).group(1)
            url = f"{sandbox}/sandbox/v1/accounts?app=ocean-journal&limit={CUSTOMERS}"
            accounts = json.load(urllib.request.urlopen(url, timeout=CALL_LIMIT))["accounts"]
            assert len(accounts) == CUSTOMERS
        finally:
            demo.send_signal(signal.SIGTERM)
            assert demo.wait(STOP_LIMIT) == 0
    assert not list(tmp_path.iterdir())


def test_typical_customers_are_the_same_for_a_seed_and_do_what_customers_do(start, tmp_path):
    results = []
    for name in ("one", "two"):
        service = start(data=tmp_path / name)
        body = {"app": "ocean-journal", "customers": 60, "by": "200d", "seed": 3, "behavior": "typical"}
        request = urllib.request.Request(
            f"http://{service.sandbox}/sandbox/v1/live", json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=12 * CALL_LIMIT) as answer:
            results.append(json.load(answer))
    # The day of a charge depends on the transaction's id, which depends on the time.
    assert [result["done"] for result in results] == [results[0]["done"]] * 2
    counts = results[0]["notifications"]
    assert counts["SUBSCRIBED/INITIAL_BUY"] > 30 and counts["DID_RENEW"] > counts["SUBSCRIBED/INITIAL_BUY"] / 2
    assert counts["EXPIRED/VOLUNTARY"] > 0 and results[0]["refused"] < results[0]["done"] / 20


def test_an_unknown_behavior_is_refused_by_name(start):
    body = {"app": "ocean-journal", "customers": 1, "by": "1d", "behavior": "typicl"}
    status, answer = post(f"http://{start().sandbox}/sandbox/v1/live", body)
    assert status == 400 and "typicl" in json.dumps(answer) and "typical" in json.dumps(answer)
