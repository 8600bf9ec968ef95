internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Store

/// Asks Apple how one purchase stands, with as few calls as that takes.
struct PurchaseStatusQuery: Sendable {
  private let line: LineKey
  private let isSubscription: Bool
  /// When the latest period that is known ends; `nil` if none is known.
  private let end: Instant?
  /// When that period was bought.
  private let start: Instant?

  /// An inquiry about `line`, of which `facts` are known.
  init(_ line: LineKey, _ facts: CustomerFacts) {
    self.line = line
    isSubscription = facts.transactions.last.map { $0.type == .autoRenewableSubscription } ?? true
    end = facts.transactions.last?.expiresDate
    start = facts.transactions.last?.purchaseDate
  }

  /// One call, whose answer tells of all subscriptions of the same Apple account, or of all else that it has; two or
  /// more if there were periods in between that nobody told of. What in it is not genuine is an error.
  func ask(_ lookup: PurchaseLookup) async throws(LookupError) {
    var request = PurchaseLookup.Request(
      appID: line.appID, environment: line.environment, transactionID: line.originalTransactionID)
    request.priority = .repair
    guard isSubscription else {
      return try await lookup.fetchNonSubscriptions(request).requireVerified()
    }
    let result = try await lookup.fetchStatuses(request)
    try result.requireVerified()
    if result.skipsPeriods(of: line, behind: end) {
      _ = try await lookup.fetchHistory(request, since: start)
    }
  }
}

extension PurchaseLookup.Result {
  /// Whether the latest period of a line is not the one that follows `end`, so that those between are missing.
  fileprivate func skipsPeriods(of line: LineKey, behind end: Instant?) -> Bool {
    guard let end else { return true }
    return transactions.contains { transaction in
      transaction.originalTransactionId == line.originalTransactionID
        && transaction.purchaseDate.map { $0 > end } ?? false
    }
  }
}
