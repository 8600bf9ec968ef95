package import AppStore
internal import Entitlements

/// The statement of one line of an export about a purchase of a customer.
package struct ImportRow: Hashable, Sendable {
  /// The path of the file; empty if it is not known.
  package var file = ""
  /// The number of the line in the file, from 1; `nil` for a document without lines.
  package var line: Int?
  /// The id of the customer in the export.
  package var customerID = ""
  /// Other ids of the same customer.
  package var aliases: [String] = []
  /// Whether the app used the last of ``aliases`` last, as the export of transactions states it; lists do not.
  package var statesLastSeen = false
  /// The store, in the words of the export; `app_store` and `mac_app_store` are Apple's.
  package var store = ""
  /// The store's id of the purchase, the same for all its renewals; Apple's `originalTransactionId`, unless
  /// ``namesAnyTransaction``.
  package var purchaseID = ""
  /// Whether ``purchaseID`` may be that of any of Apple's transactions of the purchase.
  package var namesAnyTransaction = false
  /// The product, in the words of the store; empty if the export has none.
  package var productID = ""
  /// The entitlements that the purchase grants, in the words of the export.
  package var entitlements: [String] = []
  /// Those of the entitlements that the catalog does not have.
  var unknownEntitlements: [String] = []
  /// The start of access; `nil` if the export does not state it.
  package var since: Instant?
  /// The start of the period that the line is about; `nil`: ``since``.
  package var period: Instant?
  /// The end of access; `nil`: it does not end.
  package var until: Instant?
  /// When the store refunded it; `nil` if it did not.
  package var refundedAt: Instant?
  /// The number of this state, above 0; `nil`: the export does not number its states.
  package var revision: Int64?
  /// Whether the purchase was made in a test environment; `nil` if the export does not say it.
  package var isSandbox: Bool?
  /// The attributes of the customer, in the order of the columns.
  package var attributes: [ImportedAttribute] = []
  /// The columns of attributes that cannot be read.
  package var unreadableAttributes: [String] = []

  package init() {}
}

/// An attribute of a customer.
package struct ImportedAttribute: Hashable, Sendable {
  /// The name in the export.
  package let name: String
  /// The value as text.
  package let value: String
  /// When it was set; `nil` if the export does not say it.
  package let updatedAt: Instant?

  package init(name: String, value: String, updatedAt: Instant? = nil) {
    self.name = name
    self.value = value
    self.updatedAt = updatedAt
  }

  /// Whether `SetCustomerAttributes` accepts it.
  var isAllowed: Bool {
    CustomerAttributeRules.isName(name) && value.utf8.count <= CustomerAttributeRules.maxValueBytes
  }
}

/// Parses the times of exports.
package enum ImportTime {
  /// Returns the instant of RFC 3339, of `2023-01-01 08:27:06` in UTC with or without a fraction, of a date, or of a
  /// number of seconds or milliseconds since 1970; `nil` for any other text.
  package static func parse(_ text: String) -> Instant? {
    if let instant = Instant(rfc3339: text) { return instant }
    if let number = Int64(text) {
      guard number > 0 else { return nil }
      // Seconds reach this number in the year 5138.
      return Instant(millisecondsSince1970: number < 100_000_000_000 ? number * 1000 : number)
    }
    var text = text
    if text.hasSuffix(" UTC") { text.removeLast(4) }
    let parts = text.split(separator: " ")
    return switch parts.count {
    case 1: Instant(rfc3339: "\(parts[0])T00:00:00Z") ?? Instant(rfc3339: "\(parts[0])Z")
    case 2: Instant(rfc3339: "\(parts[0])T\(parts[1])Z") ?? Instant(rfc3339: "\(parts[0])T\(parts[1])")
    default: nil
    }
  }
}
