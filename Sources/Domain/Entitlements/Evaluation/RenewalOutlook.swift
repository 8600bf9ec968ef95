internal import AppStore

/// The renewal of a subscription at the end of its period, as far as Apple's renewal info says.
package struct RenewalOutlook: Hashable, Sendable {
  /// Whether it renews; `nil` if Apple did not report it.
  package let willRenew: Bool?
  /// The product of the next period; if it differs from the current one, a downgrade or crossgrade is
  /// pending.
  package let productID: String?
  /// The price of the next period in milliunits of ``currency``.
  package let price: Int64?
  /// ISO 4217.
  package let currency: String?
  /// Whether the customer must still consent to a price increase.
  package let needsPriceConsent: Bool
  /// Apple's `eligibleWinBackOfferIds`, best first.
  package let winBackOfferIDs: [String]

  /// Recreates a stored outlook.
  package init(
    willRenew: Bool?, productID: String?, price: Int64?, currency: String?, needsPriceConsent: Bool,
    winBackOfferIDs: [String]
  ) {
    self.willRenew = willRenew
    self.productID = productID
    self.price = price
    self.currency = currency
    self.needsPriceConsent = needsPriceConsent
    self.winBackOfferIDs = winBackOfferIDs
  }

  /// Reads the renewal info in force for the period at `index` at `now`; `nil` if there is none.
  ///
  /// The last payment of a commitment is followed by the renewal of the commitment, not by another payment
  /// (Apple, Supporting monthly subscriptions with a 12-month commitment).
  init?(_ facts: borrowing CustomerFacts, _ index: Int, at now: Instant) {
    guard let renewal = facts.renewal(of: index, at: now) else { return nil }
    let endsCommitment = facts.transactions[index].details.commitment?.isLastPayment == true
    let commitment = endsCommitment ? renewal.details.commitment : nil
    willRenew = (commitment?.autoRenewStatus ?? renewal.autoRenewStatus).flatMap { status in
      switch status {
      case .on: true
      case .off: false
      case .unrecognized: nil
      }
    }
    productID = commitment?.autoRenewProductID ?? renewal.autoRenewProductID
    price = commitment?.renewalPrice ?? renewal.details.renewalPrice
    currency = renewal.details.currency
    needsPriceConsent =
      renewal.priceIncreaseStatus.map { status in
        if case .pending = status { true } else { false }
      } ?? false
    winBackOfferIDs = renewal.details.eligibleWinBackOfferIDs
  }
}

extension TransactionDetails.Commitment {
  /// Whether this is the last payment of the commitment.
  package var isLastPayment: Bool { totalBillingPeriods > 0 && billingPeriodNumber >= totalBillingPeriods }
}
