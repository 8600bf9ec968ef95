internal import AppStore

/// An offer for a subscription, as configured in App Store Connect.
struct Offer: Hashable, Sendable {
  /// The identifier. For introductory offers it is local, because Apple gives them none.
  let id: String
  let type: OfferType
  let mode: OfferDiscountType
  /// The billing plan to which it applies (Apple: "Supporting monthly subscriptions with a 12-month commitment": offers
  /// are specific to a billing plan).
  let plan: BillingPlan
  /// The length of a free trial or of a prepaid offer. Pay-as-you-go offers use the billing period.
  let period: Period
  /// The number of pay-as-you-go periods; 1 for other modes.
  let periods: Int
  /// In thousandths of the currency; 0 for a free trial.
  let price: Int64

  /// The `offerIdentifier` in signed documents.
  var identifier: String? { type == .introductory ? nil : id }
}

/// An offer in use.
struct ActiveOffer: Hashable, Sendable {
  let offer: Offer
  /// The number of periods that remain after the current one.
  var left: Int
}

/// Offer eligibility.
extension World {
  /// Returns the offer that an order names, if the offer applies to the ordered billing plan.
  ///
  /// - Throws: ``ActionError/unknown(what:name:known:)``; ``ActionError/notEligible(offer:reason:)`` if the customer is
  ///   not eligible.
  func offer(_ name: String, for product: SandboxProduct, in order: PurchaseOrder) throws(ActionError)
    -> Offer
  {
    let offers = (settings[order.app]?.offers[product.productId] ?? []).filter {
      $0.plan == order.billingPlan
    }
    guard let offer = offers.first(where: { $0.id == name }) else {
      throw .unknown(what: "offer", name: name, known: offers.map(\.id))
    }
    let subscriptions = order.account.map { groupHistory(of: $0, product.group, in: order.app) } ?? []
    switch offer.type {
    case .introductory where order.allowsIntroductoryOffer == false:
      throw .notEligible(offer: name, reason: "the developer's signed eligibility excludes the customer")
    case .introductory where order.allowsIntroductoryOffer == true: break
    case .introductory:
      if subscriptions.contains(where: { $0.offer?.type == .introductory }) {
        throw .notEligible(offer: name, reason: "the customer has used an introductory offer of the group")
      }
      // Apple, "Implementing introductory offers in your app": new subscribers are eligible, lapsed ones if they never
      // used one in the group, existing ones never, so that an upgrade or downgrade has none.
      if ownLine(of: order, product)?.isRunning == true {
        throw .notEligible(
          offer: name, reason: "introductory offers exclude existing subscribers of the group")
      }
    case .promotional:
      if subscriptions.isEmpty {
        throw .notEligible(
          offer: name, reason: "promotional offers require a current or former subscriber")
      }
    case .winBack:
      guard let line = ownLine(of: order, product), !line.isRunning else {
        throw .notEligible(offer: name, reason: "win-back offers require an ended subscription")
      }
    case .retention:
      // WWDC26-309: Apple shows it when a subscriber cancels.
      guard ownLine(of: order, product)?.isRunning == true else {
        throw .notEligible(offer: name, reason: "retention offers require an active subscription")
      }
    case .offerCode, .unrecognized: break
    }
    return offer
  }

  /// Returns the subscription that the ordering account itself has in the product's group.
  private func ownLine(of order: PurchaseOrder, _ product: SandboxProduct) -> SubscriptionLine? {
    order.account.flatMap { account in
      ownLines[GroupOwnership(app: order.app, account: account, group: product.group)].flatMap { lines[$0] }
    }
  }

  /// Returns the account's own transactions in a subscription group.
  private func groupHistory(of account: String, _ group: String, in app: String) -> [SoldTransaction] {
    purchases(of: account, in: app).filter {
      lines[$0.originalID]?.group == group && $0.ownership == .purchased
    }
  }

  /// Returns the ids of the win-back offers for an ended subscription, in configuration order; none for a running one
  /// and for members.
  func winBackOffers(for line: SubscriptionLine) -> [String] {
    guard case .ended = line.status, line.source == nil else { return [] }
    return (settings[line.app]?.offers[line.productID] ?? []).filter { $0.type == .winBack }.map(\.id)
  }
}

extension Offer {
  /// The values of the member `type`.
  static let types: [String: OfferType] = [
    "INTRODUCTORY": .introductory, "PROMOTIONAL": .promotional, "CODE": .offerCode, "WIN_BACK": .winBack,
    "RETENTION": .retention,
  ]

  /// Decodes an offer from a tester's request. A free trial has no price, and only pay-as-you-go offers have several
  /// periods; other values are ignored.
  init(_ parameters: Parameters) throws(ActionError) {
    let type = try parameters.choice("type", of: Self.types.keys.sorted())
    let modes = [OfferDiscountType.freeTrial, .payAsYouGo, .payUpFront].map(\.rawValue)
    let mode = OfferDiscountType(rawValue: try parameters.choice("mode", of: modes))
    guard let period = Period(try parameters.string("period")) else {
      throw .wrongType(member: "period", expected: "a duration such as P1W or P1M")
    }
    let periods = try parameters.integerIfPresent("periods") ?? 1
    let price = try parameters.integerIfPresent("price") ?? 0
    guard (1...36).contains(periods), (0...1_000_000_000).contains(price) else {
      throw .wrongType(member: "periods", expected: "1 to 36, with a price of 0 to 1000000000")
    }
    self.init(
      id: try parameters.string("id"), type: Self.types[type] ?? .promotional, mode: mode,
      plan: try parameters.billingPlan(), period: period,
      periods: mode == .payAsYouGo ? Int(periods) : 1, price: mode == .freeTrial ? 0 : price)
  }
}
