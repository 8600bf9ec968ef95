package import Store

/// A store that is only read, over one connection, whether a service has it open or not.
package protocol InspectedStore {
  /// The connection of all reads.
  var connection: any SQLConnection { get }

  func schemaVersion() throws(StoreError) -> Int

  /// The space in the store that no row uses, in bytes; `nil` if the engine does not report it.
  func unusedBytes() throws(StoreError) -> Int64?

  /// Returns defects of the engine's own structures, and of references between tables.
  func structuralFaults() throws(StoreError) -> [String]
}

extension InspectedStore {
  /// Returns a reader of one snapshot, which lasts as long as the connection.
  package func makeSnapshot() throws(StoreError) -> any StoreSnapshot {
    try SQLReader(connection, changes: CustomerVersions())
  }

  /// Returns at most 100 defects of the store: those of ``structuralFaults()``, and evidence whose body does not match
  /// its hash. Calls `report` with the number of checked pieces of evidence after every thousand.
  package func faults(_ report: (Int) -> Void = { _ in }) throws(StoreError) -> [String] {
    let faults = try structuralFaults()
    return faults + (try evidenceFaults(connection, limit: 100 - faults.count, report))
  }

  /// The hash of the stored state.
  package func stateHash() throws(StoreError) -> StateHash { try StateHash(connection) }

  /// Compares all derived tables with those of `other`; see ``SQLBackedStore/differences(from:)``.
  package func differences(from other: any SQLBackedStore) throws(StoreError) -> [TableDifference] {
    try connection.differences(from: other.makeConnection())
  }

  /// Counts the rows and measures the space that they occupy.
  package func statistics() throws(StoreError) -> StoreStatistics {
    let reader = try SQLReader(connection, changes: CustomerVersions())
    let counts = try reader.counts()
    let sums = try reader.rows(
      """
      SELECT coalesce(sum(CASE WHEN body IS NULL THEN 0 ELSE size END), 0), coalesce(sum(length(body)), 0),
        coalesce(sum(CASE WHEN body IS NULL THEN 1 ELSE 0 END), 0)
      FROM evidence
      """
    ) { (original: $0.number(0), stored: $0.number(1), purged: $0.number(2)) }
    return StoreStatistics(
      counts: counts, schemaVersion: try schemaVersion(), databaseBytes: try connection.databaseSize(),
      unusedBytes: try unusedBytes(), originalBytes: sums.first?.original ?? 0,
      storedBytes: sums.first?.stored ?? 0, purgedBodies: sums.first?.purged ?? 0)
  }
}

/// The number of rows of a store, and the space that it occupies.
package struct StoreStatistics: Hashable, Sendable {
  /// The number of rows of each kind.
  package let counts: StoreCounts
  package let schemaVersion: Int
  /// The size of the database in bytes, without a write-ahead log.
  package let databaseBytes: Int64
  /// The size of unused pages of a file, in bytes, which `entitled store vacuum` frees; `nil` for PostgreSQL.
  package let unusedBytes: Int64?
  /// The original size of all evidence whose body is stored, in bytes.
  package let originalBytes: Int64
  /// The compressed size of these bodies, in bytes.
  package let storedBytes: Int64
  /// The number of pieces of evidence without a body: purged, or too large to store.
  package let purgedBodies: Int64
}
