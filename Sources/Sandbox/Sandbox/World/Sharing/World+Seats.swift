internal import AppStore

/// The seats of Group Purchases and Volume Purchasing (Apple: "Managing the life cycle of multiseat subscriptions").
extension World {
  /// The largest number of seats of a subscription.
  static let maxSeats: Int64 = 10_000

  /// Apple documents no seats with monthly payments, so the sandbox does not sell them.
  static let noSeatsInCommitments = ActionError.notPossible("seats cannot be combined with a commitment")

  /// Whether the subscription has, or will renew into, the billing plan of commitments.
  func isCommitted(_ line: SubscriptionLine) -> Bool {
    current(of: line)?.billingPlan == .monthly || line.renewalPlan == .monthly
  }

  /// Returns the transactions of a subscription's latest period: the one that began it, then those that added
  /// seats.
  func periodTransactions(of line: SubscriptionLine) -> [SoldTransaction] {
    ([line.current] + line.additions).compactMap { transactions[$0] }
  }

  /// Returns the transaction that stands for the latest period in Get All Subscription Statuses: the latest one that is
  /// not refunded.
  func latestTransaction(of line: SubscriptionLine) -> SoldTransaction? {
    periodTransactions(of: line).last { $0.revocation == nil } ?? current(of: line)
  }

  /// Returns the number of seats of the latest period: the sum of its transactions' quantities without refunded
  /// seats (Apple: additionalTransactionReason).
  func seats(of line: SubscriptionLine) -> Int64 {
    periodTransactions(of: line).filter { $0.revocation == nil }
      .reduce(0) { $0 + $1.quantity - ($1.seats?.revoked ?? 0) }
  }

  /// Returns the running subscriptions of the members with an assigned seat of the latest period, in order of their
  /// first assignment.
  func assignedMembers(of line: SubscriptionLine) -> [SubscriptionLine] {
    line.members.compactMap { lines[$0] }
      .filter { $0.ownership == .assigned && $0.isRunning && !$0.leavesAtEnd }
  }

  // MARK: Number of seats

  /// Changes the number of seats.
  ///
  /// Added seats take effect at once. A reduction takes effect at the next renewal; so does undoing it (Apple:
  /// renewalQuantity). A number that is already planned changes nothing.
  ///
  /// - Throws: ``ActionError/notPossible(_:)`` for a subscription that is over or in a commitment, and for seats that
  ///   are added outside of a paid period.
  mutating func setSeats(_ count: Int64, of line: SubscriptionLine) throws(ActionError) {
    guard line.isRunning else { throw .notPossible("subscription \(line.id) is over") }
    if isCommitted(line) { throw Self.noSeatsInCommitments }
    let held = seats(of: line)
    if count > held { return try addSeats(count - held, to: line) }
    guard count != line.renewalQuantity, let transaction = current(of: line) else { return }
    var line = line
    let isIncrease = count > line.renewalQuantity
    line.renewalQuantity = count
    put(line)
    // Members do not pay, so the number of seats does not concern them.
    notify(.didChangeRenewalPref, isIncrease ? .increaseQuantity : .decreaseQuantity, about: transaction)
  }

  /// Sells additional seats for the rest of the period, at the prices of the bands that they fill.
  ///
  /// They make a separate transaction, which does not replace the period's others. All of them then carry
  /// `additionalTransactionReason` (Apple: additionalTransactionReason).
  private mutating func addSeats(_ count: Int64, to line: SubscriptionLine) throws(ActionError) {
    guard line.status == .active, now < line.expiresDate, let period = current(of: line),
      let product = product(line.productID, of: line.app)
    else { throw .notPossible("subscription \(line.id) has no paid period to which seats can be added") }
    var line = line
    let invitations =
      line.invitations ?? invitationManagement(of: line.productID, in: line.app)
    line.invitations = invitations
    let held = seats(of: line)
    let storefront = accounts[line.account]?.storefront ?? .usa
    let start = max(now, period.purchaseDate)
    var tiers = priceTiers(
      of: held..<held + count, product, in: line.app, at: storefront,
      price: price(of: product, in: line.app, for: line.account))
    if sharingRules(of: line.app).addedSeats == .prorated {
      tiers = tiers.prorated(from: start, in: period.purchaseDate..<line.expiresDate)
    }
    let number = makeNumber()
    append(
      SoldTransaction(
        id: number, originalID: line.id, app: line.app, account: line.account, productID: line.productID,
        orderID: orderID(number), webOrderLineItemID: makeNumber(),
        purchaseDate: start, originalPurchaseDate: line.originalPurchaseDate,
        expiresDate: line.expiresDate, quantity: count, appAccountToken: line.appAccountToken,
        ownership: line.ownership, reason: .purchase, price: tiers.averagePrice, storefront: storefront,
        offer: nil, billingPlan: period.billingPlan, seats: SeatInfo(invitations: invitations, tiers: tiers)))
    line.additions.append(number)
    for transaction in periodTransactions(of: line) {
      transactions[transaction.id]?.hasSeatAdditions = true
      if transaction.seats == nil {
        // The subscription was bought for one person.
        let tier = SeatPriceTier(price: transaction.price, quantity: transaction.quantity)
        transactions[transaction.id]?.seats = SeatInfo(invitations: invitations, tiers: [tier])
      }
    }
    line.renewalQuantity = held + count
    put(line)
    guard let added = transactions[number] else { return }
    notify(.didChangeRenewalPref, .increaseQuantity, about: added)
  }

  // MARK: Refunds

  /// Refunds seats of the latest period, those that were added last first; the purchaser keeps at least one.
  ///
  /// Refunds apply per transaction. A transaction is revoked only when all of its seats are (StoreKit:
  /// Transaction.MultiSeatInfo.revokedSeatQuantity).
  mutating func refundSeats(_ count: Int64, of line: SubscriptionLine) throws(ActionError) {
    guard line.isRunning, line.invitations != nil, count > 0, count < seats(of: line) else {
      throw .notPossible("subscription \(line.id) must keep at least one seat")
    }
    var left = count
    for var transaction in periodTransactions(of: line).reversed()
    where left > 0 && transaction.revocation == nil {
      let before = transaction.seats?.revoked ?? 0
      let refunded = min(left, transaction.quantity - before)
      left -= refunded
      transaction.seats?.revoked = before + refunded
      if before + refunded == transaction.quantity {
        transaction.revocation = SoldTransaction.Revocation(
          date: now, reason: .other, type: .refundFull, percentage: .wholePercentage)
      }
      transactions[transaction.id] = transaction
      notify(.refund, .seats, about: transaction)
    }
    revokeExcessSeats(of: line)
  }

  /// Ends the access of assigned members without a seat, the latest first. With invitations by the
  /// developer, the developer releases seats (Apple: revokedSeatQuantity).
  mutating func revokeExcessSeats(of line: SubscriptionLine) {
    for member in assignedMembers(of: line).dropFirst(Int(clamping: memberSeats(of: line))) {
      revoke(member.id)
    }
  }

  // MARK: Members

  /// Assigns a seat to an account that accepted Apple's invitation, or that the organization assigned.
  mutating func assignSeat(of line: SubscriptionLine, to account: String) throws(ActionError) {
    guard line.invitations != .developer else {
      throw .notPossible("the developer assigns the seats of subscription \(line.id)")
    }
    guard line.isEntitling, line.invitations != nil,
      Int64(assignedMembers(of: line).count) < memberSeats(of: line)
    else { throw .notPossible("subscription \(line.id) has no free seat") }
    addMember(account, to: line, as: .assigned)
  }

  /// Takes an assigned seat back; the account's transaction is revoked, and the seat is free again.
  mutating func unassignSeat(of line: SubscriptionLine, from account: String) throws(ActionError) {
    guard let seat = assignedMembers(of: line).first(where: { $0.account == account }) else {
      throw .notPossible("account '\(account)' has no seat of subscription \(line.id)")
    }
    revoke(seat.id)
  }
}
