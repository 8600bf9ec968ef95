internal import AppStore
internal import AppStoreClient
package import AppleLookup
package import Ledger
package import Store

/// The reason why reconciliation could not continue. The loop retries it after a minute; a caller of a repair gets it.
package enum ReconciliationError: Error, Hashable, Sendable {
  /// A call of the App Store failed, or its response could not be ingested.
  case lookup(LookupError)
  /// A notification could not be ingested, or polls not be recorded.
  case ledger(LedgerError)
  /// The state of the reconciliation could not be read or written.
  case store(StoreError)
  /// The task was cancelled.
  case cancelled

  /// Wraps an error of a task group, whose child tasks throw untyped errors. An unknown one can only be a
  /// `CancellationError`.
  init(_ error: any Error) {
    switch error {
    case let error as ReconciliationError: self = error
    case LookupError.cancelled: self = .cancelled
    case let error as LookupError: self = .lookup(error)
    case let error as AppStoreClientError: self = ReconciliationError(LookupError(error))
    case let error as LedgerError: self = .ledger(error)
    case let error as StoreError: self = .store(error)
    default: self = .cancelled
    }
  }
}

extension ReconciliationError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .lookup(let error): error.description
    case .ledger(let error): error.description
    case .store(let error): error.description
    case .cancelled: "reconciliation cancelled"
    }
  }
}

extension LookupError {
  /// Whether a retry would get the same response.
  var isFinal: Bool {
    switch self {
    case .appStore(.refused(let code, _)): !code.isRetryable
    case .rejectedDocument: true
    case .noKey, .appStore, .cancelled, .ledger: false
    }
  }

  /// Whether the lookup of any other purchase would fail too, because the App Store, the key or the store is not
  /// available. Another error may be about one purchase, which must not delay the others.
  var concernsAllPurchases: Bool {
    switch self {
    case .noKey, .cancelled, .ledger(.store): true
    case .ledger, .rejectedDocument: false
    case .appStore(let error):
      switch error {
      case .unauthorized, .clockSkew, .rateLimited, .localRateLimit, .circuitOpen, .unreachable, .cancelled,
        .signingFailed, .refused(.rateLimitExceeded, _):
        true
      // If the whole App Store fails, the circuit opens, and ``AppReconciler/checkAppStore()`` fails.
      case .refused, .serverFailed, .timedOut, .notJSON, .malformed, .missing, .tooLarge, .pageLoop,
        .unexpectedStatus:
        false
      }
    }
  }
}
