package import JSON

/// The request body of `verifyReceipt`.
package struct VerifyReceiptRequest: DecodedPayload {
  package let json: JSONObject

  /// The app receipt, base64.
  package let receiptData: String?
  /// The shared secret: never log or show it.
  package let password: String?
  /// Whether to return only the latest transaction of each subscription.
  package let excludeOldTransactions: Bool?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    receiptData = try reader.text("receipt-data")
    password = try reader.text("password")
    excludeOldTransactions = try reader.bool("exclude-old-transactions")
  }
}

/// The response of `verifyReceipt`.
package struct VerifyReceiptResponse: DecodedPayload {
  package let json: JSONObject

  /// 0 if the receipt is valid; with another status the other members are absent or unproven.
  package let status: VerifyReceiptStatus?
  /// Whether the same request may succeed later; sent with the status 21100 to 21199.
  package let isRetryable: Bool?
  /// The environment of the receipt.
  package let environment: Environment?
  /// The decoded request receipt.
  package let receipt: LegacyReceipt?
  /// The latest app receipt, base64.
  package let latestReceipt: String?
  /// Apple's current data of the purchases, newest first; absent for a receipt without subscriptions.
  package let latestReceiptInfo: [LegacyTransaction]?
  /// The next renewals, one for each subscription.
  package let pendingRenewalInfo: [PendingRenewalInfo]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    status = try reader.code("status")
    // Apple documents one spelling, and its servers send either.
    let retryFlag = try reader.bool("is_retryable")
    isRetryable = retryFlag == nil ? try reader.bool("is-retryable") : retryFlag
    environment = try reader.environment("environment")
    receipt = try reader.part("receipt")
    latestReceipt = try reader.text("latest_receipt")
    latestReceiptInfo = try reader.parts("latest_receipt_info")
    pendingRenewalInfo = try reader.parts("pending_renewal_info")
  }
}

/// The response of `verifyReceipt`, for writing. ``VerifyReceiptResponse`` reads the same format.
package enum VerifyReceiptAnswer: Hashable, Sendable {
  /// The receipt is valid; the content is the current state of its purchases.
  case valid(Content)
  /// The call failed. The environment is that of the URL or of the receipt, if known.
  case failed(VerifyReceiptStatus, Environment?)

  /// The content for a valid receipt.
  package struct Content: Hashable, Sendable {
    /// The environment whose server answered.
    package let environment: Environment
    /// The content of the receipt, normalized.
    package let receipt: LegacyReceiptContent
    /// All transactions, in any order.
    package let latest: [LegacyPurchase]
    /// All subscriptions, in any order.
    package let pending: [LegacyRenewal]
    /// The latest app receipt, base64.
    package let latestReceipt: String

    package init(
      environment: Environment, receipt: LegacyReceiptContent, latest: [LegacyPurchase],
      pending: [LegacyRenewal], latestReceipt: String
    ) {
      self.environment = environment
      self.receipt = receipt
      self.latest = latest
      self.pending = pending
      self.latestReceipt = latestReceipt
    }
  }

  /// The response body.
  ///
  /// Apple's servers send the retry flag in two spellings, and only for statuses from 21100 to 21199 ("responseBody":
  /// "This is applicable only to status codes 21100-21199"); for others the status itself says whether to retry.
  package var json: JSONObject {
    switch self {
    case .failed(let status, let environment):
      JSONObject(present: [
        ("status", JSONValue(status.rawValue)),
        ("environment", environment.map { .string($0.rawValue) }),
        ("is_retryable", status.hasRetryFlag ? true : nil),
        ("is-retryable", status.hasRetryFlag ? true : nil),
      ])
    case .valid(let content): content.json
    }
  }
}

extension VerifyReceiptAnswer.Content {
  fileprivate var json: JSONObject {
    var json = JSONObject(present: [
      ("status", 0),
      ("environment", .string(environment.rawValue)),
      ("receipt", .object(receipt.json)),
    ])
    // Apple: "This only returns for receipts that contain auto-renewable subscriptions."
    if latest.contains(where: \.isSubscription) {
      json["latest_receipt_info"] = .array(
        latest.latestFirst.map { .object($0.json(in: .latestReceiptInfo)) })
      json["latest_receipt"] = .string(latestReceipt)
    }
    if !pending.isEmpty {
      json["pending_renewal_info"] = .array(pending.oldestFirst.map { .object($0.json) })
    }
    return json
  }
}
