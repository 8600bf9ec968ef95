internal import AppStore
package import Entitlements
package import Platform
package import Store

/// Writes the events of changes that time alone causes, such as expirations, when they are due.
package struct ExpiryWorker: Worker {
  package let name = "expiry"
  private let worker: DueWorker

  package init(_ ledger: EvidenceLedger, store: any EntitlementStore, clock: ServiceClock) {
    worker = DueWorker(
      store: store, clock: clock,
      nextDue: { reader throws(StoreError) in try reader.nextDue() },
      process: { () async throws(LedgerError) in _ = try await ledger.advance(to: clock.now()) })
  }

  package func run() async throws { try await worker.run() }
}

/// Replaces the catalog, and evaluates the customers again whose answers depend on what changed.
package struct CatalogWorker: Worker {
  package let name = "catalog"
  private let ledger: EvidenceLedger
  private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  package init(_ ledger: EvidenceLedger) { self.ledger = ledger }

  /// Puts `catalog` into force immediately. Answers and events follow in the background.
  package func adopt(_ catalog: Catalog) {
    ledger.catalog.replace(with: catalog)
    changes.continuation.yield()
  }

  package func run() async throws {
    try await ledger.adoptCatalog()
    for await _ in changes.stream { try await ledger.adoptCatalog() }
  }
}
