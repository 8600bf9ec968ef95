package import AppStore
package import AppStoreClient
package import Ledger
package import Store

/// Why asking Apple about a purchase brought nothing, or not all.
package enum LookupError: Error, Hashable, Sendable {
  /// The operator gave the app no key for calls of Apple's API.
  case noKey(appID: String, environment: Environment)
  /// Apple did not answer, or refused.
  case appStore(AppStoreClientError)
  /// What Apple answered could not be kept.
  case ledger(LedgerError)
  /// A document in the answer is not to be believed. It is kept as rejected evidence; what was genuine counts.
  case rejectedDocument(Rejection, evidence: EvidenceID)
}

extension LookupError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noKey(let appID, let environment):
      "Apple cannot be asked about \(appID.debugDescription) in \(environment.rawValue): the app has no "
        + "in_app_purchase_key"
    case .appStore(let error): error.description
    case .ledger(let error): error.description
    case .rejectedDocument(let rejection, _): "the App Store's answer holds what is not genuine: \(rejection)"
    }
  }
}
