internal import AppStore
internal import Bytes
internal import JSON

/// A developer's consumption information about a purchase with a refund request.
struct ConsumptionReport: Hashable, Sendable {
  /// The transaction id.
  let transaction: Int64
  let date: Instant
  /// The version of the API: `v1` or `v2`.
  let version: String
  /// The request body.
  let information: JSONObject
}

extension World {
  /// Stores consumption information. It has no effect; the tester decides about the refund.
  mutating func recordConsumptionReport(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let sold = try transaction(parameters)
    guard let information = parameters.json["information"]?.objectValue else {
      throw .missingMember("information")
    }
    consumptionReports.append(
      ConsumptionReport(
        transaction: sold.id, date: now, version: try parameters.choice("version", of: ["v1", "v2"]),
        information: information))
    return Outcome(transactions: [sold.id])
  }

  /// All consumption reports, for testers.
  var consumptionReportsJSON: JSONObject {
    [
      "consumption": .array(
        consumptionReports.map { report in
          [
            "transactionId": .string(String(report.transaction)), "date": .string(report.date.description),
            "version": .string(report.version), "information": .object(report.information),
          ]
        })
    ]
  }
}

/// The validation of consumption information (Apple: ConsumptionRequest and ConsumptionRequestV1).
enum ConsumptionValidation {
  /// Validates a version 2 body about a subscription or another purchase (Apple: consumptionPercentage,
  /// refundPreference).
  ///
  /// - Throws: the error with which Apple refuses the first invalid member.
  static func checkVersion2(_ body: JSONObject, isSubscription: Bool) throws(ServerAPIError) {
    try checkConsent(body)
    guard body.hasKnownCode("deliveryStatus", of: ConsumptionRequest.DeliveryStatus.self) else {
      throw .invalidDeliveryStatus
    }
    guard
      body["refundPreference"] == nil
        || body.hasKnownCode("refundPreference", of: ConsumptionRequest.RefundPreference.self)
    else { throw .invalidRefundPreference }
    guard let percentage = body["consumptionPercentage"] else { return }
    guard !isSubscription else { throw .consumptionPercentageOfSubscription }
    let isProrated =
      body["refundPreference"]?.stringValue == ConsumptionRequest.RefundPreference.grantProrated.rawValue
    let all = ConsumptionRequest.wholeConsumption
    let allowed = isProrated ? 1...(all - 1) : 0...all
    guard let consumed = percentage.int64Value, allowed.contains(consumed) else {
      throw .consumptionPercentageOutOfRange
    }
    let isDelivered =
      body["deliveryStatus"]?.stringValue == ConsumptionRequest.DeliveryStatus.delivered.rawValue
    guard isDelivered || consumed == 0 else { throw .undeliveredConsumptionPercentageNonZero }
  }

  /// Validates a version 1 body, whose members are mostly numeric codes. Each of them is required, except the
  /// `refundPreference`; an empty `appAccountToken` stands for none.
  static func checkVersion1(_ body: JSONObject) throws(ServerAPIError) {
    try checkConsent(body)
    let token = body["appAccountToken"]?.stringValue
    guard let token, token.isEmpty || token.isUUID else { throw .invalidAppAccountToken }
    let numbers: [(String, ClosedRange<Int64>, ServerAPIError)] = [
      ("accountTenure", 0...7, .invalidAccountTenure),
      ("consumptionStatus", 0...3, .invalidConsumptionStatus),
      ("deliveryStatus", 0...5, .invalidDeliveryStatus),
      ("lifetimeDollarsPurchased", 0...7, .invalidLifetimeDollarsPurchased),
      ("lifetimeDollarsRefunded", 0...7, .invalidLifetimeDollarsRefunded),
      ("platform", 0...2, .invalidPlatform),
      ("playTime", 0...7, .invalidPlayTime), ("userStatus", 0...4, .invalidUserStatus),
    ]
    for (name, range, error) in numbers {
      guard let number = body[name]?.int64Value, range.contains(number) else { throw error }
    }
    // Apple: refundPreferenceV1.
    guard let preference = body["refundPreference"] else { return }
    guard let code = preference.int64Value, (0...3).contains(code) else { throw .invalidRefundPreference }
  }

  /// Without the customer's consent, Apple accepts nothing.
  private static func checkConsent(_ body: JSONObject) throws(ServerAPIError) {
    guard body["customerConsented"]?.boolValue == true else { throw .invalidCustomerConsented }
    guard body["sampleContentProvided"]?.boolValue != nil else { throw .invalidSampleContentProvided }
  }
}

extension JSONObject {
  /// Whether a member is a known code of Apple's.
  fileprivate func hasKnownCode<Code: RawRepresentable<String>>(_ name: String, of codes: Code.Type) -> Bool {
    self[name]?.stringValue.flatMap(codes.init(rawValue:)) != nil
  }
}
