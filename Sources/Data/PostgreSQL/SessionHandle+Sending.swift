internal import CPostgreSQL

/// The messages that were sent for one request.
struct SentRequest {
  /// The statement, and whether it was prepared in front of this request.
  let key: PreparedStatements.Key
  let isNew: Bool
  /// The number of commands, each with a result.
  var commandCount: Int { isNew ? 2 : 1 }
}

// Sending fills libpq's buffer; ``flush()`` empties it into the socket.
extension SessionHandle {
  /// Begins to send requests without waiting for the result of each.
  func enterPipeline() throws(PostgresError) { try check(PQenterPipelineMode(handle)) }

  /// Ends the pipeline, after all its results were read.
  func exitPipeline() throws(PostgresError) { try check(PQexitPipelineMode(handle)) }

  /// Ends the implicit transaction of the requests before, and makes the server send their results.
  func sendSync() throws(PostgresError) { try check(PQpipelineSync(handle)) }

  /// Sends several statements as one text, outside a pipeline.
  func sendSimple(_ sql: String) throws(PostgresError) { try check(PQsendQuery(handle, sql)) }

  /// Sends a request inside a pipeline. If `isNamed`, its statement is prepared at its first use.
  func send(_ request: PostgresRequest, isNamed: Bool) throws(PostgresError) -> SentRequest {
    let types = request.parameters.map(\.type.rawValue)
    let key = PreparedStatements.Key(sql: request.sql, types: types)
    let (count, values, lengths) = encode(request.parameters)
    let formats = [CInt](repeating: 1, count: types.count)
    guard isNamed, let (name, isNew) = prepared.name(of: key) else {
      let result = scratch.withUnsafeBytes { bytes in
        PQsendQueryParams(handle, request.sql, count, types, values.pointers(in: bytes), lengths, formats, 1)
      }
      try check(result)
      return SentRequest(key: key, isNew: false)
    }
    if isNew { try check(PQsendPrepare(handle, name, request.sql, count, types)) }
    let result = scratch.withUnsafeBytes { bytes in
      PQsendQueryPrepared(handle, name, count, values.pointers(in: bytes), lengths, formats, 1)
    }
    try check(result)
    return SentRequest(key: key, isNew: isNew)
  }

  /// Prepares the statement of a request again at its next use, if the failed request `sent` was to prepare it, or if
  /// the server has no valid plan of it (after a change of tables, `0A000`, or without the statement, `26000`).
  func discardStatement(of sent: SentRequest, after error: PostgresError) {
    if sent.isNew || error.sqlState == "0A000" || error.sqlState == "26000" { prepared.remove(sent.key) }
  }

  /// Writes libpq's buffer to the socket.
  ///
  /// - Returns: whether the buffer is empty; otherwise the socket must become writable first.
  func flush() throws(PostgresError) -> Bool {
    let result = PQflush(handle)
    guard result >= 0 else { throw lost }
    return result == 0
  }

  /// Encodes parameters into ``scratch``.
  private func encode(_ parameters: [PostgresValue]) -> (count: CInt, values: [Int?], lengths: [CInt]) {
    scratch.removeAll(keepingCapacity: true)
    var values: [Int?] = []
    var lengths: [CInt] = []
    for parameter in parameters {
      let start = scratch.count
      values.append(parameter.encode(into: &scratch) ? start : nil)
      lengths.append(CInt(scratch.count - start))
    }
    // An empty buffer has no address, which libpq would read as NULL.
    if scratch.isEmpty { scratch.append(0) }
    return (CInt(parameters.count), values, lengths)
  }

  func check(_ result: CInt) throws(PostgresError) {
    guard result != 1 else { return }
    throw isLost ? lost : PostgresError(.misuse, lastMessage)
  }

  /// The error of a session that the server or the network ended.
  var lost: PostgresError {
    PostgresError(.unavailable, lastMessage.isEmpty ? "the connection was lost" : lastMessage)
  }
}

extension [Int?] {
  /// Returns the address of each offset in `bytes`, null for `nil`.
  fileprivate func pointers(in bytes: UnsafeRawBufferPointer) -> [UnsafePointer<CChar>?] {
    map { offset in
      offset.flatMap { bytes.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
    }
  }
}
