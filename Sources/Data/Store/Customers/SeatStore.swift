package import AppStore
package import FamilySharing

/// Keeps which seats of purchases are claimed. Whose a seat is is kept as it is for purchases: each is a line.
package protocol SeatStore {
  /// Remembers a claim as it is now: a new one, or one that ended.
  func put(_ seat: Seat, of purchase: LineKey, from evidence: EvidenceID) throws(StoreError)

  /// All claims of a purchase, the first one first.
  func seats(of purchase: LineKey) throws(StoreError) -> [Seat]

  /// The claim that has this line; `nil` if there is none.
  func seat(_ line: LineKey) throws(StoreError) -> Seat?

  /// The claim that Apple knows by its `seatClaimId`; `nil` if there is none.
  func seat(
    claimedAs seatClaimID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> Seat?
}
