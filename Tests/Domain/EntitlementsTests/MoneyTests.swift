import AppStore
import Entitlements
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

  @Test("Apple's commission is 30 % in the first paid year of a group and 15 % after it")
  func share() {
    let first = charged(period(0...365, "yearly"), 39_990)
    let second = charged(period(365...730, "yearly"), 39_990)
    let charges = charges([first, second])
    #expect(charges.map(\.price) == [39_990, 39_990])
    #expect(charges.map(\.proceeds) == [27_993, 33_991])
    #expect(charges.map(\.currency) == ["USD", "USD"])
  }

  @Test("A refund is the price or Apple's refunded share of it")
  func refund() {
    let refunded = charged(period(0...30), 9_990).with { $0.revocationDate = at(5) }
    #expect(charges([refunded]).map(\.price) == [9_990, -9_990])
    let half = refunded.with {
      $0.revocationType = .refundProrated
      $0.details.revocationPercentage = 50_000
    }
    #expect(charges([half]).map(\.price) == [9_990, -4_995])
    #expect(charges([half.with { $0.ownership = .familyShared }]).isEmpty)
  }

  /// Eight seats at 4.99.
  private static let team = charged(period(0...30), 4_990).with { $0.quantity = 8 }

  // Apple: TransactionMultiSeatInfo, "the transaction's price is the average price per seat".
  @Test("Seats cost the price of each; other products include their quantity in the price")
  func seats() {
    #expect(charges([Self.team]).map(\.price) == [39_920])
    #expect(charges([Self.team]).map(\.proceeds) == [27_944])
    let tiers = Self.team.with {
      $0.quantity = 52
      $0.details.price = 15_605
      $0.details.seatsPrice = 811_480
    }
    #expect(charges([tiers]).map(\.price) == [811_480])
    let shells = charged(purchase("shells", .consumable, on: 0), 4_950).with { $0.quantity = 5 }
    #expect(charges([shells]).map(\.price) == [4_950])
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
      let payments = charges(order)
      #expect(payments.map(\.price) == [39_920, -9_980, -4_990])
      #expect(payments.map(\.at) == [at(0), at(5), at(9)])
    }
    let all = documents + [refunded(8, reported: 20, revoked: at(18))]
    #expect(charges(all).map(\.price) == [39_920, -9_980, -4_990, -24_950])
    #expect(charges(all).last?.at == at(18))
    #expect(charges([Self.team.with { $0.signedDate = at(30) }] + documents).map(\.price) == [39_920])
  }

  @Test("Metrics add up customers per product and day")
  func tally() {
    var tally = DailyMetricsBuilder(app, from: day(0), to: day(4), productIDs: [], at: at(100))
    tally.add(CustomerFacts(transactions: [charged(period(0...2), 9_990)]))
    tally.add(CustomerFacts(transactions: [charged(period(1...30), 9_990)]))
    tally.add(CustomerFacts(transactions: [purchase("lifetime", .nonConsumable, on: 2)]))
    let monthly = tally.metrics.filter { $0.productID == "monthly" }
    #expect(monthly.map { $0.customers[.active] ?? 0 } == [1, 2, 1, 1])
    #expect(monthly.map { $0.milestones[.started] ?? 0 } == [1, 1, 0, 0])
    #expect(monthly.map { $0.milestones[.churnedOtherwise] ?? 0 } == [0, 0, 1, 0])
    #expect(monthly.map { $0.proceeds["USD"] ?? 0 } == [6_993, 6_993, 0, 0])
    let lifetime = tally.metrics.filter { $0.productID == "lifetime" }
    #expect(lifetime.map(\.day) == [day(2), day(3)])
  }

  @Test("Metrics of the current day count past events only")
  func future() {
    var tally = DailyMetricsBuilder(app, from: day(0), to: day(9), productIDs: ["monthly"], at: at(2))
    tally.add(CustomerFacts(transactions: [charged(period(0...30), 9_990), charged(period(30...60), 1)]))
    tally.add(CustomerFacts(transactions: [purchase("lifetime", .nonConsumable, on: 0)]))
    #expect(tally.metrics.map(\.day) == [day(0), day(1), day(2)])
    #expect(tally.metrics.map(\.productID) == ["monthly", "monthly", "monthly"])
  }

  @Test("The customers counted at the end of each day agree with their spans", arguments: UInt64(0)..<40)
  func standing(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let now = at(.random(in: 5...60, using: &random))
    var tally = DailyMetricsBuilder(app, from: day(3), to: day(40), productIDs: [], at: now)
    var expected: [String: Int64] = [:]
    for _ in 0..<8 {
      let facts = CustomerFacts(
        transactions: (0..<Int.random(in: 1...5, using: &random)).map { number in
          let start = Int64.random(in: -20...50, using: &random)
          let end = start + .random(in: 1...20, using: &random)
          return period(start...end, line: "L\(number % 3)").with {
            $0.offerDiscountType = random.next() % 4 == 0 ? .freeTrial : nil
          }
        })
      tally.add(facts)
      let spans = SubscriptionHistory(facts, in: app, at: now).spans
      for number in Int64(3)..<40 where day(number) <= now {
        let instant = min(day(number + 1).advanced(byMilliseconds: -1), now)
        for series in Set(spans.filter { $0.covers(instant) }.map { "\($0.productID) \($0.kind)" }) {
          expected["\(series) \(day(number))", default: 0] += 1
        }
      }
    }
    var counted: [String: Int64] = [:]
    for metrics in tally.metrics {
      for (kind, customers) in metrics.customers {
        counted["\(metrics.productID) \(kind) \(metrics.day)"] = customers
      }
    }
    #expect(counted == expected)
  }
}

/// The UTC day in which the test day `number` starts.
private func day(_ number: Int64) -> Instant {
  let milliseconds = at(number).millisecondsSince1970
  return Instant(millisecondsSince1970: milliseconds - milliseconds % DailyMetricsBuilder.day)
}

private func charged(_ fact: TransactionFact, _ price: Int64) -> TransactionFact {
  fact.with {
    $0.details.price = price
    $0.details.currency = "USD"
  }
}

private func charges(_ transactions: [TransactionFact]) -> [Payment] {
  Payment.all(CustomerFacts(transactions: transactions), in: app, during: at(-10)..<at(1000))
}

private func group(_ transactions: [TransactionFact], on day: Int64) -> GroupOverview? {
  CustomerOverview(CustomerFacts(transactions: transactions), in: app, at: at(day)).groups.first
}
