internal import AppStore
internal import Entitlements
package import Ledger
internal import Metrics
package import Store

extension DueWorker {
  /// A worker that evaluates the outcomes of requests for retention messages when they are due: whether the subscription
  /// continued after the customer saw the message. Each outcome is counted in `entitled_retention_outcomes_total`.
  package static func retentionOutcomes(
    store: any EntitlementStore, ledger: EvidenceLedger, clock: ServiceClock
  ) -> DueWorker {
    DueWorker(
      name: clock.name(ofWorker: "retention"), store: store, clock: clock,
      nextDue: { reader throws(StoreError) in try reader.nextRetentionRequest(in: clock.domain) },
      process: { () async throws(LedgerError) in
        for request in try await ledger.followRetentionRequests(by: clock) {
          Counter(
            label: "entitled_retention_outcomes_total",
            dimensions: [
              ("app", request.line.appID), ("environment", request.line.environment.rawValue),
              ("outcome", request.outcome.rawValue),
            ]
          ).increment()
        }
      })
  }
}
