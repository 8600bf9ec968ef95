internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
package import Ledger
package import Notifications
internal import Store

// Those who were touched: Apple is asked how they stand.
extension GapRepair {
  /// How many purchases are looked at together, so that they share what is read and written ...
  private static let width = 32
  /// ... and how many such batches are under way: while Apple answers about one, another is written, and the next
  /// is read.
  private static let batchesAtATime = 3

  /// Some of the lines that wait.
  private struct Batch: Sendable {
    let lines: [LineKey]
    /// Those of them about which Apple is to be asked.
    var open: [LineKey] = []
    /// How, if it is about all that somebody has.
    var inquiries: [PurchaseStatusQuery] = []
    /// What is believed of whom they are about.
    var drifts: [Drift] = []
  }

  func queryCustomers(_ repair: inout Repair) async throws(LookupError) {
    try await reading { () async throws in
      try await queryBatches(&repair)
      repair.phase = .comparison
      try await keep(repair)
    }
  }

  private func queryBatches(_ repair: inout Repair) async throws {
    try await withThrowingTaskGroup(of: Batch.self) { group in
      var (last, underWay) = (String?.none, 0)
      while true {
        while underWay < Self.batchesAtATime, let batch = try await batch(of: repair, behind: last) {
          group.addTask { [repair] in
            try await ask(batch, repair)
            return batch
          }
          last = batch.lines.last?.originalTransactionID
          underWay += 1
        }
        guard let batch = try await group.next() else { return }
        underWay -= 1
        try await settle(batch, &repair)
      }
    }
  }

  /// The lines behind `last` that wait; `nil` if none does.
  private func batch(of repair: Repair, behind last: String?) async throws(StoreError) -> Batch? {
    try await store.read(.background) { reader throws(StoreError) in
      let lines = try reader.queuedLines(of: repair, after: last, limit: Self.width)
      guard !lines.isEmpty else { return nil }
      var batch = Batch(lines: lines)
      for line in lines {
        let facts = try reader.facts(of: line)
        guard isOpen(facts, repair) else { continue }
        batch.open.append(line)
        if repair.reason == .fullPoll { batch.inquiries.append(PurchaseStatusQuery(line, facts)) }
      }
      batch.drifts = try StateSnapshot(about: batch.open, in: app, at: now(), reader).drifts
      return batch
    }
  }

  /// Whether Apple did not say since the repair began how a line stands, of which `facts` are known; one answer tells
  /// of all purchases of an Apple account. Of a subscription its renewal info says that: a device gets a transaction
  /// signed anew at any time, with the end that it always had.
  private func isOpen(_ facts: CustomerFacts, _ repair: Repair) -> Bool {
    // A seat's line is nothing that Apple numbers, and what is used up is nobody's any more.
    if repair.reason == .fullPoll, facts.transactions.allSatisfy({ $0.type == .consumable }) { return false }
    let isSubscription = facts.transactions.contains { $0.type == .autoRenewableSubscription }
    let said = facts.renewals.map(\.signedDate) + (isSubscription ? [] : facts.transactions.map(\.signedDate))
    return said.max().map { $0 < repair.startedAt } ?? true
  }

  /// Asks Apple; all that it says is durable then.
  private func ask(_ batch: Batch, _ repair: Repair) async throws {
    try await notice(batch.drifts, repair)
    if repair.reason == .fullPoll {
      try await queryAll(batch.inquiries) { inquiry, lookup throws(LookupError) in
        try await inquiry.ask(lookup)
      }
    } else {
      try await queryAll(batch.open) { line, lookup throws(LookupError) in
        var request = PurchaseLookup.Request(
          appID: line.appID, environment: line.environment, transactionID: line.originalTransactionID)
        request.priority = .repair
        _ = try await lookup.fetchAll(request)
      }
    }
  }

  private func queryAll<Subject: Sendable>(
    _ subjects: [Subject],
    _ ask: @escaping @Sendable (Subject, PurchaseLookup) async throws(LookupError) -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { [lookup] group in
      for subject in subjects {
        group.addTask {
          do throws(LookupError) {
            try await ask(subject, lookup)
          } catch {
            guard error.isFinal else { throw error }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// The lines of `batch` wait no more.
  private func settle(_ batch: Batch, _ repair: inout Repair) async throws {
    repair.queriedPurchases += Int64(batch.open.count)
    // Both in one commit, mostly; a line that is asked about twice does no harm.
    async let polled: Void = ledger.recordPolls(of: batch.open, at: now())
    try await store.write { [repair] store throws(StoreError) in
      for line in batch.lines { try store.dequeue(line, from: repair.id) }
      try store.put(repair)
    }
    try await polled
  }
}
