package import AppStore

/// A suggestion to the operator about what to show or offer the customer.
package struct Advice: Hashable, Sendable {
  /// The suggested action.
  package enum Kind: Hashable, Sendable, CaseIterable {
    /// The renewal payment failed: ask the customer to update the payment details.
    case updateBilling
    /// Auto-renew is off: make an offer to stay.
    case retentionOffer
    /// A price increase needs the customer's consent.
    case priceConsent
    /// The customer left by choice: make a win-back offer.
    case winBackOffer
    /// The subscription ended for another reason, mostly a failed payment: offer it, or another product,
    /// again.
    case resubscribe
  }

  package let kind: Kind
  /// The time until which the action has an effect; `nil`: no limit.
  package let deadline: Instant?
  /// Ids of the eligible win-back offers, best first.
  package let offerIDs: [String]
  /// Ids of the products to show.
  package let productIDs: [String]

  init(
    _ kind: Kind, until deadline: Instant? = nil, offerIDs: [String] = [], productIDs: [String] = []
  ) {
    self.kind = kind
    self.deadline = deadline
    self.offerIDs = offerIDs
    self.productIDs = productIDs
  }

  /// An English sentence for the operator's staff.
  package var sentence: String {
    switch kind {
    case .updateBilling: "The payment failed: ask the customer to update the payment details."
    case .retentionOffer: "Auto-renew is off: make the customer an offer to stay."
    case .priceConsent: "A price increase needs the customer's consent: show it."
    case .winBackOffer: "The customer left by choice: ask why, and make a win-back offer."
    case .resubscribe: "The subscription ended: offer it, or another product of its group, again."
    }
  }

  /// The App Store page where the customer can act; `nil` if the app itself presents the offer.
  package var url: String? {
    switch kind {
    case .updateBilling: "https://apps.apple.com/account/billing"
    case .retentionOffer: "https://apps.apple.com/account/subscriptions"
    case .priceConsent, .winBackOffer, .resubscribe: nil
    }
  }

  /// The full days from `now` to the deadline; `nil` without a deadline.
  package func daysLeft(at now: Instant) -> Int64? {
    deadline.map { max(0, $0.milliseconds(since: now)) / 86_400_000 }
  }
}

extension EntitlementStatus {
  /// When the full days until ``actBy`` next decrease; `nil` without a deadline.
  package func daysLeftChange(after now: Instant) -> Instant? {
    guard let actBy, actBy > now else { return nil }
    return actBy.advanced(byMilliseconds: 1 - actBy.milliseconds(since: now) / 86_400_000 * 86_400_000)
  }

  /// Returns the advice for this answer. Family members and seat holders get none, because they do not pay.
  package func advice(in app: borrowing AppDefinition) -> [Advice] {
    guard let deciding, !deciding.isShared else { return [] }
    let product = deciding.productID
    var advice: [Advice] = []
    switch reason {
    case .inGracePeriod, .inOperatorGracePeriod, .billingRetry:
      advice.append(Advice(.updateBilling, until: actBy, productIDs: [product]))
    case .subscriptionNotRenewing:
      advice.append(
        Advice(.retentionOffer, until: actBy, productIDs: app.alternatives(to: product)))
    case .cancelled, .priceIncreaseNotAccepted:
      advice.append(winBack(product))
    case .expired:
      advice.append(
        outlook?.winBackOfferIDs.isEmpty == false
          ? winBack(product) : Advice(.resubscribe, productIDs: [product]))
    case .billingLapsed:
      advice.append(Advice(.resubscribe, productIDs: [product]))
    case .productUnavailable:
      advice.append(Advice(.resubscribe, productIDs: app.alternatives(to: product)))
    default: break
    }
    if isEntitled, outlook?.needsPriceConsent == true {
      advice.append(Advice(.priceConsent, until: actBy, productIDs: [product]))
    }
    return advice
  }

  private func winBack(_ product: String) -> Advice {
    Advice(.winBackOffer, offerIDs: outlook?.winBackOfferIDs ?? [], productIDs: [product])
  }
}

extension AppDefinition {
  /// The other products of the subscription group, highest level first.
  fileprivate borrowing func alternatives(to productID: String) -> [String] {
    guard let group = products[productID]?.subscriptionGroup else { return [] }
    return products.values.filter { $0.subscriptionGroup == group && $0.productID != productID }
      .sorted { ($0.level ?? .max, $0.productID) < ($1.level ?? .max, $1.productID) }.map(\.productID)
  }
}
