package import JSON

/// One transaction (Get Transaction Info).
package struct TransactionInfoResponse: DecodedPayload {
  package let json: JSONObject

  /// A signed transaction: a JWS, not yet verified.
  package let signedTransactionInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    signedTransactionInfo = try json.string("signedTransactionInfo")
  }
}

/// One customer's app install (Get App Transaction Info).
package struct AppTransactionInfoResponse: DecodedPayload {
  package let json: JSONObject

  /// A signed app transaction: a JWS, not yet verified.
  package let signedAppTransactionInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    signedAppTransactionInfo = try json.string("signedAppTransactionInfo")
  }
}

/// The transactions of one order (Look Up Order ID).
package struct OrderLookupResponse: DecodedPayload {
  package let json: JSONObject

  package let status: OrderLookupStatus?
  /// Signed transactions: JWS, not yet verified.
  package let signedTransactions: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    status = try json.code("status")
    signedTransactions = try json.strings("signedTransactions")
  }
}

/// A page of all transactions of one customer in one app (Get Transaction History).
package struct HistoryResponse: DecodedPayload {
  package let json: JSONObject

  /// The token of the next page.
  package let revision: String?
  /// Whether there is a next page.
  package let hasMore: Bool?
  package let bundleId: String?
  /// The app's App Store id; absent in Apple's sandbox.
  package let appAppleId: Int64?
  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// Signed transactions: JWS, not yet verified. At most 20.
  package let signedTransactions: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    revision = try json.string("revision")
    hasMore = try json.bool("hasMore")
    bundleId = try json.string("bundleId")
    appAppleId = try json.integer("appAppleId")
    environment = try json.environment("environment")
    signedTransactions = try json.strings("signedTransactions")
  }
}

/// A page of the refunded transactions of one customer (Get Refund History).
package struct RefundHistoryResponse: DecodedPayload {
  package let json: JSONObject

  /// Signed transactions: JWS, not yet verified. At most 20.
  package let signedTransactions: [String]?
  /// The token of the next page.
  package let revision: String?
  /// Whether there is a next page.
  package let hasMore: Bool?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    signedTransactions = try json.strings("signedTransactions")
    revision = try json.string("revision")
    hasMore = try json.bool("hasMore")
  }
}

/// Whether an order id belongs to the app (Apple's `status` of Look Up Order ID).
package enum OrderLookupStatus: OpenCode {
  /// The order has purchases of the app.
  case valid
  /// The order id is malformed, or is not of the app.
  case invalid
  case unrecognized(Int64)

  package static let known: [OrderLookupStatus] = [.valid, .invalid]

  package var rawValue: Int64 {
    switch self {
    case .valid: 0
    case .invalid: 1
    case .unrecognized(let rawValue): rawValue
    }
  }
}
