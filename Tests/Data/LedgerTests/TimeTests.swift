import AppStore
import Entitlements
import Foundation
import JSON
import Ledger
import SQLiteStore
import Store
import TestSupport
import Testing

/// Changes by time and by the catalog, and facts as of an earlier day.
@Suite(.timeLimit(.minutes(10))) struct TimeTests {
  @Test("An expiry without a notification is one event with its own time")
  func expiry() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      #expect(try await fixture.ledger.advance(to: at(69)) == 0)
      fixture.clock.set(at(90))
      #expect(try await fixture.ledger.advance(to: at(90)) == 1)
      #expect(try await fixture.ledger.advance(to: at(95)) == 0)
      let last = try #require(try await fixture.events().last)
      #expect(last.event.change.kind == .ended)
      #expect(last.event.change.effectiveAt == at(70))
      #expect(last.event.recordedAt == at(90))
      #expect(last.event.evidenceID == nil)
      #expect(try fixture.answer(on: 90) != .stale)
    }
  }

  @Test("Evidence after an expiry records the expiry first, once")
  func evidenceAfterExpiry() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      fixture.clock.set(at(72))
      _ = try await fixture.submit(fixture.period(70...100))
      #expect(try await fixture.ledger.advance(to: at(72)) == 0)
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .ended, .renewed])
      #expect(try await fixture.events().map(\.sequence) == [1, 2, 3])
      #expect(try await fixture.events().map(\.event.evidenceID?.rawValue) == [1, nil, 2])
    }
  }

  @Test("A clock that jumped forward and back leaves each event about the future corrected")
  func clockSetBack() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      _ = try await fixture.submit(fixture.period(40...90, line: "L2"), for: "ben")
      try await fixture.ledger.advance(to: at(51))
      fixture.clock.set(at(80))
      #expect(try await fixture.ledger.advance(to: at(80)) == 1)
      fixture.clock.set(at(52))
      #expect(fixture.ledger.wasClockSetBack(at: at(52)))
      #expect(try await fixture.ledger.advance(to: at(52)) == 1)
      #expect(!fixture.ledger.wasClockSetBack(at: at(52)))
      #expect(try await fixture.ledger.advance(to: at(53)) == 0)
      let events = try await fixture.events().filter { $0.event.customer.customerID == "ana" }
      #expect(events.map(\.event.change.kind) == [.started, .ended, .started])
      #expect(try await fixture.ledger.advance(to: at(70)) == 1)
    }
  }

  @Test("A process that leads again corrects what another one recorded with a clock that was ahead")
  func clockOfAnotherLeader() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      func lead(untilEvents count: Int, at now: Instant) async throws {
        let worker = DueWorker.expiry(
          fixture.ledger, store: fixture.store, clock: ServiceClock(now: { now }))
        let running = Task { try await worker.run() }
        while try await fixture.events().count < count { try await Task.sleep(for: .milliseconds(5)) }
        while fixture.ledger.wasClockSetBack(at: now) { try await Task.sleep(for: .milliseconds(5)) }
        running.cancel()
        _ = await running.result
      }
      try await lead(untilEvents: 1, at: at(51))
      let other = fixture.makeLedger(fixture.store) { _ in }
      #expect(try await other.advance(to: at(80)) == 1)
      try await lead(untilEvents: 3, at: at(52))
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .ended, .started])
    }
  }

  @Test("A renewal that is reported late is no end; one that is not reported ends after the slack")
  func slack() async throws {
    try await LedgerFixture.run { fixture in
      let app = AppDefinition(
        id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox],
        products: Array(LedgerFixture.app.products.values), renewalPolicy: .standard)
      fixture.catalog.replace(with: Catalog([app]))
      _ = try await fixture.submit(fixture.period(40...60))
      for minutes in [Int64(0), 1, 59] {
        fixture.clock.set(at(60).advanced(byMilliseconds: minutes * 60_000))
        #expect(try await fixture.ledger.advance(to: fixture.clock.now) == 0)
      }
      _ = try await fixture.submit(fixture.period(60...80))
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .renewed])
      fixture.clock.set(at(80, hours: 1))
      #expect(try await fixture.ledger.advance(to: fixture.clock.now) == 1)
      let last = try #require(try await fixture.events().last?.event.change)
      #expect(last.kind == .ended && last.effectiveAt == at(80, hours: 1))
    }
  }

  @Test("An end that was written before the news of a renewal arrived is corrected by an event")
  func correctedEnds() async throws {
    // The service was down past the slack, or its clock jumped there, before the renewal was reported.
    for clock in [at(61), at(50, hours: 5)] {
      try await LedgerFixture.run { fixture in
        let app = AppDefinition(
          id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox],
          products: Array(LedgerFixture.app.products.values), renewalPolicy: .standard)
        fixture.catalog.replace(with: Catalog([app]))
        _ = try await fixture.submit(fixture.period(40...60))
        fixture.clock.set(at(61))
        #expect(try await fixture.ledger.advance(to: at(61)) == 1)
        fixture.clock.set(clock)
        _ = try await fixture.submit(fixture.period(60...90))
        _ = try await fixture.ledger.advance(to: clock)
        let changes = try await fixture.events().map(\.event.change)
        #expect(changes.prefix(2).map(\.kind) == [.started, .ended])
        let last = try #require(changes.last)
        #expect([.started, .renewed].contains(last.kind) && last.after.isEntitled, "\(changes.map(\.kind))")
      }
    }
  }

  @Test("The end of Apple's grace period is an end, followed by the reason")
  func graceEnds() async throws {
    try await LedgerFixture.run { fixture in
      let period = try fixture.period(40...60)
      _ = try await fixture.submit(period)
      fixture.clock.set(at(60))
      let info = try fixture.sign([
        "originalTransactionId": "L1", "productId": "monthly", "autoRenewProductId": "monthly",
        "autoRenewStatus": 1, "isInBillingRetryPeriod": true, "environment": "Sandbox",
        "gracePeriodExpiresDate": .number(JSONNumber(at(76).millisecondsSince1970)),
        "signedDate": .number(JSONNumber(at(60).millisecondsSince1970)),
      ])
      _ = try await fixture.submit(period, renewal: info)
      #expect(try await fixture.events().last?.event.change.kind == .enteredGracePeriod)
      fixture.clock.set(at(80))
      #expect(try await fixture.ledger.advance(to: at(80)) == 2)
      let ends = try await fixture.events().suffix(2).map(\.event.change)
      #expect(ends.map(\.kind) == [.ended, .enteredBillingRetry])
      #expect(ends.allSatisfy { $0.effectiveAt == at(76) && !$0.after.isEntitled })
    }
  }

  @Test("A clock that was ahead in one environment does not date what another one learns later")
  func knownAtOfEnvironments() async throws {
    try await LedgerFixture.run { fixture in
      let app = AppDefinition(
        id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox, .xcode],
        products: Array(LedgerFixture.app.products.values))
      fixture.catalog.replace(with: Catalog([app]))
      fixture.clock.set(at(400))
      _ = try await fixture.submit(fixture.period(40...70))
      fixture.clock.set(at(51))
      _ = try await fixture.submit(fixture.period(45...75))
      _ = try await fixture.submit(fixture.period(45...75, line: "L9", ["environment": "Xcode"]), for: "ben")
      let known = try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 9) }.map(\.knownAt)
      #expect(known == [at(400), at(400), at(51)])
    }
  }

  @Test("Resubmitting emits no event, and each change one")
  func oneEventForEachChange() async throws {
    try await LedgerFixture.run { fixture in
      let documents = [
        try fixture.period(40...70), try fixture.period(40...77, line: "L1", signed: 45),
        try fixture.period(
          40...77, signed: 48, ["revocationDate": .number(JSONNumber(at(48).millisecondsSince1970))]),
        try fixture.period(40...77, signed: 49),
      ]
      for jws in documents + documents { _ = try await fixture.submit(jws) }
      let kinds = try await fixture.events().map(\.event.change.kind)
      #expect(kinds == [.started, .extended, .refunded, .refundReversed])
    }
  }

  @Test("A changed catalog emits events once for each affected customer")
  func catalog() async throws {
    try await LedgerFixture.run { fixture in
      for number in 0..<150 {
        _ = try await fixture.submit(fixture.period(40...70, line: "L\(number)"), for: "c\(number)")
      }
      #expect(try await fixture.ledger.adoptCatalog() == 0)
      let app = AppDefinition(
        id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox],
        products: [
          ProductDefinition(
            productID: "monthly", type: .autoRenewableSubscription, entitlements: ["pro", "sync"])
        ])
      fixture.catalog.replace(with: Catalog([app]))
      #expect(try await fixture.ledger.adoptCatalog() == 150)
      #expect(try await fixture.ledger.adoptCatalog() == 0)
      let last = try #require(try await fixture.events().last)
      #expect(last.event.change.entitlement == "sync")
      #expect(last.event.change.kind == .started)
    }
  }

  @Test("Facts as of a day contain only what had arrived by then, links and grants included")
  func knownAt() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70), for: nil)
      fixture.clock.set(at(52))
      _ = try await fixture.ledger.move("L1", to: "ana", policy: .keep, fixture.scope)
      fixture.clock.set(at(54))
      let grant = try await fixture.ledger.grant("pro", to: "ana", fixture.scope).grant
      fixture.clock.set(at(56))
      let refund = ["revocationDate": JSONValue.number(JSONNumber(at(55).millisecondsSince1970))]
      _ = try await fixture.submit(fixture.period(40...70, signed: 55, JSONObject(refund.map { ($0, $1) })))
      fixture.clock.set(at(58))
      _ = try await fixture.ledger.revokeGrant(try #require(grant?.grantID), fixture.scope)
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      let facts = try fixture.facts()
      try await fixture.store.snapshot { reader throws in
        func known(_ day: Int64) throws -> CustomerFacts {
          try FactHistory(of: ana, in: reader).facts(knownAt: at(day))
        }
        #expect(try known(51) == CustomerFacts())
        #expect(try known(53).transactions.map(\.revocationDate) == [nil])
        #expect(try known(53).grants.isEmpty)
        #expect(try known(55).grants.map(\.revokedAt) == [nil])
        #expect(try known(57).transactions.map(\.revocationDate) == [at(55)])
        #expect(try known(58) == facts)
      }
    }
  }
}
