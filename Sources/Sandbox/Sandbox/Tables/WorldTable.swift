/// A table in which a tester can read a part of the world, such as with `sqlite3`.
///
/// The truth is the journal; tables are made of the world that comes of it, and never read by the sandbox.
package struct WorldTable: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package let name: String
    /// Whether it has texts; else integers. Moments are texts in RFC 3339, flags are 0 and 1.
    package let isText: Bool
    /// Whether it can be NULL.
    package let isOptional: Bool
  }

  package let name: String
  /// What its rows are, in words for testers.
  package let comment: String
  package let columns: [Column]
  /// So many columns at the front tell a row from all others.
  package let keyLength: Int
}

/// One value of a row.
package enum Cell: Hashable, Sendable {
  case null
  case integer(Int64)
  case text(String)
}

/// Rows that take the place of all those about the same subject.
package struct RowChange: Hashable, Sendable {
  package let table: WorldTable
  /// What the rows are about: the values of the first columns, or of none for the whole table.
  package let subject: [Cell]
  /// What there is to say of it now; nothing when it is gone.
  package let rows: [[Cell]]
}
