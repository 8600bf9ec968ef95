package import AppStore

/// The priority of a paged read, and the timeout of all its pages together or of each.
package struct PagingOptions: Sendable {
  /// Decides the part of the rate limit that the calls leave to others.
  package var priority: CallPriority
  /// `nil` for no timeout.
  package var timeout: Duration?
  /// The timeout of each page, instead of ``timeout``: a long list that makes progress is read to its end.
  package var pageTimeout: Duration?

  package init(
    priority: CallPriority = .interactive, timeout: Duration? = nil, pageTimeout: Duration? = nil
  ) {
    self.priority = priority
    self.timeout = timeout
    self.pageTimeout = pageTimeout
  }
}

/// A response that is one page of a list.
package protocol PageResponse: DecodedPayload, Sendable {
  /// The token of the next page; `nil` on the last page.
  ///
  /// - Throws: ``AppStoreClientError/missing(field:)``.
  var nextPageToken: String? { get throws(AppStoreClientError) }
}

extension HistoryResponse: PageResponse {
  package var nextPageToken: String? {
    get throws(AppStoreClientError) { try token(revision, "revision", hasMore: hasMore) }
  }
}

extension RefundHistoryResponse: PageResponse {
  package var nextPageToken: String? {
    get throws(AppStoreClientError) { try token(revision, "revision", hasMore: hasMore) }
  }
}

extension GetGroupMembersResponse: PageResponse {
  package var nextPageToken: String? {
    get throws(AppStoreClientError) { try token(paginationToken, "paginationToken", hasMore: hasMore) }
  }
}

extension NotificationHistoryResponse: PageResponse {
  package var nextPageToken: String? {
    get throws(AppStoreClientError) { try token(paginationToken, "paginationToken", hasMore: hasMore) }
  }
}

private func token(
  _ token: String?, _ field: String, hasMore: Bool?
) throws(AppStoreClientError) -> String? {
  guard hasMore == true else { return nil }
  guard let token, !token.isEmpty else { throw .missing(field: field) }
  return token
}

/// Reads a list of the App Store Server API page by page.
package struct PageReader<Page: PageResponse> {
  private let client: AppStoreServerClient
  private let options: PagingOptions
  private let deadline: Duration?
  private let request: (_ token: String?) -> AppStoreRequest
  private var token: String?
  private var seenTokens: Set<String>
  private var lastPage: Page?

  fileprivate init(
    _ client: AppStoreServerClient, from token: String?, _ options: PagingOptions,
    request: @escaping (_ token: String?) -> AppStoreRequest
  ) {
    self.client = client
    self.options = options
    self.request = request
    self.token = token
    deadline = client.deadline(after: options.timeout)
    seenTokens = token.map { [$0] } ?? []
  }

  /// Fetches the next page; returns `nil` after the last one.
  ///
  /// - Throws: also ``AppStoreClientError/missing(field:)`` and ``AppStoreClientError/pageLoop(token:)``.
  package mutating func next() async throws(AppStoreClientError) -> Page? {
    if let lastPage {
      guard let next = try lastPage.nextPageToken else { return nil }
      guard seenTokens.insert(next).inserted else { throw .pageLoop(token: next) }
      token = next
    }
    let page: Page = try await client.send(
      request(token), priority: options.priority,
      timeout: options.pageTimeout ?? client.remainingTime(until: deadline))
    lastPage = page
    return page
  }
}

extension AppStoreServerClient {
  /// Reads a customer's transactions, from the page of `revision` on; `nil` for the first.
  package func transactionHistory(
    of transactionID: String, filter: TransactionHistoryFilter = .init(), from revision: String? = nil,
    _ options: PagingOptions = PagingOptions()
  ) -> PageReader<HistoryResponse> {
    PageReader(self, from: revision, options) {
      .transactionHistory(of: transactionID, filter: filter, revision: $0)
    }
  }

  /// Reads the notifications that Apple sent or tried to send, from the page of `paginationToken`; `nil` for the
  /// first.
  package func notificationHistory(
    _ filter: NotificationHistoryFilter, from paginationToken: String? = nil,
    _ options: PagingOptions = PagingOptions()
  ) -> PageReader<NotificationHistoryResponse> {
    PageReader(self, from: paginationToken, options) {
      .notificationHistory(filter, paginationToken: $0)
    }
  }
}
