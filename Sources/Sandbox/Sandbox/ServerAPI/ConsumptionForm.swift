internal import AppStore
internal import JSON

/// What Apple asks of consumption information (ConsumptionRequest), in either version of the call.
enum ConsumptionForm {
  /// Checks version 2.
  static func check(_ body: JSONObject) throws(ServerAPIError) {
    try checkConsent(body)
    guard body.isOne("deliveryStatus", of: ConsumptionRequest.DeliveryStatus.self) else {
      throw .invalidDeliveryStatus
    }
    let all = 0...ConsumptionRequest.wholeConsumption
    guard body["consumptionPercentage"].map({ $0.int64Value.map(all.contains) ?? false }) ?? true,
      body["refundPreference"] == nil
        || body.isOne("refundPreference", of: ConsumptionRequest.RefundPreference.self)
    else { throw .generalBadRequest }
  }

  /// Checks version 1, in which nearly all is told by numbers.
  static func checkFirst(_ body: JSONObject) throws(ServerAPIError) {
    try checkConsent(body)
    let token = body["appAccountToken"]?.stringValue
    guard let token, token.isEmpty || isUUID(token) else { throw .invalidAppAccountToken }
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
  }

  private static func checkConsent(_ body: JSONObject) throws(ServerAPIError) {
    guard body["customerConsented"]?.boolValue == true else { throw .invalidCustomerConsented }
    guard body["sampleContentProvided"]?.boolValue != nil else { throw .invalidSampleContentProvided }
  }
}

extension JSONObject {
  /// Whether a member is one of Apple's words.
  fileprivate func isOne<Word: RawRepresentable<String>>(_ name: String, of words: Word.Type) -> Bool {
    self[name]?.stringValue.flatMap(words.init(rawValue:)) != nil
  }
}
