internal import AppStore
package import AppleLookup
package import Ledger
package import Notifications
package import Platform
package import Store

/// Runs an ``AppReconciler`` for each app and environment that has an App Store client.
package struct Reconciler: Sendable {
  struct Dependencies: Sendable {
    let store: any EntitlementStore
    let ledger: EvidenceLedger
    let inbox: NotificationInbox
    let lookup: PurchaseLookup
    let catalog: CurrentCatalog
    let cadence: DeliveryCadence
    let clock: ServiceClock
  }

  private let reconcilers: [AppEnvironment: AppReconciler]
  private let store: any EntitlementStore
  private let clock: ServiceClock

  /// Creates a reconciler. `policies` are by app id; an app without an entry has the default policy.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, inbox: NotificationInbox, lookup: PurchaseLookup,
    catalog: CurrentCatalog, cadence: DeliveryCadence, policies: [String: ReconciliationPolicy],
    clock: ServiceClock
  ) {
    let dependencies = Dependencies(
      store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog, cadence: cadence,
      clock: clock)
    var reconcilers: [AppEnvironment: AppReconciler] = [:]
    for appEnvironment in lookup.appEnvironments {
      let policy = policies[appEnvironment.appID] ?? ReconciliationPolicy()
      reconcilers[appEnvironment] = AppReconciler(appEnvironment, policy, dependencies)
    }
    self.reconcilers = reconcilers
    self.store = store
    self.clock = clock
  }

  /// One worker for each app and environment.
  package var workers: [any Worker] { Array(reconcilers.values) }

  /// Starts a repair and waits until it ends, an error interrupts it, or `timeout` passes; `nil` for no timeout. The repair
  /// continues in any case.
  ///
  /// - Returns: the repair as it is then, and the number of customers in its drift report.
  /// - Throws: ``ReconciliationError/lookup(_:)`` with ``LookupError/noKey(appID:environment:)`` if the app has no client;
  ///   ``ReconciliationError/store(_:)``.
  package func repair(
    _ repair: Repair, timeout: Duration?
  ) async throws(ReconciliationError) -> (Repair, drifted: Int64) {
    let target = AppEnvironment(appID: repair.appID, environment: repair.environment)
    guard let reconciler = reconcilers[target] else {
      throw .lookup(.noKey(appID: repair.appID, environment: repair.environment))
    }
    do throws(StoreError) {
      let idleSignals = await reconciler.idleSignals()
      let begun = try await reconciler.begin(repair)
      var latest = begun
      let deadline = timeout.map { ContinuousClock.now + $0 }
      while latest.finishedAt == nil, latest.error.isEmpty, await Self.next(idleSignals, by: deadline) {
        latest =
          try await store.read { reader throws(StoreError) in try reader.repair(begun.id, of: begun.appID) }
          ?? begun
      }
      let last = latest
      return (
        last, try await store.read { reader throws(StoreError) in try reader.driftedCustomers(of: last) }
      )
    } catch {
      throw .store(error)
    }
  }

  /// Waits for the next element; false if the stream ends or the deadline passes before.
  private static func next(_ stream: AsyncStream<Void>, by deadline: ContinuousClock.Instant?) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in stream { return true }
        return false
      }
      if let deadline {
        group.addTask {
          try? await Task.sleep(until: deadline)
          return false
        }
      }
      let hasNext = await group.next() ?? false
      group.cancelAll()
      return hasNext
    }
  }
}
