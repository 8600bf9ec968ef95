internal import AppStore

/// Refunds.
extension World {
  /// Refunds a share of a purchase, in thousandths of a percent; without one all of it, as the Advanced Commerce API does.
  /// A refund of the current period ends the subscription at once, with the access of its members.
  ///
  /// - Throws: ``ActionError/notPossible(_:)`` for a transaction that another account paid, that was free, or that is
  ///   refunded.
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
      date: now, reason: reason,
      type: (percentage ?? .wholePercentage) < .wholePercentage ? .refundProrated : .refundFull,
      percentage: percentage)
    // After refunds of seats, the date shows that all seats are refunded now.
    if transaction.seats?.revoked ?? 0 > 0 { transaction.seats?.revoked = transaction.quantity }
    transactions[transaction.id] = transaction
    // A refund of an earlier period does not end the current one, which ends when all its transactions are refunded
    // (Apple: revokedSeatQuantity).
    if var line = lines[transaction.originalID], line.isRunning,
      periodTransactions(of: line).allSatisfy({ $0.revocation != nil })
    {
      line.status = .revoked
      line.autoRenews = false
      // Apple, "Managing the life cycle of monthly subscriptions with a 12-month commitment": a refund of the current
      // period ends the commitment, a refund of an earlier one only revokes that transaction.
      line.commitment = nil
      put(line)
    }
    notify(.refund, about: transaction)
    guard let line = lines[transaction.originalID], line.status != .revoked else {
      return revokeMembers(of: transaction, reason: reason)
    }
    revokeExcessSeats(of: line)
  }

  /// Reverses a refund, as Apple does after a dispute. The subscription continues until the period's end, but is not
  /// renewed.
  ///
  /// - Throws: ``ActionError/notPossible(_:)`` for a transaction that is not refunded, and for the refund of an
  ///   upgrade.
  mutating func reverseRefund(of transaction: SoldTransaction) throws(ActionError) {
    guard transaction.revocation != nil || transaction.seats?.revoked ?? 0 > 0,
      transaction.ownership == .purchased
    else { throw .notPossible("transaction \(transaction.id) is not refunded") }
    guard transaction.commitment == nil || !transaction.isUpgraded else {
      throw .notPossible("transaction \(transaction.id) was refunded by an upgrade")
    }
    var transaction = transaction
    if let refund = transaction.revocation { transaction.reversedRefunds.append(refund) }
    transaction.revocation = nil
    transaction.seats?.revoked = 0
    transactions[transaction.id] = transaction
    if var line = lines[transaction.originalID], line.status == .revoked,
      periodTransactions(of: line).contains(where: { $0.id == transaction.id })
    {
      // Renewal stays off, because the refund turned it off.
      line.status = line.expiresDate > now ? .active : .ended(.customerCancelled)
      put(line)
    }
    notify(.refundReversed, about: transaction)
    if let line = lines[transaction.originalID] { share(line) } else { share(transaction) }
  }
}
