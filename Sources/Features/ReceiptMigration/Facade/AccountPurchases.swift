internal import AppReceipt
internal import AppStore
internal import Entitlements

/// What is known of the Apple account whose receipt was sent: all that it has in the app.
struct AccountPurchases: Sendable {
  /// What Apple signed, in the order of ``CustomerFacts``.
  private let transactions: [TransactionFact]
  private let renewalFacts: [RenewalFact]
  private let upgraded: UpgradedPeriods
  /// By original transaction id.
  private let latestPeriods: [String: TransactionFact]
  /// When the app was ordered before it was out.
  let preorderDate: Instant?

  /// What is known, by the facts of all lines of the account. What only a receipt said is left out: the receipt that was
  /// sent says it again.
  init(_ facts: CustomerFacts, preorderDate: Instant?) {
    transactions = facts.transactions.filter { !$0.details.isFromReceipt }
    renewalFacts = facts.renewals
    self.preorderDate = preorderDate
    upgraded = UpgradedPeriods(in: transactions)
    latestPeriods = Self.latestPeriods(transactions, upgraded)
  }

  /// Whether Apple has signed nothing about the account yet.
  var isEmpty: Bool { transactions.isEmpty }

  /// The original transaction ids about which Apple has to be asked before all can be said of the receipt.
  func unknownLines(of receipt: AppReceiptPayload, in app: AppDefinition) -> [String] {
    var lines: [String] = []
    for entry in unknown(of: receipt, in: app) where !lines.contains(entry.originalTransactionID) {
      lines.append(entry.originalTransactionID)
    }
    return lines
  }

  /// The purchases of the receipt of which Apple has signed nothing yet. Consumables are not among them where anything
  /// is known of the account: Apple stops telling of them once they are delivered.
  private func unknown(of receipt: AppReceiptPayload, in app: AppDefinition) -> [LegacyPurchase] {
    let signed = Set(transactions.map(\.transactionID))
    return receipt.purchases.compactMap { entry in
      let type = entry.productType ?? entry.productID.flatMap { app.products[$0]?.type }
      guard type != .consumable || signed.isEmpty, let purchase = LegacyPurchase(entry) else { return nil }
      return signed.contains(purchase.transactionID) ? nil : purchase
    }
  }

  /// The original transaction ids of subscriptions that were to renew before `now`, and of which nothing was heard
  /// since: whoever has no notifications from Apple has to ask what became of them.
  func overdueLines(at now: Instant) -> [String] {
    renewalFacts.filter { renewal in
      guard let latest = latestPeriods[renewal.originalTransactionID], let end = latest.expiresDate else {
        return false
      }
      return end < now && renewal.signedDate < end && renewal.autoRenewStatus != .off
        && latest.revocationDate == nil
    }.map(\.originalTransactionID)
  }

  /// What `receipt` has, as Apple tells of it today, in the receipt's order.
  func purchases(in receipt: AppReceiptPayload) -> [LegacyPurchase] {
    let known = Dictionary(
      transactions.map { ($0.transactionID, $0) }, uniquingKeysWith: { first, _ in first })
    return receipt.purchases.compactMap { entry in
      entry.transactionID.flatMap { known[$0] }.map { LegacyPurchase($0, isUpgraded: false) }
        ?? LegacyPurchase(entry)
    }
  }

  /// All purchases, or with `onlyLatest` of each subscription the latest period. Of consumables those that the receipt
  /// has: they were not delivered yet when it was made. Of what Apple could not be asked about, the receipt's own word
  /// counts.
  func latest(
    since receipt: AppReceiptPayload, in app: AppDefinition, onlyLatest: Bool
  ) -> [LegacyPurchase] {
    let undelivered = Set(receipt.purchases.compactMap(\.transactionID))
    return transactions.filter { fact in
      switch fact.type {
      case .consumable: undelivered.contains(fact.transactionID)
      case .autoRenewableSubscription:
        !onlyLatest || latestPeriods[fact.originalTransactionID]?.transactionID == fact.transactionID
      case .nonConsumable, .nonRenewingSubscription, .unrecognized: true
      }
    }.map { LegacyPurchase($0, isUpgraded: upgraded.contains($0)) } + unknown(of: receipt, in: app)
  }

  /// What each subscription will do next.
  var renewals: [LegacyRenewal] { renewalFacts.map(LegacyRenewal.init) }

  /// The latest period of each subscription. One that was upgraded away may have been charged before its time, and
  /// then begins later than what replaced it.
  private static func latestPeriods(
    _ transactions: [TransactionFact], _ upgraded: UpgradedPeriods
  ) -> [String: TransactionFact] {
    var latest: [String: TransactionFact] = [:]
    for fact in transactions where fact.type == .autoRenewableSubscription {
      let known = latest[fact.originalTransactionID]
      // They come in the order of their purchase dates.
      if known.map(upgraded.contains) ?? true || !upgraded.contains(fact) {
        latest[fact.originalTransactionID] = fact
      }
    }
    return latest
  }
}
