internal import AppStore
internal import Entitlements
package import Ledger
internal import Metrics
internal import Platform
package import Store
internal import Synchronization

/// Exports the number of external purchase tokens without a report, and the earliest deadline.
///
/// It reads all of these tokens, of which an operator who reports by another system has more and more, so it runs at
/// intervals and not after each commit.
package struct ExternalTokenWorker: Worker {
  package let name = "external_tokens"
  private static let interval = Duration.seconds(10)

  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let sleep: @Sendable (Duration) async throws -> Void

  /// Creates a worker for the tokens in `store`.
  package init(
    store: any EntitlementStore, catalog: CurrentCatalog,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.store = store
    self.catalog = catalog
    self.sleep = sleep
  }

  /// Runs until the task is cancelled.
  ///
  /// - Throws: the first ``StoreError``; the supervisor starts it again.
  package func run() async throws {
    let gauge = UnreportedExternalTokenGauge(catalog: catalog)
    // A replica that no longer leads knows nothing of later reports; the next leader exports the numbers.
    defer { if Task.isCancelled { gauge.record([]) } }
    repeat {
      gauge.record(
        try await store.read(.background) { reader throws(StoreError) in
          try reader.unreportedExternalTokens()
        })
    } while (try? await sleep(Self.interval)) != nil
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
