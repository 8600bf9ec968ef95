internal import AppStore

/// A seat that a developer claimed, of a purchase to which the developer invites the members.
struct SeatClaim: Hashable, Sendable {
  let id: String
  /// The same request again gives the same seat.
  let requestIdentifier: String
  /// The Apple account in the app, if it is known who has the seat.
  var appTransactionID: String?
}

extension World {
  /// Who invites to the seats of a product.
  func invitationManagement(of productID: String, in app: String) -> InvitationManagement {
    settings[app]?.invitedByDeveloper.contains(productID) == true ? .developer : .apple
  }

  /// How many seats a subscription has.
  func seats(of line: SubscriptionLine) -> Int64 { current(of: line)?.quantity ?? 1 }

  /// Claims a seat; the one that there is, if the request is known.
  mutating func claimSeat(
    of line: SubscriptionLine, request: String, for appTransactionID: String?
  ) throws(ActionError) -> SeatClaim {
    if let known = line.claims.first(where: { $0.requestIdentifier == request }) { return known }
    guard line.isEntitling, line.claims.count < seats(of: line) else {
      throw .notPossible("\(line.id) has no seat left")
    }
    let claim = SeatClaim(id: makeUUID(), requestIdentifier: request, appTransactionID: appTransactionID)
    lines[line.id]?.claims.append(claim)
    return claim
  }

  /// Says who has a seat that was claimed.
  mutating func associateSeat(_ id: String, of line: SubscriptionLine, with appTransactionID: String)
    throws(ActionError)
  {
    guard let index = line.claims.firstIndex(where: { $0.id == id }) else {
      throw .unknown(what: "seat", name: id, known: line.claims.map(\.id))
    }
    lines[line.id]?.claims[index].appTransactionID = appTransactionID
  }

  /// Gives a seat back, of which Apple tells.
  mutating func releaseSeat(_ id: String, of line: SubscriptionLine) throws(ActionError) {
    guard line.claims.contains(where: { $0.id == id }), let transaction = current(of: line) else {
      throw .unknown(what: "seat", name: id, known: line.claims.map(\.id))
    }
    lines[line.id]?.claims.removeAll { $0.id == id }
    post(.unclaimSeats, nil, of: line.app, .unclaimedSeats(transaction, [id]))
  }
}

extension World {
  mutating func performSeatClaim(_ action: Action, _ parameters: Parameters) throws(ActionError) -> Outcome {
    let line = try ownRunningLine(parameters)
    var outcome = Outcome(transactions: [line.current])
    switch action {
    case .claimSeat:
      let claim = try claimSeat(
        of: line, request: parameters.string("requestIdentifier"),
        for: parameters.stringIfPresent("appTransactionId"))
      outcome.members = [("seatClaimId", claim.id)]
    case .associateSeat:
      try associateSeat(
        parameters.string("seatClaimId"), of: line, with: parameters.string("appTransactionId"))
    default: try releaseSeat(parameters.string("seatClaimId"), of: line)
    }
    return outcome
  }
}
