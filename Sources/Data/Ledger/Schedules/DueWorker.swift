package import AppStore
package import Store

/// Processes items at the time at which they are due. It reads the next due time after each commit, because a commit
/// may bring an earlier one.
package struct DueWorker: Sendable {
  private let store: any EntitlementStore
  private let clock: ServiceClock
  private let nextDue: @Sendable (any StoreSnapshot) throws(StoreError) -> Instant?
  private let process: @Sendable () async throws(LedgerError) -> Void

  /// A worker over `store`. `nextDue` returns the time of the next item, and `process` handles all items that are
  /// due.
  package init(
    store: any EntitlementStore, clock: ServiceClock,
    nextDue: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Instant?,
    process: @escaping @Sendable () async throws(LedgerError) -> Void
  ) {
    self.store = store
    self.clock = clock
    self.nextDue = nextDue
    self.process = process
  }

  /// Runs until the task is cancelled.
  ///
  /// - Throws: the first ``LedgerError`` of `nextDue` and `process`.
  package func run() async throws {
    try await ScheduledLoop(clock) { try await processDue() }.run(wokenBy: store.commits())
  }

  /// Processes what is due, and returns the time of the next item.
  private func processDue() async throws -> Instant? {
    let due = try await readNextDue()
    guard let due, due <= clock.now() else { return due }
    try await process()
    return try await readNextDue()
  }

  private func readNextDue() async throws(LedgerError) -> Instant? {
    do { return try await store.read(.interactive, nextDue) } catch { throw .store(error) }
  }
}
