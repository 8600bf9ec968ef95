package import Store

/// Receives the rows of another store; nothing is visible to others before ``finish()``.
package protocol StoreCopyTarget: AnyObject {
  /// Reads what was written.
  var connection: any SQLConnection { get }

  /// Appends the rows that `next` returns, up to the first `nil`.
  /// `next` returns the values in the order of the table's columns.
  ///
  /// - Throws: the error of `next`, or of the target. The copy must be abandoned then.
  func append(
    to table: TableDefinition, _ next: () throws(StoreError) -> [SQLValue]?
  ) throws(StoreError)

  /// Makes the rows durable, and the target a store.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` or ``StoreError/cannotOpen(path:reason:)`` if the copy is not usable; it
  ///   has become no store then.
  func finish() throws(StoreError)
}

/// A value of a row.
package enum SQLValue: Hashable, Sendable {
  /// NULL.
  case null
  /// An integer; Boolean columns are 0 or 1.
  case number(Int64)
  /// A text, in UTF-8.
  case text(String)
  /// A blob or `bytea`.
  case bytes([UInt8])
}

/// Copies all rows of a store into an empty one of another engine, and compares both.
package enum StoreCopy {
  /// Copies one snapshot of `source`. The target becomes a store only if each of its tables, read again, has the same
  /// rows. Calls `report` with the part that is done, from 0 to 1, after every thousand rows, and `confirm` before the
  /// target becomes a store.
  ///
  /// - Returns: the contents of all tables, and the state hash of both stores.
  /// - Throws: ``StoreError/corrupt(_:)`` if the copy differs; the error of `confirm`.
  package static func run(
    from source: any SQLConnection, to target: any StoreCopyTarget,
    confirm: () throws(StoreError) -> Void = {}, report: (Double) -> Void
  ) throws(StoreError) -> (tables: [TableContent], stateHash: StateHash) {
    let (contents, hash) = try source.inSnapshot { () throws(StoreError) in
      (try copy(from: source, to: target, report), try StateHash(source))
    }
    var compared = 0
    let total = contents.map(\.rows).reduce(0, +)
    for (table, content) in zip(TableDefinition.withData, contents) {
      guard try TableContent(of: table, in: target.connection) == content else {
        throw .corrupt("the copy of the table '\(table.name)' differs from the original")
      }
      compared += content.rows
      report(copyShare + (1 - copyShare) * Double(compared) / Double(max(total, 1)))
    }
    guard try StateHash(target.connection) == hash else {
      throw .corrupt("the copy has another state hash")
    }
    try confirm()
    try target.finish()
    return (contents, hash)
  }

  /// The part of the time that copying takes; comparing takes the rest.
  private static let copyShare = 0.7

  /// Copies all rows, and returns the contents of each table for the comparison with the target. `report` gets the
  /// share that is done, about every 1,000 rows.
  private static func copy(
    from source: any SQLConnection, to target: any StoreCopyTarget, _ report: (Double) -> Void
  ) throws(StoreError) -> [TableContent] {
    var (contents, count): ([TableContent], Int) = ([], 0)
    var total = 0
    for table in TableDefinition.withData { total += try table.count(in: source) }
    for table in TableDefinition.withData {
      var content = TableContent(table.name)
      let rows = try source.prepareScan(table.select)
      defer { rows.reset() }
      try target.append(to: table) { () throws(StoreError) in
        guard try rows.step() else { return nil }
        let row = table.row(of: rows)
        content.add(row)
        count += 1
        if count.isMultiple(of: 1000) { report(copyShare * Double(count) / Double(max(total, 1))) }
        return row
      }
      contents.append(content)
    }
    return contents
  }
}

/// The number of rows of a table, and their digest.
package struct TableContent: Hashable, Sendable {
  /// The name of the table.
  package let table: String
  /// The number of rows that are copied so far.
  package private(set) var rows = 0
  private var sum = RowSum()

  fileprivate init(_ table: String) { self.table = table }

  /// Reads all rows of a table.
  fileprivate init(of table: TableDefinition, in connection: any SQLConnection) throws(StoreError) {
    var content = TableContent(table.name)
    try connection.inSnapshot { () throws(StoreError) in
      let rows = try connection.prepareScan(table.select)
      defer { rows.reset() }
      while try rows.step() { content.add(table.row(of: rows)) }
    }
    self = content
  }

  fileprivate mutating func add(_ row: [SQLValue]) {
    var bytes: [UInt8] = []
    for value in row { bytes.append(part: value.encoded) }
    sum.add(bytes)
    rows += 1
  }
}

extension TableDefinition {
  fileprivate func count(in connection: any SQLConnection) throws(StoreError) -> Int {
    let count = try connection.prepare("SELECT count(*) FROM \(name)")
    defer { count.reset() }
    return try count.step() ? Int(count.number(0)) : 0
  }

  /// The current row of ``select``.
  fileprivate func row(of rows: any SQLStatement) -> [SQLValue] {
    columns.indices.map { index in
      let column = CInt(index)
      guard !rows.isNull(column) else { return .null }
      return switch columns[index].type {
      case .number: .number(rows.number(column))
      case .text: .text(rows.text(column) ?? "")
      case .bytes: .bytes(rows.bytes(column))
      }
    }
  }
}

extension SQLValue {
  /// The type and the value, for digests.
  fileprivate var encoded: [UInt8] {
    switch self {
    case .null: [0]
    case .number(let number): [1] + Array(String(number).utf8)
    case .text(let text): [2] + Array(text.utf8)
    case .bytes(let bytes): [3] + bytes
    }
  }
}
