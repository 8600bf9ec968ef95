internal import AppStore
internal import Entitlements
internal import Store

/// One verified submission, ready to be written.
struct SubmissionWrite: Sendable {
  struct Outcome: Sendable {
    let evidenceID: EvidenceID
    let isDuplicate: Bool
    /// Whose the purchase is; `nil` while nobody has claimed it.
    let customerID: String?
    /// The purchase belongs to others than the customer who was named.
    let belongsToAnotherCustomer: Bool
  }

  let verified: VerifiedSubmission
  /// On whose behalf it comes.
  var customerID: String? { submission.customerID }
  private let submission: Submission
  private let catalog: Catalog
  private let policy: OwnershipPolicy
  private let receivedAt: Instant

  init(
    _ submission: Submission, _ verified: VerifiedSubmission, catalog: Catalog, policy: OwnershipPolicy,
    receivedAt: Instant
  ) {
    self.submission = submission
    self.verified = verified
    self.catalog = catalog
    self.policy = policy
    self.receivedAt = receivedAt
  }

  /// What was found out before anybody was brought up to date.
  struct Applied {
    fileprivate let first: EvidenceID
    fileprivate let isDuplicate: Bool
    fileprivate let named: CustomerKey?
    fileprivate let belongsToAnotherCustomer: Bool
  }

  /// Keeps the evidence, and works out what follows.
  ///
  /// - Returns: what came of it, and all that is known then of the customer whose it is.
  func record(in store: any StoreTransaction) throws(StoreError) -> (Outcome, CustomerFacts) {
    let derivation = Derivation(store, catalog: catalog, now: receivedAt)
    let taken = try take(into: derivation)
    try derivation.finish()
    let outcome = try outcome(of: taken, in: store)
    let facts =
      try outcome.customerID.map { id throws(StoreError) in
        try store.customer(customer(id))?.facts
      } ?? nil
    return (outcome, facts ?? CustomerFacts())
  }

  /// Keeps the evidence and applies what it says; nobody is brought up to date yet.
  func take(into derivation: Derivation) throws(StoreError) -> Applied {
    let (first, isDuplicate) = try append(to: derivation)
    let named = try named(derivation)
    var belongsToAnotherCustomer = false
    if let named, let line {
      let claim = OwnershipClaim(derivation: derivation, policy: policy, customer: named)
      belongsToAnotherCustomer = try claim.settle(line, hasNewEvidence: !isDuplicate)
    }
    return Applied(
      first: first, isDuplicate: isDuplicate, named: named, belongsToAnotherCustomer: belongsToAnotherCustomer
    )
  }

  /// What is to be told of it, when everybody is up to date.
  func outcome(of taken: Applied, in store: any StoreTransaction) throws(StoreError) -> Outcome {
    Outcome(
      evidenceID: taken.first, isDuplicate: taken.isDuplicate,
      customerID: try owner(in: store, taken.named, belongsToAnotherCustomer: taken.belongsToAnotherCustomer),
      belongsToAnotherCustomer: taken.belongsToAnotherCustomer)
  }

  /// Keeps the documents and applies what they say; nobody is brought up to date yet.
  ///
  /// - Returns: the number of the first document, and whether all were known before.
  func append(to derivation: Derivation) throws(StoreError) -> (first: EvidenceID, isDuplicate: Bool) {
    var first: EvidenceID?
    var isDuplicate = true
    for document in verified.documents {
      let evidence = evidence(document)
      let kept = try derivation.store.append(evidence)
      first = first ?? kept.id
      isDuplicate = isDuplicate && kept.isDuplicate
      guard !kept.isDuplicate else { continue }
      try derivation.apply(document.testimony, of: StoredEvidence(id: kept.id, evidence: evidence))
    }
    return (first ?? EvidenceID(rawValue: 0), isDuplicate)
  }

  /// What its sender is told if the purchase belongs to others than the customer who was named.
  var ownedByAnother: LedgerError {
    .ownedByAnotherCustomer(originalTransactionID: verified.contents.transaction?.originalTransactionID ?? "")
  }

  /// The line that the documents are about.
  var line: LineKey? {
    let number =
      verified.contents.transaction?.originalTransactionID
      ?? verified.contents.renewalPayload?.originalTransactionId
      ?? verified.documents.lazy.compactMap { document in
        if case .appTransaction(let fact) = document.testimony { fact.lineID } else { nil }
      }.first
    return number.map(customer("").line)
  }

  private func owner(
    in store: any StoreTransaction, _ named: CustomerKey?, belongsToAnotherCustomer: Bool
  ) throws(StoreError) -> String? {
    if !belongsToAnotherCustomer, let named { return named.customerID }
    return try line.flatMap { line throws(StoreError) in try store.owners(of: line).first }
  }

  /// The customer who was named, or whoever goes on for that one.
  private func named(_ derivation: Derivation) throws(StoreError) -> CustomerKey? {
    try submission.customerID.map { id throws(StoreError) in try derivation.mergeTarget(of: customer(id)) }
  }

  private func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: submission.appID, environment: verified.environment, customerID: id)
  }

  private func evidence(_ document: VerifiedSubmission.Document) -> Evidence {
    Evidence(
      appID: submission.appID, environment: verified.environment, customerID: submission.customerID,
      kind: document.kind, source: submission.source, receivedAt: receivedAt,
      content: EvidenceContent(hashing: Array(document.text.utf8)), verdict: .accepted)
  }
}
