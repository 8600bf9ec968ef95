package import PostgreSQL
package import SQLStore
package import Store

/// An empty database, filled from another store in one transaction by `COPY`.
package final class PostgresCopyTarget: StoreCopyTarget {
  private let database: PostgresDatabase

  package var connection: any SQLConnection { database }

  /// Opens a session, and creates the tables if there are none. A service that has the database open cannot write any
  /// more.
  ///
  /// - Throws: ``StoreError/failed(_:)`` if a table has rows.
  package init(_ settings: PostgresSettings) throws(StoreError) {
    database = try PostgresDatabase(settings.ofMaintenance)
    try PostgresSchema.create(database.connection)
    try database.execute("BEGIN")
    // Another copy waits here, and then finds rows.
    try database.execute("UPDATE head SET epoch = epoch + 1")
    for table in TableDefinition.withData {
      let count = try database.connection.number(
        "SELECT count(*) FROM (SELECT 1 FROM \(table.name) LIMIT 1) AS found")
      guard count == 0 else {
        throw .failed("the table '\(table.name)' of the target has rows; copy to a new database")
      }
    }
  }

  /// Uses `COPY`, and sets the sequence of a numbered table to the greatest number of the rows.
  package func append(
    to table: TableDefinition, _ next: () throws(StoreError) -> [SQLValue]?
  ) throws(StoreError) {
    try database.connection.copy(into: table.name, columns: table.columns.map(\.name)) {
      rows throws(StoreError) in
      while let row = try next() {
        try rows.append(zip(row, table.columns).map { PostgresValue($0, $1.type) })
      }
    }
    guard table.isNumbered, let key = table.key.first else { return }
    try database.execute(
      """
      SELECT setval(pg_get_serial_sequence('\(table.name)', '\(key)'), max(\(key)))
        FROM \(table.name) HAVING max(\(key)) > 0
      """)
  }

  /// Commits all tables together. Then it updates the planner's statistics; a failure of that is ignored.
  package func finish() throws(StoreError) {
    try database.execute("COMMIT")
    // A plan for empty tables would read all of them.
    try? database.execute("ANALYZE")
  }
}

extension PostgresValue {
  fileprivate init(_ value: SQLValue, _ type: TableDefinition.ValueType) {
    self =
      switch value {
      case .null: .null(PostgresType(type))
      case .number(let number): .int8(number)
      case .text(let text): .text(text)
      case .bytes(let bytes): .bytea(bytes)
      }
  }
}

extension PostgresType {
  fileprivate init(_ type: TableDefinition.ValueType) {
    self =
      switch type {
      case .number: .int8
      case .text: .text
      case .bytes: .bytea
      }
  }
}
