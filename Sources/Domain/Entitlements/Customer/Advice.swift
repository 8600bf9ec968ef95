package import AppStore

/// Something worth telling or offering to the customer.
package struct Advice: Hashable, Sendable {
  /// What to do.
  package enum Kind: Hashable, Sendable, CaseIterable {
    /// The payment failed: ask to update the payment details.
    case updateBilling
    /// Renewal is off: make an offer to stay.
    case retentionOffer
    /// A price increase waits for consent.
    case priceConsent
    /// Left by choice: make an offer to come back.
    case winBackOffer
    /// Ended without a choice that is known, mostly because a payment failed: offer it, or another one, again.
    case resubscribe
  }

  /// What to do.
  package let kind: Kind
  /// Until when doing it helps; `nil` if that never ends.
  package let deadline: Instant?
  /// Offers that fit.
  package let offerIDs: [String]
  /// Products that fit.
  package let productIDs: [String]

  init(
    _ kind: Kind, until deadline: Instant? = nil, offerIDs: [String] = [], productIDs: [String] = []
  ) {
    self.kind = kind
    self.deadline = deadline
    self.offerIDs = offerIDs
    self.productIDs = productIDs
  }

  /// What to do, in a sentence for the operator's people.
  package var sentence: String {
    switch kind {
    case .updateBilling: "The payment failed: ask the customer to update the payment details."
    case .retentionOffer: "Renewal is turned off: make the customer an offer to stay."
    case .priceConsent: "A price increase waits for the customer's consent: show it."
    case .winBackOffer: "The customer left by choice: ask why, and make an offer to come back."
    case .resubscribe: "The subscription ended: offer it, or another one of its group, again."
    }
  }

  /// Where the customer can act; `nil` where the app itself is the place.
  package var url: String? {
    switch kind {
    case .updateBilling: "https://apps.apple.com/account/billing"
    case .retentionOffer: "https://apps.apple.com/account/subscriptions"
    case .priceConsent, .winBackOffer, .resubscribe: nil
    }
  }

  /// Full days from `now` to the deadline; `nil` without one.
  package func daysLeft(at now: Instant) -> Int64? {
    deadline.map { max(0, $0.milliseconds(since: now)) / 86_400_000 }
  }
}

extension EntitlementStatus {
  /// When the days left until ``actBy`` become one less than at `now`: `nil` if nothing is pressing.
  package func daysLeftChange(after now: Instant) -> Instant? {
    guard let actBy, actBy > now else { return nil }
    return actBy.advanced(byMilliseconds: 1 - actBy.milliseconds(since: now) / 86_400_000 * 86_400_000)
  }

  /// What to do about the answer. Nothing for those whom somebody else pays for: neither billing nor prices
  /// nor leaving is theirs to decide.
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
  /// The other products of a subscription's group, the highest level first.
  fileprivate borrowing func alternatives(to productID: String) -> [String] {
    guard let group = products[productID]?.subscriptionGroup else { return [] }
    return products.values.filter { $0.subscriptionGroup == group && $0.productID != productID }
      .sorted { ($0.level ?? .max, $0.productID) < ($1.level ?? .max, $1.productID) }.map(\.productID)
  }
}
