"""Audit entries: one row in the store for each call that looked at or changed a customer."""

import gzip
import json
import urllib.request

import grpc
import pytest

import contract
import stores
from contract import audit_service, customer_service
from contract import entitlement_service as wire
from harness import CALL_LIMIT, Service, response_to, wait_for
from test_callers import APP, APPS, OTHER, caller, token

CALLERS = "callers:\n" + "".join(
    caller(name, *roles) for name, roles in {
        "viewer": ["read"], "support": ["read", "operate"], "reviewer": ["audit"], "boss": ["admin"]}.items())
CALLERS += caller("half", "audit", "read", apps=[APP])


@pytest.fixture
def guarded(tmp_path):
    (tmp_path / "entitled.yaml").write_text(APPS + CALLERS)
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    yield service
    if service.process.poll() is None:
        service.stop()


class Caller:
    """The stubs of one caller."""

    def __init__(self, channel, name):
        self.metadata = [("authorization", f"Bearer {token(name)}")]
        self.stubs = [
            contract.entitlement_stub(channel), contract.customer_stub(channel), contract.audit_stub(channel)]

    def __getattr__(self, method):
        stub = next(stub for stub in self.stubs if hasattr(stub, method))
        return lambda request: getattr(stub, method)(request, metadata=self.metadata, timeout=CALL_LIMIT)

    def entries(self, **more):
        return self.ListAuditEntries(audit_service.ListAuditEntriesRequest(**more)).entries


def grant(customer, app=APP, **more):
    level = contract.entitlement.ACCESS_LEVEL_FULL
    return wire.GrantRequest(app=app, customer_id=customer, entitlement="pro", access_level=level, **more)


def names(entries):
    return [entry.method.rsplit("/", 1)[1] for entry in entries]


def test_looking_and_changing_are_recorded_and_checks_are_not(guarded):
    with guarded.channel() as channel:
        viewer, support, reviewer = (Caller(channel, name) for name in ("viewer", "support", "reviewer"))
        support.Grant(grant("ana", actor="lena", note="ticket 7"))
        viewer.GetCustomer(wire.GetCustomerRequest(app=APP, customer_id="ana"))
        for _ in range(5):
            viewer.Check(wire.CheckRequest(app=APP, customer_id="ana", entitlement="pro"))
        viewer.FindCustomers(customer_service.FindCustomersRequest(query="an"))
        viewer.FindCustomers(customer_service.FindCustomersRequest(query="missing"))
        with pytest.raises(grpc.RpcError):
            viewer.Grant(grant("ana"))
        with pytest.raises(grpc.RpcError):  # a stranger
            contract.entitlement_stub(channel).Grant(grant("ana"), timeout=CALL_LIMIT)
        entries = reviewer.entries(customer_id="ana")
        assert names(entries) == ["Grant", "FindCustomers", "GetCustomer", "Grant"]
        assert [entry.caller for entry in entries] == ["viewer", "viewer", "viewer", "support"]
        assert [entry.outcome for entry in entries] == ["PERMISSION_DENIED", "OK", "OK", "OK"]
        first = entries[-1]
        assert (first.actor, first.note, first.app) == ("lena", "ticket 7", APP)
        assert first.request_id and first.time.seconds > 0
        assert {entry.address for entry in entries} == {"127.0.0.1"}
        assert entries[1].subject == "an"
        # No erasure would find a query that found no customer.
        missing = reviewer.entries(method="FindCustomers")[0]
        assert (missing.subject, list(missing.customer_ids)) == ("", [])
        # Reading the entries is one of them.
        assert names(reviewer.entries(actor="reviewer"))[0] == "ListAuditEntries"
        assert names(reviewer.entries(actor="lena")) == ["Grant"]
        assert names(reviewer.entries(actor="support")) == ["Grant"]
        # Looking for a person's calls is no call of that person.
        assert [list(reviewer.entries(actor="sam")) for _ in range(2)] == [[], []]
        assert not reviewer.entries(app=OTHER, customer_id="ana")
        with pytest.raises(grpc.RpcError) as error:
            support.entries()
        assert contract.reason(error.value) == "ROLE_MISSING"
        half = Caller(channel, "half")
        assert half.entries(app=APP, method="Grant")
        with pytest.raises(grpc.RpcError) as error:
            half.entries()
        assert contract.reason(error.value) == "APP_SCOPE_REQUIRED"


@pytest.mark.parametrize("callers", ["", "callers: open\n"], ids=["local", "open"])
def test_without_a_list_of_callers_entries_have_no_caller(tmp_path, callers):
    (tmp_path / "entitled.yaml").write_text(APPS + callers)
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    try:
        with service.channel() as channel:
            contract.entitlement_stub(channel).Grant(grant("ana", actor="lena"), timeout=CALL_LIMIT)
            [entry] = contract.audit_stub(channel).ListAuditEntries(
                audit_service.ListAuditEntriesRequest(customer_id="ana"), timeout=CALL_LIMIT).entries
        assert (entry.caller, entry.actor, names([entry])) == ("", "lena", ["Grant"])
    finally:
        service.stop()


def test_a_refused_call_over_http_has_the_entry_of_one_over_grpc(guarded):
    path, headers = f"http://{guarded.http}/entitled.v1.EntitlementService/", {"authorization": f"Bearer {token('viewer')}"}

    def refused(method, body, kind):
        request = urllib.request.Request(path + method, body, headers | {"content-type": f"application/{kind}"})
        with response_to(request) as answer:
            assert answer.status == 403
    named = {"app": APP, "customerId": "ana", "note": "why", "actor": "lena"}
    refused("Grant", json.dumps(named | {"entitlement": "pro", "accessLevel": "ACCESS_LEVEL_FULL"}).encode(), "json")
    refused("Grant", grant("ana", note="why", actor="lena").SerializeToString(), "proto")
    refused("EraseCustomer", json.dumps(named).encode(), "json")
    # JSON that is large is not parsed for a call that is refused.
    refused("Grant", json.dumps(named).encode() + b" " * (64 << 10), "json")
    refused("Grant", b"{", "json")
    with guarded.channel() as channel:
        with pytest.raises(grpc.RpcError):
            Caller(channel, "viewer").Grant(grant("ana", note="why", actor="lena"))
        entries = Caller(channel, "reviewer").entries()
    found = [(list(e.customer_ids), e.app, e.note, e.actor, e.caller, e.outcome) for e in entries]
    full, empty = (["ana"], APP, "why", "lena"), ([], "", "", "")
    assert found == [(*entry, "viewer", "PERMISSION_DENIED") for entry in (full, empty, empty, full, full, full)]


def test_a_call_over_the_rate_limit_has_its_customer_over_http_too(tmp_path):
    slow = caller("slow", "read", rate_limit={"per_second": 1, "burst": 1})
    (tmp_path / "entitled.yaml").write_text(APPS + CALLERS + slow)
    service = Service(tmp_path / "data", ["--config", tmp_path / "entitled.yaml"])
    try:
        body, headers = {"app": APP, "customerId": "ana"}, {"authorization": f"Bearer {token('slow')}"}
        statuses = {service.json("entitled.v1.EntitlementService/GetCustomer", body, **headers)[0] for _ in range(3)}
        assert statuses == {200, 429}
        with service.channel() as channel:
            entries = Caller(channel, "reviewer").entries(customer_id="ana")
        assert {(entry.app, entry.outcome) for entry in entries} == {(APP, "OK"), (APP, "RESOURCE_EXHAUSTED")}
        assert len(entries) == 3
    finally:
        service.stop()


def test_calls_that_show_or_change_a_customer_without_naming_one_are_recorded(guarded):
    with guarded.channel() as channel:
        viewer, support, reviewer = (Caller(channel, name) for name in ("viewer", "support", "reviewer"))
        granted = support.Grant(grant("ana")).grant
        support.Grant(grant("ben"))
        viewer.ListGrants(wire.ListGrantsRequest(app=APP))
        viewer.ListUnclaimedPurchases(wire.ListUnclaimedPurchasesRequest(app=APP))
        support.RevokeGrant(wire.RevokeGrantRequest(app=APP, grant_id=granted.grant_id))
        entries = reviewer.entries(customer_id="ana")
        assert names(entries) == ["RevokeGrant", "ListGrants", "Grant"]
        assert [sorted(entry.customer_ids) for entry in entries] == [["ana"], ["ana", "ben"], ["ana"]]
        assert entries[1].subject == "grants"
        assert names(reviewer.entries(method="ListUnclaimedPurchases")) == ["ListUnclaimedPurchases"]


def test_a_large_compressed_request_is_not_decompressed_to_record_its_refusal(guarded):
    def refuse(note):
        headers = {"content-type": "application/proto", "content-encoding": "gzip", "authorization": f"Bearer {token('viewer')}"}
        request = urllib.request.Request(
            f"http://{guarded.http}/entitled.v1.EntitlementService/Grant",
            gzip.compress(grant("ana", note=note).SerializeToString()), headers)
        with response_to(request) as answer:
            assert answer.status == 403

    with guarded.channel() as channel:
        reviewer = Caller(channel, "reviewer")
        refuse("x")
        refuse("x" * 100_000)
        assert [list(entry.customer_ids) for entry in reviewer.entries(method="Grant")] == [[], ["ana"]]


def test_a_request_that_is_refused_for_a_nul_is_recorded_as_all_others(guarded):
    with guarded.channel() as channel:
        viewer, support, reviewer = (Caller(channel, name) for name in ("viewer", "support", "reviewer"))
        support.Grant(grant("ana"))
        with pytest.raises(grpc.RpcError) as error:
            viewer.GetCustomer(wire.GetCustomerRequest(app=APP, customer_id="a\0b"))
        assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        viewer.GetCustomer(wire.GetCustomerRequest(app=APP, customer_id="ana"))
        entries = reviewer.entries(method="GetCustomer")
        assert [list(entry.customer_ids) for entry in entries] == [["ana"], ["a\ufffdb"]]


def test_an_entry_has_the_app_that_was_changed(guarded):
    with guarded.channel() as channel:
        # Of a field that comes twice the last value counts.
        request = wire.GrantRequest(app=OTHER).SerializeToString() + grant("ana").SerializeToString()
        channel.unary_unary("/entitled.v1.EntitlementService/Grant")(
            request, metadata=[("authorization", f"Bearer {token('support')}")], timeout=CALL_LIMIT)
        reviewer = Caller(channel, "reviewer")
        assert names(reviewer.entries(app=APP, customer_id="ana")) == ["Grant"]
        assert not reviewer.entries(app=OTHER, customer_id="ana")


def test_entries_are_listed_page_by_page_in_a_range(guarded):
    with guarded.channel() as channel:
        boss = Caller(channel, "boss")
        for number in range(5):
            boss.Grant(grant(f"c{number}"))
        request = audit_service.ListAuditEntriesRequest(method="Grant", page_size=2)
        found = []
        while True:
            page = boss.ListAuditEntries(request)
            found += page.entries
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        assert [entry.customer_ids[0] for entry in found] == [f"c{number}" for number in reversed(range(5))]
        assert [e.number for e in found] == sorted((e.number for e in found), reverse=True)
        request = audit_service.ListAuditEntriesRequest(method="Grant")
        request.start_time.CopyFrom(found[1].time)
        later = boss.ListAuditEntries(request).entries
        assert {"c4", "c3"} <= {entry.customer_ids[0] for entry in later}
        request = audit_service.ListAuditEntriesRequest(method="Grant", end_time=found[-1].time)
        assert "c4" not in {entry.customer_ids[0] for entry in boss.ListAuditEntries(request).entries}


def test_an_erasure_leaves_the_pseudonym_in_the_entries(guarded):
    ana = "ana.person@example.com"
    with guarded.channel() as channel:
        boss = Caller(channel, "boss")
        boss.Grant(grant(ana, note=f"{ana} wrote", actor=ana))
        boss.GetCustomer(wire.GetCustomerRequest(app=APP, customer_id=ana))
        boss.FindCustomers(customer_service.FindCustomersRequest(query=ana))
        boss.entries()  # writes the waiting entries, so that the erasure finds some stored and some waiting
        boss.Grant(grant(ana, note=f"{ana} wrote again", actor=ana))
        erased = boss.EraseCustomer(wire.EraseCustomerRequest(app=APP, customer_id=ana, actor=ana))
        assert not boss.entries(customer_id=ana, method="Grant")
        assert names(boss.entries(customer_id=erased.pseudonym)) == [
            "ListAuditEntries", "EraseCustomer", "Grant", "FindCustomers", "GetCustomer", "Grant"]
        for entry in boss.entries(customer_id=erased.pseudonym, method="Grant"):
            assert (entry.note, entry.actor) == ("", erased.pseudonym)
        timeline = boss.ListTimeline(wire.ListTimelineRequest(app=APP, customer_id=erased.pseudonym)).events
        assert {event.actor for event in timeline} == {"", f"boss/{erased.pseudonym}"}
        for evidence_id in {event.evidence_id for event in timeline}:
            request = customer_service.GetEvidenceRequest(app=APP, evidence_id=evidence_id)
            evidence = boss.GetEvidence(request)
            assert evidence.actor == f"boss/{erased.pseudonym}" and ana not in str(evidence)
    guarded.stop()
    assert ana not in str(stores.query(guarded.data, "SELECT * FROM audit_entry"))


def test_entries_survive_a_restart_and_end_after_the_configured_time(guarded, tmp_path):
    with guarded.channel() as channel:
        Caller(channel, "boss").Grant(grant("ana"))
    guarded.stop()
    assert stores.query(guarded.data, "SELECT count(*) FROM audit_entry") == [(1,)]
    stores.execute(guarded.data, "UPDATE audit_entry SET at = at - 3 * 86400000")
    (tmp_path / "entitled.yaml").write_text(APPS + CALLERS + "retention: {audit: 2}\n")
    service = Service(guarded.data, ["--config", tmp_path / "entitled.yaml"])
    with service.channel() as channel:
        boss = Caller(channel, "boss")
        boss.Grant(grant("ben"))
        assert boss.entries(method="Grant", customer_id="ben")
        wait_for(lambda: not boss.entries(method="Grant", customer_id="ana"))
    service.stop()
