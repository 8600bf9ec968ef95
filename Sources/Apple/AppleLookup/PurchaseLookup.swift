package import AppStore
package import AppStoreClient
package import Ledger

/// Asks Apple for everything about the customer behind one transaction, and hands it to the ledger, which
/// verifies each document before it counts.
package struct PurchaseLookup: Sendable {
  /// About whom Apple is asked, and for whom.
  package struct Request: Sendable {
    package var appID: String
    package var environment: Environment
    /// Any transaction of the customer's, or an original transaction id.
    package var transactionID: String
    /// To whom the purchases are linked; `nil` for whoever has or claims them.
    package var customerID: String?
    package var priority: CallPriority = .interactive
    /// For all calls together; `nil` for as long as it takes.
    package var timeout: Duration?

    /// A request about the customer of `transactionID`.
    package init(appID: String, environment: Environment, transactionID: String) {
      self.appID = appID
      self.environment = environment
      self.transactionID = transactionID
    }
  }

  /// What Apple answered. All of it is durable.
  package struct Result: Sendable {
    /// The transactions, each as Apple signed it last, in Apple's order.
    package var transactions: [JWSTransactionDecodedPayload] = []
    /// Whose the purchases are, as far as anybody's.
    package var customerIDs: [String] = []
    /// How many documents were new.
    package var changed = 0
    /// What was not to be believed, or belongs to somebody else: each with its reason.
    package var refused: [LedgerError] = []

    /// Throws for the first document that is not genuine, for whoever has to know that not all was answered.
    package func requireVerified() throws(LookupError) {
      for case .rejected(let rejection, let evidence) in refused {
        throw .rejectedDocument(rejection, evidence: evidence)
      }
    }
  }

  private let clients: AppStoreClients
  private let ledger: EvidenceLedger

  /// Enquiries through `clients`, whose result go into `ledger`.
  package init(clients: AppStoreClients, ledger: EvidenceLedger) {
    self.clients = clients
    self.ledger = ledger
  }

  /// Where Apple can be asked, in no particular order.
  package var appEnvironments: [(appID: String, environment: Environment)] { clients.appEnvironments }

  /// The client for an app in an environment.
  package func client(
    for appID: String, in environment: Environment
  ) throws(LookupError) -> AppStoreServerClient {
    guard let client = clients[appID, environment] else {
      throw .noKey(appID: appID, environment: environment)
    }
    return client
  }

  /// Asks for all transactions and for how each subscription stands (WWDC21-10174: history, then statuses).
  package func fetchAll(_ request: Request) async throws(LookupError) -> Result {
    var result = Result()
    try await read(request) { documents in try await ingest(documents, request, into: &result) }
    return result
  }

  /// Asks only how each subscription stands: one call.
  package func fetchStatuses(_ request: Request) async throws(LookupError) -> Result {
    var result = Result()
    try await calling(request) { client in
      try await ingest(
        try await statuses(client, request, timeout: request.timeout), request, into: &result)
    }
    return result
  }

  /// Asks only for what the customer bought that is neither a subscription nor used up: one call, unless that is a
  /// great deal.
  package func fetchNonSubscriptions(_ request: Request) async throws(LookupError) -> Result {
    var others = TransactionHistoryFilter()
    others.productTypes = [.nonConsumable, .nonRenewable]
    return try await fetchHistory(request, others)
  }

  /// Asks only for the transactions since a moment, or for all: one call, unless they are many.
  package func fetchHistory(_ request: Request, since start: Instant?) async throws(LookupError) -> Result {
    var filter = TransactionHistoryFilter()
    filter.startDate = start
    return try await fetchHistory(request, filter)
  }

  private func fetchHistory(
    _ request: Request, _ filter: TransactionHistoryFilter
  ) async throws(LookupError) -> Result {
    var result = Result()
    try await calling(request) { client in
      let reading = PagingOptions(priority: request.priority, timeout: request.timeout)
      try await client.readTransactionHistory(of: request.transactionID, filter: filter, reading) { page in
        try await ingest(
          (page.signedTransactions ?? []).map { Documents(transaction: $0) }, request, into: &result)
      }
    }
    return result
  }

  /// Asks as ``ask(_:)`` does, but leaves it to the caller to hand the documents in, in Apple's order.
  package func fetchDocuments(_ request: Request) async throws(LookupError) -> [Submission] {
    var submissions: [Submission] = []
    try await read(request) { documents in submissions += documents.map { $0.submission(request) } }
    return submissions
  }

  private func read(
    _ request: Request, take: ([Documents]) async throws -> Void
  ) async throws(LookupError) {
    try await calling(request) { client in
      let deadline = client.deadline(after: request.timeout)
      let reading = PagingOptions(priority: request.priority, timeout: request.timeout)
      try await client.readTransactionHistory(of: request.transactionID, reading) { page in
        try await take((page.signedTransactions ?? []).map { Documents(transaction: $0) })
      }
      try await take(try await statuses(client, request, timeout: client.remainingTime(until: deadline)))
    }
  }

  private func statuses(
    _ client: AppStoreServerClient, _ request: Request, timeout: Duration?
  ) async throws -> [Documents] {
    let statuses: StatusResponse = try await client.send(
      .subscriptionStatuses(of: request.transactionID), priority: request.priority, timeout: timeout)
    return (statuses.data ?? []).flatMap { $0.lastTransactions ?? [] }.map {
      Documents(transaction: $0.signedTransactionInfo, renewalInfo: $0.signedRenewalInfo)
    }
  }

  /// Calls Apple, and says by one type of error what went wrong.
  private func calling(
    _ request: Request, _ call: (AppStoreServerClient) async throws -> Void
  ) async throws(LookupError) {
    let client = try client(for: request.appID, in: request.environment)
    do {
      try await call(client)
    } catch let error as AppStoreClientError {
      throw .appStore(error)
    } catch let error as LedgerError {
      throw .ledger(error)
    } catch {
      throw .appStore(.cancelled)
    }
  }

  /// Hands in documents that Apple gave to another call.
  package func ingest(
    signedTransactions: [String], _ request: Request
  ) async throws(LookupError) -> Result {
    var result = Result()
    do {
      try await ingest(signedTransactions.map { Documents(transaction: $0) }, request, into: &result)
    } catch let error as LedgerError {
      throw .ledger(error)
    } catch {
      throw .appStore(.cancelled)
    }
    return result
  }

  private struct Documents: Sendable {
    var transaction: String?
    var renewalInfo: String?

    func submission(_ request: Request) -> Submission {
      Submission(
        appID: request.appID, customerID: request.customerID, signedTransaction: transaction,
        signedRenewalInfo: renewalInfo, source: .appStoreServerAPI)
    }
  }

  private func ingest(
    _ documents: [Documents], _ request: Request, into result: inout Result
  ) async throws {
    for outcome in try await ledger.submitBatch(documents.map { $0.submission(request) }) {
      switch outcome {
      case .success(let taken):
        if !taken.isDuplicate { result.changed += 1 }
        if let customer = taken.customerID, !result.customerIDs.contains(customer) {
          result.customerIDs.append(customer)
        }
        if let transaction = taken.transaction { result.transactions.append(transaction) }
      case .failure(let error):
        guard error.concernsOneDocument else { throw error }
        result.refused.append(error)
      }
    }
  }
}

extension LedgerError {
  /// Whether the others of the same answer may still be taken in.
  fileprivate var concernsOneDocument: Bool {
    switch self {
    case .rejected, .ownedByAnotherCustomer: true
    default: false
    }
  }
}
