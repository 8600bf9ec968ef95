package import AppStore

/// An entitlement that the operator grants without an App Store purchase: a gift, an apology, or a purchase in another
/// store.
package struct GrantFact: Hashable, Sendable {
  /// The id of the grant; unique for the customer.
  package var grantID: String
  /// The entitlement, by its name in the catalog.
  package var entitlement: String
  /// The access that it grants.
  package var accessLevel: AccessLevel
  /// The first instant of access.
  package var since: Instant
  /// The end of access, exclusive; `nil`: no end.
  package var until: Instant?
  /// When it was revoked, or refunded by another store; `nil` if it was not.
  package var revokedAt: Instant?
  /// The operator's note.
  package var note: String
  /// The caller who created it.
  package var actor: String
  /// The purchase in another store; `nil` for a grant of the operator.
  package var external: ExternalPurchase?

  package init(
    grantID: String, entitlement: String, accessLevel: AccessLevel = .full, since: Instant,
    until: Instant? = nil, revokedAt: Instant? = nil, note: String = "", actor: String = "",
    external: ExternalPurchase? = nil
  ) {
    self.grantID = grantID
    self.entitlement = entitlement
    self.accessLevel = accessLevel
    self.since = since
    self.until = until
    self.revokedAt = revokedAt
    self.note = note
    self.actor = actor
    self.external = external
  }
}

/// A purchase in another store, for which the operator's service vouches: its documents are not verified here.
package struct ExternalPurchase: Hashable, Sendable {
  /// The store, such as `play` or `stripe`.
  package var source: String
  /// The store's id of the purchase.
  package var externalID: String
  /// The store's id of the product; may be empty.
  package var productID: String
  /// The number of this state of the purchase; a greater one replaces it.
  package var revision: Int64
  /// The older states that began before all newer ones, newest first, each without ``earlier``. Each counts
  /// until the next one begins.
  package var earlier: [GrantFact]

  package init(
    source: String, externalID: String, productID: String = "", revision: Int64, earlier: [GrantFact] = []
  ) {
    self.source = source
    self.externalID = externalID
    self.productID = productID
    self.revision = revision
    self.earlier = earlier
  }

  /// Separates the store's id of a purchase from the entitlement, in the ids of a purchase that grants several
  /// (docs/other-stores.md).
  private static let separator = "#"

  /// The ``externalID`` of an entitlement of a purchase that grants several.
  package static func externalID(of entitlement: String, ofPurchase id: String) -> String {
    id + separator + entitlement
  }

  /// The store's id of the purchase, from the ``externalID`` of an entitlement.
  package static func purchaseID(_ externalID: String, of entitlement: String) -> String {
    let suffix = separator + entitlement
    return externalID.hasSuffix(suffix) ? String(externalID.dropLast(suffix.count)) : externalID
  }

  /// Whether `name` can be a ``source``: 1 to 32 lower-case letters, digits, dashes, dots and underscores, beginning with
  /// a letter, and neither ``EntitlementStatus/appStoreSource`` nor ``EntitlementStatus/operatorSource``, because answers
  /// name their own origin with these two (`GrantRequest.source`, docs/other-stores.md).
  package static func isSource(_ name: String) -> Bool {
    let letters: ClosedRange<UInt8> = 0x61...0x7A
    guard (1...32).contains(name.utf8.count), let first = name.utf8.first, letters.contains(first),
      name != EntitlementStatus.appStoreSource, name != EntitlementStatus.operatorSource
    else { return false }
    return name.utf8.allSatisfy {
      letters.contains($0) || (0x30...0x39).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
    }
  }
}

extension GrantFact {
  /// Whether this replaces `other` about the same grant: the state revoked later wins. Between equal times
  /// the contents decide, so the order of arrival never does.
  package func supersedes(_ other: GrantFact) -> Bool {
    guard revision == other.revision else { return revision > other.revision }
    guard times == other.times else { return times > other.times }
    return texts > other.texts
  }

  /// The state of the grant that follows from two pieces of evidence, in whichever order they arrive.
  package func merged(with other: GrantFact) -> GrantFact {
    guard external != nil, other.external != nil else { return supersedes(other) ? self : other }
    let states = (self.states + other.states).sorted { $0.supersedes($1) }
    guard var head = states.first else { return self }
    var last = head
    for state in states.dropFirst() where state.revision < last.revision && state.since < last.since {
      head.external?.earlier.append(state)
      last = state
    }
    return head
  }

  /// This state and the earlier ones, newest first.
  package var states: [GrantFact] { [current] + (external?.earlier ?? []) }

  /// The grant with what `replacement` returns for this state and for each earlier one.
  package func replacingStates(_ replacement: (GrantFact) -> GrantFact) -> GrantFact {
    var fact = replacement(current)
    fact.external?.earlier = (external?.earlier ?? []).map(replacement)
    return fact
  }

  /// This state without the earlier ones.
  package var current: GrantFact {
    guard external?.earlier.isEmpty == false else { return self }
    var fact = self
    fact.external?.earlier = []
    return fact
  }

  /// The end of access by this state: an earlier revocation counts; `nil`: no end.
  package var end: Instant? { min(until ?? .openEnd, revokedAt ?? .openEnd).bounded }

  /// The state whose access starts at `start`; the current one if there is none.
  func state(from start: Instant) -> GrantFact { states.first { $0.since == start } ?? self }

  /// The times of access, newest first. Each ends at the latest when the next state begins.
  var access: [(state: GrantFact, end: Instant)] {
    var next = Instant.openEnd
    return states.map { state in
      defer { next = state.since }
      return (state, min(state.end ?? .openEnd, next))
    }
  }

  /// The number of the state of a purchase in another store; 0 for a grant of the operator.
  package var revision: Int64 { external?.revision ?? 0 }

  private var times: (Int64, Int64, Int64, Int) {
    (order(revokedAt), order(until), order(since), accessLevel.rawValue)
  }

  private var texts: (String, String, String, String) {
    (
      entitlement, note, actor,
      "\(external?.source ?? "") \(external?.externalID ?? "") \(external?.productID ?? "")"
    )
  }
}
