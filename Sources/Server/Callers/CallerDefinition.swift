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
