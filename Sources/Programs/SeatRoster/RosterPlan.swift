internal import Bytes

/// A claimed seat of a purchase.
package struct ClaimedSeat: Hashable, Sendable {
  /// The seat's id in the service.
  package let id: String
  /// The holder; empty if the seat is claimed for a customer to be named later.
  package let customer: String
  /// Ids of customers who were merged into the holder.
  package var mergedCustomers: [String]

  /// Creates a seat from what the service returned.
  package init(id: String, customer: String, mergedCustomers: [String] = []) {
    self.id = id
    self.customer = customer
    self.mergedCustomers = mergedCustomers
  }
}

/// The changes that make the seats of one purchase equal to the rows of a roster. Releases come before claims, so that
/// released seats can be claimed.
package struct RosterPlan: Hashable, Sendable {
  /// Rows whose customer has a seat, or bought the purchase and needs none.
  package private(set) var unchanged: [Roster.Row] = []
  /// Rows whose customer needs a seat, in the order of the file.
  package private(set) var claims: [Roster.Row] = []
  /// The last ``claims``, for which no seat is left.
  package private(set) var withoutSeat: [Roster.Row] = []
  /// Seats whose holder is in no row, and those without a holder that the rows need.
  package private(set) var releases: [ClaimedSeat] = []
  /// Seats that would be released if each row of the roster were valid.
  package private(set) var heldBack: [ClaimedSeat] = []

  /// - Parameters:
  ///   - rows: the rows of the purchase.
  ///   - purchasers: the owners of the purchase, who need no seat.
  ///   - seats: the claimed seats. One without a holder, which is for a customer to be named later or was an erased one's,
  ///     stays unless the rows need it.
  ///   - purchased: the number of seats that were bought.
  ///   - isIncomplete: whether the roster may lack a row of the purchase; then no seat is released.
  package init(
    rows: [Roster.Row], purchasers: [String] = [], seats: [ClaimedSeat], purchased: Int, isIncomplete: Bool
  ) {
    let held = seats.flatMap { [$0.customer] + $0.mergedCustomers }
    let holders = Set((purchasers + held).map(OpaqueID.init))
    unchanged = rows.filter { holders.contains(OpaqueID($0.customer)) }
    let needed = rows.filter { !holders.contains(OpaqueID($0.customer)) }
    var others = Self.others(seats, than: rows)
    let left = purchased - seats.count + others.count
    let withoutHolder = seats.filter(\.customer.isEmpty).prefix(max(0, needed.count - left))
    if left + withoutHolder.count > 0 { others += withoutHolder }
    if isIncomplete { heldBack = others } else { releases = others }
    let free = max(0, purchased - seats.count + releases.count)
    claims = Array(needed.prefix(free))
    withoutSeat = Array(needed.dropFirst(free))
  }

  /// The seats whose holder, under any id, is in no row.
  package static func others(_ seats: [ClaimedSeat], than rows: [Roster.Row]) -> [ClaimedSeat] {
    let listed = Set(rows.map { OpaqueID($0.customer) })
    return seats.filter { seat in
      !seat.customer.isEmpty
        && listed.isDisjoint(with: ([seat.customer] + seat.mergedCustomers).map(OpaqueID.init))
    }
  }
}
