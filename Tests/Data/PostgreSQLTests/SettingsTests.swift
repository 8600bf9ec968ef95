import PostgreSQL
import Testing

extension PostgresTests {
  /// Options of sessions as libpq understands them.
  @Suite struct SettingsTests {
    @Test("The name of a database is no connection string")
    func databaseName() throws {
      let database = try Database()
      let admin = try database.connect()
      let name = database.name + "=x"
      try admin.execute("CREATE DATABASE \"\(name)\" TEMPLATE template0")
      defer { try? database.server.removeDatabase("\"\(name)\"") }
      #expect(try Connection(database.server.settings(name)).number("SELECT length(current_database())") > 2)
    }
  }
}
