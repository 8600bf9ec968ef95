import AppStore
import Entitlements
import Reports
import TestSupport
import Testing

/// Periods to which seats were added: several transactions about one period (Apple: additionalTransactionReason,
/// revokedSeatQuantity).
@Suite struct SeatPeriodTests {
  /// A transaction of a period to which seats were added.
  private static func seats(
    _ id: String, _ days: ClosedRange<Int64>, _ change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    period(days, id: id).with {
      $0.quantity = 2
      $0.details.additionalTransactionReason = "SEAT_ADDITION"
      $0.details.transactionReason = .purchase
      change(&$0)
    }
  }

  private static func failed(graceUntil day: Int64) -> RenewalFact {
    renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(day)
      $0.renewalDate = at(30)
    }
  }

  @Test("Access lasts until the extended end, whichever of the two documents about it has arrived")
  func extended() {
    for (first, added) in [(37, 30), (30, 37), (37, 37)] as [(Int64, Int64)] {
      let team = [Self.seats("A", 0...first), Self.seats("B", 5...added)]
      for day in [0, 5, 29, 33, 36] as [Int64] {
        let answer = pro(team, on: day)
        #expect(answer.isEntitled && answer.since == at(0) && answer.until == at(37), "day \(day)")
      }
      #expect(!pro(team, on: 37).isEntitled)
      #expect(movements(CustomerFacts(transactions: team), on: 50) == [.startedPaid, .lapsedOther])
    }
  }

  @Test("A period stays one after refunded seats that its extension left out")
  func refundedBeforeExtension() {
    let team = [
      Self.seats("A", 0...37), Self.seats("B", 5...30) { $0.revocationDate = at(12) },
      Self.seats("C", 15...37),
    ]
    let over = renewal(signed: 38) {
      $0.autoRenewStatus = .off
      $0.expirationIntent = .priceIncreaseNotAccepted
      $0.renewalDate = at(37)
    }
    #expect(pro(team, [over], on: 20).deciding?.transactionID == "A")
    #expect(pro(team, [over], on: 40).reason == .priceIncreaseNotAccepted)
    #expect(movements(CustomerFacts(transactions: team), on: 20) == [.startedPaid])
  }

  @Test("The extension of the first of two documents is EXTENDED, not RENEWED")
  func extensionEvent() {
    let before = CustomerFacts(transactions: [Self.seats("A", 0...30), Self.seats("B", 5...30)])
    for moved in 0...1 {
      var facts = before
      facts.insert(
        before.transactions[moved].with {
          $0.expiresDate = at(34)
          $0.signedDate = at(9)
        })
      let changes = EntitlementChange.changes(
        of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(9)),
        to: evaluate(facts, entitlement: "pro", in: app, at: at(9)), by: .evidence, at: at(9),
        facts: FactsChange(from: before, to: facts, by: .evidence))
      #expect(changes.map(\.kind) == [.extended])
    }
  }

  @Test("A refund of added seats leaves the grace period; a refund of all seats ends it")
  func graceAfterRefund() {
    let grace = Self.failed(graceUntil: 46)
    for refunded in 0...1 {
      var team = [Self.seats("A", 0...30), Self.seats("B", 5...30)]
      team[refunded].revocationDate = at(12)
      #expect(pro(team, [grace], on: 40).reason == .inGracePeriod)
      #expect(pro(team, [grace], on: 40).deciding?.transactionID == (refunded == 0 ? "B" : "A"))
      team[1 - refunded].revocationDate = at(35)
      #expect(pro(team, [grace], on: 34).reason == .inGracePeriod)
      #expect(!pro(team, [grace], on: 40).isEntitled)
    }
  }

  @Test("The first transaction keeps its renewal info after seats were added")
  func renewalInfo() {
    let team = [Self.seats("A", 0...30), Self.seats("B", 5...30)]
    let off = renewal(signed: 8) {
      $0.autoRenewStatus = .off
      $0.renewalDate = at(30)
    }
    #expect(pro(team, [off], on: 10).deciding?.transactionID == "A")
    #expect(pro(team, [off], on: 10).reason == .subscriptionNotRenewing)
    let over = renewal(signed: 31) {
      $0.autoRenewStatus = .off
      $0.expirationIntent = .priceIncreaseNotAccepted
      $0.renewalDate = at(30)
    }
    let facts = CustomerFacts(transactions: team, renewals: [off, over])
    let overview = CustomerOverview(facts, in: app, at: at(40)).products.first { $0.productID == "monthly" }
    #expect(overview?.renewal?.expirationIntent == .priceIncreaseNotAccepted)
    #expect(pro(team, [off, over], on: 40).reason == .priceIncreaseNotAccepted)
  }

  @Test("A purchase after the refund of all seats begins another period")
  func boughtAgain() {
    let first = Self.seats("A", 0...30) { $0.revocationDate = at(8) }
    let team = [first, Self.seats("B", 10...40), Self.seats("C", 12...40)]
    let answer = pro(team, on: 15)
    #expect(answer.since == at(10) && answer.until == at(40))
    let kinds = movements(CustomerFacts(transactions: team), on: 20)
    #expect(kinds == [.startedPaid, .refundedOut, .resubscribed])
  }

  @Test("A purchase stays a separate period when the refund before it is reversed")
  func reversedAfterPurchase() {
    let first = Self.seats("A", 0...31)
    let refunded = first.with {
      $0.revocationDate = at(8)
      $0.signedDate = at(8)
    }
    let reversed = first.with { $0.signedDate = at(12) }
    // It covers less than the first period, as one from February on does.
    let end = at(38, hours: 7)
    let bought = Self.seats("B", 10...38) {
      $0.expiresDate = end
      $0.details.additionalTransactionReason = nil
    }
    let withAddition = Self.seats("B", 10...38) {
      $0.expiresDate = end
      $0.signedDate = at(13)
    }
    let added = Self.seats("C", 13...38) { $0.expiresDate = end }
    let documents = [refunded, reversed, bought, withAddition, added]
    for missing in documents.indices {
      var known = documents
      known.remove(at: missing)
      var expected: CustomerFacts?
      for order in [known, known.reversed(), [known[2], known[0], known[3], known[1]]] {
        let facts = CustomerFacts(transactions: order)
        #expect(expected == nil || facts == expected)
        expected = facts
        let last = facts.transactions.count - 1
        #expect(facts.period(at: last).lowerBound == 1, "without document \(missing)")
      }
    }
    // A response has the latest state of all of them, signed at the same time; the refund may be repeated.
    for refund in [nil, at(15)] {
      let response = [reversed.with { $0.revocationDate = refund }, withAddition, added].map { fact in
        fact.with { $0.signedDate = at(20) }
      }
      #expect(CustomerFacts(transactions: response).period(at: 2) == 1...2)
      let answer = pro(response, on: 35)
      #expect(answer.deciding?.transactionID == "B" && answer.until == end)
    }
  }

  @Test("A purchase of a whole period is no addition of seats, though only its later document is known")
  func wholePeriod() {
    // From 15 January to 15 February, refunded and reversed; then from 1 February to 1 March.
    let first = Self.seats("A", 0...31) { $0.signedDate = at(18) }
    let bought = Self.seats("B", 17...45) { $0.signedDate = at(18) }
    for order in [[first, bought], [bought, first]] {
      let facts = CustomerFacts(transactions: order)
      #expect(facts.period(at: 1) == 1...1)
      #expect(pro(order, on: 40).deciding?.transactionID == "B" && pro(order, on: 40).until == at(45))
    }
    // Seats that were added a minute earlier, and whose extension is known before that of the first document.
    let added = bought.with { $0.purchaseDate = at(17).advanced(byMilliseconds: -60_000) }
    #expect(CustomerFacts(transactions: [first, added]).period(at: 1) == 0...1)
  }

  @Test("A document without the reason of added seats shows that a transaction began its period")
  func beganPeriod() {
    let first = Self.seats("A", 0...31) { $0.signedDate = at(12) }
    let bought = Self.seats("B", 10...38) { $0.details.additionalTransactionReason = nil }
    let later = Self.seats("B", 10...38) { $0.signedDate = at(13) }
    // The ends are whole days apart, as after an extension.
    #expect(CustomerFacts(transactions: [first, later]).period(at: 1) == 0...1)
    for order in [[first, later, bought], [bought, later, first], [later, first, bought]] {
      let facts = CustomerFacts(transactions: order)
      #expect(facts.period(at: 1) == 1...1)
      #expect(facts.transactions[1].asStated == later)
    }
  }

  @Test("A renewal with added seats is another period, and a refund of added seats is no lapse before it")
  func renewed() {
    let team = [
      Self.seats("A", 0...30), Self.seats("B", 5...30) { $0.revocationDate = at(12) },
      Self.seats("C", 30...60) { $0.details.transactionReason = .renewal }, Self.seats("D", 33...60),
    ]
    let all = CustomerFacts(transactions: team)
    #expect(movements(all, on: 40) == [.startedPaid, .renewed])
    let before = CustomerFacts(transactions: Array(team.prefix(2)))
    let changes = EntitlementChange.changes(
      of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(31)),
      to: evaluate(all, entitlement: "pro", in: app, at: at(31)), by: .evidence, at: at(31),
      facts: FactsChange(from: before, to: all, by: .evidence))
    #expect(changes.map(\.kind) == [.renewed])
  }

  @Test("A payment that is recovered within billing retry is RECOVERED, in a commitment for 90 days")
  func recovered() {
    for (isCommitment, day, kind) in [
      (false, 80, .recovered), (false, 100, .renewed), (true, 100, .recovered), (true, 130, .renewed),
    ] as [(Bool, Int64, EntitlementChange.Kind)] {
      func payment(_ number: Int64, _ days: ClosedRange<Int64>) -> TransactionFact {
        period(days).with {
          $0.details.transactionReason = .renewal
          guard isCommitment else { return }
          $0.details.commitment = .init(billingPeriodNumber: number, totalBillingPeriods: 12)
        }
      }
      let before = CustomerFacts(transactions: [payment(1, 0...30)])
      var after = before
      after.insert(payment(2, day...day + 30))
      let changes = EntitlementChange.changes(
        of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(day)),
        to: evaluate(after, entitlement: "pro", in: app, at: at(day)), by: .evidence, at: at(day),
        facts: FactsChange(from: before, to: after, by: .evidence))
      #expect(changes.map(\.kind) == [kind], "day \(day)")
    }
  }
}
