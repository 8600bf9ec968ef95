internal import AppStore

/// Refunds.
extension World {
  /// Refunds a purchase fully, or by `percentage` in thousandths of a percent.
  mutating func refund(_ transaction: SoldTransaction, _ reason: RevocationReason, percentage: Int64?)
    throws(ActionError)
  {
    guard transaction.ownership == .purchased else {
      throw .notPossible("transaction \(transaction.id) was paid by another account")
    }
    guard transaction.revocation == nil else {
      throw .notPossible("transaction \(transaction.id) is already refunded")
    }
    guard transaction.price > 0 else { throw .notPossible("transaction \(transaction.id) was free") }
    var transaction = transaction
    transaction.revocation = SoldTransaction.Revocation(
      date: now, reason: reason, type: percentage == nil ? .refundFull : .refundProrated,
      percentage: percentage)
    transactions[transaction.id] = transaction
    if var line = lines[transaction.originalID], line.current == transaction.id, line.isRunning {
      line.status = .revoked
      line.autoRenews = false
      // Apple, "Managing the life cycle of monthly subscriptions with a 12-month commitment": a refund of the current
      // period ends the commitment, a refund of an earlier one only revokes that transaction.
      line.commitment = nil
      put(line)
    }
    notify(.refund, about: transaction)
    // A refund of an earlier period does not end the current one.
    if lines[transaction.originalID].map({ $0.status == .revoked }) ?? true {
      endSharing(of: transaction.originalID, reason: reason)
    }
  }

  /// Reverses a refund, as Apple does after a dispute.
  mutating func reverseRefund(of transaction: SoldTransaction) throws(ActionError) {
    guard transaction.revocation != nil, transaction.ownership == .purchased else {
      throw .notPossible("transaction \(transaction.id) is not refunded")
    }
    guard transaction.commitment == nil || !transaction.isUpgraded else {
      throw .notPossible("transaction \(transaction.id) was refunded by an upgrade")
    }
    var transaction = transaction
    transaction.revocation = nil
    transactions[transaction.id] = transaction
    if var line = lines[transaction.originalID], line.current == transaction.id, line.status == .revoked {
      // Renewal stays off, because the refund turned it off.
      line.status = line.expiresDate > now ? .active : .ended(.customerCancelled)
      put(line)
    }
    notify(.refundReversed, about: transaction)
    if let line = lines[transaction.originalID] { share(line) } else { share(transaction) }
  }

  /// Refunds unused seats; the purchaser keeps at least one.
  mutating func refundSeats(_ count: Int64, of line: SubscriptionLine) throws(ActionError) {
    guard var transaction = current(of: line), count > 0, count < transaction.quantity else {
      throw .notPossible("subscription \(line.id) must keep at least one seat")
    }
    transaction.quantity -= count
    transactions[transaction.id] = transaction
    notify(.refund, .seats, about: transaction)
  }
}
