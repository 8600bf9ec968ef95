package import Ledger
package import Store

extension DueWorker {
  /// A worker that compares what RevenueCat's events state with the answers here when it is due. An app without settings
  /// any more is not compared. Its pace is relaxed, because no caller waits for a comparison.
  package static func comparisons(
    store: any EntitlementStore, ledger: EvidenceLedger, settings: CurrentRevenueCatSettings,
    clock: ServiceClock
  ) -> DueWorker {
    DueWorker(
      name: clock.name(ofWorker: "comparisons"), store: store, clock: clock, pace: .relaxed,
      nextDue: { reader throws(StoreError) in try reader.nextComparison(in: clock.domain) },
      process: { () async throws(LedgerError) in
        try await ledger.compareImportedEvents(by: clock) { settings[$0]?.comparison }
      })
  }
}
