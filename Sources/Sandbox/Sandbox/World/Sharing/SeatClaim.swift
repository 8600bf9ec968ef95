internal import AppStore

/// A claimed seat of a purchase whose invitations the developer manages (Apple: ClaimSeatRequest).
struct SeatClaim: Hashable, Sendable {
  let id: String
  /// The idempotency key of the claim.
  let requestIdentifier: String
  /// The app install that uses the seat, if it is known.
  var appTransactionID: String?
}

extension World {
  /// Returns the invitation management of a product's seats.
  func invitationManagement(of productID: String, in app: String) -> InvitationManagement {
    settings[app]?.invitedByDeveloper.contains(productID) == true ? .developer : .apple
  }

  /// Claims a seat. A repeated request identifier returns the same claim, also if no seat is free by then.
  ///
  /// Apple unclaims no seats at a renewal with fewer of them, so there can be more claims than seats (Apple:
  /// NoAvailableSeatsError).
  ///
  /// - Throws: ``ActionError/notPossible(_:)`` if Apple manages the invitations, or without a free seat.
  mutating func claimSeat(
    of line: SubscriptionLine, request: String, for appTransactionID: String?
  ) throws(ActionError) -> SeatClaim {
    try requireDeveloperInvitations(line)
    if let known = line.claims.first(where: { $0.requestIdentifier == request }) { return known }
    guard line.isEntitling, Int64(line.claims.count) < memberSeats(of: line) else {
      throw .notPossible("subscription \(line.id) has no free seat")
    }
    let claim = SeatClaim(id: makeUUID(), requestIdentifier: request, appTransactionID: appTransactionID)
    lines[line.id]?.claims.append(claim)
    return claim
  }

  /// Associates a claimed seat with an app install.
  mutating func associateSeat(_ id: String, of line: SubscriptionLine, with appTransactionID: String)
    throws(ActionError)
  {
    let index = try claimIndex(id, of: line)
    lines[line.id]?.claims[index].appTransactionID = appTransactionID
  }

  /// The index of a claim by its id, or by `#N`, counted from 1.
  private func claimIndex(_ id: String, of line: SubscriptionLine) throws(ActionError) -> Int {
    let ordinal = Self.index(ofOrdinal: id).flatMap { line.claims.indices.contains($0) ? $0 : nil }
    guard let index = line.claims.firstIndex(where: { $0.id == id }) ?? ordinal else {
      throw .unknown(what: "seat", name: id, known: line.claims.map(\.id))
    }
    return index
  }

  /// Releases a claimed seat for the developer, who then needs no notification.
  mutating func releaseSeat(_ id: String, of line: SubscriptionLine) throws(ActionError) {
    let index = try claimIndex(id, of: line)
    lines[line.id]?.claims.remove(at: index)
  }

  /// Releases a claimed seat for the purchaser and sends `UNCLAIM_SEATS` (Apple: unclaimInfo, "the seat claims the
  /// App Store unclaimed").
  mutating func unclaimSeat(_ id: String, of line: SubscriptionLine) throws(ActionError) {
    guard let transaction = current(of: line) else { return }
    let claim = line.claims[try claimIndex(id, of: line)]
    try releaseSeat(id, of: line)
    post(.unclaimSeats, nil, of: line.app, .unclaimedSeats(transaction, [claim.id]))
  }

  /// The seats of other purchases are assigned by Apple's invitations or by the organization.
  private func requireDeveloperInvitations(_ line: SubscriptionLine) throws(ActionError) {
    guard line.invitations == .developer else {
      throw .notPossible("the developer does not assign the seats of subscription \(line.id)")
    }
  }
}

extension World {
  /// Performs an action on the claimed seats of a running subscription.
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
