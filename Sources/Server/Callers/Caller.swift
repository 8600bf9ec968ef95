/// Someone who may call, as the operator named and allowed them. A class, since every call hands one around.
package final class Caller: Sendable {
  /// The operator's name for them; what the audit log and evidence call them.
  package let name: String
  /// What they may do.
  package let roles: Set<Role>
  /// The apps that they may ask about; `nil`: all.
  package let apps: Set<String>?
  /// How often they may call; `nil`: as often as they like. One bucket is shared by all event loops.
  package let bucket: TokenBucket?
  private let roleBits: UInt8

  /// A caller by its parts; `roles` as the operator gave them.
  package init(name: String, roles: Set<Role>, apps: Set<String>?, bucket: TokenBucket? = nil) {
    self.name = name
    self.roles = Role.effective(roles)
    roleBits = self.roles.reduce(0) { $0 | $1.bit }
    self.apps = apps
    self.bucket = bucket
  }

  /// Whether they have a role: the question of every call.
  package func has(_ role: Role) -> Bool { roleBits & role.bit != 0 }

  /// Whoever it is, where the operator lets everybody in.
  package static let anyone = Caller(name: "", roles: [.admin], apps: nil)
}

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

/// A caller as the operator defines one: how to know them, and what they may do.
package struct CallerDefinition: Hashable, Sendable {
  package let name: String
  package let roles: Set<Role>
  /// `nil`: all apps.
  package let apps: Set<String>?
  /// `nil`: no limit.
  package let rateLimit: RateLimit?
  /// Hashes of bearer tokens; two while one is being replaced.
  package let tokens: [TokenHash]
  /// The `sub` of tokens of the configured issuer.
  package let subjects: [String]
  /// Names in a client certificate (URI or DNS) that its authority vouches for.
  package let certificateNames: [String]

  /// A definition by its parts.
  package init(
    name: String, roles: Set<Role>, apps: Set<String>? = nil, rateLimit: RateLimit? = nil,
    tokens: [TokenHash] = [], subjects: [String] = [], certificateNames: [String] = []
  ) {
    self.name = name
    self.roles = roles
    self.apps = apps
    self.rateLimit = rateLimit
    self.tokens = tokens
    self.subjects = subjects
    self.certificateNames = certificateNames
  }
}
