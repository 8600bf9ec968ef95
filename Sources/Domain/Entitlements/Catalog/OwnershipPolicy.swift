/// What happens when a purchase belongs to somebody else already.
package enum OwnershipPolicy: String, Hashable, Sendable, CaseIterable {
  /// It stays where it is; whoever asked is refused.
  case keep
  /// It moves.
  case transfer
  /// Both have it.
  case share
}
