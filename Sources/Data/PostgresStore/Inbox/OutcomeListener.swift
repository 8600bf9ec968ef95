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
    var waiting: [Int64: CheckedContinuation<Result<Found, StoreError>, Never>] = [:]
    var isWorking = false
  }

  private let thread: SessionThread
  private let state = Mutex(State())

  init(_ settings: PostgresSettings) {
    thread = SessionThread("outcomes", LazySession(settings, listeningTo: PostgresInbox.outcomes))
  }

  /// Waits for the outcome of an entry; see ``Inbox/outcome(of:until:)``.
  func outcome(of id: Int64, until deadline: ContinuousClock.Instant) async throws(StoreError) -> Found {
    let timer = Task {
      if (try? await Task.sleep(until: deadline)) != nil { self.resume(id, .failure(.deadlineExceeded)) }
    }
    defer { timer.cancel() }
    let result: Result<Found, StoreError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let starts = state.withLock { state in
          state.waiting[id] = continuation
          defer { state.isWorking = true }
          return !state.isWorking
        }
        if starts { thread.start { self.work($0) } }
        // Either may have happened before the task waited.
        if Task.isCancelled {
          resume(id, .failure(.cancelled))
        } else if ContinuousClock.now >= deadline {
          resume(id, .failure(.deadlineExceeded))
        }
      }
    } onCancel: {
      resume(id, .failure(.cancelled))
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

  private func resume(_ id: Int64, _ result: Result<Found, StoreError>) {
    state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: result)
  }

  /// Reads outcomes until no task waits for one.
  private func work(_ session: LazySession) {
    while case let ids = waitingIDs(), !ids.isEmpty {
      do throws(StoreError) {
        var bytes = 0
        for (id, found) in try Self.read(ids, session.connection()) {
          bytes += found.outcome.count
          resume(id, .success(found))
        }
        guard bytes < PostgresInbox.batchBytes else { continue }
        try session.wait(listening: Self.polling, polling: Self.polling)
      } catch {
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
  }

  /// The ids for which tasks wait; without any, the work ends.
  private func waitingIDs() -> [Int64] {
    state.withLock { state in
      if state.waiting.isEmpty { state.isWorking = false }
      return Array(state.waiting.keys)
    }
  }

  /// Returns outcomes of these entries, until they have some megabytes.
  static func read(
    _ ids: [Int64], _ connection: PostgresConnection<StoreError>
  ) throws(StoreError) -> [(Int64, Found)] {
    let rows = try connection.query(
      PostgresRequest(
        """
        SELECT id, outcome, position
        FROM (
          SELECT id, outcome, position, sum(length(outcome)) OVER (ORDER BY id) - length(outcome) AS before
          FROM inbox, head WHERE id = ANY($1) AND done_at IS NOT NULL
        ) AS done
        WHERE before < \(PostgresInbox.batchBytes)
        """, [.array(PostgresArray(ids))]))
    return (0..<rows.count).map {
      (rows.number($0, 0), Found(outcome: rows.bytes($0, 1), position: rows.number($0, 2)))
    }
  }
}
