internal import AppStore
internal import Entitlements
internal import Ledger
internal import Metrics
internal import Store
internal import Synchronization

/// Tells how many of Apple's questions about refunds wait for an answer.
final class OpenConsumptionRequestGauge: Sendable {
  private let catalog: CurrentCatalog
  private let told = Mutex<[OpenConsumptionRequests]?>(nil)

  init(catalog: CurrentCatalog) { self.catalog = catalog }

  /// Tells of each app and environment that is configured, also where none is `open`; nothing where nothing changed,
  /// since this is asked after every commit.
  func record(_ open: [OpenConsumptionRequests]) {
    let hasChanged = told.withLock { told in
      defer { told = open }
      return told != open
    }
    guard hasChanged else { return }
    let catalog = catalog.value
    for app in catalog.appIDs.compactMap({ catalog[$0] }) {
      for environment in app.environments {
        let count = open.first { $0.appID == app.id && $0.environment == environment }?.count ?? 0
        Gauge(
          label: "entitled_consumption_requests_open",
          dimensions: [("app", app.id), ("environment", environment.rawValue)]
        ).record(count)
      }
    }
  }
}
