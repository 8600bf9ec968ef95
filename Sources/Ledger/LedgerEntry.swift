internal import AppStore
internal import Entitlements
internal import Store

/// One verified submission, ready to be written.
struct LedgerEntry: Sendable {
  struct Outcome: Sendable {
    let evidenceID: EvidenceID
    let wasKnown: Bool
    /// All that is known of the customer now; `nil` if the purchase belongs to another one.
    let facts: CustomerFacts?
  }

  private let app: AppDefinition
  private let receivedAt: Instant
  private let customer: CustomerKey
  private let line: LineKey
  private let transaction: TransactionFact
  private let transactionEvidence: Evidence
  private let renewal: RenewalFact?
  private let renewalEvidence: Evidence?

  init(
    _ submission: Submission, _ verified: VerifiedSubmission, for app: AppDefinition, receivedAt: Instant
  ) {
    func evidence(_ document: String, _ kind: Evidence.Kind) -> Evidence {
      Evidence(
        appID: submission.appID, environment: verified.environment, customerID: submission.customerID,
        kind: kind, source: submission.source, receivedAt: receivedAt,
        content: EvidenceContent(Array(document.utf8)), verdict: .accepted)
    }
    self.app = app
    self.receivedAt = receivedAt
    customer = CustomerKey(
      appID: submission.appID, environment: verified.environment, customerID: submission.customerID)
    line = LineKey(
      appID: submission.appID, environment: verified.environment,
      originalTransactionID: verified.transaction.originalTransactionID)
    transaction = verified.transaction
    transactionEvidence = evidence(submission.signedTransaction, .signedTransaction)
    renewal = verified.renewal
    renewalEvidence = submission.signedRenewalInfo.map { evidence($0, .signedRenewalInfo) }
  }

  /// Keeps the evidence, what it says, whose it is, and what readers see of that customer.
  func record(in store: any StoreTransaction) throws(StoreError) -> Outcome {
    let kept = try store.append(transactionEvidence)
    var wasKnown = kept.wasKnown
    _ = try store.put(transaction, of: line, from: kept.id)
    if let renewal, let renewalEvidence {
      let keptRenewal = try store.append(renewalEvidence)
      _ = try store.put(renewal, of: line, from: keptRenewal.id)
      wasKnown = wasKnown && keptRenewal.wasKnown
    }
    switch try store.link(line, to: customer.customerID, from: kept.id) {
    case .linked, .alreadyLinked:
      let facts = try updateReadModel(of: customer, in: store)
      return Outcome(evidenceID: kept.id, wasKnown: wasKnown, facts: facts)
    case .ownedByAnother(let owner):
      let owner = CustomerKey(appID: customer.appID, environment: customer.environment, customerID: owner)
      _ = try updateReadModel(of: owner, in: store)
      return Outcome(evidenceID: kept.id, wasKnown: wasKnown, facts: nil)
    }
  }

  /// Brings the owner's read model up to what the store knows of the line, which may have been there
  /// before it had an owner, and works out the answers that readers are going to find.
  private func updateReadModel(
    of owner: CustomerKey, in store: any StoreTransaction
  ) throws(StoreError) -> CustomerFacts {
    let known = try store.facts(of: owner)
    var facts = known ?? CustomerFacts()
    facts.merge(try store.facts(of: line))
    if facts != known {
      let answers = CustomerAnswers(facts, in: app, from: receivedAt)
      try store.putFacts(facts, answers: answers, of: owner)
    }
    return facts
  }
}
