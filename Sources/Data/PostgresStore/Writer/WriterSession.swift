internal import PostgreSQL
internal import Store

/// How the session of a writer is set up.
///
/// A transaction of a frozen process holds its locks, for which the next writer would wait. The server ends it after a
/// while without statements.
struct WriterSession {
  static let namePrefix = "entitled writer "
  /// Shorter than a lease, so that a new leader waits for no locks.
  private static let limit = "SET LOCAL idle_in_transaction_session_timeout = '4s'"

  /// Ends the application name of the session; `nil` for a store that one process has for itself.
  let instance: String?

  /// Names the session, except behind a pooler, which would leave the name to others.
  func begin(on connection: PostgresConnection<StoreError>, isPooled: Bool) throws(StoreError) {
    guard let instance, !isPooled else { return }
    try connection.execute("SET application_name = '\(Self.namePrefix)\(instance)'")
  }

  /// The statement that follows `BEGIN`, if there is one.
  var limitOfTransaction: PostgresRequest? { instance == nil ? nil : PostgresRequest(Self.limit) }
}
