internal import AppStore
package import AppleLookup
package import Ledger
package import Notifications
package import Platform
package import Store
internal import Synchronization

/// Runs an ``AppReconciler`` for each app and environment that has or had an App Store client, each under its own
/// supervision, so that a failing one does not stop the others.
package final class Reconciler: Worker {
  package let name = "reconciliation"

  /// The components that all reconcilers share.
  struct Dependencies: Sendable {
    let store: any EntitlementStore
    let ledger: EvidenceLedger
    let inbox: NotificationInbox
    let lookup: PurchaseLookup
    let catalog: CurrentCatalog
    let cadence: DeliveryCadence
    let clocks: ServiceClocks
  }

  private struct State {
    var reconcilers: [AppEnvironment: AppReconciler] = [:]
    /// Receives an element when reconcilers were added while ``run()`` runs.
    var additions: AsyncStream<Void>.Continuation?
  }

  private let dependencies: Dependencies
  private let supervisor: WorkerSupervisor
  private let state = Mutex(State())

  /// Creates a reconciler. `policies` are by app id; an app without an entry has the default policy.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, inbox: NotificationInbox, lookup: PurchaseLookup,
    catalog: CurrentCatalog, cadence: DeliveryCadence, policies: [String: ReconciliationPolicy],
    clocks: ServiceClocks, supervisor: WorkerSupervisor
  ) {
    dependencies = Dependencies(
      store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog, cadence: cadence,
      clocks: clocks)
    self.supervisor = supervisor
    adoptClients(policies: policies)
  }

  /// Adds a reconciler for each app and environment that has a client and no reconciler, also while ``run()`` runs.
  /// Apps and environments that lost their client pause until they have one again. A policy applies from the creation
  /// of a reconciler until the process ends: a change of it needs a restart.
  package func adoptClients(policies: [String: ReconciliationPolicy]) {
    state.withLock { state in
      for target in dependencies.lookup.appEnvironments where state.reconcilers[target] == nil {
        let policy = policies[target.appID] ?? ReconciliationPolicy()
        state.reconcilers[target] = AppReconciler(target, policy, dependencies)
      }
      state.additions?.yield()
    }
  }

  /// Runs one supervised worker for each app and environment until the task is cancelled.
  package func run() async {
    let (additions, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
    state.withLock { $0.additions = continuation }
    await withDiscardingTaskGroup { group in
      var started: Set<AppEnvironment> = []
      for await _ in additions {
        for (target, reconciler) in state.withLock({ $0.reconcilers })
        where started.insert(target).inserted {
          group.addTask { await self.supervisor.run(reconciler) }
        }
      }
    }
  }

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
    guard dependencies.lookup.appEnvironments.contains(target),
      let reconciler = state.withLock({ $0.reconcilers[target] })
    else {
      throw .lookup(.noKey(appID: repair.appID, environment: repair.environment))
    }
    do throws(StoreError) {
      let idleSignals = await reconciler.idleSignals()
      let begun = try await reconciler.begin(repair)
      var latest = begun
      let deadline = timeout.map { ContinuousClock.now + $0 }
      while latest.finishedAt == nil, latest.error.isEmpty, await Self.next(idleSignals, by: deadline) {
        latest =
          try await dependencies.store.read { reader throws(StoreError) in
            try reader.repair(begun.id, of: begun.appID)
          }
          ?? begun
      }
      let last = latest
      return (
        last,
        try await dependencies.store.read { reader throws(StoreError) in try reader.driftedCustomers(of: last)
        }
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
