/// Someone who may call, as the operator named and allowed them.
package struct Caller: Sendable {
  /// The operator's name for them; what the audit log and evidence call them.
  package let name: String
  /// What they may do.
  package let roles: Set<Role>
  /// The apps that they may ask about; `nil`: all.
  package let apps: Set<String>?
  /// How often they may call; `nil`: as often as they like. One bucket is shared by all event loops.
  package let bucket: TokenBucket?

  /// A caller by its parts; `roles` as the operator gave them.
  package init(name: String, roles: Set<Role>, apps: Set<String>?, bucket: TokenBucket? = nil) {
    self.name = name
    self.roles = Role.effective(roles)
    self.apps = apps
    self.bucket = bucket
  }

  /// Whoever it is, where the operator lets everybody in.
  package static let anyone = Caller(name: "", roles: [.admin], apps: nil)
}
