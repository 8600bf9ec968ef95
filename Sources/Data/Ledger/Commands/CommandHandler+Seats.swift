internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Store

// Seats. Check and claim are one write, so that there are never more claims than seats.
extension CommandHandler {
  /// Claims a seat. The same request identifier again, or a claim for a customer who has a seat, returns the
  /// existing seat. `seatClaimID` is Apple's id of the claim.
  func claimSeat(
    of purchaseID: String, for customerID: String?, request: String, seatClaimID: String?
  ) throws(LedgerError) -> CommandResult {
    let purchase = lineKey(purchaseID)
    let holder = try customerID.map { id throws(LedgerError) in
      try inStore { () throws(StoreError) in try store.finalMergeTarget(of: customer(id)) }
    }
    let (facts, seats, owners) = try inStore { () throws(StoreError) in
      (try store.facts(of: purchase), try store.seats(of: purchase), try store.owners(of: purchase))
    }
    guard purchase.isPurchase, facts != CustomerFacts() else {
      throw .unknownPurchase(originalTransactionID: purchaseID)
    }
    if let existing = seats.first(where: { !request.isEmpty && $0.requestIdentifier == request }) {
      return try result(of: existing)
    }
    let bought = SeatCapacity(facts)
    if let problem = bought.problem { throw .noSeats(problem, originalTransactionID: purchaseID) }
    if let holder {
      guard !holder.isAmong(owners) else {
        throw .alreadyPurchaser(originalTransactionID: purchaseID)
      }
      if let own = try heldSeat(of: holder, among: seats) { return try result(of: own) }
    }
    let held = Int64(seats.count(where: \.isHeld))
    guard held < bought.current else {
      throw .noSeatLeft(originalTransactionID: purchaseID, bought: bought.current, held: held)
    }
    let id = try inStore { () throws(StoreError) in try store.nextEvidenceID() }
    let seat = Seat(
      seatID: "\(LineKey.seatPrefix)\(id.rawValue)", originalTransactionID: purchaseID,
      seatClaimID: seatClaimID, requestIdentifier: request, claimedAt: now)
    let outcome = try execute(.claimSeat(seat, customerID: customerID), onBehalfOf: customerID)
    return try result(of: self.seat(seat.seatID, of: purchaseID), outcome)
  }

  /// Links a claimed seat to a customer.
  func associateSeat(_ seatID: String, of purchaseID: String, with customerID: String) throws(LedgerError)
    -> CommandResult
  {
    let seat = try seat(seatID, of: purchaseID)
    let current = try result(of: seat)
    guard seat.isHeld else { throw .unknownSeat(seatID) }
    let (holder, purchasers) = try inStore { () throws(StoreError) in
      (
        try store.finalMergeTarget(of: customer(customerID)),
        try store.owners(of: lineKey(seat.originalTransactionID))
      )
    }
    guard current.customer != holder else { return current }
    guard current.customer == nil else { throw .seatTaken(seatID) }
    guard !holder.isAmong(purchasers) else {
      throw .alreadyPurchaser(originalTransactionID: seat.originalTransactionID)
    }
    let outcome = try execute(.associateSeat(seatID, customerID: customerID), onBehalfOf: customerID)
    return try result(of: seat, outcome)
  }

  /// Releases a seat; one that was released before stays as it was.
  func releaseSeat(_ seatID: String, of purchaseID: String) throws(LedgerError) -> CommandResult {
    let seat = try seat(seatID, of: purchaseID)
    let current = try result(of: seat)
    guard seat.isHeld else { return current }
    let outcome = try execute(
      .releaseSeats([seatID], at: now), onBehalfOf: current.customer?.customerID)
    return try result(of: self.seat(seatID, of: purchaseID), outcome)
  }

  /// Returns a seat of the purchase with this id, held or released; throws ``LedgerError/unknownSeat(_:)``.
  private func seat(_ seatID: String, of purchaseID: String) throws(LedgerError) -> Seat {
    let seat = try inStore { () throws(StoreError) in try store.seat(lineKey(seatID)) }
    guard let seat, seat.originalTransactionID == purchaseID else { throw .unknownSeat(seatID) }
    return seat
  }

  /// Returns the seat that a customer holds; `nil` if there is none.
  private func heldSeat(of holder: CustomerKey, among seats: [Seat]) throws(LedgerError) -> Seat? {
    let lines = try inStore { () throws(StoreError) in try store.lines(of: holder) }
    return seats.first { $0.isHeld && lines.contains(holder.line($0.seatID)) }
  }

  /// The current state of a seat, with its holder and the holder's facts.
  private func result(
    of seat: Seat, _ outcome: CommandResult = CommandResult()
  ) throws(LedgerError) -> CommandResult {
    var outcome = outcome
    let line = lineKey(seat.seatID)
    outcome.seat = seat
    try inStore { () throws(StoreError) in
      outcome.customer = try store.owners(of: line).first.map(line.customer)
      if let holder = outcome.customer {
        outcome.facts = try store.facts(of: holder, in: catalog.definition(of: holder.appID), at: now)
      }
    }
    return outcome
  }
}
