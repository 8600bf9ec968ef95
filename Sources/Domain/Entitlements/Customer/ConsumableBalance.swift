internal import AppStore

/// What a customer bought of one consumable, in units, and what was taken back. How many were used only the
/// app knows.
package struct ConsumableBalance: Hashable, Sendable {
  /// Apple's product id.
  package let productID: String
  /// Units bought, the refunded ones included.
  package let purchased: Int64
  /// Units refunded: what the operator has to take back. Where Apple gave back a part of the price it is that
  /// part of the units, rounded up. A refund that was reversed is not among them.
  package let refunded: Int64

  /// The balances of all consumables that were bought, by product id.
  static func all(_ facts: borrowing CustomerFacts) -> [ConsumableBalance] {
    var units: [String: (purchased: Int64, refunded: Int64)] = [:]
    for transaction in facts.transactions where transaction.type == .consumable {
      let quantity = transaction.quantity
      var found = units[transaction.productID] ?? (0, 0)
      found.purchased = adding(found.purchased, quantity)
      if transaction.accessRevokedAt != nil {
        found.refunded = adding(found.refunded, refundedUnits(transaction))
      }
      units[transaction.productID] = found
    }
    return units.sorted { $0.key < $1.key }.map { productID, units in
      ConsumableBalance(productID: productID, purchased: units.purchased, refunded: units.refunded)
    }
  }
}

private func refundedUnits(_ transaction: TransactionFact) -> Int64 {
  // In thousandths of a percent.
  let share = min(max(0, transaction.details.revocationPercentage ?? 100_000), 100_000)
  let (product, overflow) = transaction.quantity.multipliedReportingOverflow(by: share)
  return overflow ? transaction.quantity : product / 100_000 + (product % 100_000 > 0 ? 1 : 0)
}

/// Stops at the largest number.
private func adding(_ left: Int64, _ right: Int64) -> Int64 {
  let (sum, overflow) = left.addingReportingOverflow(right)
  return overflow ? .max : sum
}
