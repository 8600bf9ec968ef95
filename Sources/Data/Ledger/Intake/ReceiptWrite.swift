internal import AppStore
internal import Entitlements
internal import SignedData
internal import Store

/// One receipt with Apple's signed documents about it, verified and ready to be written in one commit.
struct ReceiptWrite: Sendable {
  /// The facts of a line, whenever Apple signed them, and its owners.
  private struct LineState: Hashable {
    let facts: CustomerFacts
    let owners: [String]
  }

  /// A document of Apple's about the receipt that failed its verification.
  private struct RejectedDocument: Sendable {
    let refusal: VerifiedSubmission.RejectedDocument
    let submission: Submission
  }

  private let receipt: ReceiptSubmission
  private let catalog: Catalog
  private let policy: OwnershipPolicy
  private var entries: [SubmissionWrite] = []
  private var rejected: [RejectedDocument] = []

  /// Verifies Apple's signed documents. Those that do not verify are stored with their reason and do not
  /// count.
  ///
  /// - Throws: ``CryptographyError`` if OpenSSL failed, so that a retry may help.
  init(
    _ receipt: ReceiptSubmission, for app: AppDefinition, with verifier: SignedDataVerifier,
    catalog: Catalog
  ) throws(CryptographyError) {
    self.receipt = receipt
    self.catalog = catalog
    policy = app.ownershipPolicy
    for submission in receipt.documents {
      do throws(VerifiedSubmission.RejectedDocument) {
        let verified = try VerifiedSubmission(submission, for: app, with: verifier)
        entries.append(SubmissionWrite(submission, verified, catalog: catalog, policy: policy))
      } catch {
        if case .notVerified(.cryptographyFailed(let failure)) = error.rejection { throw failure }
        rejected.append(RejectedDocument(refusal: error, submission: submission))
      }
    }
  }

  /// Appends the evidence and runs one derivation for all documents; `now` is the time of the write.
  ///
  /// - Returns: the result and the effects of the write.
  func record(
    in store: any StoreTransaction, at now: Instant
  ) throws(StoreError) -> (ReceiptResult, [LedgerEffect]) {
    let before = try lineStates(store)
    for document in rejected { _ = try store.append(evidence(of: document, at: now)) }
    var applier = FactApplier(store, catalog: catalog, now: now)
    let (evidenceID, isDuplicate) = try appendReceipt(to: &applier)
    var lastNew = isDuplicate ? nil : evidenceID
    for entry in entries { lastNew = try entry.append(to: &applier).lastNew ?? lastNew }
    let linesOfOtherCustomers = try claimLines(&applier, newEvidence: lastNew)
    try applier.linkTokenCustomers()
    let derived = try Derivation.run(applier)
    try recordRefreshes(store, at: now)
    let owner = try owner(store, linesOfOtherCustomers)
    let facts = try owner.map { id throws(StoreError) in try store.allFacts(of: customer(id)) } ?? nil
    let result = ReceiptResult(
      evidenceID: evidenceID, isDuplicate: isDuplicate, changedState: try lineStates(store) != before,
      transactions: entries.compactMap(\.verified.contents.transactionPayload), customerID: owner,
      facts: facts ?? CustomerFacts(), linesOfOtherCustomers: linesOfOtherCustomers.sorted(),
      rejected: rejected.map(\.refusal.rejection),
      isEmpty: lines.isEmpty && receipt.refreshes.isEmpty && !receipt.wasQueriedBefore,
      wasQueriedBefore: receipt.wasQueriedBefore, pendingReason: receipt.refreshes.first?.reason)
    return (result, derived.effects)
  }

  /// The rows that the write reads.
  var expectedReads: ExpectedReads {
    var expected = ExpectedReads.reads(of: entries)
    if let id = receipt.customerID { expected.customers.insert(customer(id)) }
    expected.lines.formUnion(lines)
    return expected
  }

  /// - Returns: the evidence id of the receipt's contents, and whether they were stored before; without
  ///   contents `nil` and `true`.
  private func appendReceipt(to applier: inout FactApplier) throws(StoreError) -> (EvidenceID?, Bool) {
    if let content = receipt.receipt {
      _ = try applier.store.append(evidence(.appReceipt, content, at: applier.now))
    }
    guard let contents = receipt.contents else { return (nil, true) }
    let evidence = evidence(
      .receiptStatement, EvidenceContent(hashing: contents.encoded, keepingAtMost: .max), at: applier.now)
    let appended = try applier.store.append(evidence)
    if !appended.isDuplicate {
      try applier.apply(contents.items, from: StoredEvidence(appended, evidence))
    }
    return (appended.id, appended.isDuplicate)
  }

  /// - Returns: the ids of the lines that stay with other customers.
  private func claimLines(
    _ applier: inout FactApplier, newEvidence: EvidenceID?
  ) throws(StoreError) -> Set<String> {
    guard let id = receipt.customerID else { return [] }
    let claim = OwnershipClaim(
      customer: try applier.store.finalMergeTarget(of: customer(id)), policy: policy, actor: receipt.actor,
      newEvidence: newEvidence)
    var linesOfOtherCustomers: Set<String> = []
    for line in claimedLines where try applier.store.facts(of: line) != CustomerFacts() {
      if try applier.apply(claim, to: line) { linesOfOtherCustomers.insert(line.lineID) }
    }
    return linesOfOtherCustomers
  }

  /// The customer's lines, each once, in the order of the documents.
  private var claimedLines: [LineKey] {
    let own = entries.filter { $0.customerID != nil }.compactMap(\.line)
    return unique(receipt.claimedLines.map(lineKey) + own)
  }

  /// All lines of the receipt, each once.
  private var lines: [LineKey] { unique(claimedLines + entries.compactMap(\.line)) }

  private func unique(_ lines: [LineKey]) -> [LineKey] {
    var seen: Set<LineKey> = []
    return lines.filter { seen.insert($0).inserted }
  }

  private func lineStates(_ store: any StoreTransaction) throws(StoreError) -> [LineState] {
    try lines.map { line throws(StoreError) in
      LineState(facts: try store.facts(of: line).undated, owners: try store.owners(of: line))
    }
  }

  private func recordRefreshes(_ store: any StoreTransaction, at now: Instant) throws(StoreError) {
    try store.completeRefreshes(of: receipt.queriedLines.map(lineKey), at: now)
    for refresh in receipt.refreshes { try store.put(refresh) }
  }

  /// The customer of the answer: the one named by the caller unless all purchases belong to others,
  /// otherwise the longest-standing owner of a line.
  private func owner(
    _ store: any StoreTransaction, _ linesOfOtherCustomers: Set<String>
  ) throws(StoreError) -> String? {
    if let id = receipt.customerID {
      guard linesOfOtherCustomers.isEmpty || linesOfOtherCustomers.count < claimedLines.count else {
        return nil
      }
      return try store.finalMergeTarget(of: customer(id)).customerID
    }
    for line in lines {
      if let owner = try store.owners(of: line).first { return owner }
    }
    return nil
  }

  private func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: receipt.appID, environment: receipt.environment, customerID: id)
  }

  private func lineKey(_ id: String) -> LineKey {
    LineKey(appID: receipt.appID, environment: receipt.environment, lineID: id)
  }

  private func evidence(_ kind: Evidence.Kind, _ content: EvidenceContent, at now: Instant) -> Evidence {
    Evidence(
      appID: receipt.appID, environment: receipt.environment, customerID: receipt.customerID, kind: kind,
      source: receipt.source, receivedAt: now, content: content, verdict: .accepted)
  }

  private func evidence(of document: RejectedDocument, at now: Instant) -> Evidence {
    Evidence(
      appID: receipt.appID, environment: nil, customerID: document.submission.customerID,
      kind: document.refusal.kind, source: document.submission.source, receivedAt: now,
      content: EvidenceContent(hashing: Array(document.refusal.document.utf8)),
      verdict: .rejected(reason: document.refusal.rejection.reason))
  }
}
