package import AppStore
internal import Entitlements
package import Ledger
internal import Metrics
internal import Platform
package import Store

/// Exports the number of open disagreements every ten seconds, and deletes old events at its start and once a day.
package struct DisagreementWorker: Worker {
  package let name = "disagreements"
  private static let interval = Duration.seconds(10)

  private let store: any EntitlementStore
  private let ledger: EvidenceLedger
  private let catalog: CurrentCatalog
  private let settings: CurrentRevenueCatSettings
  private let now: @Sendable () -> Instant

  /// Creates a worker for the events in `store`; `now` is the system's clock.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, catalog: CurrentCatalog,
    settings: CurrentRevenueCatSettings, now: @escaping @Sendable () -> Instant
  ) {
    self.store = store
    self.ledger = ledger
    self.catalog = catalog
    self.settings = settings
    self.now = now
  }

  /// Runs until the task is cancelled.
  ///
  /// - Throws: the first error of the store; the supervisor starts it again.
  package func run() async throws {
    // A replica that no longer leads exports no numbers; the next leader does.
    defer { if Task.isCancelled { record([]) } }
    var cleaned: Instant?
    repeat {
      let now = now()
      if cleaned.map({ now.milliseconds(since: $0) >= Instant.millisecondsPerDay }) ?? true {
        try await deleteOldEvents(at: now)
        cleaned = now
      }
      record(
        try await store.read(.background) { reader throws(StoreError) in try reader.openDisagreementCounts() }
      )
    } while (try? await Task.sleep(for: Self.interval)) != nil
  }

  /// Deletes the old events of all apps, also of those that receive none any more.
  private func deleteOldEvents(at now: Instant) async throws {
    let appIDs = try await store.read(.background) { reader throws(StoreError) in
      try reader.appsWithImportedEvents()
    }
    for appID in appIDs {
      let days = settings[appID]?.retentionDays ?? RevenueCatSettings.standardRetentionDays
      try await ledger.deleteImportedEvents(
        of: appID, receivedBefore: now.advanced(byDays: -days))
    }
  }

  /// Records the gauges of each environment of the apps that receive events, 0 for those without a disagreement.
  private func record(_ open: [OpenCount]) {
    let catalog = catalog.value
    for app in settings.all.keys.compactMap({ catalog[$0] }) {
      for environment in app.environments {
        let found = open.first { $0.appID == app.id && $0.environment == environment }
        Gauge(
          label: "entitled_disagreements_open",
          dimensions: [("app", app.id), ("environment", environment.rawValue)]
        ).record(found?.count ?? 0)
      }
    }
  }
}
