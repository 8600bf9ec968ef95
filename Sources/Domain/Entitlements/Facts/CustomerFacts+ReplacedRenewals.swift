internal import AppStore

// Renewals that were charged and withdrawn before their period began.
extension CustomerFacts {
  /// Whether the transaction at `index` was revoked, or replaced by an upgrade, before its period started.
  package func isWithdrawnBeforeStart(_ index: Int) -> Bool {
    transactions[index].isRevokedBeforeStart || isReplacedBeforeStart(index)
  }

  /// The latest of the transactions at `indices`, which are in order, besides renewals that an upgrade replaced before
  /// they started. The last one if all were replaced; `nil` for none.
  package func latest(of indices: some BidirectionalCollection<Int>) -> Int? {
    indices.last { !isReplacedBeforeStart($0) } ?? indices.last
  }

  /// The latest transaction of facts about one line, as in ``latest(of:)``; `nil` without one.
  package var latestTransaction: TransactionFact? {
    latest(of: transactions.indices).map { transactions[$0] }
  }

  /// Apple charges for a renewal within the last 24 hours of the period ("In-App Purchase Programming Guide"); in
  /// milliseconds.
  static let longestChargeLead: Int64 = Instant.millisecondsPerDay

  /// Whether an upgrade took the place of the renewal at `index` in the hours between its charge and its start. Such a
  /// renewal grants nothing and replaces nothing, whether or not Apple revoked it.
  ///
  /// Apple marks it as upgraded. But the notification of an upgrade has the new transaction only, so the known document
  /// about the renewal may be older than the upgrade.
  package func isReplacedBeforeStart(_ index: Int) -> Bool { upgrade(replacingRenewal: index) != nil }

  /// The index of the upgrade that took the place of the renewal at `index` in these hours; `nil` if none did.
  package func upgrade(replacingRenewal index: Int) -> Int? {
    // By index, because an element has about 300 bytes and a dozen reference counts. Most renewals were signed after
    // their start.
    guard transactions[index].isUpgraded || transactions[index].signedDate < transactions[index].purchaseDate,
      let upgrade = earlierUpgrade(insteadOf: index), isRenewal(index)
    else { return nil }
    return upgrade
  }

  /// The same, if the transaction at `index` is a renewal.
  private func earlierUpgrade(insteadOf index: Int) -> Int? {
    let start = transactions[index].purchaseDate.millisecondsSince1970
    let isFromReceipt = transactions[index].inDetails { $0.isFromReceipt }
    // An upgrade is earlier, and receipts may have thousands of transactions with the same date.
    var other = firstInLine(purchasedWith: index)
    while other > 0 {
      other -= 1
      // Most neighbours are periods of different months, or of different purchases.
      let lead = start &- transactions[other].purchaseDate.millisecondsSince1970
      guard 1...Self.longestChargeLead ~= lead,
        transactions[other].originalTransactionID == transactions[index].originalTransactionID
      else { return nil }
      if isUpgrade(other, insteadOf: index) { return other }
      // A purchase before the renewed period did not replace the renewal.
      if ends(other, at: start, fromReceipt: isFromReceipt) { return nil }
    }
    return nil
  }

  /// The first index with the line and the purchase date of the transaction at `index`.
  private func firstInLine(purchasedWith index: Int) -> Int {
    let (line, date) = (transactions[index].originalTransactionID, transactions[index].purchaseDate)
    guard index > 0, transactions[index - 1].purchaseDate == date,
      transactions[index - 1].originalTransactionID == line
    else { return index }
    return (0..<index).firstInOrder { other in
      transactions[other].originalTransactionID == line
        ? transactions[other].purchaseDate >= date : transactions[other].originalTransactionID > line
    }
  }

  /// Whether Apple renewed the subscription with the transaction at `index`. Receipts, and documents from before Apple
  /// introduced the reason, do not say so: there a renewal begins when a period of its line ends.
  private func isRenewal(_ index: Int) -> Bool {
    switch transactions[index].details.transactionReason {
    case .renewal?: return true
    case .purchase?, .unrecognized?: return false
    case nil:
      let start = transactions[index].purchaseDate.millisecondsSince1970
      let isFromReceipt = transactions[index].inDetails { $0.isFromReceipt }
      return range(ofLine: transactions[index].originalTransactionID).contains {
        ends($0, at: start, fromReceipt: isFromReceipt)
      }
    }
  }

  /// Whether the purchase at `index` is of another product or billing plan, and an upgrade that replaced the renewal at
  /// `renewal`, which starts later.
  private func isUpgrade(_ index: Int, insteadOf renewal: Int) -> Bool {
    guard transactions[index].hasOtherPlan(than: transactions[renewal]),
      let end = transactions[index].expiresDate, transactions[renewal].purchaseDate < end
    else { return false }
    // To a member of the purchaser's family an upgrade may be a renewal, too.
    return transactions[renewal].isUpgraded
      || transactions[index].details.transactionReason != .renewal
        && transactions[renewal].signedDate < transactions[index].purchaseDate
  }
}
