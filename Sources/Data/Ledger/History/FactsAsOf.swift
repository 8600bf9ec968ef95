package import AppStore
package import Entitlements
internal import FamilySharing
package import Store

/// Rebuilds a customer's facts from the evidence that had arrived at an instant.
package enum FactsAsOf {
  /// Returns the facts of the lines that the customer owned at `instant`, as of the evidence received by
  /// then; grants and app installs included.
  package static func facts(
    of customer: CustomerKey, knownAt instant: Instant, in reader: any StoreSnapshot
  ) throws(StoreError) -> CustomerFacts {
    var lines: Set<LineKey> = []
    for change in try reader.ownershipChanges(of: customer) where change.at <= instant {
      if change.gained { lines.insert(change.line) } else { lines.remove(change.line) }
    }
    var facts = CustomerFacts()
    for line in lines {
      let items = try items(about: line, by: instant, in: reader)
      if line.isSeat, let seat = SeatHistory(items).seats.first {
        facts.merge(
          try purchase(line.other(seat.originalTransactionID), from: line, by: instant, in: reader))
      }
      for item in items { facts.apply(item, about: line) }
    }
    return facts
  }

  /// Returns the facts of a purchase as the holder of one of its seats has them.
  private static func purchase(
    _ purchase: LineKey, from seat: LineKey, by instant: Instant, in reader: any StoreSnapshot
  ) throws(StoreError) -> CustomerFacts {
    let items = try items(about: purchase, by: instant, in: reader)
    let seats = SeatHistory(items).seats
    guard let own = seats.first(where: { $0.seatID == seat.lineID }) else {
      return CustomerFacts()
    }
    var facts = CustomerFacts()
    for item in items { facts.apply(item, about: purchase) }
    return facts.assigned(to: own, among: seats)
  }

  /// Decodes the accepted evidence about a line that had arrived by `instant`, oldest first.
  private static func items(
    about line: LineKey, by instant: Instant, in reader: any StoreSnapshot
  ) throws(StoreError) -> [DecodedItem] {
    try reader.evidence(about: line).filter { $0.evidence.receivedAt <= instant }
      .flatMap { EvidenceDecoder.decode($0.evidence) }
  }
}

extension CustomerFacts {
  /// Adds the fact of `item`, if it belongs to `line`.
  mutating func apply(_ item: DecodedItem, about line: LineKey) {
    if let lineID = item.lineID, lineID != line.lineID { return }
    switch item {
    case .transaction(let fact): insert(fact)
    case .renewal(let fact): insert(fact)
    case .appTransaction(let fact): insert(fact)
    case .command(let command):
      switch command.action {
      case .grant(let fact, _, _) where fact.grantID == line.lineID: insert(fact)
      case .revokeGrant(let fact) where fact.grantID == line.lineID: insert(fact)
      case .grant, .revokeGrant, .move, .merge, .undo, .claimSeat, .associateSeat, .releaseSeats, .erase,
        .appleCall, .consent:
        break
      }
    case .endedSeatClaims, .notification, .rejectedNotification: break
    }
  }
}

/// The seats that evidence claimed and released, in the state after the last piece.
private struct SeatHistory {
  private(set) var seats: [Seat] = []

  /// Applies items in the order of their arrival.
  init(_ items: [DecodedItem]) {
    for item in items { apply(item) }
  }

  /// Adds a claimed seat, or dates the release of seats.
  private mutating func apply(_ item: DecodedItem) {
    switch item {
    case .command(let command):
      switch command.action {
      case .claimSeat(let seat, _): seats.append(seat)
      case .releaseSeats(let ids, let instant):
        for index in seats.indices where ids.contains(seats[index].seatID) {
          seats[index].releasedAt = seats[index].releasedAt ?? max(instant, seats[index].claimedAt)
        }
      case .move, .merge, .undo, .grant, .revokeGrant, .associateSeat, .erase, .appleCall, .consent:
        break
      }
    case .endedSeatClaims(let claims, let endedAt):
      for index in seats.indices where seats[index].seatClaimID.map(claims.contains) == true {
        seats[index].releasedAt = seats[index].releasedAt ?? endedAt
      }
    case .transaction, .renewal, .appTransaction, .notification, .rejectedNotification: break
    }
  }
}
