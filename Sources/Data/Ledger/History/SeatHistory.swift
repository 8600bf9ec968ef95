internal import AppStore
internal import FamilySharing

/// The claims of seats that evidence tells of, as they were when the last of it came.
struct SeatHistory {
  private(set) var seats: [Seat] = []

  /// What these say, in the order in which they came.
  init(_ testimonies: [DecodedEvidence]) {
    for testimony in testimonies { take(testimony) }
  }

  private mutating func take(_ testimony: DecodedEvidence) {
    switch testimony {
    case .command(let command):
      switch command.action {
      case .claimSeat(let seat, _): seats.append(seat)
      case .releaseSeats(let ids, let moment):
        for index in seats.indices where ids.contains(seats[index].seatID) {
          seats[index].releasedAt = seats[index].releasedAt ?? max(moment, seats[index].claimedAt)
        }
      case .move, .merge, .undo, .grant, .revokeGrant, .associateSeat, .erase, .appleCall, .consent:
        break
      }
    case .notification(let contents):
      let claims = contents.payload.unclaimInfo?.unclaimSeatIds ?? []
      for index in seats.indices where seats[index].seatClaimID.map(claims.contains) == true {
        seats[index].releasedAt = seats[index].releasedAt ?? contents.payload.signedDate
      }
    case .transaction, .renewal, .appTransaction, .receipt, .nothing: break
    }
  }
}
