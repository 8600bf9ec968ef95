package import JSON

/// What `verifyReceipt` answers.
package struct VerifyReceiptResponse: DecodedPayload {
  package let json: JSONObject

  package let status: VerifyReceiptStatus?
  /// Whether the same request may succeed later; with the status 21100 to 21199.
  package let isRetryable: Bool?
  package let environment: Environment?
  /// The receipt that was sent, decoded.
  package let receipt: LegacyReceipt?
  /// The latest app receipt, base64.
  package let latestReceipt: String?
  package let latestReceiptInfo: [LegacyTransaction]?
  package let pendingRenewalInfo: [PendingRenewalInfo]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    status = try reader.code("status")
    isRetryable = try reader.bool("is_retryable")
    environment = try reader.environment("environment")
    receipt = try reader.part("receipt")
    latestReceipt = try reader.text("latest_receipt")
    latestReceiptInfo = try reader.parts("latest_receipt_info")
    pendingRenewalInfo = try reader.parts("pending_renewal_info")
  }
}
