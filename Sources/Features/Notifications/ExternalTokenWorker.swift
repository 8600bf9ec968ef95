internal import AppStore
internal import Entitlements
package import Ledger
internal import Metrics
internal import Platform
package import Store
internal import Synchronization

/// Exports the number of external purchase tokens without a report, and the earliest deadline, after each commit.
package struct ExternalTokenWorker: Worker {
  package let name = "external_tokens"

  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let clock: ServiceClock

  /// Creates a worker for the tokens in `store`.
  package init(store: any EntitlementStore, catalog: CurrentCatalog, clock: ServiceClock) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
  }

  /// Runs until the task is cancelled.
  package func run() async throws {
    let gauge = UnreportedExternalTokenGauge(catalog: catalog)
    // A replica that no longer leads knows nothing of later reports; the next leader exports the numbers.
    defer { if Task.isCancelled { gauge.record([]) } }
    let worker = DueWorker(
      store: store, clock: clock,
      nextDue: { reader throws(StoreError) in
        gauge.record(try reader.unreportedExternalTokens())
        return nil
      },
      process: { () async throws(LedgerError) in })
    try await worker.run()
  }
}

/// The gauges of external purchase tokens, of each configured app and environment.
private final class UnreportedExternalTokenGauge: Sendable {
  private let catalog: CurrentCatalog
  private let recorded = Mutex<[UnreportedExternalTokens]?>(nil)

  init(catalog: CurrentCatalog) { self.catalog = catalog }

  /// Records the numbers and deadlines, if they have changed.
  func record(_ tokens: [UnreportedExternalTokens]) {
    let hasChanged = recorded.withLock { recorded in
      defer { recorded = tokens }
      return recorded != tokens
    }
    guard hasChanged else { return }
    let catalog = catalog.value
    for app in catalog.appIDs.compactMap({ catalog[$0] }) {
      for environment in app.environments {
        let found = tokens.first { $0.appID == app.id && $0.environment == environment }
        let labels = [("app", app.id), ("environment", environment.rawValue)]
        Gauge(label: "entitled_external_tokens_unreported", dimensions: labels).record(found?.count ?? 0)
        Gauge(label: "entitled_external_token_deadline_seconds", dimensions: labels)
          .record((found?.reportBy.millisecondsSince1970 ?? 0) / 1_000)
      }
    }
  }
}
