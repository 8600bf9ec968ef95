import AppStore
import Entitlements
import FamilySharing
import TestSupport
import Testing

/// Seats that begin after the payment for the next period failed.
@Suite struct SeatGraceTests {
  private static func team(_ quantity: Int64, _ days: ClosedRange<Int64> = 0...30) -> TransactionFact {
    period(days, line: "team").with {
      $0.quantity = quantity
      $0.details.invitationManagement = .developer
    }
  }

  private static func info(signed day: Int64, _ change: (inout RenewalFact) -> Void = { _ in }) -> RenewalFact
  {
    var fact = RenewalFact(
      originalTransactionID: "team", productID: "monthly", autoRenewStatus: .on, renewalDate: at(30),
      signedDate: at(day))
    change(&fact)
    return fact
  }

  private static let failed = info(signed: 30) {
    $0.isInBillingRetry = true
    $0.gracePeriodExpiresDate = at(46)
  }

  private static func answer(
    _ purchase: CustomerFacts, _ seat: Seat, among seats: [Seat]? = nil, on day: Int64,
    in catalog: AppDefinition = app
  ) -> EntitlementStatus {
    evaluate(
      purchase.assigned(to: seat, among: seats ?? [seat]), entitlement: "pro", in: catalog, at: at(day))
  }

  @Test("A seat that is claimed in the grace period has the rest of it, and the recovered period")
  func claimed() {
    let purchase = CustomerFacts(transactions: [Self.team(2)], renewals: [Self.failed])
    let seat = seat(1, claimed: 35)
    #expect(!Self.answer(purchase, seat, on: 34).isEntitled)
    let answer = Self.answer(purchase, seat, on: 35)
    #expect(answer.reason == .inGracePeriod && answer.since == at(35) && answer.until == at(46))
    #expect(Self.answer(purchase, seat, on: 46).reason == .billingRetry)
    #expect(Contradiction.all(purchase.assigned(to: seat, among: [seat]), in: app, at: at(36)).isEmpty)
    // Apple keeps the billing cycle; the date of the payment is that of the recovery, or the end of the last period.
    for paidOn in [30, 40] as [Int64] {
      var recovered = purchase
      recovered.insert(Self.team(2, paidOn...60))
      recovered.insert(Self.info(signed: 40) { $0.renewalDate = at(60) })
      #expect(!Self.answer(recovered, seat, on: 34).isEntitled, "paid on day \(paidOn)")
      for day in [35, 40, 59] as [Int64] {
        let answer = Self.answer(recovered, seat, on: day)
        #expect(answer.isEntitled && answer.until == at(60), "paid on day \(paidOn), day \(day)")
      }
    }
  }

  @Test("A claim that waits gets the seat that is released in the grace period")
  func waiting() {
    let seats = [seat(1, claimed: 1, released: 35), seat(2, claimed: 2)]
    let purchase = CustomerFacts(transactions: [Self.team(1)], renewals: [Self.failed])
    #expect(Self.answer(purchase, seats[0], among: seats, on: 34).isEntitled)
    #expect(!Self.answer(purchase, seats[1], among: seats, on: 34).isEntitled)
    #expect(!Self.answer(purchase, seats[0], among: seats, on: 35).isEntitled)
    #expect(Self.answer(purchase, seats[1], among: seats, on: 35).reason == .inGracePeriod)
  }

  @Test("A claim that loses its seat in the grace period and gets another one keeps both times")
  func regained() {
    let seats = [seat(1, claimed: 1, released: 40), seat(2, claimed: 2)]
    let team = Self.team(2).with {
      ($0.revokedSeatQuantity, $0.signedDate) = (1, at(35))
      $0.details.seatRefunds = [.init(quantity: 1, reportedAt: at(35))]
    }
    let purchase = CustomerFacts(transactions: [team], renewals: [Self.failed])
    func reason(_ day: Int64) -> EntitlementReason {
      Self.answer(purchase, seats[1], among: seats, on: day).reason
    }
    #expect([2, 29].allSatisfy { reason($0) == .subscriptionActive })
    #expect([30, 34].allSatisfy { reason($0) == .inGracePeriod })
    #expect([35, 39].allSatisfy { reason($0) == .familySharingEnded })
    #expect([40, 45].allSatisfy { reason($0) == .inGracePeriod })
    #expect(reason(46) == .billingRetry)
  }

  @Test("Seats that Apple refunds in the grace period end then")
  func refunded() {
    let seats = [seat(1, claimed: 1), seat(2, claimed: 2)]
    let team = Self.team(2).with {
      ($0.revokedSeatQuantity, $0.signedDate) = (1, at(35))
      $0.details.seatRefunds = [.init(quantity: 1, reportedAt: at(35))]
    }
    let purchase = CustomerFacts(transactions: [team], renewals: [Self.failed])
    #expect(Self.answer(purchase, seats[1], among: seats, on: 34).reason == .inGracePeriod)
    let after = Self.answer(purchase, seats[1], among: seats, on: 36)
    #expect(after.reason == .familySharingEnded && after.until == at(35))
    #expect(Self.answer(purchase, seats[0], among: seats, on: 36).reason == .inGracePeriod)
  }

  @Test("A seat that is claimed in the operator's grace has the rest of it")
  func operatorGrace() {
    let product = ProductDefinition(
      productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 1,
      accessLevels: ["pro": .full], operatorGrace: OperatorGrace(days: 20, access: .limited))
    let catalog = AppDefinition(
      id: "ocean", identity: app.identity, environments: [.sandbox], products: [product])
    let inRetry = Self.info(signed: 30) { $0.isInBillingRetry = true }
    let purchase = CustomerFacts(transactions: [Self.team(2)], renewals: [inRetry])
    let seat = seat(1, claimed: 45)
    let answer = Self.answer(purchase, seat, on: 45, in: catalog)
    #expect(answer.reason == .inOperatorGracePeriod && answer.until == at(50))
    #expect(Self.answer(purchase, seat, on: 45).reason == .billingRetry)
  }

  @Test("A seat has nothing of a purchase that was over when it was claimed")
  func over() {
    let refunded = Self.team(2).with { ($0.revocationDate, $0.signedDate) = (at(33), at(33)) }
    let off = Self.info(signed: 33) {
      ($0.autoRenewStatus, $0.expirationIntent) = (.off, .customerCancelled)
    }
    let cases: [(TransactionFact, [RenewalFact], Int64)] = [
      (Self.team(2), [], 35), (Self.team(2), [Self.info(signed: 30)], 35), (refunded, [Self.failed], 35),
      (Self.team(2), [Self.failed, off], 35), (Self.team(2), [Self.failed], 90),
    ]
    for (number, (team, infos, day)) in cases.enumerated() {
      let purchase = CustomerFacts(transactions: [team], renewals: infos)
      let seat = seat(1, claimed: day)
      #expect(Self.answer(purchase, seat, on: day).reason == .neverPurchased, "case \(number)")
    }
  }

  @Test("A seat that is claimed after an upgrade has the upgrade, and not the period that it replaced")
  func upgraded() {
    let upgrade = Self.team(2, 10...40).with { $0.productID = "lifetime" }
    let purchase = CustomerFacts(transactions: [Self.team(2), upgrade])
    let seat = seat(1, claimed: 15)
    #expect(purchase.assigned(to: seat, among: [seat]).transactions.map(\.productID) == ["lifetime"])
  }

  @Test("Until the upgrade arrives, a seat ends with the first report of it")
  func upgradedAlone() {
    let reports = [15, 20].map { day in Self.team(2).with { ($0.isUpgraded, $0.signedDate) = (true, at(day)) }
    }
    let purchase = CustomerFacts(transactions: reports)
    let seat = seat(1, claimed: 5)
    #expect(Self.answer(purchase, seat, on: 10).until == at(15))
    #expect(Self.answer(purchase, seat, on: 16).reason == .upgraded)
  }
}
