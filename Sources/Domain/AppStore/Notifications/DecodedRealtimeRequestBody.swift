package import JSON

/// Apple asks, while a customer is about to cancel, what to show them (Retention Messaging).
package struct DecodedRealtimeRequestBody: DecodedPayload {
  package let json: JSONObject

  /// The subscription that is about to end.
  package let originalTransactionId: String?
  /// The app's number in the App Store; the request names the app in no other way.
  package let appAppleId: Int64?
  package let productId: String?
  /// The customer's language and region, such as `en-US`.
  package let userLocale: String?
  /// The UUID to answer with.
  package let requestIdentifier: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// When Apple signed this payload.
  package let signedDate: Instant?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    originalTransactionId = try reader.string("originalTransactionId")
    appAppleId = try reader.integer("appAppleId")
    productId = try reader.string("productId")
    userLocale = try reader.string("userLocale")
    requestIdentifier = try reader.string("requestIdentifier")
    environment = try reader.environment("environment")
    signedDate = try reader.instant("signedDate")
  }
}
