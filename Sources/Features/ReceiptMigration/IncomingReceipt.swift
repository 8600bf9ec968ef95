package import AppStore
package import AppStoreClient
package import Store

/// A receipt as it arrived, or a number in its place.
package struct IncomingReceipt: Sendable {
  /// What stands for the customer's purchases.
  package enum Content: Hashable, Sendable {
    /// A receipt in one of its forms, as bytes.
    case receipt([UInt8])
    /// A receipt as text: base64, its lines broken or not.
    case text(String)
    /// Only Apple's number of a purchase line.
    case originalTransactionID(String)
  }

  /// What is known of a number's owner.
  package enum Binding: Hashable, Sendable {
    /// Nothing: what Apple says of it is kept, and nobody gets it.
    case lookUpOnly
    /// The operator vouches for it; the name is for the audit trail.
    case vouched(by: String)
  }

  /// The operator's name for the app.
  package var appID: String
  /// The operator's name for the customer; `nil` if it comes on nobody's behalf.
  package var customerID: String?
  /// What stands for the purchases.
  package var content: Content
  /// Where a number belongs; receipts say it themselves. `nil` for the app's first.
  package var environment: Environment?
  /// What is known of a number's owner; receipts that are genuine speak for themselves.
  package var binding = Binding.lookUpOnly
  /// The identifier of the device that the receipt must be for; empty for any.
  package var deviceIdentifier: [UInt8] = []
  /// The way by which it came.
  package var source = Evidence.Source.submission
  /// Who comes first at Apple.
  package var priority = CallPriority.interactive
  /// How long its sender waits for Apple; `nil` for as long as it takes.
  package var timeout: Duration?
  /// What others are asking about now; `nil` if nobody else asks.
  package var lineLocks: LineLocks?
  /// Apple is not asked again about lines about which it was asked since then; `nil` to ask in any case.
  package var queriedSince: Instant?

  /// A receipt by its parts.
  package init(appID: String, customerID: String?, content: Content) {
    self.appID = appID
    self.customerID = customerID
    self.content = content
  }
}
