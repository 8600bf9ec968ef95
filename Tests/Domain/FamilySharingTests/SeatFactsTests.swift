import AppStore
import Entitlements
import FamilySharing
import TestSupport
import Testing

/// The facts of seats and the seat capacity.
@Suite struct SeatFactsTests {
  private static func team(_ quantity: Int64, _ days: ClosedRange<Int64> = 0...30) -> TransactionFact {
    period(days, line: "team").with {
      $0.quantity = quantity
      $0.details.price = 4990
      $0.details.invitationManagement = .developer
      $0.offerType = .introductory
    }
  }

  /// The app with a renewal slack of one hour.
  private static let patient = AppDefinition(
    id: "ocean", identity: app.identity, environments: [.sandbox], products: Array(app.products.values),
    renewalPolicy: .standard)

  @Test("A seat has the purchase from its claim on as ASSIGNED, without price and offer")
  func holder() {
    let seat = seat(1, claimed: 5)
    let facts = CustomerFacts(transactions: [Self.team(2)]).assigned(to: seat, among: [seat])
    let status = evaluate(facts, entitlement: "pro", in: app, at: at(6))
    #expect(status.deciding?.ownership == .assigned)
    #expect(status.deciding?.originalTransactionID == "seat-1")
    #expect(status.since == at(5))
    #expect(status.until == at(30))
    #expect(facts.transactions.first?.details == TransactionDetails())
    #expect(facts.transactions.first?.offerType == nil)
    #expect(!evaluate(facts, entitlement: "pro", in: app, at: at(4)).isEntitled)
  }

  // Apple, Supporting monthly subscriptions with a 12-month commitment: a failed payment has no grace, and is retried for
  // up to 90 days.
  @Test("A seat of a commitment has no slack after a payment is due, and its retry lasts 90 days")
  func commitment() {
    let payment = Self.team(2).with {
      $0.details.commitment = .init(billingPeriodNumber: 3, totalBillingPeriods: 12)
    }
    let seat = seat(1, claimed: 5)
    let plain = RenewalFact(
      originalTransactionID: "team", productID: "monthly", isInBillingRetry: true, signedDate: at(31))
    var failed = plain
    failed.details.billingPlanType = .monthly
    func status(_ renewals: [RenewalFact], _ payment: TransactionFact, on day: Int64) -> EntitlementStatus {
      let purchase = CustomerFacts(transactions: [payment], renewals: renewals)
      return evaluate(
        purchase.assigned(to: seat, among: [seat]), entitlement: "pro", in: Self.patient, at: at(day))
    }
    #expect(status([], payment, on: 30).reason == .expired)
    #expect(status([], Self.team(2), on: 30).reason == .awaitingRenewal)
    #expect(status([failed], payment, on: 119).reason == .billingRetry)
    #expect(status([failed], payment, on: 120).reason == .billingLapsed)
    #expect(status([plain], Self.team(2), on: 90).reason == .billingLapsed)
  }

  @Test("A copy of a period adds no seats")
  func copy() {
    let copies = ["A", "B"].map { id in
      Self.team(1).with {
        $0.transactionID = id
        $0.details.webOrderLineItemID = "W"
      }
    }
    #expect(SeatCapacity(CustomerFacts(transactions: copies)).current == 1)
    let (first, second) = (seat(1, claimed: 1), seat(2, claimed: 2))
    let facts = CustomerFacts(transactions: copies).assigned(to: second, among: [first, second])
    #expect(facts.transactions.isEmpty)
  }

  @Test(
    "A renewal that an upgrade replaced, or a refund cancelled, before its period starts has no seats",
    arguments: [false, true])
  func withdrawn(isRefunded: Bool) {
    let first = Self.team(2).with { $0.productID = "basic" }
    let upgrade = Self.team(3, 29...59).with { $0.details.transactionReason = .purchase }
    let renewed = Self.team(2, 30...60).with {
      $0.productID = "basic"
      $0.details.transactionReason = .renewal
      $0.signedDate = at(28)
      if isRefunded { ($0.revocationDate, $0.signedDate) = (at(29), at(29)) }
    }
    let purchase = CustomerFacts(transactions: [first, upgrade, renewed])
    #expect(SeatCapacity(purchase).current == 3)
    let seat = seat(1, claimed: 5)
    let facts = purchase.assigned(to: seat, among: [seat])
    for day in [29, 30, 58] as [Int64] {
      #expect(evaluate(facts, entitlement: "pro", in: app, at: at(day)).isEntitled, "day \(day)")
    }
  }

  @Test("Numbers of seats that no sum can hold, as documents of Xcode can have, are counted as very many")
  func extremeNumbers() {
    let many = ["A", "B"].map { id in
      Self.team(.max).with {
        $0.transactionID = id
        $0.revokedSeatQuantity = .min
      }
    }
    #expect(SeatCapacity(CustomerFacts(transactions: many)).current == .max)
  }

  @Test(
    "A number of seats below zero counts as none, and no claim has access",
    arguments: [Int64.min, -1, 0], [nil, Int64.min, -1, 1, Int64.max])
  func negativeNumbers(quantity: Int64, revoked: Int64?) {
    let purchase = CustomerFacts(
      transactions: [Self.team(quantity).with { $0.revokedSeatQuantity = revoked }])
    #expect(SeatCapacity(purchase).current == 0)
    let seats = [seat(1, claimed: 1, released: 10), seat(2, claimed: 2)]
    for seat in seats { #expect(purchase.assigned(to: seat, among: seats).transactions.isEmpty) }
  }

  @Test("A seat shares the grace of the purchase, without billing advice")
  func grace() {
    let seat = seat(1, claimed: 5)
    let failed = RenewalFact(
      originalTransactionID: "team", productID: "monthly", isInBillingRetry: true,
      gracePeriodExpiresDate: at(46), signedDate: at(30))
    let purchase = CustomerFacts(transactions: [Self.team(2)], renewals: [failed])
    let status = evaluate(
      purchase.assigned(to: seat, among: [seat]), entitlement: "pro", in: app, at: at(40))
    #expect(status.reason == .inGracePeriod)
    #expect(status.advice(in: app).isEmpty)
  }

  @Test(
    "A release affects every seat whose facts it changes, and none of a purchase with enough seats",
    arguments: UInt64(0)..<300)
  func affected(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let count = Int.random(in: 1...7, using: &random)
    let seats = (0..<count).map { number in
      let claimed = Int64.random(in: 0...50, using: &random)
      let isReleased = Bool.random(using: &random)
      return seat(
        number, claimed: claimed, released: isReleased ? claimed + .random(in: 1...20, using: &random) : nil)
    }
    let periods = [0...30, 30...60, 60...90].map { (days: ClosedRange<Int64>) in
      Self.team(.random(in: 0...8, using: &random), days).with { $0.transactionID = "T\(days.lowerBound)" }
    }
    let purchase = CustomerFacts(transactions: periods)
    for (index, seat) in seats.enumerated() where seat.isHeld {
      var after = seats
      after[index].releasedAt = at(55)
      let affected = Set(
        SeatCapacity(purchase).seats(affectedByReleaseOf: after[index], among: after).map(\.seatID))
      #expect(affected.contains(seat.seatID))
      for (old, new) in zip(seats, after) where !affected.contains(old.seatID) {
        #expect(purchase.assigned(to: old, among: seats) == purchase.assigned(to: new, among: after))
      }
      let enough = CustomerFacts(transactions: [Self.team(Int64(count))])
      #expect(
        SeatCapacity(enough).seats(affectedByReleaseOf: seat, among: seats).map(\.seatID) == [seat.seatID])
    }
  }

  @Test("A released seat ends and the next waiting claim gets it")
  func release() {
    let seats = [seat(1, claimed: 1, released: 10), seat(2, claimed: 2)]
    let purchase = CustomerFacts(transactions: [Self.team(1)])
    let (first, second) = (
      purchase.assigned(to: seats[0], among: seats), purchase.assigned(to: seats[1], among: seats)
    )
    func isEntitled(_ facts: CustomerFacts, _ day: Int64) -> Bool {
      evaluate(facts, entitlement: "pro", in: app, at: at(day)).isEntitled
    }
    #expect(isEntitled(first, 9) && !isEntitled(second, 9))
    #expect(!isEntitled(first, 10) && isEntitled(second, 10))
  }

  @Test("A claim that never had a seat is no contradiction", arguments: [nil, 20] as [Int64?])
  func withoutSeat(released: Int64?) {
    let seats = [seat(1, claimed: 1), seat(2, claimed: 2, released: released)]
    let info = RenewalFact(
      originalTransactionID: "team", productID: "monthly", autoRenewStatus: .on, renewalDate: at(30),
      signedDate: at(3))
    let purchase = CustomerFacts(transactions: [Self.team(1)], renewals: [info])
    let facts = purchase.assigned(to: seats[1], among: seats)
    #expect(Contradiction.all(facts, in: app, at: at(10)).isEmpty)
    #expect(evaluate(facts, entitlement: "pro", in: app, at: at(10)).reason == .neverPurchased)
  }

  private static func answers(
    _ purchase: CustomerFacts, _ seats: [Seat], on day: Int64
  ) -> [EntitlementStatus] {
    seats.map { seat in
      evaluate(purchase.assigned(to: seat, among: seats), entitlement: "pro", in: app, at: at(day))
    }
  }

  @Test("A refund of the purchase ends its seats, which had access before")
  func refund() {
    let seats = [seat(1, claimed: 1), seat(2, claimed: 12)]
    let purchase = CustomerFacts(transactions: [Self.team(2).revoked(on: 10)])
    let (before, after) = (Self.answers(purchase, seats, on: 9), Self.answers(purchase, seats, on: 14))
    #expect(before[0].isEntitled && before[0].until == at(10))
    #expect(after[0].reason == .familySharingEnded && after[0].until == at(10))
    #expect(after[0].productState == .inactive)
    #expect(after[1].reason == .neverPurchased, "the seat was claimed after the refund")
  }

  @Test("A refund of seats ends the last claim when Apple reports it, and leaves its access before")
  func refundOfSeats() {
    let seats = [seat(1, claimed: 1), seat(2, claimed: 2)]
    let refunded = Self.team(2).with {
      ($0.revokedSeatQuantity, $0.signedDate) = (1, at(15))
      $0.details.seatRefunds = [.init(quantity: 1, reportedAt: at(10))]
    }
    let purchase = CustomerFacts(transactions: [refunded, Self.team(2, 30...60)])
    #expect(Self.answers(purchase, seats, on: 9).allSatisfy { $0.isEntitled && $0.since! < at(3) })
    let after = Self.answers(purchase, seats, on: 10)
    #expect(after[0].isEntitled)
    #expect(after[1].reason == .familySharingEnded && after[1].until == at(10))
    #expect(
      Self.answers(purchase, seats, on: 30).allSatisfy { $0.isEntitled }, "the next period has both seats")
  }

  @Test(
    "A claim that lost its seat and has one again in the same period keeps its access before, and the gap")
  func regained() {
    let seats = [seat(1, claimed: 1, released: 20), seat(2, claimed: 2)]
    let refunded = Self.team(2).with {
      ($0.revokedSeatQuantity, $0.signedDate) = (1, at(10))
      $0.details.seatRefunds = [.init(quantity: 1, reportedAt: at(10))]
    }
    let facts = CustomerFacts(transactions: [refunded]).assigned(to: seats[1], among: seats)
    func answer(_ day: Int64) -> EntitlementStatus {
      evaluate(facts, entitlement: "pro", in: app, at: at(day))
    }
    #expect(answer(1).reason == .neverPurchased)
    #expect(answer(9).isEntitled && answer(9).since == at(2) && answer(9).until == at(10))
    #expect(answer(15).reason == .familySharingEnded && answer(15).until == at(10))
    #expect(answer(20).isEntitled && answer(20).since == at(20) && answer(20).until == at(30))
    #expect(answer(31).reason == .expired && answer(31).until == at(30))
    let lanes = CustomerHistory(facts, in: app, from: at(0), to: at(12)).lanes
    let lane = lanes.first { $0.kind == .shared(originalTransactionID: "seat-2") }
    #expect(lane?.segments.map(\.start) == [at(2)] && lane?.segments.map(\.end) == [at(10)])
    #expect(lane?.marks.map(\.kind) == [.renewed, .sharingEnded])
  }

  @Test("A claim that waits has access from the addition of seats on, and not before")
  func addition() {
    let seats = [seat(1, claimed: 1), seat(2, claimed: 2)]
    let added = Self.team(1, 10...30).with {
      $0.transactionID = "added"
      $0.details.additionalTransactionReason = "SEAT_ADDITION"
    }
    let purchase = CustomerFacts(transactions: [Self.team(1), added])
    #expect(Self.answers(purchase, seats, on: 9).map(\.isEntitled) == [true, false])
    let after = Self.answers(purchase, seats, on: 11)
    #expect(after.map(\.since) == [at(1), at(10)] && after.map(\.until) == [at(30), at(30)])
  }

  @Test("A payment that is recovered with fewer seats ends the grace period of the others")
  func recoveredWithFewerSeats() {
    let seats = [seat(1, claimed: 1), seat(2, claimed: 2)]
    let failed = RenewalFact(
      originalTransactionID: "team", productID: "monthly", isInBillingRetry: true,
      gracePeriodExpiresDate: at(46), renewalDate: at(30), signedDate: at(30))
    let purchase = CustomerFacts(transactions: [Self.team(2), Self.team(1, 35...60)], renewals: [failed])
    #expect(Self.answers(purchase, seats, on: 34).allSatisfy { $0.reason == .inGracePeriod })
    let after = Self.answers(purchase, seats, on: 36)
    #expect(after[0].isEntitled && after[0].until == at(60))
    #expect(after[1].reason == .familySharingEnded && after[1].until == at(35))
  }

  @Test(
    "A renewal with fewer seats ends the slack of the others when it begins", arguments: [0, 10] as [Int64])
  func renewedWithFewerSeats(minutesLate: Int64) {
    let minute: Int64 = 60_000
    let seats = [seat(1, claimed: 1), seat(2, claimed: 2)]
    let begun = at(30).advanced(byMilliseconds: minutesLate * minute)
    let renewed = Self.team(1, 30...60).with { $0.purchaseDate = begun }
    let purchase = CustomerFacts(transactions: [Self.team(2), renewed])
    func answers(_ instant: Instant) -> [EntitlementStatus] {
      seats.map { seat in
        evaluate(
          purchase.assigned(to: seat, among: seats), entitlement: "pro", in: Self.patient, at: instant)
      }
    }
    #expect(answers(begun.advanced(byMilliseconds: -1)).allSatisfy { $0.isEntitled })
    let after = answers(begun)
    #expect(after[0].reason == .subscriptionActive)
    #expect(after[1].reason == .familySharingEnded && after[1].until == begun)
  }

  @Test(
    "A release ends the grace period or the slack of the seat, and changes no answer about the time before")
  func releasedAfterThePeriod() {
    let off = RenewalFact(
      originalTransactionID: "team", productID: "monthly", autoRenewStatus: .off, renewalDate: at(30),
      signedDate: at(10))
    var (on, failed) = (off, off)
    (on.autoRenewStatus, on.signedDate) = (.on, at(20))
    (failed.autoRenewStatus, failed.signedDate, failed.isInBillingRetry) = (.on, at(30), true)
    failed.gracePeriodExpiresDate = at(46)
    let minute: Int64 = 60_000
    let inSlack = at(30).advanced(byMilliseconds: 10 * minute)
    for (renewals, releasedAt) in [([off, on, failed], at(35)), ([off, on], inSlack)] {
      let purchase = CustomerFacts(transactions: [Self.team(2)], renewals: renewals)
      let held = seat(1, claimed: 5)
      var released = held
      released.release(at: releasedAt)
      func answer(_ seat: Seat, _ instant: Instant) -> EntitlementStatus {
        evaluate(
          purchase.assigned(to: seat, among: [seat]), entitlement: "pro", in: Self.patient, at: instant)
      }
      for instant in [at(6), at(15), at(25), releasedAt.advanced(byMilliseconds: -1)] {
        let (before, after) = (answer(held, instant), answer(released, instant))
        #expect(after.isEntitled && after.reason == before.reason && after.willRenew == before.willRenew)
      }
      let after = answer(released, releasedAt)
      #expect(after.reason == .familySharingEnded && after.until == releasedAt)
    }
  }

  @Test("The seat capacity is the sum over the period's transactions less refunded seats")
  func count() {
    let added = Self.team(4, 10...30).with { $0.details.additionalTransactionReason = "SEAT_ADDITION" }
    let line = [Self.team(8), added, Self.team(2, 30...60)]
    #expect(SeatCapacity(CustomerFacts(transactions: Array(line.prefix(1)))).current == 8)
    #expect(SeatCapacity(CustomerFacts(transactions: Array(line.prefix(2)))).current == 12)
    #expect(SeatCapacity(CustomerFacts(transactions: line)).current == 2)
    // Only the extension of the first transaction has arrived.
    let extended = Self.team(8, 0...37).with {
      $0.signedDate = at(12)
      $0.details.additionalTransactionReason = "SEAT_ADDITION"
    }
    #expect(SeatCapacity(CustomerFacts(transactions: [extended, added])).current == 12)
    let refunded = Self.team(8).with { $0.revokedSeatQuantity = 3 }
    #expect(SeatCapacity(CustomerFacts(transactions: [refunded, added])).current == 9)
    #expect(SeatCapacity(CustomerFacts(transactions: [Self.team(8).revoked(on: 5)])).current == 0)
    #expect(SeatCapacity(CustomerFacts()).current == 0)
  }

  @Test("Only subscription seats with developer invitations can be claimed")
  func problems() {
    func problem(_ fact: TransactionFact) -> SeatCapacity.Problem? {
      SeatCapacity(CustomerFacts(transactions: [fact])).problem
    }
    #expect(problem(Self.team(2)) == nil)
    #expect(problem(Self.team(2).with { $0.details.invitationManagement = .apple }) == .invitedByApple)
    #expect(problem(Self.team(2).with { $0.details.invitationManagement = nil }) == nil)
    #expect(problem(period(0...30, line: "team")) == .noSeats)
    #expect(problem(period(0...30, line: "team", .assigned).with { $0.quantity = 3 }) == .noSeats)
    #expect(problem(lifetime(on: 0, line: "team").with { $0.quantity = 3 }) == .noSeats)
    #expect(SeatCapacity(CustomerFacts()).problem == .noSeats)
  }
}
