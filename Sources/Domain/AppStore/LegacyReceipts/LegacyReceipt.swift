package import JSON

/// A decoded app receipt, as `verifyReceipt` shows it (Apple's `receipt`).
package struct LegacyReceipt: DecodedPayload {
  package let json: JSONObject

  /// `Production`, `ProductionSandbox`, `ProductionVPP` or `ProductionVPPSandbox`.
  package let receiptType: String?
  /// The app's number in the App Store; 0 in the sandbox.
  package let adamId: Int64?
  /// The same as ``adamId``.
  package let appItemId: Int64?
  package let bundleId: String?
  package let applicationVersion: String?
  /// The version that was bought first; always `1.0` in the sandbox.
  package let originalApplicationVersion: String?
  package let versionExternalIdentifier: Int64?
  package let downloadId: Int64?
  /// When Apple made the receipt: the moment at which to judge its signature.
  package let receiptCreationDate: Instant?
  /// When the question was asked.
  package let requestDate: Instant?
  package let originalPurchaseDate: Instant?
  package let preorderDate: Instant?
  /// For apps bought through the Volume Purchase Program.
  package let expirationDate: Instant?
  package let inApp: [LegacyTransaction]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    receiptType = try reader.text("receipt_type")
    adamId = try reader.integer("adam_id")
    appItemId = try reader.integer("app_item_id")
    bundleId = try reader.text("bundle_id")
    applicationVersion = try reader.text("application_version")
    originalApplicationVersion = try reader.text("original_application_version")
    versionExternalIdentifier = try reader.integer("version_external_identifier")
    downloadId = try reader.integer("download_id")
    receiptCreationDate = try reader.date("receipt_creation_date")
    requestDate = try reader.date("request_date")
    originalPurchaseDate = try reader.date("original_purchase_date")
    preorderDate = try reader.date("preorder_date")
    expirationDate = try reader.date("expiration_date")
    inApp = try reader.parts("in_app")
  }
}
