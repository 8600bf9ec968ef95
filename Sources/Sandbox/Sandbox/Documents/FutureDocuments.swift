internal import AppStore
internal import JSON

/// Members and values that Apple's documents do not have today, as a later version of Apple's servers can add.
///
/// A correct backend accepts documents with them: Apple adds members and values without notice (App Store Server API
/// changelog, versions 1.1 to 1.23).
struct FutureDocuments: Hashable, Sendable {
  /// Whether each document has members without a meaning, one of each kind of JSON value.
  var hasUnknownMembers = false
  /// Whether enumerations have values that no version of Apple's documents defines.
  var hasUnknownValues = false

  /// A document, or a part of one.
  enum Kind: Hashable, Sendable {
    case transaction, renewalInfo, appTransaction, notification
    /// An object inside of a document, or a document without enumerations that can grow.
    case part
  }

  /// Changes the settings; members that are absent keep their value.
  mutating func change(_ parameters: Parameters) throws(ActionError) {
    if let fields = try parameters.flagIfPresent("fields") { hasUnknownMembers = fields }
    if let types = try parameters.flagIfPresent("types") { hasUnknownValues = types }
  }

  /// Returns the payload with the unknown members and values.
  func applied(to payload: JSONObject, _ kind: Kind) -> JSONObject {
    var payload = payload
    if hasUnknownValues {
      for (name, value) in Self.unknownValues(of: kind) { payload[name] = value }
    }
    if hasUnknownMembers {
      for (name, value) in Self.unknownMembers { payload[name] = value }
    }
    return payload
  }

  /// The number is beyond 2^53, which a backend that decodes numbers as floating point loses.
  private static let unknownMembers: [(String, JSONValue)] = [
    ("futureText", "a member of a later version"), ("futureNumber", JSONValue(9_007_199_254_740_993)),
    ("futureFlag", true), ("futureNull", .null),
    ("futureObject", ["identifier": "1", "parts": [["text": "nested"]]]), ("futureList", ["a", 1, .null]),
  ]

  /// A value for each enumeration of a document, of the type that Apple's values have.
  private static func unknownValues(of kind: Kind) -> [(String, JSONValue)] {
    switch kind {
    case .transaction:
      [
        ("type", "Future Purchase Type"), ("transactionReason", "FUTURE_REASON"),
        ("offerType", JSONValue(99)), ("offerDiscountType", "FUTURE_MODE"),
      ]
    case .renewalInfo:
      [
        ("offerType", JSONValue(99)), ("offerDiscountType", "FUTURE_MODE"),
        ("renewalBillingPlanType", "FUTURE_PLAN"),
      ]
    case .appTransaction: [("originalPlatform", "futureOS")]
    case .notification: [("notificationType", "FUTURE_NOTIFICATION"), ("subtype", "FUTURE_SUBTYPE")]
    case .part: []
    }
  }
}
