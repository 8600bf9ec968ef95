package import AppStore
package import Entitlements
internal import Metrics
package import Store

/// An effect of a write outside the store. A write body returns its effects, because a body may run twice and
/// a dry run must have none; the ledger records them once, after the commit.
package enum LedgerEffect: Hashable, Sendable {
  /// Facts that conflict with each other or with the catalog were stored for a customer.
  case contradictionFound(Contradiction.Kind)
  /// Apple sent a consumption request (`CONSUMPTION_REQUEST`).
  case consumptionRequestOpened(appID: String, Environment)
  /// A purchase that was bought with the `appAccountToken` of another customer was linked to a customer.
  case tokenConflict(TokenConflict)
  /// A consumption request was answered, missed or refused.
  case consumptionRequestSettled(appID: String, Environment, ConsumptionRequestRecord.State)
}

/// A purchase that is owned by another customer than the one its `appAccountToken` names.
package struct TokenConflict: Hashable, Sendable {
  /// The purchase.
  package let line: LineKey
  /// The customer who claimed it.
  package let claimant: String
  /// The customer whose token it has.
  package let tokenOwner: String
  /// The operator's user; empty if a document of Apple's caused the link.
  package let actor: String
}

/// The metrics of what writes changed. They are recorded after the commit, once.
package enum LedgerMetrics {
  /// Counts effects of a committed write.
  package static func record(_ effects: [LedgerEffect]) {
    for effect in effects {
      switch effect {
      case .contradictionFound(let kind):
        Counter(label: "entitled_contradictions_total", dimensions: [("kind", kind.rawValue)]).increment()
      case .tokenConflict(let conflict):
        Counter(
          label: "entitled_token_conflicts_total",
          dimensions: labels(of: conflict.line.appID, conflict.line.environment)
        ).increment()
      case .consumptionRequestOpened(let appID, let environment):
        Counter(label: "entitled_consumption_requests_total", dimensions: labels(of: appID, environment))
          .increment()
      case .consumptionRequestSettled(let appID, let environment, let state):
        Counter(
          label: "entitled_consumption_requests_settled_total",
          dimensions: labels(of: appID, environment) + [("outcome", state.rawValue)]
        ).increment()
      }
    }
  }

  /// Counts one rejected document by its kind and the reason code of its rejection.
  package static func recordRejection(of kind: Evidence.Kind, reason: String) {
    Counter(
      label: "entitled_verification_failures_total",
      dimensions: [("kind", kind.rawValue), ("reason", reason)]
    ).increment()
  }

  private static func labels(of appID: String, _ environment: Environment) -> [(String, String)] {
    [("app", appID), ("environment", environment.rawValue)]
  }
}
