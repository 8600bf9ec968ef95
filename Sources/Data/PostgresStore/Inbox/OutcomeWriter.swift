internal import PostgreSQL
internal import SQLStore
internal import Store
internal import Synchronization

/// Stores outcomes in sets: those that arrive during a write share the next one. The leader's writes carry them, so that
/// a replica that was replaced stores none.
final class OutcomeWriter: Sendable {
  typealias Outcome = (key: InboxKey, bytes: [UInt8])

  private struct State {
    var waiting: [(outcome: Outcome, continuation: CheckedContinuation<Result<Void, StoreError>, Never>)] = []
    var isWriting = false
  }

  private let queue: WriteQueue
  private let state = Mutex(State())

  init(_ queue: WriteQueue) { self.queue = queue }

  func finish(_ outcome: Outcome) async throws(StoreError) {
    let result: Result<Void, StoreError> = await withCheckedContinuation { continuation in
      let starts = state.withLock { state in
        state.waiting.append((outcome, continuation))
        defer { state.isWriting = true }
        return !state.isWriting
      }
      if starts { Task { await self.write() } }
    }
    try result.get()
  }

  /// Stores the outcomes that wait, a batch in each commit, and resumes their callers with its result.
  private func write() async {
    while case let batch = takeWaiting(), !batch.isEmpty {
      let outcomes = batch.map { $0.outcome }
      let result: Result<Void, StoreError>
      do throws(StoreError) {
        try await queue.write { transaction throws(StoreError) in try Self.store(outcomes, in: transaction) }
        result = .success(())
      } catch {
        result = .failure(error)
      }
      for waiting in batch { waiting.continuation.resume(returning: result) }
    }
  }

  private func takeWaiting() -> [(
    outcome: Outcome, continuation: CheckedContinuation<Result<Void, StoreError>, Never>
  )] {
    state.withLock { state in
      defer { state.waiting = [] }
      if state.waiting.isEmpty { state.isWriting = false }
      return state.waiting
    }
  }

  /// Stores outcomes with the other writes of a transaction, and notifies the replicas that wait.
  private static func store(_ outcomes: [Outcome], in transaction: any StoreTransaction) throws(StoreError) {
    let database = try database(of: transaction)
    try database.run(update(outcomes))
    try database.run(PostgresInbox.notification(of: PostgresInbox.outcomes))
  }

  /// Stores an outcome with the other writes of a transaction, also of an entry that the database has lost. Returns whether
  /// the entry had none; this takes a round trip, or two.
  static func store(_ outcome: Outcome, in transaction: any StoreTransaction) throws(StoreError) -> Bool {
    let database = try database(of: transaction)
    if try database.send(update([outcome])).changedRows == 0,
      try database.send(insertion(of: outcome)).changedRows == 0
    {
      return false
    }
    try database.run(PostgresInbox.notification(of: PostgresInbox.outcomes))
    return true
  }

  /// Removes an entry with the other writes of a transaction.
  static func remove(_ key: InboxKey, in transaction: any StoreTransaction) throws(StoreError) {
    try database(of: transaction).run(
      PostgresRequest("DELETE FROM inbox WHERE id = $1 AND token = $2", [.int8(key.id), .text(key.token)]))
  }

  /// Inserts the outcome of a lost entry, whose id may be another one's. The token is not in the table then; otherwise the
  /// entry has an outcome, or its sender has appended it again and it is executed under its new id.
  private static func insertion(of outcome: Outcome) -> PostgresRequest {
    PostgresRequest(
      """
      INSERT INTO inbox (token, kind, app, method, caller, context, body, received_at, outcome, done_at)
      VALUES ($1, '', '', '', '', '', '', clock_timestamp(), $2, clock_timestamp())
      ON CONFLICT (token) DO NOTHING
      """, [.text(outcome.key.token), .bytea(outcome.bytes)])
  }

  private static func database(of transaction: any StoreTransaction) throws(StoreError) -> PostgresDatabase {
    guard let database = transaction.sqlConnection as? PostgresDatabase else {
      throw .failed("the transaction is not one of PostgreSQL")
    }
    return database
  }

  /// The first outcome of an entry stays.
  private static func update(_ outcomes: [Outcome]) -> PostgresRequest {
    PostgresRequest(
      """
      UPDATE inbox SET outcome = given.outcome, done_at = clock_timestamp(), body = '', context = ''
      FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS given (id, token, outcome)
      WHERE inbox.id = given.id AND inbox.token = given.token AND done_at IS NULL
      """,
      [
        .array(PostgresArray(outcomes.map { $0.key.id })),
        .array(PostgresArray(outcomes.map { $0.key.token })),
        .array(PostgresArray(outcomes.map { $0.bytes })),
      ])
  }
}
