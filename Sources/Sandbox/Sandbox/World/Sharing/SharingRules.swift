internal import AppStore

/// The behavior of the sandbox where Apple's documentation of seats and Family Sharing leaves one open.
struct SharingRules: Hashable, Sendable {
  /// The price of seats that are added to a running period.
  enum AddedSeats: String, Hashable, Sendable, CaseIterable {
    /// The price of a whole period.
    case fullPrice = "FULL_PRICE"
    /// The share of the price for the rest of the period.
    case prorated = "PRORATED"
  }

  /// The `revocationType` of a member's transaction whose seat was taken back. StoreKit has the value
  /// `assignmentRevocation`; Apple publishes no word for the server.
  enum SeatRevocation: String, Hashable, Sendable, CaseIterable {
    /// Analogous to `FAMILY_REVOKE`, which is StoreKit's `familyRevocation`.
    case assignmentRevoke = "ASSIGNMENT_REVOKE"
    case assignmentRevocation = "ASSIGNMENT_REVOCATION"
    case familyRevoke = "FAMILY_REVOKE"

    var type: RevocationType { RevocationType(rawValue: rawValue) }
  }

  /// The transactions of members that an upgrade by the purchaser revokes.
  enum RevokedByUpgrade: String, Hashable, Sendable, CaseIterable {
    /// Those of members that the new product does not cover. Apple's list of `REVOKE` conditions does not mention this
    /// case, but the members lose access.
    case uncoveredMembers = "UNCOVERED"
    /// Those of all members, before the members that are covered have transactions of the new product.
    case allMembers = "ALL"
    /// None: the subscription of a member that the new product does not cover ends with `EXPIRED`.
    case noMembers = "NONE"
  }

  var addedSeats = AddedSeats.fullPrice
  /// Whether the purchaser of a group purchase uses one of the seats. Apple documents that the purchaser's own
  /// transaction grants access and that no seat is claimed for the purchaser, but not whether one is left out.
  var purchaserNeedsSeat = false
  /// The type of revocation when a seat is taken back.
  var seatRevocation = SeatRevocation.assignmentRevoke
  var revokedByUpgrade = RevokedByUpgrade.uncoveredMembers

  /// Applies the members of a request; absent ones keep their value.
  ///
  /// - Throws: ``ActionError/unknown(what:name:known:)`` for another value. The values before it are applied already,
  ///   so a caller must discard the rules then.
  mutating func change(_ parameters: Parameters) throws(ActionError) {
    if let choice: AddedSeats = try parameters.caseIfPresent("addedSeats") { addedSeats = choice }
    if let choice: SeatRevocation = try parameters.caseIfPresent("seatRevocation") { seatRevocation = choice }
    if let choice: RevokedByUpgrade = try parameters.caseIfPresent("revokedByUpgrade") {
      revokedByUpgrade = choice
    }
    purchaserNeedsSeat = try parameters.flagIfPresent("purchaserNeedsSeat") ?? purchaserNeedsSeat
  }
}

extension World {
  /// The rules of an app; the defaults for one without.
  func sharingRules(of app: String) -> SharingRules { settings[app]?.sharingRules ?? SharingRules() }

  /// Returns the number of seats of the latest period that members can have. An organization uses none itself.
  func memberSeats(of line: SubscriptionLine) -> Int64 {
    let isOneUsed = !line.isOrganization && sharingRules(of: line.app).purchaserNeedsSeat
    return max(0, seats(of: line) - (isOneUsed ? 1 : 0))
  }
}

extension [SeatPriceTier] {
  /// The prices for the part of a period that begins at `start`, rounded half up.
  func prorated(from start: Instant, in period: Range<Instant>) -> [SeatPriceTier] {
    let length = Swift.max(1, period.upperBound.milliseconds(since: period.lowerBound))
    let left = period.upperBound.milliseconds(since: start)
    return map { tier in
      SeatPriceTier(
        price: Int64((Double(tier.price) * Double(left) / Double(length)).rounded()), quantity: tier.quantity)
    }
  }
}
