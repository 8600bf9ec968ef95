internal import CPostgreSQL

extension PostgresConnection {
  /// Appends many rows to a table by `COPY` in binary format, the fastest way to load data.
  ///
  /// The types of the values must be those of the columns. If `body` throws, nothing is written.
  ///
  /// - Returns: the number of rows.
  @discardableResult
  package func copy(
    into table: String, columns: [String],
    _ body: (inout PostgresCopy<Failure>) throws(Failure) -> Void
  ) throws(Failure) -> Int64 {
    let names = columns.map(quotedIdentifier).joined(separator: ", ")
    let sql = "COPY \(quotedIdentifier(table)) (\(names)) FROM STDIN (FORMAT binary)"
    let session = session
    try converting { () throws(PostgresError) in try session.beginCopy(sql) }
    var copy = PostgresCopy<Failure>(session)
    do throws(Failure) {
      try body(&copy)
      try copy.finish()
    } catch {
      try? session.cancelCopy()
      throw error
    }
    return try converting { () throws(PostgresError) in try session.endCopy() }
  }
}

/// Receives the rows of a copy.
package struct PostgresCopy<Failure: PostgresErrorConvertible> {
  /// The size at which rows are sent.
  private static var chunk: Int { 64 << 10 }

  private let session: PostgresSession
  /// Begins with the signature, flags and the length of the header's extension.
  private var buffer: [UInt8] =
    Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
  private var value: [UInt8] = []

  init(_ session: PostgresSession) { self.session = session }

  /// Appends a row: one value for each column.
  /// Sends rows in pieces of 64 KiB, so an error of an earlier row may appear at a later one or at the end.
  package mutating func append(_ row: [PostgresValue]) throws(Failure) {
    buffer.append(bigEndian: Int16(row.count))
    for column in row {
      value.removeAll(keepingCapacity: true)
      let isNull = !column.encode(into: &value)
      buffer.append(bigEndian: Int32(isNull ? -1 : value.count))
      buffer += value
    }
    if buffer.count >= Self.chunk { try send() }
  }

  /// Ends the rows.
  fileprivate mutating func finish() throws(Failure) {
    buffer.append(bigEndian: Int16(-1))
    try send()
  }

  private mutating func send() throws(Failure) {
    do throws(PostgresError) {
      try session.sendCopy(buffer)
    } catch {
      throw Failure(error)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

extension PostgresSession {
  fileprivate func beginCopy(_ sql: String) throws(PostgresError) {
    // Nothing is committed before the end of the rows.
    try roundTrip([.reads]) { (handle, wait) throws(PostgresError) in
      try handle.sendSimple(sql)
      try wait.flush(handle)
      switch try wait.next(handle) {
      case .copyIn: return .success(())
      case .failed(let error):
        _ = try Self.simpleResult(on: handle, wait)
        return .failure(error)
      default: throw .unexpectedResult
      }
    }
  }

  fileprivate func sendCopy(_ bytes: [UInt8]) throws(PostgresError) {
    try roundTrip([.reads]) { (handle, wait) throws(PostgresError) in
      while try !handle.putCopyData(bytes) { try wait.flush(handle) }
      // Otherwise libpq would keep what the server does not read yet.
      try wait.flush(handle)
      return .success(())
    }
  }

  fileprivate func endCopy() throws(PostgresError) -> Int64 {
    try roundTrip([.writes]) { (handle, wait) throws(PostgresError) in
      while try !handle.putCopyEnd(error: nil) { try wait.flush(handle) }
      try wait.flush(handle)
      return try Self.simpleResult(on: handle, wait).map { $0?.changedRows ?? 0 }
    }
  }

  /// Ends the copy with an error, after which the server has none of its rows.
  fileprivate func cancelCopy() throws(PostgresError) {
    try roundTrip([.reads]) { (handle, wait) throws(PostgresError) in
      while try !handle.putCopyEnd(error: "cancelled") { try wait.flush(handle) }
      try wait.flush(handle)
      // The error is the one that was sent.
      _ = try Self.simpleResult(on: handle, wait)
      return .success(())
    }
  }
}

extension SessionHandle {
  /// Returns `false` if the buffer must be flushed first.
  fileprivate func putCopyData(_ bytes: [UInt8]) throws(PostgresError) -> Bool {
    let result = bytes.withUnsafeBytes { bytes in
      PQputCopyData(handle, bytes.assumingMemoryBound(to: CChar.self).baseAddress, CInt(bytes.count))
    }
    return try hasQueued(result)
  }

  /// Ends the copy, which fails on the server if there is an `error`.
  fileprivate func putCopyEnd(error: String?) throws(PostgresError) -> Bool {
    try hasQueued(PQputCopyEnd(handle, error))
  }

  private func hasQueued(_ result: CInt) throws(PostgresError) -> Bool {
    guard result >= 0 else { throw lost }
    return result == 1
  }
}
