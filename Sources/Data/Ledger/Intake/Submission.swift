package import AppStore
internal import Bytes
package import Entitlements
package import Store

/// Apple's documents about one purchase, submitted together.
package struct Submission: Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// The operator's name for the customer, 1 to 256 bytes; `nil` if no customer submits the documents.
  package var customerID: String?
  /// Apple's signed transaction, a JWS.
  package var signedTransaction: String?
  /// Apple's signed renewal info, a JWS; of the same purchase, if there is a transaction.
  package var signedRenewalInfo: String?
  /// Apple's signed app transaction, a JWS.
  package var signedAppTransaction: String?
  /// The environment that the documents must have; `nil`: any of the app's.
  package var environment: Environment?
  /// The way by which they arrived.
  package var source: Evidence.Source

  /// One document of a submission.
  package struct Document: Sendable {
    /// The kind that the sender declares.
    package let kind: Evidence.Kind
    /// The JWS.
    package let text: String
  }

  /// The documents that are present, the transaction first.
  package var documents: [Document] {
    let all: [(Evidence.Kind, String?)] = [
      (.signedTransaction, signedTransaction), (.signedRenewalInfo, signedRenewalInfo),
      (.signedAppTransaction, signedAppTransaction),
    ]
    return all.compactMap { kind, text in text.map { Document(kind: kind, text: $0) } }
  }

  /// Creates a submission; at least one document is needed. White space around a document is removed, so that the same
  /// document is the same evidence.
  package init(
    appID: String, customerID: String?, signedTransaction: String? = nil, signedRenewalInfo: String? = nil,
    signedAppTransaction: String? = nil, environment: Environment? = nil,
    source: Evidence.Source = .submission
  ) {
    self.appID = appID
    self.customerID = customerID
    self.signedTransaction = signedTransaction?.trimmed
    self.signedRenewalInfo = signedRenewalInfo?.trimmed
    self.signedAppTransaction = signedAppTransaction?.trimmed
    self.environment = environment
    self.source = source
  }
}

/// The result of a verified submission. All of it is durable.
package struct SubmissionResult: Hashable, Sendable {
  /// The id of the first document.
  package let evidenceID: EvidenceID
  /// Whether all documents were stored before for the same customer, so that nothing changed.
  package let isDuplicate: Bool
  /// The environment of the purchase.
  package let environment: Environment
  /// The decoded documents.
  package let documents: SubmittedDocuments
  /// The owner; `nil` while the purchase is unclaimed.
  package let customerID: String?
  /// The facts of the owner, as far as the answers from now on depend on them.
  package let facts: CustomerFacts
}

/// The result of one submission of a batch. All of it is durable.
package struct BatchedSubmissionResult: Sendable {
  /// Whether all documents were stored before, so that nothing changed.
  package let isDuplicate: Bool
  /// Whether the transaction was new, or newer than the stored one.
  package let isNewTransaction: Bool
  /// The owner; `nil` while the purchase is unclaimed.
  package let customerID: String?
  /// The payload of the signed transaction, if there was one.
  package let transaction: JWSTransactionDecodedPayload?
}

/// The decoded documents of a submission, each if it was present.
package struct SubmittedDocuments: Hashable, Sendable {
  /// The transaction, normalized for the rules.
  package var transaction: TransactionFact?
  /// The complete payload of the signed transaction.
  package var transactionPayload: JWSTransactionDecodedPayload?
  /// The renewal info, normalized for the rules.
  package var renewal: RenewalFact?
  /// The complete payload of the signed app transaction.
  package var appTransactionPayload: AppTransactionPayload?
}
