package import Ledger
internal import Platform
package import Store

/// Keeps the postings of all payers up to date: after each commit with new facts, when time alone changes something,
/// when the catalog changes, and when a day closes.
///
/// It runs beside the ingestion of notifications and collects the commits of a tenth of a second, so that they share
/// the cost of a derivation.
package struct ReportWorker: Worker {
  package let name: String
  private let worker: DueWorker

  /// Creates a worker by the clock of the service, which a sandbox may set and speed up.
  package init(store: any EntitlementStore, catalog: CurrentCatalog, clock: ServiceClock) {
    name = clock.domain == .sandbox ? "reports_sandbox" : "reports"
    let ledger = ReportLedger(store: store, catalog: catalog, clock: clock)
    worker = DueWorker(
      store: store, clock: clock, pace: .collecting,
      nextDue: { reader throws(StoreError) in try ledger.nextDue(reader) },
      process: { () async throws(LedgerError) in
        do throws(StoreError) { try await ledger.run() } catch { throw .store(error) }
      })
  }

  /// Runs until the task is cancelled; throws the first ``LedgerError``.
  package func run() async throws { try await worker.run() }
}
