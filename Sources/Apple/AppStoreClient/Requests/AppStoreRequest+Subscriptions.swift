package import AppStore
internal import JSON

/// The reason for extending a renewal date (Apple's `extendReasonCode`).
package enum ExtendReasonCode: Int64, Hashable, Sendable, CaseIterable {
  /// No reason is given.
  case undeclared = 0
  /// The extension is to satisfy the customer.
  case customerSatisfaction = 1
  /// Any other reason.
  case other = 2
  /// The service did not work for a time.
  case serviceIssueOrOutage = 3
}

extension AppStoreRequest {
  /// Get All Subscription Statuses: the status of each of the customer's subscriptions.
  ///
  /// - `statuses`: selects subscriptions with one of these; empty for all.
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
  /// - `requestIdentifier`: the idempotency key.
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
  /// - `requestIdentifier`: the idempotency key.
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

// Groups and seats of subscriptions (App Store Server API 1.22 and 1.23).
extension AppStoreRequest {
  /// Get Customer Groups.
  package static func customerGroups(of transactionID: String) -> AppStoreRequest {
    AppStoreRequest(.groups, .get, "groups", "v1", "currentGroups", transactionID)
  }

  /// Get Group Members.
  ///
  /// - `limit`: page size, at most 100; `nil` for Apple's default.
  package static func groupMembers(
    of groupID: String, limit: Int? = nil, paginationToken: String? = nil
  ) -> AppStoreRequest {
    var query: [QueryItem] = []
    query.add("limit", limit.map(String.init))
    query.add("paginationToken", paginationToken)
    return AppStoreRequest(.groups, .get, "groups", "v1", "group", groupID, query: query)
  }

  /// Get Seat Info.
  package static func seats(of originalTransactionID: String) -> AppStoreRequest {
    AppStoreRequest(.seats, .get, "groups", "v1", "transactions", originalTransactionID, "seats")
  }

  /// Claim Seat.
  ///
  /// - `requestIdentifier`: the idempotency key.
  /// - `appTransactionID`: identifies the seat holder; `nil` if unknown yet.
  package static func claimSeat(
    of originalTransactionID: String, requestIdentifier: String, appTransactionID: String? = nil
  ) -> AppStoreRequest {
    var body: JSONObject = ["requestIdentifier": .string(requestIdentifier)]
    if let appTransactionID { body["appTransactionId"] = .string(appTransactionID) }
    return AppStoreRequest(
      .seats, .post, "groups", "v1", "transactions", originalTransactionID, "seats", body: .json(body))
  }

  /// Associate Seat: assigns a claimed seat to an app install.
  package static func associateSeat(
    _ seatClaimID: String, of originalTransactionID: String, appTransactionID: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .seats, .post, "groups", "v1", "transactions", originalTransactionID, "seats", seatClaimID,
      "associate", body: .json(["appTransactionId": .string(appTransactionID)]))
  }

  /// Unclaim Seat.
  package static func unclaimSeat(
    _ seatClaimID: String, of originalTransactionID: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .seats, .delete, "groups", "v1", "transactions", originalTransactionID, "seats", seatClaimID)
  }
}
