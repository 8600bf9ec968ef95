package import AppStore
package import Entitlements

/// What Apple took back of a transaction, and from whom.
///
/// A transaction is always one customer's. Taking back a member's leaves the purchaser's alone, and an own
/// purchase of the member's too; when the purchaser is refunded, Apple revokes each member's transaction by
/// itself. So a revocation never reaches beyond the transaction that carries it.
package enum Revocation: Hashable, Sendable {
  /// The purchaser was refunded, in full or for the time that was left.
  case refund(at: Instant)
  /// A family member no longer has it: left the family, sharing was stopped, or the purchaser was refunded.
  case sharingEnded(at: Instant)
  /// The holder of a seat no longer has one.
  case seatRevoked(at: Instant)
  /// Some of the seats that were bought; the purchaser keeps access.
  case someSeats(Int64)

  /// What was taken back of `fact`; `nil` if nothing was.
  package init?(of fact: TransactionFact) {
    guard let instant = fact.accessRevokedAt else {
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

  /// When the holder of the transaction loses what it gave; `nil` if they keep it.
  package var endOfAccess: Instant? {
    switch self {
    case .refund(let instant), .sharingEnded(let instant), .seatRevoked(let instant): instant
    case .someSeats: nil
    }
  }
}
