package import JSON

/// One transaction (Get Transaction Info).
package struct TransactionInfoResponse: DecodedPayload {
  package let json: JSONObject

  /// A signed transaction: a JWS, not verified yet.
  package let signedTransactionInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    signedTransactionInfo = try reader.string("signedTransactionInfo")
  }
}

/// One customer's copy of the app (Get App Transaction Info).
package struct AppTransactionInfoResponse: DecodedPayload {
  package let json: JSONObject

  /// A signed app transaction: a JWS, not verified yet.
  package let signedAppTransactionInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    signedAppTransactionInfo = try reader.string("signedAppTransactionInfo")
  }
}

/// The transactions of one order (Look Up Order ID).
package struct OrderLookupResponse: DecodedPayload {
  package let json: JSONObject

  package let status: OrderLookupStatus?
  /// Signed transactions: JWS, not verified yet.
  package let signedTransactions: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    status = try reader.code("status")
    signedTransactions = try reader.strings("signedTransactions")
  }
}
