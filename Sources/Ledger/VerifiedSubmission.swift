internal import AppStore
internal import Entitlements
internal import SignedData
internal import Store

/// A submission of which every document was found to be Apple's: all that the write needs to know.
struct VerifiedSubmission: Sendable {
  let environment: Environment
  let transactionPayload: JWSTransactionDecodedPayload
  let transaction: TransactionFact
  let renewalPayload: JWSRenewalInfoDecodedPayload?
  let renewal: RenewalFact?

  /// The document that was refused, and why.
  struct Refusal: Error {
    let kind: Evidence.Kind
    let document: String
    let rejection: Rejection
  }

  /// Verifies the documents of `submission` and reads them.
  init(
    _ submission: Submission, for app: AppDefinition, with verifier: SignedDataVerifier
  ) throws(Refusal) {
    do throws(Rejection) {
      let payload = try verified { () throws(VerificationError) in
        try verifier.verifyTransaction(
          submission.signedTransaction, for: app.identity, environments: Set(app.environments))
      }
      guard let environment = payload.environment else {
        throw .incomplete(.missing(field: "environment"))
      }
      self.environment = environment
      transactionPayload = payload
      transaction = try read { () throws(FactError) in try TransactionFact(payload) }
    } catch {
      throw Refusal(
        kind: .signedTransaction, document: submission.signedTransaction, rejection: error)
    }
    guard let document = submission.signedRenewalInfo else {
      renewalPayload = nil
      renewal = nil
      return
    }
    do throws(Rejection) {
      let payload = try Self.renewalInfo(document, in: environment, app, verifier)
      renewalPayload = payload
      renewal = try Self.renewal(payload, of: transaction.originalTransactionID)
    } catch {
      throw Refusal(kind: .signedRenewalInfo, document: document, rejection: error)
    }
  }

  private static func renewalInfo(
    _ document: String, in environment: Environment, _ app: AppDefinition, _ verifier: SignedDataVerifier
  ) throws(Rejection) -> JWSRenewalInfoDecodedPayload {
    try verified { () throws(VerificationError) in
      try verifier.verifyRenewalInfo(document, for: app.identity, environments: [environment])
    }
  }

  private static func renewal(
    _ payload: JWSRenewalInfoDecodedPayload, of line: String
  ) throws(Rejection) -> RenewalFact {
    let fact = try read { () throws(FactError) in try RenewalFact(payload) }
    guard fact.originalTransactionID == line else { throw .otherLine }
    return fact
  }
}

private func verified<Payload: Sendable>(
  _ verify: () throws(VerificationError) -> Verified<Payload>
) throws(Rejection) -> Payload {
  do { return try verify().payload } catch { throw .notVerified(error) }
}

private func read<Fact>(_ read: () throws(FactError) -> Fact) throws(Rejection) -> Fact {
  do { return try read() } catch { throw .incomplete(error) }
}
