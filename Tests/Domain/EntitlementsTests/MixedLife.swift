import AppStore
import Entitlements
import TestSupport

/// The documents of one subscriber in whose life upgrades, refunds, family sharing, grace, extensions, price increases and
/// offers meet, and the times at which the App Store gave access.
struct MixedLife {
  /// A time with access to a product.
  struct Access {
    let product: String
    let start: Instant
    var end: Instant
  }

  private static let hour: Int64 = 3_600_000
  private static let day = 24 * hour

  private(set) var transactions: [TransactionFact] = []
  private(set) var infos: [RenewalFact] = []
  private(set) var access: [Access] = []
  /// The times in which a refund was in force that Apple reversed later.
  private(set) var refunded: [Range<Instant>] = []
  private let isMember: Bool
  private var number = 0
  /// The current period, as signed last.
  private var current: TransactionFact
  private var isOver = false

  init(isMember: Bool, _ random: inout SplitMix64) {
    self.isMember = isMember
    current = period(0...30)
    begin("monthly", at: at(.random(in: 0...9, using: &random)), .purchase, &random)
    for _ in 0..<8 where !isOver { live(&random) }
  }

  private var end: Instant { current.expiresDate! }

  private func later(_ instant: Instant, _ hours: Int64) -> Instant {
    instant.advanced(byMilliseconds: hours * Self.hour)
  }

  /// An instant in the current period, besides its first and last day.
  private func during(_ random: inout SplitMix64) -> Instant {
    let length = max(1, end.milliseconds(since: current.purchaseDate) - 2 * Self.day)
    return current.purchaseDate.advanced(byMilliseconds: Self.day + .random(in: 0..<length, using: &random))
  }

  // Documents.

  private mutating func begin(
    _ product: String, at start: Instant, _ reason: TransactionReason, charged: Instant? = nil,
    until end: Instant? = nil, _ random: inout SplitMix64
  ) {
    number += 1
    current = TransactionFact(
      transactionID: "L1-\(number)", originalTransactionID: "L1", productID: product,
      type: .autoRenewableSubscription, purchaseDate: start, expiresDate: end ?? later(start, 30 * 24),
      ownership: isMember ? .familyShared : .purchased, signedDate: charged ?? start)
    current.details.webOrderLineItemID = "\(1000 + number)"
    if random.next() % 3 != 0 { current.details.transactionReason = reason }
    if random.next() % 4 == 0 { (current.offerType, current.offerDiscountType) = (.promotional, .payAsYouGo) }
    transactions.append(current.arrived(at: current.signedDate))
    access.append(Access(product: product, start: start, end: self.end))
    inform(current.signedDate)
  }

  /// Signs a transaction again.
  private mutating func sign(
    _ fact: TransactionFact, _ signed: Instant, _ change: (inout TransactionFact) -> Void
  ) {
    transactions.append(
      fact.with {
        $0.signedDate = signed
        change(&$0)
      })
  }

  private mutating func inform(_ signed: Instant, _ change: (inout RenewalFact) -> Void = { _ in }) {
    infos.append(
      renewal(signed: 0) {
        $0.signedDate = signed
        $0.productID = current.productID
        $0.autoRenewProductID = current.productID
        $0.autoRenewStatus = .on
        $0.renewalDate = end
        change(&$0)
      })
  }

  private mutating func revoke(_ fact: TransactionFact, _ instant: Instant) {
    let type: RevocationType = isMember ? .familyRevoke : .refundFull
    sign(fact, instant) {
      ($0.revocationDate, $0.revocationReason, $0.revocationType) = (instant, .other, type)
    }
  }

  // Events.

  /// Lives until the next period, or to the end.
  private mutating func live(_ random: inout SplitMix64) {
    if random.next() % 4 == 0 { extend(&random) }
    switch random.next() % 12 {
    case 0, 1: begin(current.productID, at: end, .renewal, &random)
    case 2, 3, 4: renewEarly(&random)
    case 5: upgrade(at: during(&random), &random)
    case 6: refund(&random)
    case 7, 8: fail(&random)
    case 9: askForConsent(&random)
    case 10: turnOff(&random)
    case _ where isMember: leave(at: during(&random), charged: nil, &random)
    default: refund(&random)
    }
  }

  private mutating func extend(_ random: inout SplitMix64) {
    let signed = current.purchaseDate.advanced(byMilliseconds: Self.day / 2)
    current.expiresDate = later(end, 10 * 24)
    current.signedDate = signed
    transactions.append(current)
    access[access.count - 1].end = end
    inform(signed)
  }

  /// Charges up to a day before the period starts. Something may happen in these hours.
  private mutating func renewEarly(_ random: inout SplitMix64) {
    let (old, lead) = (current, Int64.random(in: 2...23, using: &random))
    let failed = random.next() % 3 == 0
    begin(old.productID, at: end, .renewal, charged: later(end, -lead), &random)
    // Without the reason, another purchase in these hours is not known from a renewal.
    current.details.transactionReason = .renewal
    transactions[transactions.count - 1].details.transactionReason = .renewal
    let between = later(old.expiresDate!, -lead / 2)
    switch random.next() % 5 {
    case 0: upgrade(at: between, instead: old, &random)
    case 1:
      access.removeLast()
      revoke(current, between)
      inform(between) { $0.autoRenewStatus = .off }
      comeBack(after: old.expiresDate!, &random)
    case 2 where isMember: leave(at: between, charged: old, &random)
    default:
      guard failed else { return }
      // The failed attempt before the charge is announced at the end of the old period.
      inform(old.expiresDate!.advanced(byMilliseconds: 16_000)) {
        $0.isInBillingRetry = true
        if random.next() % 2 == 0 { $0.expirationIntent = .billingError }
      }
    }
  }

  /// Changes the product at once. `old` is the period that runs, if the current one is charged and has not started.
  private mutating func upgrade(
    at instant: Instant, instead old: TransactionFact? = nil, _ random: inout SplitMix64
  ) {
    if old != nil { access.removeLast() }
    access[access.count - 1].end = instant
    let replaced = [old, current].compactMap(\.self)
    let product =
      current.productID == "monthly" ? ["yearly", "plus"].randomElement(using: &random)! : "monthly"
    let isMarked = random.next() % 2 == 0
    for fact in replaced where isMarked {
      let isRefunded = !isMember && random.next() % 2 == 0
      sign(fact, instant) {
        $0.isUpgraded = true
        if isRefunded { ($0.revocationDate, $0.revocationType) = (instant, .refundProrated) }
      }
    }
    begin(product, at: instant, .purchase, &random)
    current.details.transactionReason = .purchase
    transactions[transactions.count - 1].details.transactionReason = .purchase
  }

  private mutating func refund(_ random: inout SplitMix64) {
    let instant = during(&random)
    revoke(current, instant)
    guard !isMember, random.next() % 2 == 0 else {
      inform(instant) { $0.autoRenewStatus = .off }
      access[access.count - 1].end = instant
      return comeBack(after: end, &random)
    }
    let reversed = min(later(instant, 20), end)
    current.signedDate = reversed
    transactions.append(current)
    refunded.append(instant..<reversed)
    inform(reversed)
    begin(current.productID, at: end, .renewal, &random)
  }

  /// Leaves the family. `running` is the period before the current one, if that is charged and has not started.
  private mutating func leave(
    at instant: Instant, charged running: TransactionFact?, _ random: inout SplitMix64
  ) {
    for fact in [running, current].compactMap(\.self) { revoke(fact, instant) }
    if running != nil { access.removeLast() }
    access[access.count - 1].end = instant
    inform(instant) { $0.autoRenewStatus = .off }
    let (product, end) = (current.productID, self.end)
    guard random.next() % 2 == 0 else { return comeBack(after: end, &random) }
    let back = later(max(instant, running?.expiresDate ?? instant), 5)
    guard later(back, 72) < end else { return comeBack(after: end, &random) }
    begin(product, at: back, .purchase, until: end, &random)
  }

  private mutating func fail(_ random: inout SplitMix64) {
    let (old, hasGrace) = (end, random.next() % 3 != 0)
    let graceEnd = hasGrace ? later(old, 16 * 24) : old
    let early = Int64.random(in: 0...5, using: &random)
    inform(later(old, -early)) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = hasGrace ? graceEnd : nil
    }
    let paid = later(old, .random(in: 1...(30 * 24), using: &random))
    if hasGrace { access.append(Access(product: current.productID, start: old, end: min(paid, graceEnd))) }
    let isRecovered = random.next() % 3 != 0
    if hasGrace, paid > graceEnd || !isRecovered {
      access[access.count - 1].end = graceEnd
      inform(graceEnd) { $0.isInBillingRetry = true }
    }
    guard isRecovered else {
      inform(later(old, 61 * 24)) { ($0.autoRenewStatus, $0.expirationIntent) = (.off, .billingError) }
      return comeBack(after: later(old, 61 * 24), &random)
    }
    begin(
      current.productID, at: paid, .renewal, until: paid <= graceEnd ? later(old, 30 * 24) : nil, &random)
  }

  private mutating func askForConsent(_ random: inout SplitMix64) {
    inform(during(&random)) { $0.priceIncreaseStatus = .pending }
    guard random.next() % 2 == 0 else {
      inform(end) { ($0.autoRenewStatus, $0.expirationIntent) = (.off, .priceIncreaseNotAccepted) }
      return comeBack(after: end, &random)
    }
    inform(later(end, -20)) { $0.priceIncreaseStatus = .accepted }
    begin(current.productID, at: end, .renewal, &random)
  }

  private mutating func turnOff(_ random: inout SplitMix64) {
    inform(during(&random)) { $0.autoRenewStatus = .off }
    guard random.next() % 2 == 0 else { return comeBack(after: end, &random) }
    inform(later(end, -10))
    begin(current.productID, at: end, .renewal, &random)
  }

  private mutating func comeBack(after instant: Instant, _ random: inout SplitMix64) {
    guard random.next() % 2 == 0 else {
      isOver = true
      return
    }
    begin(
      ["monthly", "yearly"].randomElement(using: &random)!,
      at: later(instant, .random(in: 1...(40 * 24), using: &random)), .purchase, &random)
  }
}
