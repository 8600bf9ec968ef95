internal import JSON

// Groups and seats (App Store Server API 1.22 and 1.23).
extension AppStoreRequest {
  /// Get Customer Groups.
  package static func customerGroups(of transactionID: String) -> AppStoreRequest {
    AppStoreRequest(.groups, .get, "groups", "v1", "currentGroups", transactionID)
  }

  /// Get Group Members.
  ///
  /// - `limit`: at most 100 a page; `nil` for Apple's own.
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
  /// - `requestIdentifier`: the same again gives the same seat.
  /// - `appTransactionID`: for whom; `nil` if that is not known yet.
  package static func claimSeat(
    of originalTransactionID: String, requestIdentifier: String, appTransactionID: String? = nil
  ) -> AppStoreRequest {
    var body: JSONObject = ["requestIdentifier": .string(requestIdentifier)]
    if let appTransactionID { body["appTransactionId"] = .string(appTransactionID) }
    return AppStoreRequest(
      .seats, .post, "groups", "v1", "transactions", originalTransactionID, "seats", body: .json(body))
  }

  /// Associate Seat: says for whom a seat was claimed.
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
