import AppStore
import Entitlements
import TestSupport
import Testing

/// Changes between two answers.
@Suite struct EntitlementChangeTests {
  typealias Kind = EntitlementChange.Kind

  /// Facts before and after, the day of the comparison, and the expected changes.
  struct Case: Sendable {
    let before: CustomerFacts
    let after: CustomerFacts
    let day: Int64
    let expected: [Kind]

    init(_ before: [TransactionFact], _ after: [TransactionFact], on day: Int64, _ expected: Kind...) {
      self.before = CustomerFacts(transactions: before)
      self.after = CustomerFacts(transactions: after)
      self.day = day
      self.expected = expected
    }

    init(_ before: RenewalFact, _ after: RenewalFact, on day: Int64, _ expected: Kind...) {
      self.before = CustomerFacts(transactions: [paid(0...30)], renewals: [before])
      self.after = CustomerFacts(transactions: [paid(0...30)], renewals: [after])
      self.day = day
      self.expected = expected
    }
  }

  static let cases: [Case] = [
    Case([], [paid(0...30)], on: 10, .started),
    Case([paid(0...30)], [paid(0...30), paid(30...60)], on: 10, .renewed),
    Case([paid(0...30)], [paid(0...37, signed: 5)], on: 10, .extended),
    Case([paid(0...30)], [paid(0...20, signed: 5)], on: 10, .shortened),
    Case([paid(0...30)], [paid(0...30, signed: 5, revoked: 9)], on: 10, .refunded),
    Case([paid(0...30, revoked: 9)], [paid(0...30, signed: 20)], on: 21, .refundReversed),
    Case([paid(0...30)], [paid(0...30), paid(30...60)], on: 31, .renewed),
    Case([paid(0...30)], [paid(0...30), paid(31...61)], on: 31, .started),
    Case([paid(0...30)], [paid(0...30, signed: 9)], on: 10),
    Case([paid(0...30)], [paid(0...30), paid(-60 ... -30)], on: 10),
    Case([paid(0...30)], [paid(0...30), paid(9...375, product: "yearly")], on: 10, .productChanged),
    Case(
      [paid(0...30), paid(30...60)],
      [paid(0...30, signed: 59, revoked: 58), paid(30...60), paid(60...90, signed: 59)], on: 59, .refunded,
      .renewed),
    Case(
      [paid(0...30), paid(30...60)], [paid(0...30, signed: 59, revoked: 58), paid(30...67, signed: 58)],
      on: 59, .refunded, .extended),
    Case(info(), info(signed: 9, renews: false), on: 10, .renewalTurnedOff),
    Case(info(renews: false), info(signed: 9), on: 10, .renewalTurnedOn),
    Case(info(), info(signed: 9, next: "yearly"), on: 10, .renewalProductChanged),
    Case(info(next: "yearly"), info(signed: 9), on: 10, .renewalProductChanged),
    Case(info(), info(signed: 29, grace: 36), on: 31, .enteredGracePeriod),
    Case(info(), info(signed: 29, grace: 36), on: 29),
    Case(info(), info(signed: 31, isInRetry: true), on: 31, .enteredBillingRetry),
    Case(
      info(signed: 30, grace: 46), info(signed: 40, isInRetry: true), on: 41, .ended, .enteredBillingRetry),
    Case(info(), info(signed: 9), on: 10),
  ]

  @Test("Each difference has its event kind", arguments: cases)
  func differences(of one: Case) {
    #expect(kinds(one.before, one.after, one.day) == one.expected)
  }

  @Test("Ownership changes and grants have separate event kinds")
  func causes() {
    let (none, owned) = (CustomerFacts(), CustomerFacts(transactions: [paid(0...30)]))
    #expect(kinds(none, owned, 10, by: .ownership) == [.transferred])
    #expect(kinds(owned, none, 10, by: .ownership) == [.transferred])
    #expect(kinds(none, owned, 10, by: .claim) == [.claimed])
    var grant = GrantFact(grantID: "grant-1", entitlement: "pro", since: day(1))
    let given = CustomerFacts(grants: [grant])
    #expect(kinds(none, given, 10, by: .grant) == [.granted])
    let both = CustomerFacts(transactions: [paid(0...30)], grants: [grant])
    #expect(kinds(owned, both, 10, by: .grant) == [.granted], "it outlasts the period that runs")
    grant.revokedAt = day(9)
    #expect(kinds(given, CustomerFacts(grants: [grant]), 10, by: .grant) == [.grantRevoked])
    let owningStill = CustomerFacts(transactions: [paid(0...30)], grants: [grant])
    #expect(kinds(both, owningStill, 10, by: .grant) == [.grantRevoked])
  }

  @Test("A refund of a past period and its reversal name its transaction and change no answer")
  func silentRefund() {
    let (old, running) = (paid(0...30), paid(30...60))
    let refunded = paid(0...30, signed: 39, revoked: 38)
    func reported(_ before: [TransactionFact], _ after: [TransactionFact]) -> [EntitlementChange] {
      changes(CustomerFacts(transactions: before), CustomerFacts(transactions: after), 40, by: .evidence)
    }
    let refund = reported([old, running], [refunded, running])
    #expect(refund.map(\.kind) == [.refunded])
    #expect(refund.map(\.effectiveAt) == [day(38)])
    #expect(refund.map(\.subject?.transactionID) == ["T0"])
    #expect(refund.map(\.after.deciding?.transactionID) == ["T30"])
    #expect(refund.allSatisfy { $0.before == $0.after && $0.after.isEntitled })
    #expect(reported([refunded, running], [refunded, running]).isEmpty)
    #expect(reported([running], [refunded, running]).map(\.kind) == [.refunded], "as the first news of it")
    #expect(reported([refunded, running], [old, running]).map(\.kind) == [.refundReversed])
    let shared = { (fact: TransactionFact) in
      var fact = fact
      fact.ownership = .familyShared
      return fact
    }
    #expect(reported([shared(old)], [shared(refunded)]).map(\.kind) == [.revoked])
  }

  @Test("An end of sharing that moves to the next period is no reversed refund")
  func movedEndOfSharing() {
    func seat(_ days: ClosedRange<Int64>, revoked: Int64?) -> TransactionFact {
      var fact = paid(days, revoked: revoked)
      fact.ownership = .assigned
      return fact
    }
    let change = FactsChange(
      from: CustomerFacts(transactions: [seat(0...30, revoked: 35)]),
      to: CustomerFacts(transactions: [seat(0...30, revoked: nil), seat(30...60, revoked: 35)]),
      by: .evidence)
    #expect(change.purchases.map(\.kind) == [.revoked])
  }

  @Test("More revoked seats than a purchase has are a refund of all", arguments: [1, 2, Int64.max])
  func revokedSeats(count: Int64) {
    var revoked = paid(0...30, signed: 9)
    revoked.revokedSeatQuantity = count
    let (before, after) = (
      CustomerFacts(transactions: [paid(0...30)]), CustomerFacts(transactions: [revoked])
    )
    #expect(changes(before, after, 10, by: .evidence).map(\.kind) == [.refunded])
  }

  @Test("A refund of the period that decides is one event, whatever decides afterwards")
  func refundOfDeciding() {
    let (old, renewed) = (paid(0...30), paid(30...60))
    func reported(_ after: [TransactionFact]) -> [EntitlementChange] {
      changes(
        CustomerFacts(transactions: [old, renewed]), CustomerFacts(transactions: after), 29, by: .evidence)
    }
    let current = reported([paid(0...30, signed: 28, revoked: 28), renewed])
    #expect(current.map(\.kind) == [.refunded] && current.first?.after.isEntitled == false)
    let next = reported([old, paid(30...60, signed: 29, revoked: 29)])
    #expect(next.map(\.kind) == [.refunded] && next.first?.subject?.transactionID == "T30")
    #expect(next.first?.after.until == day(30))
    let lifetime = TransactionFact(
      transactionID: "N", originalTransactionID: "N", productID: "yearly", type: .nonConsumable,
      purchaseDate: day(1), signedDate: day(1))
    let others = CustomerFacts(transactions: [old, lifetime])
    let without = CustomerFacts(transactions: [
      old,
      {
        var fact = lifetime
        fact.revocationDate = day(9)
        fact.signedDate = day(9)
        return fact
      }(),
    ])
    let kept = changes(others, without, 10, by: .evidence)
    #expect(kept.map(\.kind) == [.refunded] && kept.first?.after.deciding?.transactionID == "T0")
  }

  @Test("A grant that ends after a refund is an end, and no second refund")
  func grantEnds() {
    let refunded = paid(0...30, signed: 9, revoked: 8)
    var grant = GrantFact(grantID: "grant-1", entitlement: "pro", since: day(8))
    grant.until = day(20)
    let facts = CustomerFacts(transactions: [refunded], grants: [grant])
    func answer(_ date: Int64) -> EntitlementStatus {
      evaluate(facts, entitlement: "pro", in: twoProducts, at: day(date))
    }
    let ended = EntitlementChange.changes(
      of: "pro", from: answer(19), to: answer(20), by: .time, at: day(20),
      facts: FactsChange(from: facts, to: facts, by: .time))
    #expect(ended.map(\.kind) == [.ended])
  }

  @Test("A planned change of product that takes effect is a change of product only")
  func plannedProduct() {
    let planned = info(signed: 5, next: "yearly")
    var renewed = info(signed: 29, next: "yearly")
    (renewed.productID, renewed.renewalDate) = ("yearly", day(395))
    let facts = CustomerFacts(
      transactions: [paid(0...30), paid(30...395, product: "yearly", signed: 29)],
      renewals: [planned, renewed])
    #expect(kinds(of: facts, from: 29, to: 30) == [.productChanged])
  }

  @Test("A shared purchase that goes on after the own one is no renewal")
  func sharedGoesOn() {
    var shared = paid(10...375)
    (shared.originalTransactionID, shared.ownership) = ("S", .familyShared)
    let facts = CustomerFacts(transactions: [paid(0...30), shared])
    #expect(kinds(of: facts, from: 29, to: 30) == [.reasonChanged])
    var (failed, left) = (facts, facts)
    failed.insert(info(signed: 30, grace: 46))
    left.insert(info(signed: 30, grace: 46))
    left.insert(info(signed: 40, isInRetry: true))
    #expect(kinds(failed, left, 41) == [.reasonChanged])
  }

  @Test("Non-renewing subscriptions that add up make one event, when the next one is bought")
  func addedUp() {
    let seasons = [0, 80].map { purchase("season", .nonRenewingSubscription, on: $0) }
    let (first, both) = (CustomerFacts(transactions: [seasons[0]]), CustomerFacts(transactions: seasons))
    func kinds(_ before: CustomerFacts, _ dayBefore: Int64, on date: Int64, by cause: ChangeCause) -> [Kind] {
      EntitlementChange.changes(
        of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(dayBefore)),
        to: evaluate(both, entitlement: "pro", in: app, at: at(date)), by: cause, at: at(date),
        facts: FactsChange(from: before, to: both, by: cause)
      ).map(\.kind)
    }
    #expect(kinds(first, 80, on: 80, by: .evidence) == [.renewed])
    #expect(kinds(both, 89, on: 90, by: .time).isEmpty)
  }

  @Test("A longer grace period, and a catalog with longer access, are no renewal")
  func longerWithoutPayment() {
    let before = CustomerFacts(transactions: [paid(0...30)], renewals: [info(signed: 30, grace: 33)])
    var after = before
    after.insert(info(signed: 31, grace: 46))
    let grace = changes(before, after, 32, by: .evidence)
    #expect(grace.map(\.kind) == [.extended] && grace.map(\.effectiveAt) == [day(32)])
    let season = CustomerFacts(transactions: [purchase("season", .nonRenewingSubscription, on: 0)])
    func answer(_ duration: String) -> EntitlementStatus {
      let product = ProductDefinition(
        productID: "season", type: .nonRenewingSubscription, duration: Period(duration), entitlements: ["pro"]
      )
      let app = AppDefinition(
        id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil),
        environments: [.sandbox], products: [product])
      return evaluate(season, entitlement: "pro", in: app, at: at(10))
    }
    let longer = EntitlementChange.changes(
      of: "pro", from: answer("P90D"), to: answer("P120D"), by: .catalog, at: at(10),
      facts: FactsChange(from: season, to: season, by: .catalog))
    #expect(longer.map(\.kind) == [.extended])
  }

  @Test("A catalog in which the product grants less changes the access level")
  func accessLevel() {
    let facts = CustomerFacts(transactions: [paid(0...30)])
    func answer(_ level: AccessLevel) -> EntitlementStatus {
      let product = ProductDefinition(
        productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 1,
        accessLevels: ["pro": level])
      let app = AppDefinition(
        id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
        environments: [.sandbox], products: [product])
      return evaluate(facts, entitlement: "pro", in: app, at: day(10))
    }
    let changes = EntitlementChange.changes(
      of: "pro", from: answer(.full), to: answer(.limited), by: .catalog, at: day(10),
      facts: FactsChange(from: facts, to: facts, by: .catalog))
    #expect(changes.map(\.kind) == [.accessLevelChanged])
    #expect(changes.first?.before.accessLevel == .full && changes.first?.after.accessLevel == .limited)
  }

  @Test("A purchase after a lapse is a start, a late renewal is none")
  func resubscribed() {
    func kinds(_ reason: TransactionReason?, on start: Int64, _ renewals: [RenewalFact] = []) -> [Kind] {
      var again = paid(start...(start + 30))
      again.details.transactionReason = reason
      let before = CustomerFacts(transactions: [paid(0...30)], renewals: renewals)
      var after = before
      after.insert(again)
      return changes(before, after, start + 1, by: .evidence).map(\.kind)
    }
    #expect(kinds(.purchase, on: 40) == [.started])
    #expect(kinds(nil, on: 40) == [.started])
    #expect(kinds(.renewal, on: 30) == [.renewed])
    #expect(kinds(nil, on: 30) == [.renewed])
    #expect(kinds(.renewal, on: 40, [info(signed: 31, isInRetry: true)]) == [.recovered])
    #expect(kinds(.purchase, on: 40, [info(signed: 31, isInRetry: true)]) == [.started])
  }

  @Test("A renewal after a refund or an end of sharing is a start, unless Apple reported a failed payment")
  func renewedAfterRevocation() {
    func kinds(on start: Int64, _ renewals: [RenewalFact] = []) -> [Kind] {
      var renewed = paid(start...(start + 30))
      renewed.details.transactionReason = .renewal
      let before = CustomerFacts(transactions: [paid(0...30, signed: 9, revoked: 9)], renewals: renewals)
      var after = before
      after.insert(renewed)
      return changes(before, after, start + 1, by: .evidence).map(\.kind)
    }
    for start in [15, 30, 35] as [Int64] { #expect(kinds(on: start) == [.started], "day \(start)") }
    #expect(kinds(on: 35, [info(signed: 31, isInRetry: true)]) == [.recovered])
  }

  @Test("A change takes effect at the purchase or signature that states it")
  func effects() {
    let bought = changes(CustomerFacts(), CustomerFacts(transactions: [paid(0...30)]), 10, by: .evidence)
    #expect(bought.map(\.effectiveAt) == [day(0)])
    let (before, after) = (
      CustomerFacts(transactions: [paid(0...30)], renewals: [info()]),
      CustomerFacts(transactions: [paid(0...30)], renewals: [info(signed: 7, renews: false)])
    )
    #expect(changes(before, after, 10, by: .evidence).map(\.effectiveAt) == [day(7)])
    #expect(changes(CustomerFacts(), after, 10, by: .claim).map(\.effectiveAt) == [day(10)])
  }

  @Test("A past end takes effect at its own date")
  func effect() {
    let before = CustomerFacts(transactions: [paid(0...30)])
    let after = CustomerFacts(transactions: [paid(0...30, signed: 12, revoked: 9)])
    #expect(changes(before, after, 12, by: .evidence).map(\.effectiveAt) == [day(9)])
  }

  @Test("Each event kind has a distinct sentence")
  func sentences() {
    #expect(Set(Kind.allCases.map(\.sentence)).count == Kind.allCases.count)
  }

  /// The changes of time alone, from one day to another.
  private func kinds(of facts: CustomerFacts, from first: Int64, to last: Int64) -> [Kind] {
    func answer(_ date: Int64) -> EntitlementStatus {
      evaluate(facts, entitlement: "pro", in: twoProducts, at: day(date))
    }
    return EntitlementChange.changes(
      of: "pro", from: answer(first), to: answer(last), by: .time, at: day(last),
      facts: FactsChange(from: facts, to: facts, by: .time)
    ).map(\.kind)
  }

  private func kinds(
    _ before: CustomerFacts, _ after: CustomerFacts, _ day: Int64, by cause: ChangeCause = .evidence
  ) -> [Kind] {
    changes(before, after, day, by: cause).map(\.kind)
  }

  private func changes(
    _ before: CustomerFacts, _ after: CustomerFacts, _ today: Int64, by cause: ChangeCause
  ) -> [EntitlementChange] {
    EntitlementChange.changes(
      of: "pro", from: evaluate(before, entitlement: "pro", in: twoProducts, at: day(today)),
      to: evaluate(after, entitlement: "pro", in: twoProducts, at: day(today)), by: cause, at: day(today),
      facts: FactsChange(from: before, to: after, by: cause).granting("pro", in: twoProducts))
  }
}

private let twoProducts = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
  products: ["monthly", "yearly"].map {
    ProductDefinition(productID: $0, type: .autoRenewableSubscription, entitlements: ["pro"])
  })

private func day(_ number: Int64) -> Instant {
  Instant(millisecondsSince1970: 1_800_000_000_000 + number * 86_400_000)
}

private func paid(
  _ days: ClosedRange<Int64>, product: String = "monthly", signed: Int64? = nil, revoked: Int64? = nil
) -> TransactionFact {
  TransactionFact(
    transactionID: "T\(days.lowerBound)", originalTransactionID: "L", productID: product,
    type: .autoRenewableSubscription, purchaseDate: day(days.lowerBound), expiresDate: day(days.upperBound),
    revocationDate: revoked.map(day), signedDate: day(signed ?? days.lowerBound))
}

private func info(
  signed: Int64 = 1, renews: Bool = true, next: String = "monthly", grace: Int64? = nil,
  isInRetry: Bool = false
) -> RenewalFact {
  RenewalFact(
    originalTransactionID: "L", productID: "monthly", autoRenewProductID: next,
    autoRenewStatus: renews ? .on : .off, isInBillingRetry: isInRetry || grace != nil,
    gracePeriodExpiresDate: grace.map(day), signedDate: day(signed))
}
