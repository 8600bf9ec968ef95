internal import Entitlements
internal import FamilySharing
internal import Store

/// Reads and writes the lines of one write. It caches what the next document needs again, because the
/// documents of one notification are mostly about the same line.
struct LineCache {
  private let store: any StoreTransaction
  private var owners: [LineKey: [String]] = [:]
  /// The lines that were linked or unlinked, each with the last evidence that did so.
  private(set) var relinked: [LineKey: EvidenceID] = [:]
  private var lastIndexed: (evidence: EvidenceID, line: LineKey)?
  /// The seats of the last purchase, because all holders of its seats are brought up to date one after another.
  private var lastSeats: (purchase: LineKey, seats: [Seat])?

  init(_ store: any StoreTransaction) { self.store = store }

  /// The customers that a line is linked to.
  mutating func owners(of line: LineKey) throws(StoreError) -> [String] {
    if let cached = owners[line] { return cached }
    let found = try store.owners(of: line)
    owners[line] = found
    return found
  }

  /// Links or unlinks a line.
  mutating func record(_ change: OwnershipChange) throws(StoreError) {
    owners[change.line] = nil
    relinked[change.line] = change.evidenceID
    try store.record(change)
  }

  /// Stores that evidence is about a line.
  mutating func index(_ evidence: EvidenceID, under line: LineKey) throws(StoreError) {
    guard lastIndexed?.evidence != evidence || lastIndexed?.line != line else { return }
    try store.index(evidence, under: line)
    lastIndexed = (evidence, line)
  }

  /// The seats of a purchase, released ones included.
  mutating func seats(of purchase: LineKey) throws(StoreError) -> [Seat] {
    if let lastSeats, lastSeats.purchase == purchase { return lastSeats.seats }
    let seats = try store.seats(of: purchase)
    lastSeats = (purchase, seats)
    return seats
  }

  /// Stores a seat of a purchase.
  mutating func put(_ seat: Seat, of purchase: LineKey, from evidence: EvidenceID) throws(StoreError) {
    lastSeats = nil
    try store.put(seat, of: purchase, from: evidence)
  }

  /// The facts of a line; for a seat, the facts of its purchase as the seat's holder has them.
  mutating func facts(of line: LineKey) throws(StoreError) -> CustomerFacts {
    guard line.isSeat, let seat = try store.seat(line) else { return try store.facts(of: line) }
    let purchase = line.other(seat.originalTransactionID)
    return try store.facts(of: purchase).assigned(to: seat, among: seats(of: purchase))
  }
}
