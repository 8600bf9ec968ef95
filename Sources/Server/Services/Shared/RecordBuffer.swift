package import Ledger
internal import Platform
package import Store
internal import Synchronization

/// Collects records of calls and writes them to the store, many in one write, so that no call waits for its record.
///
/// Records wait for at most a second while the store can be written. A method that reads them calls ``flush()`` first,
/// and so does the service when it ends; a crash loses the last second.
package final class RecordBuffer<Record: Sendable>: Worker {
  package let name: String

  /// About 4 MB of audit entries, or 10 MB of requests. More wait only while the store cannot be written.
  static var maxWaiting: Int { 20_000 }
  private static var batchSize: Int { 500 }
  /// The rows after which a write has no further record. The entry of a page may have a thousand customers, each a row.
  private static var batchRows: Int { 10_000 }
  private static var interval: Duration { .seconds(1) }
  /// The longest wait of ``flush()`` for a leader that is busy or being replaced.
  private static var leaderTimeout: Duration { .seconds(5) }
  private static var lock: String { "records" }

  private let kind: InboxKind
  private let leadership: Leadership
  private let rows: @Sendable (Record) -> Int
  private let encode: @Sendable ([Record]) -> [UInt8]
  private let append: @Sendable ([Record]) async throws(LedgerError) -> Void
  private let onLoss: @Sendable (Record) -> Void
  private let waiting = Mutex<[Record]>([])
  /// An entry of the inbox with records, until its append succeeds: an append that failed may have stored it, so it
  /// is repeated with its token.
  private let handedOver = Mutex<InboxEntry?>(nil)
  /// Held during a write: a caller of ``flush()`` also waits for records that another one writes.
  private let writing = KeyLocks()

  /// - Parameters:
  ///   - name: the name of the worker.
  ///   - kind: the kind of the inbox entries in which a replica hands records to the leader, which may be itself.
  ///   - leadership: whether this process is a replica.
  ///   - rows: returns the number of rows of a record.
  ///   - encode: returns the body of such an entry.
  ///   - append: writes records in one transaction. They are durable on return.
  ///   - onLoss: called for each record that is discarded because the store could not be written for long.
  init(
    _ name: String, kind: InboxKind, leadership: Leadership,
    rows: @escaping @Sendable (Record) -> Int, encode: @escaping @Sendable ([Record]) -> [UInt8],
    append: @escaping @Sendable ([Record]) async throws(LedgerError) -> Void,
    onLoss: @escaping @Sendable (Record) -> Void
  ) {
    self.name = name
    self.kind = kind
    self.leadership = leadership
    self.rows = rows
    self.encode = encode
    self.append = append
    self.onLoss = onLoss
  }

  /// Adds a record. Never waits.
  func record(_ record: Record) {
    let isLost = waiting.withLock { waiting in
      guard waiting.count < Self.maxWaiting else { return true }
      waiting.append(record)
      return false
    }
    if isLost { onLoss(record) }
  }

  /// Writes the records that wait. They are durable on return, and can be read unless the leader takes seconds.
  ///
  /// - Throws: ``LedgerError``; the records wait for the next flush.
  package func flush() async throws(LedgerError) { try await flush(waitingAtMost: Self.leaderTimeout) }

  private func flush(waitingAtMost timeout: Duration) async throws(LedgerError) {
    try await writing.holding(Self.lock) { () async throws(LedgerError) in try await writeAll(timeout) }
  }

  /// Flushes once a second until the task is cancelled.
  ///
  /// - Throws: the first ``LedgerError``; another run continues with the same records.
  package func run() async throws {
    repeat {
      try await flush(waitingAtMost: Self.interval)
    } while (try? await Task.sleep(for: Self.interval)) != nil
  }

  /// Writes all records that wait, a batch in each write; on several replicas through the inbox, so that each is
  /// written once.
  ///
  /// - Throws: ``LedgerError``; the batch that failed is tried again.
  private func writeAll(_ timeout: Duration) async throws(LedgerError) {
    while true {
      try await handOver(timeout)
      let records = waiting.withLock { waiting in
        let records = Array(waiting.prefix(Self.count(inBatchOf: waiting, rows: rows)))
        waiting.removeFirst(records.count)
        return records
      }
      guard !records.isEmpty else { return }
      // The leader too: a repeated entry counts once, a repeated write whose outcome was unknown would count twice.
      guard leadership.replication != nil else {
        try await write(records)
        continue
      }
      let entry = InboxEntry(
        kind: kind, appID: "", method: "", caller: "", context: ForwardedContext().encoded,
        body: encode(records))
      handedOver.withLock { $0 = entry }
    }
  }

  /// Returns the number of the first records that share a write.
  static func count(inBatchOf records: [Record], rows: (Record) -> Int) -> Int {
    var (count, sum) = (0, 0)
    for record in records.prefix(batchSize) where sum < batchRows {
      (count, sum) = (count + 1, sum + rows(record))
    }
    return count
  }

  private func write(_ records: [Record]) async throws(LedgerError) {
    do throws(LedgerError) {
      try await append(records)
    } catch {
      waiting.withLock { $0.insert(contentsOf: records, at: 0) }
      throw error
    }
  }

  /// Hands records to the leader, if there are some, and waits until they can be read.
  private func handOver(_ timeout: Duration) async throws(LedgerError) {
    guard let inbox = leadership.replication?.inbox, let entry = handedOver.withLock({ $0 }) else { return }
    do throws(StoreError) {
      let key = try await inbox.append(entry)
      handedOver.withLock { $0 = nil }
      _ = try? await inbox.outcome(of: key, until: .now + timeout)
    } catch {
      throw .store(error)
    }
  }
}

extension RecordBuffer<AuditEntry> {
  /// The buffer of audit entries. The audit log has mutating calls too.
  package convenience init(
    _ ledger: EvidenceLedger, leadership: Leadership, onLoss: @escaping @Sendable (AuditEntry) -> Void
  ) {
    self.init(
      "audit", kind: .audit, leadership: leadership, rows: \.customerIDs.count, encode: \.encoded,
      append: { entries throws(LedgerError) in try await ledger.append(entries) }, onLoss: onLoss)
  }
}

extension RecordBuffer<RetentionRequestRecord> {
  /// The buffer of requests for retention messages. A lost request has no outcome.
  package convenience init(_ ledger: EvidenceLedger, leadership: Leadership) {
    self.init(
      "retention_requests", kind: .retention, leadership: leadership, rows: { _ in 1 }, encode: \.encoded,
      append: { requests throws(LedgerError) in try await ledger.append(requests) },
      onLoss: RetentionMetrics.countLoss)
  }
}
