package import JSON

/// What a receipt says of the app, to be written as `verifyReceipt` writes it (Apple's `receipt`).
/// ``LegacyReceipt`` reads what this writes.
package struct LegacyReceiptContent: Hashable, Sendable {
  /// Apple's word for where the app came from.
  package var receiptType: String?
  package var bundleID: String
  /// 0 in the sandbox.
  package var appItemID: Int64 = 0
  /// 0 in the sandbox.
  package var downloadID: Int64 = 0
  /// 0 in the sandbox.
  package var versionExternalIdentifier: Int64 = 0
  package var applicationVersion: String?
  package var originalApplicationVersion: String?
  /// In the order of the receipt.
  package var purchases: [LegacyPurchase] = []
  package var creationDate: Instant?
  /// When it was asked.
  package var requestDate: Instant?
  package var originalPurchaseDate: Instant?
  /// No receipt has it: `verifyReceipt` adds it.
  package var preorderDate: Instant?
  package var expirationDate: Instant?

  /// A receipt of an app; everything else is set.
  package init(bundleID: String) { self.bundleID = bundleID }

  /// The members, numbers as numbers, dates three times.
  package var json: JSONObject {
    var json = JSONObject(present: [
      ("receipt_type", receiptType.map(JSONValue.string)),
      ("adam_id", JSONValue(appItemID)),
      ("app_item_id", JSONValue(appItemID)),
      ("bundle_id", .string(bundleID)),
      ("application_version", applicationVersion.map(JSONValue.string)),
      ("download_id", JSONValue(downloadID)),
      ("version_external_identifier", JSONValue(versionExternalIdentifier)),
      ("original_application_version", originalApplicationVersion.map(JSONValue.string)),
      ("in_app", .array(purchases.map { .object($0.json(in: .inApp)) })),
    ])
    json.add(legacyDate: creationDate, as: "receipt_creation_date")
    json.add(legacyDate: requestDate, as: "request_date")
    json.add(legacyDate: originalPurchaseDate, as: "original_purchase_date")
    json.add(legacyDate: preorderDate, as: "preorder_date")
    json.add(legacyDate: expirationDate, as: "expiration_date")
    return json
  }
}
