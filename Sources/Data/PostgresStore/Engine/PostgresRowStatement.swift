internal import PostgreSQL
internal import SQLStore
internal import Store

/// A statement of the row logic on PostgreSQL. The first step receives all rows.
final class PostgresRowStatement: SQLStatement {
  private let database: PostgresDatabase
  private let statement: PostgresStatement<StoreError>
  private var found: FetchedRows?
  private var position = -1
  /// The current row of the result.
  private var row = 0

  init(_ sql: String, _ database: PostgresDatabase) {
    self.database = database
    statement = PostgresStatement(sql, on: database.connection)
  }

  /// Sends the statement with the first step, or takes rows that were fetched for it before.
  func step() throws(StoreError) -> Bool {
    let found = if let found { found } else { try database.result(of: statement.request) }
    self.found = found
    position += 1
    guard position < found.count else { return false }
    row = found.number(of: position)
    return true
  }

  private var rows: PostgresRows? { found?.rows }

  /// Adds the statement to the set that one round trip fetches.
  func enqueue() { database.enqueue(statement.request) }

  func reset() {
    found = nil
    position = -1
  }

  /// Defers the statement until the next one whose result matters, or the commit.
  func run() throws(StoreError) { try database.run(statement.request) }

  /// Sends the statement at once, because the count of rows is its result.
  func runCounting() throws(StoreError) -> Int64 { try database.send(statement.request).changedRows }

  func bind(_ position: CInt, _ text: String) { statement.bind(position, text) }
  func bind(_ position: CInt, _ text: String?) { statement.bind(position, text) }
  func bind(_ position: CInt, _ number: Int64) { statement.bind(position, number) }
  func bind(_ position: CInt, _ number: Int64?) { statement.bind(position, number) }
  func bind(_ position: CInt, _ bytes: [UInt8]?) { statement.bind(position, bytes) }

  func number(_ column: CInt) -> Int64 { rows?.number(row, column) ?? 0 }
  func text(_ column: CInt) -> String? { rows?.text(row, column) }
  func bytes(_ column: CInt) -> [UInt8] { rows?.bytes(row, column) ?? [] }
  func borrowedBytes(_ column: CInt) -> UnsafeBufferPointer<UInt8> {
    rows?.borrowedBytes(row, column) ?? UnsafeBufferPointer(start: nil, count: 0)
  }
  func isNumber(_ column: CInt) -> Bool { rows?.isNumber(row, column) ?? false }
  func isNull(_ column: CInt) -> Bool { rows?.isNull(row, column) ?? true }
}
