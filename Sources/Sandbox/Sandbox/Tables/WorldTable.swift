internal import AppStore
internal import JSON

/// The schema of a table that testers can query, for example with `sqlite3`.
///
/// Tables are derived from the journal. The sandbox never reads them.
package struct WorldTable: Hashable, Sendable {
  /// A column without its values.
  package struct Column: Hashable, Sendable {
    /// As in SQL.
    package let name: String
    /// Whether the column has type TEXT, otherwise INTEGER. Times are RFC 3339 texts, flags are 0 and 1.
    package let isText: Bool
    /// Whether the column can be NULL.
    package let isOptional: Bool
  }

  /// As in SQL.
  package let name: String
  /// A description for testers.
  package let comment: String
  /// The columns of the key first.
  package let columns: [Column]
  /// The number of leading columns that form the primary key.
  package let keyLength: Int
}

/// One value of a row.
package enum Cell: Hashable, Sendable {
  /// The value is absent.
  case null
  case integer(Int64)
  case text(String)
}

/// The new rows of one subject, which replace its old rows.
package struct RowChange: Hashable, Sendable {
  /// The table whose rows change.
  package let table: WorldTable
  /// The values of the leading columns that identify the subject; empty for the whole table.
  package let subject: [Cell]
  /// The new rows; empty if the subject is gone.
  package let rows: [[Cell]]
}

/// A table with the conversion of values into rows, so that a column and its value are declared at one place.
struct RowEncoder<Value: Sendable>: Sendable {
  /// A column with the conversion of a value into its cell.
  struct Column: Sendable {
    let description: WorldTable.Column
    let cell: @Sendable (Value) -> Cell

    /// Declares a column whose SQL type follows from the type of its content.
    init<Content: CellContent>(_ name: String, _ content: @escaping @Sendable (Value) -> Content) {
      description = WorldTable.Column(name: name, isText: Content.isText, isOptional: Content.isOptional)
      cell = { content($0).cell }
    }
  }

  let table: WorldTable
  private let columns: [Column]

  /// Declares a table.
  ///
  /// - key: the number of leading columns that form the primary key.
  init(_ name: String, _ comment: String, key: Int, _ columns: [Column]) {
    table = WorldTable(
      name: name, comment: comment, columns: columns.map(\.description), keyLength: key)
    self.columns = columns
  }

  /// Returns a change that replaces the rows of `subject` with those of `values`.
  func change(about subject: any CellContent..., to values: [Value]) -> RowChange {
    RowChange(
      table: table, subject: subject.map(\.cell), rows: values.map { value in columns.map { $0.cell(value) } }
    )
  }
}

/// A type of column values.
protocol CellContent: Sendable {
  /// Whether the column has type TEXT.
  static var isText: Bool { get }
  /// Whether the column can be NULL.
  static var isOptional: Bool { get }
  /// The value as it is stored.
  var cell: Cell { get }
}

extension CellContent {
  static var isOptional: Bool { false }
}

extension Int64: CellContent {
  static var isText: Bool { false }
  var cell: Cell { .integer(self) }
}

extension Int: CellContent {
  static var isText: Bool { false }
  var cell: Cell { .integer(Int64(self)) }
}

extension Bool: CellContent {
  static var isText: Bool { false }
  var cell: Cell { .integer(self ? 1 : 0) }
}

extension String: CellContent {
  static var isText: Bool { true }
  var cell: Cell { .text(self) }
}

extension Instant: CellContent {
  static var isText: Bool { true }
  var cell: Cell { .text(description) }
}

extension JSONObject: CellContent {
  static var isText: Bool { true }
  var cell: Cell { .text(String(decoding: serialized(), as: UTF8.self)) }
}

extension Optional: CellContent where Wrapped: CellContent {
  static var isText: Bool { Wrapped.isText }
  static var isOptional: Bool { true }
  var cell: Cell { self?.cell ?? .null }
}
