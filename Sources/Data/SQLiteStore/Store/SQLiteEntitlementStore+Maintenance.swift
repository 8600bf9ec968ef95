package import SQLStore
internal import SQLite
package import Store

/// The result of ``SQLiteEntitlementStore/vacuum()``.
package struct VacuumOutcome: Hashable, Sendable {
  /// The file size before, in bytes.
  package let bytesBefore: Int64
  /// The file size after, in bytes.
  package let bytesAfter: Int64
}

extension SQLiteEntitlementStore {
  /// Returns free pages to the file system (`VACUUM`). Needs as much free disk space as the store occupies;
  /// no other writes may run.
  ///
  /// - Throws: ``StoreError/diskFull`` without that space; the store stays as it was.
  package func vacuum() throws(StoreError) -> VacuumOutcome {
    let connection = try Connection.writer(path: path)
    let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    let before = try connection.number(size)
    try connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    return VacuumOutcome(bytesBefore: before, bytesAfter: try connection.number(size))
  }
}

extension SQLiteEntitlementStore: SQLBackedStore {
  /// Opens a connection that only reads.
  package func makeConnection() throws(StoreError) -> any SQLConnection { try Connection.reader(path: path) }
}
