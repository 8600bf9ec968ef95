package import AppStore

/// A purchase, a refund, a reversal or an end of sharing that new documents report, whether or not it changes
/// an answer.
package struct PurchaseChange: Hashable, Sendable {
  /// The kind of change, from the customer's point of view.
  package enum Kind: Hashable, Sendable {
    /// A consumable, a non-consumable or a non-renewing subscription was bought.
    case purchased
    /// The transaction is refunded now, and was not before.
    case refunded
    /// Apple took the refund of the transaction back.
    case refundReversed
    /// A family member or the holder of a seat lost it.
    case revoked
  }

  /// The kind of the change.
  package let kind: Kind
  /// The transaction that the documents name; it may be a copy of ``purchase``.
  package let transaction: TransactionFact
  /// The purchase, with the state of all copies.
  let purchase: TransactionFact
  /// The purchase or revocation date; for a reversal the date of its signature.
  package let effectiveAt: Instant

  /// Returns the changes in the order of the transactions; several copies of a purchase are one change.
  static func all(from before: CustomerFacts, to after: CustomerFacts) -> [PurchaseChange] {
    // Most writes add a period of a subscription that was never refunded.
    guard before.hasPurchasesOrRefunds || after.hasPurchasesOrRefunds else { return [] }
    var changes: [PurchaseChange] = []
    var line = Line("", before, after)
    for fact in after.transactions(changedSince: before) {
      // The transactions of a line are next to each other.
      if line.id != fact.originalTransactionID { line = Line(fact.originalTransactionID, before, after) }
      guard line.isFirstOfPurchase(fact), let purchase = line.purchases.first(of: fact) else { continue }
      let known = line.known.first(of: purchase)
      changes += all(of: purchase, line.after.all(of: fact), fact, since: known)
        .filter { $0.kind != .refundReversed || !line.movesEndOfSharing(at: known?.revocationDate) }
    }
    return changes
  }

  /// One line before and after.
  private struct Line {
    let id: String
    /// All transactions after.
    var after: CopyTable
    /// The purchases after, each once.
    var purchases: CopyTable
    /// The purchases before, each once.
    var known: CopyTable
    private var compared = CopyTable([])

    init(_ id: String, _ before: CustomerFacts, _ after: CustomerFacts) {
      self.id = id
      let after = after.ofLine(id)
      self.after = CopyTable(after.transactions)
      purchases = CopyTable(after.withoutCopies.transactions)
      known = CopyTable(before.ofLine(id).withoutCopies.transactions)
    }

    /// Whether an end of sharing at an instant is that of another period now, and was not before, or that of an earlier time
    /// in its period. A seat that was released while its renewal was awaited ends with the next period once that is known, and
    /// a claim that had to wait may get another seat.
    func movesEndOfSharing(at instant: Instant?) -> Bool {
      guard let instant else { return false }
      return after.transactions.contains { fact in
        if fact.earlierSeatTimes.contains(where: { $0.upperBound == instant }) { return true }
        return fact.isShared && fact.revocationDate == instant
          && !known.transactions.contains { $0.isSame(as: fact) && $0.revocationDate == instant }
      }
    }

    /// Whether no copy of `fact` was asked about before.
    mutating func isFirstOfPurchase(_ fact: TransactionFact) -> Bool {
      // Without copies there is nothing to compare.
      guard purchases.transactions.count < after.transactions.count else { return true }
      defer { compared.append(fact) }
      return !compared.all(of: fact).contains { $0.isCopy(of: fact) }
    }
  }

  /// The changes of one purchase; `copies` are its transactions, and `fact` is the new or changed one among them.
  private static func all(
    of purchase: TransactionFact, _ copies: [TransactionFact], _ fact: TransactionFact,
    since known: TransactionFact?
  ) -> [PurchaseChange] {
    var changes: [PurchaseChange] = []
    if known == nil, !purchase.isSubscription {
      let first = copies.first { $0.isSame(as: purchase) } ?? fact
      changes.append(
        PurchaseChange(
          kind: .purchased, transaction: first, purchase: purchase, effectiveAt: purchase.purchaseDate))
    }
    for past in purchase.pastRefunds(notIn: known) {
      changes.append(
        PurchaseChange(
          kind: purchase.isShared ? .revoked : .refunded, transaction: fact, purchase: purchase,
          effectiveAt: past.refund.date))
      changes.append(
        PurchaseChange(
          kind: .refundReversed, transaction: fact, purchase: purchase, effectiveAt: past.reversedAt))
    }
    let (before, after) = (known?.refundedShare ?? 0, purchase.refundedShare)
    if after > before, before == 0 || known?.details.isFromReceipt == false {
      let refunded = fact.refundedShare > 0 ? fact : copies.first { $0.refundedShare > 0 }
      changes.append(
        PurchaseChange(
          kind: purchase.isShared ? .revoked : .refunded, transaction: refunded ?? fact, purchase: purchase,
          effectiveAt: purchase.refundedAt ?? purchase.signedDate))
    } else if before > 0, after == 0 {
      changes.append(
        PurchaseChange(
          kind: .refundReversed, transaction: fact, purchase: purchase, effectiveAt: purchase.signedDate))
    }
    return changes
  }
}

extension TransactionFact {
  /// The refunds that were reversed again and of which `known`, the same purchase before, had no document, each with the time
  /// of its reversal. The document about a refund may arrive after the one about its reversal, or with it.
  fileprivate func pastRefunds(
    notIn known: TransactionFact?
  ) -> [(refund: TransactionDetails.Refund, reversedAt: Instant)] {
    guard inDetails({ !$0.refunds.isEmpty }) else { return [] }
    let knownDates = Set(known?.details.refunds.map(\.date) ?? [])
    return details.refunds.compactMap { refund in
      guard refund.date != revocationDate, !knownDates.contains(refund.date) else { return nil }
      // Without the notification of the reversal, the latest document shows it: it has no refund.
      let reversedAt =
        details.reversals.first { $0 > refund.date } ?? (revocationDate == nil ? signedDate : nil)
      return reversedAt.map { (refund, $0) }
    }
  }

  /// The refunded or revoked share in thousandths of a percent: of the price, or of the seats if only some
  /// were revoked.
  fileprivate var refundedShare: Int64 {
    if revocationDate != nil { return max(1, details.revocationPercentage ?? 100_000) }
    guard let seats = revokedSeatQuantity, seats > 0 else { return 0 }
    // Documents of Xcode have any numbers.
    return max(1, Int64(Double(min(seats, quantity)) / Double(quantity) * 100_000))
  }
}

extension CustomerFacts {
  /// Whether a transaction is no period of a subscription, or is or was refunded or revoked, in whole or in part.
  fileprivate var hasPurchasesOrRefunds: Bool {
    transactions.indices.contains { index in
      guard transactions[index].revocationDate == nil, transactions[index].revokedSeatQuantity == nil,
        transactions[index].inDetails({ $0.refunds.isEmpty })
      else { return true }
      if case .autoRenewableSubscription = transactions[index].type { return false }
      return !transactions[index].isSubscription
    }
  }

  /// The transactions that `before` has not, or not in the same state. Both are in the same order.
  fileprivate func transactions(changedSince before: CustomerFacts) -> [TransactionFact] {
    var changed: [TransactionFact] = []
    var known = before.transactions[...]
    for fact in transactions {
      while let first = known.first, first.precedes(fact) { known.removeFirst() }
      if known.first != fact { changed.append(fact) }
    }
    return changed
  }
}
