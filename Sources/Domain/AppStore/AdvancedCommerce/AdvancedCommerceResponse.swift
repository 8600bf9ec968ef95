package import JSON

/// The state after an Advanced Commerce request: what Apple signed about it.
package struct AdvancedCommerceResponse: DecodedPayload {
  package let json: JSONObject

  /// A signed transaction: a JWS, not verified yet.
  package let signedTransactionInfo: String?
  /// A signed renewal info: a JWS, not verified yet. Absent after a refund request.
  package let signedRenewalInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    signedTransactionInfo = try reader.string("signedTransactionInfo")
    signedRenewalInfo = try reader.string("signedRenewalInfo")
  }
}
