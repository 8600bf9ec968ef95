package import AppStore

/// One page of something that Apple gives page by page.
private protocol Page {
  /// Where the next page is found; `nil` if there is none.
  var nextPlace: String? { get throws(AppStoreClientError) }
}

extension HistoryResponse: Page {
  fileprivate var nextPlace: String? {
    get throws(AppStoreClientError) { try next(hasMore, revision, "revision") }
  }
}

extension RefundHistoryResponse: Page {
  fileprivate var nextPlace: String? {
    get throws(AppStoreClientError) { try next(hasMore, revision, "revision") }
  }
}

extension NotificationHistoryResponse: Page {
  fileprivate var nextPlace: String? {
    get throws(AppStoreClientError) { try next(hasMore, paginationToken, "paginationToken") }
  }
}

extension GetGroupMembersResponse: Page {
  fileprivate var nextPlace: String? {
    get throws(AppStoreClientError) { try next(hasMore, paginationToken, "paginationToken") }
  }
}

private func next(
  _ hasMore: Bool?, _ place: String?, _ field: String
) throws(AppStoreClientError) -> String? {
  guard hasMore == true else { return nil }
  guard let place, !place.isEmpty else { throw .missing(field: field) }
  return place
}

/// How a long reading goes: who comes first, and how long the caller waits for all pages together.
package struct PagingOptions: Sendable {
  package var priority: CallPriority
  /// `nil` for as long as it takes.
  package var timeout: Duration?

  /// A reading of that priority.
  package init(priority: CallPriority = .interactive, timeout: Duration? = nil) {
    self.priority = priority
    self.timeout = timeout
  }
}

extension AppStoreServerClient {
  /// Reads all pages of a customer's transactions.
  ///
  /// - `revision`: where an earlier reading stopped; `nil` for the beginning.
  /// - `take`: is given each page before the next one is asked for.
  package func readTransactionHistory(
    of transactionID: String, filter: TransactionHistoryFilter = .init(), from revision: String? = nil,
    _ reading: PagingOptions = PagingOptions(),
    take: (HistoryResponse) async throws -> Void
  ) async throws {
    try await readPages(from: revision, reading, take: take) {
      .transactionHistory(of: transactionID, filter: filter, revision: $0)
    }
  }

  /// Reads all pages of a customer's refunds; see
  /// ``readTransactionHistory(of:filter:from:_:take:)``.
  package func readRefundHistory(
    of transactionID: String, from revision: String? = nil, _ reading: PagingOptions = PagingOptions(),
    take: (RefundHistoryResponse) async throws -> Void
  ) async throws {
    try await readPages(from: revision, reading, take: take) {
      .refundHistory(of: transactionID, revision: $0)
    }
  }

  /// Reads all pages of the notifications that Apple sent; see
  /// ``readTransactionHistory(of:filter:from:_:take:)``.
  package func readNotificationHistory(
    _ filter: NotificationHistoryFilter, from paginationToken: String? = nil,
    _ reading: PagingOptions = PagingOptions(), take: (NotificationHistoryResponse) async throws -> Void
  ) async throws {
    try await readPages(from: paginationToken, reading, take: take) {
      .notificationHistory(filter, paginationToken: $0)
    }
  }

  /// Reads all pages of the members of a group; see ``readTransactionHistory(of:filter:from:_:take:)``.
  package func readGroupMembers(
    of groupID: String, _ reading: PagingOptions = PagingOptions(),
    take: (GetGroupMembersResponse) async throws -> Void
  ) async throws {
    try await readPages(from: nil, reading, take: take) {
      .groupMembers(of: groupID, paginationToken: $0)
    }
  }

  private func readPages<Response: DecodedPayload & Page>(
    from start: String?, _ reading: PagingOptions, take: (Response) async throws -> Void,
    _ request: (String?) -> AppStoreRequest
  ) async throws {
    let deadline = deadline(after: reading.timeout)
    var place = start
    var seen: Set<String> = []
    if let start { seen.insert(start) }
    while true {
      let page: Response = try await send(
        request(place), priority: reading.priority, timeout: remainingTime(until: deadline))
      try await take(page)
      guard let next = try page.nextPlace else { return }
      guard seen.insert(next).inserted else { throw AppStoreClientError.pageLoop(place: next) }
      place = next
    }
  }
}
