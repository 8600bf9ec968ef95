internal import AppStore

// Family Sharing and assigned seats: the transactions of members, and how they follow the purchaser's.
extension World {
  /// Whether the developer turned Family Sharing on for a product.
  private func isShareable(_ productID: String, in app: String) -> Bool {
    settings[app]?.shareable.contains(productID) == true
  }

  // MARK: Start of sharing

  /// Shares a subscription with the purchaser's family, if the developer and the purchaser share it and it grants
  /// access. Members that have it already are left as they are.
  mutating func share(_ line: SubscriptionLine) {
    guard line.source == nil, line.isShared, line.isEntitling, isShareable(line.productID, in: line.app)
    else { return }
    for account in family(of: line.account) { addMember(account, to: line, as: .familyShared) }
  }

  /// Shares a non-consumable with the purchaser's family.
  mutating func share(_ transaction: SoldTransaction) {
    guard transaction.ownership == .purchased, transaction.revocation == nil, transaction.isShared,
      isShareable(transaction.productID, in: transaction.app),
      product(transaction.productID, of: transaction.app)?.type == .nonConsumable
    else { return }
    for account in family(of: transaction.account) {
      let owned = purchases(of: account, in: transaction.app).contains {
        $0.orderID == transaction.orderID && $0.revocation == nil
      }
      if !owned { shareNonConsumable(transaction, to: account) }
    }
  }

  /// Creates or renews a member's subscription that follows the purchaser's.
  mutating func addMember(_ account: String, to line: SubscriptionLine, as ownership: InAppOwnershipType) {
    let known = line.members.first { lines[$0]?.account == account && lines[$0]?.ownership == ownership }
    if let known, lines[known]?.isRunning == true { return }
    guard let product = product(line.productID, of: line.app) else { return }
    installApp(of: line.app, for: account)
    var member: SubscriptionLine
    if let known, let line = lines[known] {
      member = line
      member.current = makeNumber()
    } else {
      member = newLine(
        product, app: line.app, account: account, start: now, source: line, ownership: ownership)
      lines[line.id]?.members.append(member.id)
    }
    member = follow(line, member, startingAt: now)
    notify(.subscribed, known == nil ? .initialBuy : .resubscribe, of: member)
  }

  /// Creates a transaction of a member for a purchase of the family.
  private mutating func shareNonConsumable(_ transaction: SoldTransaction, to account: String) {
    installApp(of: transaction.app, for: account)
    let number = makeNumber()
    let shared = SoldTransaction(
      id: number, originalID: number, app: transaction.app, account: account,
      productID: transaction.productID, orderID: transaction.orderID, webOrderLineItemID: nil,
      purchaseDate: now, originalPurchaseDate: now, expiresDate: nil, quantity: 1, appAccountToken: nil,
      ownership: .familyShared, reason: .purchase, price: transaction.price,
      storefront: accounts[account]?.storefront ?? .usa, offer: nil)
    append(shared)
    notify(.oneTimeCharge, about: shared)
  }

  /// A member who uses a purchase has downloaded the app.
  private mutating func installApp(of app: String, for account: String) {
    if accounts[account]?.appInstalls[app] == nil {
      accounts[account, default: AppleAccount()].appInstalls[app] = AppInstall(originalPurchaseDate: now)
    }
  }

  // MARK: Changes

  /// Updates the members of a subscription after it changed, then calls `body` for each.
  mutating func followPurchaser(
    _ line: SubscriptionLine, _ body: (inout World, SubscriptionLine) -> Void
  ) {
    // An expired purchase takes all its members with it.
    let seatHolders = Set(assignedMembers(of: line).prefix(Int(clamping: memberSeats(of: line))).map(\.id))
    for id in line.members {
      guard let member = lines[id], member.isRunning, !member.leavesAtEnd, let purchase = current(of: line)
      else { continue }
      if line.isEntitling, !isCovered(member, by: line, seatHolders) {
        leave(member, purchase)
        continue
      }
      // A new period starts for the members when it starts for the purchaser. An upgrade may start before a renewal
      // that is already charged.
      var next = member
      let isNewPeriod = line.isEntitling && member.followed != line.current
      if isNewPeriod {
        if purchase.reason == .purchase, purchase.purchaseDate < member.expiresDate { replace(member) }
        next.current = makeNumber()
      }
      next = isNewPeriod ? follow(line, next, startingAt: purchase.purchaseDate) : mirror(line, next)
      body(&self, next)
    }
  }

  /// Whether the purchaser's latest period includes the member: the product can still be shared, or a seat is left.
  private func isCovered(
    _ member: SubscriptionLine, by line: SubscriptionLine, _ seatHolders: Set<Int64>
  ) -> Bool {
    if member.ownership == .assigned { return seatHolders.contains(member.id) }
    return member.productID == line.productID || isShareable(line.productID, in: line.app)
  }

  /// Marks a member's running period, and the next one if it is already charged, as replaced by the purchaser's upgrade.
  private mutating func replace(_ member: SubscriptionLine) {
    for sold in unfinishedPeriods(of: member) {
      transactions[sold.id]?.isUpgraded = true
      if sharingRules(of: member.app).revokedByUpgrade == .allMembers { revokeTransaction(sold.id, .other) }
    }
  }

  /// Ends a member's subscription that the purchaser's new period does not cover.
  ///
  /// An upgrade cuts the member's period (``SharingRules/revokedByUpgrade``). A renewal leaves it as it is, so it
  /// expires. Apple documents no subtype for that; nothing failed, so it is `VOLUNTARY`.
  private mutating func leave(_ member: SubscriptionLine, _ purchase: SoldTransaction) {
    guard purchase.purchaseDate >= member.expiresDate else {
      guard sharingRules(of: member.app).revokedByUpgrade == .noMembers else { return revoke(member.id) }
      for sold in unfinishedPeriods(of: member) { transactions[sold.id]?.isUpgraded = true }
      return end(member, .customerCancelled, .voluntary)
    }
    guard now < member.expiresDate else { return end(member, .customerCancelled, .voluntary) }
    var member = member
    member.leavesAtEnd = true
    member.autoRenews = false
    member.chargeDate = member.expiresDate
    put(member)
  }

  /// Gives a member a transaction for the purchaser's period. It has another id, and no refunds of the
  /// purchaser's.
  private mutating func follow(
    _ line: SubscriptionLine, _ member: SubscriptionLine, startingAt start: Instant
  ) -> SubscriptionLine {
    let period = periodTransactions(of: line)
    let purchase = period.first { $0.revocation == nil } ?? period.first
    // An assigned transaction has the seats, quantity and price of the purchaser's, but not its refunds (StoreKit:
    // Transaction.multiSeatInfo, purchasedQuantity). Only the purchaser's own seat is shared with the family.
    var seats = member.ownership == .assigned ? purchase?.seats : nil
    seats?.revoked = 0
    let transaction = SoldTransaction(
      id: member.current, originalID: member.id, app: member.app, account: member.account,
      productID: line.productID, orderID: orderID(member.current), webOrderLineItemID: makeNumber(),
      purchaseDate: start, originalPurchaseDate: member.originalPurchaseDate, expiresDate: line.expiresDate,
      quantity: seats == nil ? 1 : purchase?.quantity ?? 1, appAccountToken: nil, ownership: member.ownership,
      reason: member.current == member.id ? .purchase : .renewal, price: purchase?.price ?? 0,
      storefront: accounts[member.account]?.storefront ?? .usa, offer: purchase?.offer,
      billingPlan: purchase?.billingPlan, commitment: purchase?.commitment, seats: seats)
    append(transaction)
    var member = member
    member.followed = line.current
    return mirror(line, member)
  }

  /// Copies the state of the purchaser's subscription to a member's.
  private mutating func mirror(_ line: SubscriptionLine, _ member: SubscriptionLine) -> SubscriptionLine {
    var member = member
    member.productID = line.productID
    member.expiresDate = line.expiresDate
    member.chargeDate = line.chargeDate
    member.status = line.status
    member.autoRenews = line.autoRenews
    member.commitment = line.commitment
    member.renewalProductID = line.renewalProductID
    member.renewalPlan = line.renewalPlan
    member.renewalPrice = line.renewalPrice
    member.renewals = line.renewals
    member.leavesAtEnd = false
    transactions[member.current]?.expiresDate = line.expiresDate
    if let end = line.commitment?.expiresDate {
      transactions[member.current]?.commitment?.expiresDate = end
    }
    put(member)
    return member
  }
}
