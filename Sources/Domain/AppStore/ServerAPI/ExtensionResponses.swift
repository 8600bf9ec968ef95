package import JSON

/// The result of one extension (Extend a Subscription Renewal Date).
package struct ExtendRenewalDateResponse: DecodedPayload {
  package let json: JSONObject

  /// The new renewal date.
  package let effectiveDate: Instant?
  /// The purchase whose renewal date was to be extended.
  package let originalTransactionId: String?
  /// Whether Apple extended it; the call succeeds also if not.
  package let success: Bool?
  /// The period that was extended.
  package let webOrderLineItemId: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    effectiveDate = try json.instant("effectiveDate")
    originalTransactionId = try json.string("originalTransactionId")
    success = try json.bool("success")
    webOrderLineItemId = try json.string("webOrderLineItemId")
  }
}

/// The accepted request of a mass extension (Extend Subscription Renewal Dates for All Active Subscribers).
package struct MassExtendRenewalDateResponse: DecodedPayload {
  package let json: JSONObject

  /// The UUID to query the status with.
  package let requestIdentifier: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    requestIdentifier = try json.string("requestIdentifier")
  }
}

/// The status of a mass extension (Get Status of Subscription Renewal Date Extensions).
package struct MassExtendRenewalDateStatusResponse: DecodedPayload {
  package let json: JSONObject

  /// The operator's id of the request, by which Apple recognizes a repetition.
  package let requestIdentifier: String?
  /// Whether Apple has tried to extend all subscriptions.
  package let complete: Bool?
  /// Absent until the extension is complete.
  package let completeDate: Instant?
  /// Absent until the extension is complete.
  package let succeededCount: Int64?
  /// Absent until the extension is complete.
  package let failedCount: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    requestIdentifier = try json.string("requestIdentifier")
    complete = try json.bool("complete")
    completeDate = try json.instant("completeDate")
    succeededCount = try json.integer("succeededCount")
    failedCount = try json.integer("failedCount")
  }
}
