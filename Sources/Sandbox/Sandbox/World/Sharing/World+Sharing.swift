internal import AppStore

/// Family Sharing and assigned seats.
extension World {
  private func isShareable(_ productID: String, in app: String) -> Bool {
    settings[app]?.shareable.contains(productID) == true
  }

  private func family(of account: String) -> [String] {
    guard let family = accounts[account]?.family else { return [] }
    return accounts.keys.filter { $0 != account && accounts[$0]?.family == family }.sorted()
  }

  // MARK: Start of sharing

  /// Shares a subscription with the purchaser's family.
  mutating func share(_ line: SubscriptionLine) {
    guard line.source == nil, line.isShared, line.isEntitling, isShareable(line.productID, in: line.app)
    else { return }
    for account in family(of: line.account) { addMember(account, to: line, as: .familyShared) }
  }

  /// Shares a non-consumable with the purchaser's family.
  mutating func share(_ transaction: SoldTransaction) {
    guard transaction.ownership == .purchased, transaction.revocation == nil,
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
    for id in line.members {
      guard let member = lines[id], member.isRunning, let purchase = current(of: line) else { continue }
      // The shared subscription no longer exists after a change to a product without Family Sharing. Apple's list of
      // REVOKE conditions does not mention this case.
      if member.ownership == .familyShared, member.productID != line.productID,
        !isShareable(line.productID, in: line.app)
      {
        revoke(id)
        continue
      }
      // A new period starts for the members when it starts for the purchaser. An upgrade may start before a renewal
      // that is already charged.
      var next = member
      let known = current(of: member)
      let isNewPeriod =
        line.isEntitling
        && (purchase.purchaseDate > known?.purchaseDate ?? now || known?.productID != purchase.productID)
      if isNewPeriod {
        transactions[member.current]?.isUpgraded =
          purchase.reason == .purchase && purchase.purchaseDate < member.expiresDate
        next.current = makeNumber()
      }
      next = isNewPeriod ? follow(line, next, startingAt: purchase.purchaseDate) : mirror(line, next)
      body(&self, next)
    }
  }

  private mutating func follow(
    _ line: SubscriptionLine, _ member: SubscriptionLine, startingAt start: Instant
  ) -> SubscriptionLine {
    let purchase = current(of: line)
    let transaction = SoldTransaction(
      id: member.current, originalID: member.id, app: member.app, account: member.account,
      productID: line.productID, orderID: orderID(member.current), webOrderLineItemID: makeNumber(),
      purchaseDate: start, originalPurchaseDate: member.originalPurchaseDate, expiresDate: line.expiresDate,
      quantity: 1, appAccountToken: nil, ownership: member.ownership,
      reason: member.current == member.id ? .purchase : .renewal, price: purchase?.price ?? 0,
      storefront: accounts[member.account]?.storefront ?? .usa, offer: purchase?.offer,
      billingPlan: purchase?.billingPlan, commitment: purchase?.commitment)
    append(transaction)
    return mirror(line, member)
  }

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
    transactions[member.current]?.expiresDate = line.expiresDate
    if let end = line.commitment?.expiresDate {
      transactions[member.current]?.commitment?.expiresDate = end
    }
    put(member)
    return member
  }

  // MARK: End of sharing

  /// Ends the members' access after a refund or the end of sharing.
  ///
  /// - reason: the purchaser's after a refund, otherwise `other` (Apple: revocationReason).
  mutating func endSharing(of purchase: Int64, reason: RevocationReason = .other) {
    for member in lines[purchase]?.members ?? [] where lines[member]?.isRunning == true {
      revoke(member, reason: reason)
    }
    guard let sold = transactions[purchase], lines[purchase] == nil else { return }
    for account in family(of: sold.account) { revokeShared(sold, from: account, reason: reason) }
  }

  /// Ends a member's access.
  mutating func revoke(_ member: Int64, reason: RevocationReason = .other) {
    guard var line = lines[member] else { return }
    line.status = .revoked
    line.autoRenews = false
    line.commitment = nil
    put(line)
    revokeTransaction(line.current, reason)
  }

  private mutating func revokeShared(
    _ sold: SoldTransaction, from account: String, reason: RevocationReason = .other
  ) {
    for transaction in purchases(of: account, in: sold.app)
    where transaction.ownership == .familyShared && transaction.orderID == sold.orderID
      && transaction.revocation == nil
    {
      revokeTransaction(transaction.id, reason)
    }
  }

  private mutating func revokeTransaction(_ id: Int64, _ reason: RevocationReason) {
    guard var transaction = transactions[id] else { return }
    transaction.revocation = SoldTransaction.Revocation(
      date: now, reason: reason, type: .familyRevoke, percentage: nil)
    transactions[id] = transaction
    notify(.revoke, about: transaction)
  }

  // MARK: Families

  /// Adds an account to a family, which shares all purchases in both directions.
  mutating func join(_ account: String, family: String) {
    leaveFamily(account)
    accounts[account, default: AppleAccount()].family = family
    shareEverything(of: [account] + self.family(of: account))
  }

  /// Removes an account from its family, which ends sharing in both directions.
  mutating func leaveFamily(_ account: String) {
    for app in apps.map(\.id) {
      for member in self.family(of: account) {
        endSharing(between: member, and: account, in: app)
        endSharing(between: account, and: member, in: app)
      }
    }
    accounts[account]?.family = nil
  }

  private mutating func endSharing(between owner: String, and member: String, in app: String) {
    for transaction in purchases(of: owner, in: app) where transaction.ownership == .purchased {
      if let line = lines[transaction.id] {
        for id in line.members
        where lines[id]?.account == member && lines[id]?.ownership == .familyShared
          && lines[id]?.isRunning == true
        {
          revoke(id)
        }
      } else {
        revokeShared(transaction, from: member)
      }
    }
  }

  /// Shares all purchases of the accounts that are shareable.
  mutating func shareEverything(of accounts: [String]) {
    for account in accounts {
      for app in apps.map(\.id) {
        for transaction in purchases(of: account, in: app) {
          if let line = lines[transaction.id] { share(line) } else { share(transaction) }
        }
      }
    }
  }
}
