package import AppStore

/// The contents of one signed renewal info that the rules read: the renewal of a subscription at the end of
/// the period that was current when Apple signed it (Apple's JWSRenewalInfoDecodedPayload).
package struct RenewalFact: Hashable, Sendable {
  /// Apple's `originalTransactionId`.
  package var originalTransactionID: String
  /// The product of the current period.
  package var productID: String
  /// The product of the next period; if it differs from ``productID``, a change is pending.
  package var autoRenewProductID: String?
  /// Whether auto-renew is on; `nil` if Apple did not send it.
  package var autoRenewStatus: AutoRenewStatus?
  /// Whether Apple is retrying a failed renewal payment.
  package var isInBillingRetry: Bool
  /// The end of Apple's billing grace period; `nil` without one.
  package var gracePeriodExpiresDate: Instant?
  /// The reason of the subscription's end; `nil` while it has not ended.
  package var expirationIntent: ExpirationIntent?
  /// The state of the consent to a price increase; `nil` if none was requested.
  package var priceIncreaseStatus: PriceIncreaseStatus?
  /// The end of the current period, when the next one starts.
  package var renewalDate: Instant?
  /// When Apple signed the document. Among documents about one line the latest wins.
  package var signedDate: Instant
  /// Price, offers and commitment.
  @CopyOnWriteBox package var details: RenewalDetails

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
  /// Whether the subscription renews: in a commitment at its end, because its payments continue after a cancellation
  /// (Apple, Managing the life cycle of monthly subscriptions with a 12-month commitment).
  package var renewalStatus: AutoRenewStatus? {
    inDetails { $0.commitment?.autoRenewStatus } ?? autoRenewStatus
  }

  /// Reads a part of ``details`` without a copy of all of them.
  package func inDetails<Part>(_ part: (borrowing RenewalDetails) -> Part) -> Part { _details.read(part) }

  /// Whether this document replaces `other` about the same line. See ``TransactionFact/supersedes(_:)``.
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

/// The fields of a renewal info that do not decide access: next price, offers and commitment.
package struct RenewalDetails: Hashable, Sendable {
  /// The price of the next period in milliunits of the currency.
  package var renewalPrice: Int64?
  /// ISO 4217.
  package var currency: String?
  /// The kind of offer of the next period.
  package var offerType: OfferType?
  /// The identifier of the offer of the next period.
  package var offerIdentifier: String?
  /// The payment mode of that offer.
  package var offerDiscountType: OfferDiscountType?
  /// The time that the offer is paid for up front, such as `P6M`; `nil` for other offers.
  package var offerPeriod: String?
  /// The win-back offers that the customer is eligible for, best first.
  package var eligibleWinBackOfferIDs: [String] = []
  /// The start of the current run of periods; gaps of up to 60 days do not end a run (Apple,
  /// recentSubscriptionStartDate).
  package var recentSubscriptionStartDate: Instant?
  /// The billing plan of the next period.
  package var billingPlanType: BillingPlanType?
  /// The renewal of the current commitment.
  package var commitment: Commitment?

  /// Creates details without any field set.
  package init() {}

  /// The renewal at the end of a 12-month commitment with monthly payments.
  package struct Commitment: Hashable, Sendable {
    /// The product of the next commitment.
    package var autoRenewProductID: String?
    /// Whether the commitment renews.
    package var autoRenewStatus: AutoRenewStatus?
    /// The billing plan of the next commitment.
    package var billingPlanType: BillingPlanType?
    /// When the next commitment starts.
    package var renewalDate: Instant?
    /// The price of the next commitment in milliunits of the currency.
    package var renewalPrice: Int64?

    /// Creates details without any field set.
    package init() {}
  }
}

extension RenewalDetails {
  /// Distinct for distinct details: orders two documents that agree in everything else.
  var orderingKey: [String] {
    let texts = [
      currency, offerIdentifier, offerDiscountType?.rawValue, billingPlanType?.rawValue,
      commitment?.autoRenewProductID, commitment?.billingPlanType?.rawValue, offerPeriod,
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
