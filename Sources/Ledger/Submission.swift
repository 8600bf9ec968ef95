package import AppStore
package import Entitlements
package import Store

/// A purchase that somebody hands in on behalf of a customer.
package struct Submission: Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// The operator's name for the customer; 1 to 256 bytes.
  package var customerID: String
  /// Apple's signed transaction, a JWS.
  package var signedTransaction: String
  /// Apple's signed renewal info of the same purchase line, a JWS; `nil` if there is none.
  package var signedRenewalInfo: String?
  /// The way by which it arrived.
  package var source: Evidence.Source

  /// A submission by its parts.
  package init(
    appID: String, customerID: String, signedTransaction: String, signedRenewalInfo: String? = nil,
    source: Evidence.Source = .submission
  ) {
    self.appID = appID
    self.customerID = customerID
    self.signedTransaction = signedTransaction
    self.signedRenewalInfo = signedRenewalInfo
    self.source = source
  }
}

/// What came of a submission that was believed. All of it is durable.
package struct Submitted: Hashable, Sendable {
  /// The number under which the signed transaction is kept.
  package let evidenceID: EvidenceID
  /// The same was submitted before for the same customer; nothing changed.
  package let wasKnown: Bool
  /// Where the purchase was made.
  package let environment: Environment
  /// What the signed transaction says, as far as the rules ask.
  package let transaction: TransactionFact
  /// All that the signed transaction says.
  package let transactionPayload: JWSTransactionDecodedPayload
  /// All that the signed renewal info says; `nil` if there was none.
  package let renewalPayload: JWSRenewalInfoDecodedPayload?
  /// All that is known of the customer now.
  package let facts: CustomerFacts
}
