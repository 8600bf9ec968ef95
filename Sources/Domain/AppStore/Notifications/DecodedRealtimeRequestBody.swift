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
