internal import CSQLite3
package import Store

/// A SQL statement, prepared once and run many times.
package final class Statement {
  private let connection: Connection
  private let handle: OpaquePointer

  package init(_ sql: String, on connection: Connection) throws(StoreError) {
    var handle: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    try check(sqlite3_prepare_v3(connection.handle, sql, -1, flags, &handle, nil), connection.handle)
    guard let handle else { throw .failed("no statement in: \(sql)") }
    self.connection = connection
    self.handle = handle
  }

  deinit { sqlite3_finalize(handle) }

  /// Steps to the next row.
  ///
  /// - Returns: whether there is a row. After `true` or an error, the caller must call ``reset()``.
  package func step() throws(StoreError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw failure(result, connection.handle)
    }
  }

  /// Resets the statement, so that it can run again and releases its read lock. The parameters stay bound.
  package func reset() { sqlite3_reset(handle) }

  /// Runs a statement without result rows, and resets it.
  package func run() throws(StoreError) {
    defer { reset() }
    while try step() {}
  }
}

// Parameters, counted from 1. SQLite copies texts and blobs, so they need not outlive the call.
extension Statement {
  package func bind(_ position: CInt, _ text: String) throws(StoreError) {
    var text = text
    let result = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        let count = UInt64(characters.count)
        return sqlite3_bind_text64(
          handle, position, characters.baseAddress, count, copied, UInt8(SQLITE_UTF8))
      }
    }
    try check(result, connection.handle)
  }

  package func bind(_ position: CInt, _ text: String?) throws(StoreError) {
    guard let text else { return try check(sqlite3_bind_null(handle, position), connection.handle) }
    try bind(position, text)
  }

  package func bind(_ position: CInt, _ number: Int64) throws(StoreError) {
    try check(sqlite3_bind_int64(handle, position, number), connection.handle)
  }

  package func bind(_ position: CInt, _ number: Int64?) throws(StoreError) {
    guard let number else { return try check(sqlite3_bind_null(handle, position), connection.handle) }
    try bind(position, number)
  }

  package func bind(_ position: CInt, _ bytes: [UInt8]?) throws(StoreError) {
    guard let bytes else { return try check(sqlite3_bind_null(handle, position), connection.handle) }
    guard !bytes.isEmpty else {
      return try check(sqlite3_bind_zeroblob(handle, position, 0), connection.handle)
    }
    let result = sqlite3_bind_blob64(handle, position, bytes, UInt64(bytes.count), copied)
    try check(result, connection.handle)
  }
}

// Columns of the current row, counted from 0.
extension Statement {
  package func number(_ column: CInt) -> Int64 { sqlite3_column_int64(handle, column) }

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

  /// Calls `body` with SQLite's own buffer, without a copy; empty for NULL.
  package func withBytes<Value, Failure: Error>(
    _ column: CInt, _ body: (Span<UInt8>) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    // `sqlite3_column_blob` may convert the value, so the number of bytes is valid only after it.
    let start = sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
    let count = Int(sqlite3_column_bytes(handle, column))
    return try body(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count).span)
  }

  package func isNumber(_ column: CInt) -> Bool { sqlite3_column_type(handle, column) == SQLITE_INTEGER }

  package func isNull(_ column: CInt) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
}

/// `SQLITE_TRANSIENT`, a macro that Swift cannot import: SQLite copies the bytes before it returns.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
