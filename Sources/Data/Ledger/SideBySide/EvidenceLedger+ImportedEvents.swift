package import AppStore
package import CustomerImport
internal import Entitlements
internal import Logging
package import Store

// RevenueCat's events, side by side with the answers here. They are no evidence: no answer depends on them.
extension EvidenceLedger {
  /// The maximum number of comparisons between two looks at what is due.
  private static let batchSize = 100
  /// The pause after a comparison that failed, in milliseconds.
  private static let pauseAfterFailure: Int64 = 3_600_000

  /// Stores an event that is not stored yet, and runs `extra` in the same transaction. Durable on return.
  ///
  /// - Returns: whether the event is new.
  /// - Throws: ``LedgerError/store(_:)``.
  package func append(
    _ event: ImportedEvent,
    also extra: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Void = { _ in }
  ) async throws(LedgerError) -> Bool {
    try await write { store throws(StoreError) in
      let isNew = try store.insert(event)
      try extra(store)
      return isNew
    }
  }

  /// Compares the customers that are due by `clock`. One whose comparison fails keeps its open disagreements, and is
  /// compared again after an hour.
  ///
  /// - Parameters:
  ///   - clock: the clock of the environments to compare.
  ///   - comparison: returns the comparison of an app; `nil` if events of the app are not compared.
  /// - Throws: ``LedgerError/store(_:)``.
  package func compareImportedEvents(
    by clock: ServiceClock, _ comparison: @escaping @Sendable (String) -> AccessComparison?
  ) async throws(LedgerError) {
    while true {
      let now = clock.now()
      let due = try await read { reader throws(StoreError) in
        try reader.comparisons(dueBy: now, in: clock.domain, limit: Self.batchSize)
      }
      guard !due.isEmpty else { return }
      var settled: Set<PendingComparison> = []
      for pending in due where !settled.contains(pending) {
        do throws(LedgerError) { settled.formUnion(try await compare(pending, at: now, comparison)) } catch {
          guard case .store(let failure) = error, failure.concernsStatements else { throw error }
          try await postpone(pending, at: now, failure)
        }
      }
    }
  }

  /// Returns the customers that were compared together.
  private func compare(
    _ pending: PendingComparison, at now: Instant,
    _ comparison: @escaping @Sendable (String) -> AccessComparison?
  ) async throws(LedgerError) -> [PendingComparison] {
    let app = catalog.value[pending.customer.appID]
    let result = try await read(.background) { reader throws(StoreError) in
      try CustomerComparison(
        of: pending, app.flatMap { comparison($0.id) }, in: app, at: now, reader)
    }
    try await write { store throws(StoreError) in
      try store.settle(result.customers, result.disagreements, next: result.next)
    }
    return result.customers
  }

  private func postpone(
    _ pending: PendingComparison, at now: Instant, _ failure: StoreError
  ) async throws(LedgerError) {
    Logger(label: "entitled.comparisons").warning(
      "a customer could not be compared with RevenueCat's events, will retry in an hour",
      metadata: ["app": "\(pending.customer.appID)", "error": "\(failure)"])
    try await write { store throws(StoreError) in
      try store.settle([pending], nil, next: now.advanced(byMilliseconds: Self.pauseAfterFailure))
    }
  }

  /// Deletes the events of an app that arrived before `instant`, in pages between which others can write.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func deleteImportedEvents(
    of appID: String, receivedBefore instant: Instant
  ) async throws(LedgerError) {
    var count = 0
    repeat {
      count = try await write { store throws(StoreError) in
        try store.deleteImportedEvents(of: appID, receivedBefore: instant, limit: Self.batchSize)
      }
    } while count == Self.batchSize
  }
}
