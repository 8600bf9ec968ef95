package import AppStore

/// What one signed renewal info says, as far as the rules ask: what becomes of a subscription at the
/// end of the period that was running when Apple signed it.
package struct RenewalFact: Hashable, Sendable {
  /// Apple's number of the purchase line.
  package var originalTransactionID: String
  /// The product of the period that was running.
  package var productID: String
  /// What it renews to; another product than ``productID`` is a pending change.
  package var autoRenewProductID: String?
  /// Whether it renews; `nil` if Apple did not say.
  package var autoRenewStatus: AutoRenewStatus?
  /// Apple still tries to charge a renewal that failed.
  package var isInBillingRetry: Bool
  /// The end of full access while Apple tries to charge.
  package var gracePeriodExpiresDate: Instant?
  /// Why it expired; `nil` while it has not.
  package var expirationIntent: ExpirationIntent?
  /// Whether the customer agreed to a price increase; `nil` if none was asked about.
  package var priceIncreaseStatus: PriceIncreaseStatus?
  /// When the next period is to begin.
  package var renewalDate: Instant?
  /// When Apple signed the document. Of two about one line the newer one counts.
  package var signedDate: Instant
  /// What it says of money, offers and commitments.
  @CopyOnWriteBox package var details: RenewalDetails

  /// A fact by its parts.
  package init(
    originalTransactionID: String, productID: String, autoRenewProductID: String? = nil,
    autoRenewStatus: AutoRenewStatus? = nil, isInBillingRetry: Bool = false,
    gracePeriodExpiresDate: Instant? = nil, expirationIntent: ExpirationIntent? = nil,
    priceIncreaseStatus: PriceIncreaseStatus? = nil, renewalDate: Instant? = nil, signedDate: Instant,
    details: RenewalDetails = RenewalDetails()
  ) {
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.autoRenewProductID = autoRenewProductID
    self.autoRenewStatus = autoRenewStatus
    self.isInBillingRetry = isInBillingRetry
    self.gracePeriodExpiresDate = gracePeriodExpiresDate
    self.expirationIntent = expirationIntent
    self.priceIncreaseStatus = priceIncreaseStatus
    self.renewalDate = renewalDate
    self.signedDate = signedDate
    self.details = details
  }
}

extension RenewalFact {
  /// Whether this document replaces `other`, which is about the same line. See
  /// ``TransactionFact/supersedes(_:)``.
  package func supersedes(_ other: RenewalFact) -> Bool {
    guard signedDate == other.signedDate else { return signedDate > other.signedDate }
    guard times == other.times else { return times > other.times }
    guard codes == other.codes else { return codes > other.codes }
    return other.details.orderingKey.lexicographicallyPrecedes(details.orderingKey)
  }

  private var times: (Int64, Int64, Int64, Int64, Int64, Int64) {
    (
      order(gracePeriodExpiresDate), isInBillingRetry ? 1 : 0, expirationIntent?.rawValue ?? .min,
      autoRenewStatus?.rawValue ?? .min, priceIncreaseStatus?.rawValue ?? .min, order(renewalDate)
    )
  }

  private var codes: (String, String) { (productID, autoRenewProductID ?? "") }
}

/// What a signed renewal info says besides what decides about access: the next price, offers, commitments.
package struct RenewalDetails: Hashable, Sendable {
  /// What the next period is going to cost, in thousandths of the currency.
  package var renewalPrice: Int64?
  /// ISO 4217.
  package var currency: String?
  /// The kind of offer that the next period has.
  package var offerType: OfferType?
  /// The offer that the next period has.
  package var offerIdentifier: String?
  /// How that offer is paid for.
  package var offerDiscountType: OfferDiscountType?
  /// The win-back offers that this customer may have, the best first.
  package var eligibleWinBackOfferIDs: [String] = []
  /// When the current run of periods began; gaps of up to 60 days do not end a run.
  package var recentSubscriptionStartDate: Instant?
  /// How the next period is billed.
  package var billingPlanType: BillingPlanType?
  /// What follows the commitment that runs.
  package var commitment: Commitment?

  /// Nothing; the parts that are there are set.
  package init() {}

  /// What becomes of a year that is paid month by month, at its end.
  package struct Commitment: Hashable, Sendable {
    /// What it renews to.
    package var autoRenewProductID: String?
    /// Whether it renews.
    package var autoRenewStatus: AutoRenewStatus?
    /// How it is billed then.
    package var billingPlanType: BillingPlanType?
    /// When.
    package var renewalDate: Instant?
    /// At which price, in thousandths of the currency.
    package var renewalPrice: Int64?

    /// Nothing; the parts that are there are set.
    package init() {}
  }
}

extension RenewalDetails {
  /// Different for different details: what decides between two documents that agree in all else.
  var orderingKey: [String] {
    let texts = [
      currency, offerIdentifier, offerDiscountType?.rawValue, billingPlanType?.rawValue,
      commitment?.autoRenewProductID, commitment?.billingPlanType?.rawValue,
    ]
    let numbers = [
      renewalPrice, offerType?.rawValue, recentSubscriptionStartDate?.millisecondsSince1970,
      commitment?.autoRenewStatus?.rawValue, commitment?.renewalDate?.millisecondsSince1970,
      commitment?.renewalPrice, commitment == nil ? nil : 1,
    ]
    return texts.map { $0.map { "+\($0)" } ?? "-" } + numbers.map { $0.map { "+\($0)" } ?? "-" }
      + eligibleWinBackOfferIDs
  }
}
