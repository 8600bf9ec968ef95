internal import AppStore
internal import Entitlements
internal import Store

// Consumables that the operator delivers.
extension FactApplier {
  /// Stores the units that the customer of a consumable purchase should have: the purchased less the refunded
  /// ones.
  func recordConsumable(_ line: LineKey, _ transactionID: String) throws(StoreError) {
    let fact = try store.facts(of: line).transactions.first { $0.transactionID == transactionID }
    guard let fact, type(of: fact, in: line) == .consumable, !fact.isShared else { return }
    try store.put(
      FulfillmentRecord(
        line: line, transactionID: fact.transactionID, productID: fact.productID, quantity: fact.quantity,
        target: fact.quantity - fact.refundedUnits, fulfilled: 0, purchaseDate: fact.purchaseDate))
  }

  /// The type of a purchase; the catalog's if this version does not know Apple's.
  func type(of fact: TransactionFact, in line: LineKey) -> ProductType {
    catalog.definition(of: line.appID).type(of: fact)
  }

  /// Stores a delivery or a take-back that the operator acknowledged.
  func recordFulfillment(
    _ fulfillment: Fulfillment, of line: LineKey, _ evidence: EvidenceID
  ) throws(StoreError) {
    try store.index(evidence, under: line)
    try store.append(fulfillment, in: line.appEnvironment, from: evidence)
  }
}
