internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Notifications
internal import Store

// Looks up the queued lines.
extension GapRepair {
  /// The number of lines that share reads and writes.
  private static let batchSize = 32
  /// The number of batches in flight: one is read and one written while a third waits for the App Store.
  private static let maxBatches = 3

  /// At most ``batchSize`` queued lines, which are read, looked up and removed from the queue together.
  private struct Batch: Sendable {
    /// All lines of the batch, also those that need no lookup and only leave the queue.
    let lines: [LineKey]
    /// The time before the App Store is called; the responses state what holds then or later.
    let startedAt: Instant
    /// The lines that need a lookup.
    var open: [LineKey] = []
    /// Their queries, in a repair of all purchases.
    var queries: [(LineKey, PurchaseStatusQuery)] = []
    /// The state of the lines' customers before the lookup, as uncompared drifts.
    var drifts: [Drift] = []
    /// The errors of the lines whose lookups failed and may succeed later.
    var failures: [LineKey: LookupError] = [:]
  }

  /// The lines whose lookups failed with an error that a later lookup may not get.
  private struct FailedLines: Sendable {
    private(set) var count = 0
    private var example: (line: LineKey, error: LookupError)?

    mutating func add(_ failures: [LineKey: LookupError]) {
      count += failures.count
      if example == nil {
        example = failures.min { $0.key.lineID < $1.key.lineID }.map { ($0.key, $0.value) }
      }
    }

    /// A sentence that names the first line.
    var description: String {
      guard let (line, error) = example else { return "" }
      let subject = count == 1 ? "purchase" : "\(count) purchases, the first"
      return "lookup failed for \(subject) \(line.lineID): \(error)"
    }
  }

  /// Looks up all queued lines, then moves the repair to the comparison. An error that concerns all purchases leaves the
  /// lines of unsettled batches in the queue, so that a retry looks up only those. A line that fails alone does not delay
  /// the others: it stays in the queue for another attempt, and the last attempt removes it.
  ///
  /// - Returns: whether the repair can continue; otherwise only failed lines are in the queue.
  func queryCustomers(_ repair: inout Repair) async throws(ReconciliationError) -> Bool {
    try await mapErrors { () async throws in
      let failed = try await queryBatches(&repair)
      if failed.count > 0, !isLastAttempt {
        repair.error = failed.description
        try await save(repair)
        return false
      }
      repair.partialError = [repair.partialError, failed.description].filter { !$0.isEmpty }.joined(
        separator: "; ")
      repair.phase = .comparison
      try await store.write { [repair] store throws(StoreError) in
        try store.put(repair)
        try store.dequeueLines(from: repair.id)
      }
      return true
    }
  }

  /// Queries Apple about the queued lines, ``maxBatches`` batches at a time, and settles each batch as it returns.
  private func queryBatches(_ repair: inout Repair) async throws -> FailedLines {
    try await withThrowingTaskGroup(of: Batch.self) { group in
      var (last, inFlight, failed) = (String?.none, 0, FailedLines())
      while true {
        while inFlight < Self.maxBatches, let batch = try await batch(of: repair, after: last) {
          group.addTask { [repair] in
            var batch = batch
            batch.failures = try await lookUp(batch, repair)
            return batch
          }
          last = batch.lines.last?.lineID
          inFlight += 1
        }
        guard let batch = try await group.next() else { return failed }
        inFlight -= 1
        failed.add(batch.failures)
        try await settle(batch, &repair)
      }
    }
  }

  /// Returns the queued lines after `last`; `nil` if there are none.
  private func batch(of repair: Repair, after last: String?) async throws(StoreError) -> Batch? {
    let startedAt = now()
    return try await store.read(.background) { reader throws(StoreError) in
      let lines = try reader.queuedLines(of: repair, after: last, limit: Self.batchSize)
      guard !lines.isEmpty else { return nil }
      var batch = Batch(lines: lines, startedAt: startedAt)
      for line in lines {
        let facts = try reader.facts(of: line)
        guard isOpen(facts, repair) else { continue }
        batch.open.append(line)
        if repair.reason == .fullPoll { batch.queries.append((line, PurchaseStatusQuery(line, facts))) }
      }
      batch.drifts = try StateSnapshot(about: batch.open, in: app, at: startedAt, reader).drifts
      return batch
    }
  }

  /// Whether a line with these `facts` still needs a lookup: one response covers all purchases of an Apple account.
  /// Subscriptions are judged by their renewal info, because a device may get an old transaction signed again.
  private func isOpen(_ facts: CustomerFacts, _ repair: Repair) -> Bool {
    // Lines of seats and consumables cannot be looked up.
    if repair.reason == .fullPoll, facts.transactions.allSatisfy({ $0.type == .consumable }) { return false }
    let isSubscription = facts.transactions.contains(where: \.isSubscription)
    let signed =
      facts.renewals.map(\.signedDate) + (isSubscription ? [] : facts.transactions.map(\.signedDate))
    return signed.max().map { $0 < repair.startedAt } ?? true
  }

  /// Looks up a batch. The responses are durable when this returns.
  ///
  /// - Returns: the errors of single lines that a later lookup may not get.
  private func lookUp(_ batch: Batch, _ repair: Repair) async throws -> [LineKey: LookupError] {
    try await record(batch.drifts, repair)
    if repair.reason == .fullPoll {
      return try await queryAll(batch.queries) { query, lookup throws(LookupError) in
        try await query.runWithRefunds(through: lookup)
      }
    }
    return try await queryAll(batch.open.map { ($0, $0) }) { [positions] line, lookup throws(LookupError) in
      try await positions.lookUp(line, through: lookup)
    }
  }

  /// Queries Apple about all subjects at the same time. An error that a repetition cannot change is dropped.
  ///
  /// - Returns: the other errors, by line.
  /// - Throws: an error that concerns all purchases.
  private func queryAll<Subject: Sendable>(
    _ subjects: [(LineKey, Subject)],
    _ query: @escaping @Sendable (Subject, PurchaseLookup) async throws(LookupError) -> Void
  ) async throws -> [LineKey: LookupError] {
    try await withThrowingTaskGroup(of: (LineKey, LookupError)?.self) { [lookup] group in
      for (line, subject) in subjects {
        group.addTask {
          do throws(LookupError) {
            try await query(subject, lookup)
            return nil
          } catch {
            guard !error.concernsAllPurchases else { throw error }
            return error.isFinal ? nil : (line, error)
          }
        }
      }
      return try await group.reduce(into: [:]) { failures, failure in
        if let (line, error) = failure { failures[line] = error }
      }
    }
  }

  /// Removes the lines of `batch` from the queue, except failed ones.
  private func settle(_ batch: Batch, _ repair: inout Repair) async throws {
    let lookedUp = batch.open.filter { batch.failures[$0] == nil }
    repair.queriedPurchases += Int64(lookedUp.count)
    // Concurrent writes usually share a commit. Looking a line up twice does no harm.
    async let polled: Void = ledger.recordPolls(of: lookedUp, at: batch.startedAt)
    try await store.write { [repair] store throws(StoreError) in
      for line in batch.lines where batch.failures[line] == nil {
        try store.dequeue(line, from: repair.id)
      }
      try store.put(repair)
    }
    try await polled
  }
}
