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
        guard sold.isFirst, let period = usablePeriod(of: line) else { return nil }
        return OwnedProduct(productID: period.productID, originalID: line.id)
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

  /// Returns the period that grants access now; `nil` if none does.
  ///
  /// After an early charge it is the period before the charged one, whatever is refunded and whatever the next product
  /// is.
  func usablePeriod(of line: SubscriptionLine) -> SoldTransaction? {
    guard let current = current(of: line) else { return nil }
    if current.purchaseDate <= now { return line.isEntitling ? current : nil }
    return purchases(of: line.account, in: line.app).last { sold in
      sold.originalID == line.id && sold.revocation == nil && sold.expiresDate == current.purchaseDate
    }
  }

  /// Returns the end of a non-renewing subscription; `nil` without a purchase or without a limit.
  private func end(of product: SandboxProduct, _ bought: [SoldTransaction]) -> Instant? {
    spans(of: product, bought).last?.span.upperBound
  }

  /// Returns the time that each purchase of a non-renewing subscription gives, oldest first; empty without a limit.
  ///
  /// Purchases add up: one that is made while another is active begins at the end of that one. A refunded one counts
  /// until its refund. The developer defines the duration, which no rate shortens.
  func spans(
    of product: SandboxProduct, _ bought: [SoldTransaction]
  ) -> [(id: Int64, span: Range<Instant>)] {
    guard let duration = product.duration else { return [] }
    var spans: [(id: Int64, span: Range<Instant>)] = []
    // A purchase may be recorded later than one with a later date.
    let dated = bought.sorted { ($0.purchaseDate, $0.id) < ($1.purchaseDate, $1.id) }
    for sold in dated where sold.productID == product.productId {
      let start = max(sold.purchaseDate, spans.last?.span.upperBound ?? sold.purchaseDate)
      var end = start
      for _ in 0..<sold.quantity { end = end.advanced(by: duration) }
      if let revocation = sold.revocation { end = max(start, min(end, revocation.date)) }
      spans.append((sold.id, start..<end))
    }
    return spans
  }

  /// The times that purchases of non-renewing subscriptions give, by transaction id.
  func nonRenewingSpans(_ bought: [SoldTransaction], in app: String) -> [Int64: Range<Instant>] {
    let products = Set(bought.map(\.productID)).compactMap { product($0, of: app) }
    let limited = products.filter { $0.type == .nonRenewingSubscription }
    return Dictionary(limited.flatMap { spans(of: $0, bought) }.map { ($0.id, $0.span) }) { first, _ in first
    }
  }
}
