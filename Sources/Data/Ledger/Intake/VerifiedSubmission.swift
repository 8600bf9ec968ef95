internal import AppStore
internal import Entitlements
internal import SignedData
internal import Store
internal import Telemetry
internal import Tracing

/// A submission whose documents all verify, decoded for the write.
struct VerifiedSubmission: Sendable {
  /// One document and its decoded item.
  struct Document: Sendable {
    let kind: Evidence.Kind
    let content: EvidenceContent
    let item: DecodedItem
  }

  /// The rejected document and the reason.
  struct RejectedDocument: Error {
    let kind: Evidence.Kind
    let document: String
    let rejection: Rejection
  }

  let environment: Environment
  /// At least one; the transaction first.
  let documents: [Document]
  let contents: SubmittedDocuments

  /// Verifies and decodes the documents of `submission`, at least one. All must have the same environment.
  init(
    _ submission: Submission, for app: AppDefinition, with verifier: SignedDataVerifier
  ) throws(RejectedDocument) {
    var reader = DocumentReader(app: app, verifier: verifier, environment: submission.environment)
    if let document = submission.signedTransaction { try reader.readTransaction(document) }
    if let document = submission.signedRenewalInfo { try reader.readRenewalInfo(document) }
    if let document = submission.signedAppTransaction { try reader.readAppTransaction(document) }
    guard let environment = reader.environment else {
      throw RejectedDocument(
        kind: .signedTransaction, document: submission.signedTransaction ?? "",
        rejection: .incomplete(.missing(field: "environment")))
    }
    self.environment = environment
    documents = reader.documents
    contents = reader.contents
  }
}

/// Verifies documents one after the other and collects them.
private struct DocumentReader {
  let app: AppDefinition
  let verifier: SignedDataVerifier
  /// That of the documents so far; at first the expected one, if there is one.
  var environment: Environment?
  var documents: [VerifiedSubmission.Document] = []
  var contents = SubmittedDocuments()

  /// Verifies a document, which must have the environment of those before it.
  private func verified<Payload: SignedPayload>(_ text: String) throws(Rejection) -> Payload {
    let environments: Set<Environment> = environment.map { [$0] } ?? Set(app.environments)
    do throws(VerificationError) {
      return try verifier.verify(text, for: app.identity, environments: environments).payload
    } catch {
      throw .notVerified(error)
    }
  }

  /// Verifies a signed transaction, which determines the environment.
  mutating func readTransaction(_ text: String) throws(VerifiedSubmission.RejectedDocument) {
    try read(text, .signedTransaction) { reader throws(Rejection) in
      let payload: JWSTransactionDecodedPayload = try reader.verified(text)
      reader.environment = try required(payload.environment)
      let fact = try decoded { () throws(FactError) in try TransactionFact(payload) }
      reader.contents.transaction = fact
      reader.contents.transactionPayload = payload
      return .transaction(fact)
    }
  }

  /// Verifies a signed renewal info; it must be of the same purchase as the transaction before.
  mutating func readRenewalInfo(_ text: String) throws(VerifiedSubmission.RejectedDocument) {
    try read(text, .signedRenewalInfo) { reader throws(Rejection) in
      let payload: JWSRenewalInfoDecodedPayload = try reader.verified(text)
      reader.environment = try required(payload.environment)
      let fact = try decoded { () throws(FactError) in try RenewalFact(payload) }
      let purchase = reader.contents.transaction?.originalTransactionID
      guard purchase == nil || purchase == fact.originalTransactionID else { throw .otherLine }
      reader.contents.renewal = fact
      return .renewal(fact)
    }
  }

  /// Verifies a signed app transaction.
  mutating func readAppTransaction(_ text: String) throws(VerifiedSubmission.RejectedDocument) {
    try read(text, .signedAppTransaction) { reader throws(Rejection) in
      let payload: AppTransactionPayload = try reader.verified(text)
      reader.environment = try required(payload.receiptType)
      let fact = try decoded { () throws(FactError) in try AppTransactionFact(payload) }
      reader.contents.appTransactionPayload = payload
      return .appTransaction(fact)
    }
  }

  /// Adds a document, or throws it with the reason of its rejection.
  private mutating func read(
    _ text: String, _ kind: Evidence.Kind, _ decode: (inout DocumentReader) throws(Rejection) -> DecodedItem
  ) throws(VerifiedSubmission.RejectedDocument) {
    do throws(Rejection) {
      let item = try tracedInline("verify", attributes: ["entitled.document": "\(kind.rawValue)"]) {
        () throws(Rejection) in try decode(&self)
      }
      // Hashed here and not in the write, because there is only one writer.
      let content = EvidenceContent(hashing: Array(text.utf8))
      documents.append(.init(kind: kind, content: content, item: item))
    } catch {
      throw VerifiedSubmission.RejectedDocument(
        kind: kind, document: text, rejection: error.refined(by: text))
    }
  }
}

extension Rejection {
  /// The rejection with the reason that an inspection of the same text reports: one without a format is no malformed
  /// JWS.
  fileprivate func refined(by text: String) -> Rejection {
    guard case .notVerified(.notAJWS) = self else { return self }
    do throws(UnrecognizedDocument) { _ = try RecognizedDocument(Array(text.utf8)) } catch {
      return error.reason == reason ? self : .unrecognized(error)
    }
    return self
  }
}

private func required(_ environment: Environment?) throws(Rejection) -> Environment {
  guard let environment else { throw .incomplete(.missing(field: "environment")) }
  return environment
}

private func decoded<Fact>(_ decode: () throws(FactError) -> Fact) throws(Rejection) -> Fact {
  do { return try decode() } catch { throw .incomplete(error) }
}
