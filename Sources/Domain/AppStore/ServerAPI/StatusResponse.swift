package import JSON

/// The status of all subscriptions of one customer in one app (Get All Subscription Statuses).
package struct StatusResponse: DecodedPayload {
  package let json: JSONObject

  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// The app's bundle id.
  package let bundleId: String?
  /// The app's App Store id; absent in Apple's sandbox.
  package let appAppleId: Int64?
  /// One for each subscription group.
  package let data: [SubscriptionGroupIdentifierItem]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    environment = try json.environment("environment")
    bundleId = try json.string("bundleId")
    appAppleId = try json.integer("appAppleId")
    data = try json.parts("data")
  }
}

/// The subscriptions of one group (`data` of ``StatusResponse``).
package struct SubscriptionGroupIdentifierItem: DecodedPayload {
  package let json: JSONObject

  /// The group; a customer has at most one current subscription in it.
  package let subscriptionGroupIdentifier: String?
  /// One for each purchase of the group.
  package let lastTransactions: [LastTransactionsItem]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    subscriptionGroupIdentifier = try json.string("subscriptionGroupIdentifier")
    lastTransactions = try json.parts("lastTransactions")
  }
}

/// The latest signed documents of one subscription.
package struct LastTransactionsItem: DecodedPayload {
  package let json: JSONObject

  /// The state of the subscription at the time of the response.
  package let status: SubscriptionStatus?
  /// The purchase of the subscription.
  package let originalTransactionId: String?
  /// A signed transaction: a JWS, not yet verified.
  package let signedTransactionInfo: String?
  /// A signed renewal info: a JWS, not yet verified.
  package let signedRenewalInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    status = try json.code("status")
    originalTransactionId = try json.string("originalTransactionId")
    signedTransactionInfo = try json.string("signedTransactionInfo")
    signedRenewalInfo = try json.string("signedRenewalInfo")
  }
}
