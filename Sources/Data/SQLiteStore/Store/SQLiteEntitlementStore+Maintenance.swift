internal import SQLite
package import Store

/// The result of ``SQLiteEntitlementStore/vacuum()``.
package struct VacuumOutcome: Hashable, Sendable {
  /// The file size before, in bytes.
  package let bytesBefore: Int64
  /// The file size after, in bytes.
  package let bytesAfter: Int64
  /// The number of uncompressed bodies that were compressed.
  package let packedBodies: Int
}

extension SQLiteEntitlementStore {
  /// Compresses uncompressed bodies and returns free pages to the file system (`VACUUM`). Needs as much free
  /// disk space as the store occupies; no other writes may run.
  package func vacuum() throws(StoreError) -> VacuumOutcome {
    let connection = try Connection.writer(path: path)
    let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    let before = try connection.number(size)
    let packed = try EvidenceRows(connection).packBodies()
    try connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    return VacuumOutcome(
      bytesBefore: before, bytesAfter: try connection.number(size), packedBodies: packed)
  }
}

extension EvidenceRows {
  /// Compresses uncompressed bodies that become smaller by it. Returns their number.
  func packBodies() throws(StoreError) -> Int {
    var (last, count): (Int64, Int) = (0, 0)
    while true {
      try connection.execute("BEGIN IMMEDIATE")
      let page = try verbatimBodies(behind: last, limit: 500)
      for id in page { if try pack(id) { count += 1 } }
      try connection.execute("COMMIT")
      guard let end = page.last else { return count }
      last = end.rawValue
    }
  }

  private func verbatimBodies(behind last: Int64, limit: Int64) throws(StoreError) -> [EvidenceID] {
    let select = try Statement(
      """
      SELECT evidence_id FROM evidence
      WHERE evidence_id > ? AND compression = 0 AND body NOT NULL ORDER BY evidence_id LIMIT ?
      """, on: connection)
    try select.bind(1, last)
    try select.bind(2, limit)
    defer { select.reset() }
    var page: [EvidenceID] = []
    while try select.step() { page.append(EvidenceID(rawValue: select.number(0))) }
    return page
  }

  private func pack(_ id: EvidenceID) throws(StoreError) -> Bool {
    guard let evidence = try evidence(id)?.evidence, let body = evidence.content.body else { return false }
    let packed = try compressor.compress(body, isAccepted: evidence.verdict == .accepted)
    guard packed.form == .compressed else { return false }
    let update = try Statement(
      "UPDATE evidence SET body = ?, compression = ? WHERE evidence_id = ?", on: connection)
    try update.bind(1, packed.bytes)
    try update.bind(2, packed.form.rawValue)
    try update.bind(3, id.rawValue)
    try update.run()
    return true
  }
}

/// The differences between one derived table of two stores.
package struct TableDifference: Hashable, Sendable {
  /// The name of the table.
  package let table: String
  /// The number of rows in the first store.
  package let rows: Int
  /// The number of rows that only the first store has.
  package let onlyInFirst: Int
  /// The number of rows that only the second store has.
  package let onlyInSecond: Int
}

extension SQLiteEntitlementStore {
  /// Compares all derived tables, except those that depend on the time of derivation: events and precomputed
  /// answers. Facts are compared by content, so the encoding version makes no difference.
  package func differences(from other: SQLiteEntitlementStore) throws(StoreError) -> [TableDifference] {
    let (first, second) = (try Connection.reader(path: path), try Connection.reader(path: other.path))
    var differences: [TableDifference] = []
    for table in DerivedTable.all { differences.append(try table.difference(first, second)) }
    return differences
  }
}
