package import AppStore
package import Entitlements
internal import Platform
package import Store
internal import Synchronization

/// Processes items at the time at which they are due. It reads the next due time after each commit, because a
/// commit may bring an earlier one.
package struct DueWorker: Worker {
  /// The intervals of a worker that may be late.
  ///
  /// The cost of one purchase grows with its evidence. After each of many commits about the same large purchase, such a
  /// worker would take the time of the writer, so it collects what comes during a pause.
  package enum Pace: Sendable {
    /// After each commit.
    case immediate
    /// After a long run it pauses nine times as long, at most two seconds.
    case relaxed
    /// As ``relaxed``, and a tenth of a second after a short run, so that the commits of a busy service share the cost of
    /// a run.
    case collecting

    fileprivate func pause(after run: Duration) -> Duration? {
      let pause = run > .milliseconds(20) ? min(run * 9, .seconds(2)) : nil
      return switch self {
      case .immediate: nil
      case .relaxed: pause
      case .collecting: pause ?? .milliseconds(100)
      }
    }
  }

  package let name: String
  private let store: any EntitlementStore
  private let clock: ServiceClock
  private let pace: Pace
  private let nextDue: @Sendable (any StoreSnapshot) throws(StoreError) -> Instant?
  private let process: @Sendable () async throws(LedgerError) -> Void
  private let correctTimes: (@Sendable () async throws(LedgerError) -> Void)?

  /// A worker over `store`. `nextDue` returns the time of the next item; `process` handles all due items. `correctTimes`
  /// corrects what was stored while the clock was ahead; it runs when the worker starts and after the clock was set back.
  package init(
    name: String, store: any EntitlementStore, clock: ServiceClock, pace: Pace = .immediate,
    nextDue: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Instant?,
    process: @escaping @Sendable () async throws(LedgerError) -> Void,
    correctTimes: (@Sendable () async throws(LedgerError) -> Void)? = nil
  ) {
    self.name = name
    self.store = store
    self.clock = clock
    self.pace = pace
    self.nextDue = nextDue
    self.process = process
    self.correctTimes = correctTimes
  }

  /// Runs until the task is cancelled.
  ///
  /// - Throws: the first ``LedgerError`` of `nextDue`, `process` and `correctTimes`.
  package func run() async throws {
    let lastRun = LastRun()
    let loop = ScheduledLoop(clock) {
      if let correctTimes, lastRun.isLater(than: clock.now()) { try await correctTimes() }
      return try await processDue()
    }
    try await loop.run(wokenBy: store.commits())
  }

  /// Processes what is due, and returns the time of the next item.
  private func processDue() async throws -> Instant? {
    let due = try await readNextDue()
    guard let due, due <= clock.now() else { return due }
    let start = ContinuousClock.now
    try await process()
    if let pause = pace.pause(after: ContinuousClock.now - start) { try await Task.sleep(for: pause) }
    return try await readNextDue()
  }

  /// Returns the time of the next item, in a snapshot.
  private func readNextDue() async throws(LedgerError) -> Instant? {
    do { return try await store.read(.interactive, nextDue) } catch { throw .store(error) }
  }
}

extension DueWorker {
  /// A worker that writes the events of changes that time alone causes, such as expirations, when they are due.
  package static func expiry(
    _ ledger: EvidenceLedger, store: any EntitlementStore, clock: ServiceClock
  ) -> DueWorker {
    DueWorker(
      name: clock.name(ofWorker: "expiry"), store: store, clock: clock,
      nextDue: { reader throws(StoreError) in
        let now = clock.now()
        return ledger.wasClockSetBack(at: now, in: clock.domain) ? now : try reader.nextDue(in: clock.domain)
      },
      process: { () async throws(LedgerError) in _ = try await ledger.advance(by: clock) },
      // Another process may have written meanwhile, with a clock that was ahead.
      correctTimes: { () async throws(LedgerError) in ledger.forgetAdvance(in: clock.domain) })
  }
}

/// The time of the last run of a worker, which shows that the clock was set back.
private final class LastRun: Sendable {
  private let instant = Mutex<Instant?>(nil)

  /// Stores the time of this run, and returns whether the last one was later, or there was none.
  func isLater(than now: Instant) -> Bool {
    instant.withLock { last in
      defer { last = now }
      return last.map { now < $0 } ?? true
    }
  }
}

/// Replaces the catalog, and evaluates the affected customers again.
package struct CatalogWorker: Worker {
  package let name = "catalog"
  private let ledger: EvidenceLedger
  private let changes = Signal()

  package init(_ ledger: EvidenceLedger) { self.ledger = ledger }

  /// Puts `catalog` in force immediately. Answers and events follow in the background.
  package func adopt(_ catalog: Catalog) {
    ledger.catalog.replace(with: catalog)
    changes.send()
  }

  /// Adopts the catalog in force, and each one after it, until the task is cancelled. Of catalogs that follow while
  /// one is adopted, only the last is.
  ///
  /// - Throws: the first ``LedgerError``.
  package func run() async throws {
    let changes = changes.listen()
    try await ledger.adoptCatalog()
    for await _ in changes { try await ledger.adoptCatalog() }
  }
}
