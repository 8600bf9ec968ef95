package import AppStore
package import JSON

/// The filter of Get Transaction History; `nil` and empty members exclude nothing.
package struct TransactionHistoryFilter: Hashable, Sendable {
  /// The product types of this call, which are spelled differently elsewhere.
  package enum ProductType: String, Hashable, Sendable, CaseIterable {
    case autoRenewable = "AUTO_RENEWABLE"
    case nonRenewable = "NON_RENEWABLE"
    case consumable = "CONSUMABLE"
    case nonConsumable = "NON_CONSUMABLE"
  }

  /// The order of the transactions by their modification date.
  package enum Sort: String, Hashable, Sendable {
    case ascending = "ASCENDING"
    case descending = "DESCENDING"
  }

  /// The first instant of Apple's purchase dates, inclusive.
  package var startDate: Instant?
  /// The end of Apple's purchase dates, exclusive.
  package var endDate: Instant?
  /// The App Store's product ids.
  package var productIds: [String] = []
  /// The types of products.
  package var productTypes: [ProductType] = []
  /// `nil`: Apple's default, the earliest modification first.
  package var sort: Sort?
  /// The ids of subscription groups.
  package var subscriptionGroupIdentifiers: [String] = []
  /// Purchased, or shared by a family.
  package var inAppOwnershipType: InAppOwnershipType?
  /// Whether to return only revoked, or only unrevoked transactions.
  package var revoked: Bool?

  package init() {}
}

extension AppStoreRequest {
  /// Get Transaction History: all transactions of the customer that made `transactionID`, 20 a page.
  ///
  /// - `revision`: of the previous page; `nil` for the first.
  package static func transactionHistory(
    of transactionID: String, filter: TransactionHistoryFilter = .init(), revision: String? = nil
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
      .transactionHistory, .get, "inApps", "v2", "history", transactionID, query: query)
  }

  /// Get Transaction Info: one transaction.
  package static func transactionInfo(_ transactionID: String) -> AppStoreRequest {
    AppStoreRequest(.transactionInfo, .get, "inApps", "v1", "transactions", transactionID)
  }

  /// Get App Transaction Info: the customer's app install.
  package static func appTransactionInfo(of transactionID: String) -> AppStoreRequest {
    AppStoreRequest(
      .appTransactionInfo, .get, "inApps", "v1", "transactions", "appTransactions", transactionID)
  }

  /// Finish Transaction, as the app does it on the device.
  package static func finishTransaction(_ transactionID: String) -> AppStoreRequest {
    AppStoreRequest(.finishTransaction, .post, "inApps", "v1", "transactions", transactionID, "finish")
  }

  /// Set App Account Token.
  ///
  /// - `token`: a UUID. Apple rejects ids that are not original transaction ids, and family members'.
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

  /// Send Consumption Information, version 1, which Advanced Commerce purchases still need.
  ///
  /// - `information`: Apple's ConsumptionRequest of version 1.
  package static func sendConsumptionInformationV1(
    _ information: JSONObject, of transactionID: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .consumption, .put, "inApps", "v1", "transactions", "consumption", transactionID,
      body: .json(information))
  }
}

extension Instant {
  /// Milliseconds since 1970, the form of dates in query parameters.
  var parameter: String { String(millisecondsSince1970) }
}
