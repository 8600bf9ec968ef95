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
  package func vacuum() throws(StoreError) -> VacuumOutcome {
    let connection = try Connection.writer(path: path)
    let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    let before = try connection.number(size)
    try connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    return VacuumOutcome(bytesBefore: before, bytesAfter: try connection.number(size))
  }
}

extension SQLiteEntitlementStore {
  /// Compares all derived tables, except those that depend on the time of derivation: events and precomputed
  /// answers. Facts are compared by content, so the encoding version makes no difference.
  package func differences(from other: SQLiteEntitlementStore) throws(StoreError) -> [TableDifference] {
    try derivedTableDifferences(Connection.reader(path: path), Connection.reader(path: other.path))
  }
}

extension StoreFile {
  /// The hash of the state in this file.
  package func stateHash() throws(StoreError) -> StateHash { try StateHash(connection) }
}

extension SQLiteEntitlementStore {
  /// The hash of the stored state.
  package func stateHash() throws(StoreError) -> StateHash { try StateHash(Connection.reader(path: path)) }
}
