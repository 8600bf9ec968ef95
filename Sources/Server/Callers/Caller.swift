/// An authenticated client of the API. A class, because every call passes it along.
package final class Caller: Sendable {
  /// The operator's name for the caller, as in the audit log and in evidence.
  package let name: String
  /// The effective roles: ``Role/admin`` includes all others.
  package let roles: Set<Role>
  /// The apps that the caller may access; `nil`: all.
  package let apps: Set<String>?
  /// The rate limit; `nil`: none. All event loops share one bucket.
  package let bucket: TokenBucket?
  /// The effective roles by ``Role/bit``.
  package let roleBits: UInt8

  /// A caller with the configured `roles`.
  package init(name: String, roles: Set<Role>, apps: Set<String>?, bucket: TokenBucket? = nil) {
    self.name = name
    self.roles = Role.effective(roles)
    roleBits = self.roles.reduce(0) { $0 | $1.bit }
    self.apps = apps
    self.bucket = bucket
  }

  /// Whether the caller has `role`. Called for every RPC.
  package func has(_ role: Role) -> Bool { roleBits & role.bit != 0 }

  /// Every client, if the operator configured no callers.
  package static let anyone = Caller(name: "", roles: [.admin], apps: nil)
}

/// A named set of allowed methods. Roles do not include each other, except that ``admin`` includes all and
/// ``read`` includes ``reports``.
package enum Role: String, Hashable, Sendable, CaseIterable {
  /// Queries: entitlements, explanations, timelines and event streams.
  case read
  /// Submission of evidence, and signing of offers.
  case submit
  /// Changes to customers (grants, links, transfers, seats, migrations), and calls to Apple.
  case operate
  /// Irreversible operations and those on all customers: erasure, mass renewal extensions.
  case admin
  /// Reports: counts that name no customer.
  case reports
  /// The audit log.
  case audit

  /// The bit of the role in a bit set.
  package var bit: UInt8 {
    switch self {
    case .read: 1
    case .submit: 2
    case .operate: 4
    case .admin: 8
    case .reports: 16
    case .audit: 32
    }
  }

  /// Returns `roles` with the roles that they include: ``admin`` includes all, and ``read`` includes ``reports``.
  package static func effective(_ roles: Set<Role>) -> Set<Role> {
    if roles.contains(.admin) { return Set(allCases) }
    return roles.contains(.read) ? roles.union([.reports]) : roles
  }
}

/// A configured caller: its credentials and permissions.
package struct CallerDefinition: Hashable, Sendable {
  /// The name in the configuration, which the audit log has.
  package let name: String
  /// The configured roles, without those that they include.
  package let roles: Set<Role>
  /// `nil`: all apps.
  package let apps: Set<String>?
  /// `nil`: no limit.
  package let rateLimit: RateLimit?
  /// Hashes of bearer tokens; two while one is being replaced.
  package let tokens: [TokenHash]
  /// The `sub` of tokens of the configured issuer.
  package let subjects: [String]
  /// Subject alternative names (URI or DNS) of client certificates.
  package let certificateNames: [String]

  /// Creates a definition from its parts. The configuration guarantees that it has a role and a credential.
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
