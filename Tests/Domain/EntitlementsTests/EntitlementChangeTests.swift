import AppStore
import Entitlements
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
    Case([paid(0...30)], [paid(0...30), paid(31...61)], on: 31, .renewed),
    Case([paid(0...30)], [paid(0...30, signed: 9)], on: 10),
    Case([paid(0...30)], [paid(0...30), paid(-60 ... -30)], on: 10),
    Case([paid(0...30)], [paid(0...30), paid(9...375, product: "yearly")], on: 10, .productChanged),
    Case(info(), info(signed: 9, renews: false), on: 10, .renewalTurnedOff),
    Case(info(renews: false), info(signed: 9), on: 10, .renewalTurnedOn),
    Case(info(), info(signed: 9, next: "yearly"), on: 10, .renewalProductChanged),
    Case(info(), info(signed: 29, grace: 36), on: 31, .enteredGracePeriod),
    Case(info(), info(signed: 31, isInRetry: true), on: 31, .enteredBillingRetry),
    Case(info(), info(signed: 9), on: 10),
  ]

  @Test("Each difference has its event kind", arguments: cases)
  func differences(of one: Case) {
    #expect(kinds(one.before, one.after, one.day) == one.expected)
  }

  @Test("Ownership changes and grants have event kinds of their own")
  func causes() {
    let (none, owned) = (CustomerFacts(), CustomerFacts(transactions: [paid(0...30)]))
    #expect(kinds(none, owned, 10, by: .ownership) == [.transferred])
    #expect(kinds(owned, none, 10, by: .ownership) == [.transferred])
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

  @Test("A refund of a past period and its reversal are reported once")
  func silentRefund() {
    func changes(_ before: [TransactionFact], _ after: [TransactionFact]) -> [EntitlementChange] {
      let (before, after) = (CustomerFacts(transactions: before), CustomerFacts(transactions: after))
      let answer = evaluate(after, entitlement: "pro", in: twoProducts, at: day(40))
      return EntitlementChange.revocations(
        of: "pro", from: before, to: after, in: twoProducts, answer: answer, at: day(40))
    }
    let (old, running) = (paid(0...30), paid(30...60))
    let refunded = paid(0...30, signed: 39, revoked: 38)
    let reported = changes([old, running], [refunded, running])
    #expect(reported.map(\.kind) == [.refunded])
    #expect(reported.map(\.effectiveAt) == [day(38)])
    #expect(reported.allSatisfy { $0.before == $0.after && $0.after.isEntitled })
    #expect(changes([refunded, running], [refunded, running]).isEmpty)
    #expect(changes([running], [refunded, running]).isEmpty)
    #expect(changes([refunded, running], [old, running]).map(\.kind) == [.refundReversed])
    let shared = { (fact: TransactionFact) in
      var fact = fact
      fact.ownership = .familyShared
      return fact
    }
    #expect(changes([shared(old)], [shared(refunded)]).map(\.kind) == [.revoked])
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
      to: evaluate(after, entitlement: "pro", in: twoProducts, at: day(today)), by: cause, at: day(today))
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
