internal import AppStore

/// What the App Store itself holds true: who has what, by how purchases stand and not by what was told of them.
extension World {
  /// Something that an account may use now.
  struct OwnedProduct: Hashable {
    let productID: String
    /// The first transaction of its purchase.
    let originalID: Int64
  }

  /// What an account may use now, in the order in which it was bought. Consumables are nobody's for long.
  func ownedProducts(of account: String, in app: String) -> [OwnedProduct] {
    let bought = purchases(of: account, in: app)
    return bought.compactMap { sold in
      if let line = lines[sold.originalID] {
        guard sold.isFirst, isUsable(line) else { return nil }
        return OwnedProduct(productID: line.productID, originalID: line.id)
      }
      guard let product = product(sold.productID, of: app), sold.revocation == nil else { return nil }
      switch product.type {
      case .nonConsumable: break
      case .nonRenewingSubscription: guard end(of: product, bought) ?? now > now else { return nil }
      default: return nil
      }
      return OwnedProduct(productID: sold.productID, originalID: sold.originalID)
    }
  }

  /// Whether the subscriber has what was paid for.
  private func isUsable(_ line: SubscriptionLine) -> Bool {
    if line.isEntitling { return true }
    // A renewal that is charged early and refunded before it begins leaves the period that runs.
    guard let current = current(of: line), current.purchaseDate > now else { return false }
    return purchases(of: line.account, in: line.app).contains { sold in
      sold.originalID == line.id && sold.revocation == nil && sold.expiresDate == current.purchaseDate
    }
  }

  /// When what was bought of a product without a renewal is over: one purchase after the other, and what was
  /// refunded lasts until then. `nil`: it was not bought, or lasts as long as the app likes.
  private func end(of product: SandboxProduct, _ bought: [SoldTransaction]) -> Instant? {
    guard let duration = product.duration else { return nil }
    var end: Instant?
    for sold in bought where sold.productID == product.productId {
      let start = max(sold.purchaseDate, end ?? sold.purchaseDate)
      var next = start
      for _ in 0..<sold.quantity { next = scale.end(of: duration, from: next) }
      end = sold.revocation.map { max(start, min(next, $0.date)) } ?? next
    }
    return end
  }
}
