/// A connection to a database, which throws PostgreSQL's errors as `Failure`.
///
/// Calls block until the server has answered, so they belong on dedicated threads. Only one thread at a time may use
/// a connection and its statements. After its session was lost, ``reopen()`` opens another one, and statements continue.
package final class PostgresConnection<Failure: PostgresErrorConvertible> {
  let session: PostgresSession

  /// Opens a session. It blocks at most `connect_timeout` for each address of the hosts, two seconds by default.
  ///
  /// - Throws: an error of the kind ``PostgresError/Kind/unavailable`` if no host accepts the session, also for a
  ///   wrong password.
  package init(_ settings: PostgresSettings) throws(Failure) {
    do throws(PostgresError) {
      session = try PostgresSession(settings)
    } catch {
      throw Failure(error)
    }
  }

  /// Opens a new session, to the first host that answers as the settings demand. Transactions, `LISTEN` and settings of
  /// the old one are gone.
  package func reopen() throws(Failure) {
    try converting { () throws(PostgresError) in try session.reopen() }
  }

  /// Closes the session; ``reopen()`` opens another one.
  package func close() { session.abandon() }

  /// Whether the session was lost or closed.
  package var isBroken: Bool { session.handle?.isLost ?? true }
  /// Whether a transaction is open, also one that failed and must be rolled back.
  package var isInTransaction: Bool { session.handle?.isInTransaction ?? false }

  /// The longest duration of each round trip; `nil`, the default, for no limit.
  ///
  /// A statement that takes longer is cancelled, a commit is not: its session is given up and its outcome unknown.
  package var timeout: Duration? {
    get { session.timeout }
    set { session.timeout = newValue }
  }

  /// Interrupts round trips when `shouldStop` returns `true`, as after ``timeout``; it is called every few
  /// milliseconds, on the thread that waits. `nil` removes the check.
  package func interrupt(if shouldStop: (() -> Bool)?) { session.shouldStop = shouldStop }

  /// Whether a statement whose round trip ends early is cancelled on the server, for which the caller waits half a second
  /// at most; otherwise its session is given up at once. By default it is.
  package func cancel(if shouldCancel: @escaping () -> Bool) { session.shouldCancel = shouldCancel }

  /// Runs statements without parameters and result rows, separated by semicolons. Outside a transaction they are one.
  ///
  /// - Throws: the error of the first statement that fails; those after it do not run.
  package func execute(_ sql: String) throws(Failure) {
    try converting { () throws(PostgresError) in _ = try session.execute(sql) }
  }

  /// Returns the first column of the first row of `sql`; throws if there is no row.
  package func number(_ sql: String) throws(Failure) -> Int64 {
    let rows = try query(PostgresRequest(sql))
    guard rows.count > 0 else { throw Failure(PostgresError(.misuse, "no row for: \(sql)")) }
    return rows.number(0, 0)
  }

  /// Runs one statement.
  package func query(_ request: PostgresRequest) throws(Failure) -> PostgresRows {
    guard let rows = try pipeline([request]).first else { throw Failure(.unexpectedResult) }
    return rows
  }

  /// Sends all requests and then waits for all results, in one round trip. Outside a transaction they are one, which
  /// the end of the pipeline commits.
  ///
  /// - Throws: the first error, with the index of its request. All requests are then rolled back, and an open
  ///   transaction must be.
  package func pipeline(_ requests: [PostgresRequest]) throws(Failure) -> [PostgresRows] {
    try converting { () throws(PostgresError) in try session.run(requests) }
  }

  func converting<Value>(_ body: () throws(PostgresError) -> Value) throws(Failure) -> Value {
    do throws(PostgresError) {
      return try body()
    } catch {
      throw Failure(error)
    }
  }
}
