internal import AppStore

/// The facts before and after a write, each purchase once, and what happened to purchases in between.
package struct FactsChange: Sendable {
  let before: CustomerFacts
  let after: CustomerFacts
  /// The purchases, refunds and reversals that documents reported; none if time, an operator or the catalog is
  /// the cause.
  package private(set) var purchases: [PurchaseChange] = []
  /// The refunds in other stores, and their reversals, that the operator's service reported.
  private(set) var externalRefunds: [ExternalRefund] = []
  /// The slack of ``RenewalPolicy``.
  let slack: Int64

  /// The change that a write with this cause made; `slack` is that of the app's ``RenewalPolicy``.
  package init(
    from before: CustomerFacts, to after: CustomerFacts, by cause: ChangeCause, slack: Int64 = 0
  ) {
    self.before = before.withoutCopies
    self.after = after.withoutCopies
    self.slack = slack
    if cause == .evidence || cause == .claim { purchases = PurchaseChange.all(from: before, to: after) }
    if cause == .external {
      externalRefunds = ExternalRefund.all(from: before.grants, to: after.grants)
    }
  }

  /// The same change with the purchases only that grant `entitlement`.
  package func granting(_ entitlement: String, in app: AppDefinition) -> FactsChange {
    var change = self
    let products = app.rules(of: entitlement)?.products ?? [:]
    change.purchases.removeAll { products[$0.purchase.productID] == nil }
    change.externalRefunds.removeAll { $0.entitlement != entitlement }
    return change
  }

  /// The transaction of an answer; `nil` if it is not among the facts.
  func transaction(_ deciding: DecidingTransaction?) -> TransactionFact? {
    guard let deciding else { return nil }
    return after.index(deciding).map { after.transactions[$0] }
      ?? before.index(deciding).map { before.transactions[$0] }
  }

  /// Whether the facts before had no transaction of this purchase.
  func isNew(_ transaction: TransactionFact) -> Bool {
    let line = before.range(ofLine: transaction.originalTransactionID)
    return !line.contains { index in
      before.transactions[index].transactionID == transaction.transactionID
        || before.transactions[index].isCopy(of: transaction)
    }
  }

  /// Whether an answer rests on a purchase that the facts before did not have.
  func isNew(_ deciding: DecidingTransaction?) -> Bool { transaction(deciding).map { isNew($0) } ?? false }

  /// Whether an answer rests on a new period of a purchase that the facts before had: of the same line, or of the one that a
  /// migration replaced.
  func isNewPeriod(_ deciding: DecidingTransaction?) -> Bool {
    transaction(deciding).map { isNew($0) && continuesKnownLine($0) } ?? false
  }

  /// Whether no document paid for the next period of a purchase that the facts before had, or gave one back: all new
  /// transactions are first ones of their purchases, or there is none.
  var addsNoNextPeriod: Bool {
    let new = after.transactions.filter(isNew)
    guard new.isEmpty else { return !new.contains(where: continuesKnownLine) }
    return !purchases.contains { $0.kind == .refundReversed }
  }

  private func continuesKnownLine(_ transaction: TransactionFact) -> Bool {
    let lines = [transaction.originalTransactionID, transaction.details.previousOriginalTransactionID]
    return lines.compactMap(\.self).contains { !before.range(ofLine: $0).isEmpty }
  }

  /// Whether the end of the period that an answer rests on was moved.
  func isMoved(_ deciding: DecidingTransaction?) -> Bool {
    guard let deciding, let old = before.index(deciding), let new = after.index(deciding) else {
      return false
    }
    return before.transactions[old].expiresDate != after.transactions[new].expiresDate
  }

  /// Whether the period that an answer rests on began after that of another answer.
  func isLater(_ deciding: DecidingTransaction?, than other: DecidingTransaction?) -> Bool {
    guard let first = transaction(deciding), let second = transaction(other) else { return false }
    return first.purchaseDate > second.purchaseDate
  }

  /// Whether two answers rest on one purchase: on copies of it, or on transactions that added seats to its period.
  func isSamePurchase(_ left: DecidingTransaction?, _ right: DecidingTransaction?) -> Bool {
    if left?.transactionID == right?.transactionID { return true }
    guard let first = transaction(left), let second = transaction(right) else { return false }
    return first.isCopy(of: second) || first.addsSeats(toPeriodOf: second)
      || second.addsSeats(toPeriodOf: first)
  }

  /// The latest transaction of each line that was gained, then of each that was lost.
  var movedLines: [TransactionFact] {
    after.latestTransactions(ofLinesNotIn: before) + before.latestTransactions(ofLinesNotIn: after)
  }

  /// The lines that were gained, by their latest transactions.
  var gainedLines: [TransactionFact] { after.latestTransactions(ofLinesNotIn: before) }
}

extension CustomerFacts {
  func index(_ deciding: DecidingTransaction) -> Int? {
    range(ofLine: deciding.originalTransactionID).first {
      transactions[$0].transactionID == deciding.transactionID
    }
  }

  /// The index of the transaction that stands for the period of the same line before the one at `index`. A renewal that was
  /// withdrawn before it started is none.
  func predecessor(of index: Int) -> Int? {
    let transaction = transactions[index]
    return range(ofLine: transaction.originalTransactionID).last {
      transactions[$0].purchaseDate < transaction.purchaseDate && !isWithdrawnBeforeStart($0)
        && !transaction.addsSeats(toPeriodOf: transactions[$0])
    }.map(standing(ofPeriodAt:))
  }

  /// The latest transaction of each line that `other` has no transaction of.
  fileprivate func latestTransactions(ofLinesNotIn other: CustomerFacts) -> [TransactionFact] {
    let known = Set(other.transactions.map(\.originalTransactionID))
    return transactions.indices.filter { index in
      let line = transactions[index].originalTransactionID
      let isLast =
        index == transactions.endIndex - 1 || transactions[index + 1].originalTransactionID != line
      return isLast && !known.contains(line)
    }.compactMap { latest(of: range(ofLine: transactions[$0].originalTransactionID)) }
      .map { transactions[$0] }
  }
}
