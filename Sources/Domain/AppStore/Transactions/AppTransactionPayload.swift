package import JSON

/// The purchase or download of the app itself (Apple's AppTransaction, signed as JWSAppTransaction). It
/// replaces the app receipt.
package struct AppTransactionPayload: DecodedPayload {
  package let json: JSONObject

  /// Identifies one Apple account's install of the app.
  package let appTransactionId: String?
  /// The environment, under this name in Apple's format; `nil` also for one unknown to this version.
  package let receiptType: Environment?
  /// The app's App Store id; absent outside Production.
  package let appAppleId: Int64?
  /// The bundle id of the app; a verifier compares it with the configured one.
  package let bundleId: String?
  /// The version that is installed: on iOS the build number (`CFBundleVersion`), on macOS the version that
  /// people see.
  package let applicationVersion: String?
  /// The App Store's number of the installed version; 0 in Apple's sandbox.
  package let versionExternalIdentifier: Int64?
  /// When Apple signed the payload.
  package let receiptCreationDate: Instant?
  /// When the customer first got the app.
  package let originalPurchaseDate: Instant?
  /// The version that the customer first got; it decides who paid for an app that is free now (WWDC18-704).
  package let originalApplicationVersion: String?
  /// The platform on which the customer first got the app.
  package let originalPlatform: PurchasePlatform?
  /// When the customer pre-ordered the app; `nil` without a pre-order.
  package let preorderDate: Instant?
  /// When Apple revoked the purchase of the app; absent while it is valid. Only StoreKit documents it
  /// (AppTransaction.revocationDate), whose JSON has the same information as its properties.
  package let revocationDate: Instant?
  /// Binds the payload to one device; base64.
  package let deviceVerification: String?
  /// The UUID that is hashed with the id of the device into ``deviceVerification``.
  package let deviceVerificationNonce: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    appTransactionId = try json.string("appTransactionId")
    receiptType = try json.environment("receiptType")
    appAppleId = try json.integer("appAppleId")
    bundleId = try json.string("bundleId")
    applicationVersion = try json.string("applicationVersion")
    versionExternalIdentifier = try json.integer("versionExternalIdentifier")
    receiptCreationDate = try json.instant("receiptCreationDate")
    originalPurchaseDate = try json.instant("originalPurchaseDate")
    originalApplicationVersion = try json.string("originalApplicationVersion")
    originalPlatform = try json.code("originalPlatform")
    preorderDate = try json.instant("preorderDate")
    revocationDate = try json.instant("revocationDate")
    deviceVerification = try json.string("deviceVerification")
    deviceVerificationNonce = try json.string("deviceVerificationNonce")
  }
}
