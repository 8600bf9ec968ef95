/// What a caller may do. The roles do not include each other, except that ``admin`` includes all.
package enum Role: String, Hashable, Sendable, CaseIterable {
  /// Ask: is this customer entitled, why, what happened, tell me when it changes.
  case read
  /// Hand in what the app or Apple gave, and have offers signed.
  case submit
  /// Change what customers have: grants, links, transfers, seats, migrations; ask and tell Apple.
  case operate
  /// What cannot be undone or touches everybody: erase a customer, extend everybody's subscriptions.
  case admin

  /// The role as one bit of a set.
  var bit: UInt8 {
    switch self {
    case .read: 1
    case .submit: 2
    case .operate: 4
    case .admin: 8
    }
  }

  /// The roles that a set of them amounts to.
  package static func effective(_ roles: Set<Role>) -> Set<Role> {
    roles.contains(.admin) ? Set(allCases) : roles
  }
}
