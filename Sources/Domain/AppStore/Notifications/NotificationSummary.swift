package import JSON

/// How a mass extension of renewal dates ended (Apple's `summary`).
package struct NotificationSummary: DecodedPayload {
  package let json: JSONObject

  /// The UUID of the request that this answers.
  package let requestIdentifier: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  package let productId: String?
  /// ISO 3166-1 alpha-3; absent if the request named none.
  package let storefrontCountryCodes: [String]?
  package let succeededCount: Int64?
  package let failedCount: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestIdentifier = try reader.string("requestIdentifier")
    environment = try reader.environment("environment")
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    productId = try reader.string("productId")
    storefrontCountryCodes = try reader.strings("storefrontCountryCodes")
    succeededCount = try reader.integer("succeededCount")
    failedCount = try reader.integer("failedCount")
  }
}
