package import AppStore
package import Entitlements

/// The part of a transaction that Apple revoked.
///
/// A transaction belongs to one customer. Revoking a member's transaction affects neither the purchaser's nor
/// the member's own purchase; after a refund of the purchaser, Apple revokes each member's transaction
/// separately. So a revocation never reaches beyond its transaction (Apple, notificationType `REVOKE`).
package enum Revocation: Hashable, Sendable {
  /// The purchaser was refunded, in full or pro rata.
  case refund(at: Instant)
  /// Sharing ended: the member left the family, sharing was stopped, or the purchaser was refunded.
  case sharingEnded(at: Instant)
  /// The seat was revoked.
  case seatRevoked(at: Instant)
  /// Some seats were refunded; the purchaser keeps access.
  case someSeats(Int64)

  /// The revocation of `fact`; `nil` if there is none.
  package init?(of fact: TransactionFact) {
    guard let instant = fact.revocationDate else {
      guard let seats = fact.revokedSeatQuantity, seats > 0 else { return nil }
      self = .someSeats(seats)
      return
    }
    switch PurchaseRole(of: fact) {
    case .familyMember: self = .sharingEnded(at: instant)
    case .seat: self = .seatRevoked(at: instant)
    case .purchaser, .unrecognized:
      self = fact.revocationType == .familyRevoke ? .sharingEnded(at: instant) : .refund(at: instant)
    }
  }

  /// When access by the transaction ends; `nil` if it continues.
  package var endOfAccess: Instant? {
    switch self {
    case .refund(let instant), .sharingEnded(let instant), .seatRevoked(let instant): instant
    case .someSeats: nil
    }
  }
}
