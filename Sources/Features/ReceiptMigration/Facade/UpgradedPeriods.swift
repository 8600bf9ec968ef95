internal import AppStore
internal import Entitlements

/// Which periods of subscriptions a higher level of the group took the place of.
///
/// Apple signs that only when asked for the history: notifications bring the new period alone. So a period that another
/// product of the line cuts short was upgraded, unless Apple signed something else about it since: what renews begins
/// where the period before ends.
struct UpgradedPeriods: Sendable {
  private var transactionIDs: Set<String> = []

  /// Looks at transactions in the order of ``CustomerFacts/transactions``: by line, then by purchase date.
  init(in transactions: [TransactionFact]) {
    for index in transactions.indices where Self.isUpgraded(index, in: transactions) {
      transactionIDs.insert(transactions[index].transactionID)
    }
  }

  func contains(_ fact: TransactionFact) -> Bool { transactionIDs.contains(fact.transactionID) }

  private static func isUpgraded(_ index: Int, in transactions: [TransactionFact]) -> Bool {
    let fact = transactions[index]
    guard !fact.isUpgraded else { return true }
    guard fact.revocationDate == nil, let end = fact.expiresDate else { return false }
    func cutsShort(_ other: TransactionFact) -> Bool {
      other.productID != fact.productID && fact.signedDate < other.purchaseDate && other.purchaseDate < end
    }
    func isOfLine(_ other: TransactionFact) -> Bool {
      other.originalTransactionID == fact.originalTransactionID
    }
    let later = transactions[(index + 1)...].prefix { isOfLine($0) && $0.purchaseDate <= end }
    // What was renewed already is not cut short any more: the renewal is.
    guard later.last?.purchaseDate != end else { return false }
    // A period that was charged ahead of its time begins after the one that replaced it.
    let earlier = transactions[..<index].reversed()
      .prefix { isOfLine($0) && $0.purchaseDate > fact.signedDate }
    return later.contains(where: cutsShort) || earlier.contains(where: cutsShort)
  }
}
