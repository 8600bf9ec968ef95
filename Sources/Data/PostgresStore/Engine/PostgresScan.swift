internal import PostgreSQL
internal import SQLStore
internal import Store

/// A query of the row logic whose result is read in pages, with a cursor of the open transaction.
final class PostgresScan: SQLStatement {
  /// The number of rows in memory at one time.
  private static let pageSize = 1000

  private let database: PostgresDatabase
  private let sql: String
  private let cursor: String
  private var isOpen = false
  private var rows: PostgresRows?
  private var row = -1

  /// `number` makes the name of the cursor unique in its session.
  init(_ sql: String, number: Int, _ database: PostgresDatabase) {
    self.database = database
    self.sql = sql
    cursor = "scan_\(number)"
  }

  /// Fetches the next page when the rows of the last one are used up. The cursor belongs to the open transaction.
  func step() throws(StoreError) -> Bool {
    if !isOpen {
      try database.run(PostgresRequest("DECLARE \(cursor) NO SCROLL CURSOR FOR \(sql)"))
      isOpen = true
    }
    row += 1
    if let rows, row < rows.count { return true }
    if let rows, rows.count < Self.pageSize { return false }
    rows = try database.send(PostgresRequest("FETCH FORWARD \(Self.pageSize) FROM \(cursor)"))
    row = 0
    return rows?.count ?? 0 > 0
  }

  /// Closes the cursor; after the end of its transaction, the server has done so.
  func reset() {
    // The end of a transaction closes its cursors.
    if isOpen, database.isInTransaction { try? database.run(PostgresRequest("CLOSE \(cursor)")) }
    isOpen = false
    rows = nil
    row = -1
  }

  /// A scan is not fetched with others.
  func enqueue() {}

  /// Reads the scan to its end.
  func run() throws(StoreError) {
    reset()
    while try step() {}
    reset()
  }

  func runCounting() throws(StoreError) -> Int64 {
    try run()
    return 0
  }

  // A scan has no parameters.
  func bind(_ position: CInt, _ text: String) throws(StoreError) { throw .noParameters }
  func bind(_ position: CInt, _ text: String?) throws(StoreError) { throw .noParameters }
  func bind(_ position: CInt, _ number: Int64) throws(StoreError) { throw .noParameters }
  func bind(_ position: CInt, _ number: Int64?) throws(StoreError) { throw .noParameters }
  func bind(_ position: CInt, _ bytes: [UInt8]?) throws(StoreError) { throw .noParameters }

  func number(_ column: CInt) -> Int64 { rows?.number(row, column) ?? 0 }
  func text(_ column: CInt) -> String? { rows?.text(row, column) }
  func bytes(_ column: CInt) -> [UInt8] { rows?.bytes(row, column) ?? [] }
  func borrowedBytes(_ column: CInt) -> UnsafeBufferPointer<UInt8> {
    rows?.borrowedBytes(row, column) ?? UnsafeBufferPointer(start: nil, count: 0)
  }
  func isNumber(_ column: CInt) -> Bool { rows?.isNumber(row, column) ?? false }
  func isNull(_ column: CInt) -> Bool { rows?.isNull(row, column) ?? true }
}

extension StoreError {
  fileprivate static let noParameters = StoreError.failed("a scan has no parameters")
}
