internal import AppStore

/// Ownership as the App Store sees it, derived from purchases and not from notifications.
extension World {
  /// A product that an account owns.
  struct OwnedProduct: Hashable {
    let productID: String
    /// The original transaction id.
    let originalID: Int64
  }

  /// Returns the products that an account owns now, in order of purchase. Consumables are not included.
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

  /// Whether the subscription grants access now.
  private func isUsable(_ line: SubscriptionLine) -> Bool {
    if line.isEntitling { return true }
    // A renewal that is refunded before it starts leaves the current period intact.
    guard let current = current(of: line), current.purchaseDate > now else { return false }
    return purchases(of: line.account, in: line.app).contains { sold in
      sold.originalID == line.id && sold.revocation == nil && sold.expiresDate == current.purchaseDate
    }
  }

  /// Returns the end of a non-renewing subscription, whose purchases add up; a refunded one counts until its
  /// refund. `nil` without a purchase or without a limit.
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
