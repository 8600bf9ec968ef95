internal import AppStore

/// What Apple takes back and gives back.
extension World {
  /// Refunds a purchase: all of it, or a `percentage` in thousandths of a percent.
  mutating func refund(_ transaction: SoldTransaction, _ reason: RevocationReason, percentage: Int64?)
    throws(ActionError)
  {
    guard transaction.ownership == .purchased else {
      throw .notPossible("\(transaction.id) was not paid for by this account")
    }
    guard transaction.revocation == nil else { throw .notPossible("\(transaction.id) is refunded already") }
    guard transaction.price > 0 else { throw .notPossible("\(transaction.id) cost nothing") }
    var transaction = transaction
    transaction.revocation = SoldTransaction.Revocation(
      date: now, reason: reason, type: percentage == nil ? .refundFull : .refundProrated,
      percentage: percentage)
    transactions[transaction.id] = transaction
    if var line = lines[transaction.originalID], line.current == transaction.id, line.isRunning {
      line.status = .revoked
      line.autoRenews = false
      put(line)
    }
    notify(.refund, about: transaction)
    // A refund of an old period takes nothing away that runs.
    if lines[transaction.originalID].map({ $0.status == .revoked }) ?? true {
      endSharing(of: transaction.originalID)
    }
  }

  /// Gives back what a refund took, because the customer disputed it no longer.
  mutating func reverseRefund(of transaction: SoldTransaction) throws(ActionError) {
    guard transaction.revocation != nil, transaction.ownership == .purchased else {
      throw .notPossible("\(transaction.id) is not refunded")
    }
    var transaction = transaction
    transaction.revocation = nil
    transactions[transaction.id] = transaction
    if var line = lines[transaction.originalID], line.current == transaction.id, line.status == .revoked {
      // The renewal stays off, as the refund left it.
      line.status = line.expiresDate > now ? .active : .ended(.customerCancelled)
      put(line)
    }
    notify(.refundReversed, about: transaction)
    if let line = lines[transaction.originalID] { share(line) } else { share(transaction) }
  }

  /// Refunds seats that nobody has any more: the purchaser keeps the others.
  mutating func refundSeats(_ count: Int64, of line: SubscriptionLine) throws(ActionError) {
    guard var transaction = current(of: line), count > 0, count < transaction.quantity else {
      throw .notPossible("\(line.id) has not so many seats that one would be left")
    }
    transaction.quantity -= count
    transactions[transaction.id] = transaction
    notify(.refund, .seats, about: transaction)
  }
}
