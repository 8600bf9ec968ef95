package import AppStore

/// A request that arrived with an idempotency key. It contains neither the key nor the request, only their hashes.
package struct IdempotencyRecord: Hashable, Sendable {
  /// The progress of the request. The raw values are stored: never change one.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// Apple was called, and the result is unknown until the same request is repeated.
    case pending = "PENDING"
    /// The effects and the response are committed.
    case finished = "FINISHED"
    /// A customer was erased that the request or its response names.
    case erased = "ERASED"
  }

  /// The keyed hash of the key and its caller.
  package let keyHash: [UInt8]
  /// The keyed hash of the request without the key; empty for ``State/erased``.
  package let requestHash: [UInt8]
  /// The progress of the request.
  package let state: State
  /// The encoded response; empty unless ``State/finished``.
  package let response: [UInt8]
  /// When the request was executed first.
  package let recordedAt: Instant

  /// Creates a record from its parts.
  package init(
    keyHash: [UInt8], requestHash: [UInt8], state: State, response: [UInt8] = [], recordedAt: Instant
  ) {
    self.keyHash = keyHash
    self.requestHash = requestHash
    self.state = state
    self.response = response
    self.recordedAt = recordedAt
  }
}

/// Reads requests with idempotency keys.
package protocol IdempotencyReader {
  /// Returns the record of a key, whatever its age; `nil` if there is none.
  func idempotencyRecord(_ keyHash: [UInt8]) throws(StoreError) -> IdempotencyRecord?
}

/// Stores requests with idempotency keys, in the transaction of their effects. They are not derived from evidence.
package protocol IdempotencyStore: IdempotencyReader {
  /// Stores or replaces a record. `customers` are those that the request or its response names;
  /// ``ErasureStore/erase(_:as:)`` removes both hash and response of their records.
  func put(_ record: IdempotencyRecord, naming customers: Set<CustomerKey>) throws(StoreError)

  /// Deletes the record of a key, if there is one.
  func deleteIdempotencyRecord(_ keyHash: [UInt8]) throws(StoreError)

  /// Deletes at most `limit` records from before `instant`, oldest first.
  ///
  /// - Returns: the number of deleted records.
  @discardableResult
  func deleteIdempotencyRecords(before instant: Instant, limit: Int) throws(StoreError) -> Int
}
