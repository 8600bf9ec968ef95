package import JSON

/// What `verifyReceipt` answers, to be written. ``VerifyReceiptResponse`` reads what this writes.
package enum VerifyReceiptAnswer: Hashable, Sendable {
  /// The receipt is genuine, and this is what it is worth today.
  case valid(Content)
  /// Anything else. The environment is that of the URL or of the receipt, where one is known.
  case failed(VerifyReceiptStatus, Environment?)

  /// What is told of a valid receipt.
  package struct Content: Hashable, Sendable {
    package let environment: Environment
    package let receipt: LegacyReceiptContent
    /// All transactions, in any order.
    package let latest: [LegacyPurchase]
    /// All subscriptions, in any order.
    package let pending: [LegacyRenewal]
    /// The latest receipt that is known, in base64.
    package let latestReceipt: String

    /// An answer by its parts.
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

  /// The answer's body.
  ///
  /// Apple's documentation calls a member `is-retryable`, its servers `is_retryable`; both are there for whoever
  /// reads one of them.
  package var json: JSONObject {
    switch self {
    case .failed(let status, let environment):
      JSONObject(present: [
        ("status", JSONValue(status.rawValue)),
        ("environment", environment.map { .string($0.rawValue) }),
        ("is_retryable", status.isRetryable ? true : nil),
        ("is-retryable", status.isRetryable ? true : nil),
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
    if !latest.isEmpty {
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
