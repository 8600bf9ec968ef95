package import AppStore
package import Store

/// Has worked off what is due: waits for the next such moment, or for a commit that may bring an earlier one.
package struct DueWorker: Sendable {
  private let store: any EntitlementStore
  private let clock: ServiceClock
  private let question: DueQuestion
  private let process: @Sendable () async throws(LedgerError) -> Void
  private let onError: @Sendable (LedgerError) -> Void

  /// Follows `store`. `nextDue` says when something is due next, `process` does what is due by now; `onError` is
  /// told what went wrong, and it is tried again later.
  package init(
    store: any EntitlementStore, clock: ServiceClock,
    nextDue: @escaping @Sendable (any StoreReader) throws(StoreError) -> Instant?,
    process: @escaping @Sendable () async throws(LedgerError) -> Void,
    onError: @escaping @Sendable (LedgerError) -> Void
  ) {
    self.store = store
    self.clock = clock
    question = DueQuestion(store, nextDue)
    self.process = process
    self.onError = onError
  }

  /// Goes on until the task is cancelled.
  package func run() async {
    await ScheduledLoop(clock) { await workOffDue() }.run(wokenBy: store.commits())
  }

  /// Does what is due; answers when to look again.
  private func workOffDue() async -> Instant? {
    do throws(LedgerError) {
      let due = try await question.next()
      guard let due, due <= clock.now() else { return due }
      try await process()
      return try await question.next()
    } catch {
      onError(error)
      return clock.now().advanced(byMilliseconds: 1_000)
    }
  }
}

/// Asks the store when something is due next. It has one reader for all its questions, since one is asked after
/// each commit.
private actor DueQuestion {
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
      let reader = if let made = self.reader { made } else { try store.makeReader() }
      self.reader = reader
      defer { reader.endTurn() }
      return try nextDue(reader)
    } catch {
      throw .store(error)
    }
  }
}
