internal import AppReceipt
internal import AppStore
internal import Entitlements

/// The positions of signed purchases by what the entries of a receipt name. A receipt and its account may both have
/// thousands.
struct PurchaseIndex: Sendable {
  /// An id within a purchase line.
  private struct Key: Hashable {
    let line: String
    let id: String
  }

  private var byTransactionID: [String: Int] = [:]
  /// The first non-consumable of each line.
  private var nonConsumables: [String: Int] = [:]
  /// The first purchase of each period of a subscription, besides those that added seats to it.
  private var periods: [Key: Int] = [:]

  /// Creates an index of `purchases`; `copies` are all transactions, of which a purchase may have several.
  init(of purchases: [TransactionFact], copies: [TransactionFact]) {
    var shared: [Key: [Int]] = [:]
    for (position, purchase) in purchases.enumerated() {
      let line = purchase.originalTransactionID
      byTransactionID.keepFirst(position, for: purchase.transactionID)
      if purchase.type == .nonConsumable { nonConsumables.keepFirst(position, for: line) }
      if let period = purchase.details.webOrderLineItemID, purchase.details.additionalTransactionReason == nil
      {
        periods.keepFirst(position, for: Key(line: line, id: period))
      }
      if let id = purchase.sharedID { shared[Key(line: line, id: id), default: []].append(position) }
    }
    for copy in copies where byTransactionID[copy.transactionID] == nil {
      guard let id = copy.sharedID else { continue }
      let others = shared[Key(line: copy.originalTransactionID, id: id)] ?? []
      byTransactionID[copy.transactionID] = others.first { purchases[$0].isCopy(of: copy) }
    }
  }

  /// The position of the purchase that the entry of a receipt is about: the entry's transaction or a copy of it; `nil` if
  /// none is stored.
  func position(of entry: InAppPurchase) -> Int? {
    guard let id = entry.transactionID else { return nil }
    if let known = byTransactionID[id] { return known }
    let line = entry.originalTransactionID ?? id
    let period = entry.webOrderLineItemID.flatMap { $0 == 0 ? nil : periods[Key(line: line, id: String($0))] }
    return [nonConsumables[line], period].compactMap(\.self).min()
  }
}

/// Apple's ids of subscription groups, by the products of stored purchases.
struct GroupIDs {
  private let app: AppDefinition
  private var byProduct: [String: Int] = [:]
  private var byGroup: [String: Int] = [:]
  private var ids: [String] = []

  init(_ transactions: [TransactionFact], in app: AppDefinition) {
    self.app = app
    for fact in transactions {
      guard let id = fact.subscriptionGroupID else { continue }
      byProduct.keepFirst(ids.count, for: fact.productID)
      if let group = app.products[fact.productID]?.subscriptionGroup {
        byGroup.keepFirst(ids.count, for: group)
      }
      ids.append(id)
    }
  }

  /// The id of the group of a purchase that only the receipt states: that of another purchase of the group.
  func id(of purchase: LegacyPurchase) -> String? {
    guard purchase.isSubscription else { return nil }
    let group = app.products[purchase.productID]?.subscriptionGroup.flatMap { byGroup[$0] }
    return [byProduct[purchase.productID], group].compactMap(\.self).min().map { ids[$0] }
  }
}

extension Dictionary where Value == Int {
  /// Sets the value of a key that has none.
  fileprivate mutating func keepFirst(_ position: Int, for key: Key) {
    if self[key] == nil { self[key] = position }
  }
}
