package import AppStore
package import AppStoreClient
package import Ledger
internal import SignedData
package import Store

/// The reason why a lookup failed, or returned only a part.
package enum LookupError: Error, Hashable, Sendable {
  /// The app has no in-app purchase key for this environment.
  case noKey(appID: String, environment: Environment)
  /// The App Store rejected the call, or could not be called.
  case appStore(AppStoreClientError)
  /// The calling task was cancelled.
  case cancelled
  /// The response could not be stored.
  case ledger(LedgerError)
  /// A document in the response failed verification and is stored as rejected evidence. The others were ingested.
  case rejectedDocument(Rejection, evidence: EvidenceID)

  /// Separates ``cancelled`` from the failures of a call.
  package init(_ error: AppStoreClientError) {
    self = error == .cancelled ? .cancelled : .appStore(error)
  }
}

extension LookupError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noKey(let appID, let environment):
      "app '\(appID)' has no in_app_purchase_key for \(environment.rawValue)"
    case .appStore(let error): error.description
    case .cancelled: "lookup cancelled"
    case .ledger(let error): error.description
    case .rejectedDocument(.notVerified(.wrongEnvironment(let environment)), _):
      "App Store response holds a document of another environment: \(environment)"
    case .rejectedDocument(let rejection, _):
      "App Store response holds an unverifiable document: \(rejection)"
    }
  }
}
