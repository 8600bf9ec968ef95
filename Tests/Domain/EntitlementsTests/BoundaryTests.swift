import AppStore
import Entitlements
import TestSupport
import Testing

/// Instants that are equal to an end, and documents that only a tie-breaker orders.
@Suite struct BoundaryTests {
  private static func failed(_ change: (inout RenewalFact) -> Void = { _ in }) -> RenewalFact {
    renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.renewalDate = at(30)
      change(&$0)
    }
  }

  @Test("Grace ends at its date, and billing retry 60 days after the period, to the millisecond")
  func graceAndRetry() {
    let facts = CustomerFacts(
      transactions: [period(0...30)], renewals: [Self.failed { $0.gracePeriodExpiresDate = at(46) }])
    func reason(_ milliseconds: Int64, after day: Int64) -> EntitlementReason {
      let instant = at(day).advanced(byMilliseconds: milliseconds)
      return evaluate(facts, entitlement: "pro", in: app, at: instant).reason
    }
    #expect(reason(-1, after: 30) == .subscriptionActive && reason(0, after: 30) == .inGracePeriod)
    #expect(reason(-1, after: 46) == .inGracePeriod && reason(0, after: 46) == .billingRetry)
    #expect(reason(-1, after: 90) == .billingRetry && reason(0, after: 90) == .billingLapsed)
  }

  @Test("A payment at the end of the grace period leaves no gap, and one after 60 days of retry does")
  func recovery() {
    let grace = Self.failed { $0.gracePeriodExpiresDate = at(46) }
    let inGrace = pro([period(0...30), period(46...60)], [grace], on: 46)
    #expect(inGrace.since == at(0) && inGrace.until == at(60))
    let late = [period(0...30), period(91...121)]
    #expect(pro(late, [Self.failed()], on: 90, hours: 23).reason == .billingLapsed)
    #expect(pro(late, [Self.failed()], on: 91).since == at(91))
  }

  @Test("A refund at the purchase leaves no access, and one at the end of the period all of it")
  func refund() {
    func refunded(_ day: Int64) -> TransactionFact { period(0...30).with { $0.revocationDate = at(day) } }
    #expect(pro([refunded(0)], on: 0).reason == .refunded)
    #expect(pro([refunded(0), period(30...60)], on: 30).since == at(30))
    #expect(pro([refunded(30)], on: 29, hours: 23).isEntitled)
    #expect(pro([refunded(30), period(30...60)], on: 45).since == at(0))
  }

  @Test("Renewal info that is signed at the end of a period proves how it ended")
  func signedAtEnd() {
    let expected = renewal(signed: 5) {
      $0.autoRenewStatus = .on
      $0.renewalDate = at(30)
    }
    let over = renewal(signed: 30) {
      ($0.autoRenewStatus, $0.expirationIntent) = (.off, .priceIncreaseNotAccepted)
      $0.renewalDate = at(30)
    }
    for renewals in [[expected, over], [over, expected]] {
      #expect(pro([period(0...30)], renewals, on: 29).reason == .subscriptionActive)
      #expect(pro([period(0...30)], renewals, on: 30).reason == .priceIncreaseNotAccepted)
    }
  }

  @Test("Of two documents that were signed at the same instant the one with the refund counts, in any order")
  func equalSignatures() {
    let valid = period(0...30).with { $0.signedDate = at(12) }
    let refunded = valid.with { $0.revocationDate = at(10) }
    for documents in [[valid, refunded], [refunded, valid], [refunded, valid, refunded]] {
      #expect(pro(documents, on: 12).reason == .refunded)
    }
  }

  @Test("A signed transaction replaces the entry of a receipt, however late that was made")
  func receiptAndTransaction() {
    let signed = period(0...30)
    let entry = signed.with {
      ($0.expiresDate, $0.signedDate) = (at(29), at(40))
      $0.details.isFromReceipt = true
    }
    for documents in [[signed, entry], [entry, signed]] {
      #expect(pro(documents, on: 10).until == at(30))
    }
  }

  @Test("A product that begins at the end of a period follows it, and one that begins before replaces it")
  func change() {
    #expect(pro([period(0...30), period(30...60, "plus")], on: 30).reason == .productChanged)
    let earlier = period(30...60, "plus").with { $0.purchaseDate = at(30).advanced(byMilliseconds: -1) }
    #expect(pro([period(0...30), earlier], on: 30).reason == .upgraded)
  }

  @Test("A non-renewing purchase at the end of another one continues it")
  func season() {
    let facts = [0, 90].map { purchase("season", .nonRenewingSubscription, on: $0) }
    #expect(pro(facts, on: 90).since == at(0) && pro(facts, on: 90).until == at(180))
    #expect(pro(facts, on: 180).reason == .nonRenewingEnded)
  }

  @Test("A member who leaves at the instant at which a period begins has the one before, and not that one")
  func member() {
    func shared(_ days: ClosedRange<Int64>) -> TransactionFact {
      period(days).with { $0.ownership = .familyShared }
    }
    let left = shared(30...60).with { ($0.revocationDate, $0.signedDate) = (at(30), at(30)) }
    for documents in [[shared(0...30), shared(30...60), left], [left, shared(30...60), shared(0...30)]] {
      #expect(pro(documents, on: 29, hours: 23).until == at(30))
      #expect(pro(documents, on: 30).reason == .familySharingEnded)
    }
  }
}
