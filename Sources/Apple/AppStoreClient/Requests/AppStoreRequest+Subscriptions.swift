package import AppStore
internal import JSON

/// Why a renewal date is moved (Apple's `extendReasonCode`).
package enum ExtendReasonCode: Int64, Hashable, Sendable, CaseIterable {
  case undeclared = 0
  case customerSatisfaction = 1
  case other = 2
  case serviceIssueOrOutage = 3
}

extension AppStoreRequest {
  /// Get All Subscription Statuses: how each of the customer's subscriptions stands.
  ///
  /// - `statuses`: only those; empty for all.
  package static func subscriptionStatuses(
    of transactionID: String, statuses: [SubscriptionStatus] = []
  ) -> AppStoreRequest {
    var query: [QueryItem] = []
    query.add("status", statuses.map { String($0.rawValue) })
    return AppStoreRequest(
      .subscriptionStatuses, .get, "inApps", "v1", "subscriptions", transactionID, query: query)
  }

  /// Extend a Subscription Renewal Date.
  ///
  /// - `days`: 1 to 90.
  /// - `requestIdentifier`: Apple extends once for each.
  package static func extendRenewalDate(
    of originalTransactionID: String, byDays days: Int, reason: ExtendReasonCode, requestIdentifier: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .extendRenewalDate, .put, "inApps", "v1", "subscriptions", "extend", originalTransactionID,
      body: .json(extensionBody(byDays: days, reason, requestIdentifier)))
  }

  /// Extend Subscription Renewal Dates for All Active Subscribers.
  ///
  /// - `days`: 1 to 90.
  /// - `requestIdentifier`: Apple extends once for each.
  /// - `storefrontCountryCodes`: ISO 3166-1 alpha-3; empty for all.
  package static func massExtendRenewalDate(
    ofProduct productID: String, byDays days: Int, reason: ExtendReasonCode, requestIdentifier: String,
    storefrontCountryCodes: [String] = []
  ) -> AppStoreRequest {
    var body = extensionBody(byDays: days, reason, requestIdentifier)
    if !storefrontCountryCodes.isEmpty {
      body["storefrontCountryCodes"] = .array(storefrontCountryCodes.map(JSONValue.string))
    }
    body["productId"] = .string(productID)
    return AppStoreRequest(
      .massExtendRenewalDate, .post, "inApps", "v1", "subscriptions", "extend", "mass", body: .json(body))
  }

  /// Get Status of Subscription Renewal Date Extensions.
  package static func massExtensionStatus(
    ofProduct productID: String, requestIdentifier: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .massExtensionStatus, .get, "inApps", "v1", "subscriptions", "extend", "mass", productID,
      requestIdentifier)
  }

  private static func extensionBody(
    byDays days: Int, _ reason: ExtendReasonCode, _ requestIdentifier: String
  ) -> JSONObject {
    [
      "extendByDays": .number(JSONNumber(Int64(days))),
      "extendReasonCode": .number(JSONNumber(reason.rawValue)),
      "requestIdentifier": .string(requestIdentifier),
    ]
  }
}
