internal import AppStore
internal import Entitlements
internal import SignedData
internal import Store

/// One receipt and what Apple said about it, verified and ready to be written in one go.
struct ReceiptWrite: Sendable {
  private struct LineState: Hashable {
    let facts: CustomerFacts
    let owners: [String]
  }

  private struct RejectedDocument: Sendable {
    let refusal: VerifiedSubmission.Refusal
    let submission: Submission
  }

  private let receipt: ReceiptSubmission
  private let catalog: Catalog
  private let policy: OwnershipPolicy
  private let receivedAt: Instant
  private var entries: [SubmissionWrite] = []
  private var rejected: [RejectedDocument] = []

  /// Verifies what Apple signed. What is not to be believed does not count, and is kept with its reason.
  ///
  /// - Throws: ``CryptographyError`` if it could not be found out.
  init(
    _ receipt: ReceiptSubmission, for app: AppDefinition, with verifier: SignedDataVerifier,
    catalog: Catalog, receivedAt: Instant
  ) throws(CryptographyError) {
    self.receipt = receipt
    self.catalog = catalog
    policy = app.ownershipPolicy
    self.receivedAt = receivedAt
    for submission in receipt.documents {
      do throws(VerifiedSubmission.Refusal) {
        let verified = try VerifiedSubmission(submission, for: app, with: verifier)
        entries.append(
          SubmissionWrite(
            submission, verified, catalog: catalog, policy: policy, receivedAt: receivedAt))
      } catch {
        if case .notVerified(.cryptographyFailed(let failure)) = error.rejection { throw failure }
        rejected.append(RejectedDocument(refusal: error, submission: submission))
      }
    }
  }

  /// Keeps the evidence, and works out what follows: each customer is looked at once.
  func record(in store: any StoreTransaction) throws(StoreError) -> ReceiptResult {
    let derivation = Derivation(store, catalog: catalog, now: receivedAt)
    let before = try knowledge(store)
    for document in rejected { _ = try store.append(evidence(of: document)) }
    let (evidenceID, isDuplicate) = try appendReceipt(to: derivation)
    var hasNewEvidence = !isDuplicate
    for entry in entries { hasNewEvidence = try !entry.append(to: derivation).isDuplicate || hasNewEvidence }
    let linesOfOtherCustomers = try settle(derivation, hasNewEvidence: hasNewEvidence)
    try derivation.finish()
    try remember(store)
    let owner = try owner(derivation, linesOfOtherCustomers)
    let facts = try owner.map { id throws(StoreError) in try store.customer(customer(id))?.facts } ?? nil
    return ReceiptResult(
      evidenceID: evidenceID, isDuplicate: isDuplicate, changedState: try knowledge(store) != before,
      transactions: entries.compactMap(\.verified.contents.transactionPayload), customerID: owner,
      facts: facts ?? CustomerFacts(), linesOfOtherCustomers: linesOfOtherCustomers.sorted(),
      rejected: rejected.map(\.refusal.rejection), isEmpty: lines.isEmpty && receipt.refreshes.isEmpty,
      wasQueriedBefore: receipt.wasQueriedBefore, pendingReason: receipt.refreshes.first?.reason)
  }

  /// - Returns: the number of what the receipt says, and whether that was known.
  private func appendReceipt(to derivation: Derivation) throws(StoreError) -> (EvidenceID?, Bool) {
    if let content = receipt.receipt {
      _ = try derivation.store.append(evidence(.appReceipt, content))
    }
    guard let statement = receipt.statement else { return (nil, true) }
    let evidence = evidence(
      .receiptStatement, EvidenceContent(hashing: statement.encoded, keepingAtMost: .max))
    let kept = try derivation.store.append(evidence)
    if !kept.isDuplicate {
      try derivation.apply(.receipt(statement), of: StoredEvidence(id: kept.id, evidence: evidence))
    }
    return (kept.id, kept.isDuplicate)
  }

  /// - Returns: the lines that stay with others than the customer who was named.
  private func settle(_ derivation: Derivation, hasNewEvidence: Bool) throws(StoreError) -> Set<String> {
    guard let id = receipt.customerID else { return [] }
    let claim = OwnershipClaim(
      derivation: derivation, policy: policy, actor: receipt.actor,
      customer: try derivation.mergeTarget(of: customer(id)))
    var linesOfOtherCustomers: Set<String> = []
    for line in claimedLines where try derivation.store.facts(of: line) != CustomerFacts() {
      if try claim.settle(line, hasNewEvidence: hasNewEvidence) {
        linesOfOtherCustomers.insert(line.originalTransactionID)
      }
    }
    return linesOfOtherCustomers
  }

  /// Each line that is the customer's once, in the order in which documents tell of it.
  private var claimedLines: [LineKey] {
    let own = entries.filter { $0.customerID != nil }.compactMap(\.line)
    return unique(receipt.claimedLines.map(customer("").line) + own)
  }

  /// Each line that is told of once.
  private var lines: [LineKey] { unique(claimedLines + entries.compactMap(\.line)) }

  private func unique(_ lines: [LineKey]) -> [LineKey] {
    var seen: Set<LineKey> = []
    return lines.filter { seen.insert($0).inserted }
  }

  /// What is known of each line and whose it is, whenever Apple signed it.
  private func knowledge(_ store: any StoreTransaction) throws(StoreError) -> [LineState] {
    try lines.map { line throws(StoreError) in
      LineState(facts: try store.facts(of: line).undated, owners: try store.owners(of: line))
    }
  }

  private func remember(_ store: any StoreTransaction) throws(StoreError) {
    try store.settleRefreshes(of: receipt.queriedLines.map(customer("").line), at: receivedAt)
    for refresh in receipt.refreshes { try store.put(refresh) }
  }

  private func owner(
    _ derivation: Derivation, _ linesOfOtherCustomers: Set<String>
  ) throws(StoreError) -> String? {
    if let id = receipt.customerID {
      guard linesOfOtherCustomers.isEmpty || linesOfOtherCustomers.count < claimedLines.count else {
        return nil
      }
      return try derivation.mergeTarget(of: customer(id)).customerID
    }
    for line in lines {
      if let owner = try derivation.store.owners(of: line).first { return owner }
    }
    return nil
  }

  private func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: receipt.appID, environment: receipt.environment, customerID: id)
  }

  private func evidence(_ kind: Evidence.Kind, _ content: EvidenceContent) -> Evidence {
    Evidence(
      appID: receipt.appID, environment: receipt.environment, customerID: receipt.customerID, kind: kind,
      source: receipt.source, receivedAt: receivedAt, content: content, verdict: .accepted)
  }

  private func evidence(of document: RejectedDocument) -> Evidence {
    Evidence(
      appID: receipt.appID, environment: nil, customerID: document.submission.customerID,
      kind: document.refusal.kind, source: document.submission.source, receivedAt: receivedAt,
      content: EvidenceContent(hashing: Array(document.refusal.document.utf8)),
      verdict: .rejected(reason: document.refusal.rejection.reason))
  }
}
