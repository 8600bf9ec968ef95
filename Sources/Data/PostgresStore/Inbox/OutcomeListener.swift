internal import Foundation
internal import PostgreSQL
internal import Store
internal import Synchronization

/// Waits for the outcomes of entries of this replica: reads them when the leader sends a notification, and in short
/// intervals; a few at a time while they are large, because each read has a second only.
final class OutcomeListener: Sendable {
  /// A lost notification costs at most this.
  private static let polling = Duration.milliseconds(20)

  /// An outcome, and the number of commits of the store when it was read.
  struct Found: Sendable {
    let outcome: [UInt8]
    let position: Int64
  }

  private struct State {
    var waiting: [InboxKey: CheckedContinuation<Result<Found, StoreError>, Never>] = [:]
    var isWorking = false
  }

  private let thread: SessionThread
  private let state = Mutex(State())

  init(_ settings: PostgresSettings) {
    thread = SessionThread("outcomes", LazySession(settings, listeningTo: PostgresInbox.outcomes))
  }

  /// Waits for the outcome of an entry; see ``Inbox/outcome(of:until:)``.
  func outcome(of key: InboxKey, until deadline: ContinuousClock.Instant) async throws(StoreError) -> Found {
    let timer = Task {
      if (try? await Task.sleep(until: deadline)) != nil { self.resume(key, .failure(.deadlineExceeded)) }
    }
    defer { timer.cancel() }
    let result: Result<Found, StoreError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let starts = state.withLock { state in
          state.waiting[key] = continuation
          defer { state.isWorking = true }
          return !state.isWorking
        }
        if starts { thread.start { self.work($0) } }
        // Either may have happened before the task waited.
        if Task.isCancelled {
          resume(key, .failure(.cancelled))
        } else if ContinuousClock.now >= deadline {
          resume(key, .failure(.deadlineExceeded))
        }
      }
    } onCancel: {
      resume(key, .failure(.cancelled))
    }
    return try result.get()
  }

  /// Discards the messages that arrived while no task waited. While one does, the session reads them anyway, and there
  /// can always be one: so this waits for none.
  func discardMessages() {
    let starts = state.withLock { state in
      defer { state.isWorking = true }
      return !state.isWorking
    }
    guard starts else { return }
    thread.start { session in
      try? session.discardMessages()
      self.work(session)
    }
  }

  private func resume(_ key: InboxKey, _ result: Result<Found, StoreError>) {
    state.withLock { $0.waiting.removeValue(forKey: key) }?.resume(returning: result)
  }

  /// Reads outcomes until no task waits for one.
  private func work(_ session: LazySession) {
    while case let keys = waitingKeys(), !keys.isEmpty {
      do throws(StoreError) {
        var bytes = 0
        for (key, found) in try Self.read(keys, session.connection()) {
          bytes += found.outcome.count
          resume(key, .success(found))
        }
        guard bytes < PostgresInbox.batchBytes else { continue }
        try session.wait(listening: Self.polling, polling: Self.polling)
      } catch {
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
  }

  /// The keys of the entries for which tasks wait; without any, the work ends.
  private func waitingKeys() -> [InboxKey] {
    state.withLock { state in
      if state.waiting.isEmpty { state.isWorking = false }
      return Array(state.waiting.keys)
    }
  }

  /// Returns outcomes of these entries, until they have some megabytes.
  static func read(
    _ keys: [InboxKey], _ connection: PostgresConnection<StoreError>
  ) throws(StoreError) -> [(InboxKey, Found)] {
    let rows = try connection.query(
      PostgresRequest(
        """
        SELECT id, token, outcome, position
        FROM (
          SELECT id, token, outcome, position,
            sum(length(outcome)) OVER (ORDER BY id) - length(outcome) AS before
          FROM inbox, head WHERE id = ANY($1) AND token = ANY($2) AND done_at IS NOT NULL
        ) AS done
        WHERE before < \(PostgresInbox.batchBytes)
        """, [.array(PostgresArray(keys.map(\.id))), .array(PostgresArray(keys.map(\.token)))]))
    return (0..<rows.count).map {
      (
        InboxKey(id: rows.number($0, 0), token: rows.text($0, 1) ?? ""),
        Found(outcome: rows.bytes($0, 2), position: rows.number($0, 3))
      )
    }
  }
}
