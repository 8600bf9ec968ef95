internal import AppStoreClient
internal import Entitlements
internal import FamilySharing
internal import JSON
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Version 1 of Send Consumption Information.
extension AppStoreServiceHandler {
  /// Checks consent and codes as version 2 does, and sends Apple's older request. A dry run returns the request without
  /// a call.
  /// Apple's page: *Send Consumption Information V1*.
  func sendConsumptionInformationV1(
    _ request: SendConsumptionInformationV1Request, _ call: CallContext
  ) async throws(Status) -> SendConsumptionInformationV1Response {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.transactionId, "transaction_id")
      let body = try request.information()
      try await refuse(
        .sendConsumptionInformation, about: request.transactionId, request.app, request.environment)
      let call = try self.call(request.app, request.environment, call)
      let line = try await consentedLine(of: request.transactionId, call)
      var response = SendConsumptionInformationV1Response()
      response.payloadJson = JSONValue.object(body).text
      if request.dryRun { return response }
      return try await changeOnce(
        once, .sendConsumptionInformationV1(body, of: request.transactionId),
        Record(
          AppleCall.sendConsumptionInformationV1, about: line.lineID, transactionID: request.transactionId,
          by: request.actor, note: request.note), call
      ) { [context, response] in
        var response = response
        response.sentAt = GoogleProtobuf.Timestamp(context.now(in: call.environment))
        return response
      }
    }
  }
}

extension SendConsumptionInformationV1Request {
  /// Apple's ConsumptionRequestV1.
  ///
  /// - Throws: `NO_CONSENT` without the customer's consent, `INVALID_FIELD` for a code that Apple does not have.
  fileprivate func information() throws(Status) -> JSONObject {
    guard customerConsented else {
      throw Status(
        .failedPrecondition, reason: "NO_CONSENT", "Apple accepts this only with the customer's consent",
        field: "customer_consented")
    }
    var body: JSONObject = [
      "customerConsented": .bool(true), "sampleContentProvided": .bool(sampleContentProvided),
      "appAccountToken": .string(appAccountToken),
    ]
    let codes: [(member: String, field: String, code: Int32, highest: Int32)] = [
      ("consumptionStatus", "consumption_status", consumptionStatus, 3),
      ("platform", "platform", platform, 2),
      ("deliveryStatus", "delivery_status", deliveryStatus, 5),
      ("accountTenure", "account_tenure", accountTenure, 7), ("playTime", "play_time", playTime, 7),
      ("lifetimeDollarsPurchased", "lifetime_dollars_purchased", lifetimeDollarsPurchased, 7),
      ("lifetimeDollarsRefunded", "lifetime_dollars_refunded", lifetimeDollarsRefunded, 7),
      ("userStatus", "user_status", userStatus, 4),
      ("refundPreference", "refund_preference", refundPreference, 3),
    ]
    for (member, field, code, highest) in codes {
      guard 0...highest ~= code else {
        throw .invalidField(field, "\(field) is \(code) and must be from 0 to \(highest)")
      }
      body[member] = .number(JSONNumber(Int64(code)))
    }
    return body
  }
}
