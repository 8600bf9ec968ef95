import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Operator calls to Apple as evidence.
@Suite struct AppleCallTests {
  private let call = AppleCall(
    method: "ExtendRenewalDate", originalTransactionID: "L1", request: ["extendByDays": 7],
    answer: ["success": true])

  @Test("A call to Apple is stored with its response and its actor is in the timeline")
  func timeline() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let outcome = try await fixture.ledger.record(call, fixture.scope)
      let event = try #require(try await fixture.events().last)
      #expect(event.event.change.kind == .appStoreCalled && event.event.actor == "support")
      #expect(event.event.change.entitlement == "pro" && event.event.evidenceID == outcome.evidenceID)
      #expect(event.event.change.before == event.event.change.after)
      let body = try #require(try await fixture.evidence().last?.content.body)
      let kept = try #require(try JSONValue(parsing: body).objectValue?["call"]?.objectValue)
      #expect(kept["answer"] == ["success": true] && kept["request"] == ["extendByDays": 7])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A call about several purchases, or about an unclaimed one, is stored")
  func unclaimed() async throws {
    try await LedgerFixture.run { fixture in
      for line in ["", "L9"] {
        let call = AppleCall(
          method: "MassExtendRenewalDate", originalTransactionID: line, request: [:], answer: [:])
        let outcome = try await fixture.ledger.record(call, fixture.scope)
        #expect(outcome.evidenceID != nil && outcome.events.isEmpty)
      }
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Erasing a customer removes the id from calls about the purchase")
  func erased() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let call = AppleCall(
        method: "SetAppAccountToken", originalTransactionID: "L1",
        request: ["appAccountToken": "8f2f9e3a-5a10-4b0a-9a63-0d3ac1a0e0aa"], answer: [:])
      _ = try await fixture.ledger.record(call, fixture.scope)
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let bodies = try await fixture.evidence().compactMap(\.content.body).map {
        String(decoding: $0, as: UTF8.self)
      }
      #expect(!bodies.contains { $0.contains("8f2f9e3a") })
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }
}
