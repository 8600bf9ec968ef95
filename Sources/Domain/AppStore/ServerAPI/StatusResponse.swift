package import JSON

/// How every subscription of one customer in one app stands (Get All Subscription Statuses).
package struct StatusResponse: DecodedPayload {
  package let json: JSONObject

  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  package let bundleId: String?
  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  /// One for each subscription group.
  package let data: [SubscriptionGroupIdentifierItem]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    environment = try reader.environment("environment")
    bundleId = try reader.string("bundleId")
    appAppleId = try reader.integer("appAppleId")
    data = try reader.parts("data")
  }
}

/// The subscriptions of one group (`data` of ``StatusResponse``).
package struct SubscriptionGroupIdentifierItem: DecodedPayload {
  package let json: JSONObject

  package let subscriptionGroupIdentifier: String?
  /// One for each purchase line of the group.
  package let lastTransactions: [LastTransactionsItem]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    subscriptionGroupIdentifier = try reader.string("subscriptionGroupIdentifier")
    lastTransactions = try reader.parts("lastTransactions")
  }
}

/// The newest that Apple has signed about one subscription.
package struct LastTransactionsItem: DecodedPayload {
  package let json: JSONObject

  package let status: SubscriptionStatus?
  package let originalTransactionId: String?
  /// A signed transaction: a JWS, not verified yet.
  package let signedTransactionInfo: String?
  /// A signed renewal info: a JWS, not verified yet.
  package let signedRenewalInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    status = try reader.code("status")
    originalTransactionId = try reader.string("originalTransactionId")
    signedTransactionInfo = try reader.string("signedTransactionInfo")
    signedRenewalInfo = try reader.string("signedRenewalInfo")
  }
}
