internal import AppStore

// Copies: several transactions of one purchase, with different transaction ids.
extension CustomerFacts {
  /// The facts with each purchase and each period once; the first transaction of a purchase stands for its
  /// copies.
  ///
  /// A purchase can have several transaction ids, for example after a restore on another device: those of a
  /// non-consumable have one `originalTransactionId`, those of a period one `webOrderLineItemId` (Apple:
  /// originalTransactionId, webOrderLineItemId). They are one sum of money and have one state: that of the
  /// latest document about any of them. So a refund of one refunds the purchase, and a reversal restores it.
  package var withoutCopies: CustomerFacts {
    guard mayHaveCopies else { return self }
    var purchases: [TransactionFact] = []
    // The purchases of the current line, by the id that their copies share.
    var positions: [String: [Int]] = [:]
    for transaction in transactions {
      if purchases.last?.originalTransactionID != transaction.originalTransactionID { positions = [:] }
      guard let id = transaction.sharedID else {
        purchases.append(transaction)
        continue
      }
      if let first = positions[id]?.last(where: { purchases[$0].isCopy(of: transaction) }) {
        purchases[first].merge(copy: transaction)
      } else {
        positions[id, default: []].append(purchases.count)
        purchases.append(transaction)
      }
    }
    return replacing(transactions: purchases)
  }

  /// The facts as the rules of `app` read them: each purchase once, and with the catalog's type where this version
  /// does not know Apple's.
  package func purchases(in app: borrowing AppDefinition) -> CustomerFacts {
    let hasUnknownType = transactions.indices.contains { index in
      if case .unrecognized = transactions[index].type { true } else { false }
    }
    guard hasUnknownType else { return withoutCopies }
    var typed: [TransactionFact] = []
    for var transaction in transactions {
      transaction.type = app.type(of: transaction)
      typed.append(transaction)
    }
    return replacing(transactions: typed).withoutCopies
  }

  /// Whether two transactions of a line have the same period or are non-consumables. True, too, if the ids of the
  /// periods do not ascend: every evaluation asks, and Apple numbers them in their order.
  var mayHaveCopies: Bool {
    var latest: String?
    for index in transactions.indices {
      if index == 0
        || transactions[index].originalTransactionID != transactions[index - 1].originalTransactionID
      {
        latest = periodID(index)
        continue
      }
      // Matches the case because == compares raw values, which are strings.
      if case .nonConsumable = transactions[index].type { return true }
      guard let period = periodID(index) else { continue }
      if let latest, (period.utf8.count, period) <= (latest.utf8.count, latest) { return true }
      latest = period
    }
    return false
  }

  /// As that of the transaction, without a copy of it.
  private func periodID(_ index: Int) -> String? {
    guard case .autoRenewableSubscription = transactions[index].type,
      let id = transactions[index].inDetails({ $0.webOrderLineItemID })
    else { return nil }
    return id.isEmpty || id == "0" ? nil : id
  }
}

extension TransactionFact {
  /// The id of the subscription period; `nil` without one. Receipts have 0 for other purchases.
  fileprivate var periodID: String? {
    guard case .autoRenewableSubscription = type, let id = details.webOrderLineItemID else { return nil }
    return id.isEmpty || id == "0" ? nil : id
  }

  /// The id that all copies of the purchase share; `nil` if it can have none.
  package var sharedID: String? { type == .nonConsumable ? productID : periodID }

  /// Whether both are documents about one transaction.
  package func isSame(as other: TransactionFact) -> Bool {
    transactionID == other.transactionID && originalTransactionID == other.originalTransactionID
  }

  /// Whether both are transactions of one purchase.
  ///
  /// Seats that are added during a period make a further transaction of that period, which is a purchase of
  /// its own (Apple: additionalTransactionReason). So is a non-consumable that is shared again after the sharing ended.
  package func isCopy(of other: TransactionFact) -> Bool {
    guard originalTransactionID == other.originalTransactionID, transactionID != other.transactionID else {
      return false
    }
    if type == .nonConsumable {
      return other.type == .nonConsumable && productID == other.productID
        && !isSharedAgain(after: other) && !other.isSharedAgain(after: self)
    }
    guard let periodID, periodID == other.periodID else { return false }
    let hasAddedSeats =
      details.additionalTransactionReason != nil || other.details.additionalTransactionReason != nil
    return !hasAddedSeats || purchaseDate == other.purchaseDate
  }

  /// Whether it is of the time after the end of the sharing that `other` shows.
  private func isSharedAgain(after other: TransactionFact) -> Bool {
    guard isShared, other.isShared, let ended = other.revocationDate else { return false }
    return other.purchaseDate < purchaseDate && ended <= purchaseDate
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
      details.seatsPrice = other.details.seatsPrice
      details.currency = other.details.currency
    }
    if !other.details.seatRefunds.isEmpty {
      details.seatRefunds = TransactionDetails.SeatRefund.merged(
        details.seatRefunds, other.details.seatRefunds)
    }
    recordRefunds(of: first, copy)
    recordBeginning(of: first, copy)
    recordFirstEnd(of: first, copy)
    recordUpgrade(of: first, copy)
    recordReceipt(of: first, copy)
  }
}
