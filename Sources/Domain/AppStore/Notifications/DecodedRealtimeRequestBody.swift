package import JSON

/// A request for the retention message on the Confirm Cancellation page (Apple's
/// DecodedRealtimeRequestBody, Retention Messaging API). Apple waits 700 ms for the response.
package struct DecodedRealtimeRequestBody: DecodedPayload {
  package let json: JSONObject

  /// The `originalTransactionId` of the subscription.
  package let originalTransactionId: String?
  /// The app's App Store id; the request has no bundle id.
  package let appAppleId: Int64?
  package let productId: String?
  /// The customer's language and region, such as `en-US`.
  package let userLocale: String?
  /// The UUID of the request.
  package let requestIdentifier: String?
  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// When Apple signed the payload.
  package let signedDate: Instant?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    originalTransactionId = try json.string("originalTransactionId")
    appAppleId = try json.integer("appAppleId")
    productId = try json.string("productId")
    userLocale = try json.string("userLocale")
    requestIdentifier = try json.string("requestIdentifier")
    environment = try json.environment("environment")
    signedDate = try json.instant("signedDate")
  }
}
