internal import CSQLite3

/// A SQL statement, prepared once and run many times. It keeps its connection open.
package final class SQLiteStatement<Failure: SQLiteErrorConvertible> {
  private let connection: SQLiteConnection<Failure>
  private let handle: OpaquePointer
  /// The short texts that are bound, by position: most rows have the same app and environment as the one before.
  // Only one thread uses a statement, and no call of this type calls it again.
  @exclusivity(unchecked) private var shortTexts: [String?]

  /// Prepares the first statement of `sql`; throws if it names unknown tables or columns.
  package init(_ sql: String, on connection: SQLiteConnection<Failure>) throws(Failure) {
    var handle: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    try connection.check(sqlite3_prepare_v3(connection.handle, sql, -1, flags, &handle, nil))
    guard let handle else { throw connection.misuse("no statement in: \(sql)") }
    self.connection = connection
    self.handle = handle
    shortTexts = Array(repeating: nil, count: Int(sqlite3_bind_parameter_count(handle)) + 1)
  }

  deinit { sqlite3_finalize(handle) }

  /// Steps to the next row.
  ///
  /// - Returns: whether there is a row. After `true` or an error, the caller must call ``reset()``.
  package func step() throws(Failure) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw connection.failure(result)
    }
  }

  /// Resets the statement, so that it can run again and releases its read lock. The parameters stay bound.
  package func reset() { sqlite3_reset(handle) }

  /// Runs a statement without result rows, and resets it.
  package func run() throws(Failure) {
    defer { reset() }
    while try step() {}
  }

  /// As ``run()``. Returns the number of inserted, updated or deleted rows.
  package func runCounting() throws(Failure) -> Int64 {
    try run()
    return connection.changedRows
  }
}

// Parameters, counted from 1. SQLite copies texts and blobs, so they need not outlive the call.
extension SQLiteStatement {
  /// Binds a text as UTF-8. An unknown position throws (`SQLITE_RANGE`).
  package func bind(_ position: CInt, _ text: String) throws(Failure) {
    // A string of this size is compared without reading memory.
    let isShort = text.utf8.count <= 15
    if isShort, shortTexts.indices.contains(Int(position)), let bound = shortTexts[Int(position)],
      Self.hasSameBytes(bound, text)
    {
      return
    }
    try bindAgain(position, text)
    if isShort { shortTexts[Int(position)] = text }
  }

  /// Strings of different bytes can be equal, such as two forms of an accent.
  private static func hasSameBytes(_ one: String, _ other: String) -> Bool {
    let isEqual = one.utf8.withContiguousStorageIfAvailable { bytes in
      other.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
    }
    return isEqual.flatMap(\.self) ?? false
  }

  private func bindAgain(_ position: CInt, _ text: String) throws(Failure) {
    forgetText(position)
    var text = text
    let result = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        let count = UInt64(characters.count)
        return sqlite3_bind_text64(
          handle, position, characters.baseAddress, count, copied, UInt8(SQLITE_UTF8))
      }
    }
    try connection.check(result)
  }

  private func forgetText(_ position: CInt) {
    if shortTexts.indices.contains(Int(position)) { shortTexts[Int(position)] = nil }
  }

  private func bindNull(_ position: CInt) throws(Failure) {
    forgetText(position)
    try connection.check(sqlite3_bind_null(handle, position))
  }

  /// Binds a text, or NULL.
  package func bind(_ position: CInt, _ text: String?) throws(Failure) {
    guard let text else { return try bindNull(position) }
    try bind(position, text)
  }

  /// Binds a 64-bit integer.
  package func bind(_ position: CInt, _ number: Int64) throws(Failure) {
    forgetText(position)
    try connection.check(sqlite3_bind_int64(handle, position, number))
  }

  /// Binds a 64-bit integer, or NULL.
  package func bind(_ position: CInt, _ number: Int64?) throws(Failure) {
    guard let number else { return try bindNull(position) }
    try bind(position, number)
  }

  /// Binds a blob, or NULL; an empty array is an empty blob.
  /// SQLite copies the bytes.
  package func bind(_ position: CInt, _ bytes: [UInt8]?) throws(Failure) {
    guard let bytes else { return try bindNull(position) }
    forgetText(position)
    guard !bytes.isEmpty else {
      return try connection.check(sqlite3_bind_zeroblob(handle, position, 0))
    }
    let result = sqlite3_bind_blob64(handle, position, bytes, UInt64(bytes.count), copied)
    try connection.check(result)
  }
}

// Columns of the current row, counted from 0.
extension SQLiteStatement {
  /// Returns an integer; 0 for NULL.
  package func number(_ column: CInt) -> Int64 { sqlite3_column_int64(handle, column) }

  /// Returns a text; `nil` for NULL.
  package func text(_ column: CInt) -> String? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Returns the bytes of a blob; empty for NULL.
  package func bytes(_ column: CInt) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  /// Returns SQLite's own buffer, valid until the next call of this statement; empty for NULL.
  package func borrowedBytes(_ column: CInt) -> UnsafeBufferPointer<UInt8> {
    // `sqlite3_column_blob` may convert the value, so the number of bytes is valid only after it.
    let start = sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
    let count = Int(sqlite3_column_bytes(handle, column))
    return UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// Whether the value is an integer.
  package func isNumber(_ column: CInt) -> Bool { sqlite3_column_type(handle, column) == SQLITE_INTEGER }

  /// Whether the value is NULL.
  package func isNull(_ column: CInt) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
}

/// `SQLITE_TRANSIENT`, a macro that Swift cannot import: SQLite copies the bytes before it returns.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
