package import JSON

/// What a version 1 notification knows of the customer's purchases (Apple's `unified_receipt`).
package struct UnifiedReceipt: DecodedPayload {
  package let json: JSONObject

  package let environment: Environment?
  package let status: VerifyReceiptStatus?
  /// An app receipt, base64.
  package let latestReceipt: String?
  /// The latest 100.
  package let latestReceiptInfo: [LegacyTransaction]?
  package let pendingRenewalInfo: [PendingRenewalInfo]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    environment = try reader.environment("environment")
    status = try reader.code("status")
    latestReceipt = try reader.text("latest_receipt")
    latestReceiptInfo = try reader.parts("latest_receipt_info")
    pendingRenewalInfo = try reader.parts("pending_renewal_info")
  }
}
