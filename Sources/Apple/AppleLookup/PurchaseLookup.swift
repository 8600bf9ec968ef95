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
    package var patience: Duration?

    /// A question about the customer of `transactionID`.
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
    package func requireGenuine() throws(LookupError) {
      for case .rejected(let rejection, let evidence) in refused {
        throw .notGenuine(rejection, evidence: evidence)
      }
    }
  }

  private let clients: AppStoreClients
  private let ledger: EvidenceLedger

  /// Enquiries through `clients`, whose findings go into `ledger`.
  package init(clients: AppStoreClients, ledger: EvidenceLedger) {
    self.clients = clients
    self.ledger = ledger
  }

  /// Where Apple can be asked, in no particular order.
  package var places: [(appID: String, environment: Environment)] { clients.places }

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
  package func ask(_ question: Request) async throws(LookupError) -> Result {
    var findings = Result()
    try await read(question) { documents in try await hand(documents, question, into: &findings) }
    return findings
  }

  /// Asks only how each subscription stands: one call.
  package func askStatuses(_ question: Request) async throws(LookupError) -> Result {
    var findings = Result()
    try await calling(question) { client in
      try await hand(
        try await statuses(client, question, patience: question.patience), question, into: &findings)
    }
    return findings
  }

  /// Asks only for what the customer bought that is neither a subscription nor used up: one call, unless that is a
  /// great deal.
  package func askOthers(_ question: Request) async throws(LookupError) -> Result {
    var others = TransactionHistoryFilter()
    others.productTypes = [.nonConsumable, .nonRenewable]
    return try await askHistory(question, others)
  }

  /// Asks only for the transactions since a moment, or for all: one call, unless they are many.
  package func askHistory(_ question: Request, since start: Instant?) async throws(LookupError) -> Result {
    var filter = TransactionHistoryFilter()
    filter.startDate = start
    return try await askHistory(question, filter)
  }

  private func askHistory(
    _ question: Request, _ filter: TransactionHistoryFilter
  ) async throws(LookupError) -> Result {
    var findings = Result()
    try await calling(question) { client in
      let reading = PagingOptions(priority: question.priority, patience: question.patience)
      try await client.readTransactionHistory(of: question.transactionID, filter: filter, reading) { page in
        try await hand(
          (page.signedTransactions ?? []).map { Documents(transaction: $0) }, question, into: &findings)
      }
    }
    return findings
  }

  /// Asks as ``ask(_:)`` does, but leaves it to the caller to hand the documents in, in Apple's order.
  package func gather(_ question: Request) async throws(LookupError) -> [Submission] {
    var submissions: [Submission] = []
    try await read(question) { documents in submissions += documents.map { $0.submission(question) } }
    return submissions
  }

  private func read(
    _ question: Request, take: ([Documents]) async throws -> Void
  ) async throws(LookupError) {
    try await calling(question) { client in
      let deadline = client.deadline(after: question.patience)
      let reading = PagingOptions(priority: question.priority, patience: question.patience)
      try await client.readTransactionHistory(of: question.transactionID, reading) { page in
        try await take((page.signedTransactions ?? []).map { Documents(transaction: $0) })
      }
      try await take(try await statuses(client, question, patience: client.patience(until: deadline)))
    }
  }

  private func statuses(
    _ client: AppStoreServerClient, _ question: Request, patience: Duration?
  ) async throws -> [Documents] {
    let statuses: StatusResponse = try await client.send(
      .subscriptionStatuses(of: question.transactionID), priority: question.priority, patience: patience)
    return (statuses.data ?? []).flatMap { $0.lastTransactions ?? [] }.map {
      Documents(transaction: $0.signedTransactionInfo, renewalInfo: $0.signedRenewalInfo)
    }
  }

  /// Calls Apple, and says by one type of error what went wrong.
  private func calling(
    _ question: Request, _ call: (AppStoreServerClient) async throws -> Void
  ) async throws(LookupError) {
    let client = try client(for: question.appID, in: question.environment)
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
  package func hand(
    signedTransactions: [String], _ question: Request
  ) async throws(LookupError) -> Result {
    var findings = Result()
    do {
      try await hand(signedTransactions.map { Documents(transaction: $0) }, question, into: &findings)
    } catch let error as LedgerError {
      throw .ledger(error)
    } catch {
      throw .appStore(.cancelled)
    }
    return findings
  }

  private struct Documents: Sendable {
    var transaction: String?
    var renewalInfo: String?

    func submission(_ question: Request) -> Submission {
      Submission(
        appID: question.appID, customerID: question.customerID, signedTransaction: transaction,
        signedRenewalInfo: renewalInfo, source: .appStoreServerAPI)
    }
  }

  private func hand(
    _ documents: [Documents], _ question: Request, into findings: inout Result
  ) async throws {
    for outcome in try await ledger.submitBatch(documents.map { $0.submission(question) }) {
      switch outcome {
      case .success(let taken):
        if !taken.isDuplicate { findings.changed += 1 }
        if let customer = taken.customerID, !findings.customerIDs.contains(customer) {
          findings.customerIDs.append(customer)
        }
        if let transaction = taken.transaction { findings.transactions.append(transaction) }
      case .failure(let error):
        guard error.concernsOneDocument else { throw error }
        findings.refused.append(error)
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
