internal import Bytes
internal import Ledger
internal import Platform
internal import RPC
internal import Store
internal import Wire

/// A request whose sender may repeat it with the same idempotency key. The generator declares the conformances.
protocol RepeatableRequest: WireMessage {
  /// The response, which is stored under the key.
  associatedtype Response: RepeatedResponse

  /// Chosen by the sender; empty without one.
  var idempotencyKey: String { get set }
  /// The ids of the customers that the request names. Erasing one of them erases the stored response too.
  var namedCustomers: [String] { get }
}

/// The idempotency key of one call, and the stored response to it.
///
/// A handler first returns ``storedResponse()``, before it checks the request: a request that was executed returns the
/// same response even if it would be invalid now. Its write checks the key again, so of concurrent calls one is executed.
struct Idempotency<Request: RepeatableRequest>: Sendable {
  private let ledger: EvidenceLedger
  /// `nil` without a key.
  let request: IdempotentRequest?
  /// Whether the caller gave the key; otherwise the response is never a repeated one to it.
  private let isGiven: Bool

  /// The key of a request, or the one that ``InboxWorker`` gives to a request without it. The stored hash is that of
  /// the request without its key: another request with the same key fails with `IDEMPOTENCY_KEY_REUSED`.
  init(of request: Request, _ call: CallContext, _ context: ServiceContext) {
    ledger = context.ledger
    isGiven = !request.idempotencyKey.isEmpty
    guard let key = isGiven ? request.idempotencyKey : CallScope.current?.idempotencyKey else {
      self.request = nil
      return
    }
    var content = request
    content.idempotencyKey = ""
    self.request = ledger.idempotentRequest(
      key: key, of: call.caller,
      Array(Request.messageType.name.utf8) + [0] + content.encodedBytes(), naming: request.namedCustomers)
  }

  /// The response to an earlier call; `nil` if the request has to be executed.
  ///
  /// - Throws: `IDEMPOTENCY_KEY_REUSED`, `RESPONSE_ERASED`, and the status of an error of the store.
  func storedResponse() async throws(Status) -> Request.Response? {
    guard let request else { return nil }
    let stored = try await mapLedgerError { () async throws(LedgerError) in
      try await ledger.storedResponse(to: request)
    }
    return try stored.map(repeated)
  }

  /// Runs a command and returns its response, or the stored one if another call was faster. `response` must have no
  /// effect, because the write may run it again. `afterApple`: Apple has executed the request, so a failure of the store
  /// does not mean that nothing happened.
  func run(
    _ scope: CommandScope, afterApple: Bool = false,
    _ command: (CommandScope) async throws(LedgerError) -> CommandResult,
    response: @escaping @Sendable (CommandResult) -> Request.Response
  ) async throws(Status) -> Request.Response {
    var scope = scope
    scope.idempotency = self.command(response)
    let result: CommandResult
    do throws(LedgerError) { result = try await command(scope) } catch {
      throw afterApple ? Status(error).afterPossibleEffect : Status(error)
    }
    CallScope.show(result.customers(in: scope).map(\.customerID).sorted())
    guard let bytes = result.response else { return response(result) }
    return try Self.response(bytes, isRepeated: result.isRepeated && isGiven)
  }

  /// The command that stores `response` under the key; `nil` without a key.
  func command(
    _ response: @escaping @Sendable (CommandResult) -> Request.Response
  ) -> IdempotentCommand? {
    request.map { request in IdempotentCommand(request) { response($0).encodedBytes() } }
  }

  /// Decodes the stored response of another call with the key.
  func repeated(_ bytes: [UInt8]) throws(Status) -> Request.Response {
    try Self.response(bytes, isRepeated: isGiven)
  }

  /// Decodes a stored response and marks it as repeated.
  ///
  /// - Throws: `STORED_RESPONSE_MALFORMED`.
  private static func response(_ bytes: [UInt8], isRepeated: Bool) throws(Status) -> Request.Response {
    do throws(WireError) {
      var response = try Request.Response.decode(bytes)
      response.repeated = isRepeated
      return response
    } catch {
      var status = Status(
        .dataLoss, reason: "STORED_RESPONSE_MALFORMED", "the stored response cannot be read")
      status.cause = "\(error)"
      throw status
    }
  }
}

extension ServiceContext {
  /// The request as evidence stores it, and its idempotency key.
  func attributed<Request: RepeatableRequest & ActorRequest>(
    _ request: Request, to call: CallContext
  ) -> (request: Request, once: Idempotency<Request>) {
    let request = request.attributed(to: call)
    return (request, Idempotency(of: request, call, self))
  }
}

// Requests that call Apple, which takes time and may end without a response.
extension Idempotency {
  /// Runs `body` unless a response is stored. A concurrent call with the same key waits for the first one, and then
  /// returns its response.
  func runExclusively(
    _ locks: KeyLocks, _ body: () async throws(Status) -> Request.Response
  ) async throws(Status) -> Request.Response {
    guard let request else { return try await body() }
    return try await locks.holding(Hex.encode(request.keyHash)) { () async throws(Status) in
      if let stored = try await storedResponse() { return stored }
      return try await body()
    }
  }

  /// Stores that the result at Apple is unknown until ``run(_:afterApple:_:response:)`` stores the response.
  func begin(_ scope: CommandScope) async throws(Status) {
    guard let request else { return }
    _ = try await mapLedgerError { () async throws(LedgerError) in try await ledger.begin(request, scope) }
  }

  /// Returns whether an earlier call with the key called Apple, and did not learn the result.
  func hasUnknownResult() async throws(Status) -> Bool {
    guard let request else { return false }
    return try await mapLedgerError { () async throws(LedgerError) in
      try await ledger.hasUnknownResult(request)
    }
  }

  /// Deletes the record of ``begin(_:)``, because Apple rejected the request.
  func discard() async throws(Status) {
    guard let request else { return }
    try await mapLedgerError { () async throws(LedgerError) in try await ledger.discard(request) }
  }

  /// Apple's name of the request: the given one, or a UUID (RFC 9562, version 8) that depends on the key and its caller
  /// only. Apple recognizes a request that is sent again by it.
  ///
  /// - Throws: `MISSING_FIELD` without a name and without a key of the sender.
  func requestIdentifier(
    _ given: String, field: String = "request_identifier"
  ) throws(Status) -> String {
    guard given.isEmpty else { return given }
    guard isGiven, let request else { throw .missingField(field, "\(field) and idempotency_key are empty") }
    var digits = Array(Hex.encode(request.keyHash).prefix(32))
    digits[12] = "8"
    digits[16] = "8"
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }
}
