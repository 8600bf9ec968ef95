internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import JSON
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Finished transactions, Advanced Commerce and external purchases.
extension AppStoreServiceHandler {
  /// Finishes a transaction at Apple. The record names the purchase, also if the request names a later transaction of
  /// it.
  /// Apple's page: *Finish Transaction*.
  func finishTransaction(
    _ request: FinishTransactionRequest, _ call: CallContext
  ) async throws(Status) -> FinishTransactionResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.transactionId, "transaction_id")
      let call = try self.call(request.app, request.environment, call)
      let record = Record(
        "FinishTransaction", about: try await purchase(of: request.transactionId, call),
        transactionID: request.transactionId, by: request.actor, note: request.note)
      return try await changeOnce(once, .finishTransaction(request.transactionId), record, call) {
        .with { $0.finishedAt = GoogleProtobuf.Timestamp(context.now(in: call.environment)) }
      }
    }
  }

  /// Apple's response has the changed documents, which are stored before the response is.
  /// Apple's page: *Advanced Commerce API*, with one request for each action. `requestReferenceId` is made from the
  /// idempotency key, unless the request has one.
  ///
  /// - Throws: `MISSING_FIELD` or `INVALID_FIELD` before the call; `APP_STORE_RESPONSE_NOT_GENUINE` after it.
  func sendAdvancedCommerceRequest(
    _ request: SendAdvancedCommerceRequestRequest, _ call: CallContext
  ) async throws(Status) -> SendAdvancedCommerceRequestResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.transactionId, "transaction_id")
      let reference = try once.requestIdentifier(request.requestReferenceId, field: "request_reference_id")
      var body = try Self.object(request.requestJson, "request_json")
      var info = body["requestInfo"]?.objectValue ?? [:]
      info["requestReferenceId"] = .string(reference)
      body["requestInfo"] = .object(info)
      let sent = try Self.appleRequest(request.action, body, of: request.transactionId)
      let call = try self.call(request.app, request.environment, call)
      let record = Record(
        "SendAdvancedCommerceRequest", about: try await purchase(of: request.transactionId, call),
        transactionID: request.transactionId, by: request.actor, note: request.note)
      return try await changeOnce(once, sent, record, call) {
        (answer: AdvancedCommerceResponse) async throws(Status) in
        let transaction = try await ingest(answer, call)
        return .with { $0.transaction = transaction }
      }
    }
  }

  /// Sends the report with the request identifier in it, in place of one that the text may have. Apple's own checks
  /// decide about the rest of the report.
  /// Apple's page: *Send External Purchase Report*.
  func sendExternalPurchaseReport(
    _ request: SendExternalPurchaseReportRequest, _ call: CallContext
  ) async throws(Status) -> SendExternalPurchaseReportResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.reportJson, "report_json")
      let identifier = try once.requestIdentifier(request.requestIdentifier)
      var report = try Self.object(request.reportJson, "report_json")
      report["requestIdentifier"] = .string(identifier)
      return try await changeOnce(
        once, .sendExternalPurchaseReport(report),
        Record(AppleCall.sendExternalPurchaseReport, about: "", by: request.actor, note: request.note),
        try self.call(request.app, request.environment, call)
      ) { (answer: AnyResponse) in
        .with { $0.requestIdentifier = answer.json["requestIdentifier"]?.stringValue ?? identifier }
      }
    }
  }

  /// Returns Apple's response as JSON, with all members that Apple sent.
  /// Apple's page: *Retrieve External Purchase Report*.
  func getExternalPurchaseReport(
    _ request: GetExternalPurchaseReportRequest, _ call: CallContext
  ) async throws(Status) -> GetExternalPurchaseReportResponse {
    try RequestValidation.given(request.requestIdentifier, "request_identifier")
    let call = try self.call(request.app, request.environment, call)
    let report: AnyResponse = try await send(
      .externalPurchaseReport(requestIdentifier: request.requestIdentifier), call)
    return .with { $0.reportJson = JSONValue.object(report.json).text }
  }

  /// The id of the first transaction of a purchase; that of the transaction itself if the store does not have it.
  private func purchase(of transactionID: String, _ call: Call) async throws(Status) -> String {
    let line = LineKey(appID: call.app.id, environment: call.environment, lineID: transactionID)
    return try await latest(of: line)?.originalTransactionID ?? transactionID
  }

  /// Verifies and stores the documents of a response.
  private func ingest(
    _ answer: AdvancedCommerceResponse, _ call: Call
  ) async throws(Status) -> Wire.Transaction? {
    let submission = Submission(
      appID: call.app.id, customerID: nil, signedTransaction: answer.signedTransactionInfo,
      signedRenewalInfo: answer.signedRenewalInfo, environment: call.environment,
      source: .appStoreServerAPI)
    guard !submission.documents.isEmpty else { return nil }
    do throws(LedgerError) {
      let transaction = try await context.ledger.submit(submission).documents.transaction
      return transaction.map { Wire.Transaction($0, of: call.app, environment: call.environment) }
    } catch {
      guard case .rejected(let rejection, let evidence) = error else { throw Status(error) }
      throw Status(LookupError.rejectedDocument(rejection, evidence: evidence))
    }
  }

  /// Parses a field with a JSON object; an empty text is an empty object.
  ///
  /// - Throws: `INVALID_FIELD` for any other text.
  private static func object(_ text: String, _ field: String) throws(Status) -> JSONObject {
    guard !text.isEmpty else { return [:] }
    guard let object = try? JSONValue(parsing: Array(text.utf8)).objectValue else {
      throw .invalidField(field, "\(field) is not a JSON object")
    }
    return object
  }

  /// Makes Apple's request of an action.
  ///
  /// - Throws: `INVALID_FIELD` for an unknown action, and a body that Apple documents otherwise; `MISSING_FIELD` without an
  ///   action.
  private static func appleRequest(
    _ action: AdvancedCommerceAction, _ body: JSONObject, of transactionID: String
  ) throws(Status) -> AppStoreRequest {
    do throws(PayloadError) {
      switch action {
      case .cancel: return try .cancel(body, of: transactionID)
      case .revoke: return try .revoke(body, of: transactionID)
      case .migrate: return try .migrate(body, of: transactionID)
      case .changePrice: return try .changePrice(body, of: transactionID)
      case .changeMetadata: return try .changeMetadata(body, of: transactionID)
      case .requestRefund: return try .requestRefund(body, of: transactionID)
      case .unspecified, .unrecognized: break
      }
    } catch {
      throw .invalidField("request_json", "request_json is malformed: \(error)")
    }
    throw action == .unspecified ? .missingField("action", "action is not set") : .unknownValue(of: "action")
  }
}

/// A response that is passed on as JSON.
private struct AnyResponse: DecodedPayload {
  let json: JSONObject

  init(json: JSONObject) throws(PayloadError) { self.json = json }
}
