package import AppStore
internal import Entitlements

/// A grant of a purchase in another store, as the service stores it.
package struct StoredGrant: Hashable, Sendable {
  /// The store, such as `play`.
  package var source = ""
  /// The store's id of the purchase.
  package var externalID = ""
  package var entitlement = ""
  /// The store's id of the product; may be empty.
  package var productID = ""
  /// The number of the stored state; an import reports a greater one to change it.
  package var revision: Int64 = 0
  /// The beginning of access; `nil`: not known.
  package var since: Instant?
  /// `nil`: no expiry.
  package var until: Instant?
  /// The operator's note, or that of ``ImportNote`` for a grant of an import.
  package var note = ""

  package init() {}

  /// Whether an import reported it, and not another service of the operator.
  var isImported: Bool { note.hasPrefix(ImportNote.prefix) }
  /// The start of the period that decided; `nil` if it is not known.
  var period: Instant? { isImported ? ImportNote.period(in: note) : nil }
}

/// The note of imported grants. It has the start of the period, which a later import compares with its own.
package enum ImportNote {
  static let prefix = "imported from "
  private static let separator = ", period of "

  /// The note of an import from the system `origin`.
  package static func text(from origin: String, period: Instant? = nil) -> String {
    prefix + origin + (period.map { separator + $0.description } ?? "")
  }

  static func period(in note: String) -> Instant? {
    note.firstRange(of: separator).flatMap { Instant(rfc3339: String(note[$0.upperBound...])) }
  }
}

/// The grants of purchases in other stores that the service stores, by purchase.
package struct StoredGrants: Sendable {
  /// Identifies a purchase in another store.
  private struct Key: Hashable {
    let source: String
    let purchaseID: String
  }

  private var grants: [Key: [StoredGrant]] = [:]

  package init() {}

  /// Adds a grant. Its id is that of the purchase, with or without the entitlement.
  package mutating func add(_ grant: StoredGrant) {
    grants[Key(source: grant.source, purchaseID: grant.externalID), default: []].append(grant)
    let purchase = ExternalPurchase.purchaseID(grant.externalID, of: grant.entitlement)
    guard purchase != grant.externalID else { return }
    grants[Key(source: grant.source, purchaseID: purchase), default: []].append(grant)
  }

  func grants(ofPurchase id: String, in source: String) -> [StoredGrant] {
    grants[Key(source: source, purchaseID: id)] ?? []
  }
}
