package import Ledger
internal import Platform
package import Store

/// Compares what RevenueCat's events state with the answers here when it is due. An app without settings any more is
/// not compared. Its pace is relaxed, because no caller waits for a comparison.
package struct ComparisonWorker: Worker {
  package let name: String
  private let worker: DueWorker

  /// Creates a worker for the customers of the environments that follow `clock`.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, settings: CurrentRevenueCatSettings,
    clock: ServiceClock
  ) {
    name = clock.domain == .sandbox ? "comparisons_sandbox" : "comparisons"
    worker = DueWorker(
      store: store, clock: clock, pace: .relaxed,
      nextDue: { reader throws(StoreError) in try reader.nextComparison(in: clock.domain) },
      process: { () async throws(LedgerError) in
        try await ledger.compareImportedEvents(by: clock) { settings[$0]?.comparison }
      })
  }

  /// Runs until the task is cancelled; throws the first ``LedgerError``, after which the supervisor starts it again.
  package func run() async throws { try await worker.run() }
}
