internal import AppStore

/// What becomes of a subscription at the end of its period, as far as Apple has said.
package struct RenewalOutlook: Hashable, Sendable {
  /// Whether it renews; `nil` if Apple did not say.
  package let willRenew: Bool?
  /// The product it renews to; another one than the deciding one is a pending downgrade or crossgrade.
  package let productID: String?
  /// What the next period costs, in thousandths of the currency.
  package let price: Int64?
  /// ISO 4217.
  package let currency: String?
  /// The customer was asked to agree to a higher price, and has not yet.
  package let needsPriceConsent: Bool
  /// The win-back offers that the customer may have, the best first.
  package let winBackOfferIDs: [String]

  /// An outlook by its parts, for those who keep answers.
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

  /// What the renewal info that describes the period at `index` says; `nil` if none does.
  ///
  /// The last payment of a commitment is followed not by another payment but by what becomes of the
  /// commitment.
  init?(_ facts: borrowing CustomerFacts, _ index: Int) {
    // By index: a renewal info is large, and to name it copies it.
    guard let renewal = facts.renewal(describing: index) else { return nil }
    let endsCommitment = facts.transactions[index].details.commitment?.isLastPayment == true
    let commitment = endsCommitment ? facts.renewals[renewal].details.commitment : nil
    willRenew = (commitment?.autoRenewStatus ?? facts.renewals[renewal].autoRenewStatus).flatMap { status in
      switch status {
      case .on: true
      case .off: false
      case .unrecognized: nil
      }
    }
    productID = commitment?.autoRenewProductID ?? facts.renewals[renewal].autoRenewProductID
    price = commitment?.renewalPrice ?? facts.renewals[renewal].details.renewalPrice
    currency = facts.renewals[renewal].details.currency
    needsPriceConsent =
      facts.renewals[renewal].priceIncreaseStatus.map { status in
        if case .pending = status { true } else { false }
      } ?? false
    winBackOfferIDs = facts.renewals[renewal].details.eligibleWinBackOfferIDs
  }
}

extension TransactionDetails.Commitment {
  /// Whether no payment of this commitment follows.
  package var isLastPayment: Bool { totalBillingPeriods > 0 && billingPeriodNumber >= totalBillingPeriods }
}
