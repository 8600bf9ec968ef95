package import JSON

/// A token for purchases outside the App Store, to be reported to Apple (Apple's `externalPurchaseToken`,
/// External Purchase Server API).
package struct ExternalPurchaseToken: DecodedPayload {
  package let json: JSONObject

  /// The token's UUID; outside Production it starts with `SANDBOX`.
  package let externalPurchaseId: String?
  /// When the app asked for the token; the deadline of its report counts from it.
  package let tokenCreationDate: Instant?
  /// When a token of the custom link API expires; `nil` for others.
  package let tokenExpirationDate: Instant?
  /// The occasion of the token; `nil` for a token without a type.
  package let tokenType: ExternalPurchaseTokenType?
  /// The app's App Store id.
  package let appAppleId: Int64?
  package let bundleId: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    externalPurchaseId = try json.string("externalPurchaseId")
    tokenCreationDate = try json.instant("tokenCreationDate")
    tokenExpirationDate = try json.instant("tokenExpirationDate")
    tokenType = try json.code("tokenType")
    appAppleId = try json.integer("appAppleId")
    bundleId = try json.string("bundleId")
  }

  /// The environment, derived from the id because Apple sends it in no other way; `nil` without an id.
  package var environment: Environment? {
    externalPurchaseId.map { $0.hasPrefix("SANDBOX") ? .sandbox : .production }
  }
}

/// The purpose of an external purchase token (Apple's `tokenType`).
package enum ExternalPurchaseTokenType: OpenCode {
  /// Apple's share for having brought the customer to the app.
  case acquisition
  /// Apple's share for the services of the App Store.
  case services
  /// Purchases inside the app with another payment service.
  case inApp
  /// Purchases on a page that the app links to.
  case linkOut
  case unrecognized(String)

  package static let known: [ExternalPurchaseTokenType] = [
    .acquisition, .services, .inApp, .linkOut,
  ]

  package var rawValue: String {
    switch self {
    case .acquisition: "ACQUISITION"
    case .services: "SERVICES"
    case .inApp: "IN_APP"
    case .linkOut: "LINK_OUT"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
