package import AppStore

/// A suggestion to the operator about what to show or offer the customer.
package struct Advice: Hashable, Sendable {
  /// The suggested action.
  package enum Kind: Hashable, Sendable, CaseIterable {
    /// The renewal payment failed: ask the customer to update the payment details.
    case updateBilling
    /// Auto-renew is off: make an offer to stay. In a commitment: in its last two periods.
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
  /// Offers, best first: the eligible win-back offers that Apple reports for ``Kind/winBackOffer``, if any;
  /// otherwise the product's promotional offers in the catalog.
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
    case .retentionOffer, .priceConsent: Self.manageURL
    case .winBackOffer, .resubscribe: nil
    }
  }

  /// The App Store page where customers manage their subscriptions.
  package static let manageURL = "https://apps.apple.com/account/subscriptions"

  /// The full days from `now` to the deadline; `nil` without a deadline.
  package func daysLeft(at now: Instant) -> Int64? {
    deadline.map { max(0, $0.milliseconds(since: now)) / Instant.millisecondsPerDay }
  }
}

extension EntitlementStatus {
  /// When the full days until ``actBy`` next decrease; `nil` without a deadline.
  package func daysLeftChange(after now: Instant) -> Instant? {
    guard let actBy, actBy > now else { return nil }
    let days = actBy.milliseconds(since: now) / Instant.millisecondsPerDay
    return actBy.advanced(byDays: -days).advanced(byMilliseconds: 1)
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
      guard deciding.commitment?.isEnding ?? true else { break }
      advice.append(
        Advice(
          .retentionOffer, until: actBy, offerIDs: app.offers(of: product),
          productIDs: app.alternatives(to: product) { !$0.isDearer(than: $1) }))
    case .cancelled, .priceIncreaseNotAccepted:
      advice.append(winBack(product, in: app))
    case .expired:
      advice.append(
        outlook?.winBackOfferIDs.isEmpty == false ? winBack(product, in: app) : resubscribe(product, in: app))
    case .billingLapsed:
      advice.append(resubscribe(product, in: app))
    case .productUnavailable:
      advice.append(Advice(.resubscribe, productIDs: app.alternatives(to: product) { _, _ in true }))
    default: break
    }
    if isEntitled, outlook?.needsPriceConsent == true {
      advice.append(Advice(.priceConsent, until: actBy, productIDs: [product]))
    }
    return advice
  }

  private func winBack(_ product: String, in app: borrowing AppDefinition) -> Advice {
    let reported = outlook?.winBackOfferIDs ?? []
    return Advice(
      .winBackOffer, offerIDs: reported.isEmpty ? app.offers(of: product) : reported, productIDs: [product])
  }

  private func resubscribe(_ product: String, in app: borrowing AppDefinition) -> Advice {
    Advice(.resubscribe, offerIDs: app.offers(of: product), productIDs: [product])
  }
}

extension AppDefinition {
  /// The promotional offers of a product.
  fileprivate borrowing func offers(of productID: String) -> [String] { products[productID]?.offers ?? [] }

  /// The other products of the subscription group that `isSuitable` accepts instead of the second, highest level
  /// first.
  fileprivate borrowing func alternatives(
    to productID: String, where isSuitable: (ProductDefinition, ProductDefinition) -> Bool
  ) -> [String] {
    guard let product = products[productID], let group = product.subscriptionGroup else { return [] }
    return products.values.filter { other in
      other.subscriptionGroup == group && other.productID != productID && isSuitable(other, product)
    }.sorted { ($0.level ?? .max, $0.productID) < ($1.level ?? .max, $1.productID) }.map(\.productID)
  }
}

extension ProductDefinition {
  /// Whether it costs more than `other`: by the prices in the catalog for equal times, or if they are not
  /// comparable by the level in the group, since upgrades cost more.
  fileprivate func isDearer(than other: ProductDefinition) -> Bool {
    if let price, let otherPrice = other.price, price.currency == otherPrice.currency {
      return price.perDay > otherPrice.perDay
    }
    guard let level, let otherLevel = other.level else { return false }
    return level < otherLevel
  }
}
