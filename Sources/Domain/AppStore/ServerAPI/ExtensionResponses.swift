package import JSON

/// What came of moving one renewal date (Extend a Subscription Renewal Date).
package struct ExtendRenewalDateResponse: DecodedPayload {
  package let json: JSONObject

  /// The new renewal date.
  package let effectiveDate: Instant?
  package let originalTransactionId: String?
  package let success: Bool?
  /// The period that was extended.
  package let webOrderLineItemId: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    effectiveDate = try reader.instant("effectiveDate")
    originalTransactionId = try reader.string("originalTransactionId")
    success = try reader.bool("success")
    webOrderLineItemId = try reader.string("webOrderLineItemId")
  }
}

/// The receipt of a mass extension (Extend Subscription Renewal Dates for All Active Subscribers).
package struct MassExtendRenewalDateResponse: DecodedPayload {
  package let json: JSONObject

  /// Asks how far it is.
  package let requestIdentifier: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestIdentifier = try reader.string("requestIdentifier")
  }
}

/// How far a mass extension is (Get Status of Subscription Renewal Date Extensions).
package struct MassExtendRenewalDateStatusResponse: DecodedPayload {
  package let json: JSONObject

  package let requestIdentifier: String?
  package let complete: Bool?
  /// Absent while it goes on.
  package let completeDate: Instant?
  /// Absent while it goes on.
  package let succeededCount: Int64?
  /// Absent while it goes on.
  package let failedCount: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestIdentifier = try reader.string("requestIdentifier")
    complete = try reader.bool("complete")
    completeDate = try reader.instant("completeDate")
    succeededCount = try reader.integer("succeededCount")
    failedCount = try reader.integer("failedCount")
  }
}
