internal import AppStore
internal import FamilySharing
internal import Store

/// Reads and writes `seat`: the claimed seats of purchases.
final class SeatRows {
  private let putSeat: any SQLStatement
  private let selectSeat: any SQLStatement
  /// The claims of a purchase, ordered by their evidence, oldest first.
  let seats: KeyedRead<LineKey, [Seat]>
  private let selectClaim: any SQLStatement

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    let columns = """
      line_id, purchase, seat_claim_id, request_identifier, claimed_at, released_at
      """
    putSeat = try connection.prepare(
      """
      INSERT INTO seat (line_id, app, environment, purchase, seat_claim_id,
        request_identifier, claimed_at, released_at, evidence_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (line_id, app, environment) DO UPDATE SET
        seat_claim_id = excluded.seat_claim_id, released_at = excluded.released_at
      """)
    selectSeat = try connection.prepare(
      "SELECT \(columns) FROM seat WHERE line_id = ? AND app = ? AND environment = ?")
    seats = try KeyedRead(
      "SELECT \(columns) FROM seat WHERE purchase = ? AND app = ? AND environment = ? ORDER BY evidence_id",
      on: connection, in: workspace
    ) { _, row throws(StoreError) in try Self.seats(row) }
    selectClaim = try connection.prepare(
      "SELECT \(columns) FROM seat WHERE seat_claim_id = ? AND app = ? AND environment = ?")
  }

  /// Inserts a claim, or updates its Apple id and its release; the other columns never change.
  func put(_ seat: Seat, of purchase: LineKey, from evidence: EvidenceID) throws(StoreError) {
    try putSeat.bind(purchase.other(seat.seatID))
    try putSeat.bind(4, purchase.lineID)
    try putSeat.bind(5, seat.seatClaimID ?? "")
    try putSeat.bind(6, seat.requestIdentifier)
    try putSeat.bind(7, seat.claimedAt.millisecondsSince1970)
    try putSeat.bind(8, seat.releasedAt?.millisecondsSince1970)
    try putSeat.bind(9, evidence.rawValue)
    try putSeat.run()
    seats.discard(purchase)
  }

  func seat(_ line: LineKey) throws(StoreError) -> Seat? {
    try selectSeat.bind(line)
    defer { selectSeat.reset() }
    return try Self.seats(selectSeat).first
  }

  func seat(
    claimedAs seatClaimID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> Seat? {
    guard !seatClaimID.isEmpty else { return nil }
    try selectClaim.bind(1, seatClaimID)
    try selectClaim.bind(2, appID)
    try selectClaim.bind(3, environment.rawValue)
    defer { selectClaim.reset() }
    return try Self.seats(selectClaim).first
  }

  private static func seats(_ select: any SQLStatement) throws(StoreError) -> [Seat] {
    var seats: [Seat] = []
    while try select.step() {
      let claim = select.text(2) ?? ""
      let isReleased = select.isNumber(5)
      seats.append(
        Seat(
          seatID: select.text(0) ?? "", originalTransactionID: select.text(1) ?? "",
          seatClaimID: claim.isEmpty ? nil : claim, requestIdentifier: select.text(3) ?? "",
          claimedAt: Instant(millisecondsSince1970: select.number(4)),
          releasedAt: isReleased ? Instant(millisecondsSince1970: select.number(5)) : nil))
    }
    return seats
  }
}
