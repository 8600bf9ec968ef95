package import AppStore

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
