internal import AppStore
package import AppleLookup
package import Ledger
package import Notifications
package import Platform
package import Store

/// Sees to it that what Apple did not deliver becomes known, for all apps for which Apple can be asked.
package struct Reconciler: Sendable {
  /// What each of them uses.
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

  /// One for each place where `lookup` has a client. `policies` are those of the apps by the operator's names
  /// for them; what is not there is done.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, inbox: NotificationInbox, lookup: PurchaseLookup,
    catalog: CurrentCatalog, cadence: DeliveryCadence, policies: [String: ReconciliationPolicy],
    clock: ServiceClock
  ) {
    let dependencies = Dependencies(
      store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog, cadence: cadence,
      clock: clock)
    var reconcilers: [AppEnvironment: AppReconciler] = [:]
    for (appID, environment) in lookup.appEnvironments {
      let place = AppEnvironment(appID: appID, environment: environment)
      reconcilers[place] = AppReconciler(place, policies[appID] ?? ReconciliationPolicy(), dependencies)
    }
    self.reconcilers = reconcilers
    self.store = store
    self.clock = clock
  }

  /// One worker for each app and environment.
  package var workers: [any Worker] { Array(reconcilers.values) }

  /// Begins a repair by hand and waits for it, for so long as `timeout` says; `nil`: to its end, or until it
  /// has to wait for Apple.
  ///
  /// - Returns: the repair as it is then, and how many customers its report is about. Whether somebody waits or
  ///   not, it goes on.
  /// - Throws: ``LookupError/noKey(appID:environment:)``; ``LookupError/ledger(_:)``.
  package func repair(
    _ repair: Repair, timeout: Duration?
  ) async throws(LookupError) -> (Repair, drifted: Int64) {
    let place = AppEnvironment(appID: repair.appID, environment: repair.environment)
    guard let reconciler = reconcilers[place] else {
      throw .noKey(appID: repair.appID, environment: repair.environment)
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
      throw .ledger(.store(error))
    }
  }

  /// Waits for the next element; `false` if there is none by the deadline.
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
      let isThere = await group.next() ?? false
      group.cancelAll()
      return isThere
    }
  }
}
