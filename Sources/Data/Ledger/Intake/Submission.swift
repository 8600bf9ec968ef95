package import AppStore
package import Entitlements
package import Store

/// Documents of Apple's about one purchase, that somebody hands in.
package struct Submission: Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// The operator's name for the customer, 1 to 256 bytes; `nil` if the documents come on nobody's behalf.
  package var customerID: String?
  /// Apple's signed transaction, a JWS.
  package var signedTransaction: String?
  /// Apple's signed renewal info, a JWS; of the same purchase line, if there is a transaction.
  package var signedRenewalInfo: String?
  /// Apple's signed app transaction, a JWS.
  package var signedAppTransaction: String?
  /// The way by which they arrived.
  package var source: Evidence.Source

  /// One document of a submission.
  package struct Document: Sendable {
    /// What it is handed in as.
    package let kind: Evidence.Kind
    /// The JWS.
    package let text: String
  }

  /// The documents that there are.
  package var documents: [Document] {
    let all: [(Evidence.Kind, String?)] = [
      (.signedTransaction, signedTransaction), (.signedRenewalInfo, signedRenewalInfo),
      (.signedAppTransaction, signedAppTransaction),
    ]
    return all.compactMap { kind, text in text.map { Document(kind: kind, text: $0) } }
  }

  /// A submission by its parts; at least one document is needed.
  package init(
    appID: String, customerID: String?, signedTransaction: String? = nil, signedRenewalInfo: String? = nil,
    signedAppTransaction: String? = nil, source: Evidence.Source = .submission
  ) {
    self.appID = appID
    self.customerID = customerID
    self.signedTransaction = signedTransaction
    self.signedRenewalInfo = signedRenewalInfo
    self.signedAppTransaction = signedAppTransaction
    self.source = source
  }
}

/// What came of a submission that was believed. All of it is durable.
package struct SubmissionResult: Hashable, Sendable {
  /// The number under which the first of its documents is kept.
  package let evidenceID: EvidenceID
  /// The same was submitted before for the same customer; nothing changed.
  package let isDuplicate: Bool
  /// Where the purchase was made.
  package let environment: Environment
  /// What the documents say.
  package let documents: SubmittedDocuments
  /// Whose the purchase is; `nil` while nobody has claimed it.
  package let customerID: String?
  /// All that is known of that customer now.
  package let facts: CustomerFacts
}

/// What the documents of a submission say, each where there was one.
package struct SubmittedDocuments: Hashable, Sendable {
  /// The transaction, as far as the rules ask.
  package var transaction: TransactionFact?
  /// All that the signed transaction says.
  package var transactionPayload: JWSTransactionDecodedPayload?
  /// All that the signed renewal info says.
  package var renewalPayload: JWSRenewalInfoDecodedPayload?
  /// All that the signed app transaction says.
  package var appTransactionPayload: AppTransactionPayload?
}
