package import PostgreSQL
package import SQLStore
package import Store

/// A store in a PostgreSQL database, read in one snapshot beside running replicas.
package final class PostgresStoreInspection: InspectedStore {
  private let database: PostgresDatabase

  package var connection: any SQLConnection { database }

  /// Opens a session, and begins its snapshot.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the database has no tables; ``StoreError/newerSchema(found:supported:)``,
  ///   ``StoreError/olderSchema(found:required:)``.
  package init(_ settings: PostgresSettings) throws(StoreError) {
    database = try PostgresDatabase(settings.ofMaintenance)
    try database.execute(database.dialect.beginRead)
    guard let schema = try StoredSchema.read(database.connection) else {
      throw .corrupt("the database has no tables of a store")
    }
    try schema.requireSupport()
  }

  package func schemaVersion() throws(StoreError) -> Int {
    Int(try database.connection.number("SELECT version FROM store_version"))
  }

  /// PostgreSQL has its own views of that.
  package func unusedBytes() -> Int64? { nil }

  /// Returns references to missing rows, because the tables have no foreign keys, and invalid indexes. Damaged pages
  /// are found by the server's checksums and `pg_amcheck`.
  package func structuralFaults() throws(StoreError) -> [String] {
    var faults: [String] = []
    for table in TableDefinition.all {
      for column in table.columns {
        guard let parent = TableDefinition.all.first(where: { $0.name == column.reference }),
          let key = parent.key.first
        else { continue }
        let count = try database.connection.number(
          """
          SELECT count(*) FROM \(table.name) AS child WHERE child.\(column.name) IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM \(parent.name) AS parent WHERE parent.\(key) = child.\(column.name))
          """)
        if count > 0 {
          faults.append("\(count) rows of \(table.name) reference missing rows of \(parent.name)")
        }
      }
    }
    let invalid = try database.connection.number(
      """
      SELECT count(*) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace
      """)
    if invalid > 0 { faults.append("\(invalid) indexes are invalid; run REINDEX") }
    return faults
  }
}

extension PostgresSettings {
  /// The settings of sessions that are no replica's, by their name in `pg_stat_activity`.
  var ofMaintenance: PostgresSettings { with("application_name", "entitled store") }
}
