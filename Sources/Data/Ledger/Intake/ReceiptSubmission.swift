package import AppStore
package import Entitlements
package import Store

/// A legacy receipt or a transaction id, with everything to store about it in one commit.
package struct ReceiptSubmission: Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// The environment of the purchases.
  package var environment: Environment
  /// The customer to link the purchases to; `nil` leaves them unclaimed.
  package var customerID: String?
  /// The receipt itself, if it is retained.
  package var receipt: EvidenceContent?
  /// The contents of the receipt; `nil` if there was no verified receipt.
  package var contents: ReceiptContents?
  /// Apple's signed documents about it.
  package var documents: [Submission] = []
  /// The lines to claim for the customer, besides those of ``documents`` that the customer submits. Lines
  /// without facts are skipped.
  package var claimedLines: [String] = []
  /// The operator's user who vouches for the claim, for the audit trail; empty if a verified receipt does.
  package var actor = ""
  /// The lines that Apple was queried about.
  package var queriedLines: [String] = []
  /// Whether Apple was not queried, because it had been queried about all lines before.
  package var wasQueriedBefore = false
  /// The queries to make later.
  package var refreshes: [PendingRefresh] = []
  /// The way by which the receipt arrived.
  package var source: Evidence.Source

  /// Creates a submission without a receipt or documents.
  package init(
    appID: String, environment: Environment, customerID: String?, source: Evidence.Source = .submission
  ) {
    self.appID = appID
    self.environment = environment
    self.customerID = customerID
    self.source = source
  }
}

/// The result of a receipt. All of it is durable.
package struct ReceiptResult: Sendable {
  /// The evidence id of the receipt's contents; `nil` if there was no verified receipt.
  package var evidenceID: EvidenceID?
  /// Whether the same receipt was stored before for the same customer.
  package var isDuplicate: Bool
  /// Whether facts or owners changed. A new signature of the same facts is no change.
  package var changedState: Bool
  /// The transactions that Apple signed, in Apple's order.
  package var transactions: [JWSTransactionDecodedPayload]
  /// The owner; `nil` while the purchases are unclaimed.
  package var customerID: String?
  /// All facts of the owner.
  package var facts: CustomerFacts
  /// The lines that stay with other customers.
  package var linesOfOtherCustomers: [String]
  /// The reasons of the documents that did not verify.
  package var rejected: [Rejection]
  /// Whether the receipt contains no purchase.
  package var isEmpty: Bool
  /// Whether Apple was not queried, because it had been queried about all lines before.
  package var wasQueriedBefore: Bool
  /// The reason code of a query to make later; `nil` if Apple was queried.
  package var pendingReason: String?

  /// Whether all purchases that the customer claims stay with other customers.
  package var belongsToAnotherCustomer: Bool { customerID == nil && !linesOfOtherCustomers.isEmpty }
}
