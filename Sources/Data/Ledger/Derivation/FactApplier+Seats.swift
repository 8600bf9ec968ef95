internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Store

// Seats: each is a separate line, whose facts follow from those of the purchase and from the other seats.
extension FactApplier {
  /// Marks the seat holders of a purchase whose facts may have changed.
  mutating func markSeatHoldersAffected(of purchase: LineKey, by origin: ChangeOrigin) throws(StoreError) {
    try markAffected(try lines.seats(of: purchase), of: purchase, by: origin)
  }

  /// Marks the holders of some seats, whose facts are those of the purchase.
  private mutating func markAffected(
    _ seats: [Seat], of purchase: LineKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    for seat in seats {
      let line = purchase.other(seat.seatID)
      for holder in try lines.owners(of: line) {
        changes.markAffected(line.customer(holder), needsRebuild: true, by: origin)
      }
    }
  }

  /// Stores a claimed seat, and links it to the customer if one is known. If Apple's end of the claim arrived before, the seat
  /// is released at once.
  mutating func claimSeat(
    _ seat: Seat, for customer: CustomerKey?, of purchase: LineKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    let line = purchase.other(seat.seatID)
    try lines.put(seat, of: purchase, from: evidence)
    try store.index(evidence, under: purchase)
    try store.index(evidence, under: line)
    if let customer { try link(line, to: store.finalMergeTarget(of: customer), by: origin) }
    guard let claim = seat.seatClaimID else { return }
    for stored in try store.evidence(about: line.other(LineKey.seatClaimPrefix + claim)) {
      for case .endedSeatClaims(let claims, let endedAt) in EvidenceDecoder.decode(stored.evidence)
      where claims.contains(claim) {
        try releaseSeats([line], at: endedAt ?? stored.evidence.receivedAt, by: .document(stored.id))
      }
    }
  }

  /// Links a claimed seat that has no holder to a customer.
  mutating func associateSeat(
    _ line: LineKey, with customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard let evidence = origin.evidence, let seat = try store.seat(line), seat.isHeld,
      try lines.owners(of: line).isEmpty
    else { return }
    try store.index(evidence, under: line.other(seat.originalTransactionID))
    try store.index(evidence, under: line)
    try link(line, to: store.finalMergeTarget(of: customer), by: origin)
  }

  /// Releases seats. Their lines stay linked to the holders, so that answers can state the reason.
  mutating func releaseSeats(
    _ released: [LineKey], at instant: Instant, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    for line in released {
      guard var seat = try store.seat(line), seat.isHeld else { continue }
      let purchase = line.other(seat.originalTransactionID)
      seat.release(at: instant)
      try lines.put(seat, of: purchase, from: evidence)
      try store.index(evidence, under: purchase)
      try store.index(evidence, under: line)
      // Of a thousand holders, nearly all keep what they have.
      let affected = SeatCapacity(try store.facts(of: purchase))
        .seats(affectedByReleaseOf: seat, among: try lines.seats(of: purchase))
      try markAffected(affected, of: purchase, by: origin)
    }
  }

  /// Releases the seats whose claims Apple ended (`UNCLAIM_SEATS`); `claims` are Apple's ids. The end of an unknown claim is
  /// stored for ``claimSeat(_:for:of:by:)``, because the notification may arrive before Apple's response to the claim.
  mutating func releaseSeats(
    claimedAs claims: [String], at instant: Instant, from source: Source
  ) throws(StoreError) {
    for claim in claims {
      guard let seat = try store.seat(claimedAs: claim, of: source.appID, in: source.environment) else {
        try store.index(source.id, under: source.line(LineKey.seatClaimPrefix + claim))
        continue
      }
      try releaseSeats([source.line(seat.seatID)], at: instant, by: source.origin)
    }
  }
}
