internal import AppStore
internal import AppStoreClient
package import Ledger

/// The signed documents of the customer that made a transaction, one response of Apple at a time: the pages of the
/// history, in Apple's order, and then the status of each subscription. They are unverified; the ledger verifies them
/// when it ingests them.
package struct DocumentPages {
  private let client: AppStoreServerClient
  private let request: PurchaseLookup.Request
  private let deadline: Duration?
  private let withStatuses: Bool
  private var history: PageReader<HistoryResponse>
  private var isHistoryRead = false
  /// Whether ``next()`` returned the last response.
  package private(set) var isAtEnd = false
  /// The position after the last page of the history: a later lookup of the same transaction can continue there. `nil`
  /// before the first page.
  package private(set) var revision: String?

  init(
    _ client: AppStoreServerClient, _ request: PurchaseLookup.Request,
    _ filter: TransactionHistoryFilter = TransactionHistoryFilter(), withStatuses: Bool = true,
    from revision: String? = nil
  ) {
    self.client = client
    self.request = request
    self.withStatuses = withStatuses
    self.revision = revision
    deadline = client.deadline(after: request.timeout)
    history = client.transactionHistory(
      of: request.transactionID, filter: filter, from: revision,
      PagingOptions(
        priority: request.priority, timeout: request.timeout, pageTimeout: request.callTimeout))
  }

  /// Fetches the next response and returns its documents; `nil` after the last one.
  ///
  /// - Throws: ``LookupError/appStore(_:)`` or ``LookupError/cancelled``.
  package mutating func next() async throws(LookupError) -> [Submission]? {
    if !isHistoryRead {
      let page: HistoryResponse?
      do throws(AppStoreClientError) { page = try await history.next() } catch { throw LookupError(error) }
      if let page {
        revision = page.revision ?? revision
        return (page.signedTransactions ?? []).map { Submission(transaction: $0, request) }
      }
      isHistoryRead = true
    }
    guard withStatuses, !isAtEnd else { return nil }
    let timeout = request.callTimeout ?? client.remainingTime(until: deadline)
    let documents = try await client.statuses(request, timeout: timeout)
    isAtEnd = true
    return documents
  }
}

extension AppStoreServerClient {
  /// Returns the last transaction and the renewal info of each of the customer's subscriptions, in all groups.
  func statuses(
    _ request: PurchaseLookup.Request, timeout: Duration?
  ) async throws(LookupError) -> [Submission] {
    let response: StatusResponse
    do throws(AppStoreClientError) {
      response = try await send(
        .subscriptionStatuses(of: request.transactionID), priority: request.priority, timeout: timeout)
    } catch {
      throw LookupError(error)
    }
    return (response.data ?? []).flatMap { $0.lastTransactions ?? [] }.map {
      Submission(transaction: $0.signedTransactionInfo, renewalInfo: $0.signedRenewalInfo, request)
    }
  }
}

extension Submission {
  /// A signed transaction, its subscription's signed renewal info, or both, of a response to `request`.
  init(transaction: String?, renewalInfo: String? = nil, _ request: PurchaseLookup.Request) {
    self.init(
      appID: request.appID, customerID: request.customerID, signedTransaction: transaction,
      signedRenewalInfo: renewalInfo, environment: request.environment, source: .appStoreServerAPI)
  }
}
