internal import PostgreSQL
internal import Store

/// The settings of a writer's session.
///
/// A transaction of a frozen process holds its locks, for which the next writer would wait. The server ends it after a
/// while without statements.
struct WriterSession {
  static let namePrefix = "entitled writer "
  /// Shorter than a lease, so that a new leader waits for no locks, though a busy machine may need longer for a batch.
  private static let pooledLimit = "SET LOCAL idle_in_transaction_session_timeout = '4s'"
  /// For a session that the new leader ends by its name; without a new leader, others wait for its locks no longer.
  private static let limit = "SET LOCAL idle_in_transaction_session_timeout = '30s'"

  /// Ends the application name of the session; `nil` for a store that one process has for itself.
  let instance: String?

  /// Names the session, except behind a pooler, which would leave the name to others. Ends lost ones of this process that
  /// the server has not noticed; not those in a commit, whose outcome is waited for.
  func begin(on connection: PostgresConnection<StoreError>, isPooled: Bool) throws(StoreError) {
    guard let instance, !isPooled else { return }
    let name = Self.namePrefix + instance
    try connection.execute("SET application_name = '\(name)'")
    _ = try connection.query(
      PostgresRequest(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user AND application_name = $1
          AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
        """, [.text(name)]))
  }

  /// The statement that follows `BEGIN`, if there is one.
  func limitOfTransaction(isPooled: Bool) -> PostgresRequest? {
    instance.map { _ in PostgresRequest(isPooled ? Self.pooledLimit : Self.limit) }
  }
}
