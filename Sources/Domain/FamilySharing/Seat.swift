package import AppStore

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
