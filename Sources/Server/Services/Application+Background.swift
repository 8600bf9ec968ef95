internal import AppStore
package import Entitlements
internal import Ledger
internal import Notifications
internal import RPC
internal import ReceiptMigration
package import Reconciliation
package import Store
package import Webhooks

// What goes on without being asked: time passes, the catalog changes, events go out.
extension Application {
  /// Follows the store, the clock and the catalog until the task is cancelled. `report` is told what went
  /// wrong; it is tried again after a while.
  package func run(report: @escaping @Sendable (String) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await ExpiryWorker(ledger, store: store, clock: clock, onError: report).run() }
      group.addTask { await followUps.run(report: report) }
      group.addTask { await migrations.run(report: report) }
      group.addTask { await RefreshWorker(receiptIntake, store: store, report: report).run() }
      group.addTask { await consumptionFollower(report).run() }
      group.addTask { await hub.beat() }
      group.addTask { await outlets.run(report: report) }
      group.addTask {
        await repeating(report) { () async throws(StoreError) in try await hub.run() }
      }
      group.addTask {
        for await _ in catalogChanges.stream { await adoptCatalog(report) }
      }
      catalogChanges.continuation.yield()
      await group.waitForAll()
    }
  }

  private func consumptionFollower(_ report: @escaping @Sendable (String) -> Void) -> ConsumptionRequestWorker
  {
    ConsumptionRequestWorker(
      store: store, ledger: ledger, lookup: lookup, catalog: catalog, clock: clock, report: report)
  }

  /// Puts another catalog in force at once. The customers' answers, and the events of what that changed,
  /// follow in the background.
  package func adopt(_ catalog: Catalog) {
    self.catalog.replace(with: catalog)
    catalogChanges.continuation.yield()
  }

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

  private func adoptCatalog(_ report: @Sendable (String) -> Void) async {
    do throws(LedgerError) {
      try await ledger.adoptCatalog()
    } catch {
      guard error != .store(.closed) else { return }
      report("what the catalog changed could not be written: \(error)")
      try? await Task.sleep(for: .seconds(1))
      catalogChanges.continuation.yield()
    }
  }

  /// Begins again after an error, until the task is cancelled.
  private func repeating(
    _ report: @Sendable (String) -> Void, _ work: () async throws(StoreError) -> Void
  ) async {
    while !Task.isCancelled {
      do throws(StoreError) {
        return try await work()
      } catch {
        report("events could not be read: \(error)")
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }
}
