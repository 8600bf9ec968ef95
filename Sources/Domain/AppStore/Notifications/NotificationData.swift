package import JSON

/// The purchase that a notification is about (Apple's `data`).
package struct NotificationData: DecodedPayload {
  package let json: JSONObject

  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// The build that made the purchase.
  package let bundleVersion: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// A JWS of its own, to be verified by itself.
  package let signedTransactionInfo: String?
  /// A JWS of its own, to be verified by itself.
  package let signedRenewalInfo: String?
  /// How the subscription stood when the notification was signed.
  package let status: SubscriptionStatus?
  /// With `CONSUMPTION_REQUEST`.
  package let consumptionRequestReason: ConsumptionRequestReason?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    bundleVersion = try reader.string("bundleVersion")
    environment = try reader.environment("environment")
    signedTransactionInfo = try reader.string("signedTransactionInfo")
    signedRenewalInfo = try reader.string("signedRenewalInfo")
    status = try reader.code("status")
    consumptionRequestReason = try reader.code("consumptionRequestReason")
  }
}
