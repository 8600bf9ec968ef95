internal import AppStore
internal import Entitlements
package import Ledger
internal import Metrics
internal import Platform
package import Store

/// Evaluates the outcomes of requests for retention messages when they are due: whether the subscription continued
/// after the customer saw the message. Each outcome is counted in `entitled_retention_outcomes_total`.
package struct RetentionOutcomeWorker: Worker {
  package let name: String
  private let worker: DueWorker

  /// Creates a worker for the requests of the environments that follow `clock`.
  package init(store: any EntitlementStore, ledger: EvidenceLedger, clock: ServiceClock) {
    name = clock.domain == .sandbox ? "retention_sandbox" : "retention"
    worker = DueWorker(
      store: store, clock: clock,
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

  /// Runs until the task is cancelled; throws the first ``LedgerError``.
  package func run() async throws { try await worker.run() }
}
