internal import SQLite
package import Store

/// What a store took before and after it was put in order.
package struct VacuumOutcome: Hashable, Sendable {
  /// Bytes of the file before.
  package let bytesBefore: Int64
  /// Bytes of the file after.
  package let bytesAfter: Int64
  /// Bodies that an older version had kept as they arrived, and that are packed now.
  package let packedBodies: Int
}

extension SQLiteEntitlementStore {
  /// Packs bodies that an older version kept as they arrived, and gives unused space back to the disk.
  /// Meanwhile it takes as much space again, and nobody may write.
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
  /// Packs the bodies that are kept as they arrived, where that makes them smaller; answers how many that
  /// were.
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
    let packed = try packing.pack(body, isBelieved: evidence.verdict == .accepted)
    guard packed.form == .packed else { return false }
    let update = try Statement(
      "UPDATE evidence SET body = ?, compression = ? WHERE evidence_id = ?", on: connection)
    try update.bind(1, packed.bytes)
    try update.bind(2, packed.form.rawValue)
    try update.bind(3, id.rawValue)
    try update.run()
    return true
  }
}

/// How the derived rows of one table differ between two stores.
package struct TableDifference: Hashable, Sendable {
  /// The table.
  package let table: String
  /// How many rows of it were compared in the first store.
  package let rows: Int
  /// How many rows only the first store has.
  package let onlyInFirst: Int
  /// How many rows only the second store has.
  package let onlyInSecond: Int
}

extension SQLiteEntitlementStore {
  /// Compares all that is derived from evidence, except what depends on when it was looked at: events, and
  /// the answers that were worked out in advance. Facts are compared by what they say, so that it does not
  /// count which version of the program wrote them.
  package func differences(from other: SQLiteEntitlementStore) throws(StoreError) -> [TableDifference] {
    let (first, second) = (try Connection.reader(path: path), try Connection.reader(path: other.path))
    var differences: [TableDifference] = []
    for table in DerivedTable.all { differences.append(try table.difference(first, second)) }
    return differences
  }
}
