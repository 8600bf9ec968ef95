internal import AppStore

/// Who may have which offer.
extension World {
  /// The offer that an order names, if it is for this customer.
  func offer(_ name: String, for product: SandboxProduct, in order: PurchaseOrder) throws(ActionError)
    -> Offer
  {
    let offers = settings[order.app]?.offers[product.productId] ?? []
    guard let offer = offers.first(where: { $0.id == name }) else {
      throw .unknown(what: "offer", name: name, known: offers.map(\.id))
    }
    let subscriptions = order.account.map { groupHistory(of: $0, product.group, in: order.app) } ?? []
    switch offer.type {
    case .introductory where order.allowsIntroductoryOffer == false:
      throw .notEligible(offer: name, reason: "the developer says so")
    case .introductory where order.allowsIntroductoryOffer == true: break
    case .introductory:
      if subscriptions.contains(where: { $0.offer?.type == .introductory }) {
        throw .notEligible(offer: name, reason: "an introductory offer of the group was had before")
      }
      if !subscriptions.isEmpty {
        throw .notEligible(offer: name, reason: "introductory offers are for new customers of the group")
      }
    case .promotional:
      if subscriptions.isEmpty {
        throw .notEligible(
          offer: name, reason: "promotional offers are for those who have or had a subscription")
      }
    case .winBack:
      let line = order.account.flatMap { account in
        ownLines[GroupOwnership(app: order.app, account: account, group: product.group)].flatMap { lines[$0] }
      }
      guard let line, !line.isRunning else {
        throw .notEligible(offer: name, reason: "win-back offers are for those whose subscription ended")
      }
    case .offerCode, .unrecognized: break
    }
    return offer
  }

  /// The transactions of an account in a group that it made itself.
  private func groupHistory(of account: String, _ group: String, in app: String) -> [SoldTransaction] {
    purchases(of: account, in: app).filter {
      lines[$0.originalID]?.group == group && $0.ownership == .purchased
    }
  }

  /// The win-back offers that a subscriber who left could have, the best first as they were set up.
  func winBackOffers(for line: SubscriptionLine) -> [String] {
    guard case .ended = line.status, line.source == nil else { return [] }
    return (settings[line.app]?.offers[line.productID] ?? []).filter { $0.type == .winBack }.map(\.id)
  }
}
