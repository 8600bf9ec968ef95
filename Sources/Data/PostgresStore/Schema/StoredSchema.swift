internal import PostgreSQL
internal import Store

/// The versions in the table `store_version`.
struct StoredSchema: Hashable {
  /// The newest version whose additions the tables have.
  var version: Int64
  /// The oldest version whose programs can use the tables.
  var oldest: Int64

  /// Reads the versions; `nil` if the database has no tables.
  static func read(
    _ connection: PostgresConnection<StoreError>, forUpdate: Bool = false
  ) throws(StoreError) -> StoredSchema? {
    let exists = "SELECT count(*) FROM pg_class WHERE oid = to_regclass('store_version')"
    guard try connection.number(exists) > 0 else { return nil }
    let rows = try connection.query(
      PostgresRequest("SELECT version, oldest FROM store_version\(forUpdate ? " FOR UPDATE" : "")"))
    guard rows.count == 1 else { throw .corrupt("the table store_version has \(rows.count) rows") }
    return StoredSchema(version: rows.number(0, 0), oldest: rows.number(0, 1))
  }

  /// Throws if this program cannot use the tables.
  func requireSupport() throws(StoreError) {
    let own = PostgresSchema.version
    guard oldest <= own else { throw .newerSchema(found: Int(oldest), supported: Int(own)) }
    guard own <= version else { throw .olderSchema(found: Int(version), required: Int(own)) }
  }
}
