import AppStore
import Entitlements
import Reports
import TestSupport
import Testing

@Suite struct MoneyTests {
  @Test(
    "Paid service excludes trials, pauses for gaps up to 60 days and resets after longer ones",
    arguments: [
      ([0...30, 30...60], 60), ([0...30, 90...120], 60), ([0...30, 91...121], 30), ([0...30], 30),
    ] as [([ClosedRange<Int64>], Int64)])
  func paidService(periods: [ClosedRange<Int64>], days: Int64) {
    let bought = periods.map {
      period($0).with { $0.details.transactionReason = .purchase }
    }
    let trial = period(-7...0).with { $0.offerDiscountType = .freeTrial }
    let last = periods.map(\.upperBound).max() ?? 0
    #expect(group([trial] + bought, on: last)?.paidServiceDays == days)
    #expect(group([trial] + bought, on: last + 61)?.paidServiceDays == 0)
  }

  @Test("Paid service has no gap after a recovery in grace, and one after a later recovery")
  func graceCounts() {
    let renewed = { (days: ClosedRange<Int64>) in
      period(days).with { $0.details.transactionReason = .renewal }
    }
    #expect(group([period(0...30), renewed(36...60)], on: 60)?.paidServiceDays == 60)
    #expect(group([period(0...30), renewed(40...70)], on: 70)?.paidServiceDays == 60)
    #expect(group([period(0...30), renewed(40...70)], on: 50)?.paidServiceDays == 40)
  }

  @Test("Paid service has no gap after a trial that was recovered in grace, whatever the length of the trial")
  func graceAfterTrial() {
    let trial = period(-3...0).with {
      ($0.offerType, $0.offerDiscountType) = (.introductory, .freeTrial)
    }
    let renewed = { (days: ClosedRange<Int64>) in
      period(days).with { $0.details.transactionReason = .renewal }
    }
    // Day 0 is January 15, so a month has 31 days.
    #expect(group([trial, renewed(3...31)], on: 31)?.paidServiceDays == 31)
    #expect(group([trial, renewed(2...7)], on: 7)?.paidServiceDays == 7)
    #expect(group([trial, renewed(3...34)], on: 34)?.paidServiceDays == 31)
    let failed = renewal(signed: 0) {
      ($0.isInBillingRetry, $0.gracePeriodExpiresDate, $0.renewalDate) = (true, at(6), at(0))
    }
    for (days, paid) in [(3...30, 30), (7...37, 30)] as [(ClosedRange<Int64>, Int64)] {
      let facts = CustomerFacts(transactions: [trial, renewed(days)], renewals: [failed])
      #expect(group(facts, on: days.upperBound)?.paidServiceDays == paid)
    }
  }

  @Test(
    "Periods whose documents are missing pause paid service; an end, a purchase and a failed payment reset it"
  )
  func missingPeriods() {
    let next = period(120...150).with { $0.details.transactionReason = .renewal }
    let facts = CustomerFacts(transactions: [period(0...30), next])
    #expect(group(facts, on: 150)?.paidServiceDays == 60)
    #expect(group(facts, on: 210)?.paidServiceDays == 60)
    #expect(group(facts, on: 211)?.paidServiceDays == 0)
    #expect(PurchaseState(facts, in: app, at: at(130))?.paidService == .growing(since: at(90)))
    let bought = next.with { $0.details.transactionReason = .purchase }
    #expect(group([period(0...30), bought], on: 150)?.paidServiceDays == 30)
    let refunded = period(0...30).with { $0.revocationDate = at(20) }
    #expect(group([refunded, next], on: 150)?.paidServiceDays == 30)
    let cancelled = renewal(signed: 30) {
      ($0.autoRenewStatus, $0.expirationIntent, $0.renewalDate) = (.off, .customerCancelled, at(30))
    }
    let failed = renewal(signed: 30) { ($0.isInBillingRetry, $0.renewalDate) = (true, at(30)) }
    for info in [cancelled, failed] {
      let ended = CustomerFacts(transactions: [period(0...30), next], renewals: [info])
      #expect(group(ended, on: 150)?.paidServiceDays == 30)
    }
  }

  // Apple: Extending the renewal date for auto-renewable subscriptions.
  @Test("Days of an extension are no paid service and no gap, in whatever order the documents arrive")
  func extensionDays() {
    let first = period(0...30)
    let extended = period(0...60).with { $0.signedDate = at(20) }
    let next = period(60...90).with { $0.details.transactionReason = .renewal }
    for documents in [
      [first, extended, next], [extended, next, first], [next, extended, first, extended],
    ] {
      #expect(group(documents, on: 30)?.paidServiceDays == 30)
      #expect(group(documents, on: 45)?.paidServiceDays == 30)
      #expect(group(documents, on: 75)?.paidServiceDays == 45)
      #expect(group(documents, on: 90)?.paidServiceDays == 60)
    }
    let facts = CustomerFacts(transactions: [extended, first])
    let growing = PurchaseState(facts, in: app, at: at(10))
    #expect(growing?.paidService == .growing(since: at(0)) && growing?.validUntil == at(30))
    let paused = PurchaseState(facts, in: app, at: at(40))
    #expect(paused?.paidService == .fixed(30 * 86_400_000) && paused?.validUntil == at(60))
  }

  @Test("A payment that is recovered after an extension is judged by the paid length of the period")
  func recoveryAfterExtension() {
    let extended = [period(0...30), period(0...60).with { $0.signedDate = at(20) }]
    let renewed = { (days: ClosedRange<Int64>) in
      period(days).with { $0.details.transactionReason = .renewal }
    }
    #expect(group(extended + [renewed(65...90)], on: 90)?.paidServiceDays == 60)
    #expect(group(extended + [renewed(80...110)], on: 110)?.paidServiceDays == 60)
    #expect(group(extended + [renewed(80...110)], on: 95)?.paidServiceDays == 45)
    // An extension of the recovered period does not look like a new cycle.
    let later = renewed(33...70).with { $0.signedDate = at(40) }
    #expect(group([period(0...30), renewed(33...60), later], on: 70)?.paidServiceDays == 60)
  }

  @Test("Only signed documents show an extension")
  func receiptsShowNoExtension() {
    let receipt = period(0...29).with { $0.details.isFromReceipt = true }
    #expect(group([receipt, period(0...30)], on: 30)?.paidServiceDays == 30)
    // A shorter period that Apple signed later was no extension.
    let shorter = period(0...20).with { $0.signedDate = at(5) }
    #expect(group([period(0...30), shorter], on: 20)?.paidServiceDays == 20)
  }

  @Test("Apple's commission is 30 % in the first paid year of a group and 15 % after it")
  func share() {
    let first = charged(period(0...365, "yearly"), 39_990)
    let second = charged(period(365...730, "yearly"), 39_990)
    let found = charges([first, second])
    #expect(found.map(\.amount) == [39_990, 39_990])
    #expect(found.map(\.proceeds) == [27_993, 33_992])
    #expect(found.map(\.currency) == ["USD", "USD"])
  }

  @Test("A refund is the price or Apple's refunded share of it")
  func refund() {
    let refunded = charged(period(0...30), 9_990).with { $0.revocationDate = at(5) }
    #expect(charges([refunded]).map(\.amount) == [9_990, -9_990])
    let half = refunded.with {
      $0.revocationType = .refundProrated
      $0.details.revocationPercentage = 50_000
    }
    #expect(charges([half]).map(\.amount) == [9_990, -4_995])
    #expect(charges([half.with { $0.ownership = .familyShared }]).isEmpty)
  }

  /// Eight seats at 4.99.
  private static let team = charged(period(0...30), 4_990).with { $0.quantity = 8 }

  // Apple: TransactionMultiSeatInfo, "the transaction's price is the average price per seat".
  @Test("Seats cost the price of each; other products include their quantity in the price")
  func seats() {
    #expect(charges([Self.team]).map(\.amount) == [39_920])
    #expect(charges([Self.team]).map(\.proceeds) == [27_944])
    let tiers = Self.team.with {
      $0.quantity = 52
      $0.details.price = 15_605
      $0.details.seatsPrice = 811_480
    }
    #expect(charges([tiers]).map(\.amount) == [811_480])
    let shells = charged(purchase("shells", .consumable, on: 0), 4_950).with { $0.quantity = 5 }
    #expect(charges([shells]).map(\.amount) == [4_950])
  }

  // Apple: revokedSeatQuantity; a refund of some of the seats has no date.
  @Test(
    "Refunded seats are subtracted when Apple first reports them, and a later refund of all subtracts the rest"
  )
  func seatRefunds() {
    func refunded(_ seats: Int64, reported day: Int64, revoked: Instant? = nil) -> TransactionFact {
      Self.team.with {
        $0.revokedSeatQuantity = seats
        $0.revocationDate = revoked
        $0.details.seatRefunds = [.init(quantity: seats, reportedAt: at(day))]
        $0.signedDate = at(day)
      }
    }
    let documents = [
      Self.team, refunded(2, reported: 5), refunded(3, reported: 9), refunded(3, reported: 15),
    ]
    for order in [documents, documents.reversed()] {
      let found = charges(order)
      #expect(found.map(\.amount) == [39_920, -9_980, -4_990])
      #expect(found.map(\.effectiveAt) == [at(0), at(5), at(9)])
    }
    let all = documents + [refunded(8, reported: 20, revoked: at(18))]
    #expect(charges(all).map(\.amount) == [39_920, -9_980, -4_990, -24_950])
    #expect(charges(all).last?.effectiveAt == at(18))
    // Apple may count the seats of seat-based refunds only.
    let rest = documents + [refunded(3, reported: 20, revoked: at(18))]
    #expect(charges(rest).map(\.amount) == [39_920, -9_980, -4_990, -24_950])
    #expect(charges(rest).last?.effectiveAt == at(18))
    #expect(charges([Self.team.with { $0.signedDate = at(30) }] + documents).map(\.amount) == [39_920])
  }
}

private func charged(_ fact: TransactionFact, _ price: Int64) -> TransactionFact {
  fact.with {
    $0.details.price = price
    $0.details.currency = "USD"
  }
}

private func charges(_ transactions: [TransactionFact]) -> [Posting] {
  charges(CustomerFacts(transactions: transactions))
}

private func group(_ transactions: [TransactionFact], on day: Int64) -> GroupOverview? {
  group(CustomerFacts(transactions: transactions), on: day)
}

private func group(_ facts: CustomerFacts, on day: Int64) -> GroupOverview? {
  CustomerOverview(facts, in: app, at: at(day)).groups.first
}
