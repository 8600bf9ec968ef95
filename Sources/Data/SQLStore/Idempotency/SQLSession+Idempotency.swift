internal import AppStore
internal import Store

// Requests with idempotency keys.
extension SQLReader {
  func idempotencyRecord(_ keyHash: [UInt8]) throws(StoreError) -> IdempotencyRecord? {
    try KeyedRead<[UInt8], IdempotencyRecord?>.idempotencyRecords(on: use(), in: nil)(keyHash)
  }
}

extension KeyedRead<[UInt8], IdempotencyRecord?> {
  /// Reads records by the hash of their key.
  static func idempotencyRecords(
    on connection: any SQLConnection, in workspace: Workspace?
  ) throws(StoreError) -> KeyedRead {
    try KeyedRead(
      "SELECT request_hash, state, response, recorded_at FROM idempotency WHERE key_hash = ?",
      on: connection, in: workspace
    ) { keyHash, row throws(StoreError) in
      guard try row.step() else { return nil }
      return IdempotencyRecord(
        keyHash: keyHash, requestHash: row.bytes(0), state: try row.value(1), response: row.bytes(2),
        recordedAt: Instant(millisecondsSince1970: row.number(3)))
    }
  }
}

extension SQLTransaction {
  func idempotencyRecord(_ keyHash: [UInt8]) throws(StoreError) -> IdempotencyRecord? {
    try idempotency(keyHash)
  }

  func put(_ record: IdempotencyRecord, naming customers: Set<CustomerKey>) throws(StoreError) {
    // A response may be long, and most are never read.
    idempotency.discard(record.keyHash)
    try run(
      """
      INSERT INTO idempotency (key_hash, request_hash, state, response, recorded_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (key_hash) DO UPDATE SET
        request_hash = excluded.request_hash, state = excluded.state, response = excluded.response,
        recorded_at = excluded.recorded_at
      """, record.keyHash, record.requestHash, record.state.rawValue, record.response, record.recordedAt)
    for customer in customers {
      try run(
        "INSERT INTO idempotency_customer VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", customer,
        record.keyHash)
    }
  }

  func deleteIdempotencyRecord(_ keyHash: [UInt8]) throws(StoreError) {
    idempotency.discard(keyHash)
    try run("DELETE FROM idempotency_customer WHERE key_hash = ?", keyHash)
    try run("DELETE FROM idempotency WHERE key_hash = ?", keyHash)
  }

  @discardableResult
  func deleteIdempotencyRecords(before instant: Instant, limit: Int) throws(StoreError) -> Int {
    let expired = try rows(
      "SELECT key_hash FROM idempotency WHERE recorded_at < ? ORDER BY recorded_at LIMIT ?", instant, limit
    ) { $0.bytes(0) }
    for keyHash in expired { try deleteIdempotencyRecord(keyHash) }
    return expired.count
  }

  /// Removes what the requests that name a customer contain about it. The hash of the key stays, so that a repeated
  /// request is not executed again.
  ///
  /// - Returns: the number of changed rows.
  func eraseIdempotencyRecords(naming customer: CustomerKey) throws(StoreError) -> Int64 {
    let ofCustomer = "customer_id = ? AND app = ? AND environment = ?"
    let changed = try runCounting(
      """
      UPDATE idempotency SET state = '\(IdempotencyRecord.State.erased.rawValue)', request_hash = ?, response = ?
      WHERE key_hash IN (SELECT key_hash FROM idempotency_customer WHERE \(ofCustomer))
      """, [UInt8](), [UInt8](), customer)
    return changed + (try runCounting("DELETE FROM idempotency_customer WHERE \(ofCustomer)", customer))
  }
}
