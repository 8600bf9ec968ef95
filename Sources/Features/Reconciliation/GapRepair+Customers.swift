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
    var queries: [PurchaseStatusQuery] = []
    /// The state of the lines' customers before the lookup, as uncompared drifts.
    var drifts: [Drift] = []
  }

  /// Looks up all queued lines, then moves the repair to the comparison. An error leaves the lines of unsettled batches
  /// in the queue, so that a retry looks up only those.
  func queryCustomers(_ repair: inout Repair) async throws(ReconciliationError) {
    try await mapErrors { () async throws in
      try await queryBatches(&repair)
      repair.phase = .comparison
      try await save(repair)
    }
  }

  /// Queries Apple about the queued lines, ``maxBatches`` batches at a time, and settles each batch as it returns.
  private func queryBatches(_ repair: inout Repair) async throws {
    try await withThrowingTaskGroup(of: Batch.self) { group in
      var (last, inFlight) = (String?.none, 0)
      while true {
        while inFlight < Self.maxBatches, let batch = try await batch(of: repair, after: last) {
          group.addTask { [repair] in
            try await lookUp(batch, repair)
            return batch
          }
          last = batch.lines.last?.lineID
          inFlight += 1
        }
        guard let batch = try await group.next() else { return }
        inFlight -= 1
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
        if repair.reason == .fullPoll { batch.queries.append(PurchaseStatusQuery(line, facts)) }
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
  private func lookUp(_ batch: Batch, _ repair: Repair) async throws {
    try await record(batch.drifts, repair)
    if repair.reason == .fullPoll {
      try await queryAll(batch.queries) { query, lookup throws(LookupError) in
        try await query.runWithRefunds(through: lookup)
      }
    } else {
      try await queryAll(batch.open) { line, lookup throws(LookupError) in
        var request = PurchaseLookup.Request(
          appID: line.appID, environment: line.environment, transactionID: line.lineID)
        request.priority = .repair
        _ = try await lookup.fetchAll(request)
      }
    }
  }

  /// Queries Apple about all subjects at the same time. An error that a repetition cannot change is dropped.
  private func queryAll<Subject: Sendable>(
    _ subjects: [Subject],
    _ query: @escaping @Sendable (Subject, PurchaseLookup) async throws(LookupError) -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { [lookup] group in
      for subject in subjects {
        group.addTask {
          do throws(LookupError) {
            try await query(subject, lookup)
          } catch {
            guard error.isFinal else { throw error }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Removes the lines of `batch` from the queue.
  private func settle(_ batch: Batch, _ repair: inout Repair) async throws {
    repair.queriedPurchases += Int64(batch.open.count)
    // Concurrent writes usually share a commit. Looking a line up twice does no harm.
    async let polled: Void = ledger.recordPolls(of: batch.open, at: batch.startedAt)
    try await store.write { [repair] store throws(StoreError) in
      for line in batch.lines { try store.dequeue(line, from: repair.id) }
      try store.put(repair)
    }
    try await polled
  }
}
