import AppStore
import Entitlements
import TestSupport

/// Generates facts in which each optional part exists with a probability of one half.
final class RandomFacts {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(state: seed) }

  func customerFacts() -> CustomerFacts {
    CustomerFacts(
      transactions: (0..<Int.random(in: 0...12, using: &random)).map { _ in transaction() },
      renewals: (0..<Int.random(in: 0...3, using: &random)).map { _ in renewal() },
      grants: (0..<Int.random(in: 0...3, using: &random)).map { _ in grant() },
      appTransactions: (0..<Int.random(in: 0...2, using: &random)).map { _ in appTransaction() })
  }

  func transaction() -> TransactionFact {
    let line = "L\(Int.random(in: 0...2, using: &random))"
    return TransactionFact(
      transactionID: maybe("T\(random.next() % 8)") ?? line, originalTransactionID: line,
      productID: "pro.\(random.next() % 2)",
      type: maybe(.autoRenewableSubscription) ?? .unrecognized("Ümläut"),
      purchaseDate: instant(), originalPurchaseDate: maybe(instant()), expiresDate: maybe(instant()),
      revocationDate: maybe(instant()), revocationReason: maybe(maybe(.appIssue) ?? .unrecognized(-7)),
      revocationType: maybe(maybe(.familyRevoke) ?? .unrecognized("")), isUpgraded: .random(using: &random),
      ownership: maybe(.assigned) ?? .unrecognized("X"),
      offerType: maybe(maybe(.winBack) ?? .unrecognized(99)),
      offerDiscountType: maybe(.payUpFront), subscriptionGroupID: maybe("G\(random.next() % 2)"),
      quantity: maybe(7) ?? 1, revokedSeatQuantity: maybe(2), signedDate: instant(),
      details: maybe(transactionDetails()) ?? TransactionDetails())
  }

  func transactionDetails() -> TransactionDetails {
    var details = TransactionDetails()
    details.price = maybe(Int64(bitPattern: random.next()))
    details.currency = maybe(["USD", "EUR", ""].randomElement(using: &random)!)
    details.offerIdentifier = maybe("offer")
    details.webOrderLineItemID = maybe("\(random.next() % 9)")
    details.appAccountToken = maybe("A\(random.next() % 2)")
    details.appTransactionID = maybe("7\(random.next() % 2)")
    details.storefront = maybe("DEU")
    details.transactionReason = maybe(maybe(.renewal) ?? .unrecognized("GIFT"))
    details.additionalTransactionReason = maybe("SEATS")
    details.revocationPercentage = maybe(50_000)
    details.previousOriginalTransactionID = maybe("L9")
    details.billingPlanType = maybe(.monthly)
    details.invitationManagement = maybe(.developer)
    details.seatsPrice = maybe(39_920)
    details.offerPeriod = maybe("P6M")
    details.firstExpiresDate = maybe(instant())
    details.upgradeReportedAt = maybe(instant())
    details.seatRefunds = maybe([.init(quantity: 2, reportedAt: instant())]) ?? []
    let (first, second) = (instant(), instant())
    details.earlierSeatTimes = maybe([min(first, second)..<max(first, second)]) ?? []
    details.isFromReceipt = .random(using: &random)
    details.isAdvancedCommerce = .random(using: &random)
    details.wasWithoutAdditions = .random(using: &random)
    if .random(using: &random) {
      details.refunds = [
        .init(date: at(3), percentage: nil),
        .init(date: at(5), percentage: maybe(40_000), isAppIssue: maybe(true) ?? false),
      ]
      details.reversals = [at(4)]
    }
    details.receiptStatement = maybe(
      .init(
        statedAt: instant(), cancelledAt: maybe(instant()), reason: maybe(.appIssue),
        isInForce: maybe(true) ?? false))
    details.commitment = maybe(
      .init(billingPeriodNumber: 3, totalBillingPeriods: 12, expiresDate: maybe(instant()), price: maybe(-1)))
    return details
  }

  func renewal() -> RenewalFact {
    return RenewalFact(
      originalTransactionID: "L\(random.next() % 4)", productID: "p\(random.next() % 2)",
      autoRenewProductID: maybe("p\(random.next() % 2)"), autoRenewStatus: maybe(.on),
      isInBillingRetry: .random(using: &random), gracePeriodExpiresDate: maybe(instant()),
      expirationIntent: maybe(maybe(.billingError) ?? .unrecognized(-1)),
      priceIncreaseStatus: maybe(.accepted), renewalDate: maybe(instant()), signedDate: instant(),
      details: maybe(renewalDetails()) ?? RenewalDetails())
  }

  func renewalDetails() -> RenewalDetails {
    var details = RenewalDetails()
    details.renewalPrice = maybe(9990)
    details.currency = maybe("USD")
    details.offerType = maybe(.promotional)
    details.offerIdentifier = maybe("offer")
    details.offerDiscountType = maybe(.payAsYouGo)
    details.offerPeriod = maybe("P6M")
    details.eligibleWinBackOfferIDs = maybe(["a", ""]) ?? []
    details.recentSubscriptionStartDate = maybe(instant())
    details.billingPlanType = maybe(.billedUpfront)
    guard Bool.random(using: &random) else { return details }
    var commitment = RenewalDetails.Commitment()
    commitment.autoRenewProductID = maybe("p")
    commitment.autoRenewStatus = maybe(.off)
    commitment.billingPlanType = maybe(.unrecognized("WEEKLY"))
    commitment.renewalDate = maybe(instant())
    commitment.renewalPrice = maybe(119_990)
    details.commitment = commitment
    return details
  }

  /// A grant of the operator, or a purchase in another store with an earlier state.
  func grant() -> GrantFact {
    guard maybe(true) == nil else { return state() }
    var fact = state()
    fact.grantID = "P\(random.next() % 4)"
    var earlier = state()
    earlier.grantID = fact.grantID
    earlier.external = ExternalPurchase(source: "play", externalID: fact.grantID, revision: 1)
    fact.external = ExternalPurchase(
      source: "play", externalID: fact.grantID, productID: maybe("gold") ?? "",
      revision: 2 + Int64(random.next() % 4), earlier: earlier.since < fact.since ? [earlier] : [])
    return fact
  }

  private func state() -> GrantFact {
    return GrantFact(
      grantID: "G\(random.next() % 4)", entitlement: "pro", accessLevel: maybe(.limited) ?? .full,
      since: instant(), until: maybe(instant()), revokedAt: maybe(instant()), note: maybe("sorry") ?? "",
      actor: "support")
  }

  func appTransaction() -> AppTransactionFact {
    var fact = AppTransactionFact(
      appTransactionID: maybe("7\(random.next() % 3)") ?? "",
      originalApplicationVersion: "1.0.\(random.next() % 9)",
      originalPurchaseDate: maybe(instant()), preorderDate: maybe(instant()), originalPlatform: maybe(.macOS),
      consentRescindedAt: maybe(instant()), receiptExpiresDate: maybe(instant()),
      revocationDate: maybe(instant()), signedDate: instant())
    for _ in 0..<(random.next() % 3) {
      fact.earlier.append(
        .init(
          signedDate: instant(), receiptExpiresDate: maybe(instant()), revocationDate: maybe(instant())))
    }
    return fact
  }

  private func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
    Bool.random(using: &random) ? value() : nil
  }

  private func instant() -> Instant {
    Instant(millisecondsSince1970: Int64(bitPattern: random.next()) >> 20)
  }
}
