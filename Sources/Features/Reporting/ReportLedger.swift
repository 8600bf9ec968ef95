internal import AppStore
internal import Entitlements
internal import Glibc
package import Ledger
internal import Metrics
internal import Reports
package import Store

/// Brings the postings of one clock's environments up to date. In the service,
/// ``Ledger/DueWorker/reports(store:catalog:clock:)`` runs it; a command rebuilds all postings with it.
package struct ReportLedger: Sendable {
  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let clock: ServiceClock
  private let batchSize: Int
  /// The maximum number of sums that one write packs.
  private static let packSize = 20_000
  /// The maximum number of days that one write closes. A sandbox's clock can pass thousands at once.
  private static let closeSize = 100

  /// - batchSize: the maximum number of payers in one write. Other writes run between two of them.
  package init(
    store: any EntitlementStore, catalog: CurrentCatalog, clock: ServiceClock, batchSize: Int = 300
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.batchSize = batchSize
  }

  /// Returns when there is something to derive or a day to close: 1970 if the catalog of an app, or the rules of postings,
  /// have changed; `nil` for nothing.
  func nextDue(_ reader: any StoreSnapshot) throws(StoreError) -> Instant? {
    try Self.measured { () throws(StoreError) in try next(reader) }
  }

  /// The result of ``nextDue(_:)``, without the measurement.
  private func next(_ reader: any StoreSnapshot) throws(StoreError) -> Instant? {
    let catalog = catalog.value
    for (app, environment) in scopes(of: catalog) {
      guard let known = try reader.reportCatalog(of: app.id, in: environment),
        known.fingerprint != app.reportFingerprint
      else { continue }
      return Instant(millisecondsSince1970: 0)
    }
    return try reader.nextReportDue(in: clock.domain) { catalog.definition(of: $0).reports.closeAfter }
  }

  /// Derives all purchases that another catalog may change, then all queued and overdue ones, and closes days.
  package func run() async throws(StoreError) {
    if try await derive() { try await pack() }
  }

  /// As ``run()``, without packing the closed days.
  ///
  /// - Returns: whether days were closed.
  private func derive() async throws(StoreError) -> Bool {
    let catalog = catalog.value
    var last: LineKey?
    var hasClosed = false
    while true {
      switch try await runBatch(catalog, after: last) {
      case .isOfOtherCatalog:
        for (app, environment) in scopes(of: catalog) { try await review(app, environment, catalog) }
      case .continues(let line): last = line
      case .ends(let closed):
        hasClosed = hasClosed || closed > 0
        if closed < Self.closeSize { return hasClosed }
      }
    }
  }

  /// The result of one write.
  private enum BatchResult {
    /// Another catalog may change the purchases; nothing was derived.
    case isOfOtherCatalog
    /// There may be more work, that of the queue after a purchase.
    case continues(after: LineKey?)
    /// All is derived; the value is the number of days that were closed. After ``closeSize`` there may be more.
    case ends(closed: Int)
  }

  /// Deletes all postings, and derives them again from the evidence. The closings stay, and are compared again.
  ///
  /// - Throws: ``StoreError``; call it again then, because reports may be incomplete.
  package func rebuild() async throws(StoreError) {
    let catalog = catalog.value
    for (app, environment) in scopes(of: catalog) {
      try await store.write { store throws(StoreError) in
        try store.resetReports(of: app.id, in: environment)
      }
    }
    try await run()
    for (app, environment) in scopes(of: catalog) {
      try await store.write { store throws(StoreError) in
        try store.recordAllBreaks(of: app.id, in: environment)
      }
    }
    try await pack()
  }

  /// The apps and environments whose time is that of ``clock``.
  private func scopes(of catalog: Catalog) -> [(app: AppDefinition, environment: Environment)] {
    catalog.appIDs.compactMap { catalog[$0] }.flatMap { app in
      app.environments.filter(clock.domain.contains).map { (app, $0) }
    }
  }

  /// Derives all purchases of an app again if its catalog is another one than that of their postings, a page in each
  /// write. The progress is stored, so that a restart continues it; another change of the catalog begins again.
  private func review(
    _ app: AppDefinition, _ environment: Environment, _ catalog: Catalog
  ) async throws(StoreError) {
    var isDone = false
    while !isDone {
      isDone = try await write { store throws(StoreError) in
        let known = try store.reportCatalog(of: app.id, in: environment)
        guard var current = known, current.fingerprint == app.reportFingerprint else {
          // The first postings are of the first catalog.
          let current = ReportCatalog(
            fingerprint: app.reportFingerprint,
            since: try store.knownAt(clock.now(), of: app.id, in: environment),
            reviewed: known == nil ? nil : "")
          try store.put(current, of: app.id, in: environment)
          return known == nil
        }
        guard let last = current.reviewed else { return true }
        let lines = try store.purchases(of: app.id, in: environment, after: last, limit: batchSize)
        var batch = try ReportBatch(store: store, catalog: catalog, clock: clock)
        try batch.review(lines, since: current.since)
        try batch.finish()
        current.reviewed = lines.count == batchSize ? lines.last?.lineID : nil
        try store.put(current, of: app.id, in: environment)
        return current.reviewed == nil
      }
    }
  }

  /// Derives queued and overdue purchases, after `last` those of the queue. After the last ones, it closes days.
  private func runBatch(
    _ catalog: Catalog, after last: LineKey?
  ) async throws(StoreError) -> BatchResult {
    try await write { store throws(StoreError) in
      for (app, environment) in scopes(of: catalog) {
        guard let known = try store.reportCatalog(of: app.id, in: environment),
          known.fingerprint == app.reportFingerprint, known.reviewed == nil
        else { return .isOfOtherCatalog }
      }
      var batch = try ReportBatch(store: store, catalog: catalog, clock: clock)
      let page = try batch.deriveQueued(after: last, in: clock.domain, limit: batchSize)
      let due = try store.reportsDue(by: batch.now, in: clock.domain, limit: batchSize)
      try batch.derive(due)
      try batch.finish()
      guard page.isEnd, due.count < batchSize else { return .continues(after: page.last) }
      return .ends(closed: try closeDays(of: batch.calendars.values, catalog, in: store))
    }
  }

  /// Runs a write and counts the CPU time that it takes, which is that of one thread.
  private func write<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await store.write { store throws(StoreError) in
      try Self.measured { () throws(StoreError) in try body(store) }
    }
  }

  /// Runs `body` and counts the CPU time of the thread on which it runs.
  private static func measured<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    let start = threadMicroseconds()
    defer { cpuTime.increment(by: threadMicroseconds() - start) }
    return try body()
  }

  /// The CPU time of all report work of the process, in microseconds.
  private static let cpuTime = Counter(label: "entitled_report_cpu_microseconds_total")

  /// The CPU time of the current thread.
  private static func threadMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  /// Closes the days before whose closing all that was known is in the postings, in order, and compares each with the
  /// reports' identities.
  ///
  /// - Returns: the number of closed days, at most ``closeSize``.
  private func closeDays(
    of calendars: some Sequence<ReportCalendar>, _ catalog: Catalog, in store: any StoreTransaction
  ) throws(StoreError) -> Int {
    let current = clock.now()
    var closed = 0
    for calendar in calendars {
      let delay = catalog.definition(of: calendar.appID).reports.closeAfter
      var day = calendar.closed.advanced(by: 1)
      guard day.closing(after: delay) <= current else { continue }
      let now = min(current, try store.earliestReportWork(in: clock.domain) ?? current)
      while closed < Self.closeSize, day.closing(after: delay) <= now {
        try store.close(
          day, at: day.closing(after: delay), of: calendar.appID, in: calendar.environment)
        _ = try store.recordBreaks(closing: day, of: calendar.appID, in: calendar.environment)
        day = day.advanced(by: 1)
        closed += 1
      }
    }
    return closed
  }

  /// Packs the sums of closed days, some in each write.
  private func pack() async throws(StoreError) {
    var isDone = false
    while !isDone {
      isDone = try await write { store throws(StoreError) in
        for calendar in try store.reportCalendars(in: clock.domain) {
          let hasMore = try store.packReports(
            through: calendar.closed, of: calendar.appID, in: calendar.environment, limit: Self.packSize)
          if hasMore { return false }
        }
        return true
      }
    }
  }
}
