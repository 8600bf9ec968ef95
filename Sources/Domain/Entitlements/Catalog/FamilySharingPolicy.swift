/// What a purchase that a family member shares gives of an entitlement.
package enum FamilySharingPolicy: String, Hashable, Sendable, CaseIterable {
  /// As much as an own purchase.
  case allow
  /// Limited access at most.
  case limited
  /// Nothing.
  case deny

  /// What is left of `level` for who did not buy it.
  func applied(to level: AccessLevel) -> AccessLevel {
    switch self {
    case .allow: level
    case .limited: min(level, .limited)
    case .deny: .none
    }
  }
}
