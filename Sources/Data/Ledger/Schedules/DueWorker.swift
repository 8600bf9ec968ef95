package import AppStore
package import Store

/// Processes what the store says is due, at the time at which it is due, and after each commit.
package struct DueWorker: Sendable {
  private let store: any EntitlementStore
  private let clock: ServiceClock
  private let query: NextDueQuery
  private let process: @Sendable () async throws(LedgerError) -> Void

  /// A worker over `store`. `nextDue` returns the time of the next item, and `process` handles all items that are
  /// due.
  package init(
    store: any EntitlementStore, clock: ServiceClock,
    nextDue: @escaping @Sendable (any StoreReader) throws(StoreError) -> Instant?,
    process: @escaping @Sendable () async throws(LedgerError) -> Void
  ) {
    self.store = store
    self.clock = clock
    query = NextDueQuery(store, nextDue)
    self.process = process
  }

  /// Works until the task is cancelled.
  ///
  /// - Throws: the first ``LedgerError`` of `nextDue` and `process`.
  package func run() async throws {
    try await ScheduledLoop(clock) { try await processDue() }.run(wokenBy: store.commits())
  }

  /// Processes what is due, and returns the time of the next item.
  private func processDue() async throws -> Instant? {
    let due = try await query.next()
    guard let due, due <= clock.now() else { return due }
    try await process()
    return try await query.next()
  }
}

/// Queries the store for the next due item, with one reader for all queries, because there is one after each commit.
private actor NextDueQuery {
  private let store: any EntitlementStore
  private let nextDue: @Sendable (any StoreReader) throws(StoreError) -> Instant?
  private var reader: (any StoreReader)?

  init(
    _ store: any EntitlementStore,
    _ nextDue: @escaping @Sendable (any StoreReader) throws(StoreError) -> Instant?
  ) {
    self.store = store
    self.nextDue = nextDue
  }

  func next() throws(LedgerError) -> Instant? {
    do throws(StoreError) {
      let reader = if let reader { reader } else { try store.makeReader() }
      self.reader = reader
      defer { reader.endTurn() }
      return try nextDue(reader)
    } catch {
      throw .store(error)
    }
  }
}
