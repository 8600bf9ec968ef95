internal import AppStore
internal import Entitlements
internal import SignedData
internal import Store

/// A submission of which every document was found to be Apple's: all that the write needs to know.
struct VerifiedSubmission: Sendable {
  /// One document and what it says.
  struct Document: Sendable {
    let kind: Evidence.Kind
    let text: String
    let testimony: DecodedEvidence
  }

  /// The document that was refused, and why.
  struct Refusal: Error {
    let kind: Evidence.Kind
    let document: String
    let rejection: Rejection
  }

  let environment: Environment
  /// At least one; the transaction first.
  let documents: [Document]
  let contents: SubmittedDocuments

  /// Verifies the documents of `submission`, of which there is at least one, and reads them. All must be of
  /// one environment.
  init(
    _ submission: Submission, for app: AppDefinition, with verifier: SignedDataVerifier
  ) throws(Refusal) {
    var reading = Reading(app: app, verifier: verifier)
    if let document = submission.signedTransaction { try reading.takeTransaction(document) }
    if let document = submission.signedRenewalInfo { try reading.takeRenewalInfo(document) }
    if let document = submission.signedAppTransaction { try reading.takeAppTransaction(document) }
    guard let environment = reading.environment else {
      throw Refusal(
        kind: .signedTransaction, document: submission.signedTransaction ?? "",
        rejection: .incomplete(.missing(field: "environment")))
    }
    self.environment = environment
    documents = reading.documents
    contents = reading.contents
  }
}

/// The documents that were taken so far.
private struct Reading {
  let app: AppDefinition
  let verifier: SignedDataVerifier
  var environment: Environment?
  var documents: [VerifiedSubmission.Document] = []
  var contents = SubmittedDocuments()

  /// Those from which a document may still come.
  private var environments: Set<Environment> { environment.map { [$0] } ?? Set(app.environments) }

  mutating func takeTransaction(_ text: String) throws(VerifiedSubmission.Refusal) {
    try take(text, .signedTransaction) { reading throws(Rejection) in
      let payload = try verified { () throws(VerificationError) in
        try reading.verifier.verifyTransaction(
          text, for: reading.app.identity, environments: reading.environments)
      }
      reading.environment = try known(payload.environment)
      let fact = try read { () throws(FactError) in try TransactionFact(payload) }
      reading.contents.transaction = fact
      reading.contents.transactionPayload = payload
      return .transaction(fact)
    }
  }

  mutating func takeRenewalInfo(_ text: String) throws(VerifiedSubmission.Refusal) {
    try take(text, .signedRenewalInfo) { reading throws(Rejection) in
      let payload = try verified { () throws(VerificationError) in
        try reading.verifier.verifyRenewalInfo(
          text, for: reading.app.identity, environments: reading.environments)
      }
      reading.environment = try known(payload.environment)
      let fact = try read { () throws(FactError) in try RenewalFact(payload) }
      let line = reading.contents.transaction?.originalTransactionID
      guard line == nil || line == fact.originalTransactionID else { throw .otherLine }
      reading.contents.renewalPayload = payload
      return .renewal(fact)
    }
  }

  mutating func takeAppTransaction(_ text: String) throws(VerifiedSubmission.Refusal) {
    try take(text, .signedAppTransaction) { reading throws(Rejection) in
      let payload = try verified { () throws(VerificationError) in
        try reading.verifier.verifyAppTransaction(
          text, for: reading.app.identity, environments: reading.environments)
      }
      reading.environment = try known(payload.receiptType)
      let fact = try read { () throws(FactError) in try AppTransactionFact(payload) }
      reading.contents.appTransactionPayload = payload
      return .appTransaction(fact)
    }
  }

  private mutating func take(
    _ text: String, _ kind: Evidence.Kind, _ read: (inout Reading) throws(Rejection) -> DecodedEvidence
  ) throws(VerifiedSubmission.Refusal) {
    do throws(Rejection) {
      let testimony = try read(&self)
      documents.append(.init(kind: kind, text: text, testimony: testimony))
    } catch {
      throw VerifiedSubmission.Refusal(kind: kind, document: text, rejection: error)
    }
  }
}

private func known(_ environment: Environment?) throws(Rejection) -> Environment {
  guard let environment else { throw .incomplete(.missing(field: "environment")) }
  return environment
}

private func verified<Payload: Sendable>(
  _ verify: () throws(VerificationError) -> Verified<Payload>
) throws(Rejection) -> Payload {
  do { return try verify().payload } catch { throw .notVerified(error) }
}

private func read<Fact>(_ read: () throws(FactError) -> Fact) throws(Rejection) -> Fact {
  do { return try read() } catch { throw .incomplete(error) }
}
