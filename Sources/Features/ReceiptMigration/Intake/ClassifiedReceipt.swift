internal import AppStore
internal import AppStoreClient
internal import AppleLookup

/// A submission after verification and before the lookup: what is to be looked up, and where.
enum ClassifiedReceipt: Sendable {
  /// The receipt's own statements count if Apple cannot be reached.
  case verified(VerifiedReceipt)
  /// An original transaction id to look up, of a submission that proves nothing by itself: an id alone, or a receipt
  /// from before iOS 7.
  case transactionID(String, SearchedEnvironments, ReceiptOutcome.Kind)

  /// The original transaction ids to look up.
  var lines: [String] {
    switch self {
    case .verified(let receipt): receipt.lines
    case .transactionID(let id, _, _): [id]
    }
  }

  /// The environment of the lookup.
  var environment: Environment {
    switch self {
    case .verified(let receipt): receipt.environment
    case .transactionID(_, let environments, _): environments.current
    }
  }

  /// The same in the next environment to be searched; `nil` for a receipt, which states its environment, and after the
  /// last one.
  var inNextEnvironment: ClassifiedReceipt? {
    guard case .transactionID(let id, let environments, let kind) = self, let next = environments.next else {
      return nil
    }
    return .transactionID(id, next, kind)
  }
}

/// The environments in which Apple is asked about a transaction id, until one has it.
///
/// An id does not show its environment. Apple: "If you receive an error code 4040010 TransactionIdNotFoundError, call the
/// endpoint using the sandbox environment."
struct SearchedEnvironments: Sendable {
  /// The environment that is searched now.
  let current: Environment
  private let others: ArraySlice<Environment>

  private init(_ current: Environment, _ others: ArraySlice<Environment>) {
    self.current = current
    self.others = others
  }

  /// The first environment of which Apple has purchases, and then the others in which `lookup` can call Apple for an app,
  /// in their order. `nil` if Apple has purchases of none.
  init?(_ environments: [Environment], of appID: String, through lookup: PurchaseLookup) {
    let atApple = environments.filter(\.isSignedByApple)
    guard let first = atApple.first else { return nil }
    let others = atApple.dropFirst().filter { (try? lookup.client(for: appID, in: $0)) != nil }
    self.init(first, others[...])
  }

  /// The search that continues after the current environment; `nil` after the last one.
  var next: SearchedEnvironments? {
    others.first.map { SearchedEnvironments($0, others.dropFirst()) }
  }
}
