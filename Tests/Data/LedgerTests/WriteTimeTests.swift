import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Writes that wait for the writer while the clock continues and other writes are committed.
@Suite struct WriteTimeTests {
  enum Waiting: CaseIterable {
    case submission, batch, notification, command
  }

  @Test("A write that an expiry overtakes does not undo it", arguments: Waiting.allCases)
  func overtaken(_ waiting: Waiting) async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      fixture.clock.set(at(69))
      let store = OvertakenStore(fixture.store) {
        fixture.clock.set(at(71))
        try await fixture.ledger.advance(to: at(71))
      }
      let ledger = fixture.makeLedger(store, recordEffects: { _ in })
      let transaction = try fixture.period(40...70, signed: 69)
      let submission = Submission(appID: "ocean", customerID: "ana", signedTransaction: transaction)
      switch waiting {
      case .submission: _ = try await ledger.submit(submission)
      case .batch: _ = try await ledger.submitBatch([submission])
      case .notification:
        let payload = try fixture.notification(about: transaction)
        _ = try await ledger.ingest(payload.incoming(at: nil), signedPayload: payload.signed)
      case .command: _ = try await ledger.merge("ben", into: "ana", fixture.scope)
      }
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .ended])
      let stored = try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 9) }
      #expect(stored.map(\.knownAt) == [at(50), at(71)])
      #expect(stored.map(\.evidence.receivedAt) == [at(50), at(71)])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("The first look for expiries does not undo a write that overtakes it")
  func overtakenExpiry() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(60))
      let store = OvertakenStore(fixture.store) {
        fixture.clock.set(at(61))
        _ = try await fixture.ledger.grant("pro", to: "ana", fixture.scope)
      }
      let ledger = fixture.makeLedger(store, recordEffects: { _ in })
      try await ledger.advance(by: ServiceClock(now: { fixture.clock.now }))
      let kinds = try await fixture.events().map(\.event.change.kind)
      #expect(kinds == [.granted])
    }
  }

  @Test("A relayed notification counts from its write, whenever the relay received it", arguments: [45, 500])
  func relayed(_ day: Int64) async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(30...40))
      fixture.clock.set(at(60))
      let payload = try fixture.notification(about: fixture.period(40...70))
      let received = try await fixture.ledger.ingest(
        payload.incoming(at: at(day)), signedPayload: payload.signed)
      #expect(received.record.receivedAt == min(at(day), at(60)))
      let last = try #require(try await fixture.events().last)
      #expect(last.event.change.after.isEntitled && last.event.recordedAt == at(60))
      let known = try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 9) }.map(\.knownAt)
      #expect(known == [at(50), at(60)])
      _ = try await fixture.submit(fixture.period(70...90, signed: 60))
      let later = try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 9) }.last?.knownAt
      #expect(later == at(60), "a time that has not come dates nothing that arrives later")
    }
  }
}

/// A signed notification.
private struct SignedNotification {
  let signed: String

  /// The notification as it arrives; `receivedAt` is the time that a relay states.
  func incoming(at receivedAt: Instant?) -> IncomingNotification {
    IncomingNotification(
      appID: "ocean", body: JSONValue.object(["signedPayload": .string(signed)]).serialized(),
      source: .notification, receivedAt: receivedAt)
  }
}

extension LedgerFixture {
  /// A renewal notification about a signed transaction.
  fileprivate func notification(about transaction: String) throws -> SignedNotification {
    SignedNotification(
      signed: try sign([
        "notificationType": "DID_RENEW", "notificationUUID": "renewal", "version": "2.0",
        "signedDate": .number(JSONNumber(at(40).millisecondsSince1970)),
        "data": [
          "bundleId": "com.example", "environment": "Sandbox", "signedTransactionInfo": .string(transaction),
        ],
      ]))
  }
}
