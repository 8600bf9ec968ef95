package import Ledger
internal import Platform
internal import Store
internal import Synchronization

/// Stores requests for retention messages, many in one write, so that no answer to Apple waits for the store.
///
/// Requests wait for at most a second while the store can be written; ``RetentionMessagingServiceHandler`` writes those
/// that wait before it reads. The service writes those that wait when it ends; a crash loses the last second, and the outcomes
/// of its requests.
package final class RetentionTrail: Worker {
  package let name = "retention_requests"

  /// About 10 MB. More wait only while the store cannot be written.
  private static let maxWaiting = 20_000
  private static let batch = 500
  private static let interval = Duration.seconds(1)
  private static let lock = "requests"

  private let ledger: EvidenceLedger
  private let leadership: Leadership
  private let waiting = Mutex<[RetentionRequestRecord]>([])
  /// Held during a write: a caller of ``flush()`` also waits for requests that another one writes.
  private let writing = KeyLocks()

  /// - Parameters:
  ///   - ledger: writes the requests.
  ///   - leadership: whether this process writes the requests, or the leader.
  package init(_ ledger: EvidenceLedger, leadership: Leadership) {
    self.ledger = ledger
    self.leadership = leadership
  }

  /// Adds a request. Never waits.
  func record(_ request: RetentionRequestRecord) {
    let isLost = waiting.withLock { waiting in
      guard waiting.count < Self.maxWaiting else { return true }
      waiting.append(request)
      return false
    }
    if isLost { RetentionMetrics.countLoss(of: request) }
  }

  /// Writes the requests that wait. They are durable on return.
  package func flush() async throws(LedgerError) {
    try await writing.holding(Self.lock) { () async throws(LedgerError) in try await writeAll() }
  }

  private func writeAll() async throws(LedgerError) {
    while true {
      let requests = waiting.withLock { waiting in
        let requests = Array(waiting.prefix(Self.batch))
        waiting.removeFirst(requests.count)
        return requests
      }
      guard !requests.isEmpty else { return }
      do throws(LedgerError) {
        try await write(requests)
      } catch {
        waiting.withLock { $0.insert(contentsOf: requests, at: 0) }
        throw error
      }
    }
  }

  /// Writes requests, or hands them to the leader, and waits a moment until they can be read.
  private func write(_ requests: [RetentionRequestRecord]) async throws(LedgerError) {
    guard let inbox = leadership.replication?.inbox, !leadership.executesWrites else {
      return try await ledger.append(requests)
    }
    let entry = InboxEntry(
      kind: .retention, appID: "", method: "", caller: "", context: ForwardedContext().encoded,
      body: requests.encoded)
    do throws(StoreError) {
      let id = try await inbox.append(entry)
      _ = try? await inbox.outcome(of: id, until: .now + Self.interval)
    } catch {
      throw .store(error)
    }
  }

  /// Runs until the task is cancelled.
  package func run() async throws {
    repeat { try await flush() } while (try? await Task.sleep(for: Self.interval)) != nil
  }
}
