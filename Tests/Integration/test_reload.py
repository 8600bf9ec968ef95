"""Reload of the catalog on SIGHUP, and the events that result."""

import json
import signal
import time

import contract
from contract import entitlement_service
from harness import CALL_LIMIT, Service, wait_for
from test_events import APP, events, submit, watch

CATALOG = """
apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    apple_id: 1234567890
    environments: [Sandbox]
    products:
      pro.monthly:
        type: Auto-Renewable Subscription
        group: pro
        level: 1
        entitlements: [ENTITLEMENTS]
        period: P1M
        price: 4.99
        currency: USD
"""


def test_a_new_catalog_emits_events_and_an_invalid_one_changes_nothing(tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro"))
    service = Service(tmp_path / "data", ["--config", file])
    with service.channel() as channel:
        submit(channel, service, "ana")
        stream = watch(channel)
        next(stream)

        file.write_text(CATALOG.replace("ENTITLEMENTS", "pro, sync"))
        service.process.send_signal(signal.SIGHUP)
        (event,) = events(stream, 1)
        assert (event.entitlement, event.type, event.evidence_id) == ("sync", "STARTED", 0)

        file.write_text(CATALOG.replace("level: 1", "level: first"))
        service.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "reload of the configuration failed" in service.log)
        assert "entitled.yaml:11: level" in service.log  # the file and the line

        # Aliases that stand for more values than a process can visit.
        aliases = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        aliases += [f"a{n}: &a{n} [{', '.join(9 * [f'*a{n - 1}'])}]" for n in range(1, 20)]
        file.write_text("\n".join([*aliases, CATALOG.replace("ENTITLEMENTS", "pro")]))
        service.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "the aliases ('*') repeat more than a million values" in service.log)
        answer = contract.entitlement_stub(channel).Check(
            entitlement_service.CheckRequest(app=APP, customer_id="ana", entitlement="sync"),
            timeout=CALL_LIMIT).entitlement
        assert answer.entitled
        stream.cancel()
    service.stop()


def test_sighup_during_startup_reloads_without_ending_the_service(tmp_path):
    file = tmp_path / "entitled.yaml"
    file.write_text(CATALOG.replace("ENTITLEMENTS", "pro"))
    for _ in range(8):
        service = Service(tmp_path / "data", ["--config", file])
        service.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + CALL_LIMIT
        while "catalog reloaded" not in service.log:
            assert service.process.poll() is None and time.monotonic() < deadline, service.log
            time.sleep(0.01)
        service.stop()


def test_settings_that_apply_from_the_next_start_on_are_named(tmp_path):
    file = tmp_path / "entitled.yaml"
    start = CATALOG.replace("ENTITLEMENTS", "pro")
    file.write_text(start)
    service = Service(tmp_path / "data", ["--config", file])

    def pending():
        return json.loads(service.command("config", "show", "--json").stdout).get("pendingRestart", [])

    assert pending() == []
    file.write_text(start + "    online_checks: soft\nlimits: {message_bytes: 1024}\n")
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: pending() == ["apps.ocean-journal.online_checks", "limits"])
    assert "settings apply from the next start on" in service.log
    assert "needs a restart" in service.command("config", "show").stdout
    file.write_text(start)
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: pending() == [])
    service.stop()
