package import AppStore
package import JSON

/// Which transactions Get Transaction History tells; what is `nil` or empty excludes none.
package struct TransactionHistoryFilter: Hashable, Sendable {
  /// The kinds of products, in the words of this call.
  package enum ProductType: String, Hashable, Sendable, CaseIterable {
    case autoRenewable = "AUTO_RENEWABLE"
    case nonRenewable = "NON_RENEWABLE"
    case consumable = "CONSUMABLE"
    case nonConsumable = "NON_CONSUMABLE"
  }

  /// The order of the transactions, by the date of their last change.
  package enum Sort: String, Hashable, Sendable {
    case ascending = "ASCENDING"
    case descending = "DESCENDING"
  }

  package var startDate: Instant?
  package var endDate: Instant?
  package var productIds: [String] = []
  package var productTypes: [ProductType] = []
  package var sort: Sort?
  package var subscriptionGroupIdentifiers: [String] = []
  package var inAppOwnershipType: InAppOwnershipType?
  /// Only what was revoked, or only what was not.
  package var revoked: Bool?

  /// All transactions.
  package init() {}
}

extension AppStoreRequest {
  /// Get Transaction History: every transaction of the customer who made `transactionID`, 20 a page.
  ///
  /// - `revision`: from the page before; `nil` for the first.
  package static func transactionHistory(
    of transactionID: String, filter: TransactionHistoryFilter = .init(), revision: String? = nil
  ) -> AppStoreRequest {
    transactionHistory("v2", of: transactionID, filter, revision)
  }

  /// Get Transaction History in its first, deprecated version.
  package static func transactionHistoryV1(
    of transactionID: String, filter: TransactionHistoryFilter = .init(), revision: String? = nil
  ) -> AppStoreRequest {
    transactionHistory("v1", of: transactionID, filter, revision)
  }

  private static func transactionHistory(
    _ version: String, of transactionID: String, _ filter: TransactionHistoryFilter, _ revision: String?
  ) -> AppStoreRequest {
    var query: [QueryItem] = []
    query.add("revision", revision)
    query.add("startDate", filter.startDate?.parameter)
    query.add("endDate", filter.endDate?.parameter)
    query.add("productId", filter.productIds)
    query.add("productType", filter.productTypes.map(\.rawValue))
    query.add("sort", filter.sort?.rawValue)
    query.add("subscriptionGroupIdentifier", filter.subscriptionGroupIdentifiers)
    query.add("inAppOwnershipType", filter.inAppOwnershipType?.rawValue)
    query.add("revoked", filter.revoked.map { $0 ? "true" : "false" })
    return AppStoreRequest(
      .transactionHistory, .get, "inApps", version, "history", transactionID, query: query)
  }

  /// Get Transaction Info: one transaction.
  package static func transactionInfo(_ transactionID: String) -> AppStoreRequest {
    AppStoreRequest(.transactionInfo, .get, "inApps", "v1", "transactions", transactionID)
  }

  /// Get App Transaction Info: the customer's copy of the app.
  package static func appTransactionInfo(of transactionID: String) -> AppStoreRequest {
    AppStoreRequest(
      .appTransactionInfo, .get, "inApps", "v1", "transactions", "appTransactions", transactionID)
  }

  /// Finish Transaction: what the app would do on the device.
  package static func finishTransaction(_ transactionID: String) -> AppStoreRequest {
    AppStoreRequest(.finishTransaction, .post, "inApps", "v1", "transactions", transactionID, "finish")
  }

  /// Set App Account Token.
  ///
  /// - `token`: a UUID. Apple refuses other ids than original ones, and family members'.
  package static func setAppAccountToken(
    _ token: String, of originalTransactionID: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .appAccountToken, .put, "inApps", "v1", "transactions", originalTransactionID, "appAccountToken",
      body: .json(["appAccountToken": .string(token)]))
  }

  /// Get Refund History: the customer's refunded transactions, 20 a page, the oldest refund first.
  package static func refundHistory(of transactionID: String, revision: String? = nil) -> AppStoreRequest {
    var query: [QueryItem] = []
    query.add("revision", revision)
    return AppStoreRequest(
      .refundHistory, .get, "inApps", "v2", "refund", "lookup", transactionID, query: query)
  }

  /// Look Up Order ID: the transactions of an order, by the id in Apple's e-mail to the customer.
  package static func lookUpOrder(_ orderID: String) -> AppStoreRequest {
    AppStoreRequest(.orderLookup, .get, "inApps", "v1", "lookup", orderID)
  }

  /// Send Consumption Information: the answer to a `CONSUMPTION_REQUEST`, within 12 hours.
  package static func sendConsumptionInformation(
    _ information: ConsumptionRequest, of transactionID: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .consumption, .put, "inApps", "v2", "transactions", "consumption", transactionID,
      body: .json(information.json))
  }

  /// Send Consumption Information in its first version, still the one for Advanced Commerce purchases.
  ///
  /// - `information`: Apple's ConsumptionRequest of that version.
  package static func sendConsumptionInformationV1(
    _ information: JSONObject, of transactionID: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .consumption, .put, "inApps", "v1", "transactions", "consumption", transactionID,
      body: .json(information))
  }
}

extension Instant {
  /// As Apple's calls take dates.
  var parameter: String { String(millisecondsSince1970) }
}
