package import AppStore
package import Entitlements
package import Store

/// What a legacy receipt, or a number that stands for one, brought: all that is to be remembered of it
/// together.
package struct ReceiptSubmission: Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// Where the purchases were made.
  package var environment: Environment
  /// To whom the purchases are linked; `nil` for nobody yet.
  package var customerID: String?
  /// The receipt itself, if it is to be kept.
  package var receipt: EvidenceContent?
  /// What the receipt says; `nil` if there was none that could be believed.
  package var statement: ReceiptContents?
  /// What Apple signed about it.
  package var documents: [Submission] = []
  /// The lines that are the customer's by what brought this in; those of ``documents`` that come on the
  /// customer's behalf are, anyway. What nothing is known of is left out.
  package var claimedLines: [String] = []
  /// Who vouches for that, for the audit trail; empty if a genuine receipt does.
  package var actor = ""
  /// About which lines Apple was asked.
  package var queriedLines: [String] = []
  /// Apple was not asked, because it had been about all of it.
  package var wasQueriedBefore = false
  /// About which lines Apple is to be asked later.
  package var refreshes: [PendingRefresh] = []
  /// The way by which the receipt came.
  package var source: Evidence.Source

  /// A receipt of which nothing is known yet.
  package init(
    appID: String, environment: Environment, customerID: String?, source: Evidence.Source = .submission
  ) {
    self.appID = appID
    self.environment = environment
    self.customerID = customerID
    self.source = source
  }
}

/// What came of a receipt. All of it is durable.
package struct ReceiptResult: Sendable {
  /// The number under which what it says is kept; `nil` if there was no receipt that could be believed.
  package var evidenceID: EvidenceID?
  /// The same receipt came before, on behalf of the same customer.
  package var isDuplicate: Bool
  /// Something is known that was not known before. That Apple signed the same again is not.
  package var changedState: Bool
  /// The transactions that Apple signed, in Apple's order.
  package var transactions: [JWSTransactionDecodedPayload]
  /// Whose the purchases are; `nil` while nobody has claimed them.
  package var customerID: String?
  /// All that is known of that customer.
  package var facts: CustomerFacts
  /// Lines that stay with somebody else.
  package var linesOfOtherCustomers: [String]
  /// What of Apple's answer was not to be believed, each with its reason.
  package var rejected: [Rejection]
  /// There is no purchase in it.
  package var isEmpty: Bool
  /// Apple was not asked, because it had been about all of it.
  package var wasQueriedBefore: Bool
  /// Why Apple is to be asked later, a code for machines; `nil` if it was asked.
  package var pendingReason: String?

  /// All that a customer claims with it stays with somebody else.
  package var belongsToAnotherCustomer: Bool { customerID == nil && !linesOfOtherCustomers.isEmpty }
}

extension Evidence.Source {
  /// A migration job brought it.
  package static let migration = Evidence.Source(rawValue: "MIGRATION")
}
