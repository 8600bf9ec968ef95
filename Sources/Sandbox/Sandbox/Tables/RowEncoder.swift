internal import AppStore
internal import JSON

/// A table, and how the rows of it are made of values.
struct RowEncoder<Value: Sendable>: Sendable {
  /// One column, and what a value has there.
  struct Column: Sendable {
    let description: WorldTable.Column
    let cell: @Sendable (Value) -> Cell

    init<Content: CellContent>(_ name: String, _ content: @escaping @Sendable (Value) -> Content) {
      description = WorldTable.Column(name: name, isText: Content.isText, isOptional: Content.isOptional)
      cell = { content($0).cell }
    }
  }

  let table: WorldTable
  private let columns: [Column]

  /// - key: as ``WorldTable/keyLength``.
  init(_ name: String, _ comment: String, key: Int, _ columns: [Column]) {
    table = WorldTable(
      name: name, comment: comment, columns: columns.map(\.description), keyLength: key)
    self.columns = columns
  }

  /// The rows about a subject are those of `values`, and no others.
  func change(about subject: any CellContent..., to values: [Value]) -> RowChange {
    RowChange(
      table: table, subject: subject.map(\.cell), rows: values.map { value in columns.map { $0.cell(value) } }
    )
  }
}

/// What can stand in a row.
protocol CellContent: Sendable {
  static var isText: Bool { get }
  static var isOptional: Bool { get }
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
