package import AppStore

/// An entitlement that the operator grants without an App Store purchase, such as a gift, an apology or a
/// purchase on another platform.
package struct GrantFact: Hashable, Sendable {
  /// The id of the grant; unique for the customer.
  package var grantID: String
  package var entitlement: String
  package var accessLevel: AccessLevel
  /// The first instant of access.
  package var since: Instant
  /// The end of access, exclusive; `nil`: no end.
  package var until: Instant?
  /// When it was revoked; `nil` if it was not.
  package var revokedAt: Instant?
  /// The operator's note.
  package var note: String
  /// The caller who created it.
  package var actor: String

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
  /// Whether this replaces `other` about the same grant: the state revoked later wins. Between equal times
  /// the contents decide, so the order of arrival never does.
  package func supersedes(_ other: GrantFact) -> Bool {
    guard times == other.times else { return times > other.times }
    return texts > other.texts
  }

  private var times: (Int64, Int64, Int64, Int) {
    (order(revokedAt), order(until), order(since), accessLevel.rawValue)
  }

  private var texts: (String, String, String) { (entitlement, note, actor) }
}
