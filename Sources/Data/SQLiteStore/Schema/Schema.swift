internal import SQLStore
internal import SQLite
internal import Store

/// Creates the tables, and checks the schema version of an existing store.
enum Schema {
  /// The schema version of this program, stored in `PRAGMA user_version`. A released version never changes; a
  /// later one gets its own file with the statements that upgrade from the version before.
  static let version = 1

  /// Creates the tables in an empty database.
  ///
  /// - Throws: ``StoreError/newerSchema(found:supported:)``; `missing` if the database is empty, unless `missing` is
  ///   `nil`.
  static func create(_ connection: Connection, unless missing: StoreError? = nil) throws(StoreError) {
    guard try foundVersion(connection) == 0 else { return }
    if let missing { throw missing }
    try connection.execute(
      """
      BEGIN IMMEDIATE; \(Version01.coreTables) \(Version01.operationTables) \(HistoryTerms.table)
      PRAGMA user_version = \(version); COMMIT
      """
    )
  }

  /// Checks, without writing, that the store has the schema version of this program.
  ///
  /// - Throws: ``StoreError/newerSchema(found:supported:)``; ``StoreError/corrupt(_:)`` if the file is not a
  ///   store.
  static func requireCurrent(_ connection: Connection) throws(StoreError) {
    guard try foundVersion(connection) == version else { throw .corrupt("the file has no store schema") }
  }

  /// The schema version of the file; 0 for an empty one.
  private static func foundVersion(_ connection: Connection) throws(StoreError) -> Int {
    let found = Int(try connection.number("PRAGMA user_version"))
    guard found <= version else { throw .newerSchema(found: found, supported: version) }
    return found
  }
}
