internal import AppStore

/// A transaction id that an account received by restoring its purchases on another device.
///
/// The restored transaction is a copy: it has the same `originalTransactionId` and `webOrderLineItemId` (Apple:
/// transactionId; Apple Developer Forums, threads 711952 and 736020).
struct RestoredTransaction: Hashable, Sendable {
  /// The id of the transaction of the purchase or renewal.
  let transaction: Int64
  let date: Instant
}

/// Restored purchases.
extension World {
  /// Returns the transaction with an id, which may be that of a restored copy.
  func transaction(_ id: Int64) -> SoldTransaction? {
    transactions[id] ?? restored[id].flatMap { transactions[$0.transaction]?.copy(as: id) }
  }

  /// Restores the owned products of an account.
  ///
  /// - onNewDevice: whether the subscriptions get new transaction ids.
  /// - Returns: the ids of the latest transactions that the app receives.
  mutating func restore(_ account: String, in app: String, onNewDevice: Bool) -> [Int64] {
    let owned = purchases(of: account, in: app).filter { transaction in
      let type = product(transaction.productID, of: app)?.type
      let line = lines[transaction.originalID]
      let isLatest =
        line.map { $0.current == transaction.id || $0.additions.contains(transaction.id) } ?? true
      return type != .consumable && isLatest && transaction.revocation == nil
    }
    return owned.map { transaction in
      guard onNewDevice, transaction.webOrderLineItemID != nil else { return transaction.id }
      let id = makeNumber()
      restored[id] = RestoredTransaction(transaction: transaction.id, date: now)
      return id
    }
  }
}
