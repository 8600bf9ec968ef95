package import JSON

/// What is sent to `verifyReceipt`.
package struct VerifyReceiptRequest: DecodedPayload {
  package let json: JSONObject

  /// The app receipt, base64.
  package let receiptData: String?
  /// The shared secret: never to be logged or shown.
  package let password: String?
  /// Whether only the latest transaction of each subscription is wanted.
  package let excludeOldTransactions: Bool?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    receiptData = try reader.text("receipt-data")
    password = try reader.text("password")
    excludeOldTransactions = try reader.bool("exclude-old-transactions")
  }
}
