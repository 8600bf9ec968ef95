package import Ledger
package import Store

extension DueWorker {
  /// A worker that keeps the postings of all payers up to date: after each commit with new facts, when time alone changes
  /// something, when the catalog changes, and when a day closes.
  ///
  /// It runs beside the ingestion of notifications and collects the commits of a tenth of a second, so that they share
  /// the cost of a derivation.
  package static func reports(
    store: any EntitlementStore, catalog: CurrentCatalog, clock: ServiceClock
  ) -> DueWorker {
    let ledger = ReportLedger(store: store, catalog: catalog, clock: clock)
    return DueWorker(
      name: clock.name(ofWorker: "reports"), store: store, clock: clock, pace: .collecting,
      nextDue: { reader throws(StoreError) in try ledger.nextDue(reader) },
      process: { () async throws(LedgerError) in
        do throws(StoreError) { try await ledger.run() } catch { throw .store(error) }
      })
  }
}
