package import AppStore
package import Entitlements

/// What the customer who has a transaction is to the purchase behind it.
package enum PurchaseRole: Hashable, Sendable {
  /// Paid for it: billing, prices, refunds and leaving are theirs.
  case purchaser
  /// Has it because a family member who paid shares it.
  case familyMember
  /// Has one of the seats that an organisation or a group bought.
  case seat
  /// Apple named something that this version does not know; taken for a purchaser, since nothing says that
  /// somebody else pays.
  case unrecognized(String)

  /// What the holder of `fact` is.
  package init(of fact: TransactionFact) { self.init(fact.ownership) }

  /// What the holder of a transaction is, by Apple's `inAppOwnershipType`.
  package init(_ ownership: InAppOwnershipType) {
    switch ownership {
    case .purchased: self = .purchaser
    case .familyShared: self = .familyMember
    case .assigned: self = .seat
    case .unrecognized(let rawValue): self = .unrecognized(rawValue)
    }
  }

  /// Something that could be said to a customer about a purchase.
  package enum Topic: CaseIterable, Sendable {
    /// What the purchase gives, and until when.
    case access
    /// That a payment failed, and how to pay.
    case billing
    /// What it costs, and consent to another price.
    case price
    /// That renewal is off, and how to turn it on or off.
    case cancellation
    /// An offer to stay or to come back.
    case retention
  }

  /// Whether a customer like this may be told: those who do not pay only of their access.
  package func mayReceive(_ topic: Topic) -> Bool {
    switch (self, topic) {
    case (_, .access), (.purchaser, _), (.unrecognized, _): true
    case (.familyMember, _), (.seat, _): false
    }
  }
}
