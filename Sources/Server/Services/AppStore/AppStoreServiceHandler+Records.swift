internal import AppStore
internal import AppStoreClient
internal import Bytes
internal import Entitlements
internal import JSON
internal import Ledger
internal import RPC
internal import SignedData

// Each call that changes data at Apple is stored as evidence: the operator, the request and Apple's response.
extension AppStoreServiceHandler {
  /// The metadata stored with a call, besides the request and the response.
  struct Record: Sendable {
    /// The method of the contract, such as `ExtendRenewalDate`, by which timelines and erasures recognize the call.
    let method: String
    /// The purchase, in whose timeline the call is; empty if the call is about several.
    let originalTransactionID: String
    /// The operator, as ``Wire/ActorRequest/attributed(to:)`` returns it.
    let actor: String
    /// The reason that the request states.
    let note: String
    /// The transaction; empty if the call is about the whole purchase.
    let transactionID: String

    /// `originalTransactionID` is empty if the call is about several purchases.
    init(
      _ method: String, about originalTransactionID: String, transactionID: String = "", by actor: String,
      note: String = ""
    ) {
      self.method = method
      self.transactionID = transactionID
      self.originalTransactionID = originalTransactionID
      self.actor = actor
      self.note = note
    }
  }

  /// Sends a request that changes data at Apple once for its idempotency key, and stores the response.
  ///
  /// Before the call, a record of the key is stored. If the result stays unknown, because no response arrives or the
  /// service is killed, the same request calls Apple again with the same identifier, by which Apple recognizes it (Apple,
  /// requestIdentifier: "To resend the same request due to a timeout or other error, use the same request identifier").
  /// A rejection by Apple deletes the record.
  func changeOnce<Request: RepeatableRequest, Response: DecodedPayload>(
    _ once: Idempotency<Request>, _ request: AppStoreRequest, _ record: Record, _ call: Call,
    response message: (Response) async throws(Status) -> Request.Response
  ) async throws(Status) -> Request.Response {
    try await sendOnce(once, request, record, call) { () async throws(AppStoreClientError) -> Response in
      try await call.client.send(request, timeout: call.timeout)
    } response: { (response: Response) async throws(Status) in
      (try await message(response), response.json)
    }
  }

  /// The same for a request whose response by Apple has no content.
  func changeOnce<Request: RepeatableRequest>(
    _ once: Idempotency<Request>, _ request: AppStoreRequest, _ record: Record, _ call: Call,
    response message: () -> Request.Response
  ) async throws(Status) -> Request.Response {
    try await sendOnce(once, request, record, call) { () async throws(AppStoreClientError) -> Void in
      try await call.client.send(request, timeout: call.timeout)
    } response: { (_: Void) async throws(Status) in
      (message(), [:])
    }
  }

  /// Apple has executed the request when `response` runs; if that fails, the same request calls Apple again.
  private func sendOnce<Request: RepeatableRequest, Answer: Sendable>(
    _ once: Idempotency<Request>, _ request: AppStoreRequest, _ record: Record, _ call: Call,
    _ send: () async throws(AppStoreClientError) -> Answer,
    response: (Answer) async throws(Status) -> (message: Request.Response, answer: JSONObject)
  ) async throws(Status) -> Request.Response {
    try await once.begin(record.scope(call))
    let sent: Answer
    do throws(AppStoreClientError) {
      sent = try await send()
    } catch {
      try await keep(error, record, request, call)
      if error.isFinal { try await once.discard() }
      throw Status(error)
    }
    let message: Request.Response
    let answer: JSONObject
    do throws(Status) { (message, answer) = try await response(sent) } catch {
      throw error.afterPossibleEffect
    }
    let appleCall = record.call(request, answer: answer)
    return try await once.run(record.scope(call), afterApple: true) { scope async throws(LedgerError) in
      try await context.ledger.record(appleCall, scope)
    } response: { _ in
      message
    }
  }

  /// Stores a refusal by Apple. A call that failed before Apple responded is no evidence.
  private func keep(
    _ error: AppStoreClientError, _ record: Record, _ request: AppStoreRequest, _ call: Call
  ) async throws(Status) {
    guard case .refused(let code, let message) = error else { return }
    let refused = record.call(request, answer: AppleCall.refusal(code, message: message))
    _ = try await mapLedgerError { () async throws(LedgerError) in
      try await context.ledger.record(refused, record.scope(call))
    }
  }
}

extension AppStoreServiceHandler.Record {
  /// The call as evidence stores it.
  fileprivate func call(_ request: AppStoreRequest, answer: JSONObject) -> AppleCall {
    let sent: JSONObject =
      switch request.body {
      case .json(let body): body
      case .png(let image):
        [
          "bytes": .number(JSONNumber(Int64(image.count))),
          "sha256": .string(Hex.encode(SHA256.hash(image[...]))),
        ]
      case .none: [:]
      }
    return AppleCall(
      method: method, originalTransactionID: originalTransactionID, transactionID: transactionID,
      target: "\(request.method.rawValue) \(request.target)", request: sent, answer: answer)
  }

  fileprivate func scope(_ call: AppStoreServiceHandler.Call) -> CommandScope {
    CommandScope(appID: call.app.id, environment: call.environment, actor: actor, note: note)
  }
}

extension AppStoreClientError {
  /// Whether Apple has not executed the request, nor any attempt before it: every attempt has the same request and
  /// credentials, so Apple rejected all of them.
  var isFinal: Bool {
    switch self {
    case .refused(let code, _): !code.isRetryable
    case .unauthorized, .clockSkew: true
    case .rateLimited, .localRateLimit, .circuitOpen, .unreachable, .serverFailed, .timedOut, .cancelled,
      .notJSON, .malformed, .missing, .tooLarge, .pageLoop, .unexpectedStatus, .signingFailed:
      false
    }
  }
}
