import PostgreSQL
import PostgresSupport
import Testing

typealias Connection = PostgresConnection<PostgresError>
typealias Statement = PostgresStatement<PostgresError>

/// The suites that need a server.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct PostgresTests {}

/// A database of one test on the shared server.
final class Database {
  let server: PostgresServer
  let name: String

  init() throws {
    server = try PostgresServer.shared()
    name = try server.makeDatabase()
  }

  deinit { try? server.removeDatabase(name) }

  func connect() throws -> Connection { try Connection(server.settings(name)) }
  func connectPooled() throws -> Connection { try Connection(server.pooledSettings(name)) }
}

/// Returns the error that `body` throws.
func failure(_ body: () throws(PostgresError) -> Void) -> PostgresError? {
  do throws(PostgresError) {
    try body()
    return nil
  } catch {
    return error
  }
}
