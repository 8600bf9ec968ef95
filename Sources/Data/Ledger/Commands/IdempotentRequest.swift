package import AppStore
internal import Platform
package import Store

/// A request with an idempotency key. For 30 days, the same request with the same key of the same caller returns the
/// response to the first one; another request with that key fails. Failed requests are not stored, so that they can be
/// repeated with the same key.
package struct IdempotentRequest: Hashable, Sendable {
  /// The time for which a record counts, in milliseconds: 30 days.
  package static let lifetime: Int64 = 30 * Instant.millisecondsPerDay

  /// The keyed hash of the key and its caller.
  package let keyHash: [UInt8]
  /// The keyed hash of the request without the key.
  let requestHash: [UInt8]
  /// The ids of the customers that the request names.
  let customerIDs: [String]
}

extension EvidenceLedger {
  /// The time by which keys expire: the machine's, because a sandbox must not end those of other environments.
  var keyTime: Instant { clocks[nil].now() }

  /// Identifies a request by its caller, its key and its content. `request` begins with the name of the method, and has
  /// no key.
  package func idempotentRequest(
    key: String, of caller: String, _ request: [UInt8], naming customerIDs: [String]
  ) -> IdempotentRequest {
    IdempotentRequest(
      keyHash: erasures.hash(ofIdempotencyKey: key, of: caller),
      requestHash: erasures.hash(ofIdempotentRequest: request), customerIDs: customerIDs)
  }

  /// Returns the stored response to a request; `nil` if it has to be executed.
  ///
  /// - Throws: as ``Store/StoreTransaction/response(to:at:)``; ``LedgerError/store(_:)``.
  package func storedResponse(to request: IdempotentRequest) async throws(LedgerError) -> [UInt8]? {
    let record = try await read { snapshot throws(StoreError) in
      try snapshot.idempotencyRecord(request.keyHash)
    }
    return try request.response(in: record, at: keyTime)
  }

  /// Stores, before Apple is called, that the result of a request is unknown. A crash or a lost response leaves that
  /// record: the same request calls Apple again, with the same identifier, and another request with the key fails.
  ///
  /// - Returns: the stored response, if another call finished the request meanwhile.
  /// - Throws: as ``storedResponse(to:)``.
  package func begin(
    _ request: IdempotentRequest, _ scope: CommandScope
  ) async throws(LedgerError) -> [UInt8]? {
    let now = keyTime
    let result = try await write { store throws(StoreError) -> Result<[UInt8]?, LedgerError> in
      do throws(LedgerError) {
        if let response = try store.response(to: request, at: now) { return .success(response) }
      } catch {
        return .failure(error)
      }
      try store.put(request, .pending, [], naming: request.customers(in: scope), at: now)
      return .success(nil)
    }
    return try result.get()
  }

  /// Returns whether an earlier call with the key called Apple and never learned the result.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func hasUnknownResult(_ request: IdempotentRequest) async throws(LedgerError) -> Bool {
    let record = try await read { snapshot throws(StoreError) in
      try snapshot.idempotencyRecord(request.keyHash)
    }
    return record?.state == .pending && record?.requestHash == request.requestHash
  }

  /// Deletes the record of a request that Apple rejected, so that its key can be used again.
  ///
  /// - Throws: ``LedgerError/store(_:)``; the key then blocks the same request until it ends with its 30 days.
  package func discard(_ request: IdempotentRequest) async throws(LedgerError) {
    try await write { store throws(StoreError) in try store.deleteIdempotencyRecord(request.keyHash) }
  }
}

extension IdempotentRequest {
  /// The customers that the request names.
  func customers(in scope: CommandScope) -> Set<CustomerKey> {
    Set(
      customerIDs.filter { !$0.isEmpty }.map {
        CustomerKey(appID: scope.appID, environment: scope.environment, customerID: $0)
      })
  }

  /// The response that a record contains.
  fileprivate func response(
    in record: IdempotencyRecord?, at now: Instant
  ) throws(LedgerError) -> [UInt8]? {
    guard let record, record.recordedAt.advanced(byMilliseconds: Self.lifetime) > now else { return nil }
    guard record.state != .erased else { throw .responseErased }
    guard record.requestHash == requestHash else { throw .idempotencyKeyReused }
    guard record.state == .finished else { return nil }
    return try StoredResponse.decode(record.response)
  }
}

extension StoreTransaction {
  /// Returns the stored response to a request; `nil` if it has to be executed.
  ///
  /// - Throws: ``LedgerError/idempotencyKeyReused`` if the key belongs to another request;
  ///   ``LedgerError/responseErased`` if a customer of that request was erased.
  package func response(
    to request: IdempotentRequest, at now: Instant
  ) throws(LedgerError) -> [UInt8]? {
    let record: IdempotencyRecord?
    do { record = try idempotencyRecord(request.keyHash) } catch { throw .store(error) }
    return try request.response(in: record, at: now)
  }

  /// Stores the response to a request, in the transaction of its effects.
  /// `customers` are those that the response names: an erasure of one of them removes the response.
  package func finish(
    _ request: IdempotentRequest, _ response: [UInt8], naming customers: Set<CustomerKey> = [],
    at now: Instant
  ) throws(StoreError) {
    try put(request, .finished, response, naming: customers, at: now)
  }

  fileprivate func put(
    _ request: IdempotentRequest, _ state: IdempotencyRecord.State, _ response: [UInt8],
    naming customers: Set<CustomerKey>, at now: Instant
  ) throws(StoreError) {
    try put(
      IdempotencyRecord(
        keyHash: request.keyHash, requestHash: request.requestHash, state: state,
        response: StoredResponse.encode(response),
        recordedAt: now),
      naming: customers)
  }
}

/// A command with an idempotency key, and the encoded response to its caller.
package struct IdempotentCommand: Sendable {
  let request: IdempotentRequest
  let response: @Sendable (CommandResult) -> [UInt8]

  /// Creates a command of `request`. `response` runs inside the write, so it must have no effect.
  package init(_ request: IdempotentRequest, response: @escaping @Sendable (CommandResult) -> [UInt8]) {
    self.request = request
    self.response = response
  }
}

extension IdempotentCommand {
  /// Returns the result of an earlier execution; `nil` if there is none.
  func repeated(in store: any StoreTransaction, at now: Instant) throws(LedgerError) -> CommandResult? {
    guard let response = try store.response(to: request, at: now) else { return nil }
    var result = CommandResult()
    result.response = response
    result.isRepeated = true
    return result
  }

  /// Stores the response to the command, and returns it.
  func finish(
    _ result: CommandResult, _ scope: CommandScope, in store: any StoreTransaction, at now: Instant
  ) throws(StoreError) -> [UInt8] {
    let response = response(result)
    try store.finish(
      request, response, naming: request.customers(in: scope).union(result.customers(in: scope)), at: now)
    return response
  }
}

extension CommandResult {
  /// The customers that the result names.
  package func customers(in scope: CommandScope) -> Set<CustomerKey> {
    var customers = Set(events.map(\.event.customer))
    for event in events.map(\.event) {
      if let other = event.counterparty { customers.insert(event.customer.other(other.customerID)) }
    }
    if let customer { customers.insert(customer) }
    for id in previousCustomerIDs {
      customers.insert(CustomerKey(appID: scope.appID, environment: scope.environment, customerID: id))
    }
    return customers
  }
}

/// A response in the store. A large one, such as that of a merge with thousands of events, is compressed.
enum StoredResponse {
  /// In bytes; smaller responses gain little.
  private static let threshold = 1_024
  /// In bytes, of a decompressed response.
  private static let limit = 256 << 20
  /// The beginning of gzip (RFC 1952). No serialized message begins with it, because there is no wire type 7.
  private static let magic: [UInt8] = [0x1F, 0x8B]

  static func encode(_ response: [UInt8]) -> [UInt8] {
    guard response.count > threshold, let compressed = gzip(response), compressed.count < response.count
    else { return response }
    return compressed
  }

  static func decode(_ stored: [UInt8]) throws(LedgerError) -> [UInt8] {
    guard stored.starts(with: magic) else { return stored }
    do {
      return try stored.withUnsafeBytes { bytes throws(CompressionError) in try gunzip(bytes, limit: limit) }
    } catch {
      throw .store(.corrupt("stored response: \(error)"))
    }
  }
}
