package import AppStore
internal import Entitlements
package import SignedData
package import Store

/// The one way in: verifies what arrives, keeps it, and derives what it changes, in one commit.
///
/// The order and the number of deliveries leave no trace: the newest signature about a transaction or a
/// renewal counts, whenever it arrives.
package final class EvidenceLedger: Sendable {
  private static let longestCustomerID = 256

  let store: any EntitlementStore
  let verifier: SignedDataVerifier
  let catalog: CurrentCatalog
  let now: @Sendable () -> Instant

  /// A ledger in `store` that believes what `verifier` believes; `now` dates what arrives.
  package init(
    store: any EntitlementStore, verifier: SignedDataVerifier, catalog: CurrentCatalog,
    now: @escaping @Sendable () -> Instant
  ) {
    self.store = store
    self.verifier = verifier
    self.catalog = catalog
    self.now = now
  }

  /// Takes in a purchase, and links it to the customer if one is named. When this returns it is durable.
  package func submit(_ submission: Submission) async throws(LedgerError) -> SubmissionResult {
    let entry = try await verified(submission)
    let (outcome, facts) = try await write { store throws(StoreError) in try entry.record(in: store) }
    guard !outcome.belongsToAnotherCustomer else { throw entry.ownedByAnother }
    return SubmissionResult(
      evidenceID: outcome.evidenceID, isDuplicate: outcome.isDuplicate,
      environment: entry.verified.environment,
      documents: entry.verified.contents, customerID: outcome.customerID, facts: facts)
  }

  /// A submission whose documents were verified, ready to be written. What is not to be believed is kept as such.
  func verified(_ submission: Submission) async throws(LedgerError) -> SubmissionWrite {
    let app = try app(of: submission)
    let verified: VerifiedSubmission
    do {
      verified = try VerifiedSubmission(submission, for: app, with: verifier)
    } catch {
      throw await reject(error, submission)
    }
    return SubmissionWrite(
      submission, verified, catalog: catalog.value, policy: app.ownershipPolicy, receivedAt: now())
  }

  private func app(of submission: Submission) throws(LedgerError) -> AppDefinition {
    if let customerID = submission.customerID { try check(customerID, "customer_id") }
    let documents = [
      submission.signedTransaction, submission.signedRenewalInfo, submission.signedAppTransaction,
    ]
    guard documents.contains(where: { $0?.isEmpty == false }) else {
      throw .invalid(field: "signed_transaction", problem: "is empty")
    }
    return try app(submission.appID)
  }

  /// A customer's id must be there and not too long.
  func check(_ customerID: String, _ field: String) throws(LedgerError) {
    guard !customerID.isEmpty else { throw .invalid(field: field, problem: "is empty") }
    let size = customerID.utf8.count
    guard size <= Self.longestCustomerID else {
      throw .invalid(field: field, problem: "has \(size) bytes, more than \(Self.longestCustomerID)")
    }
  }

  /// The app of that name.
  @discardableResult
  func app(_ id: String) throws(LedgerError) -> AppDefinition {
    let catalog = catalog.value
    guard let app = catalog[id] else { throw .unknownApp(id, configured: catalog.appIDs) }
    return app
  }

  /// Keeps a document of a submission whose certificate was taken back, and says what to tell its sender. Nothing
  /// of the submission counts.
  package func recordRejection(
    _ document: Submission.Document, of submission: Submission, because revocation: OnlineCheckError
  ) async -> LedgerError {
    await reject(
      .init(kind: document.kind, document: document.text, rejection: .revoked(revocation)), submission)
  }

  /// Keeps a document that is not to be believed, and says what to tell its sender.
  private func reject(_ refusal: VerifiedSubmission.Refusal, _ submission: Submission) async -> LedgerError {
    if case .notVerified(.cryptographyFailed(let error)) = refusal.rejection {
      return .notVerifiable(error)
    }
    let evidence = Evidence(
      appID: submission.appID, environment: nil, customerID: submission.customerID, kind: refusal.kind,
      source: submission.source, receivedAt: now(),
      content: EvidenceContent(hashing: Array(refusal.document.utf8)),
      verdict: .rejected(reason: refusal.rejection.reason))
    VerificationMetrics.count(refusal.kind, reason: refusal.rejection.reason)
    do {
      let kept = try await write { transaction throws(StoreError) in try transaction.append(evidence) }
      return .rejected(refusal.rejection, evidence: kept.id)
    } catch {
      return error
    }
  }

  func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(LedgerError) -> Outcome {
    do { return try await store.write(body) } catch { throw .store(error) }
  }
}
