package import AppStore
package import Entitlements
internal import FamilySharing
package import Store

/// What was known when: the facts of a customer rebuilt from the evidence that had arrived by then.
package enum FactsAsOf {
  /// The facts of the lines that were the customer's at `moment`, as far as evidence had arrived that told
  /// of them; grants and copies of the app included.
  package static func facts(
    of customer: CustomerKey, knownAt moment: Instant, in reader: any StoreSnapshot
  ) throws(StoreError) -> CustomerFacts {
    var lines: Set<LineKey> = []
    for change in try reader.ownershipChanges(of: customer) where change.at <= moment {
      if change.gained { lines.insert(change.line) } else { lines.remove(change.line) }
    }
    var facts = CustomerFacts()
    for line in lines {
      let testimonies = try testimonies(about: line, by: moment, in: reader)
      if line.isSeat, let seat = SeatHistory(testimonies).seats.first {
        facts.merge(
          try purchase(line.other(seat.originalTransactionID), from: line, by: moment, in: reader))
      }
      for testimony in testimonies { facts.take(testimony, about: line) }
    }
    return facts
  }

  /// What was known of a purchase, as the holder of one of its seats has it.
  private static func purchase(
    _ purchase: LineKey, from seat: LineKey, by moment: Instant, in reader: any StoreSnapshot
  ) throws(StoreError) -> CustomerFacts {
    let testimonies = try testimonies(about: purchase, by: moment, in: reader)
    let seats = SeatHistory(testimonies).seats
    guard let own = seats.first(where: { $0.seatID == seat.originalTransactionID }) else {
      return CustomerFacts()
    }
    var facts = CustomerFacts()
    for testimony in testimonies { facts.take(testimony, about: purchase) }
    return facts.assigned(to: own, among: seats)
  }

  private static func testimonies(
    about line: LineKey, by moment: Instant, in reader: any StoreSnapshot
  ) throws(StoreError) -> [DecodedEvidence] {
    try reader.evidence(about: line).filter { $0.evidence.receivedAt <= moment }
      .map { DecodedEvidence($0.evidence) }
  }
}

extension CustomerFacts {
  /// Takes in what is said of one line.
  mutating func take(_ testimony: DecodedEvidence, about line: LineKey) {
    switch testimony {
    case .transaction(let fact): insert(fact)
    case .renewal(let fact): insert(fact)
    case .appTransaction(let fact): insert(fact)
    case .command(let command):
      switch command.action {
      case .grant(let fact, _, _) where fact.grantID == line.originalTransactionID: insert(fact)
      case .revokeGrant(let fact) where fact.grantID == line.originalTransactionID: insert(fact)
      case .grant, .revokeGrant, .move, .merge, .undo, .claimSeat, .associateSeat, .releaseSeats, .erase,
        .appleCall, .consent:
        break
      }
    case .notification(let contents):
      for part in contents.testimonies
      where part.line(of: line)?.originalTransactionID == line.originalTransactionID {
        take(part, about: line)
      }
    case .receipt(let statement):
      for fact in statement.transactions where fact.originalTransactionID == line.originalTransactionID {
        insert(fact)
      }
      if let copy = statement.appTransaction, copy.lineID == line.originalTransactionID { insert(copy) }
    case .nothing: break
    }
  }
}
