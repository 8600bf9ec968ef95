"""`entitled reconcile`: reports of App Store Connect that the sandbox makes from its truth, over months of lives. Untouched
reports are matched or explained; tampered lines are found in their buckets, and the others stay clean.

`ENTITLED_RECONCILE_DAYS=400` and `ENTITLED_REPORT_PAYERS=60` run the long form."""

import csv
import datetime
import gzip
import io
import json
import os
import random
import subprocess
import urllib.error
import urllib.request

import pytest

from harness import CALL_LIMIT, PROGRAM, Service, environment, post
from report_lives import APP, CONFIGURATION, Lives, eventually

DAYS = int(os.environ.get("ENTITLED_RECONCILE_DAYS", 70))
SEED = int(os.environ.get("ENTITLED_REPORT_SEED", 1))
KINDS = ["subscription", "subscription-event", "subscriber", "sales"]


def reconcile(service, paths, *options):
    done = subprocess.run(
        [str(PROGRAM), "reconcile", *map(str, paths), "--grpc", service.grpc, "--app", APP, "--json", *options],
        capture_output=True, text=True, timeout=CALL_LIMIT, env=environment(),
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, json.loads(done.stdout)


def fetch(service, kind, date):
    with urllib.request.urlopen(f"http://{service.sandbox}/sandbox/v1/reports/{kind}?date={date}", timeout=CALL_LIMIT) as answer:
        return gzip.decompress(answer.read()).decode()


def table(text):
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """A service after some months, and the reports of all days but the first two and the last two."""
    folder = tmp_path_factory.mktemp("reconcile")
    (folder / "entitled.yaml").write_text(CONFIGURATION, encoding="utf-8")
    service = Service(folder / "data", ["--config", folder / "entitled.yaml"])
    # Otherwise few payments would be recovered.
    lives = Lives(service, recovered=0.4)
    lives.live(DAYS)
    reports = {}
    for day in range(lives.first + 2, lives.end - 2):
        date = datetime.date.fromordinal(719_163 + day).isoformat()
        for kind in KINDS:
            reports[kind, date] = fetch(service, kind, date)
    yield service, lives, reports
    service.stop()


def write(folder, reports):
    paths = []
    for (kind, date), text in reports.items():
        path = folder / f"{kind}-{date}.txt.gz"
        path.write_bytes(gzip.compress(text.encode()))
        paths.append(path)
    return paths


def fullest(reports):
    """The kind and date of the subscriber report with the most rows."""
    return max((key for key in reports if key[0] == "subscriber"), key=lambda key: len(table(reports[key])))


def test_untouched_reports_are_matched_or_explained(lived, tmp_path):
    service, _, reports = lived
    paths = write(tmp_path, reports)

    def check():
        status, answer = reconcile(service, paths)
        findings = [(day["report"], finding) for day in answer["days"] for finding in day["unexplained"]]
        assert not findings, (len(findings), findings[:5])
        assert (status, answer["clean"], answer["notes"]) == (0, True, [])
        return answer

    answer = eventually(check)
    matched = {report: sum(day["matched"] for day in answer["days"] if day["report"] == report) for report in
               ("SUBSCRIPTION", "SUBSCRIPTION_EVENT", "SUBSCRIBER", "SALES")}  # fmt: skip
    assert all(matched.values()), matched
    rows = sum(len(table(text)) for (kind, _), text in reports.items() if kind == "subscriber")
    assert matched["SUBSCRIBER"] == rows, "each row of a charge or refund is one of ours"


FAULTS = ["missing", "doubled", "count", "proceeds", "price", "storefront", "refund"]


def tampered(kind, text, line, fault):
    """The report with a fault in one line, or None if the line cannot have it."""
    header, *lines = text.splitlines()
    names, values = header.split("\t"), lines[line].split("\t")
    if fault == "missing":
        del lines[line]
    elif fault == "doubled":
        lines.insert(line, lines[line])
    elif fault == "count":
        columns = ["Quantity"] if kind == "subscription-event" else ["Units"]
        if kind == "subscription":
            columns = [name for name in names if values[names.index(name)] not in ("", "0") and ("Subscriptions" in name or name == "Billing Retry")]
        at = names.index(columns[0])
        count = int(values[at])
        if count == 0:  # a refund of a part of the price, which is one refund with or without a unit
            return None
        values[at] = str(count + (1 if count > 0 else -1))
        lines[line] = "\t".join(values)
    elif fault in ("price", "storefront", "refund"):
        if kind not in ("subscriber", "sales") or float(values[names.index("Customer Price")]) <= 0:
            return None
        if fault == "price":
            at = names.index("Customer Price")
            values[at] = f"{float(values[at]) + 0.01:.2f}"
        elif fault == "storefront":
            at = names.index("Country Code" if kind == "sales" else "Country")
            values[at] = "NZ" if values[at] != "NZ" else "AU"
        elif kind == "sales":
            return None
        else:  # of a charge that was never refunded
            for name in ("Customer Price", "Developer Proceeds"):
                values[names.index(name)] = "-" + values[names.index(name)]
            values[names.index("Refund")] = "Yes"
            lines.append("\t".join(values))
            return "\n".join([header, *lines]) + "\n"
        lines[line] = "\t".join(values)
    else:
        if "Developer Proceeds" not in names or float(values[names.index("Developer Proceeds")]) == 0:
            return None
        at = names.index("Developer Proceeds")
        values[at] = f"{float(values[at]) * 1.1 + 0.5:.2f}"
        lines[line] = "\t".join(values)
    return "\n".join([header, *lines]) + "\n"


def test_tampered_lines_are_found_in_their_buckets_and_the_others_stay_clean(lived, tmp_path):
    service, _, reports = lived
    chance = random.Random(SEED)
    lines = [(kind, date, number) for (kind, date), text in reports.items() for number in range(len(table(text)))]
    chosen, places = {}, []
    # One per cent, each in another report of a day and away from the edges, so that no two faults cancel each other.
    for kind, date, number in chance.sample(lines, len(lines)):
        if len(places) >= max(8, len(lines) // 100):
            break
        near = {(kind, (datetime.date.fromisoformat(date) + datetime.timedelta(days)).isoformat()) for days in range(-4, 5)}
        fault = FAULTS[len(places) % len(FAULTS)]
        row = table(reports[kind, date])[number]
        if near & chosen.keys() or (text := tampered(kind, reports[kind, date], number, fault)) is None:
            continue
        chosen[kind, date] = text
        places.append((kind, date, fault, row.get("Subscription Name") or row["SKU"]))

    def settled():
        """The service derives the postings of the last days in the background."""
        assert reconcile(service, write(tmp_path, reports))[0] == 0

    eventually(settled)
    paths = write(tmp_path, reports | chosen)
    status, answer = reconcile(service, paths)
    assert status == 3
    found = {
        (day["report"].lower().replace("_", "-"), day["day"], finding["productId"])
        for day in answer["days"] for finding in day["unexplained"]
    }  # fmt: skip
    expected = {(kind, date, product) for kind, date, _, product in places}
    missing = [place for place in places if (place[0], place[1], place[3]) not in found]
    explained = [day for day in answer["days"] if day["explained"] and any(day["day"] == place[1] for place in missing)]
    assert not missing, (missing, explained)
    assert found <= expected, sorted(found - expected)
    kinds = {finding["kind"] for day in answer["days"] for finding in day["unexplained"]}
    assert kinds <= {"NEVER_SEEN", "NOT_PAID", "PROCEEDS"}
    for day in answer["days"]:
        for finding in day["unexplained"]:
            assert len(finding["candidates"]) <= 100
            if finding["kind"] == "NOT_PAID" and day["report"] != "SUBSCRIPTION":
                assert finding["candidates"]


def test_faults_of_the_sandbox_are_found(lived, tmp_path):
    service, _, reports = lived
    kind, date = fullest(reports)
    for fault in ("report-missing", "report-doubled", "report-count", "report-proceeds"):
        assert post(f"http://{service.sandbox}/sandbox/v1/faults", {"kind": fault, "count": 1})[0] == 200
        folder = tmp_path / fault
        folder.mkdir()
        status, answer = reconcile(service, write(folder, {(kind, date): fetch(service, kind, date)}))
        assert (status, answer["unexplained"]) == (3, 1), (fault, answer)


def test_finance_is_compared_by_fiscal_month(lived, tmp_path):
    service, lives, _ = lived
    now = datetime.datetime.fromtimestamp(lives.now() / 1000, datetime.timezone.utc).date()
    for month in range(12, 0, -1):
        try:
            text = fetch(service, "finance", f"{now.year}-{month:02}")
        except urllib.error.HTTPError:
            continue
        if table(text):
            break
    path = tmp_path / "finance.txt"
    path.write_text(text, encoding="utf-8")
    status, answer = reconcile(service, [path])
    assert status == 0
    assert answer["finance"]
    for row in answer["finance"]:
        assert row["fiscalMonth"] == f"{now.year}-{month:02}"
        assert row["appleQuantity"] == row["ourQuantity"], row
        # Apple pays hundredths, and each of our estimates is rounded to a thousandth.
        assert abs(row["appleShare"] - row["ourShare"]) <= 10 * (abs(row["appleQuantity"]) + 20), row


def test_the_same_file_counts_once_and_a_foreign_file_is_refused(lived, tmp_path):
    service, _, reports = lived
    key = next(key for key in reports if key[0] == "subscriber" and table(reports[key]))
    (first,) = write(tmp_path, {key: reports[key]})
    second = tmp_path / f"copy-{key[1]}.txt"
    second.write_text(reports[key], encoding="utf-8")
    status, answer = reconcile(service, [first, second])
    assert (status, answer["duplicates"]) == (0, [str(second)])
    # Its rows have the days, so that the name does not matter.
    for name in ("subscriber.txt", "downloaded-2026-11-30.txt"):
        renamed = tmp_path / name
        renamed.write_text(reports[key], encoding="utf-8")
        status, answer = reconcile(service, [first, renamed])
        assert (status, answer["duplicates"], [day["day"] for day in answer["days"]]) == (0, [str(renamed)], [key[1]])
    foreign = tmp_path / "foreign.txt"
    foreign.write_text("a\tb\n1\t2\n", encoding="utf-8")
    done = subprocess.run([str(PROGRAM), "reconcile", str(foreign), "--grpc", service.grpc], capture_output=True, text=True, timeout=CALL_LIMIT, env=environment())
    assert (done.returncode, "is no Subscription" in done.stderr) == (1, True)


def stored(service, **more):
    status, answer = service.json("entitled.v1.ReportService/GetReconciliation", {"app": APP, "environment": "ENVIRONMENT_SANDBOX"} | more)
    return status, answer


def test_results_are_stored_on_demand_and_stay_when_the_next_one_is(lived, tmp_path):
    service, _, reports = lived
    kind, date = fullest(reports)
    day = datetime.date.fromisoformat(date)
    span = {"startTime": f"{day}T00:00:00Z", "endTime": f"{day + datetime.timedelta(days=1)}T00:00:00Z"}
    (whole,) = write(tmp_path, {(kind, date): reports[kind, date]})
    assert reconcile(service, [whole])[0] == 0
    assert stored(service, **span)[1].get("days", []) == [], "nothing is stored without --record"
    other = tmp_path / f"other-{date}.txt"
    first = reports[kind, date].splitlines()[1]
    foreign = first.replace(table(reports[kind, date])[0]["Country"], "??")
    other.write_text(f"{reports[kind, date].rstrip()}\n{first}\n{foreign}\n", encoding="utf-8")
    status, answer = reconcile(service, [other], "--record")
    (found,) = stored(service, **span)[1]["days"]
    assert status == 3 and found["report"] == "SUBSCRIBER" and found["day"] == span["startTime"]
    assert int(found["unexplained"]) == answer["unexplained"] == 1
    assert (found["unknownRows"], found["files"]) == ("1", [other.name])
    assert reconcile(service, [whole], "--record")[0] == 0
    (found,) = stored(service, **span)[1]["days"]
    # A payment in the grace period of a period before the days of the comparison is explained.
    assert int(found["matched"]) + int(found["explained"]) == len(table(reports[kind, date])) and found["files"] == [whole.name]
    assert int(found["unexplained"]) == int(found["unknownRows"]) == 0 and found["recordedAt"]
    listed = service.command("report", "--reconciliation", "--app", APP, "--from", date, "--to", date)
    assert listed.stdout.split()[:2] == [date, "SUBSCRIBER"] and len(listed.stdout.splitlines()) == 1, listed.stdout
    status, answer = stored(service, allRuns=True, **span)
    assert [(each["run"], each["files"]) for each in answer["days"]] == [("2", [whole.name]), ("1", [other.name])]
    assert (answer["days"][1]["unexplained"], answer["days"][1]["unknownRows"]) == ("1", "1")
    listed = service.command("report", "--reconciliation", "--all-runs", "--app", APP, "--from", date, "--to", date)
    assert [line.startswith(f"{date}  SUBSCRIBER  2") for line in listed.stdout.splitlines()] == [True, True], listed.stdout
    end = f"{day + datetime.timedelta(days=32)}T00:00:00Z"
    status, answer = stored(service, allRuns=True, **span | {"endTime": end})
    assert status == 400 and "INVALID_RANGE" in json.dumps(answer), answer


@pytest.mark.parametrize(("change", "reason"), [
    ({"days": []}, "INVALID_FIELD"), ({"days": [{"report": "SALES"}]}, "MISSING_FIELD"),
    ({"days": [{"day": "2026-11-01T01:00:00Z", "report": "SALES"}]}, "INVALID_FIELD"),
    ({"days": [{"day": "2026-11-01T00:00:00Z", "report": "<b>"}]}, "INVALID_FIELD"),
    ({"days": [{"day": "2026-11-01T00:00:00Z", "report": "SALES", "matched": "-1"}]}, "INVALID_FIELD"),
    ({"days": [{"day": "2026-11-01T00:00:00Z", "report": "SALES", "unexplained": "1000000000001"}]}, "days.unexplained is not 0 to"),
    ({"days": [{"day": "2026-11-01T00:00:00Z", "report": "SALES", "files": ["a\nb"]}]}, "INVALID_FIELD"),
])  # fmt: skip
def test_a_result_that_is_none_is_refused(lived, change, reason):
    service = lived[0]
    request = {"app": APP, "environment": "ENVIRONMENT_SANDBOX"} | change
    status, answer = service.json("entitled.v1.ReportService/RecordReconciliation", request)
    assert status == 400 and reason in json.dumps(answer), answer
    assert stored(service, startTime="2026-11-01T00:00:00Z")[0] == 400
