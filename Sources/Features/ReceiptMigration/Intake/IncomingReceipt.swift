package import AppStore
package import AppStoreClient
package import AppleLookup
package import Ledger
package import Platform
package import Store

/// A submitted receipt, or a transaction id in its place.
package struct IncomingReceipt: Sendable {
  /// The submitted document or id.
  package enum Content: Hashable, Sendable {
    /// A receipt in any of its forms, as bytes.
    case receipt([UInt8])
    /// A receipt in base64, with or without line breaks.
    case text(String)
    /// An original transaction id without a receipt, such as from an old backend's table. The id of another transaction of
    /// the purchase leads to the same purchase.
    case originalTransactionID(String)
  }

  /// The ownership of a transaction id that comes without a receipt.
  package enum Binding: Hashable, Sendable {
    /// Unknown: the purchase is stored without linking it.
    case lookUpOnly
    /// The operator vouches for the customer; the name is recorded as the actor.
    case assignedByOperator(actor: String)
  }

  /// The operator's name for the app.
  package var appID: String
  /// The customer to link the purchases to; `nil` for none.
  package var customerID: String?
  /// The document or the id.
  package var content: Content
  /// The environments in which Apple is asked about a transaction id, in this order, until it has the id; receipts
  /// contain theirs. Empty: those of the app.
  package var environments: [Environment] = []
  /// Ignored for verified receipts.
  package var binding = Binding.lookUpOnly
  /// The device identifier whose hash the receipt must contain; empty for any.
  package var deviceIdentifier: [UInt8] = []
  /// The route by which it arrived, which is stored with its evidence.
  package var source = Evidence.Source.submission
  /// The priority of the calls to Apple that the receipt needs.
  package var priority = CallPriority.interactive
  /// The timeout of all calls to Apple together; `nil` for none.
  package var timeout: Duration?
  /// The deadline shared with other submissions; `nil` for that of ``timeout``.
  var deadline: CallDeadline?
  /// The locks shared with concurrent submissions; `nil` without such.
  package var lineLocks: KeyLocks?
  /// Lines looked up since then are not looked up again; `nil` to look up all.
  package var queriedSince: Instant?

  /// Creates a submission with the defaults: a verified receipt of a caller who waits.
  package init(appID: String, customerID: String?, content: Content) {
    self.appID = appID
    self.customerID = customerID
    self.content = content
  }
}

/// The result of ingesting a receipt.
package struct ReceiptOutcome: Sendable {
  /// The form of the submission.
  package enum Kind: Hashable, Sendable {
    /// A verified app receipt.
    case appReceipt
    /// A receipt signed by Xcode, for an app that accepts these.
    case xcodeReceipt
    /// A receipt from before iOS 7 that was looked up.
    case transactionReceipt
    /// An original transaction id without a receipt.
    case originalTransactionID
  }

  /// A problem with one line.
  package struct Problem: Hashable, Sendable {
    /// Empty if the problem is not about one line.
    package let originalTransactionID: String
    /// The reason code.
    package let reason: String
    /// The text for people.
    package let explanation: String
  }

  /// The form in which it was submitted.
  package let kind: Kind
  /// The environment of the purchases.
  package let environment: Environment
  /// The original transaction ids in the receipt, each once, in its order.
  package let lines: [String]
  /// The effect on the store.
  package let result: ReceiptResult
  /// The app version of the first download, if the receipt states it.
  package let originalApplicationVersion: String?
  /// The error that prevented a lookup of all lines; `nil` if there was none. The receipt's contents hold meanwhile, and
  /// the lookup is queued.
  package let lookupFailure: LookupError?
  /// The problems with single lines, which do not prevent the others from being ingested.
  package let problems: [Problem]

  /// The reason code of ``lookupFailure``.
  package var pendingReason: String? { lookupFailure?.reason }
}
