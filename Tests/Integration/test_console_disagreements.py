"""Disagreements with RevenueCat as a work list of the console."""

import csv
import datetime
import html
import io

from console_client import Browser
from console_story import APP, CONFIGURATION, Console
from harness import wait_for
from test_side_by_side import SECRET, event, send

HERE = f"/a/{APP}/sandbox"
SECTION = """    revenuecat_events:
      authorization: {file: revenuecat.secret}
      entitlements: {premium: pro}
"""


def test_a_disagreement_has_the_evidence_of_both_sides_and_leaves_the_list_when_both_agree(tmp_path):
    secret = tmp_path / "revenuecat.secret"
    secret.write_text(SECRET + "\n", encoding="utf-8")
    secret.chmod(0o600)
    console = Console(tmp_path, CONFIGURATION + SECTION)
    lena = Browser(console.address)
    assert lena.sign_in(console.new_link()).status == 303
    rows = lambda: {row["customer_id"]: row for row in csv.DictReader(io.StringIO(  # noqa: E731
        lena.csv(f"{HERE}/work/disagreements.csv").text, newline=""))}  # fmt: skip
    assert "RevenueCat and this service agree" in lena.get(f"{HERE}/work/disagreements").text

    console.submit("gus", console.buy("gus", "pro.monthly"))
    bought = event("INITIAL_PURCHASE", "bob", country_code="<b>US")
    ended = event("EXPIRATION", "gus", 1_767_225_600_000)
    for one in (bought, ended):
        assert send(console.service, one, app=APP)[0] == 200
    wait_for(lambda: rows().keys() == {"bob", "gus"})
    bob, gus = rows()["bob"], rows()["gus"]
    assert (bob["kind"], bob["entitlement"], bob["reason"], bob["evidence_id"]) == ("THEIRS_ONLY", "pro", "NEVER_PURCHASED", "")
    assert (bob["event_id"], bob["event_type"], bob["stated_until"][:4]) == (bought["event"]["id"], "INITIAL_PURCHASE", "2100")
    assert gus["kind"] == "OURS_ONLY" and int(gus["evidence_id"]) > 0

    page = lena.get(f"{HERE}/work/disagreements").text
    assert "<b>US" not in page and "&lt;b&gt;US" in page, "markup in an event stays text"
    text = html.unescape(page)
    assert bought["event"]["id"] in text and "access at RevenueCat only" in text and "access here only" in text
    assert f"{HERE}/evidence/{gus['evidence_id']}" in text and f"{HERE}/customers/gus" in text
    assert "Disagreements with RevenueCat" in lena.get(f"{HERE}/work").text

    console.submit("bob", console.buy("bob", "pro.monthly"))
    wait_for(lambda: rows()["bob"]["kind"] == "OTHER_END")
    assert "another end" in lena.get(f"{HERE}/work/disagreements").text
    end = datetime.datetime.fromisoformat(rows()["bob"]["until"].replace("Z", "+00:00"))
    renewal = event("RENEWAL", "bob", int(end.timestamp() * 1000), 1_767_225_700_000)
    assert send(console.service, renewal, app=APP)[0] == 200
    wait_for(lambda: rows().keys() == {"gus"})
    console.service.stop()
