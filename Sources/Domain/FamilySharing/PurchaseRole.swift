package import AppStore
package import Entitlements

/// A customer's relation to a transaction, from Apple's `inAppOwnershipType`.
package enum PurchaseRole: Hashable, Sendable {
  /// Pays: billing, prices, refunds and cancellation concern this customer.
  case purchaser
  /// Has access because a family member shares the purchase.
  case familyMember
  /// Has an assigned seat of an organisation's or a group's purchase.
  case seat
  /// An ownership type unknown to this version; treated as purchaser, because no other payer is known.
  case unrecognized(String)

  /// The role of the customer who has `fact`.
  package init(of fact: TransactionFact) { self.init(fact.ownership) }

  /// The role for an `inAppOwnershipType`.
  package init(_ ownership: InAppOwnershipType) {
    switch ownership {
    case .purchased: self = .purchaser
    case .familyShared: self = .familyMember
    case .assigned: self = .seat
    case .unrecognized(let rawValue): self = .unrecognized(rawValue)
    }
  }

  /// Whether a customer in this role may receive messages about billing, prices, cancellation and offers: family members
  /// and seat holders only receive those about access, because they do not pay.
  package var isPayer: Bool {
    switch self {
    case .purchaser, .unrecognized: true
    case .familyMember, .seat: false
    }
  }
}
