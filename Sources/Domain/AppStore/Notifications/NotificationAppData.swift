package import JSON

/// The app that a notification is about (Apple's `appData`).
package struct NotificationAppData: DecodedPayload {
  package let json: JSONObject

  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// A JWS of its own, to be verified by itself.
  package let signedAppTransactionInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    environment = try reader.environment("environment")
    signedAppTransactionInfo = try reader.string("signedAppTransactionInfo")
  }
}
