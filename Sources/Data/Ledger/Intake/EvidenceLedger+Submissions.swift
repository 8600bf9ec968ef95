internal import AppStore
package import Entitlements
package import SignedData
internal import Store

// Submissions of apps, and the documents in Apple's responses.
extension EvidenceLedger {
  /// Ingests a purchase, and links it to the customer if one is named. It is durable on return. Submitting it
  /// again changes nothing, but claims it if it has no owner.
  ///
  /// - Throws: ``LedgerError/invalid(field:problem:)``; ``LedgerError/unknownApp(_:configured:)``;
  ///   ``LedgerError/rejected(_:evidence:)`` after storing the document with its reason;
  ///   ``LedgerError/ownedByAnotherCustomer(originalTransactionID:)`` or
  ///   ``LedgerError/installOfAnotherCustomer`` after storing the facts for the owner;
  ///   ``LedgerError/notVerifiable(_:)`` and ``LedgerError/store(_:)`` if the caller should retry.
  package func submit(_ submission: Submission) async throws(LedgerError) -> SubmissionResult {
    let entry = try await verified(submission)
    let clock = clocks[entry.verified.environment]
    let (outcome, facts) = try await commit(expecting: entry.expectedReads) { store throws(StoreError) in
      try entry.record(in: store, at: clock.now())
    }
    guard !outcome.belongsToAnotherCustomer else { throw entry.ownedByAnother }
    return SubmissionResult(
      evidenceID: outcome.evidenceID, isDuplicate: outcome.isDuplicate,
      environment: entry.verified.environment, documents: entry.verified.contents,
      customerID: outcome.customerID, facts: facts)
  }

  /// Ingests all documents of one response in one commit, with one derivation for each customer. All are
  /// durable on return.
  ///
  /// - Returns: the result of each submission, in order. A submission that is rejected, or that belongs to
  ///   another customer, does not affect the others.
  /// - Throws: ``LedgerError/store(_:)``.
  package func submitBatch(
    _ submissions: [Submission]
  ) async throws(LedgerError) -> [Result<BatchedSubmissionResult, LedgerError>] {
    var entries: [Result<SubmissionWrite, LedgerError>] = []
    for submission in submissions { entries.append(await entry(submission)) }
    let verified = entries.compactMap { try? $0.get() }
    var outcomes = try await record(verified)[...]
    return entries.map { entry in entry.flatMap { $0.batchedResult(outcomes.removeFirst()) } }
  }

  /// Writes verified submissions in one commit, those of each clock together; returns an outcome for each.
  private func record(_ entries: [SubmissionWrite]) async throws(LedgerError) -> [SubmissionWrite.Outcome] {
    guard !entries.isEmpty else { return [] }
    let (catalog, clocks) = (catalog.value, clocks)
    return try await commit(expecting: .reads(of: entries)) { store throws(StoreError) in
      var outcomes = [SubmissionWrite.Outcome?](repeating: nil, count: entries.count)
      var effects: [LedgerEffect] = []
      for clock in clocks.all {
        let indices = entries.indices.filter { clock.domain.contains(entries[$0].verified.environment) }
        guard !indices.isEmpty else { continue }
        var applier = FactApplier(store, catalog: catalog, now: clock.now())
        var applied: [SubmissionWrite.Applied] = []
        for index in indices { applied.append(try entries[index].apply(to: &applier)) }
        try applier.linkTokenCustomers()
        effects += try Derivation.run(applier).effects
        for (index, applied) in zip(indices, applied) {
          outcomes[index] = try entries[index].outcome(of: applied, in: store)
        }
      }
      return (outcomes.compactMap(\.self), effects)
    }
  }

  /// Verifies one submission of a batch.
  private func entry(_ submission: Submission) async -> Result<SubmissionWrite, LedgerError> {
    do throws(LedgerError) { return .success(try await verified(submission)) } catch {
      return .failure(error)
    }
  }

  /// Verifies a submission and prepares its write. A rejected document is stored with its reason.
  private func verified(_ submission: Submission) async throws(LedgerError) -> SubmissionWrite {
    if let customerID = submission.customerID { try check(customerID, "customer_id") }
    guard submission.documents.contains(where: { !$0.text.isEmpty }) else {
      throw .invalid(field: "signed_transaction", problem: "is empty")
    }
    let app = try app(submission.appID)
    let verified: VerifiedSubmission
    do {
      verified = try VerifiedSubmission(submission, for: app, with: verifier)
    } catch {
      throw await recordRejection(error, submission)
    }
    return SubmissionWrite(submission, verified, catalog: catalog.value, policy: app.ownershipPolicy)
  }

  /// Stores a document of a submission whose certificate was revoked. Nothing of the submission counts.
  ///
  /// - Returns: the error for the sender.
  package func recordRejection(
    _ document: Submission.Document, of submission: Submission, because revocation: OnlineCheckError
  ) async -> LedgerError {
    await recordRejection(
      .init(kind: document.kind, document: document.text, rejection: .revoked(revocation)), submission)
  }

  /// Stores the rejected document of a submission. One whose verification could not finish is not stored,
  /// because its sender repeats it.
  private func recordRejection(
    _ refusal: VerifiedSubmission.RejectedDocument, _ submission: Submission
  ) async -> LedgerError {
    if case .notVerified(.cryptographyFailed(let error)) = refusal.rejection {
      return .notVerifiable(error)
    }
    let evidence = Evidence(
      appID: submission.appID, environment: nil, customerID: submission.customerID, kind: refusal.kind,
      source: submission.source, receivedAt: clocks.now(in: nil),
      content: EvidenceContent(hashing: Array(refusal.document.utf8)),
      verdict: .rejected(reason: refusal.rejection.reason))
    LedgerMetrics.recordRejection(of: refusal.kind, reason: refusal.rejection.reason)
    do {
      let appended = try await write { transaction throws(StoreError) in try transaction.append(evidence) }
      return .rejected(refusal.rejection, evidence: appended.id)
    } catch {
      return error
    }
  }

  /// Returns the facts of the documents that verify; others are left out. Stores nothing.
  ///
  /// - Throws: ``LedgerError/unknownApp(_:configured:)``.
  package func verifiedFacts(in submissions: [Submission]) throws(LedgerError) -> CustomerFacts {
    var facts = CustomerFacts()
    for submission in submissions {
      let app = try app(submission.appID)
      guard let verified = try? VerifiedSubmission(submission, for: app, with: verifier) else { continue }
      for document in verified.documents {
        switch document.item {
        case .transaction(let fact): facts.insert(fact)
        case .renewal(let fact): facts.insert(fact)
        case .appTransaction(let fact): facts.insert(fact)
        case .command, .endedSeatClaims, .notification, .rejectedNotification: break
        }
      }
    }
    return facts
  }
}
