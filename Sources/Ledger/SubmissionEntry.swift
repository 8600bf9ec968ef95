internal import AppStore
internal import Entitlements
internal import Store

/// One verified submission, ready to be written.
struct SubmissionEntry: Sendable {
  struct Outcome: Sendable {
    let evidenceID: EvidenceID
    let wasKnown: Bool
    /// Whose the purchase is; `nil` while nobody has claimed it.
    let customerID: String?
    /// All that is known of that customer.
    let facts: CustomerFacts
    /// The purchase belongs to others than the customer who was named.
    let isOfAnother: Bool
  }

  private let submission: Submission
  private let verified: VerifiedSubmission
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

  /// Keeps the evidence, and works out what follows.
  func record(in store: any StoreTransaction) throws(StoreError) -> Outcome {
    let derivation = Derivation(store, catalog: catalog, now: receivedAt)
    var first: EvidenceID?
    var wasKnown = true
    for document in verified.documents {
      let evidence = evidence(document)
      let kept = try store.append(evidence)
      first = first ?? kept.id
      wasKnown = wasKnown && kept.wasKnown
      guard !kept.wasKnown else { continue }
      try derivation.apply(document.testimony, of: StoredEvidence(id: kept.id, evidence: evidence))
    }
    let isOfAnother = try settle(derivation, store, wasKnown: wasKnown)
    try derivation.finish()
    let owner = try owner(in: store, isOfAnother: isOfAnother)
    let facts = try owner.map { id throws(StoreError) in try store.customer(customer(id))?.facts } ?? nil
    return Outcome(
      evidenceID: first ?? EvidenceID(rawValue: 0), wasKnown: wasKnown, customerID: owner,
      facts: facts ?? CustomerFacts(), isOfAnother: isOfAnother)
  }

  /// Sees to it that the customer who was named has the purchase, as far as the policy allows.
  ///
  /// - Returns: whether it stays with others.
  private func settle(
    _ derivation: Derivation, _ store: any StoreTransaction, wasKnown: Bool
  ) throws(StoreError) -> Bool {
    guard let named = try named(derivation), let line else { return false }
    let owners = try store.owners(of: line)
    guard !owners.contains(named.customerID) else { return false }
    guard owners.isEmpty || policy != .keep else {
      if !wasKnown { try tellOfDispute(line, named, owners, derivation) }
      return true
    }
    // What was known already is no new evidence of a claim, so the claim is evidence of its own.
    let desk = CommandDesk(
      store: store, catalog: catalog, now: receivedAt, appID: submission.appID,
      environment: verified.environment, actor: "")
    let command = OperatorCommand(
      .move(
        line: line.originalTransactionID, from: policy == .transfer ? owners : [], to: named.customerID),
      actor: "")
    let kept = try desk.keep(command, onBehalfOf: named.customerID)
    try derivation.apply(command, by: kept, of: submission.appID, in: verified.environment)
    return false
  }

  /// Both sides learn of a claim that failed.
  private func tellOfDispute(
    _ line: LineKey, _ named: CustomerKey, _ owners: [String], _ derivation: Derivation
  ) throws(StoreError) {
    // What the documents say comes first.
    try derivation.finish()
    let app = derivation.app(line.appID)
    let last = try derivation.store.facts(of: line).transactions.last
    let product = last.flatMap { app.products[$0.productID] }
    let evidence = try derivation.store.nextEvidenceID().rawValue - 1
    let origin = Derivation.Origin(cause: .ownership, evidence: EvidenceID(rawValue: evidence))
    let sides = owners.map { (line.customer($0), EntitlementChange.Kind.claimedByAnother) }
    for entitlement in product?.entitlements ?? [] {
      for (customer, kind) in sides + [(named, .claimRefused)] {
        let facts = try derivation.store.customer(customer)?.facts ?? CustomerFacts()
        let status = evaluate(facts, entitlement: entitlement, in: app, at: receivedAt)
        let change = EntitlementChange(
          entitlement: entitlement, kind: kind, effectiveAt: receivedAt, before: status, after: status)
        try derivation.tell(change, to: customer, by: origin)
      }
    }
  }

  private func owner(in store: any StoreTransaction, isOfAnother: Bool) throws(StoreError) -> String? {
    let derivation = Derivation(store, catalog: catalog, now: receivedAt)
    if !isOfAnother, let named = try named(derivation) { return named.customerID }
    return try line.flatMap { line throws(StoreError) in try store.owners(of: line).first }
  }

  /// The customer who was named, or whoever goes on for that one.
  private func named(_ derivation: Derivation) throws(StoreError) -> CustomerKey? {
    try submission.customerID.map { id throws(StoreError) in try derivation.survivor(of: customer(id)) }
  }

  /// The line that the documents are about.
  private var line: LineKey? {
    let number =
      verified.contents.transaction?.originalTransactionID
      ?? verified.contents.renewalPayload?.originalTransactionId
      ?? verified.documents.lazy.compactMap { document in
        if case .appTransaction(let fact) = document.testimony { fact.lineNumber } else { nil }
      }.first
    return number.map(customer("").line)
  }

  private func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: submission.appID, environment: verified.environment, customerID: id)
  }

  private func evidence(_ document: VerifiedSubmission.Document) -> Evidence {
    Evidence(
      appID: submission.appID, environment: verified.environment, customerID: submission.customerID,
      kind: document.kind, source: submission.source, receivedAt: receivedAt,
      content: EvidenceContent(Array(document.text.utf8)), verdict: .accepted)
  }
}
