internal import AppStore

// Copies: several transactions of one purchase, with different transaction ids.
extension CustomerFacts {
  /// The facts with each purchase and each period once; the first transaction of a purchase stands for its
  /// copies.
  ///
  /// A purchase can have several transaction ids, for example after a restore on another device: those of a
  /// non-consumable have one `originalTransactionId`, those of a period one `webOrderLineItemId` (Apple:
  /// originalTransactionId, webOrderLineItemId). They are one sum of money, and a revocation of one of them
  /// revokes the purchase.
  package var withoutCopies: CustomerFacts {
    guard mayHaveCopies else { return self }
    var purchases: [TransactionFact] = []
    for transaction in transactions {
      let first = purchases.lastIndex { $0.isCopy(of: transaction) }
      if let first { purchases[first].merge(copy: transaction) } else { purchases.append(transaction) }
    }
    return replacing(transactions: purchases)
  }

  /// Whether two transactions of a line have the same period or are non-consumables. Linear, because every
  /// evaluation asks.
  private var mayHaveCopies: Bool {
    var periods: Set<String> = []
    for index in transactions.indices.dropFirst() {
      guard transactions[index].originalTransactionID == transactions[index - 1].originalTransactionID else {
        if !periods.isEmpty { periods.removeAll(keepingCapacity: true) }
        continue
      }
      if transactions[index].type == .nonConsumable { return true }
      if periods.isEmpty, let period = transactions[index - 1].periodID { periods.insert(period) }
      if let period = transactions[index].periodID, !periods.insert(period).inserted { return true }
    }
    return false
  }

  /// The transactions of the same purchase as `transaction`, itself included.
  func copies(of transaction: TransactionFact) -> [TransactionFact] {
    transactions.filter { $0.isSame(as: transaction) || $0.isCopy(of: transaction) }
  }
}

extension TransactionFact {
  /// The id of the subscription period; `nil` without one. Receipts have 0 for other purchases.
  fileprivate var periodID: String? {
    guard type == .autoRenewableSubscription, let id = details.webOrderLineItemID, !id.isEmpty, id != "0"
    else {
      return nil
    }
    return id
  }

  /// Whether both are documents about one transaction.
  package func isSame(as other: TransactionFact) -> Bool {
    transactionID == other.transactionID && originalTransactionID == other.originalTransactionID
  }

  /// Whether both are transactions of one purchase.
  ///
  /// Seats that are added during a period make a further transaction of that period, which is a purchase of
  /// its own (Apple: additionalTransactionReason).
  package func isCopy(of other: TransactionFact) -> Bool {
    guard originalTransactionID == other.originalTransactionID, transactionID != other.transactionID else {
      return false
    }
    if type == .nonConsumable { return other.type == .nonConsumable && productID == other.productID }
    guard let periodID, periodID == other.periodID else { return false }
    let hasAddedSeats =
      details.additionalTransactionReason != nil || other.details.additionalTransactionReason != nil
    return !hasAddedSeats || purchaseDate == other.purchaseDate
  }

  /// Takes over the later state of the purchase from a copy that follows in the order of
  /// ``CustomerFacts/transactions``. Id and purchase date stay.
  fileprivate mutating func merge(copy: TransactionFact) {
    let first = self
    let latest = copy.supersedes(self) ? copy : self
    let other = copy.supersedes(self) ? self : copy
    self = latest
    transactionID = first.transactionID
    purchaseDate = first.purchaseDate
    arrivedEarlyAt = first.arrivedEarlyAt
    originalPurchaseDate = first.originalPurchaseDate ?? copy.originalPurchaseDate
    isUpgraded = first.isUpgraded || copy.isUpgraded
    if details.price == nil {
      details.price = other.details.price
      details.currency = other.details.currency
    }
    if latest.revocationDate == nil, other.revocationDate != nil {
      revocationDate = other.revocationDate
      revocationReason = other.revocationReason
      revocationType = other.revocationType
      details.revocationPercentage = other.details.revocationPercentage
    }
  }
}
