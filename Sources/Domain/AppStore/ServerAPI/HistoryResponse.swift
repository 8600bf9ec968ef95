package import JSON

/// A page of all transactions of one customer in one app (Get Transaction History).
package struct HistoryResponse: DecodedPayload {
  package let json: JSONObject

  /// Asks for the next page.
  package let revision: String?
  /// Whether there is a next page.
  package let hasMore: Bool?
  package let bundleId: String?
  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// Signed transactions: JWS, not verified yet. At most 20.
  package let signedTransactions: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    revision = try reader.string("revision")
    hasMore = try reader.bool("hasMore")
    bundleId = try reader.string("bundleId")
    appAppleId = try reader.integer("appAppleId")
    environment = try reader.environment("environment")
    signedTransactions = try reader.strings("signedTransactions")
  }
}

/// A page of the refunded transactions of one customer (Get Refund History).
package struct RefundHistoryResponse: DecodedPayload {
  package let json: JSONObject

  /// Signed transactions: JWS, not verified yet. At most 20.
  package let signedTransactions: [String]?
  /// Asks for the next page.
  package let revision: String?
  /// Whether there is a next page.
  package let hasMore: Bool?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    signedTransactions = try reader.strings("signedTransactions")
    revision = try reader.string("revision")
    hasMore = try reader.bool("hasMore")
  }
}
