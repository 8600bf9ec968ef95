internal import AppStore
internal import AppStoreClient
internal import Entitlements
internal import JSON
internal import Ledger
internal import RPC

// Each call that changes data at Apple is stored as evidence: the operator, the request and Apple's response.
extension AppStoreServiceHandler {
  /// The metadata stored with a call, besides the request and the response.
  struct Record: Sendable {
    let method: String
    let originalTransactionID: String
    let actor: String
    /// The transaction; empty if the call is about the whole purchase.
    let transactionID: String

    /// `originalTransactionID` is empty if the call is about several purchases.
    init(
      _ method: String, about originalTransactionID: String, transactionID: String = "", by actor: String
    ) {
      self.method = method
      self.transactionID = transactionID
      self.originalTransactionID = originalTransactionID
      self.actor = actor
    }
  }

  /// Sends a request that changes data at Apple, and stores the response or the refusal.
  func change<Response: DecodedPayload>(
    _ request: AppStoreRequest, _ record: Record, _ call: Call
  ) async throws(Status) -> Response {
    let response: Response
    do throws(AppStoreClientError) {
      response = try await call.client.send(request, timeout: call.timeout)
    } catch {
      try await keep(error, record, request, call)
      throw Status(error)
    }
    try await keep(record, request, answer: response.json, call)
    return response
  }

  /// Sends a request whose response has no content, and stores its success or the refusal.
  func change(_ request: AppStoreRequest, _ record: Record, _ call: Call) async throws(Status) {
    do throws(AppStoreClientError) {
      try await call.client.send(request, timeout: call.timeout)
    } catch {
      try await keep(error, record, request, call)
      throw Status(error)
    }
    try await keep(record, request, answer: [:], call)
  }

  /// Stores a refusal by Apple. A call that failed before Apple responded is no evidence.
  private func keep(
    _ error: AppStoreClientError, _ record: Record, _ request: AppStoreRequest, _ call: Call
  ) async throws(Status) {
    guard case .refused(let code, let message) = error else { return }
    try await keep(record, request, answer: AppleCall.refusal(code, message: message), call)
  }

  private func keep(
    _ record: Record, _ request: AppStoreRequest, answer: JSONObject, _ call: Call
  ) async throws(Status) {
    var sent = JSONObject()
    if case .json(let body) = request.body { sent = body }
    let appleCall = AppleCall(
      method: record.method, originalTransactionID: record.originalTransactionID,
      transactionID: record.transactionID, request: sent, answer: answer)
    do throws(LedgerError) {
      try await context.ledger.record(
        appleCall,
        CommandScope(appID: call.app.id, environment: call.environment, actor: record.actor))
    } catch {
      throw Status(error)
    }
  }
}
