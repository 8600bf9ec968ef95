internal import AppStore
package import Entitlements
internal import Ledger
internal import Notifications
package import Platform
internal import RPC
internal import ReceiptMigration
package import Reconciliation
package import Store
package import Webhooks

// Background loops, and replacement of the configuration at run time.
extension Application {
  /// All background loops.
  package var workers: [any Worker] {
    let loops: [any Worker] = [
      ExpiryWorker(ledger, store: store, clock: clock), catalogWorker, migrations,
      RefreshWorker(receiptIntake, store: store), hub, outlets,
      ConsumptionRequestWorker(
        store: store, ledger: ledger, lookup: lookup, catalog: catalog, clock: clock),
    ]
    return loops + followUps.workers
  }

  /// Puts another catalog into force immediately. Answers and events follow in the background.
  package func adopt(_ catalog: Catalog) { catalogWorker.adopt(catalog) }

  /// Puts other receivers of what goes out in force.
  ///
  /// - Returns: whether anything is different.
  package func adopt(outlets: [WebhookSettings]) async throws(StoreError) -> Bool {
    try await self.outlets.adopt(outlets)
  }

  /// Ends what would go on for ever, so that a shutdown need not wait for it.
  package func endStreams() {
    hub.close()
    health.endWatches()
  }
}
