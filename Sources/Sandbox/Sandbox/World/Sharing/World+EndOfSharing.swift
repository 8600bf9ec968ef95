internal import AppStore

// The end of what members have: refunds, the purchaser's decision, and families that change.
extension World {
  /// Ends the access of all members after a refund of the purchase.
  ///
  /// - reason: the purchaser's, which the members' transactions have, too (Apple: revocationReason).
  mutating func revokeMembers(of purchase: SoldTransaction, reason: RevocationReason) {
    guard let line = lines[purchase.originalID] else {
      for account in family(of: purchase.account) { revokeShared(purchase, from: account, reason: reason) }
      return
    }
    // A renewal that is refunded before it starts leaves the current period intact.
    let endsNow = purchase.purchaseDate <= now
    for member in line.members where lines[member]?.isRunning == true {
      revoke(member, reason: reason, includingCurrentPeriod: endsNow)
    }
  }

  /// Turns the purchaser's sharing of one purchase with the family on or off. Seat holders are not concerned.
  mutating func setSharing(_ isShared: Bool, of purchase: SoldTransaction) {
    guard var line = lines[purchase.originalID] else {
      transactions[purchase.id]?.isShared = isShared
      guard let purchase = transactions[purchase.id] else { return }
      guard !isShared else { return share(purchase) }
      for account in family(of: purchase.account) { revokeShared(purchase, from: account) }
      return
    }
    line.isShared = isShared
    put(line)
    guard !isShared else { return share(line) }
    for member in line.members
    where lines[member]?.isRunning == true && lines[member]?.ownership == .familyShared {
      revoke(member)
    }
  }

  /// Ends a member's access: revokes the latest transaction, and the one of the current period if the next one is
  /// already charged.
  mutating func revoke(
    _ member: Int64, reason: RevocationReason = .other, includingCurrentPeriod: Bool = true
  ) {
    guard var line = lines[member] else { return }
    line.status = .revoked
    line.autoRenews = false
    line.commitment = nil
    line.leavesAtEnd = false
    put(line)
    for sold in unfinishedPeriods(of: line) where includingCurrentPeriod || sold.id == line.current {
      revokeTransaction(sold.id, reason)
    }
  }

  /// Returns the latest transaction, and the one of the current period if the next one is already charged, unless they
  /// are revoked or replaced.
  func unfinishedPeriods(of line: SubscriptionLine) -> [SoldTransaction] {
    purchases(of: line.account, in: line.app).filter { sold in
      guard sold.originalID == line.id, sold.revocation == nil, !sold.isUpgraded else { return false }
      return sold.id == line.current || sold.expiresDate.map { now < $0 } == true
    }
  }

  /// Revokes what an account has of a one-time purchase that is shared with it.
  mutating func revokeShared(
    _ sold: SoldTransaction, from account: String, reason: RevocationReason = .other
  ) {
    for transaction in purchases(of: account, in: sold.app)
    where transaction.ownership == .familyShared && transaction.orderID == sold.orderID
      && transaction.revocation == nil
    {
      revokeTransaction(transaction.id, reason)
    }
  }

  /// Revokes a member's transaction and sends the notification of it.
  mutating func revokeTransaction(_ id: Int64, _ reason: RevocationReason) {
    guard var transaction = transactions[id] else { return }
    let type =
      transaction.ownership == .assigned
      ? sharingRules(of: transaction.app).seatRevocation.type : .familyRevoke
    transaction.revocation = SoldTransaction.Revocation(
      date: now, reason: reason, type: type, percentage: nil)
    transactions[id] = transaction
    notify(.revoke, about: transaction)
  }
}
