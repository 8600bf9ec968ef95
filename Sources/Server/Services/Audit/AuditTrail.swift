package import AppStore
package import Ledger
internal import Platform
internal import Store
internal import Synchronization

/// Writes the audit entries of calls to the store, many in one write, so that no call waits for its entry.
///
/// Entries wait for at most a second, and ``ListAuditEntries`` writes those that wait before it reads. A crash loses
/// the last second; the log has mutating calls too.
package final class AuditTrail: Worker {
  package let name = "audit"

  /// About 4 MB. More wait only while the store cannot be written.
  private static let maxWaiting = 20_000
  private static let batch = 500
  /// The customers after which a write has no further entry. A page may show a thousand, each of them a row.
  private static let batchCustomers = 10_000
  private static let interval = Duration.seconds(1)
  private static let ticksPerPurge = 3_600
  private static let lock = "entries"

  private let ledger: EvidenceLedger
  private let retentionDays: Int?
  private let now: @Sendable () -> Instant
  private let onLoss: @Sendable (_ entries: Int) -> Void
  private let leadership: Leadership?
  private let waiting = Mutex<[AuditEntry]>([])
  /// An entry of the inbox with audit entries, until its append succeeds. An append that failed may have stored it, so it is
  /// repeated with its token.
  private let handedOver = Mutex<InboxEntry?>(nil)
  /// Held during a write: a caller of ``flush()`` also waits for entries that another one writes.
  private let writing = KeyLocks()

  /// - Parameters:
  ///   - ledger: writes the entries.
  ///   - retentionDays: after how many days of 24 hours an entry is deleted; `nil`: never.
  ///   - now: the system's clock, also with a sandbox.
  ///   - leadership: whether this process writes the entries, or the leader; `nil`: this process.
  ///   - onLoss: called when entries are discarded because the store could not be written for long.
  package init(
    _ ledger: EvidenceLedger, retentionDays: Int?, now: @escaping @Sendable () -> Instant,
    leadership: Leadership? = nil, onLoss: @escaping @Sendable (Int) -> Void
  ) {
    self.ledger = ledger
    self.retentionDays = retentionDays
    self.now = now
    self.onLoss = onLoss
    self.leadership = leadership
  }

  /// Adds an entry. Never waits.
  func record(_ entry: AuditEntry) {
    let isLost = waiting.withLock { waiting in
      guard waiting.count < Self.maxWaiting else { return true }
      waiting.append(entry)
      return false
    }
    if isLost { onLoss(1) }
  }

  /// Writes the entries that wait. They are durable on return.
  package func flush() async throws {
    await writing.lock([Self.lock])
    let result: Result<Void, any Error>
    do {
      try await writeAll()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await writing.unlock([Self.lock])
    try result.get()
  }

  private func writeAll() async throws {
    while true {
      try await handOver()
      let entries = waiting.withLock { waiting in
        let entries = Array(waiting.prefix(Self.count(inBatchOf: waiting)))
        waiting.removeFirst(entries.count)
        return entries
      }
      guard !entries.isEmpty else { return }
      guard let leadership, leadership.replication != nil, !leadership.executesWrites else {
        try await write(entries)
        continue
      }
      var entry = InboxEntry(
        kind: .audit, appID: "", method: "", caller: "", context: ForwardedContext().encoded,
        body: entries.encoded)
      entry.token = Self.makeToken()
      handedOver.withLock { [entry] in $0 = entry }
    }
  }

  /// Returns the number of the first entries that share a write.
  static func count(inBatchOf entries: [AuditEntry]) -> Int {
    var (count, customers) = (0, 0)
    for entry in entries.prefix(batch) where customers < batchCustomers {
      (count, customers) = (count + 1, customers + entry.customerIDs.count)
    }
    return count
  }

  private func write(_ entries: [AuditEntry]) async throws(LedgerError) {
    do throws(LedgerError) {
      try await ledger.append(entries)
    } catch {
      waiting.withLock { $0.insert(contentsOf: entries, at: 0) }
      throw error
    }
  }

  /// Hands entries to the leader, if there are some, and waits a moment until they can be read.
  private func handOver() async throws(LedgerError) {
    guard let inbox = leadership?.replication?.inbox, let entry = handedOver.withLock({ $0 }) else { return }
    do throws(StoreError) {
      let id = try await inbox.append(entry)
      handedOver.withLock { $0 = nil }
      _ = try? await inbox.outcome(of: id, until: .now + Self.interval)
    } catch {
      throw .store(error)
    }
  }

  private static func makeToken() -> String {
    (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined(separator: "-")
  }

  package func run() async throws {
    var ticks = 0
    repeat {
      try await flush()
      if ticks % Self.ticksPerPurge == 0, leadership?.executesWrites ?? true, let retentionDays {
        let day: Int64 = 86_400_000
        try await ledger.purgeAuditEntries(
          before: now().advanced(byMilliseconds: -Int64(retentionDays) * day))
      }
      ticks += 1
    } while (try? await Task.sleep(for: Self.interval)) != nil
  }
}
