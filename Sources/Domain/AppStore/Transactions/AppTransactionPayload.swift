package import JSON

/// The purchase of the app itself (Apple's AppTransaction, signed as JWSAppTransaction).
///
/// It stands for what the app receipt was before: proof that this copy of the app was bought.
package struct AppTransactionPayload: DecodedPayload {
  package let json: JSONObject

  /// Identifies one Apple account's copy of the app.
  package let appTransactionId: String?
  /// The environment; Apple calls it so here. `nil` too for one that this version does not know.
  package let receiptType: Environment?
  /// The app's number in the App Store; absent outside Production.
  package let appAppleId: Int64?
  package let bundleId: String?
  package let applicationVersion: String?
  package let versionExternalIdentifier: Int64?
  /// When Apple signed this payload.
  package let receiptCreationDate: Instant?
  /// When this customer first got the app.
  package let originalPurchaseDate: Instant?
  /// The version they got then; decides who paid for an app that is free now.
  package let originalApplicationVersion: String?
  package let originalPlatform: PurchasePlatform?
  package let preorderDate: Instant?
  /// Ties the payload to one device; base64.
  package let deviceVerification: String?
  package let deviceVerificationNonce: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    appTransactionId = try reader.string("appTransactionId")
    receiptType = try reader.environment("receiptType")
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    applicationVersion = try reader.string("applicationVersion")
    versionExternalIdentifier = try reader.integer("versionExternalIdentifier")
    receiptCreationDate = try reader.instant("receiptCreationDate")
    originalPurchaseDate = try reader.instant("originalPurchaseDate")
    originalApplicationVersion = try reader.string("originalApplicationVersion")
    originalPlatform = try reader.code("originalPlatform")
    preorderDate = try reader.instant("preorderDate")
    deviceVerification = try reader.string("deviceVerification")
    deviceVerificationNonce = try reader.string("deviceVerificationNonce")
  }
}
