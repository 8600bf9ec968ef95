internal import AppStore

/// The renewal of a subscription at the end of its period, as far as Apple's renewal info says.
package struct RenewalOutlook: Hashable, Sendable {
  /// Whether it renews, in a commitment at its end; `nil` if Apple did not report it.
  package let willRenew: Bool?
  /// The product after the period or the commitment; if it differs from the current one, a downgrade or
  /// crossgrade is pending.
  package let productID: String?
  /// The price of the next period, or of one payment of the next commitment, in milliunits of ``currency``.
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

  /// Reads the renewal info in force (``CustomerFacts/renewal(of:at:)``).
  ///
  /// In a commitment it is about the renewal at its end. The payments until then are due in any case.
  init(_ renewal: RenewalFact) {
    let commitment = renewal.details.commitment
    willRenew = renewal.renewalStatus.flatMap { status in
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
