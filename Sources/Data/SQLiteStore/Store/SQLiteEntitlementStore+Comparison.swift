internal import SQLite
package import Store

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
