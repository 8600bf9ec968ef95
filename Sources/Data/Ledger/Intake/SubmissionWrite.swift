internal import AppStore
internal import Entitlements
internal import Store

/// One verified submission, ready to be written.
struct SubmissionWrite: Sendable {
  /// The committed result.
  struct Outcome: Sendable {
    /// The id of the first document.
    let evidenceID: EvidenceID
    let isDuplicate: Bool
    /// Whether the transaction was new, or newer than the stored one.
    let isNewTransaction: Bool
    /// The owner; `nil` while the purchase is unclaimed.
    let customerID: String?
    let belongsToAnotherCustomer: Bool
  }

  /// The state after the documents were applied and before the derivation ran.
  struct Applied {
    fileprivate let first: EvidenceID
    fileprivate let isDuplicate: Bool
    fileprivate let isNewTransaction: Bool
    fileprivate let customer: CustomerKey?
    fileprivate let belongsToAnotherCustomer: Bool
  }

  /// The evidence of a submission.
  struct Appended {
    /// The id of the first document.
    let first: EvidenceID
    /// The last document that was not stored before; `nil` if all were.
    let lastNew: EvidenceID?
  }

  let verified: VerifiedSubmission
  /// The customer who submitted it.
  var customerID: String? { submission.customerID }
  private let submission: Submission
  private let catalog: Catalog
  private let policy: OwnershipPolicy

  init(
    _ submission: Submission, _ verified: VerifiedSubmission, catalog: Catalog, policy: OwnershipPolicy
  ) {
    self.submission = submission
    self.verified = verified
    self.catalog = catalog
    self.policy = policy
  }

  /// Appends the evidence and runs the derivation; `now` is the time of the write.
  ///
  /// - Returns: the outcome with the owner's facts, and the effects of the write.
  func record(
    in store: any StoreTransaction, at now: Instant
  ) throws(StoreError) -> ((Outcome, CustomerFacts), [LedgerEffect]) {
    var applier = FactApplier(store, catalog: catalog, now: now)
    let applied = try apply(to: &applier)
    try applier.linkTokenCustomers()
    let derived = try Derivation.run(applier)
    let outcome = try outcome(of: applied, in: store)
    var facts = CustomerFacts()
    if let id = outcome.customerID {
      facts = try store.facts(
        of: customer(id), in: catalog.definition(of: submission.appID), at: now)
    }
    return ((outcome, facts), derived.effects)
  }

  /// Appends and applies the documents, and claims the line for the customer.
  func apply(to applier: inout FactApplier) throws(StoreError) -> Applied {
    let before = applier.changes.newTransactionCount
    let appended = try append(to: &applier)
    let isNewTransaction = applier.changes.newTransactionCount > before
    let store = applier.store
    let customer = try submission.customerID.map { id throws(StoreError) in
      try store.finalMergeTarget(of: self.customer(id))
    }
    var belongsToAnotherCustomer = false
    if let customer, let line {
      let claim = OwnershipClaim(customer: customer, policy: policy, newEvidence: appended.lastNew)
      belongsToAnotherCustomer = try applier.apply(claim, to: line)
    }
    return Applied(
      first: appended.first, isDuplicate: appended.lastNew == nil, isNewTransaction: isNewTransaction,
      customer: customer, belongsToAnotherCustomer: belongsToAnotherCustomer)
  }

  /// Returns the outcome, after the derivation ran.
  func outcome(of applied: Applied, in store: any StoreTransaction) throws(StoreError) -> Outcome {
    var owner = applied.customer?.customerID
    if owner == nil || applied.belongsToAnotherCustomer {
      owner = try line.flatMap { line throws(StoreError) in try store.owners(of: line).first }
    }
    return Outcome(
      evidenceID: applied.first, isDuplicate: applied.isDuplicate,
      isNewTransaction: applied.isNewTransaction, customerID: owner,
      belongsToAnotherCustomer: applied.belongsToAnotherCustomer)
  }

  /// Appends the documents, and applies those that were not stored before.
  func append(to applier: inout FactApplier) throws(StoreError) -> Appended {
    var first: EvidenceID?
    var lastNew: EvidenceID?
    for document in verified.documents {
      let evidence = evidence(document, at: applier.now)
      let appended = try applier.store.append(evidence)
      first = first ?? appended.id
      guard !appended.isDuplicate else { continue }
      lastNew = appended.id
      try applier.apply([document.item], from: StoredEvidence(appended, evidence))
    }
    return Appended(first: first ?? EvidenceID(rawValue: 0), lastNew: lastNew)
  }

  /// The rows that the write reads.
  var expectedReads: ExpectedReads {
    var expected = ExpectedReads()
    if let id = submission.customerID { expected.customers = [customer(id)] }
    for document in verified.documents {
      // The time of the write is no part of the identity.
      let evidence = evidence(document, at: Instant(millisecondsSince1970: 0))
      expected.evidence.insert(EvidenceIdentity(evidence))
      if let id = document.item.lineID { expected.lines.insert(lineKey(id)) }
      if case .transaction(let fact) = document.item {
        expected.add(fact, of: lineKey(fact.originalTransactionID))
      }
    }
    return expected
  }

  /// The error for the sender if the purchase, or the app install, belongs to another customer.
  var ownedByAnother: LedgerError {
    guard let line, line.isPurchase else { return .installOfAnotherCustomer }
    return .ownedByAnotherCustomer(originalTransactionID: line.lineID)
  }

  /// The line that the documents are about.
  var line: LineKey? {
    let id =
      verified.contents.transaction?.originalTransactionID
      ?? verified.contents.renewal?.originalTransactionID
      ?? verified.documents.lazy.compactMap(\.item.lineID).first
    return id.map(lineKey)
  }

  /// The result of a submission in a batch.
  func batchedResult(_ outcome: Outcome) -> Result<BatchedSubmissionResult, LedgerError> {
    guard !outcome.belongsToAnotherCustomer else { return .failure(ownedByAnother) }
    return .success(
      BatchedSubmissionResult(
        isDuplicate: outcome.isDuplicate, isNewTransaction: outcome.isNewTransaction,
        customerID: outcome.customerID, transaction: verified.contents.transactionPayload))
  }

  private func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: submission.appID, environment: verified.environment, customerID: id)
  }

  private func lineKey(_ id: String) -> LineKey {
    LineKey(appID: submission.appID, environment: verified.environment, lineID: id)
  }

  private func evidence(_ document: VerifiedSubmission.Document, at now: Instant) -> Evidence {
    Evidence(
      appID: submission.appID, environment: verified.environment, customerID: submission.customerID,
      kind: document.kind, source: submission.source, receivedAt: now, content: document.content,
      verdict: .accepted)
  }
}

extension ExpectedReads {
  /// Returns the rows that the writes of submissions read.
  static func reads(of entries: [SubmissionWrite]) -> ExpectedReads {
    entries.reduce(into: ExpectedReads()) { $0.formUnion($1.expectedReads) }
  }

  /// Adds what the write of a transaction reads about it, its line, the one that it replaced, and its token.
  mutating func add(_ fact: TransactionFact, of line: LineKey) {
    lines.insert(line)
    transactions.insert(TransactionKey(fact.transactionID, of: line))
    if let previous = fact.details.previousOriginalTransactionID, !previous.isEmpty {
      lines.insert(line.other(previous))
    }
    if let token = fact.details.appAccountToken, !token.isEmpty {
      tokens.insert(ScopedID(token.lowercased(), of: line.appID, in: line.environment))
    }
  }
}
