internal import AppStore
internal import FamilySharing
internal import JSON

// Commands about seats as the bytes of their evidence.
extension OperatorCommand.Action {
  /// The seat commands among what the bytes of evidence say; `nil` for others.
  static func seatAction(_ object: JSONObject) -> OperatorCommand.Action? {
    switch object["command"]?.stringValue {
    case "CLAIM_SEAT":
      guard let seat = object["seat"]?.objectValue.flatMap(Seat.init) else { return nil }
      return .claimSeat(seat, customerID: object["to"]?.stringValue)
    case "ASSOCIATE_SEAT":
      guard let seat = object["seat"]?.stringValue, let customerID = object["to"]?.stringValue else {
        return nil
      }
      return .associateSeat(seat, customerID: customerID)
    case "RELEASE_SEATS":
      guard let moment = object["at"]?.int64Value else { return nil }
      let seats = (object["seats"]?.arrayValue ?? []).compactMap(\.stringValue)
      return .releaseSeats(seats, at: Instant(millisecondsSince1970: moment))
    default: return nil
    }
  }
}

extension JSONObject {
  /// A claim as its evidence has it.
  init(_ seat: Seat) {
    self = [
      "id": .string(seat.seatID), "purchase": .string(seat.originalTransactionID),
      "request": .string(seat.requestIdentifier),
      "claimedAt": .number(JSONNumber(seat.claimedAt.millisecondsSince1970)),
    ]
    if let claim = seat.seatClaimID { self["seatClaimId"] = .string(claim) }
  }
}

extension Seat {
  fileprivate init?(_ object: JSONObject) {
    guard let id = object["id"]?.stringValue, let purchase = object["purchase"]?.stringValue,
      let claimedAt = object["claimedAt"]?.int64Value
    else { return nil }
    self.init(
      seatID: id, originalTransactionID: purchase, seatClaimID: object["seatClaimId"]?.stringValue,
      requestIdentifier: object["request"]?.stringValue ?? "",
      claimedAt: Instant(millisecondsSince1970: claimedAt))
  }
}
