internal import AppStore
internal import AppStoreClient
internal import Entitlements
internal import JSON
internal import Ledger
internal import RPC

// What changes something at Apple is evidence: who asked for what, and what Apple answered.
extension AppStoreServiceHandler {
  /// What is kept of a call beside the request and its answer.
  struct Record: Sendable {
    let method: String
    let originalTransactionID: String
    let actor: String
    /// The one transaction of the line; empty if the call is about all of it.
    let transactionID: String

    /// `originalTransactionID` is empty if the call is about no single purchase.
    init(
      _ method: String, about originalTransactionID: String, transactionID: String = "", by actor: String
    ) {
      self.method = method
      self.transactionID = transactionID
      self.originalTransactionID = originalTransactionID
      self.actor = actor
    }
  }

  /// Asks Apple to change something, and keeps its answer or refusal.
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

  /// The same for a request that is answered with nothing but success.
  func change(_ request: AppStoreRequest, _ record: Record, _ call: Call) async throws(Status) {
    do throws(AppStoreClientError) {
      try await call.client.send(request, timeout: call.timeout)
    } catch {
      try await keep(error, record, request, call)
      throw Status(error)
    }
    try await keep(record, request, answer: [:], call)
  }

  /// Keeps a refusal. What did not reach Apple, or was not answered, is no evidence of anything.
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
    let asked = AppleCall(
      method: record.method, originalTransactionID: record.originalTransactionID,
      transactionID: record.transactionID, request: sent, answer: answer)
    do throws(LedgerError) {
      try await context.ledger.record(
        asked,
        CommandScope(appID: call.app.id, environment: call.environment, actor: record.actor))
    } catch {
      throw Status(error)
    }
  }
}
