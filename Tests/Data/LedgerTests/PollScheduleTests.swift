import AppStore
import Entitlements
import JSON
import Store
import TestSupport
import Testing

@testable import Ledger

@Suite("Status poll schedule")
struct PollScheduleTests {
  private static let minute: Int64 = 60_000
  private static let hour = 60 * minute

  /// The period from day 0 to day 30.
  private static func period(signed: Instant, revoked: Instant? = nil) -> TransactionFact {
    TransactionFact(
      transactionID: "T1", originalTransactionID: "L1", productID: "monthly",
      type: .autoRenewableSubscription, purchaseDate: at(0), expiresDate: at(30), revocationDate: revoked,
      signedDate: signed)
  }

  private static func renewal(
    signed: Instant, autoRenews: Bool = true, inRetry: Bool = false, grace: Instant? = nil,
    intent: ExpirationIntent? = nil
  ) -> RenewalFact {
    RenewalFact(
      originalTransactionID: "L1", productID: "monthly", autoRenewStatus: autoRenews ? .on : .off,
      isInBillingRetry: inRetry, gracePeriodExpiresDate: grace, expirationIntent: intent, signedDate: signed)
  }

  private static func next(
    _ transaction: TransactionFact, _ renewal: RenewalFact? = nil, lastPoll: Instant? = nil
  ) -> Instant? {
    PollSchedule.next(
      CustomerFacts(transactions: [transaction], renewals: renewal.map { [$0] } ?? []), polledAt: lastPoll)
  }

  /// That many milliseconds after the end of the period.
  private static func end(_ milliseconds: Int64) -> Instant { at(30).advanced(byMilliseconds: milliseconds) }

  @Test("Polls are due shortly before the end and at growing intervals after it")
  func growing() {
    let period = Self.period(signed: at(0))
    var polls: [Instant] = []
    while let next = Self.next(period, lastPoll: polls.last) {
      polls.append(next)
      guard polls.count < 20 else { break }
    }
    #expect(polls.first == Self.end(-30 * Self.minute))
    #expect(polls.dropFirst().first == Self.end(0))
    #expect(polls.last == Self.end(60 * 24 * Self.hour + Self.hour))
    let distances = zip(polls.dropFirst(), polls.dropFirst(2)).map { $1.milliseconds(since: $0) }
    #expect(distances == distances.sorted())
    #expect(polls.count == 12)
  }

  @Test("A commitment is polled until its billing retry ends after 90 days")
  func commitment() {
    var payment = Self.period(signed: at(0))
    payment.details.commitment = .init(billingPeriodNumber: 2, totalBillingPeriods: 12)
    let failed = Self.renewal(signed: at(30), inRetry: true)
    var polls: [Instant] = []
    while let next = Self.next(payment, failed, lastPoll: polls.last), polls.count < 20 { polls.append(next) }
    #expect(polls.suffix(3) == [at(90), at(105), Self.end(90 * 24 * Self.hour + Self.hour)])
  }

  @Test("A refund of added seats leaves the polls of the period")
  func addedSeats() {
    let first = Self.period(signed: at(0))
    var added = first
    added.transactionID = "T2"
    added.purchaseDate = at(5)
    added.details.additionalTransactionReason = "SEAT_ADDITION"
    added.revocationDate = at(9)
    let facts = CustomerFacts(transactions: [first, added])
    #expect(PollSchedule.next(facts, polledAt: nil) == Self.end(-30 * Self.minute))
  }

  @Test("Signed renewal info settles all polls before it")
  func signedByApple() {
    let early = Self.next(Self.period(signed: at(0)), Self.renewal(signed: Self.end(-2 * Self.hour)))
    #expect(early == Self.end(0), "no poll within an hour of a signature")
    let late = Self.next(Self.period(signed: at(0)), Self.renewal(signed: Self.end(2 * Self.hour)))
    #expect(late == Self.end(6 * Self.hour))
  }

  @Test("A newly signed transaction settles no poll")
  func signedAgain() {
    let renewal = Self.renewal(signed: Self.end(-2 * Self.hour))
    #expect(Self.next(Self.period(signed: at(42)), renewal) == Self.end(0))
    #expect(Self.next(Self.period(signed: at(42)), renewal, lastPoll: at(43)) == at(46))
    #expect(Self.next(Self.period(signed: at(400))) == nil)
  }

  @Test("A subscription with auto-renew off is polled only after expiry")
  func turnedOff() {
    let period = Self.period(signed: at(0))
    #expect(
      Self.next(period, Self.renewal(signed: at(3), autoRenews: false)) == Self.end(15 * Self.minute))
    #expect(
      Self.next(period, Self.renewal(signed: at(31), autoRenews: false, intent: .customerCancelled)) == nil)
  }

  @Test("A failed charge is polled for sixty days and at the end of the grace period")
  func retry() {
    let period = Self.period(signed: at(0))
    let failed = Self.renewal(signed: at(30), inRetry: true, grace: at(46))
    #expect(Self.next(period, failed) == at(31))
    #expect(Self.next(period, failed, lastPoll: at(46)) == at(46).advanced(byMilliseconds: 15 * Self.minute))
    #expect(Self.next(period, failed, lastPoll: at(80)) == Self.end(60 * 24 * Self.hour + Self.hour))
    #expect(Self.next(period, failed, lastPoll: at(91)) == nil)
  }

  @Test("A failed payment of a commitment is polled for ninety days")
  func retryOfCommitment() {
    var payment = Self.period(signed: at(0))
    payment.details.commitment = .init(billingPeriodNumber: 3, totalBillingPeriods: 12)
    let failed = Self.renewal(signed: at(30), inRetry: true)
    #expect(Self.next(payment, failed, lastPoll: at(91)) == Self.end(75 * 24 * Self.hour))
    #expect(Self.next(payment, failed, lastPoll: at(106)) == Self.end(90 * 24 * Self.hour + Self.hour))
    #expect(Self.next(payment, failed, lastPoll: at(121)) == nil)
  }

  @Test("A purchase of an unknown type is polled if it has an end")
  func unknownType() {
    var bought = Self.period(signed: at(0))
    bought.type = .unrecognized("Subscription Suite")
    #expect(Self.next(bought) == Self.end(-30 * Self.minute))
    bought.expiresDate = nil
    #expect(Self.next(bought) == nil)
  }

  @Test("Refunded purchases and products without renewal are not polled")
  func nothing() {
    #expect(Self.next(Self.period(signed: at(5), revoked: at(4))) == nil)
    var unlock = Self.period(signed: at(0))
    unlock.type = .nonConsumable
    unlock.expiresDate = nil
    #expect(Self.next(unlock) == nil)
    #expect(PollSchedule.next(CustomerFacts(), polledAt: nil) == nil)
  }

  @Test("An upgraded transaction without its successor is polled soon")
  func upgraded() {
    var old = Self.period(signed: at(10))
    old.isUpgraded = true
    #expect(Self.next(old) == at(10).advanced(byMilliseconds: 15 * Self.minute))
  }

  @Test("An early renewal without the period before it is polled at once, and once")
  func renewedEarly() {
    let renewed = Self.period(signed: at(0).advanced(byMilliseconds: -20 * Self.hour))
    #expect(Self.next(renewed) == renewed.signedDate)
    let off = Self.renewal(signed: renewed.signedDate, autoRenews: false)
    #expect(Self.next(renewed, off) == renewed.signedDate)
    #expect(Self.next(renewed, lastPoll: renewed.signedDate) == Self.end(-30 * Self.minute))
    var before = Self.period(signed: at(-30))
    before.transactionID = "T0"
    before.purchaseDate = at(-30)
    before.expiresDate = at(0)
    #expect(
      PollSchedule.next(CustomerFacts(transactions: [before, renewed]), polledAt: nil)
        == Self.end(-30 * Self.minute))
  }

  @Test("A period that was charged before the one before it was revoked is polled at once, and once")
  func revokedAfterCharge() {
    var charged = Self.period(signed: Self.end(-20 * Self.hour))
    charged.transactionID = "T2"
    (charged.purchaseDate, charged.expiresDate) = (at(30), at(60))
    let left = Self.end(-10 * Self.hour)
    let current = Self.period(signed: left, revoked: left)
    func next(_ charged: TransactionFact, polledAt: Instant?) -> Instant? {
      PollSchedule.next(CustomerFacts(transactions: [current, charged]), polledAt: polledAt)
    }
    let beforeEnd = at(60).advanced(byMilliseconds: -30 * Self.minute)
    #expect(next(charged, polledAt: nil) == left)
    #expect(next(charged, polledAt: left) == beforeEnd, "Apple did not answer with the period")
    charged.signedDate = Self.end(-9 * Self.hour)
    #expect(next(charged, polledAt: nil) == beforeEnd)
    charged.revocationDate = left
    #expect(next(charged, polledAt: nil) == nil)
  }

  @Test("Renewal info of the previous period settles no poll of this one")
  func oldEvidence() {
    let stale = Self.renewal(signed: at(-1), autoRenews: false)
    #expect(Self.next(Self.period(signed: at(0)), stale) == Self.end(-30 * Self.minute))
  }

  @Test("A failed charge of the previous period, reported after a later charge, is no failure of this one")
  func staleFailure() {
    var renewed = Self.period(signed: at(30))
    renewed.transactionID = "T2"
    (renewed.purchaseDate, renewed.expiresDate) = (at(30), at(60))
    var recovered = Self.renewal(signed: Self.end(-8 * Self.hour))
    recovered.renewalDate = at(60)
    var failed = Self.renewal(signed: Self.end(Self.minute), inRetry: true)
    failed.renewalDate = at(30)
    let periods = [Self.period(signed: at(0)), renewed]
    let facts = CustomerFacts(transactions: periods, renewals: [recovered, failed])
    let beforeEnd = at(60).advanced(byMilliseconds: -30 * Self.minute)
    #expect(PollSchedule.next(facts, polledAt: nil) == beforeEnd)
    #expect(PollSchedule.next(facts, polledAt: beforeEnd) == at(60))
    recovered.autoRenewStatus = .off
    let turnedOff = CustomerFacts(transactions: periods, renewals: [recovered, failed])
    #expect(
      PollSchedule.next(turnedOff, polledAt: nil) == at(60).advanced(byMilliseconds: 15 * Self.minute),
      "renewal info that was signed before the period started, and is about it")
  }

  @Test("Polls are closer in periods of minutes, as Apple's sandbox has them")
  func compressed() throws {
    var period = Self.period(signed: at(0))
    period.expiresDate = at(0).advanced(byMilliseconds: 5 * Self.minute)
    let next = try #require(Self.next(period))
    #expect(next > at(0) && next < at(0).advanced(byMilliseconds: 5 * Self.minute))
  }
}
