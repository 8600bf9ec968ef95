package import AppStore

/// An entitlement that the operator gave, without a purchase in the App Store: a present, support's
/// apology, a purchase on another platform.
package struct GrantFact: Hashable, Sendable {
  /// The number of the grant; unique for the customer.
  package var grantID: String
  /// What it gives.
  package var entitlement: String
  /// How much of it.
  package var accessLevel: AccessLevel
  /// The first moment at which it gives anything.
  package var since: Instant
  /// The first moment at which it does not any more; `nil` if it has no end.
  package var until: Instant?
  /// When it was taken back.
  package var revokedAt: Instant?
  /// Why it was given, in the operator's words.
  package var note: String
  /// Who gave it.
  package var actor: String

  /// A grant by its parts.
  package init(
    grantID: String, entitlement: String, accessLevel: AccessLevel = .full, since: Instant,
    until: Instant? = nil, revokedAt: Instant? = nil, note: String = "", actor: String = ""
  ) {
    self.grantID = grantID
    self.entitlement = entitlement
    self.accessLevel = accessLevel
    self.since = since
    self.until = until
    self.revokedAt = revokedAt
    self.note = note
    self.actor = actor
  }
}

extension GrantFact {
  /// Whether this replaces `other`, which is about the same grant: one that was taken back later does.
  /// Between equals the contents decide, so that the order of arrival never does.
  package func supersedes(_ other: GrantFact) -> Bool {
    guard times == other.times else { return times > other.times }
    return texts > other.texts
  }

  private var times: (Int64, Int64, Int64, Int) {
    (order(revokedAt), order(until), order(since), accessLevel.rawValue)
  }

  private var texts: (String, String, String) { (entitlement, note, actor) }
}
