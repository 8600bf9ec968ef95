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
