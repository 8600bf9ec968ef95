internal import AppReceipt
internal import AppStore
internal import Entitlements
internal import Store

/// The stored purchases of a receipt's Apple account in one app, in the form in which `verifyReceipt` reports them.
struct AccountPurchases: Sendable {
  /// Signed transactions in the order of ``CustomerFacts``, each purchase once.
  private let transactions: [TransactionFact]
  private let index: PurchaseIndex
  private let renewalFacts: [RenewalFact]
  /// The signed transactions in Apple's old format, by transaction id.
  private let legacyPurchases: [String: LegacyPurchase]
  /// The latest period of each subscription, by original transaction id.
  private let latestPeriods: [String: TransactionFact]
  /// The date of the app's pre-order.
  let preorderDate: Instant?

  /// Creates the purchases from the facts of all lines of the account, without those known from receipts only: the
  /// request's receipt contains them.
  init(_ facts: CustomerFacts, preorderDate: Instant?) {
    let purchases = facts.withoutCopies.transactions.filter { !$0.details.isFromReceipt }
    transactions = purchases
    index = PurchaseIndex(of: purchases, copies: facts.transactions)
    renewalFacts = facts.withoutCopies.currentRenewals
    self.preorderDate = preorderDate
    let upgraded = UpgradedPeriods(in: transactions)
    let dated = transactions.map { LegacyPurchase($0, isUpgraded: upgraded.contains($0)) }.withUpgradesDated
    legacyPurchases = Dictionary(
      dated.map { ($0.transactionID, $0) }, uniquingKeysWith: { first, _ in first })
    latestPeriods = Self.latestPeriods(transactions, upgraded)
  }

  /// Whether no signed transaction is stored.
  var isEmpty: Bool { transactions.isEmpty }

  /// Returns the original transaction ids to look up before the receipt can be reported.
  func unknownLines(of receipt: AppReceiptPayload, in app: AppDefinition) -> [String] {
    var seen: Set<String> = []
    return unknown(of: receipt, in: app).map(\.originalTransactionID).filter { seen.insert($0).inserted }
  }

  /// Returns the purchases of the receipt without a signed transaction. If any is stored for the account, consumables are
  /// left out: the App Store does not return them after delivery.
  private func unknown(of receipt: AppReceiptPayload, in app: AppDefinition) -> [LegacyPurchase] {
    receipt.purchases.compactMap { entry in
      let type = entry.productType ?? entry.productID.flatMap { app.products[$0]?.type }
      guard type != .consumable || transactions.isEmpty, let purchase = LegacyPurchase(entry) else {
        return nil
      }
      return index.position(of: entry) == nil ? purchase : nil
    }
  }

  /// Returns the original transaction ids of subscriptions that were due to renew before `now` without newer evidence, as
  /// happens without notifications.
  func overdueLines(at now: Instant) -> [String] {
    renewalFacts.filter { renewal in
      guard let latest = latestPeriods[renewal.originalTransactionID], let end = latest.expiresDate else {
        return false
      }
      return end < now && renewal.signedDate < end && renewal.autoRenewStatus != .off
        && latest.revocationDate == nil
    }.map(\.originalTransactionID)
  }

  /// Returns the purchases in `receipt`, as last signed, in the receipt's order. Of several copies the first is reported,
  /// under its own transaction id.
  func purchases(in receipt: AppReceiptPayload) -> [LegacyPurchase] {
    var reported: Set<String> = []
    return receipt.purchases.compactMap { entry in
      guard let position = index.position(of: entry), let id = entry.transactionID else {
        return LegacyPurchase(entry)
      }
      let fact = transactions[position]
      guard reported.insert(fact.transactionID).inserted else { return nil }
      var purchase = legacyPurchases[fact.transactionID]
      purchase?.transactionID = id
      return purchase
    }
  }

  /// Returns all purchases, or with `onlyLatest` only the latest period of each subscription. Of consumables, it returns
  /// those in the receipt, which were undelivered at its creation. Purchases that could not be looked up are reported as
  /// in the receipt.
  func latest(
    since receipt: AppReceiptPayload, in app: AppDefinition, onlyLatest: Bool
  ) -> [LegacyPurchase] {
    let undelivered = Set(receipt.purchases.compactMap(\.transactionID))
    let groups = GroupIDs(transactions, in: app)
    var unknown = unknown(of: receipt, in: app)
    let newer = onlyLatest ? latestOfReceipt(unknown) : [:]
    if onlyLatest {
      unknown.removeAll { purchase in
        purchase.isSubscription
          && newer[purchase.originalTransactionID]?.transactionID != purchase.transactionID
      }
    }
    return transactions.filter { fact in
      switch fact.type {
      case .consumable: undelivered.contains(fact.transactionID)
      case .autoRenewableSubscription:
        !onlyLatest
          || newer[fact.originalTransactionID] == nil
            && latestPeriods[fact.originalTransactionID].map(fact.isOfPeriod) ?? false
      case .nonConsumable, .nonRenewingSubscription, .unrecognized: true
      }
    }.compactMap { legacyPurchases[$0.transactionID] }
      + unknown.map { purchase in
        var purchase = purchase
        purchase.subscriptionGroupID = groups.id(of: purchase)
        return purchase
      }
  }

  /// Returns the latest period of each subscription among purchases without a signed transaction, unless a signed one of
  /// the subscription began later.
  private func latestOfReceipt(_ unknown: [LegacyPurchase]) -> [String: LegacyPurchase] {
    var latest: [String: LegacyPurchase] = [:]
    for purchase in unknown.latestFirst where purchase.isSubscription {
      let id = purchase.originalTransactionID
      guard latest[id] == nil else { continue }
      if let signed = latestPeriods[id], signed.purchaseDate >= purchase.purchaseDate ?? .distantPast {
        continue
      }
      latest[id] = purchase
    }
    return latest
  }

  /// The `pending_renewal_info` of all subscriptions of the account.
  var renewals: [LegacyRenewal] { renewalFacts.map(LegacyRenewal.init) }

  /// Returns the latest period of each subscription. An upgraded period may have been charged ahead of its time, and then
  /// begins later than the one that replaced it.
  private static func latestPeriods(
    _ transactions: [TransactionFact], _ upgraded: UpgradedPeriods
  ) -> [String: TransactionFact] {
    var latest: [String: TransactionFact] = [:]
    for fact in transactions where fact.type == .autoRenewableSubscription {
      let known = latest[fact.originalTransactionID]
      // The facts are in the order of their purchase dates.
      if known.map(upgraded.contains) ?? true || !upgraded.contains(fact) {
        latest[fact.originalTransactionID] = fact
      }
    }
    return latest
  }
}

extension TransactionFact {
  /// Whether it is the period `other`, or adds seats to it.
  fileprivate func isOfPeriod(_ other: TransactionFact) -> Bool {
    transactionID == other.transactionID || addsSeats(toPeriodOf: other) || other.addsSeats(toPeriodOf: self)
  }
}

/// Reads the purchases of Apple accounts, each in one snapshot.
struct AccountReader: Sendable {
  let store: any EntitlementStore

  /// Returns the purchases in the receipt's lines and in all lines of the same app installs, or of `appInstalls`.
  func purchases(
    of receipt: AppReceiptPayload, through appInstalls: Set<String>, appID: String, environment: Environment
  ) async throws(StoreError) -> AccountPurchases {
    try await store.read { reader throws(StoreError) in
      func line(_ id: String) -> LineKey {
        LineKey(appID: appID, environment: environment, lineID: id)
      }
      var read: Set<LineKey> = []
      var facts = CustomerFacts()
      let ids = Set(receipt.purchases.compactMap { $0.originalTransactionID ?? $0.transactionID })
      // In the order of the facts, so that those of thousands of lines are appended.
      for id in ids.sorted() {
        read.insert(line(id))
        facts.merge(try reader.facts(of: line(id)))
      }
      var preorderDate: Instant?
      for appInstall in appInstalls.union(facts.transactions.compactMap(\.details.appTransactionID)) {
        for other in try reader.lines(ofAppInstall: appInstall, of: appID, in: environment)
        where read.insert(other).inserted { facts.merge(try reader.facts(of: other)) }
        let installs = try reader.facts(of: line(LineKey.appTransactionPrefix + appInstall)).appTransactions
        preorderDate = preorderDate ?? installs.compactMap(\.preorderDate).first
      }
      return AccountPurchases(facts, preorderDate: preorderDate)
    }
  }
}
