import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// The changes of the answer about a past instant.
@Suite struct PastAnswerTests {
  private static let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

  private func past(
    _ day: Int64, _ fixture: LedgerFixture, of customer: CustomerKey = ana
  ) async throws -> (status: EntitlementStatus, changes: [LaterChange]) {
    let app = try #require(fixture.catalog.value["ocean"])
    return try await fixture.store.snapshot { reader throws in
      let past = try PastAnswer(
        FactHistory(of: customer, in: reader), entitlement: "pro", in: app, at: at(day), reader)
      return (evaluate(past.facts, entitlement: "pro", in: app, at: at(day)), past.changes)
    }
  }

  @Test("Grace until four days ago: ten days ago the customer was entitled, in grace, with the same end")
  func graceIsOver() async throws {
    try await LedgerFixture.run { fixture in
      func info(signed: Int64, grace: Int64?) throws -> String {
        var payload: JSONObject = [
          "originalTransactionId": "L1", "productId": "monthly", "autoRenewProductId": "monthly",
          "autoRenewStatus": 1, "isInBillingRetryPeriod": true, "environment": "Sandbox",
          "renewalDate": date(70), "signedDate": date(signed),
        ]
        payload["gracePeriodExpiresDate"] = grace.map(date)
        return try fixture.sign(payload)
      }
      let period = try fixture.period(40...70)
      _ = try await fixture.submit(period)
      fixture.clock.set(at(70))
      _ = try await fixture.submit(period, renewal: info(signed: 70, grace: 86))
      fixture.clock.set(at(90))
      let before = try await past(80, fixture)
      _ = try await fixture.submit(period, renewal: info(signed: 90, grace: nil))
      let after = try await past(80, fixture)
      for answer in [before, after] {
        #expect(answer.status.isEntitled && answer.status.reason == .inGracePeriod)
        #expect(answer.status.until == at(86) && answer.changes.isEmpty)
      }
    }
  }

  @Test("The end and the renewal of a past answer are those that were expected then")
  func expectations() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      fixture.clock.set(at(60))
      _ = try await fixture.submit(
        fixture.period(40...70, signed: 60, ["revocationDate": date(60)]))
      fixture.clock.set(at(100))
      let then = try await past(55, fixture)
      #expect(then.status.until == at(70) && then.changes.isEmpty)
      #expect(try await past(61, fixture).status.reason == .refunded)
    }
  }

  @Test("A late document, a grant's revocation, a transfer and a catalog are named with id and time")
  func causes() async throws {
    try await LedgerFixture.run { fixture in
      try await fixture.ledger.adoptCatalog()
      fixture.clock.set(at(75))
      let late = try await fixture.submit(fixture.period(40...70))
      let first = try await past(60, fixture)
      #expect(first.status.isEntitled)
      #expect(
        first.changes == [
          LaterChange(cause: .evidence(late.evidenceID, word: "SIGNED_TRANSACTION"), recordedAt: at(75))
        ])
      fixture.clock.set(at(80))
      let move = try await fixture.ledger.move(
        "L1", from: "ana", to: "ben", policy: .transfer, fixture.scope)
      #expect(try await past(76, fixture).status.reason == .neverPurchased)
      #expect(try await past(60, fixture).status.isEntitled == false)
      let changes = try await past(76, fixture).changes
      #expect(changes.map(\.recordedAt) == [at(80)])
      #expect(changes.first?.cause == .evidence(try #require(move.evidenceID), word: "MOVE"))
      fixture.catalog.replace(
        with: Catalog([
          AppDefinition(
            id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox],
            products: [
              ProductDefinition(
                productID: "monthly", type: .autoRenewableSubscription, entitlements: ["pro", "sync"])
            ])
        ]))
      fixture.clock.set(at(85))
      try await fixture.ledger.adoptCatalog()
      let last = try await past(82, fixture).changes.last
      #expect(last?.recordedAt == at(85))
      guard case .catalog? = last?.cause else {
        Issue.record("the catalog is not named")
        return
      }
    }
  }

  @Test("An erasure is named as the cause of a changed past answer")
  func erasure() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...90))
      fixture.clock.set(at(60))
      #expect(try await past(55, fixture).status.isEntitled)
      fixture.clock.set(at(70))
      let erased = try await fixture.ledger.erase("ana", fixture.scope)
      let command = try #require(
        try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 99) }
          .last { $0.evidence.kind == .operatorCommand })
      #expect(erased.erasedRows > 0)
      let pseudonym = "erased-\(command.id.rawValue)"
      let customer = CustomerKey(appID: "ocean", environment: .sandbox, customerID: pseudonym)
      let answer = try await past(55, fixture, of: customer)
      #expect(!answer.status.isEntitled)
      #expect(
        answer.changes == [LaterChange(cause: .evidence(command.id, word: "ERASE"), recordedAt: at(70))])
    }
  }

  @Test("Purged past facts are those before an upgrade, and between a refund and its reversal")
  func purged() async throws {
    try await LedgerFixture.run { fixture in
      for line in ["L1", "L2"] { _ = try await fixture.submit(fixture.period(50...80, line: line)) }
      try await replaceRenewal(fixture)
      _ = try await fixture.submit(fixture.period(21...51, line: "L4"))
      _ = try await fixture.submit(
        fixture.period(51...81, line: "L4", signed: 50, ["transactionReason": "RENEWAL"]))
      fixture.clock.set(at(53))
      try await fixture.notify(
        "REFUND", signed: 53,
        fixture.period(50...80, line: "L2", signed: 53, ["revocationDate": date(53), "revocationReason": 1]))
      fixture.clock.set(at(56))
      try await fixture.notify("REFUND_REVERSED", signed: 56, fixture.period(50...80, line: "L2", signed: 56))
      fixture.clock.set(at(60))
      _ = try await fixture.submit(fixture.period(50...80, signed: 60, ["isUpgraded": true]))
      _ = try await fixture.submit(fixture.period(60...90, signed: 60, ["productId": "plus"]))
      try await markReplacedRenewal(fixture)
      fixture.clock.set(at(200))
      let upgraded: [EntitlementReason] = [
        .subscriptionActive, .subscriptionActive, .subscriptionActive, .upgraded,
      ]
      let refunded: [EntitlementReason] = [
        .subscriptionActive, .refundedForAppIssue, .subscriptionActive, .subscriptionActive,
      ]
      #expect(try await reasons("L1", fixture) == upgraded)
      #expect(try await reasons("L2", fixture) == refunded)
      #expect(try await reasons("L3", fixture).allSatisfy { $0 == .upgraded })
      #expect(try await paidUntil("L4", fixture) == at(81), "the renewal was charged a day early")
      let worker = PurgeWorker(
        [.init(.documents, days: 10), .init(.notifications, days: 10)], store: fixture.store,
        clocks: ServiceClocks(ServiceClock(now: { fixture.clock.now })),
        sleep: { _ in throw CancellationError() })
      try await worker.run()
      #expect(
        try await fixture.evidence().allSatisfy { $0.kind == .operatorCommand || $0.content.body == nil })
      #expect(try await reasons("L1", fixture) == upgraded)
      #expect(try await reasons("L2", fixture) == refunded)
      #expect(try await reasons("L3", fixture).allSatisfy { $0 == .upgraded })
      #expect(try await paidUntil("L4", fixture) == at(81))
    }
  }

  /// Returns the reasons of the answers about a line on the days 52, 54, 57 and 61, as they were known then.
  private func reasons(_ line: String, _ fixture: LedgerFixture) async throws -> [EntitlementReason] {
    try await fixture.store.snapshot { reader throws in
      let history = try FactHistory(of: Self.ana, in: reader)
      return ([52, 54, 57, 61] as [Int64]).map { day in
        let known = history.facts(knownAt: at(day)).ofLine(line)
        return evaluate(known, entitlement: "pro", in: LedgerFixture.app, at: at(day)).reason
      }
    }
  }

  @Test("The holder of a seat who lost it and has one again keeps both times, and the gap between them")
  func regainedSeat() async throws {
    try await LedgerFixture.run { fixture in
      func team(refunded: Int64) throws -> String {
        try fixture.period(
          40...70, signed: refunded == 0 ? 40 : 53,
          [
            "quantity": 2,
            "multiSeatInfo": [
              "invitationManagement": "DEVELOPER", "revokedSeatQuantity": .number(JSONNumber(refunded)),
            ],
          ])
      }
      _ = try await fixture.submit(team(refunded: 0), for: "boss")
      var seats: [String] = []
      for customer in ["dan", "ana"] {
        let claimed = try await fixture.ledger.claimSeat(
          of: "L1", for: customer, request: customer, seatClaimID: nil, fixture.scope)
        seats.append(try #require(claimed.seat).seatID)
        fixture.clock.set(at(51))
      }
      fixture.clock.set(at(53))
      _ = try await fixture.submit(team(refunded: 1), for: "boss")
      fixture.clock.set(at(55))
      _ = try await fixture.ledger.releaseSeat(seats[0], of: "L1", fixture.scope)
      for (day, isEntitled) in [(52, true), (54, false), (56, true)] as [(Int64, Bool)] {
        let answer = try await past(day, fixture)
        #expect(answer.status.isEntitled == isEntitled, "day \(day)")
        #expect(answer.changes.isEmpty, "day \(day)")
      }
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  /// Returns the end of the paid time of a line on day 50, as it was known then.
  private func paidUntil(_ line: String, _ fixture: LedgerFixture) async throws -> Instant? {
    try await fixture.store.snapshot { reader throws in
      let known = try FactHistory(of: Self.ana, in: reader).facts(knownAt: at(50)).ofLine(line)
      return evaluate(known, entitlement: "pro", in: LedgerFixture.app, at: at(50)).paidUntil
    }
  }

  /// An upgrade on day 50 replaces a renewal from day 51 on, which was charged before.
  private func replaceRenewal(_ fixture: LedgerFixture) async throws {
    _ = try await fixture.submit(fixture.period(21...51, line: "L3"))
    _ = try await fixture.submit(
      fixture.period(51...81, line: "L3", signed: 49, ["transactionReason": "RENEWAL"]))
    _ = try await fixture.submit(
      fixture.period(50...80, line: "L3", ["transactionReason": "PURCHASE", "productId": "plus"]))
  }

  /// Apple's mark of the replaced renewal, on day 60, and the renewal of the upgrade, on day 80.
  private func markReplacedRenewal(_ fixture: LedgerFixture) async throws {
    _ = try await fixture.submit(
      fixture.period(51...81, line: "L3", signed: 60, ["transactionReason": "RENEWAL", "isUpgraded": true]))
    fixture.clock.set(at(80))
    _ = try await fixture.submit(
      fixture.period(80...110, line: "L3", ["transactionReason": "RENEWAL", "productId": "plus"]))
  }

  private func date(_ day: Int64) -> JSONValue { .number(JSONNumber(at(day).millisecondsSince1970)) }
}
