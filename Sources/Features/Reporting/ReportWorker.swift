internal import AppStore
internal import Entitlements
package import Ledger
internal import Platform
internal import Reports
package import Store

/// Keeps the postings of all payers up to date: after each commit with new facts, when time alone changes something, and
/// when a day closes.
///
/// It is beside the path of notifications. A payer is derived as a whole, so the result does not depend on how many
/// documents arrived meanwhile.
package struct ReportWorker: Worker {
  package let name: String
  private let worker: DueWorker

  /// Creates a worker by the clock of the service, which a sandbox may set and speed up.
  package init(store: any EntitlementStore, catalog: CurrentCatalog, clock: ServiceClock) {
    name = clock.domain == .sandbox ? "reports_sandbox" : "reports"
    let ledger = ReportLedger(store: store, catalog: catalog, clock: clock)
    worker = DueWorker(
      store: store, clock: clock,
      nextDue: { reader throws(StoreError) in try reader.nextReportDue(in: clock.domain) },
      process: { () async throws(LedgerError) in
        do throws(StoreError) { try await ledger.run() } catch { throw .store(error) }
      })
  }

  /// Runs until the task is cancelled; throws the first ``LedgerError``.
  package func run() async throws { try await worker.run() }
}

/// Brings the postings of one clock's environments up to date.
package struct ReportLedger: Sendable {
  /// The maximum number of payers in one write. Other writes run between two of them.
  private static let batchSize = 50

  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let clock: ServiceClock

  package init(store: any EntitlementStore, catalog: CurrentCatalog, clock: ServiceClock) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
  }

  /// Derives all queued and overdue payers, then closes days.
  package func run() async throws(StoreError) {
    while try await runBatch() {}
    try await store.write { [clock] store throws(StoreError) in
      try store.closeDays(by: clock.now(), in: clock.domain)
    }
  }

  /// - Returns: whether there may be more.
  private func runBatch() async throws(StoreError) -> Bool {
    let (catalog, clock) = (catalog.value, clock)
    return try await store.write { store throws(StoreError) in
      let now = clock.now()
      var batch = ReportBatch(store: store, catalog: catalog, now: now)
      let queued = try store.reportQueue(in: clock.domain, limit: Self.batchSize)
      for entry in queued { try batch.derive(entry) }
      let due = try store.reportsDue(by: now, in: clock.domain, limit: Self.batchSize)
      for entry in due { try batch.advance(entry.line, from: entry.due) }
      return queued.count == Self.batchSize || due.count == Self.batchSize
    }
  }
}

/// The payers of one write.
private struct ReportBatch {
  let store: any StoreTransaction
  let catalog: Catalog
  let now: Instant
  private var done: Set<LineKey> = []

  init(store: any StoreTransaction, catalog: Catalog, now: Instant) {
    self.store = store
    self.catalog = catalog
    self.now = now
  }

  /// Derives a payer with new facts.
  mutating func derive(_ entry: QueuedReportLine) throws(StoreError) {
    try derive(entry.line, from: entry.knownAt, RevisionCause(entry.source))
  }

  /// Derives a payer whose postings time alone changed, as of each instant at which it did.
  mutating func advance(_ line: LineKey, from due: Instant) throws(StoreError) {
    try derive(line, from: due, .time)
  }

  private mutating func derive(
    _ line: LineKey, from knownAt: Instant, _ cause: RevisionCause
  ) throws(StoreError) {
    guard !done.contains(line) else { return }
    let lines = try store.linesOfPayer(of: line)
    done.formUnion(lines)
    var facts = CustomerFacts()
    for line in lines { facts.merge(try store.facts(of: line)) }
    var standing: [Posting] = []
    for line in lines { standing += try store.postings(of: line) }
    let app = catalog.definition(of: line.appID)
    var next: (instant: Instant, cause: RevisionCause)? = (knownAt, cause)
    var due: Instant?
    while let (instant, cause) = next {
      let derived = PayerPostings(facts, in: app, at: instant)
      let new = PostingDifference(standing: standing.standing, derived: derived.postings).postings
      for (cause, postings) in Dictionary(grouping: new, by: { cause.corrected($0) }) {
        try store.append(NewPostings(postings, knownAt: instant, cause: cause), of: lines)
      }
      standing += new
      due = derived.due
      next = if let due, due <= now { (due, .time) } else { nil }
    }
    try store.completeReports(of: lines, due: due)
  }
}

extension RevisionCause {
  /// The cause of what a document from `source` brings.
  fileprivate init(_ source: Evidence.Source) {
    self =
      switch source {
      case .migration: .migration
      case .appStoreServerAPI: .historyRepair
      default: .lateNotification
      }
  }

  /// The cause of one posting of a derivation: a posting that takes another one back corrects it.
  fileprivate func corrected(_ posting: Posting) -> RevisionCause {
    self != .time && posting.count < 0 && !posting.kind.isStock ? .correctedByApple : self
  }
}
