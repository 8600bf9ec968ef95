internal import AppStore
internal import Entitlements
package import Ledger
internal import Metrics
internal import Platform
package import Store

/// Exports the number of withdrawn consents that are not settled, and the earliest deadline.
package struct ConsentWithdrawalWorker: Worker {
  package let name = "consent_withdrawals"
  private static let interval = Duration.seconds(10)

  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let sleep: @Sendable (Duration) async throws -> Void

  /// Creates a worker for the withdrawals in `store`.
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
    // A replica that no longer leads knows nothing of later settlements; the next leader exports the numbers.
    defer { if Task.isCancelled { record([]) } }
    repeat {
      record(
        try await store.read(.background) { reader throws(StoreError) in try reader.openConsentWithdrawals() }
      )
    } while (try? await sleep(Self.interval)) != nil
  }

  /// Records the gauges of each configured app and environment.
  private func record(_ open: [OpenConsentWithdrawals]) {
    let catalog = catalog.value
    for app in catalog.appIDs.compactMap({ catalog[$0] }) {
      for environment in app.environments {
        let found = open.first { $0.appID == app.id && $0.environment == environment }
        let deadline = found.map { app.settleBy(withdrawnAt: $0.withdrawnAt).millisecondsSince1970 } ?? 0
        let labels = [("app", app.id), ("environment", environment.rawValue)]
        Gauge(label: "entitled_consent_withdrawals_open", dimensions: labels).record(found?.count ?? 0)
        Gauge(label: "entitled_consent_withdrawal_deadline_seconds", dimensions: labels)
          .record(deadline / 1_000)
      }
    }
  }
}
