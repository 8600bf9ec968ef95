package import AppStore
package import AppStoreClient
package import Ledger
internal import Store

/// Fetches purchases from the App Store Server API and ingests the signed documents through the ledger, which
/// verifies each of them.
package struct PurchaseLookup: Sendable {
  /// A lookup of the customer that made a transaction.
  package struct Request: Sendable {
    /// The operator's name for the app.
    package var appID: String
    /// The environment in which the transaction was made.
    package var environment: Environment
    /// Any transaction id of the customer, or an original transaction id.
    package var transactionID: String
    /// The customer to link the purchases to; `nil` to keep their owners and claims.
    package var customerID: String?
    /// Decides the part of the rate limit that the calls leave to others.
    package var priority: CallPriority = .interactive
    /// The timeout of all calls together; `nil` for none.
    package var timeout: Duration?
    /// The timeout of each call, instead of ``timeout``: the history of a large account takes many calls.
    package var callTimeout: Duration?

    package init(appID: String, environment: Environment, transactionID: String) {
      self.appID = appID
      self.environment = environment
      self.transactionID = transactionID
    }
  }

  /// The ingested response. All of it is durable.
  package struct Result: Sendable {
    /// The latest version of each transaction, each once, in Apple's order.
    package private(set) var transactions: [JWSTransactionDecodedPayload] = []
    private var indices: [String: Int] = [:]
    /// The owners of the purchases, each once.
    package var customerIDs: [String] = []
    /// The number of documents that were not stored before.
    package var newDocuments = 0
    /// The ids of the transactions that were new, or newer than the stored ones.
    package fileprivate(set) var newTransactions: Set<String> = []
    /// The errors of documents that failed verification or belong to another customer.
    package var documentErrors: [LedgerError] = []

    /// Adds a transaction. The history and the statuses contain the latest one of a subscription both; of several
    /// versions the one that was signed last counts.
    fileprivate mutating func insert(_ transaction: JWSTransactionDecodedPayload) {
      guard let id = transaction.transactionId else { return transactions.append(transaction) }
      guard let index = indices[id] else {
        indices[id] = transactions.count
        return transactions.append(transaction)
      }
      if let known = transactions[index].signedDate, let new = transaction.signedDate, new < known { return }
      transactions[index] = transaction
    }

    /// Throws for the first document that failed verification, for callers that need the whole response.
    package func requireVerified() throws(LookupError) {
      for case .rejected(let rejection, let evidence) in documentErrors {
        throw .rejectedDocument(rejection, evidence: evidence)
      }
    }
  }

  private let clients: AppStoreClients
  private let ledger: EvidenceLedger

  /// Creates a lookup that calls `clients` and ingests into `ledger`.
  package init(clients: AppStoreClients, ledger: EvidenceLedger) {
    self.clients = clients
    self.ledger = ledger
  }

  /// The apps and environments that have a client, in no particular order.
  package var appEnvironments: [AppEnvironment] {
    clients.targets.map { AppEnvironment(appID: $0.appID, environment: $0.environment) }
  }

  /// Returns the client of an app in an environment.
  ///
  /// - Throws: ``LookupError/noKey(appID:environment:)``.
  package func client(
    for appID: String, in environment: Environment
  ) throws(LookupError) -> AppStoreServerClient {
    guard let client = clients[appID, environment] else {
      throw .noKey(appID: appID, environment: environment)
    }
    return client
  }

  /// Fetches and ingests all transactions, then the status of each subscription (WWDC21-10174).
  ///
  /// - Throws: ``LookupError``; what was ingested before the error stays, and a repetition is safe.
  package func fetchAll(_ request: Request) async throws(LookupError) -> Result {
    var result = Result()
    var pages = try pages(request)
    while let documents = try await pages.next() {
      try await ingest(documents, request, into: &result)
    }
    return result
  }

  /// Fetches and ingests what ``fetchAll(_:)`` does without returning it, so that the history may be of any length. It
  /// begins at `revision`, and sets it after each page; `nil` is the beginning, and the end.
  ///
  /// - Throws: as ``fetchAll(_:)``.
  package func ingestAll(_ request: Request, from revision: inout String?) async throws(LookupError) {
    var pages = try pages(request, from: revision)
    while let documents = try await pages.next() {
      var result = Result()
      try await ingest(documents, request, into: &result)
      revision = pages.revision
    }
    revision = nil
  }

  /// Fetches what ``fetchAll(_:)`` does without ingesting it; the caller ingests the documents, in Apple's order.
  ///
  /// - Throws: ``LookupError/noKey(appID:environment:)``, ``LookupError/appStore(_:)`` or ``LookupError/cancelled``.
  package func fetchDocuments(_ request: Request) async throws(LookupError) -> [Submission] {
    var submissions: [Submission] = []
    var pages = try pages(request)
    while let documents = try await pages.next() { submissions += documents }
    return submissions
  }

  /// Returns the responses that ``fetchAll(_:)`` ingests, for a caller that ingests them one after the other. It continues
  /// at `revision`, the ``DocumentPages/revision`` at which an earlier lookup ended; `nil` to read all.
  ///
  /// - Throws: ``LookupError/noKey(appID:environment:)``.
  package func pages(_ request: Request, from revision: String? = nil) throws(LookupError) -> DocumentPages {
    DocumentPages(try client(for: request.appID, in: request.environment), request, from: revision)
  }

  /// Fetches and ingests the status of each subscription, with one call.
  ///
  /// - Throws: ``LookupError``, also for a document that does not verify, which is stored as rejected.
  package func fetchStatuses(_ request: Request) async throws(LookupError) -> Result {
    var result = Result()
    let client = try client(for: request.appID, in: request.environment)
    let documents = try await client.statuses(request, timeout: request.callTimeout ?? request.timeout)
    try await ingest(documents, request, into: &result)
    return result
  }

  /// Fetches and ingests the non-consumables and non-renewing subscriptions, 20 with each call.
  ///
  /// - Throws: as ``fetchAll(_:)``.
  package func fetchNonSubscriptions(_ request: Request) async throws(LookupError) -> Result {
    var filter = TransactionHistoryFilter()
    filter.productTypes = [.nonConsumable, .nonRenewable]
    return try await fetchHistory(request, filter)
  }

  /// Fetches and ingests the transactions that Apple refunded or revoked, 20 with each call.
  ///
  /// - Throws: as ``fetchAll(_:)``.
  package func fetchRevocations(_ request: Request) async throws(LookupError) -> Result {
    var filter = TransactionHistoryFilter()
    filter.revoked = true
    return try await fetchHistory(request, filter)
  }

  /// Fetches and ingests the transactions from an instant on, or all, 20 with each call.
  ///
  /// - Throws: as ``fetchAll(_:)``.
  package func fetchHistory(_ request: Request, since start: Instant?) async throws(LookupError) -> Result {
    var filter = TransactionHistoryFilter()
    filter.startDate = start
    return try await fetchHistory(request, filter)
  }

  /// Ingests signed transactions that another call of the App Store returned.
  ///
  /// - Throws: ``LookupError/rejectedDocument(_:evidence:)`` or ``LookupError/ledger(_:)``.
  package func ingest(
    signedTransactions: [String], _ request: Request
  ) async throws(LookupError) -> Result {
    var result = Result()
    try await ingest(signedTransactions.map { Submission(transaction: $0, request) }, request, into: &result)
    return result
  }
}

extension PurchaseLookup {
  private func fetchHistory(
    _ request: Request, _ filter: TransactionHistoryFilter
  ) async throws(LookupError) -> Result {
    var result = Result()
    var pages = DocumentPages(
      try client(for: request.appID, in: request.environment), request, filter, withStatuses: false)
    while let documents = try await pages.next() {
      try await ingest(documents, request, into: &result)
    }
    return result
  }

  /// Ingests documents in one batch. An error that concerns one document is collected in `result`; any other ends the
  /// lookup.
  private func ingest(
    _ documents: [Submission], _ request: Request, into result: inout Result
  ) async throws(LookupError) {
    do throws(LedgerError) {
      for outcome in try await ledger.submitBatch(documents) {
        switch outcome {
        case .success(let submitted):
          if !submitted.isDuplicate { result.newDocuments += 1 }
          if let customer = submitted.customerID, !result.customerIDs.contains(customer) {
            result.customerIDs.append(customer)
          }
          guard let transaction = submitted.transaction else { continue }
          result.insert(transaction)
          if submitted.isNewTransaction, let id = transaction.transactionId {
            result.newTransactions.insert(id)
          }
        case .failure(let error):
          guard error.concernsOneDocument else { throw error }
          result.documentErrors.append(error)
        }
      }
    } catch {
      throw .ledger(error)
    }
  }
}

extension LedgerError {
  /// Whether the other documents of the same response can still be ingested.
  fileprivate var concernsOneDocument: Bool {
    switch self {
    case .rejected, .ownedByAnotherCustomer, .installOfAnotherCustomer: true
    default: false
    }
  }
}
