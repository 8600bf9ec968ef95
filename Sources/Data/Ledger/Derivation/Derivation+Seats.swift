internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Store

// Seats: each is a line of its own, whose facts follow from those of the purchase and from the other claims.
extension Derivation {
  /// All facts of a line; of a seat, what the purchase gives its holder.
  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts {
    guard line.isSeat, let seat = try store.seat(line) else { return try store.facts(of: line) }
    let purchase = line.other(seat.originalTransactionID)
    return try store.facts(of: purchase).assigned(to: seat, among: store.seats(of: purchase))
  }

  /// Something about a purchase changed that its seats may feel.
  func touchHolders(of purchase: LineKey, by origin: Origin) throws(StoreError) {
    for seat in try seats(of: purchase) {
      let line = purchase.other(seat.seatID)
      for holder in try store.owners(of: line) { touch(line.customer(holder), anew: true, by: origin) }
    }
  }

  /// Takes a seat of a purchase, for a customer if one is known.
  func claim(_ seat: Seat, for customer: CustomerKey?, in purchase: LineKey, by origin: Origin)
    throws(StoreError)
  {
    guard let evidence = origin.evidence else { return }
    let line = purchase.other(seat.seatID)
    try put(seat, of: purchase, from: evidence)
    try store.relate(evidence, to: purchase)
    try store.relate(evidence, to: line)
    if let customer { try give(line, to: mergeTarget(of: customer), by: origin) }
  }

  /// Says for whom a seat was claimed.
  func associate(_ line: LineKey, with customer: CustomerKey, by origin: Origin) throws(StoreError) {
    guard let evidence = origin.evidence, let seat = try store.seat(line), seat.isHeld,
      try store.owners(of: line).isEmpty
    else { return }
    try store.relate(evidence, to: line.other(seat.originalTransactionID))
    try store.relate(evidence, to: line)
    try give(line, to: mergeTarget(of: customer), by: origin)
  }

  /// Ends claims. Whose they were keep the seats' lines, which give nothing more, so that they can be told
  /// why; the seats themselves are free.
  func release(_ lines: [LineKey], at moment: Instant, by origin: Origin) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    for line in lines {
      guard var seat = try store.seat(line), seat.isHeld else { continue }
      let purchase = line.other(seat.originalTransactionID)
      seat.releasedAt = max(moment, seat.claimedAt)
      try put(seat, of: purchase, from: evidence)
      try store.relate(evidence, to: purchase)
      try store.relate(evidence, to: line)
      try touchHolders(of: purchase, by: origin)
    }
  }
}
