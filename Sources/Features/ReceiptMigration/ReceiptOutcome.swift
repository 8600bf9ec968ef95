package import AppStore
package import Ledger

/// What came of a receipt that was taken in.
package struct ReceiptOutcome: Sendable {
  /// What stood for the purchases.
  package enum Kind: Hashable, Sendable {
    /// A genuine app receipt.
    case appReceipt
    /// A receipt of Xcode's, for an app that accepts these.
    case xcodeReceipt
    /// A receipt from before iOS 7 that was looked up.
    case transactionReceipt
    /// Only a number.
    case originalTransactionID
  }

  /// Something about one line that is not as it should be.
  package struct Problem: Hashable, Sendable {
    package let originalTransactionID: String
    /// A code for machines.
    package let reason: String
    /// A sentence for people.
    package let explanation: String
  }

  package let kind: Kind
  /// Where the purchases were made.
  package let environment: Environment
  /// The original transaction ids in the receipt, each once.
  package let lines: [String]
  /// What is known now.
  package let taken: ReceiptResult
  /// The version of the app that the customer got first, if the receipt says it.
  package let originalApplicationVersion: String?
  /// Why Apple could not be asked about all of it, a code for machines; `nil` if it was. What the receipt
  /// itself says holds, and the rest is queued.
  package let pendingReason: String?
  /// What is not as it should be about single lines.
  package let problems: [Problem]

  /// Whether the receipt, which is a valid one, has no purchases.
  package var isEmpty: Bool { lines.isEmpty && taken.transactions.isEmpty }
}
