internal import SQLite
internal import Sandbox

/// The writer of the world's tables. It prepares each statement once, because an action changes only a few rows.
final class RowWriter {
  private let connection: Connection
  /// By table name.
  private var insertions: [String: Statement] = [:]
  private var deletions: [Deletion: Statement] = [:]

  /// The statement that deletes the rows of a subject.
  private struct Deletion: Hashable {
    let table: String
    /// The number of columns in the condition.
    let columns: Int
  }

  /// Prepares nothing yet.
  init(_ connection: Connection) { self.connection = connection }

  /// Replaces the tables with empty ones.
  func make(_ tables: [WorldTable]) throws(SandboxError) {
    for table in tables {
      try connection.execute("DROP TABLE IF EXISTS \(table.name); \(table.definition)")
    }
  }

  /// Replaces the rows of a subject.
  func write(_ change: RowChange) throws(SandboxError) {
    let table = change.table
    // INSERT OR REPLACE replaces a row with the same key.
    if change.rows.count != 1 || change.subject.count != table.keyLength {
      try deletion(from: table, byFirst: change.subject.count).run(change.subject)
    }
    guard !change.rows.isEmpty else { return }
    let insertion = try insertion(into: table)
    for row in change.rows { try insertion.run(row) }
  }

  /// The prepared insertion into a table.
  private func insertion(into table: WorldTable) throws(SandboxError) -> Statement {
    if let known = insertions[table.name] { return known }
    let statement = try Statement(table.insertion, on: connection)
    insertions[table.name] = statement
    return statement
  }

  /// The prepared deletion of the rows whose first columns have given values.
  private func deletion(from table: WorldTable, byFirst count: Int) throws(SandboxError) -> Statement {
    let key = Deletion(table: table.name, columns: count)
    if let known = deletions[key] { return known }
    let statement = try Statement(table.deletion(byFirst: count), on: connection)
    deletions[key] = statement
    return statement
  }
}

extension Statement {
  /// Binds the cells in order and runs the statement.
  fileprivate func run(_ cells: [Cell]) throws(SandboxError) {
    for (position, cell) in zip(CInt(1)..., cells) {
      switch cell {
      case .null: try bind(position, String?.none)
      case .integer(let number): try bind(position, number)
      case .text(let text): try bind(position, text)
      }
    }
    try run()
  }
}

extension WorldTable {
  /// The SQL that creates the table, with its comment for testers.
  fileprivate var definition: String {
    let columns = columns.map { column in
      "  \(column.name) \(column.isText ? "TEXT" : "INTEGER")\(column.isOptional ? "" : " NOT NULL"),\n"
    }
    let key = self.columns.prefix(keyLength).map(\.name).joined(separator: ", ")
    return """
      CREATE TABLE \(name) (
        -- \(comment)
      \(columns.joined())  PRIMARY KEY (\(key))
      ) STRICT, WITHOUT ROWID
      """
  }

  /// The SQL that writes one row.
  fileprivate var insertion: String {
    "INSERT OR REPLACE INTO \(name) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
  }

  /// The SQL that deletes by the first columns; by none, all rows.
  fileprivate func deletion(byFirst count: Int) -> String {
    guard count > 0 else { return "DELETE FROM \(name)" }
    return "DELETE FROM \(name) WHERE "
      + columns.prefix(count).map { "\($0.name) = ?" }.joined(separator: " AND ")
  }
}
