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
  case seatTaken(at: Instant)
  /// Some of the seats that were bought; the purchaser keeps access.
  case seats(Int64)

  /// What was taken back of `fact`; `nil` if nothing was.
  package init?(of fact: TransactionFact) {
    guard let moment = fact.accessRevokedAt else {
      guard let seats = fact.revokedSeatQuantity, seats > 0 else { return nil }
      self = .seats(seats)
      return
    }
    switch PurchaseRole(of: fact) {
    case .familyMember: self = .sharingEnded(at: moment)
    case .seat: self = .seatTaken(at: moment)
    case .purchaser, .unrecognized:
      self = fact.revocationType == .familyRevoke ? .sharingEnded(at: moment) : .refund(at: moment)
    }
  }

  /// When the holder of the transaction loses what it gave; `nil` if they keep it.
  package var endOfAccess: Instant? {
    switch self {
    case .refund(let moment), .sharingEnded(let moment), .seatTaken(let moment): moment
    case .seats: nil
    }
  }
}
