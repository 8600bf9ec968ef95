import AppStore
import Entitlements
import TestSupport
import Testing

/// Lanes of what a customer had, and when.
@Suite struct CustomerHistoryTests {
  @Test(
    "At each instant the access lane has the answer, and segments never overlap",
    arguments: UInt64(0)..<UInt64(lifeCount(short: 24)))
  func agreesWithEvaluation(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 30_000)
    let facts = randomCustomer(&random)
    for app in [fullApp, patientApp] {
      let start = at(.random(in: -5...80, using: &random))
      let end = at(.random(in: 81...250, using: &random))
      let history = CustomerHistory(facts, in: app, from: start, to: end)
      for lane in history.lanes {
        for (left, right) in zip(lane.segments, lane.segments.dropFirst()) {
          #expect(left.end.map { left.start < $0 && $0 <= right.start } == true, "\(lane.kind)")
        }
        guard case .access(let entitlement) = lane.kind else { continue }
        #expect(lane.segments.first?.start == start)
        for (left, right) in zip(lane.segments, lane.segments.dropFirst()) {
          #expect(left.end == right.start)
        }
        for instant in instants(of: facts, &random) + [start, end] where instant >= start && instant <= end {
          let status = evaluate(facts, entitlement: entitlement, in: app, at: instant)
          let segment = lane.segments.last { $0.start <= instant }
          #expect(segment?.end.map { instant < $0 } ?? true)
          #expect(segment?.reason == status.reason, "\(entitlement) at \(instant)")
          #expect(segment?.accessLevel == status.accessLevel)
          #expect(segment?.substate == status.substate)
          #expect(segment?.decidingFact == status.decidingFact)
          #expect(segment?.transaction?.transactionID == status.deciding?.transactionID)
        }
      }
    }
  }

  @Test("A failed payment and its recovery are segments of both the access and the purchase")
  func recovered() throws {
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(36)
    }
    let recovered = renewal(signed: 40) { $0.autoRenewStatus = .on }
    let facts = CustomerFacts(
      transactions: [period(0...30), period(40...70)], renewals: [failed, recovered])
    let history = CustomerHistory(facts, in: app, from: at(-10), to: at(50))
    let access = try #require(history.lanes.first { $0.kind == .access(entitlement: "pro") })
    #expect(
      access.segments.map(\.reason) == [
        .neverPurchased, .subscriptionActive, .inGracePeriod, .billingRetry, .subscriptionActive,
      ])
    #expect(access.segments.map(\.start) == [at(-10), at(0), at(30), at(36), at(40)])
    #expect(access.segments.last?.end == at(70))
    let purchase = try #require(history.lanes.first { $0.kind == .purchase(originalTransactionID: "L1") })
    #expect(
      purchase.segments.map(\.reason) == [
        .subscriptionActive, .inGracePeriod, .billingRetry, .subscriptionActive,
      ])
    #expect(purchase.marks.map(\.at) == [at(0), at(40)])
  }

  @Test("Each period of a purchase is a separate segment, and a refund is a mark")
  func periods() throws {
    var refunded = period(30...60)
    refunded.revocationDate = at(45)
    let facts = CustomerFacts(transactions: [period(0...30), refunded])
    let history = CustomerHistory(facts, in: app, from: at(-1), to: at(100))
    let lane = try #require(history.lanes.first { $0.kind == .purchase(originalTransactionID: "L1") })
    #expect(lane.segments.map(\.transaction?.transactionID) == ["L1-0", "L1-30"])
    #expect(lane.segments.map(\.end) == [at(30), at(45)])
    #expect(lane.marks.map(\.kind) == [.renewed, .renewed, .refunded])
  }

  @Test("A purchase of another product is an upgrade within the period before it, and a renewal at its end")
  func upgrades() throws {
    func kinds(_ first: TransactionFact, _ second: TransactionFact) throws -> [CustomerHistory.Mark.Kind] {
      let facts = CustomerFacts(transactions: [first, second])
      let history = CustomerHistory(facts, in: app, from: at(-1), to: at(100))
      let lane = try #require(history.lanes.first { $0.kind == .purchase(originalTransactionID: "L1") })
      return lane.marks.map(\.kind)
    }
    let month = period(0...30, id: "L1")
    #expect(try kinds(month, period(10...40, "plus")) == [.purchased, .upgraded])
    #expect(try kinds(month, period(30...60, "plus")) == [.purchased, .renewed])
    #expect(try kinds(month, period(10...40)) == [.purchased, .renewed], "the same product")
    #expect(
      try kinds(month.with { $0.isUpgraded = true }, period(30...60, "plus")) == [.purchased, .upgraded],
      "Apple states it")
    let bought = period(10...40, "plus").with { $0.details.transactionReason = .purchase }
    #expect(
      try kinds(month.with { $0.revocationDate = at(5) }, bought) == [.purchased, .refunded, .purchased],
      "a refund ended the period before")
    #expect(
      try kinds(month.with { $0.revocationDate = at(10) }, bought) == [.purchased, .refunded, .upgraded],
      "the upgrade refunded the rest")
  }

  @Test(
    "A renewal that a purchase replaced before its period starts has no beginning",
    arguments: [(true, true), (true, false), (false, true), (false, false)])
  func replacedRenewal(isOtherProduct: Bool, isRefunded: Bool) throws {
    let upgrade = period(29...59, isOtherProduct ? "plus" : "monthly", id: "U").with {
      $0.details.transactionReason = .purchase
      if !isOtherProduct { $0.details.billingPlanType = .monthly }
    }
    let renewed = period(30...60, id: "R").with {
      $0.details.transactionReason = .renewal
      $0.isUpgraded = true
      if isRefunded { $0.revocationDate = at(29) }
    }
    let facts = CustomerFacts(transactions: [period(0...30, id: "L1"), upgrade, renewed])
    let history = CustomerHistory(facts, in: app, from: at(-1), to: at(50))
    let lane = try #require(history.lanes.first { $0.kind == .purchase(originalTransactionID: "L1") })
    #expect(lane.marks.filter { $0.kind != .refunded }.map(\.kind) == [.purchased, .upgraded])
    #expect(lane.marks.filter { $0.kind == .refunded }.map(\.at) == (isRefunded ? [at(29)] : []))
    #expect(lane.productID == upgrade.productID)
  }

  @Test("A grant is a lane up to its revocation, and one outside the span is left out")
  func grants() throws {
    var revoked = grant("G1", 0, 30)
    revoked.revokedAt = at(20)
    let facts = CustomerFacts(grants: [revoked, grant("G2", 90)])
    let history = CustomerHistory(facts, in: app, from: at(-1), to: at(50))
    let lanes = history.lanes.filter { if case .grant = $0.kind { true } else { false } }
    #expect(lanes.map(\.kind) == [.grant(id: "G1")])
    #expect(lanes.first?.segments.map(\.end) == [at(20)])
    #expect(lanes.first?.marks.map(\.kind) == [.grantRevoked])
    #expect(lanes.first?.segments.map(\.reason) == [.granted])
  }

  @Test("A purchase in another store is a segment for each state, with its product, and its refund a mark")
  func otherStores() throws {
    func state(_ revision: Int64, _ since: Int64, _ product: String) -> GrantFact {
      var fact = grant("G1", since, 90)
      fact.external = ExternalPurchase(
        source: "play", externalID: "GPA.1", productID: product, revision: revision)
      return fact
    }
    var refunded = state(2, 20, "gold")
    refunded.revokedAt = at(40)
    let facts = CustomerFacts(grants: [state(1, 0, "silver"), refunded])
    let history = CustomerHistory(facts, in: app, from: at(-1), to: at(50))
    for kind in [CustomerHistory.Kind.access(entitlement: "pro"), .grant(id: "G1")] {
      let lane = try #require(history.lanes.first { $0.kind == kind })
      let granted = lane.segments.filter { $0.accessLevel > .none }
      #expect(granted.map(\.productID) == ["silver", "gold"])
      #expect(granted.map(\.start) == [at(0), at(20)])
      #expect(granted.map(\.end) == [at(20), at(40)])
      #expect(granted.allSatisfy { $0.reason == .externalActive })
      #expect(lane.marks.map(\.kind) == (kind == .grant(id: "G1") ? [.refunded] : []))
    }
  }
}
