package import AppStore
package import Entitlements

/// One seat of a purchase that was claimed for somebody. Where the developer invites (Apple's
/// `invitationManagement` `DEVELOPER`) members have no transactions, and this record is all that says who has
/// access.
///
/// Whose it is is not part of it: that is kept as it is for purchases. A claim is made once; who gives a seat
/// back and comes again has another claim.
package struct Seat: Hashable, Sendable {
  /// Our number of the claim, such as `seat-12`.
  package let seatID: String
  /// Apple's number of the purchase line whose seat it is.
  package let originalTransactionID: String
  /// Apple's `seatClaimId`; `nil` if Apple was not told.
  package var seatClaimID: String?
  /// Names the request that claimed it; the same again gives the same seat.
  package let requestIdentifier: String
  /// When it was claimed.
  package let claimedAt: Instant
  /// When it was given back or taken; `nil` while it is held.
  package var releasedAt: Instant?

  /// A claim by its parts.
  package init(
    seatID: String, originalTransactionID: String, seatClaimID: String? = nil, requestIdentifier: String = "",
    claimedAt: Instant, releasedAt: Instant? = nil
  ) {
    self.seatID = seatID
    self.originalTransactionID = originalTransactionID
    self.seatClaimID = seatClaimID
    self.requestIdentifier = requestIdentifier
    self.claimedAt = claimedAt
    self.releasedAt = releasedAt
  }

  /// Whether nobody gave it back.
  package var isHeld: Bool { releasedAt == nil }

  /// Whether this claim was made before `other`: then it comes first where there are too few seats.
  func precedes(_ other: Seat) -> Bool {
    (claimedAt, seatID.utf8.count, seatID) < (other.claimedAt, other.seatID.utf8.count, other.seatID)
  }
}

/// How many seats a purchase line has, period by period.
package struct SeatCapacity: Sendable {
  /// Why no seat of a purchase can be claimed, whoever asks.
  package enum Problem: Hashable, Sendable {
    /// It is no subscription that somebody bought with seats.
    case noSeats
    /// Apple invites the members, and each has a transaction of their own.
    case invitedByApple
  }

  private let transactions: [TransactionFact]

  /// The seats that the transactions of one line bought.
  package init(_ line: CustomerFacts) {
    transactions = line.transactions
  }

  /// What stands against claiming any seat; `nil` if nothing does. The setting of the newest period counts.
  package var problem: Problem? {
    guard let last = transactions.last, last.type == .autoRenewableSubscription,
      !last.isShared
    else { return .noSeats }
    switch last.details.invitationManagement {
    case .apple: return .invitedByApple
    case .developer, .unrecognized: return nil
    // Several of one subscription are seats, even if Apple did not say who invites to them.
    case nil: return last.quantity > 1 ? nil : .noSeats
    }
  }

  /// The seats of the newest period.
  package var current: Int64 { transactions.last.map(count) ?? 0 }

  /// The seats of the period that `transaction` is about, less those that were refunded. Several
  /// transactions stand for one period if seats were added to it; each says how many it covers.
  func count(_ transaction: TransactionFact) -> Int64 {
    transactions.lazy.filter { $0.expiresDate == transaction.expiresDate && $0.accessRevokedAt == nil }
      .reduce(0) { $0 + max(0, $1.quantity - ($1.revokedSeatQuantity ?? 0)) }
  }
}
