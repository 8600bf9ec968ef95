internal import AppStore
internal import FamilySharing
internal import SQLite
internal import Store

// Which seats are claimed.
extension SQLiteTransaction {
  func put(_ seat: Seat, of purchase: LineKey, from evidence: EvidenceID) throws(StoreError) {
    try self.seat.put(seat, of: purchase, from: evidence)
  }

  func seats(of purchase: LineKey) throws(StoreError) -> [Seat] { try seat.seats(of: purchase) }

  func seat(_ line: LineKey) throws(StoreError) -> Seat? { try seat.seat(line) }

  func seat(
    claimedAs seatClaimID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> Seat? {
    try seat.seat(claimedAs: seatClaimID, of: appID, in: environment)
  }
}
