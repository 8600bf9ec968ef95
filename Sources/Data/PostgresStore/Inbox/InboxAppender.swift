internal import Foundation
internal import PostgreSQL
internal import Store
internal import Synchronization

/// Appends entries in batches: those that arrive during a commit share the next one, while they are few and small.
final class InboxAppender: Sendable {
  /// The number of waiting entries above which callers are refused.
  private static let maxWaiting = 4_096
  /// The maximum number of entries in one commit.
  private static let batchSize = 256
  /// The time after which the caller gets the error that the database is away.
  private static let timeout = Duration.seconds(1)
  /// The error of an entry that may be appended.
  static let unknown = StoreError.outcomeUnknown("whether the inbox has the entry is unknown")

  /// An entry with the caller who waits for it.
  final class Pending: Sendable {
    private struct Attempts {
      var continuation: CheckedContinuation<Result<Int64, StoreError>, Never>?
      /// Refuses the caller; it holds the entry until the caller has a result.
      var timer: Task<Void, Never>?
      var isRunning = false
      /// Whether the result of an attempt was lost, which may have appended the entry.
      var isLost = false
    }

    let entry: InboxEntry
    private let attempts: Mutex<Attempts>

    init(_ entry: InboxEntry, _ continuation: CheckedContinuation<Result<Int64, StoreError>, Never>) {
      self.entry = entry
      attempts = Mutex(Attempts(continuation: continuation))
    }

    /// The same in each attempt, so that a repeated one appends nothing more.
    var token: String { entry.key.token }

    var size: Int { entry.body.count + entry.context.count }

    var isWaiting: Bool { attempts.withLock { $0.continuation != nil } }

    /// Refuses the caller after a time.
    func expire(after timeout: Duration) {
      let timer = Task {
        guard (try? await Task.sleep(for: timeout)) != nil else { return }
        refuse(.unavailable("the inbox could not be appended to within \(timeout)"))
      }
      attempts.withLock { $0.timer = timer }
    }

    /// Begins an attempt, unless the caller was refused, who may repeat the call.
    func begin() -> Bool {
      attempts.withLock { attempts in
        attempts.isRunning = attempts.continuation != nil
        return attempts.isRunning
      }
    }

    /// Ends an attempt.
    func failed(_ error: StoreError) {
      attempts.withLock { attempts in
        attempts.isRunning = false
        if case .outcomeUnknown = error { attempts.isLost = true }
      }
    }

    /// Resumes the caller, once.
    func resume(_ id: Int64) { takeContinuation().0?.resume(returning: .success(id)) }

    /// Resumes the caller, once, with the error of an entry that is not appended, or that may be.
    func refuse(_ error: StoreError) {
      let (continuation, mayBeAppended) = takeContinuation()
      continuation?.resume(returning: .failure(mayBeAppended ? InboxAppender.unknown : error))
    }

    private func takeContinuation() -> (CheckedContinuation<Result<Int64, StoreError>, Never>?, Bool) {
      attempts.withLock { attempts in
        attempts.timer?.cancel()
        defer { (attempts.continuation, attempts.timer) = (nil, nil) }
        return (attempts.continuation, attempts.isRunning || attempts.isLost)
      }
    }
  }

  private struct State {
    var waiting: [Pending] = []
    var isWorking = false
  }

  private let thread: SessionThread
  private let state = Mutex(State())

  init(_ settings: PostgresSettings) { thread = SessionThread("inbox", LazySession(settings)) }

  /// Appends an entry; see ``Inbox/append(_:)``.
  func append(_ entry: InboxEntry) async throws(StoreError) -> InboxKey {
    let result: Result<Int64, StoreError> = await withCheckedContinuation { continuation in
      add(Pending(entry, continuation))
    }
    return InboxKey(id: try result.get(), token: entry.key.token)
  }

  private func add(_ pending: Pending) {
    pending.expire(after: Self.timeout)
    let (isFull, starts) = state.withLock { state in
      guard state.waiting.count < Self.maxWaiting else { return (true, false) }
      state.waiting.append(pending)
      defer { state.isWorking = true }
      return (false, !state.isWorking)
    }
    guard !isFull else { return pending.refuse(.overloaded(waiting: Self.maxWaiting)) }
    if starts { thread.start { self.work($0) } }
  }

  /// Appends batches until no entry waits.
  private func work(_ session: LazySession) {
    var batch: [Pending] = []
    while true {
      batch += takeWaiting(after: batch)
      guard !batch.isEmpty || !isIdle() else { return }
      do throws(StoreError) {
        let connection = try session.connection()
        batch = batch.filter { $0.begin() }
        let ids = try Self.append(batch, connection)
        for pending in batch {
          if let id = ids[pending.token] {
            pending.resume(id)
          } else {
            pending.refuse(.failed("an entry has no id"))
          }
        }
        batch = []
      } catch {
        for pending in batch { pending.failed(error) }
        guard error.concernsConnection else {
          for pending in batch { pending.refuse(error) }
          batch = []
          continue
        }
        Thread.sleep(forTimeInterval: 0.02)
        batch = batch.filter(\.isWaiting)
      }
    }
  }

  private func takeWaiting(after batch: [Pending]) -> [Pending] {
    state.withLock { state in
      let count = Self.count(of: state.waiting.lazy.map(\.size), after: batch.map(\.size))
      let taken = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(count)
      return taken
    }
  }

  /// Returns the number of waiting entries that share a statement with those of `batch`; both are sizes of entries.
  static func count(of waiting: some Sequence<Int>, after batch: [Int]) -> Int {
    var (count, bytes) = (0, batch.reduce(0, +))
    for size in waiting {
      guard batch.count + count < Self.batchSize, bytes < PostgresInbox.batchBytes else { break }
      (count, bytes) = (count + 1, bytes + size)
    }
    return count
  }

  /// Ends the work unless entries wait.
  private func isIdle() -> Bool {
    state.withLock { state in
      guard state.waiting.isEmpty else { return false }
      state.isWorking = false
      return true
    }
  }

  /// Returns the ids by token. An attempt whose result was lost is found by its tokens.
  private static func append(
    _ batch: [Pending], _ connection: PostgresConnection<StoreError>
  ) throws(StoreError) -> [String: Int64] {
    let entries = batch.map(\.entry)
    let request = PostgresRequest(
      """
      INSERT INTO inbox (token, kind, app, method, caller, context, body, received_at)
      SELECT token, kind, app, method, caller, context, body, clock_timestamp()
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[])
        AS given (token, kind, app, method, caller, context, body)
      ON CONFLICT (token) DO UPDATE SET token = excluded.token
      RETURNING id, token
      """,
      [
        .array(PostgresArray(batch.map(\.token))), .array(PostgresArray(entries.map(\.kind.rawValue))),
        .array(PostgresArray(entries.map(\.appID))), .array(PostgresArray(entries.map(\.method))),
        .array(PostgresArray(entries.map(\.caller))), .array(PostgresArray(entries.map(\.context))),
        .array(PostgresArray(entries.map(\.body))),
      ])
    let results = try connection.pipeline([request, PostgresInbox.notification(of: PostgresInbox.arrivals)])
    guard let rows = results.first else { throw .failed("PostgreSQL returned no result") }
    return Dictionary(
      (0..<rows.count).map { (rows.text($0, 1) ?? "", rows.number($0, 0)) }, uniquingKeysWith: { $1 })
  }
}

extension StoreError {
  /// Whether the same statement may succeed on another session.
  var concernsConnection: Bool {
    switch self {
    case .unavailable, .outcomeUnknown, .conflict: true
    default: false
    }
  }
}
